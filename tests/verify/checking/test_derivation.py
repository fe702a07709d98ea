"""Derivations: right steps pass, wrong steps are named, and every output format shows the steps."""

import pytest
import sympy as sp

import verify
from verify import Derivation, Inequality, Step, TheoremError
from verify.checking.derivation import check_step
from verify.frozen import Frozen
from verify.reports.display.latex import document
from verify.reports.display.pages import derivation_page
from verify.reports.text import derivation_json, derivation_lines

x, y, C = sp.symbols("x y C", real=True)
w = sp.Symbol("w", real=True)

RIGHT = (
    Step("expand", (x + y) ** 2, x**2 + 2 * x * y + y**2),
    Step("differentiate", sp.Derivative(sp.exp(2 * x) * y, x), 2 * y * sp.exp(2 * x)),
    Step("take the limit", sp.Limit((x**2 - 1) / (x - 1), x, 1), sp.Integer(2)),
    Step("sum", sp.Sum(C, (C, 1, 3)), sp.Integer(6)),
    Step("put in", sp.Subs(x**2 + y, x, 3), y + 9),
)


def test_right_steps_are_yielded_with_their_numbers():
    steps = list(Derivation(RIGHT).checked_steps())
    assert [(step.number, step.why) for step in steps] == list(enumerate([step.why for step in RIGHT], 1))
    assert steps[1].left == RIGHT[1].left and steps[1].right == RIGHT[1].right


@pytest.mark.parametrize("place", range(len(RIGHT)))
def test_a_wrong_step_is_named_and_those_before_it_are_shown(place):
    wrong = Step("the planted one", RIGHT[place].left, RIGHT[place].right + sp.Rational(1, 10**6))
    steps = Derivation((*RIGHT[:place], wrong, *RIGHT[place + 1 :])).checked_steps()
    for _ in range(place):
        next(steps)
    with pytest.raises(TheoremError, match=rf"step {place + 1} \(the planted one\): .* does not hold"):
        next(steps)


def test_the_steps_that_hold_are_checked_once(monkeypatch):
    checked = []
    monkeypatch.setattr(
        "verify.checking.derivation.check_step", lambda *step: checked.append(step) or check_step(*step)
    )
    whole = Derivation(RIGHT[:2])
    assert [step.number for step in whole.holding_steps[0]] == [1, 2] and whole.holding_steps[1] == ""
    assert len(checked) == 2
    steps, why = Derivation((RIGHT[0], Step("the planted one", x, x + 1), RIGHT[1])).holding_steps
    assert [step.number for step in steps] == [1] and "step 2 (the planted one)" in why


def test_the_progress_is_told():
    heard = []
    list(Derivation(RIGHT[:2]).checked_steps(lambda done, total: heard.append((done, total))))
    assert heard == [(1, 2), (2, 2)]


SAME = r"step 3 \(odd\): both sides are written the same"


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        *(
            (left, right, SAME)
            for left, right in ((x, x), (x + x, 2 * x), (sp.Integer(1), 1), (y * (x + 1), (x + 1) * y))
        ),
        (sp.sqrt((x + 1) ** 2 + y), x, r"step 3 \(odd\)"),
        (sp.log(x + 1), x, r"step 3 \(odd\)"),
        (sp.Limit(sp.exp(x), x, 0), sp.Integer(1), r"step 3 \(odd\)"),
        *((left, x, "does not hold") for left in (sp.true, sp.Lt(x, y), sp.Tuple(x, y))),
    ],
)
def test_a_step_that_is_none_or_is_not_decided_is_named(left, right, why):
    with pytest.raises(TheoremError, match=why):
        check_step(3, Step("odd", left, right))


@pytest.mark.parametrize("kept", [dict, Frozen])
def test_definitions_are_put_in_before_a_step_is_checked(kept):
    definitions = kept({w: x + 1, C: w**2})
    assert len(list(Derivation((Step("square", C, x**2 + 2 * x + 1),), definitions).checked_steps())) == 1
    with pytest.raises(TheoremError, match="does not hold"):
        list(Derivation((Step("square", C, x**2 + 2 * x),), definitions).checked_steps())
    with pytest.raises(TheoremError, match="does not hold"):
        list(Derivation((Step("square", C, x**2 + 2 * x + 1),)).checked_steps())


def test_shorthands_are_what_is_shown_and_not_what_is_checked():
    short = ((w, sp.exp(-x)),)
    derivation = Derivation(
        (Step("half", sp.exp(-x) * 2 / (1 + 1 + y - y + 0 * x), (sp.exp(-x) + y) - y * 1 + 0 * x),), shorthands=short
    )
    with pytest.raises(TheoremError, match="written the same"):
        list(derivation.checked_steps())
    (step,) = Derivation(
        (Step("square", (sp.exp(-x) + 1) ** 2, sp.exp(-2 * x) + 2 * sp.exp(-x) + 1),), shorthands=short
    ).checked_steps()
    assert step.left == (w + 1) ** 2 and w in step.right.free_symbols and not step.right.has(sp.exp)


def test_the_notation_lists_shorthands_and_definitions():
    derivation = Derivation(RIGHT[:1], {C: sp.exp(-x) + 1}, ((y, (w + 1) ** 2), (w, sp.exp(-x))))
    assert derivation.notation() == [(y, (w + 1) ** 2), (w, sp.exp(-x)), (C, w + 1)]


@pytest.fixture
def theorem(make_theorem):
    def build(*steps):
        return make_theorem(
            Inequality("c", sp.Gt(x, 0)), derivation=lambda: Derivation(steps, {C: x + 1}, ((w, sp.exp(-x)),))
        )

    return build


def test_a_derivation_as_text(theorem):
    lines = list(derivation_lines(theorem(RIGHT[0], RIGHT[2])))
    assert lines == [
        "user.theorem: a title",
        "Lemma 7 (derived here)",
        "  w = exp(-x)",
        "  C = x + 1",
        "1. expand\n   (x + y)**2\n     = x**2 + 2*x*y + y**2",
        "2. take the limit\n   Limit((x**2 - 1)/(x - 1), x, 1, dir='+')\n     = 2",
    ]


def test_a_derivation_as_latex(theorem):
    shown = document(derivation_page(theorem(RIGHT[0])))
    assert shown.startswith("\\documentclass{article}\n") and shown.endswith("\\end{document}")
    assert "$w$ & $e^{- x}$ \\\\\n$C$ & $x + 1$ \\\\\n" in shown
    assert "1 & expand & $\\left(x + y\\right)^{2} = x^{2} + 2 x y + y^{2}$ \\\\\n" in shown


def test_a_long_step_has_a_line_of_its_own(theorem):
    long = Step("expand", (x + y) ** 12, sp.expand((x + y) ** 12))
    shown = document(derivation_page(theorem(long)))
    assert "\\item[{1}] expand\n\\[ \\left(x + y\\right)^{12} = x^{12} + 12 x^{11} y" in shown


@pytest.mark.parametrize(
    ("form", "notation", "left", "right"),
    [
        ("text", {"w": "exp(-x)", "C": "x + 1"}, "(x + y)**2", "x**2 + 2*x*y + y**2"),
        ("latex", {"w": "e^{- x}", "C": "x + 1"}, "\\left(x + y\\right)^{2}", "x^{2} + 2 x y + y^{2}"),
    ],
)
def test_a_derivation_as_json(theorem, form, notation, left, right):
    assert derivation_json(theorem(RIGHT[0]), form) == {
        "theorem": "user.theorem",
        "format": form,
        "notation": notation,
        "steps": [{"number": 1, "why": "expand", "left": left, "right": right}],
    }


@pytest.mark.parametrize(
    "shown",
    [derivation_page, lambda wrong: derivation_json(wrong, "text"), lambda wrong: list(derivation_lines(wrong))],
)
def test_a_wrong_step_stops_every_form(theorem, shown):
    with pytest.raises(TheoremError, match=r"step 2 \(planted\)"):
        shown(theorem(RIGHT[0], Step("planted", x + y, x - y)))


def test_a_theorem_without_a_derivation_says_so(make_theorem, theorem):
    with pytest.raises(TheoremError, match="has no derivation"):
        verify.derive(make_theorem(Inequality("c", sp.Gt(x, 0))))
    assert [step.number for step in verify.derive(theorem(RIGHT[0]))] == [1]
