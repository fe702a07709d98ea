# ruff: noqa: T201 -- an audit prints its counts
"""Attacks on accepted certificates: their mutants are rejected, unless they are listed as harmless."""

import copy
import json
import re
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import count
from unittest.mock import patch

from tests.verify.rechecker.certificates import recheck_bytes
from verify.checking.doors import with_doors
from verify.language.expressions import digest
from verify.rechecker import Rejected, Unreadable, check_clause

ALL_KINDS = tuple(with_doors()[0].proofs)
"""All kinds of proof, including those behind doors."""
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
WORDS = ("verified", "refuted", "proved", "certified", "all", "instance", "identity", "exponential", *ALL_KINDS)


CARRIED = "a name that is only copied into the result; the digest identifies the statement"
SAME = "another proof of the same claim, which holds too"
ELSEWHERE = "the same claim at another instance, which the result names; everything is computed again there"
EVERYWHERE = [
    ("*", r"theorem", CARRIED),
    ("*", r"uses.*", CARRIED),
    ("*", r"clauses\.\d\.proof\.(entry_)?bits", SAME + ": other bits decide as well"),
    ("*", r"instance\.\w+(\.\d+)?", ELSEWHERE),
]
"""The changes that are harmless to any certificate."""


def _paths(value, path=()):
    """Yield the paths of a value and of its parts; in a list, only entries 0, 1 and the last are visited.

    If there are more than four clauses, only one is visited; of a symbol or a number in an expression, only the name or
    value. The changes of the list itself remove or repeat its entries.
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


def rules_of(made):
    """Return the fields of rules of deductions that mutants of a certificate change, as pairs of a rule and a key."""
    paths = [path for path in _paths({key: value for key, value in made.items() if key != "statement"}) if path]
    nodes = ((_at(made, path[:-1]), path[-1]) for path in paths)
    return {(node["rule"], key) for node, key in nodes if isinstance(node, dict) and "rule" in node and key != "rule"}


def _at(made, path):
    for part in path:
        made = made[part]
    return made


def _replacements(value):
    """Yield values that replace a value."""
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
    # A word of the format is replaced by every other word of the format; any other text by two of them.
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


def _mutants(made, donors, every=1):
    """Yield (field, text) of mutants: a changed field outside the statement, a repeated key, other outcomes or proofs.

    Only one in `every` of the changes of fields is made.
    """
    number = count()
    proofs = [clause["proof"] for clause in made["clauses"][:2]]
    twice = proofs[0]["kind"] == "cycle" and proofs[0] == proofs[-1]
    for path in _paths({key: value for key, value in made.items() if key != "statement"}):
        if twice and path[:3] == ("clauses", 1, "proof"):
            # This proof is equal to the proof of the first clause, whose mutants are made already.
            continue
        original = _at(made, path)
        name = ".".join(map(str, path))
        for value in _replacements(original):
            if next(number) % every:
                continue
            if not path:
                yield name, json.dumps(value)
                continue
            mutant = copy.deepcopy({k: v for k, v in made.items() if k != "statement"})
            _at(mutant, path[:-1])[path[-1]] = value
            yield name, json.dumps(mutant | {"statement": made["statement"]})
        if isinstance(original, dict) and original:
            yield name, _with_repeated_key(made, path)
    yield from _with_other_outcomes(made)
    for kind in ALL_KINDS:
        for i, clause in enumerate(made["clauses"][:2]):
            if clause["proof"]["kind"] != kind:
                yield from _with_proof_of_kind(made, i, kind, donors)


def _with_other_outcomes(made):
    """Yield the certificate with the outcome `verified` replaced by `refuted` everywhere, and the other way round."""
    for label, outcome in (("verified", "refuted"), ("refuted", "verified")):
        text = json.dumps(made)
        if f'"{label}"' in text:
            yield "all outcomes", text.replace(f'"{label}"', f'"{outcome}"')


def _with_proof_of_kind(made, i, kind, donors):
    """Yield the certificate with a clause's proof replaced by the donors' first proof of a kind, if there is one."""
    proofs = (proof for other in donors.values() for proof in _proofs(other) if proof["kind"] == kind)
    if (proof := next(proofs, None)) is not None:
        mutant = copy.deepcopy(made)
        mutant["clauses"][i]["proof"] = proof
        yield f"proof of kind {kind}", json.dumps(mutant)


@cache
def _proofs(make):
    """Return the proofs of a certificate. They must not be changed: the mutants of all certificates share them."""
    return [clause["proof"] for clause in make()["clauses"]]


def _with_repeated_key(made, path):
    """Return the text of a certificate in which the first key of an object occurs twice."""
    mutant = copy.deepcopy(made)
    inside = _at(mutant, path)
    first = next(iter(inside))
    inside["@repeated"] = inside[first]
    return json.dumps(mutant).replace('"@repeated"', json.dumps(first))


def verdict(text):
    """Return the re-checker's acceptance of a certificate; None if it is rejected."""
    try:
        return recheck_bytes(text.encode())
    except (Rejected, Unreadable) as error:
        why = str(error)
    assert "\n" not in why and len(why) < 500
    return None


def _apart(made):
    """Return a copy of a certificate in which no two places share a list, so that each change is in one place."""
    return json.loads(json.dumps(made))


def _allowed(name, field, harmless):
    return next(
        (why for names, path, why in (*EVERYWHERE, *harmless) if _named(names, name) and re.fullmatch(path, field)),
        None,
    )


def _named(names, name):
    return names == "*" or name in names.split("|")


def refuse_mutants(name, made, harmless, donors, every=1):
    """Assert that only harmless mutants of a certificate are accepted; `donors` make proofs of other kinds.

    Only one in `every` of the changes of fields is tried.
    """
    made = _apart(made)
    original = verdict(json.dumps(made))
    assert original is not None
    tried, accepted, known = Counter(), Counter(), _known(made, original)
    for field, text in _mutants(made, donors, every):
        tried[re.sub(r"\.\d+", "", field) or "the whole"] += 1
        of_a_clause = field.startswith(("clauses.", "proof of kind"))
        with patch("verify.rechecker.check_clause", known if of_a_clause else check_clause):
            found = verdict(text)
        if found is None:
            continue
        why = _allowed(name, field, harmless)
        assert why, f"{field} was changed and accepted: {text[-3000:]}"
        accepted[f"{field}: {why}"] += 1
        # An accepted change leaves the claims unchanged, and also the instance unless the change was in the instance.
        same = (found.statement_digest, found.clauses) == (original.statement_digest, original.clauses)
        assert same and (found.instance == original.instance or field.startswith("instance."))
    kinds = sorted({c["proof"]["kind"] for c in made["clauses"]})
    print(f"\n{name} ({', '.join(kinds)}): {sum(tried.values())} mutants, none wrongly accepted; harmless:")
    for line, times in sorted(accepted.items()):
        print(f"    {times:3} {line}")
    assert sum(tried.values()) > 300 // every


def _known(made, original):
    """Return a check of clauses that gives the original's answer for each clause that a mutant did not change.

    Such a clause is often about a run of thousands of steps, which would be iterated again for each mutant.
    """
    shown = {json.dumps(clause): found for clause, found in zip(made["clauses"], original.clauses, strict=True)}

    def known(given, clause, stated, where):
        found = shown.get(json.dumps(stated))
        return found if found and found.label == clause["label"] else check_clause(given, clause, stated, where)

    return known


def see_changes(name, made):
    """Assert that a certificate with a changed statement is rejected, or has another digest."""
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
            assert verdict(json.dumps(mutant)) is None, path
            # With a new digest the mutant may be a certificate of another statement, which the digest names.
            try:
                mutant["statement_digest"] = digest(mutant["statement"])
            except ValueError:
                continue
            tried += 1
            found = verdict(json.dumps(mutant))
            if found is not None and mutant["statement"] != made["statement"]:
                assert found.statement_digest != original
                others += 1
    print(f"\n{name}: {tried} changes of the statement, none unseen; {others} consistent certificates of others")
