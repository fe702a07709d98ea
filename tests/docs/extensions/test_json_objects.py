"""The JSON reference shows the keys that commands print, and mentions no other keys."""

import re

import pytest

import verify
from docs.extensions import json_objects
from tests.pages import PAGES
from verify.provers.slack_text import KINDS
from verify.reports.commands.frame import app

# Words and options that are in backticks on the page and are not keys.
WORDS = {
    *("verified", "refuted", "inconclusive", "out_of_scope", "proved", "certified", "computed", "simulated"),
    *("formal", "argued", "stated", "by", "besides", "rocq", "open", "tried", "work", "refused"),
    *("holds", "fails", "needs", "assumed", "needed", "redundant", "undecided"),
    *("catalogue", "digest", "certificate", "map", "findings", "pin", "file", "full", "report", "text", "latex"),
    *("shell", "script", "proof", "statement", "nothing", "accepted", "rejected", "unknown", "unreadable"),
    *("deduction", "falls", *KINDS),
}


def test_the_shape_of_an_object():
    body = {"a": 1, "b": [{"c": "x", "d": None}], "values": {"p": {"e": True}}, "f": [], "g": [[2]], "ranges": {}}
    assert list(json_objects.shape(body)) == [
        *("a: number", "b: list, each: object", "  c: text", "  d: null", "values: by name, object"),
        *("  e: true or false", "f: list", "g: list, each: list, each: number", "ranges: object"),
    ]


def test_every_verb_that_prints_an_object_has_an_example():
    verbs = {command.name for command in app.registered_commands}
    # pin writes into a package, report writes a page, and completion prints a script.
    assert set(json_objects.EXAMPLES) == verbs - {"pin", "report", "completion"}


@pytest.mark.audit
def test_the_page_speaks_of_keys_that_are_printed():
    def keys(value):
        if isinstance(value, dict):
            return set(value).union(*map(keys, value.values()))
        return set().union(*map(keys, value)) if isinstance(value, list) else set()

    page = PAGES["docs/reference/json.md"].read_text(encoding="utf-8")
    spoken = set(re.findall(r"`([a-z_]+)`", page)) - WORDS - set(json_objects.EXAMPLES)
    # The clause of such a long statement is open at once, with reasons, because no deduction is searched for.
    long = f"{' + '.join(f'sin(x + {n})' for n in range(99))} <= 99"
    printed = keys([json_objects.objects(), verify.prove(long, seconds=5).to_json()])
    # Keys that no example prints.
    unmet = {"reason", "pinned", "what", "failed", "clear", "violated", "relaxed", "end", "thresholds", "met", "limit"}
    # Keys of trusts, which no example prints.
    unmet |= {"name", "package", "experiments", "quick"}
    assert len(spoken) > 30 and sorted(spoken - printed - unmet) == []
