"""Theorem 4 and the weights of Figures 4 and 5: certified, and compared with transformers."""

import itertools
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given

import verify
from paper_checks.ahn2023 import token_preconditioning
from paper_checks.lazily import lazily
from theorems.preconditioned_descent.multiples_of_the_inverse import theorem3
from theorems.wishart.trace_moments import trace_moments
from verify.outcomes import as_float

torch = lazily("torch")
two_layers, between = (
    lazily(f"theorems.preconditioned_descent.{name}") for name in ("two_layers_of_tokens", "token_layers_between")
)
tokens, printed = (
    lazily(f"theorems.preconditioned_descent.{name}") for name in ("preconditioned_tokens", "printed_layers")
)
TRAINED, EXACT = token_preconditioning.token_preconditioning, token_preconditioning.theorem4_exact


@pytest.mark.parametrize(("d", "n"), [(5, 20), (5, 10), (1, 1)])
def test_theorem_4_for_two_layers_with_all_critical_points(ledger, d, n):
    result = ledger.check(tokens.theorem4, L=2, d=d, n=n)
    assert result.values["complete"] is True
    best = result.values["critical_points"][0]
    assert (
        best["local_minimum"] is True
        and best["loss"].upper < verify.check(theorem3, L=2, d=d, n=n).values["minimum_loss"]
    )


@pytest.mark.parametrize(("d", "n"), [(5, 20), (1, 1), (3, 4)])
def test_one_layer_is_theorem_1s(ledger, d, n):
    result = ledger.check(tokens.theorem4, L=1, d=d, n=n)
    (point,) = result.values["critical_points"]
    assert result.values["complete"] is True and point["local_minimum"] is True and point["b"] == [None]
    (a,) = point["a"]
    assert a.lower <= Fraction(n, n + d + 1) <= a.upper
    assert point["loss"].lower <= Fraction(d * (d + 1), n + d + 1) <= point["loss"].upper


@pytest.mark.parametrize("n", [10, 20])
def test_the_expected_loss_at_the_printed_weights(ledger, n):
    middles = {name: sum(printed.interval(name)) / 2 for name in printed.PRINTED}
    ledger.check(printed.printed_layers, d=5, n=n, **middles)


def loss_by_quadrature(a, b, d, n):
    """Return the loss of two layers with A_l = a_l I and B_l = b_l I at Σ = I, from its definition."""
    from numerics.preconditioned_descent.reference import exact_loss, pattern

    identity = torch.eye(d, dtype=torch.float64)
    A, B = (torch.tensor(x, dtype=torch.float64)[:, None, None] * identity for x in (a, b))
    return float(exact_loss(pattern(A, B), n, identity, identity))


@pytest.mark.parametrize(("d", "n"), [(1, 3), (2, 1)])
def test_two_layers_are_best_at_positive_weights_and_not_in_the_valley(ledger, d, n):
    result = ledger.check(two_layers.two_layers_of_tokens, d=d, n=n)
    assert result.for_all_parameters.standing == "argued"
    assert result.values["complete"] is True and result.values["limits_complete"] is True
    least, (limit, *_) = as_float(result.values["critical_points"][0]["loss"]), result.values["limits"]
    step, product, valley = (as_float(x) for x in (*limit["a"], *limit["rate"], limit["loss"]))
    above = [
        loss_by_quadrature([first, step], [product / first, 0.0], d, n) - valley for first in (-1e-1, -1e-2, -1e-3)
    ]
    # The excess over V is about proportional to a_0: a tenth of a_0 leaves about a tenth of the excess.
    assert all(5 < far / near < 20 for far, near in itertools.pairwise(above)) and 0 < above[-1] < 0.01 * valley
    assert loss_by_quadrature([1e-2, step], [product / 1e-2, 0.0], d, n) < valley
    source = np.random.default_rng(0)
    for _ in range(40):
        a, b = source.normal(size=2), [source.normal() * 2, 0.0]
        loss = loss_by_quadrature(a, b, d, n)
        assert loss > least and (a[0] > 0 or loss > valley)


def test_two_layers_fall_to_a_limit_off_the_set_above_the_best_minimum():
    from numerics.preconditioned_descent.reference import exact_gradient, pattern

    identity, limit = torch.eye(2, dtype=torch.float64), 1.362844009
    first = np.diag([0.26140762, 0.47024447])
    second = np.array([[0.03207711, -0.1350738], [-0.07862989, 0.36183496]])
    moved = np.array([[0.0, -1.00034487], [0.0, -0.1982472]])
    above, slopes = [], []
    for far in (10.0, 100.0):
        shares = np.diag([1 / far, 1.0])
        A = torch.tensor(np.stack([first, shares @ second @ shares]))
        B = torch.tensor(np.stack([np.linalg.inv(shares) @ moved, 0 * moved]))
        found = exact_gradient(pattern(A, B), 1, identity, identity)
        above.append(float(found.loss) - limit)
        slopes.append(max(float((found.A * A).abs().max()), float((found.B * B).abs().max())))
    # The loss is even in 1/far, the share of the first coordinate: a tenth of 1/far leaves a hundredth of the excess.
    assert above[0] / above[1] == pytest.approx(100, rel=0.05) and 0 < above[1] < 1e-3
    assert all(slope > token_preconditioning.VANISHING for slope in slopes)
    assert limit > 1.1 * token_preconditioning.critical_points(2, 2, 1)[0].loss


@pytest.mark.parametrize(("L", "d", "n"), [(2, 1, 2), (3, 1, 1), (2, 2, 1)])
def test_theorem_3s_least_point_has_a_slope_in_the_first_rate(ledger, L, d, n):
    from numerics.preconditioned_descent.reference import exact_gradient, pattern

    result = ledger.check(between.token_layers_between, L=L, d=d, n=n)
    assert result.for_all_parameters.standing == "argued"
    steps = [as_float(a) for a in verify.check(theorem3, L=L, d=d, n=n).values["a"]]
    identity = torch.eye(d, dtype=torch.float64)
    A = torch.tensor(steps, dtype=torch.float64)[:, None, None] * identity
    found = exact_gradient(pattern(A, 0 * A), n, identity, identity)
    assert float(found.loss) == pytest.approx(float(result.values["theorem3_loss"]), rel=1e-10)
    square = np.polynomial.polynomial.polyfromroots(1 / np.repeat(steps, 2)) * np.prod(steps) ** 2
    moments = trace_moments(2 * L + 1, n, d)
    mean = sum(c * float(m) for c, m in zip(square, moments[1:], strict=True))
    expected = -4 * (L - 1) * steps[0] * mean / d * identity
    assert torch.allclose(found.B[0], expected, rtol=1e-7, atol=1e-9)


@pytest.mark.crossing(TRAINED.id)
@given(instance=TRAINED.instances)
def test_preconditioner_blocks_against_training(crossing, instance):
    crossing.holds(TRAINED, instance)


@pytest.mark.parametrize("label", TRAINED.planted)
def test_planted_errors_in_the_blocks_are_caught(crossing, label):
    crossing.catches(TRAINED, label)


@pytest.mark.crossing(EXACT.id)
@given(instance=EXACT.instances)
def test_gradient_on_the_set_by_exact_quadrature(crossing, instance):
    crossing.holds(EXACT, instance)


@pytest.mark.parametrize("label", EXACT.planted)
def test_planted_errors_in_the_gradient_on_the_set_are_caught(crossing, label):
    crossing.catches(EXACT, label)


def gauss_rule_in_balls(n, d, count):
    """Return enclosed nodes and weights, exact to degree 2 count − 1: the nodes are roots of a polynomial over ℚ."""
    m = [flint.fmpq(x.numerator, x.denominator) for x in trace_moments(2 * count, n, d)]
    hankel = flint.fmpq_mat(count, count, [m[i + j] for i in range(count) for j in range(count)])
    last = hankel.solve(flint.fmpq_mat(count, 1, [-m[i + count] for i in range(count)]))
    polynomial = flint.fmpq_poly([last[i, 0] for i in range(count)] + [1])
    roots = [root.real for root, _ in polynomial.numer().complex_roots()]  # pyright: ignore[reportGeneralTypeIssues]
    assert len(roots) == count and all(root > 0 for root in roots)
    powers = flint.arb_mat([[root**k for root in roots] for k in range(count)])
    weights = powers.solve(flint.arb_mat([[flint.arb(x)] for x in m[:count]]))
    return roots, [weights[i, 0] for i in range(count)]


def slopes(weights, nodes, chances):
    """Return the slopes of ∫ r_3² in a_0, a_1, a_2, b_0, b_1 on a box, by differentiating the recursion."""
    totals = [flint.arb(0)] * 5
    for s, chance in zip(nodes, chances, strict=True):
        r = g = flint.arb(1)
        dr, dg = [flint.arb(0)] * 5, [flint.arb(0)] * 5
        for layer in range(3):
            a, b = weights[layer], weights[3 + layer] if layer < 2 else flint.arb(0)
            # q = a s g², and its derivatives in the five weights.
            q = a * s * g**2
            dq = [2 * a * s * g * x + (s * g**2 if i == layer else 0) for i, x in enumerate(dg)]
            dr = [x * (1 - q) - r * y for x, y in zip(dr, dq, strict=True)]
            moved = [b * y + (q if i == 3 + layer else 0) for i, y in enumerate(dq)]
            dg = [x * (1 - b * q) - g * y for x, y in zip(dg, moved, strict=True)]
            r, g = r * (1 - q), g * (1 - b * q)
        totals = [total + 2 * chance * r * x for total, x in zip(totals, dr, strict=True)]
    return totals


@pytest.mark.parametrize("n", [10, 20])
def test_on_the_printed_box_the_loss_is_least_at_its_low_corner(n):
    boxes, checked = [tuple(printed.interval(name) for name in printed.PRINTED)], 0
    with flint.ctx.workprec(256):
        nodes, chances = gauss_rule_in_balls(n, 5, 14)
        assert all(chance > 0 for chance in chances)
        while boxes:
            box = boxes.pop()
            ends = [[flint.arb(flint.fmpq(x.numerator, x.denominator)) for x in side] for side in box]
            if all(slope > 0 for slope in slopes([low.union(high) for low, high in ends], nodes, chances)):
                checked += 1
                continue
            assert checked + len(boxes) < 5000
            halves = [((low, (low + high) / 2), ((low + high) / 2, high)) for low, high in box]
            boxes += itertools.product(*halves)
    corner = {name: printed.interval(name)[0] for name in printed.PRINTED}
    assert verify.check(printed.printed_layers, d=5, n=n, **corner).values["loss"] > Fraction(1, 50)
