# ruff: noqa: T201 -- the counts are what is asked of an audit
"""Attacks on the re-checker: mutants of accepted certificates. `test_exhaustion.py` has the files made to exhaust it.

A mutant is rejected, or it is listed as harmless with the reason: a different proof of the same
claim that holds too, a claim about something else that says so, or a name that is carried through.
"""

import copy
import json
import re
from collections import Counter
from fractions import Fraction

import pytest

from tests.verify.rechecker import cases
from verify.language.expressions import digest
from verify.rechecker import KINDS, Rejected, Unreadable, recheck_text

pytestmark = pytest.mark.audit

HUGE = "9" * 100_000
NO_NUMBERS = (
    "1e5",
    "1.5",
    "NaN",
    "Infinity",
    "",
    " 1",
    "1 ",
    "+1",
    "01",
    "-0",
    "1/0",
    "0/1",
    "1/1",
    "2/4",
    "1/-2",
    "１",
)
NO_VALUES = (True, False, None, [], {}, 1.5, float("nan"), float("inf"), -float("inf"), "x")
WORDS = ("verified", "refuted", "proved", "certified", "all", "instance", "identity", "exponential", *KINDS)

# What may be accepted: certificate, field, and why that is no harm. A mutant outside this list fails.
CARRIED = "a name that is carried through; the statement is named by its digest"
SAME = "another proof of the same claim, which holds too"
ELSEWHERE = "the claim at another instance, which the result names, and where all is computed again"
HARMLESS = [
    ("*", r"theorem", CARRIED),
    ("*", r"uses.*", CARRIED),
    ("*", r"clauses\.\d\.proof\.(entry_)?bits", SAME + ": other bits decide as well"),
    ("ball|constant", r"clauses\.0\.proof\.margin.*", SAME + ": a wider interval that decides"),
    (
        "within|not_before|early|trajectory|excess",
        r"clauses\.\d\.proof\.checkpoints.*",
        SAME + ": other balls that hold the run",
    ),
    ("early", r"clauses\.0\.proof\.at", SAME + ": another step at or below the level, and too soon"),
    ("excess", r"clauses\.1\.proof\.above_at", SAME + ": another step above the level"),
    ("cycle", r"clauses\.\d\.proof\.(entered_at|period|centre|axes|radius).*", SAME + ": another set that is kept"),
    ("tube", r"clauses\.0\.proof\.(checkpoints|nodes|start|above).*", SAME + ": another tube that the run is in"),
    ("tube", r"clauses\.0\.proof\.steps.*", SAME + ": wider bounds"),
    ("tube", r"clauses\.0\.proof\.observable.*", SAME + ": the same observable, written in another way"),
    ("trajectory|small_descent", r"clauses\.\d\.proof\.cuts.*", SAME + ": another bisection that decides"),
    ("trajectory", r"clauses\.1\.proof\.metric.*", SAME + ": the same metric, its factors in another order"),
    ("trajectory|small_descent", r"clauses\.\d\.proof\.coordinates.*", SAME + ": another box that is kept"),
    ("symbolic|identity|identity_here", r"clauses\.\d+\.proof\.factors.*", SAME + ": other divisors that cover"),
    (
        "point|point_in_balls|point_of_an_inequality",
        r"clauses\.0\.proof\.(point|difference).*",
        SAME + ": another point or interval",
    ),
    ("root", r"clauses\.0\.proof\.(centre|radius).*", SAME + ": another box that holds the root"),
    (
        "stationary|stationary_in_a_box",
        r"clauses\.0\.proof\.(centre|radius).*",
        SAME + ": another box that holds the point",
    ),
    ("positive", r"clauses\.\d\.proof\.(shifts|relations).*", SAME + ": other slacks that do"),
    ("in_logarithms", r"clauses\.0\.proof\.logarithms", SAME + ": in another order"),
    (
        "in_logarithms",
        r"clauses\.0\.proof\.(logarithms\.\d\.proof|left)\.(shifts|relations).*",
        SAME + ": other slacks that do",
    ),
    ("squares", r"clauses\.\d\.proof\.(shifts|relations|squares).*", SAME + ": other slacks, or squares, that do"),
    (
        "by_cases",
        r"clauses\.0\.proof\.(shifts|cases\.(slack|times))",
        SAME + ": other slacks, or told apart the other way",
    ),
    ("by_cases", r"clauses\.[12]\.proof\.(shifts|relations|cases).*", SAME + ": other slacks, cases or powers that do"),
    (
        "matrices",
        r"clauses\.0\.proof\.(matrices\..*|place.*)",
        SAME + ": other matrices, or another place, that show it",
    ),
    ("residual|residual_of_wishart", r"clauses\.0\.proof\.roots.*", SAME + ": other intervals around the same roots"),
    ("*", r"instance\.\w+(\.\d+)?", ELSEWHERE),
]


def _paths(value, path=()):
    """All paths below a value; of long lists the first, the second and the last entries, of many clauses one.

    Of a symbol or a number in an expression only its name or value: the list that it is loses and repeats the others.
    """
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _paths(value[key], (*path, key))
    elif isinstance(value, list):
        places = {3} if path == ("clauses",) and len(value) > 4 else {0, 1, len(value) - 1}
        places = {1} if value[:1] in (["Symbol"], ["Integer"], ["Rational"]) else places
        for i in sorted(places & set(range(len(value)))):
            yield from _paths(value[i], (*path, i))


def _at(made, path):
    for part in path:
        made = made[part]
    return made


def _replacements(value):
    """Values to put in the place of one."""
    yield from (other for other in _others(value) if other != value or type(other) is not type(value))


def _others(value):
    yield from NO_VALUES
    if isinstance(value, bool):
        yield from (not value, int(value), str(value).lower())
    elif isinstance(value, int):
        yield from (value + 1, value - 1, 2 * value, -value, 0, 10**9, 10**17, 10**30, str(value), [value])
    elif isinstance(value, str):
        yield from _other_texts(value)
    elif isinstance(value, list):
        yield from _other_lists(value)
    elif isinstance(value, dict):
        yield value | {"extra": 1}
        for key in value:
            yield {k: v for k, v in value.items() if k != key}


def _other_texts(value):
    yield from (*NO_NUMBERS, HUGE, f"1/{HUGE}", value + " ", value + "\n", value.upper(), 1)
    # In the place of a word of the format any other of its words; elsewhere one word is as good as another.
    yield from WORDS if value in WORDS else WORDS[:2]
    if re.fullmatch(r"-?\d+(/\d+)?", value):
        x = Fraction(value)
        moved = [x + 1, x - 1, 2 * x, x / 2, -x, x + Fraction(1, 10**40), x - Fraction(1, 10**40)]
        yield from (str(y) for y in moved if y != x)
        if x:
            yield from (str(1 / x), f"{2 * x.numerator}/{2 * x.denominator}")
    if re.fullmatch(r"[0-9a-f]{64}", value):
        yield from ("0" * 64, value[::-1], value[:-1], value.upper())


def _other_lists(value):
    yield [value]
    yield value * 2
    for i in sorted({0, 1, len(value) // 2, len(value) - 1} & set(range(len(value)))):
        yield value[:i] + value[i + 1 :]
        yield [*value[:i], value[i], *value[i:]]
    if value[::-1] != value:
        yield value[::-1]
    if len(value) > 1 and value[0] != value[1]:
        yield [value[1], value[0], *value[2:]]


def _mutants(made):
    """Yield (field, text): every single-field mutation outside the statement, and repeated keys."""
    proofs = [clause["proof"] for clause in made["clauses"][:2]]
    twice = proofs[0]["kind"] == "cycle" and proofs[0] == proofs[-1]
    for path in _paths({key: value for key, value in made.items() if key != "statement"}):
        if twice and path[:3] == ("clauses", 1, "proof"):
            # The same proof as of the first clause, mutated there.
            continue
        original = _at(made, path)
        name = ".".join(map(str, path))
        for value in _replacements(original):
            if not path:
                yield name, json.dumps(value)
                continue
            mutant = copy.deepcopy({k: v for k, v in made.items() if k != "statement"})
            _at(mutant, path[:-1])[path[-1]] = value
            yield name, json.dumps(mutant | {"statement": made["statement"]})
        if isinstance(original, dict) and original:
            yield name, _with_repeated_key(made, path)
    yield from _with_other_outcomes(made)
    for kind in KINDS:
        for i, clause in enumerate(made["clauses"][:2]):
            if clause["proof"]["kind"] != kind:
                yield from _with_proof_of_kind(made, i, kind)


def _with_other_outcomes(made):
    """Yield the certificate with all clauses of one outcome said to be of the other."""
    for label, outcome in (("verified", "refuted"), ("refuted", "verified")):
        text = json.dumps(made)
        if f'"{label}"' in text:
            yield "all outcomes", text.replace(f'"{label}"', f'"{outcome}"')


def _with_proof_of_kind(made, i, kind):
    """Yield the certificate with a clause's proof replaced by the first one of a kind, if any certificate has one."""
    for other in cases.ACCEPTED.values():
        proofs = [c["proof"] for c in other()["clauses"] if c["proof"]["kind"] == kind]
        if proofs:
            mutant = copy.deepcopy(made)
            mutant["clauses"][i]["proof"] = proofs[0]
            yield f"proof of kind {kind}", json.dumps(mutant)
            break


def _with_repeated_key(made, path):
    """Return the text of a certificate in which the first key of an object occurs twice."""
    mutant = copy.deepcopy(made)
    inside = _at(mutant, path)
    first = next(iter(inside))
    inside["@repeated"] = inside[first]
    return json.dumps(mutant).replace('"@repeated"', json.dumps(first))


def _verdict(text):
    try:
        return recheck_text(text.encode())
    except (Rejected, Unreadable) as error:
        why = str(error)
    assert "\n" not in why and len(why) < 500
    return None


def _allowed(name, field):
    return next((why for names, path, why in HARMLESS if _named(names, name) and re.fullmatch(path, field)), None)


def _named(names, name):
    return names == "*" or name in names.split("|")


@pytest.mark.parametrize("name", cases.ACCEPTED)
def test_no_mutant_of_a_proof_is_wrongly_accepted(name):
    made = cases.ACCEPTED[name]()
    original = _verdict(json.dumps(made))
    tried, harmless = Counter(), Counter()
    for field, text in _mutants(made):
        tried[re.sub(r"\.\d+", "", field) or "the whole"] += 1
        found = _verdict(text)
        if found is None:
            continue
        why = _allowed(name, field)
        assert why, f"{field} was changed and accepted: {text[-3000:]}"
        harmless[f"{field}: {why}"] += 1
        # Whatever was changed, the claim is the same, or the result says what else it is about.
        same = (found.statement_digest, found.clauses) == (original.statement_digest, original.clauses)
        assert same and (found.instance == original.instance or field.startswith("instance."))
    kinds = sorted({c["proof"]["kind"] for c in made["clauses"]})
    print(f"\n{name} ({', '.join(kinds)}): {sum(tried.values())} mutants, none wrongly accepted; harmless:")
    for line, count in sorted(harmless.items()):
        print(f"    {count:3} {line}")
    assert sum(tried.values()) > 300


@pytest.mark.parametrize("name", cases.ACCEPTED)
def test_no_change_of_a_statement_goes_unseen(name):
    made = cases.ACCEPTED[name]()
    original = made["statement_digest"]
    tried = others = 0
    paths = list(_paths(made["statement"]))
    for path in paths[:: max(1, len(paths) // 60)]:
        values = list(_replacements(_at(made["statement"], path)))
        for value in values[:: max(1, len(values) // 8)]:
            mutant = copy.deepcopy(made)
            if path:
                _at(mutant["statement"], path[:-1])[path[-1]] = value
            else:
                mutant["statement"] = value
            tried += 1
            assert _verdict(json.dumps(mutant)) is None, path
            # With its digest it may be a certificate of another statement, which the digest tells.
            try:
                mutant["statement_digest"] = digest(mutant["statement"])
            except ValueError:
                continue
            tried += 1
            found = _verdict(json.dumps(mutant))
            if found is not None and mutant["statement"] != made["statement"]:
                assert found.statement_digest != original
                others += 1
    print(f"\n{name}: {tried} changes of the statement, none unseen; {others} consistent certificates of others")


def test_a_clause_left_out_of_the_statement_has_another_digest():
    made = cases.symbolic()
    made["statement"]["claims"].pop()
    made["clauses"].pop()
    assert _verdict(json.dumps(made)) is None
    made["statement_digest"] = digest(made["statement"])
    assert _verdict(json.dumps(made)).statement_digest != cases.symbolic()["statement_digest"]
