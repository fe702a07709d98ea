"""The shapes of the JSON objects that the verbs print, taken from the output of an example of each."""

import io
import json
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from functools import cache
from typing import Any

EXAMPLES = {
    "list": "--paper li2024",
    "show": "wang2024.theorem1",
    "language": "",
    "conditions": "wang2024.theorem1 T=200 q=3 d=5 eta=1",
    "check": "wang2024.theorem1 T=9 q=2 d=1 eta=1/20 eps=1/200 --certificate one.json",
    "prove": "wang2024.inverse_loss_rate --seconds 60",
    "explore": "kept.py --drop larger --max-examples 20",
    "necessity": "kept.py --seconds 2",
    "sweep": "wang2024.theorem1 --over eta=1/20:1:2 T=9 q=2 d=1 eps=1/200 --store kept.sqlite",
    "observe": "wang2024.theorem1 T=9 q=2 d=1 eta=1 --at 10,100",
    "simulate": "wang2024.one_hot_training T=9 q=2 d=1 eta=1 steps=60 --no-cache --device cpu",
    "recheck": "one.json",
    "export": "wang2024.lemma2 --to rocq",
    "derive": "wang2024.lemma1",
    "new": "another.py",
}
"""The arguments of each verb's example; the examples run in this order, in a folder where `verify new` has written
`kept.py`."""

BY_NAME = {
    *("given", "instance", "ranges", "values", "values_rechecked", "witness", "nearest", "counterexample"),
    *("over", "counts", "evaluated", "evidence", "settings", "measurements", "curves", "heat_maps", "theory", "varied"),
}
"""Keys whose values are objects with names as keys: names of parameters, values, curves or outcomes."""


def described(verb: str) -> str:
    """Return the command that is an example of a verb, and the keys of the object that it prints."""
    return "\n\n".join(_part(verb, objects()[verb]))


@cache
def objects() -> dict[str, dict[str, Any]]:
    """Return the output of each verb for its example."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        _printed("new", "kept.py")
        return {verb: _printed(verb, words) for verb, words in EXAMPLES.items()}


def _printed(verb: str, words: str) -> dict[str, Any]:
    from verify.reports.command_line import run

    printed = io.StringIO()
    with redirect_stdout(printed):
        code = run([verb, *words.split(), "--json"])
    assert code in (0, 1, 3, 4), (verb, code)
    return json.loads(printed.getvalue())


def _part(verb: str, body: dict[str, Any]) -> Iterator[str]:
    yield f"Output of `{' '.join(['verify', verb, *EXAMPLES[verb].split(), '--json'])}`:"
    yield "```text\n" + "\n".join(shape(body)) + "\n```"


def shape(value: Any, indent: str = "") -> Iterator[str]:
    """Yield the keys of an object with the types of their values, one on each line; a list shows its first entry."""
    for key, held in value.items():
        first, lists = _first(held)
        if key in BY_NAME and isinstance(first, dict) and first:
            # The names belong to the example alone: only the first value is described.
            yield f"{indent}{key}: by name, {lists}{_type(next(iter(first.values())))}"
            first = next(iter(first.values()))
        else:
            yield f"{indent}{key}: {lists}{_type(first)}"
        if isinstance(first, dict):
            yield from shape(first, indent + "  ")


def _first(value: Any) -> tuple[Any, str]:
    """Return the first entry of nested lists, and words for the lists; return any other value as it is."""
    if not (isinstance(value, list) and value):
        return value, ""
    first, lists = _first(value[0])
    return first, f"list, each: {lists}"


def _type(value: Any) -> str:
    names = {str: "text", bool: "true or false", int: "number", float: "number", type(None): "null", list: "list"}
    return names.get(type(value), "object")
