"""Theorem 4: critical points known to ten decimals, the closed forms of the loss, and input that is refused."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import verify
from theorems.preconditioned_descent import preconditioned_tokens as tokens
from theorems.preconditioned_descent.printed_layers import PRINTED, interval, printed_layers
from theorems.preconditioned_descent.rechecked.three_layer_loss import three_layer_loss
from theorems.preconditioned_descent.two_layer_loss import EXPECTED, SIZES, in_traces
from theorems.wishart.trace_moments import d, n, trace_moments
from verify import Outcome
from verify.checking.doors import door
from verify.checking.standing import shipped_path
from verify.rechecker import Rejected, recheck_text
from verify.rechecker.reading import Effort
from verify.reports.command_line import run


@pytest.mark.parametrize(
    ("layers", "point", "minimum", "outcome"),
    [
        (2, tokens.BEST_OF_TWO, True, Outcome.VERIFIED),
        (2, tokens.SADDLE_OF_TWO, False, Outcome.VERIFIED),
        (2, tokens.SADDLE_OF_TWO, True, Outcome.REFUTED),
        (3, tokens.BEST_OF_THREE, True, Outcome.VERIFIED),
        (3, ("0.38", "2.4", "9.55", "0.905", "0.565", "0"), False, Outcome.REFUTED),
    ],
    ids=["best of two", "saddle", "saddle as a minimum", "best of three", "printed"],
)
def test_critical_points_are_verified_and_the_printed_point_is_refuted(layers, point, minimum, outcome):
    clause = tokens._near(layers, *point, minimum=minimum)
    theorem = tokens.theorem4.variant(replace(tokens.STATEMENT, claims=(clause,)))
    result = verify.check(theorem, L=layers, d=5, n=20)
    assert result.outcome is outcome and result.clauses[0].proof


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("move", [Fraction(1, 10), Fraction(-1, 10**20)])
def test_the_shipped_certificate_with_a_moved_point_is_rejected(place, move):
    data = json.loads(shipped_path("ahn2023.theorem4").read_text(encoding="utf-8"))
    (at,) = (
        i
        for i, shown in enumerate(recheck_text(json.dumps(data).encode(), door=door).clauses)
        if shown.kind == "stationary"
    )
    centre = data["clauses"][at]["proof"]["centre"]
    centre[place] = str(Fraction(centre[place]) + move)
    with pytest.raises(Rejected, match="a critical point in the stated box is not shown"):
        recheck_text(json.dumps(data).encode(), door=door)


def test_the_polynomial_of_three_layers_agrees_with_the_recursion_by_hand():
    a0, a1, a2, b0, b1 = (Fraction(1, k) for k in (2, 3, 5, 7, 11))
    for s in (Fraction(1, 3), Fraction(2)):
        g1 = 1 - a0 * b0 * s
        g2 = g1 * (1 - a1 * b1 * s * g1**2)
        expected = (1 - a0 * s) * (1 - a1 * s * g1**2) * (1 - a2 * s * g2**2)
        put = dict(zip((*tokens.steps, *tokens.rates), map(sp.Rational, (a0, a1, a2, b0, b1)), strict=True))
        assert tokens.polynomials(3, sp.Rational(s)).xreplace(put) == sp.Rational(expected)


def test_two_layers_have_one_critical_point_with_an_idle_first_layer():
    # At this point a_0 = 0, a_1 = n/(n + d + 1), and b_0 solves -2 ∫ s r² dμ + 4 a_1 b_0 ∫ s² r dμ = 0 with
    # r = 1 - a_1 s.
    size, examples = 3, 4
    points = verify.check(tokens.theorem4, L=2, d=size, n=examples).values["critical_points"]
    (idle,) = [point for point in points if abs(point["a"][0].midpoint) < Fraction(1, 10**12)]
    m = trace_moments(4, examples, size)
    a = Fraction(examples, examples + size + 1)
    rate = (m[1] - 2 * a * m[2] + a**2 * m[3]) / (2 * a * (m[2] - a * m[3]))
    assert idle["a"][1].lower < a < idle["a"][1].upper and idle["b"][0].lower < rate < idle["b"][0].upper
    assert idle["local_minimum"] is False


@pytest.mark.parametrize(("samples", "size"), [(1, 1), (20, 5), (3, 7)])
def test_the_loss_of_three_layers_agrees_with_its_second_computation(samples, size):
    weights = [Fraction(1, 3), Fraction(-2, 5), Fraction(3), Fraction(1, 7), Fraction(2)]
    found = verify.check(printed_layers, n=samples, d=size, **dict(zip(PRINTED, weights, strict=True))).values["loss"]
    assert found == three_layer_loss(Effort(), Fraction(samples), Fraction(size), *weights)


def test_three_layers_at_rates_of_zero_have_the_loss_of_theorem_3():
    a = [Fraction(1, 2), Fraction(1, 3), Fraction(2)]
    square = np.polynomial.Polynomial([1.0])
    for step in a:
        square = square * np.polynomial.Polynomial([1, -float(step)]) ** 2
    expected = sum(c * float(m) for c, m in zip(square.coef, trace_moments(6, 3, 2), strict=True))
    found = three_layer_loss(Effort(), Fraction(3), Fraction(2), *a, Fraction(0), Fraction(0))
    assert float(found) == pytest.approx(expected, rel=1e-12)


def test_weights_and_examples_beyond_the_printed_ones_are_out_of_scope():
    given = {name: sum(interval(name)) / 2 for name in PRINTED}
    assert verify.check(printed_layers, d=5, n=20, **given).outcome is Outcome.VERIFIED
    assert verify.check(printed_layers, d=5, n=20, **{**given, "a2": 9}).outcome is Outcome.OUT_OF_SCOPE
    assert verify.check(printed_layers, d=5, n=25, **given).outcome is Outcome.OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("theorem", "given", "why"),
    [
        ("theorem4", ["L=0", "d=5", "n=20"], "L = 0: must be an integer >= 1"),
        ("theorem4", ["L=2", "d=0", "n=20"], "d = 0: must be an integer >= 1"),
        ("theorem4", ["L=4", "d=5", "n=20"], "L = 4: must be <= 3: one layer more has a polynomial of degree 40 in s"),
        ("theorem4", ["L=2", "d=5"], "n: missing"),
        ("theorem2", ["d=0", "n=3"], "d = 0: must be an integer >= 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line(capsys, theorem, given, why):
    assert run(["check", f"ahn2023.{theorem}", *given]) == 2
    line = capsys.readouterr().err
    assert why in line and line.count("\n") == 1


def test_critical_points_as_json(capsys):
    assert run(["check", "ahn2023.theorem4", "L=2", "d=1", "n=2", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["values"]
    losses = [point["loss_float"] for point in values["critical_points"]]
    assert values["complete"] is True and losses == sorted(losses)
    assert all(
        set(point) == {*"ab", "a_float", "b_float", "loss", "loss_float", "local_minimum"}
        for point in values["critical_points"]
    )
    assert all(point["b"][1] is None for point in values["critical_points"])


def test_the_loss_of_two_layers_at_multiples_of_the_identity():
    a, b = sp.symbols("a b")
    traces = {w: d * a ** w.count("A") * b ** w.count("B") for key in EXPECTED for w in key if w}
    found = in_traces(traces).subs({d: 2, n: 3, a: sp.Rational(1, 2), b: sp.Rational(1, 5)})
    square = np.polynomial.Polynomial([1, -0.7, 0.1]) ** 2
    assert float(found) == pytest.approx(
        sum(c * float(m) for c, m in zip(square.coef, trace_moments(4, 3, 2), strict=True)), rel=1e-12
    )


def test_the_factors_of_the_squares_are_positive_for_all_n_and_d():
    for name, size in SIZES.items():
        for part in sp.fraction(sp.together(size.subs({n: n + 1, d: d + 1}))):
            coefficients = sp.Poly(sp.expand(part), n, d).coeffs()
            assert all(c > 0 for c in coefficients), name


def test_digits_change_the_display_alone():
    found = {digits: verify.check(tokens.theorem4, L=2, d=3, n=7, digits=digits) for digits in (2, 17, 40)}
    points = {digits: result.values["critical_points"] for digits, result in found.items()}
    assert len({len(listed) for listed in points.values()}) == 1 and len(points[2]) > 3
    assert len({(result.outcome, result.evidence, result.clauses[0].detail) for result in found.values()}) == 1
    for few, many in zip(points[17], points[40], strict=True):
        # The points are the same, and more digits enclose the loss more narrowly.
        assert few["loss"].lower <= many["loss"].upper and many["loss"].lower <= few["loss"].upper
        assert many["loss"].upper - many["loss"].lower < Fraction(1, 10**36)
