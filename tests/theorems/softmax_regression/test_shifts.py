"""The constants of both shifts, compared with searches over logits, matrices and moves; inputs that are refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import softmax

import verify
from tests.theorems.evaluated import all_hold, evaluated
from theorems.softmax_regression.data_shift import data_shift
from theorems.softmax_regression.weight_shift import weight_shift
from verify import Evidence, InputError, Outcome

BOTH = pytest.mark.parametrize("theorem", [weight_shift, data_shift], ids=lambda theorem: theorem.id)


def jacobian(z):
    """Return the softmax's Jacobian by central differences, with an error of about 10⁻¹⁰."""
    step = 1e-5 * np.eye(len(z))
    return np.array([(softmax(z + e) - softmax(z - e)) / 2e-5 for e in step])


def in_ball(source, n, radius):
    z = source.normal(size=n) * source.choice([0.1, 1, 10])
    z[: source.integers(0, 3)] += source.uniform(0, 2 * radius)
    z -= z.mean()
    return z * min(1, radius / np.linalg.norm(z))


@BOTH
@pytest.mark.parametrize(("n", "d", "R"), [(3, 2, "1/2"), (3, 2, 1), (5, 3, "3/2"), (8, 2, 2), (2, 1, 4), (4, 2, 4)])
def test_no_logits_exceed_the_upper_bound_and_the_family_is_reached(theorem, n, d, R):
    values, radius, source = verify.check(theorem, n=n, d=d, R=R).values, float(Fraction(R)), np.random.default_rng(0)
    most = float(as_number(values["best_factor_at_most"]))
    found = max(radius * np.linalg.norm(jacobian(in_ball(source, n, radius**2)), 2) for _ in range(500))
    reached = float(as_number(values["reached_factor"]))
    # The differences of softmax have an error of about 10⁻¹⁰, and the factor R multiplies it.
    assert found <= most + 1e-8 * radius and reached <= most <= float(values["sharp_factor"])
    if n > 2:
        assert math.isclose(radius * max(slope_of_a_pair(n, radius**2), slope_of_a_row(n, radius**2)), reached)


def slope_of_a_pair(n, ball):
    pair = np.r_[1, 1, np.full(n - 2, -2 / (n - 2))] * math.sqrt((n - 2) / (2 * n))
    return np.linalg.norm(exact_jacobian(ball * pair / np.linalg.norm(pair)), 2)


def slope_of_a_row(n, ball):
    """Return the maximum over a grid of logits with steps below 10⁻²; its relative error is at most 10⁻⁵."""
    row = (np.eye(n)[0] - 1 / n) / math.sqrt(1 - 1 / n)
    return max(np.linalg.norm(exact_jacobian(t * row) @ row) for t in np.linspace(0, ball, 2001))


def exact_jacobian(z):
    p = softmax(z)
    return np.diag(p) - np.outer(p, p)


@BOTH
@pytest.mark.parametrize(("n", "R", "row"), [(3, 1, False), (4, "1/2", True), (10, 1, True), (300, 4, False)])
def test_the_better_of_a_pair_and_a_row_is_reported(theorem, n, R, row):
    radius = float(Fraction(R))
    pair, single = slope_of_a_pair(n, radius**2), slope_of_a_row(n, radius**2)
    assert bool(single > pair) is row
    reached = float(as_number(verify.check(theorem, n=n, d=2, R=R).values["reached_factor"]))
    assert math.isclose(reached, radius * max(single, pair), rel_tol=1e-5)


@BOTH
def test_of_very_many_rows_one_is_better_than_a_pair(theorem):
    # At R = 4 a pair has the factor R/(2 + (n−2) e^(−16 √(n/(2(n−2))))), which is 4/14.2 for a million rows.
    assert verify.check(theorem, n=10**6, d=2, R=4).values["reached_factor"] == Fraction(10**6, 10**6 - 1)
    assert as_number(verify.check(theorem, n=10**5, d=2, R=4).values["reached_factor"]) > Fraction(6, 5)


def as_number(value):
    return getattr(value, "midpoint", value)


def test_the_pair_is_reached_by_a_matrix_and_weights_of_norm_r():
    n, R = 5, 1.5
    z = np.r_[1, 1, -2 / 3, -2 / 3, -2 / 3]
    z, u = z / np.linalg.norm(z), np.r_[1, -1, 0, 0, 0] / math.sqrt(2)
    A, x = R * np.stack([z, u], axis=1), np.array([R, 0])
    assert math.isclose(np.linalg.norm(A, 2), R)
    step = 1e-6 * np.array([0, 1])
    slope = np.linalg.norm(softmax(A @ (x + step)) - softmax(A @ (x - step))) / 2e-6
    assert math.isclose(
        slope, as_number(verify.check(weight_shift, n=n, d=2, R="3/2").values["reached_factor"]), rel_tol=1e-8
    )


@pytest.mark.parametrize(("n", "R"), [(2, 4), (3, 4), (10, 4), (200, 4), (50, "1/2"), (400, 1), (5, "121/100")])
def test_one_column_is_reached_by_one_row(n, R):
    radius = float(Fraction(R))
    a = radius * (np.eye(n)[0] - 1 / n) / math.sqrt(1 - 1 / n)
    # The grid goes from 0 to the largest admitted weight.
    grid = np.linspace(0, radius, 20_001)
    best = max(np.linalg.norm((p := softmax(x * a)) * a - p * (p @ a)) for x in grid)
    found = float(as_number(verify.check(weight_shift, n=n, d=1, R=R).values["reached_factor"]))
    # A grid step of R/20000 moves the logits by R²/20000, so the relative error of a smooth maximum is about 10⁻⁶.
    assert found * (1 - 1e-5) <= best <= found * (1 + 1e-9)


def test_one_column_is_no_exception_for_the_data():
    wide, narrow = (verify.check(data_shift, n=7, d=d, R=4).values["reached_factor"] for d in (2, 1))
    assert wide == narrow == verify.check(weight_shift, n=7, d=2, R=4).values["reached_factor"]


@BOTH
def test_one_row_never_moves_and_two_rows_reach_the_half(theorem):
    one, two = (verify.check(theorem, n=n, d=1, R="9/2").values for n in (1, 2))
    assert one["sharp_factor"] == one["reached_factor"] == one["best_factor_at_most"] == 0
    assert two["sharp_factor"] == two["reached_factor"] == Fraction(9, 4)


@BOTH
def test_the_bound_bites_below_what_logarithms_say(theorem):
    values = verify.check(theorem, n=50, d=20, R=4).values
    claimed = 1.5 * math.log10(50) + 160 / math.log(10)
    free = math.log10(math.sqrt(2))
    small = free + math.log10(math.tanh(0.005))
    for name, expected in (
        ("claimed_factor_log10", claimed),
        ("bites_below_log10", free - claimed),
        ("bites_below_small_move_log10", small - claimed),
    ):
        assert math.isclose(as_number(values[name]), expected, rel_tol=1e-13)
    assert values["vacuous"] is True and verify.check(theorem, n=2, d=2, R="1/2").values["vacuous"] is False


@pytest.mark.parametrize("n", [2, 3, 10])
def test_no_small_move_exceeds_the_free_bound_and_two_rows_reach_it(n):
    source, most = np.random.default_rng(n), math.sqrt(2) * math.tanh(0.005)
    for _ in range(2000):
        z = source.normal(size=n) * source.choice([0.1, 1, 10])
        move = source.uniform(-0.01, 0.01, size=n) if source.random() < 0.5 else source.choice([-0.01, 0.01], size=n)
        assert np.linalg.norm(softmax(z + move) - softmax(z)) <= most * (1 + 1e-12)
    ends = (softmax(np.array([t, -t])) for t in (0.005, -0.005))
    assert math.isclose(np.linalg.norm(np.subtract(*ends)), most, rel_tol=1e-12)


@BOTH
@pytest.mark.parametrize("R", [4, 1000, "1e6", "1e100"])
def test_a_large_radius_does_not_overflow(theorem, R):
    result = verify.check(theorem, n=50, d=20, R=R)
    found = {(clause.outcome, clause.evidence) for clause in evaluated(result)}
    assert found == {(Outcome.VERIFIED, Evidence.PROVED)}
    said = {clause.label: clause.outcome for clause in result.clauses if clause.label in ("shift", "sharp", "free")}
    # The trials of the claim use only moves of norm up to 100.
    shift = Outcome.VERIFIED if R == 4 else Outcome.INCONCLUSIVE
    assert said == {"shift": shift, "sharp": Outcome.VERIFIED, "free": Outcome.VERIFIED}
    assert result.values["vacuous"] is True and None not in result.values.values()


@BOTH
@pytest.mark.parametrize(
    ("name", "value"), [("d", 0), ("n", 0), ("R", 0), ("R", -4), ("R", "nan"), ("n", "5/2"), ("R", "inf")]
)
def test_bad_input(theorem, name, value):
    with pytest.raises(InputError, match=f"{name} = {value}: must be"):
        verify.check(theorem, **{"n": 5, "d": 2, "R": 4, name: value})


@BOTH
def test_a_small_radius_is_out_of_scope_and_the_rest_is_said_all_the_same(theorem):
    result = verify.check(theorem, n=5, d=2, R="399/100")
    assert result.outcome is Outcome.OUT_OF_SCOPE and all_hold(result)
    assert [h.label for h in result.hypotheses if not h.holds] == ["large_radius"]


@BOTH
def test_all_of_it_is_proved_in_scope_and_out_of_it(theorem):
    for R in (4, "1/2"):
        result = verify.check(theorem, n=5, d=2, R=R)
        found = {clause.label: clause.evidence for clause in evaluated(result)}
        assert set(found.values()) == {Evidence.PROVED} and result.for_all_parameters.standing == "formal"
        assert set(found) >= {
            *("residual", "entry", "squares", "eigenvalue", "bound", "pair", "chord"),
            *("within_the_claim", "within_half_the_radius"),
        }


def test_where_one_row_takes_over_at_radius_4():
    reached = [verify.check(weight_shift, n=n, d=2, R=4).values["reached_factor"] for n in (163_885, 163_886)]
    assert as_number(reached[0]) > Fraction(163_885, 163_884) and reached[1] == Fraction(163_886, 163_885)


def test_between_the_families_neither_is_best():
    # Two unequal large logits reach 0.511, whereas the better of the two families reaches 25/49 = 0.5102.
    best = max(2 * np.linalg.norm(exact_jacobian(4 * z / np.linalg.norm(z)), 2) for z in shapes(50))
    assert verify.check(weight_shift, n=50, d=2, R=2).values["reached_factor"] == Fraction(25, 49)
    assert 0.511 < best < 0.512


def shapes(n):
    for second in np.linspace(0, 1, 201):
        z = np.r_[1, second, np.zeros(n - 2)]
        yield z - z.mean()
