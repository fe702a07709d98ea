"""The findings' numbers, derived a second time from the softmax itself.

Without Lemma 1's formulas; and with sampled sign encodings, or counts of signs, without the moments that enclose means.
"""

import math
from fractions import Fraction
from itertools import combinations, count, islice, pairwise, repeat

import numpy as np
import pytest
from mpmath import mp, mpf

from paper_checks.wang2024 import findings
from paper_checks.wang2024.by_counting import loss, means
from paper_checks.wang2024.by_sampling import D_E, SAMPLES, D, T, best_layer, is_sampled, layer_losses, scores
from paper_checks.wang2024.by_softmax import descent_losses


@pytest.fixture
def digits():
    before = mp.dps
    # Beyond η = 2q an error grows by up to |1 − η/q| = 3/2 a step, by 10^282 in 1600 steps at most: in practice
    # less, as the steps before 500 contract. 400 digits leave more than a hundred.
    mp.dps = 400
    yield
    mp.dps = before


@pytest.mark.usefixtures("digits")
def test_the_loss_leaves_the_level_again():
    expected = findings.stays_needs_a_step_size.expect
    run = list(islice(descent_losses(9, 2, 1, repeat(5), mp.exp, mpf), 1602))
    level = mpf(1) / 200
    reached = next(step for step, loss in enumerate(run) if loss <= level)
    assert reached == expected["values.steps_to_epsilon"] == expected["clauses.stays.witness.reached_at"]
    above = next(step for step in range(reached, len(run)) if run[step] > level)
    assert above == expected["clauses.stays.witness.above_at"]
    wanted = expected["clauses.stays.witness.observable"]
    lower, upper = (mpf(end.numerator) / end.denominator for end in (wanted.lower, wanted.upper))
    assert lower < run[above] < upper


@pytest.mark.usefixtures("digits")
def test_the_loss_leaves_the_level_on_the_way_below_the_stable_step_size():
    expected = findings.stays_needs_more_than_stability.expect
    run = list(islice(descent_losses(1000, 2, 5000, repeat(mpf(37) / 10), mp.exp, mpf), 2000))
    reached = next(step for step, loss in enumerate(run) if loss <= 2)
    assert reached == expected["values.steps_to_epsilon"] == expected["clauses.stays.witness.reached_at"]
    above = [step for step in range(reached, len(run)) if run[step] > 2]
    assert above == list(range(expected["clauses.stays.witness.above_at"], 201))
    wanted = expected["clauses.stays.witness.observable"]
    lower, upper = (mpf(end.numerator) / end.denominator for end in (wanted.lower, wanted.upper))
    assert lower < run[above[0]] < upper
    # As the text says: 23 at step 185, more than eleven times the level.
    assert max(run[above[0] :]) == run[185] and 23 < run[185] < mpf("23.1") and run[0] == 1250


def test_the_level_is_reached_and_kept_where_the_sizes_are_not_the_papers():
    run = list(islice(descent_losses(3, 2, 2, repeat(1 / 80)), 5000))
    assert all(later < loss for loss, later in pairwise(run)) and run[-1] < 1 / 10
    # 4q²/(5q + 2d).
    assert findings.needless_sizes.expect["values.largest_step_size"] == Fraction(16, 14)


def test_the_bound_on_the_steps_at_the_figures_step_size():
    ratio, excess, growth = 2500 / 3, 1000 / 597, 10 / 597 * 13 / 18
    bound = (ratio + 3.5 * (1 + excess) * math.log(1 + ratio) + (30 + 25 * excess) * 200 / 3) / growth
    wanted = findings.every_level_at_the_figures_step.expect["values.steps_at_most"]
    assert wanted.lower < bound < wanted.upper


def test_the_bound_on_the_steps_from_below_at_the_figures_step_size():
    ratio, excess, growth = 2500 / 3, 1000 / 597, 10 / 597
    bound = (ratio - (2 * excess + 1.5 * growth) * math.sqrt(ratio) - 200 / 197) / growth
    wanted = findings.steps_from_both_sides.expect
    assert wanted["values.steps_at_least"].lower < bound < wanted["values.steps_at_least"].upper
    # Against the first order and the number itself, by the recursion.
    run = enumerate(descent_losses(200, 3, 5, repeat(1)))
    steps = next(step for step, loss in run if loss <= 1 / 1000)
    assert steps == 55766 and bound < 199 / 4 * 1000 < steps
    assert wanted["values.ratio_for_small_eps"] == 1 / (1 - Fraction(25, 90))


@pytest.mark.usefixtures("digits")
def test_the_loss_runs_into_a_cycle_of_two_steps():
    run = list(islice(descent_losses(9, 2, 3, repeat(6), mp.exp, mpf), 8001))
    assert min(run) > mpf(1) / 500
    one, other = run[-2:]
    # It contracts by about 1/150 in two steps: 3000 steps on, the cycle is met to ten digits.
    assert abs(run[-3] - other) < 1e-10 and abs(one - other) > 1e-4
    wanted = findings.may_never_reach.expect["clauses.reached.witness.lowest"]
    # What is certified on a set around the cycle is below the losses on it, and above what the text says.
    lower, upper = (mpf(end.numerator) / end.denominator for end in (wanted.lower, wanted.upper))
    assert lower == mpf(8) / 100 and lower < min(one, other) < upper < mpf("1.001") * min(one, other)


@pytest.mark.parametrize(("exp", "number"), [(math.exp, float), (np.exp, np.longdouble)])
def test_the_figures_step_size_reaches_the_level(exp, number):
    # A long double has 64 bits where there is one, and is else a float.
    run = descent_losses(200, 3, 5, repeat(1), exp, number)
    step, loss = next((step, loss) for step, loss in zip(count(), run, strict=False) if loss <= 1 / 1000)
    assert step == findings.figures_step_size_out_of_scope.expect["values.steps_to_epsilon"]
    # 5·10⁴ contracting steps of some 30 roundings err by less than 10⁻⁹ of the loss; a step lowers it by 4·10⁻⁵ of it.
    assert 1e-6 < 1 - loss * 1000 < 2e-5


def test_the_rate_is_that_of_the_differential_equation():
    # dL/dt = −4ηL²/(T−1) at small L; read off the float run between L = 6·10⁻⁵ and 5·10⁻⁵.
    T, eta = 9, 1
    run = list(islice(descent_losses(T, 2, 1, repeat(eta)), 40_001))
    slope = (1 / run[40_000] - 1 / run[36_000]) / 4000
    # 1 − slope/limit = κ r², with κ < 1 and r² = 2 (T − q) L/d.
    assert 0 < 1 - slope * (T - 1) / (4 * eta) < 2 * 7 * run[36_000]
    assert findings.exact_rate.expect["values.inverse_loss_slope"] * 199 == 4


@pytest.mark.parametrize(
    ("query", "finding", "least"),
    [
        (True, findings.figure1_cannot_reach_zero, "0.35"),
        (False, findings.figure1_cannot_reach_zero_over_tokens, "0.088"),
    ],
)
def test_the_least_loss_at_the_figures_setting(query, finding, least):
    wanted = finding.expect["values.loss_floor"]
    alpha, C = best_layer(query)
    # The grid's step changes the least loss by less than a hundredth of it.
    assert 2 < C < 6
    losses = layer_losses(3, alpha, C, query)
    assert is_sampled(wanted, losses)
    assert not is_sampled(wanted, 1.1 * losses) and not is_sampled(wanted, 0.9 * losses)
    assert least in finding.title
    assert Fraction(least) < wanted.lower
    assert 1 / wanted.lower < 3 or not query


def test_the_two_least_losses_are_a_quarter_apart():
    over_tokens, with_query = (
        finding.expect["values.loss_floor"]
        for finding in (findings.figure1_cannot_reach_zero_over_tokens, findings.figure1_cannot_reach_zero)
    )
    assert Fraction(24, 100) < over_tokens.lower / with_query.upper < over_tokens.upper / with_query.lower < 0.26


@pytest.mark.parametrize(
    ("query", "finding"),
    [(True, findings.figure1_cannot_reach_zero), (False, findings.figure1_cannot_reach_zero_over_tokens)],
)
def test_the_least_loss_by_counting(query, finding):
    """A third time, without chance: over a grid of C the loss at the best α, and a parabola through the least three."""
    wanted = finding.expect["values.loss_floor"]
    # Around the sampled best one, which is looked for from −2 to 8.
    grid = best_layer(query)[1] + np.arange(-3, 4) / 6
    curve = []
    for C in grid:
        mean = means(T, 3, D_E, query, C)
        curve.append(loss(mean.P / (3 * mean.R), mean, D, 3))
    k = int(np.argmin(curve))
    assert 0 < k < len(curve) - 1
    low, least, high = curve[k - 1 : k + 2]
    # The top of the parabola; the grid alone is within 10⁻³.
    found = least - (high - low) ** 2 / (8 * (low - 2 * least + high))
    assert float(wanted.lower) < found < float(wanted.upper) and found == pytest.approx(least, rel=1e-3)
    assert float(wanted.upper) < 1.03 * float(wanted.lower)


def within(value, interval):
    return float(interval.lower) <= value <= float(interval.upper)


def test_enough_dimensions_and_the_number_of_tokens():
    least, enough = (64 / 3 + 6) * math.log(200 * 8**0.5) ** 2, findings.enough_dimensions.expect
    assert within(least, enough["values.d_e_enough"]) and math.ceil(least) == 1098
    assert "d_e=1098" in findings.enough_dimensions.command
    expect = findings.narrower_from_280_tokens_on.expect
    for tokens in (279, 280):
        nets = 5 * tokens * (1 - Fraction(tokens - 1, 8 * (tokens - 3)))
        below = 5 + (64 / 3 + 6) * math.log(tokens * 8**0.5) ** 2 + 1
        assert (below <= nets) is (tokens == 280)
    assert nets == expect["values.fully_connected_width"] and within(below, expect["values.attention_width_below"])


def test_the_widths_cross_at_twelve_tokens():
    """Of tokens with 50 numbers, 45 of them the encoding's, the least loss is below d/(2q)/8; with two fewer it is not.

    A net with 50 units in its first layer has a larger loss, and with 51 it need not.
    """
    least = {}
    for dimensions in (43, 45):
        counted = (means(12, 3, dimensions, False, C) for C in np.arange(20, 31) / 10)
        least[dimensions] = min(1 - mean.P**2 / (3 * mean.R) for mean in counted)
    assert least[45] < 1 / 8 < least[43]
    assert 50 < 12 * 5 * (1 - Fraction(11, 8 * 9)) < 51
    assert "at T = 12 attention needs 49 or 50 numbers and a net at least 51 units" in (
        findings.narrower_from_280_tokens_on.text
    )


def test_the_loss_in_many_dimensions():
    """Counts of signs are drawn: of m coordinates in which u has ±3, and of the others, in which one sign differs."""
    random, draws, dimensions = np.random.default_rng(2460), 20_000, 2460
    large = random.binomial(dimensions, 1 / 4, draws)
    apart = np.stack([random.multinomial(n, [1 / 3] * 3) for n in dimensions - large])
    own = (3 * large + dimensions - large)[:, None] - 2 * apart
    most, rest = large[:, None], (dimensions - large)[:, None]
    others = (
        3 * (2 * random.binomial(most, 0.5, (draws, 197)) - most) + 2 * random.binomial(rest, 0.5, (draws, 197)) - rest
    )
    losses = []
    for C in np.arange(16, 28) / 4:
        p = np.exp(C * (np.concatenate([own, others], axis=1) / dimensions - 1))
        p /= p.sum(axis=1, keepdims=True)
        alpha = p[:, :3].sum(axis=1).mean() / (3 * (p**2).sum(axis=1).mean())
        p *= alpha
        p[:, :3] -= 1 / 3
        losses.append(3 * (p**2).sum(axis=1))
    least = min(losses, key=np.mean)
    # In shares of the zero predictor's loss; the grid of C moves the least by less than a fiftieth of it.
    error = 5 * least.std() / math.sqrt(draws)
    assert error < 1 / 2000 and abs(least.mean() - 1 / 100) < error + 1 / 5000
    width = findings.wider_at_small_losses.expect["values.attention_width"]
    assert width.lower - 5 <= dimensions <= width.upper - 5 and width.lower > 200 * 5
    assert findings.wider_at_small_losses.expect["values.fully_connected_width"] == 1000 * (1 - Fraction(199, 19700))


def test_the_loss_at_twice_the_length():
    expect = findings.longer_at_test.expect
    assert within(397 / 197 + 200 / 197**0.5 + 200**2 / 197, expect["values.factor"])
    # Another 200 tokens: given |u|² and e_i·u of the first ones, a sample of as many more draws of the same u.
    alpha, C = 612793 / 5000, 53 / 16
    own, norm = scores(3)
    random = np.random.default_rng(400)
    # In a coordinate of u² = 9 or 1: u² adds up to |u|², so that the number of the larger ones is known.
    large = np.rint((norm * D_E - D_E) / 8).astype(int)
    more = 3 * (2 * random.binomial(large[:, None], 0.5, (SAMPLES, 200)) - large[:, None])
    more = (more + 2 * random.binomial((D_E - large)[:, None], 0.5, (SAMPLES, 200)) - (D_E - large)[:, None]) / D_E
    for tokens, name in ((own, "training"), (np.concatenate([own, more], axis=1), "test")):
        logits = C * (tokens - norm[:, None])
        shares_at = np.exp(logits) / (1 + np.exp(logits).sum(axis=1, keepdims=True))
        residual = alpha * shares_at
        residual[:, :3] -= 1 / 3
        assert is_sampled(expect[f"values.loss_at_{name}_length"], D / 2 * (residual**2).sum(axis=1))


def test_the_printed_limits_are_as_far_off_as_is_said():
    """The slacks of the step sizes, η ≤ 1/(20 d²), and how many times the limit they are."""
    for finding, d, eta, times in (
        (findings.stays_needs_a_step_size, 1, 5, 100),
        (findings.may_never_reach, 3, 6, 1080),
        (findings.figures_step_size_out_of_scope, 5, 1, 500),
    ):
        limit = Fraction(1, 20 * d * d)
        assert finding.expect["hypotheses.step_size.slack"] == limit - eta and eta / limit == times


def test_the_largest_step_size():
    T, q, d, eps = 200, 3, 5, Fraction(1, 1000)
    largest = findings.every_level_at_the_figures_step.expect["values.largest_step_size"]
    assert largest == Fraction(4 * q * q, 5 * q + 2 * d) == Fraction("1.44")
    # At that step size the loss of the softmax's own run falls at every step, and is below ε by then.
    run = list(islice(descent_losses(T, q, d, repeat(1.44)), 40_001))
    assert all(after < before for before, after in pairwise(run)) and run[-1] < eps
    # Beyond 2q it need not: it rises on the cycle at T = 9, q = 2, d = 3 and η = 6.
    rising = list(islice(descent_losses(9, 2, 3, repeat(6)), 400))
    assert any(after > before for before, after in pairwise(rising))


def least_losses(own, others):
    """Return the least losses over a grid of C, over tokens and with the query, of logits (n, 3) and (n, T − 3)."""
    norm = own.sum(axis=1, keepdims=True)
    most = np.maximum(np.maximum(own.max(axis=1), others.max(axis=1)), norm[:, 0])[:, None]
    least = [math.inf, math.inf]
    for C in np.arange(10, 24) / 4:
        on_y, off_y, query = (np.exp(C * (each - most)) for each in (own, others, norm))
        for attended in (0, 1):
            total = on_y.sum(axis=1) + off_y.sum(axis=1) + attended * query[:, 0]
            P = (on_y.sum(axis=1) / total).mean()
            R = (((on_y**2).sum(axis=1) + (off_y**2).sum(axis=1)) / total**2).mean()
            least[attended] = min(least[attended], D / 6 * (1 - P**2 / (3 * R)))
    return least


def of_triples(products, triples):
    """Return the logits on y and off it for encodings with these inner products and these subsets (n, 3)."""
    v = products[triples].sum(axis=1)
    off = np.ones(v.shape, dtype=bool)
    np.put_along_axis(off, triples, False, axis=1)
    return np.take_along_axis(v, triples, axis=1), v[off].reshape(len(v), -1)


def random_triples(random):
    return random.permuted(np.tile(np.arange(T), (SAMPLES, 1)), axis=1)[:, :3]


def is_within(name, over_tokens, with_query):
    """Whether the finding's interval, and its number over tokens, have these losses.

    Of SAMPLES draws five standard errors are about a twentieth; two digits of 0.014 are another 4 %.
    """
    finding = findings.figure1_floor_under_each_reading
    wanted = finding.expect[f"measurements.loss_{name}.value"]
    said = {"fixed": 0.09, "sphere": 0.09, "gaussian": 0.19, "harmonic": 0.017, "simplices": 0.014, "whitened": 0.034}[
        name
    ]
    assert str(said) in finding.text
    return wanted.lower < 0.95 * with_query < 1.05 * with_query < wanted.upper and abs(over_tokens / said - 1) < 0.1


def test_the_floor_of_a_harmonic_frame():
    # The inner products depend on the difference of the tokens alone: the first may be selected.
    frequencies = sorted(range(1, 100), key=lambda k: k * k * math.sqrt(2) % 1)[:85]
    row = np.cos(2 * np.pi * np.arange(T)[:, None] * frequencies / T).sum(axis=1) / 85
    pairs = np.array(list(combinations(range(1, T), 2)))
    products = row[(np.arange(T)[:, None] - np.arange(T)) % T]
    over_tokens, with_query = least_losses(*of_triples(products, np.insert(pairs, 0, 0, axis=1)))
    assert is_within("harmonic", over_tokens, with_query)
    assert not is_within("harmonic", over_tokens, 1.2 * with_query)
    assert round(with_query, 3) == 0.085 and round(over_tokens, 3) == 0.017


def test_the_floor_of_simplices():
    # Thirty of them, of seven and of six vertices.
    which = np.repeat(np.arange(30), [7] * 20 + [6] * 10)
    products = np.where(which[:, None] == which, -1 / (np.bincount(which)[which] - 1)[:, None], 0.0)
    np.fill_diagonal(products, 1)
    assert is_within("simplices", *least_losses(*of_triples(products, random_triples(np.random.default_rng(0)))))


def test_the_floor_of_one_draw_of_signs():
    random = np.random.default_rng(0)
    rows = (1.0 - 2 * random.integers(2, size=(T, D_E))) / math.sqrt(D_E)
    assert is_within("fixed", *least_losses(*of_triples(rows @ rows.T, random_triples(random))))


def test_the_floor_of_a_whitened_draw_of_signs():
    random = np.random.default_rng(0)
    rows, _ = np.linalg.qr(1.0 - 2 * random.integers(2, size=(T, D_E)))
    # E'(EE')⁻¹E is the projection on the rows of E.
    assert is_within("whitened", *least_losses(*of_triples(rows @ rows.T, random_triples(random))))


@pytest.mark.parametrize("reading", ["sphere", "gaussian"])
def test_the_floor_of_random_directions(reading):
    random = np.random.default_rng(0)
    selected = random.standard_normal((2 * SAMPLES, 3, D_E)) / math.sqrt(D_E)
    if reading == "sphere":
        selected /= np.linalg.norm(selected, axis=2, keepdims=True)
    u = selected.sum(axis=1)
    # In the direction of u another encoding has one coordinate, whatever that direction is.
    along = random.standard_normal((len(u), T - 3))
    rest = random.chisquare(D_E - 1, along.shape)
    along /= np.sqrt(along**2 + rest) if reading == "sphere" else math.sqrt(D_E)
    own = np.einsum("nik,nk->ni", selected, u)
    assert is_within(reading, *least_losses(own, np.linalg.norm(u, axis=1)[:, None] * along))


def test_the_bound_from_below_is_below_what_is_lost_at_every_scale():
    bound = findings.dimension_from_below.expect["values.loss_bound"]
    assert bound == Fraction(5, 96) * 16 / (D_E + 16 * (3 + Fraction(256 * 3, 197)))
    own, _ = scores(3)
    for r in np.arange(-8, 33) / 4:
        weights = np.exp2(r * own - (r * own).max(axis=1, keepdims=True))
        lost = 1 - weights[:, :3].sum(axis=1) ** 2 / (3 * (weights**2).sum(axis=1))
        assert D / 6 * (lost.mean() - 5 * lost.std(ddof=1) / math.sqrt(SAMPLES)) > bound
