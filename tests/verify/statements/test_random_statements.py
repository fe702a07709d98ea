# ruff: noqa: T201 -- an audit prints its counts
"""The audit of random statements of known truth: none is wrongly verified, and none wrongly refuted.

`make audit` draws 2 000 statements. With AUDIT=full in the environment it draws ten times as many, and with
AUDIT=limits:17 only statement 17 of the category `limits`.
"""

import os
import time
from collections import Counter

import pytest

from tests.verify.statements.drawn import CATEGORIES, drawn, names
from tests.verify.statements.judge import RAISED, REFUTED, VERIFIED, judged, shown
from tests.verify.statements.numbers import UnsureError
from verify.checking.check import check
from verify.errors import InputError, NoInstanceError, TheoremError
from verify.evaluation.instances import conditions
from verify.search.explore import explore

pytestmark = pytest.mark.audit

ASKED = os.environ.get("AUDIT", "")
COUNT = 20_000 if ASKED == "full" else 2_000
_SHOWN = 12
"""The largest number of wrong verdicts that are shown in full, in each category."""
_EXPLORED = 12
"""The number of statements, in each category, that are also searched for counterexamples."""
OF_RELATIONS = ("relations", "definitions", "limits", "derivatives", "hypotheses", "cases")


def _names(category):
    if ":" in ASKED:
        return [ASKED] if ASKED.partition(":")[0] == category else []
    return [name for name in names(COUNT) if name.partition(":")[0] == category]


@pytest.mark.parametrize("category", CATEGORIES)
def test_no_statement_is_wrongly_decided(category, capsys):
    asked = _names(category)
    if not asked:
        pytest.skip("another one is asked for")
    found, wrong, started = Counter(), [], time.monotonic()
    for name in asked:
        specimen = drawn(name)
        faults, decided, result = judged(specimen, check)
        plain = not specimen.degenerate and not specimen.hard
        found.update(
            {"statements": 1, "degenerate": specimen.degenerate, "others": plain, "decided": plain and decided}
        )
        found.update({fault.kind for fault in faults})
        if faults:
            wrong.append(shown(specimen, name, faults, result))
        elif ":" in ASKED:
            with capsys.disabled():
                print(f"\n{shown(specimen, name, faults, result)}")
    seconds = time.monotonic() - started
    share = found["decided"] / max(1, found["others"])
    with capsys.disabled():
        print(
            f"\n{category:12} {found['statements']:6} statements, {found['degenerate']:5} degenerate, "
            f"{share:6.1%} of {found['others']:5} others decided, {found[VERIFIED]:4} wrongly verified, "
            f"{found[REFUTED]:4} wrongly refuted, {found[RAISED]:3} raised, {seconds:6.1f} s",
            end="",
        )
    assert not wrong, f"{len(wrong)} wrong, the first of them:\n\n" + "\n\n".join(wrong[:_SHOWN])
    if ":" not in ASKED:
        assert found["degenerate"] >= found["statements"] / 4
        assert share >= 0.9


@pytest.mark.parametrize("category", OF_RELATIONS)
def test_a_counterexample_is_one(category, capsys):
    """Search the same statements: a counterexample must be in scope, have values, and refute the claim."""
    tried = certified = 0
    wrong = []
    for name in _names(category)[:: max(1, len(_names(category)) // _EXPLORED)]:
        specimen = drawn(name)
        try:
            result = explore(specimen.theorem, {}, max_examples=20, seconds=2)
        except (TheoremError, InputError, NoInstanceError):
            continue
        tried += 1
        if result.counterexample is None:
            continue
        certified += 1
        at = dict(result.counterexample)
        try:
            right = specimen.in_scope(at) and specimen.clauses[result.clause.label](at) is False
        except UnsureError:
            continue
        if not right:
            wrong.append(f"{shown(specimen, name, [], None)}\n  said to fail at {at}")
    with capsys.disabled():
        print(f"\n{category:12} {tried:6} searched, {certified} counterexamples, {len(wrong)} wrong", end="")
    assert not wrong, "\n\n".join(wrong[:_SHOWN])


def test_conditions_say_what_the_hypotheses_say(capsys):
    tried, wrong = Counter(), []
    for name in [*_names("hypotheses"), *_names("cases")]:
        specimen = drawn(name)
        if specimen.refused or not specimen.hypotheses:
            continue
        for held in conditions(specimen.theorem, specimen.instance).hypotheses:
            right = specimen.hypotheses[held.label](specimen.instance)
            tried[held.holds is not None] += 1
            if held.holds not in (None, right):
                wrong.append(f"{shown(specimen, name, [], None)}\n  {held.label} is {right}, and {held.status}")
    with capsys.disabled():
        print(f"\nconditions   {sum(tried.values()):6} hypotheses, {tried[True]} decided, {len(wrong)} wrong", end="")
    assert not wrong, "\n\n".join(wrong[:_SHOWN])
