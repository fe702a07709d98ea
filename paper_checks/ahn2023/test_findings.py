"""The findings' numbers, derived a second time: Wishart moments by enumerating pairings, roots in floating point."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from sympy import Poly, Rational, symbols

import verify
from paper_checks.ahn2023 import figure_findings, findings
from theorems.preconditioned_descent.fixed_steps import fixed_steps


def pairings(slots):
    """Yield all ways to pair some slots."""
    if not slots:
        yield []
        return
    first, *rest = slots
    for i, other in enumerate(rest):
        for pairs in pairings(rest[:i] + rest[i + 1 :]):
            yield [(first, other), *pairs]


def trace_moment(order, n, d):
    """Return E tr (XXᵀ)^order by Wick's theorem: paired factors share both indices.

    Factor 2j is X_{a_j i_j}, and factor 2j + 1 is X_{a_{j+1} i_j}.
    """
    rows = [j // 2 if j % 2 == 0 else (j // 2 + 1) % order for j in range(2 * order)]
    columns = [j // 2 for j in range(2 * order)]
    return sum(
        d ** classes(order, [(rows[a], rows[b]) for a, b in pairs])
        * n ** classes(order, [(columns[a], columns[b]) for a, b in pairs])
        for pairs in pairings(list(range(2 * order)))
    )


def classes(count, equal):
    """Return the number of free indices among `count` indices with some equations between them."""
    leader = list(range(count))
    for a, b in equal:
        leader = [leader[a] if x == leader[b] else x for x in leader]
    return len(set(leader))


@pytest.fixture(scope="module")
def least():
    """Return the coefficients of the cubic p with p(0) = 1 orthogonal to s, s², s³ at d = 5, n = 20, and ∫ p dμ."""
    n, d, L = 20, 5, 3
    m = [Fraction(d), *(Fraction(trace_moment(k, n, d), n**k) for k in range(1, 2 * L + 1))]
    rows = [[m[i + j] for j in range(1, L + 1)] + [-m[i]] for i in range(1, L + 1)]
    for k in range(L):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(L):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    coefficients = [Fraction(1), *(row[-1] for row in rows)]
    return coefficients, sum(c * x for c, x in zip(coefficients, m, strict=False))


def test_the_three_steps(least):
    expected = findings.theorem3_at_three_layers.expect
    coefficients = [float(c) for c in least[0]]
    steps = sorted(1 / np.roots(coefficients[::-1]).real)
    assert steps == pytest.approx([0.422, 0.689, 1.714], abs=5e-4)
    for name, value in (("sum", sum(steps)), ("product", math.prod(steps))):
        bounds = expected[f"values.{name}"]
        assert bounds.lower < value < bounds.upper
    assert expected["values.minimum_loss"] == least[1]
    # The text's h_2 and h_4 at d = 5 are the limits of n^(k/2) E tr (S − I)^k for n → ∞, computed here from the Wishart
    # moments at a large n.
    n, d = 10**9, 5
    m = [Fraction(d), *(Fraction(trace_moment(k, n, d), n**k) for k in range(1, 5))]
    h = [float(sum(math.comb(k, j) * (-1) ** j * m[j] for j in range(k + 1)) * n ** (k // 2)) for k in (2, 4)]
    assert h == pytest.approx([30, 400], rel=1e-6)
    many = verify.check("ahn2023.three_layer_minimum", d=d, n=n).values["minimum_loss"]
    sixth = 5 * d**4 + 22 * d**3 + 52 * d**2 + 41 * d
    assert float(many * n**3) == pytest.approx(sixth - h[1] ** 2 / h[0], rel=1e-6)
    assert sixth / float(many * n**3) == pytest.approx(3.6, abs=0.05)


def test_the_least_loss(least):
    assert least[1] == findings.theorem3_is_attained.expect["values.minimum_loss"]
    # The loss is 2.7 % of the zero predictor's, d = 5, and its logarithm is as in the text.
    assert 0.0265 < least[1] / 5 < 0.0275 and -2.02 < math.log(least[1]) < -2.005


def test_figure_2(least):
    roots = np.roots([float(c) for c in reversed(least[0])])
    steps = sorted(1 / roots.real)
    assert np.allclose(roots.imag, 0) and np.allclose(steps, [0.42240853, 0.68912608, 1.71421737], atol=1e-8, rtol=0)
    for i, a in enumerate(steps):
        printed = figure_findings.figure2_is_theorem3s_point.expect[f"values.a.{i}"]
        assert printed.lower < a < printed.upper
    # The intervals are narrow compared with the distances between the steps: no step lies between the first two
    # intervals.
    assert not any(0.435 < a < 0.685 for a in steps)


def test_theorem_5_at_the_findings_sizes():
    # f = d − d a + κ d a² is least at its vertex. κ follows from E|x|²s²1(s>0) = (d+2)/2 and |E x s 1(s>0)| = 1/2 over
    # n² pairs of examples, where s is x's component along a unit vector.
    d, n = 5, 20
    kappa = Fraction(n * (d + 2), 2 * n * n) + Fraction(n * (n - 1), 4 * n * n)
    expected = findings.theorem5_last_row_is_needless.expect
    assert expected["values.a"] == 1 / (2 * kappa)
    assert expected["values.minimum_loss"] == d - Fraction(d) / (4 * kappa)


def test_lemma_1_by_hand():
    """One layer from w = 0 at x_1 = (1, 0), x_2 = 0, w* = (1, 0), A = [[0, 1], [0, 0]], query (0, 1)."""
    examples, weights, A, query = np.array([[1.0, 0], [0, 0]]), np.array([1.0, 0]), np.array([[0, 1.0], [0, 0]]), [0, 1]
    labels = weights @ examples
    label = -(labels @ (examples.T @ A @ query)) / 2
    gradient = -examples @ (examples.T @ weights) / 2
    assert label == -0.5
    assert -(-A.T @ gradient) @ query == label and -(-A @ gradient) @ query == 0


def zonal_moment(k, n, d):
    """Return E tr (XXᵀ)^k by zonal polynomials; p_k has nonzero coefficients at the partitions (a, b, 1, …, 1) only."""
    total = Fraction(0)
    for a in range(1, k + 1):
        for b in range(min(a, k - a) + 1):
            ones = k - a - b
            if not b and ones:
                continue
            parts = [a] + [b] * (b > 0) + [1] * ones
            boxes = [(i, j) for i, part in enumerate(parts) for j in range(part)]
            legs = {(i, j): sum(part > j for part in parts[i + 1 :]) for i, j in boxes}
            contents = [2 * j - i for i, j in boxes]
            norm = math.prod((2 * (parts[i] - 1 - j) + legs[i, j] + c) for i, j in boxes for c in (1, 2))
            weight = math.prod((n + c) * (d + c) for c in contents)
            total += Fraction(2 * k * math.prod(contents[1:]) * weight, norm)
    return total


def times(one, other):
    product = [Fraction(0)] * (len(one) + len(other) - 1)
    for i, x in enumerate(one):
        for j, y in enumerate(other):
            product[i + j] += x * y
    return product


def loss_on_set(a, b, n, d=5):
    """Return the loss at A_l = a_l I, B_l = b_l I: the mean of the square of the label's polynomial, by the moments."""
    tokens, label = [Fraction(1)], [Fraction(1)]
    for step, rate in zip(a, [*b, Fraction(0)], strict=True):
        seen = [Fraction(0), *(step * c for c in times(tokens, tokens))]
        less = [-c for c in seen]
        label = times(label, [1 + less[0], *less[1:]])
        tokens = times(tokens, [1 + rate * less[0], *(rate * c for c in less[1:])])
    square = times(label, label)
    return sum(c * Fraction(zonal_moment(k, n, d) if k else d, n**k) for k, c in enumerate(square))


@pytest.fixture(scope="module")
def two_steps():
    """Return two layers' least loss on S, the steps' sum σ and product π: 1 − σs + πs² is orthogonal to s and s²."""
    m = [Fraction(5), *(Fraction(zonal_moment(k, 20, 5), 20**k) for k in range(1, 5))]
    determinant = m[2] * m[4] - m[3] ** 2
    total, product = (m[1] * m[4] - m[2] * m[3]) / determinant, (m[1] * m[3] - m[2] ** 2) / determinant
    return m[0] - total * m[1] + product * m[2], total, product


def test_the_least_loss_of_two_layers(two_steps):
    for finding in (findings.theorem2_minimisers_are_multiples, findings.theorem3_at_two_layers):
        assert two_steps[0] == finding.expect["values.minimum_loss"]


# Rotations that fix e_1 make X lower bidiagonal. The squares of its first entries are independent χ² of
# n, d − 1 and n − 1 degrees of freedom, and POWERS expresses e_1ᵀ(XXᵀ)^k e_1 in terms of them.
CHI = symbols("x y z")
POWERS = {
    1: CHI[0],
    2: CHI[0] ** 2 + CHI[0] * CHI[1],
    3: CHI[0] ** 3 + 2 * CHI[0] ** 2 * CHI[1] + CHI[0] * CHI[1] ** 2 + CHI[0] * CHI[1] * CHI[2],
}


def along(n, d, *powers):
    """Return the mean of the product of e_1ᵀ(XXᵀ)^k e_1 over the powers k."""
    terms = Poly(math.prod(POWERS[k] for k in powers), *CHI).terms()
    degrees = (n, d - 1, n - 1)
    return sum(
        int(c) * math.prod(math.prod(range(k, k + 2 * j, 2)) for k, j in zip(degrees, each, strict=True))
        for each, c in terms
    )


def test_moments_along_a_line_are_those_of_pairings():
    assert all(5 * along(4, 5, k) == trace_moment(k, 4, 5) for k in POWERS)


def test_the_slope_and_the_gain_where_labels_are_read(two_steps):
    n, d, (_, total, product) = 20, 5, map(float, two_steps)
    root, expected = math.sqrt(total**2 - 4 * product), findings.theorem3_over_all_entries.expect
    for order, a in (("smaller", (total - root) / 2), ("larger", (total + root) / 2)):
        # The label's error is the product of the query and p(S)w − t a (wᵀu(S)w) S w. Here t is the last diagonal entry
        # of Q_1, a the first step, p(s) = 1 − σs + πs² and u(s) = s (1 − a s)². By symmetry w may be taken as |w| e_1.
        seen, error = {1: 1.0, 2: -2 * a, 3: a * a}, {1: 1.0, 2: -total, 3: product}
        pairs = product_of(seen, error), product_of(seen, seen)
        mixed = d * (d + 2) * sum(c * along(n, d, *k) / n ** sum(k) for k, c in pairs[0])
        square = d * (d + 2) * (d + 4) * sum(c * along(n, d, *k, 2) / n ** (sum(k) + 2) for k, c in pairs[1])
        for name, value in (("slope", -2 * a * mixed), ("gain", mixed**2 / square)):
            stated = expected[f"values.{name}_{order}_first"]
            assert stated.lower < value < stated.upper


def product_of(one, other):
    return [((i, j), x * y) for i, x in one.items() for j, y in other.items()]


def test_the_two_minima_of_one_layer():
    # At n = 1, d = 2 a step a in a coordinate with Σ's eigenvalue λ leaves λ E (w − aSw)_1² = λ (1 − 2aλ + a²κ), where
    # κ = E x_1²|x|² = λ (2λ + tr Σ). The loss is the same whether P or Q reads the examples' labels. In a coordinate in
    # which the layer takes no step, a is 0.
    eigenvalues = Fraction(1), Fraction(1, 2)
    least = [x * (1 - x**2 / (x * (2 * x + sum(eigenvalues)))) for x in eigenvalues]
    expected = findings.theorem1_has_other_local_minima.expect
    assert expected["values.loss"] == least[0] + eigenvalues[1] and expected["values.least_loss"] == sum(least)


def test_zonal_moments_are_those_of_pairings():
    assert all(zonal_moment(k, 3, 2) == trace_moment(k, 3, 2) for k in range(1, 6))


@pytest.mark.parametrize(
    ("finding", "n"), [("figures_4_and_5_are_not_at_10_examples", 10), ("figures_4_and_5_are_best_on_batches", 20)]
)
def test_the_loss_at_the_printed_weights(finding, n):
    expected = verify.load_finding(f"ahn2023.{finding}").expect
    loss = loss_on_set([Fraction(x) for x in ("0.38", "2.4", "9.555")], [Fraction("0.905"), Fraction("0.565")], n)
    assert expected["values.loss"].lower < loss < expected["values.loss"].upper
    if "values.log_loss" in expected:
        assert expected["values.log_loss"].lower < math.log(loss) < expected["values.log_loss"].upper


@pytest.mark.parametrize(
    ("finding", "layers", "n"), [("theorem4_is_attained", 2, 20), ("theorem4_at_the_figures_setting", 3, 20)]
)
def test_the_best_point_is_least_along_every_line(finding, layers, n):
    """The loss, in exact arithmetic, rises if a weight moves by ±1/1000 from the point given to six decimals."""
    expected = verify.load_finding(f"ahn2023.{finding}").expect
    at = {2: [0.516762, 3.474664, 0.868459], 3: [0.338297, 2.090841, 8.568057, 0.877578, 0.578162]}[layers]
    point = [Fraction(str(x)) for x in at]
    names = [*(f"a.{i}" for i in range(layers)), *(f"b.{i}" for i in range(layers - 1))]
    for name, x in zip(names, point, strict=True):
        stated = expected.get(f"values.critical_points.0.{name}")
        assert stated is None or stated.lower < x < stated.upper
    least = loss_on_set(point[:layers], point[layers:], n)
    stated = expected["values.critical_points.0.loss"]
    assert stated.lower < least < stated.upper
    for i in range(len(point)):
        for step in (Fraction(1, 1000), Fraction(-1, 1000)):
            moved = [x + step * (j == i) for j, x in enumerate(point)]
            assert loss_on_set(moved[:layers], moved[layers:], n) > least


def test_the_local_minima_of_two_layers_by_descent_from_many_points():
    from scipy.optimize import minimize

    moments = [5.0, *(float(zonal_moment(k, 20, 5)) / 20**k for k in range(1, 9))]

    def loss(weights):
        first, second, rate = weights
        seen = np.polynomial.Polynomial([1.0, -first * rate]) ** 2 * np.polynomial.Polynomial([0.0, second])
        return ((np.polynomial.Polynomial([1.0, -first]) * (1 - seen)) ** 2).coef @ moments

    starts = np.random.default_rng(0).uniform(0, (3, 6, 1.5), (25, 3))
    ends = [minimize(loss, start, method="BFGS", options={"gtol": 1e-6}) for start in starts]
    # From some points descent leads far away, where the loss falls ever more slowly.
    found = sorted(end.fun for end in ends if abs(end.jac).max() < 1e-4)
    values = [found[0], *(value for before, value in pairwise(found) if value - before > 1e-5)]
    expected = findings.theorem4_is_attained.expect
    stated = [expected[f"values.critical_points.{i}.loss"] for i in (0, 1, 3)]
    assert len(values) == 3 and all(x.lower < value < x.upper for x, value in zip(stated, values, strict=True))


def test_the_printed_weights_against_the_best_point():
    best, printed = (0.3383, 2.0908, 8.5681, 0.8776, 0.5782), (0.38, 2.40, 9.555, 0.905, 0.565)
    assert all(abs(x / y - 1) < 0.13 for x, y in zip(best, printed, strict=True))
    low, high = (0.375, 2.375, 9.455, 0.895, 0.555), (0.385, 2.425, 9.655, 0.915, 0.575)
    inside = [y <= x <= z for x, y, z in zip(best, low, high, strict=True)]
    assert inside == [False, False, False, False, False]


def test_the_best_steps_for_20_examples_at_other_lengths(least):
    square = np.polynomial.polynomial.polymul(least[0], least[0])
    polynomial = [Fraction(0)] * 7
    for k, c in enumerate(square):
        polynomial[k] = c

    def loss(m):
        return sum(c * (Fraction(trace_moment(k, m, 5), m**k) if k else 5) for k, c in enumerate(polynomial))

    expected = findings.more_examples_can_hurt.expect
    assert expected["values.three_layer_limit"] == 5 * sum(least[0]) ** 2
    # The numbers of the text.
    numbers = {10: 1.53, 20: 0.1336, 57: 0.0427, 100: 0.0487}
    assert all(abs(float(loss(m)) - value) < 0.005 * value for m, value in numbers.items())
    a, n, d, m = Fraction(20, 26), 20, 5, 100
    assert a == Fraction(n, n + d + 1)
    assert expected["values.one_layer_loss"] == d - 2 * a * d + a**2 * Fraction(trace_moment(2, m, d), m**2)


def equal_steps(a, layers, examples):
    """Return E tr (I − aS)^{2L}, with the moments from zonal polynomials."""
    powers = range(1, 2 * layers + 1)
    terms = (math.comb(2 * layers, k) * (-a) ** k * zonal_moment(k, examples, 5) / examples**k for k in powers)
    return 5 + sum(terms)


def test_equal_steps_of_the_grid():
    expected = figure_findings.figure7_descent_is_held_back.expect
    grid = [Fraction(step) for step in ("0.001", "0.002", "0.004", "0.008", "0.01", "0.02", "0.04", "0.08", "0.16")]
    for place, layers in enumerate((3, 4)):
        best = min((equal_steps(19 * step, layers, 19), 19 * step) for step in grid)
        stated = expected[f"theory.equal_preconditioned_steps.lower.{place}"]
        assert stated.lower < best[0] < stated.upper
        chosen = expected["measurements.preconditioned_gradient_descent_steps_end.value"]
        assert chosen.lower < best[1] < chosen.upper


@pytest.mark.parametrize(("layers", "examples", "stated"), [(3, 19, "0.2965"), (3, 20, "0.2683"), (4, 19, "0.1850")])
def test_the_best_equal_steps(layers, examples, stated):
    assert stated in figure_findings.figure7_descent_is_held_back.text
    best = min(equal_steps(Fraction(i, 1000), layers, examples) for i in range(670, 730, 5))
    assert round(float(best), 4) == float(stated)


def test_proved_bound_of_equal_steps_is_cited():
    (claim,) = (claim for claim in fixed_steps.statement.claims if claim.label == "shared_step")
    assert claim.relation.rhs == Rational("0.268") and claim.relation.rel_op == ">"
    text = figure_findings.figure7_descent_is_held_back.text
    assert "every a > 0 loses more than 0.268 on 20 is proved (shared_step of ahn2023.fixed_steps)" in text


def test_four_different_steps(least):
    # This is the orthogonal polynomial of degree four, in floats; the fixture `least` has degree three.
    m = [5.0, *(float(zonal_moment(k, 20, 5)) / 20**k for k in range(1, 9))]
    c = np.linalg.solve([[m[i + j] for j in range(1, 5)] for i in range(1, 5)], [-m[i] for i in range(1, 5)])
    assert round(m[0] + float(c @ m[1:5]), 4) == 0.055 and "0.0550" in figure_findings.figure7_descent_is_held_back.text
    assert round(float(least[1]), 4) == 0.1336
