"""Every display of an unevaluated expression is made, and the expression's text has the same values."""

import os
import random
import time
import warnings
from fractions import Fraction

import pytest
import sympy as sp

from tests.verify.statements.kept import NAMES, kept_tree, read_text
from tests.verify.statements.numbers import UnsureError
from tests.verify.statements.trees import Tree, kept, symbol, tree, value_at
from tests.verify.statements.writing import same, written
from verify import Hypothesis, Inequality, Parameter, Source, Statement, Theorem, TheoremError, check
from verify.language.expressions import RELATIONS
from verify.printing import latex_of, text_of
from verify.reports.display import forms

COUNT = 300
AUDITED = int(os.environ.get("AUDIT_DISPLAYS", "5000"))
_SYMBOLS = {name: sp.Symbol(name, real=True) for name in NAMES}
_POINTS = ({"x": 2, "y": 3}, {"x": -1, "y": 4}, {"x": 1, "y": 0})
_SECONDS = 0.2


def _drawn(seed: str) -> tuple[Tree, Tree, str]:
    draw = random.Random(seed)
    return kept_tree(draw, draw.randint(1, 4)), kept_tree(draw, draw.randint(0, 3)), draw.choice(sorted(RELATIONS))


def _theorem(seed: str) -> Theorem:
    left, right, relation = _drawn(seed)
    sides = [written(side, _SYMBOLS, keep=True) for side in (left, right)]
    parameters = tuple(Parameter(name, "rational", name) for name in NAMES)
    stated = RELATIONS[relation](*sides, evaluate=False)
    statement = Statement(parameters, (Inequality("c", stated),), (Hypothesis("h", stated),))
    return Theorem("user.kept", "a kept expression", Source("1", "derived here"), statement, {"x": 2, "y": 3})


def _shown(value) -> list[str]:
    notebook = [value._repr_html_(), value._repr_markdown_()]
    return [str(value), repr(value), forms.document(value), *notebook]


def _faults(seed: str) -> list[str]:
    """Return the faults of the displays of a drawn statement."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theorem = _theorem(seed)
        except TheoremError:
            return []
        _shown(theorem)
        theorem._repr_latex_()
    return [text for tree_ in _drawn(seed)[:2] for text in _meanings(tree_)]


def _meanings(node: Tree) -> list[str]:
    expression = written(node, _SYMBOLS, keep=True)
    text, latex = text_of(expression), latex_of(expression)
    uneven = latex.count("\\left") != latex.count("\\right") or latex.count("{") != latex.count("}")
    found = [f"{text}: uneven LaTeX {latex}"] if uneven else []
    for point in _POINTS:
        at = {name: Fraction(x) for name, x in point.items()}
        try:
            held, read = value_at(node, at), value_at(read_text(text), at)
        except UnsureError:
            continue
        if not same(held, read):
            found.append(f"{sp.srepr(expression)} is shown as {text}, which is {read} and not {held} at {at}")
    return found


@pytest.mark.parametrize("part", range(3))
def test_every_display_shows_what_is_kept(part):
    assert [fault for i in range(part, COUNT, 3) for fault in _faults(f"kept:{i}")] == []


def test_a_display_that_says_something_else_is_found(monkeypatch):
    power = kept(tree(1) * kept(symbol("x") ** 0))
    assert _meanings(power) == []
    monkeypatch.setattr(f"{__name__}.text_of", lambda expression: "x")
    assert len(_meanings(power)) == 2


def test_a_result_shows_what_is_kept():
    for i in range(12):
        try:
            result = check(_theorem(f"kept:{i}"), {"x": 2, "y": 3}, seconds=_SECONDS)
        except TheoremError:
            continue
        assert all(_shown(result))


@pytest.mark.audit
def test_thousands_are_shown(capsys):
    started = time.monotonic()
    faults = [fault for i in range(AUDITED) for fault in _faults(f"audited:{i}")]
    with capsys.disabled():
        print(f"\n{AUDITED} kept statements shown in {time.monotonic() - started:.0f} s, {len(faults)} wrongly")  # noqa: T201
    assert faults == []
