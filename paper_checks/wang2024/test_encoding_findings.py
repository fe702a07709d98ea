"""The numbers of the findings about encodings, computed a second time without the moments that enclose means.

They are computed from sampled encodings, from counts of signs, and from the formulas written out.
"""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import verify
from paper_checks.wang2024 import encoding_findings
from paper_checks.wang2024.by_counting import cases, loss, means
from paper_checks.wang2024.by_sampling import D_E, SAMPLES, D, T, best_layer, is_sampled, layer_losses, scores


@pytest.mark.parametrize(
    ("query", "finding", "least"),
    [
        (True, encoding_findings.figure1_cannot_reach_zero, "0.35"),
        (False, encoding_findings.figure1_cannot_reach_zero_over_tokens, "0.088"),
    ],
)
def test_the_least_loss_at_the_figures_setting(query, finding, least):
    wanted = finding.expect["values.loss_floor"]
    alpha, C = best_layer(query)
    # The grid of C changes the least loss by less than 1 %.
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
        for finding in (
            encoding_findings.figure1_cannot_reach_zero_over_tokens,
            encoding_findings.figure1_cannot_reach_zero,
        )
    )
    assert Fraction(24, 100) < over_tokens.lower / with_query.upper < over_tokens.upper / with_query.lower < 0.26


@pytest.mark.parametrize(
    ("query", "finding"),
    [
        (True, encoding_findings.figure1_cannot_reach_zero),
        (False, encoding_findings.figure1_cannot_reach_zero_over_tokens),
    ],
)
def test_the_least_loss_by_counting(query, finding):
    """Compute the least loss without samples: at the best α on a grid of C, by a parabola through three values."""
    wanted = finding.expect["values.loss_floor"]
    # A grid around the best sampled C, which is sought from −2 to 8.
    grid = best_layer(query)[1] + np.arange(-3, 4) / 6
    curve = []
    for C in grid:
        mean = means(T, 3, D_E, query, C)
        curve.append(loss(mean.P / (3 * mean.R), mean, D, 3))
    k = int(np.argmin(curve))
    assert 0 < k < len(curve) - 1
    low, least, high = curve[k - 1 : k + 2]
    # The minimum of the parabola; the least value on the grid is within 10⁻³ of it.
    found = least - (high - low) ** 2 / (8 * (low - 2 * least + high))
    assert float(wanted.lower) < found < float(wanted.upper) and found == pytest.approx(least, rel=1e-3)
    assert float(wanted.upper) < 1.03 * float(wanted.lower)


def within(value, interval):
    return float(interval.lower) <= value <= float(interval.upper)


def test_enough_dimensions_and_the_number_of_tokens():
    least, enough = (64 / 3 + 6) * math.log(200 * 8**0.5) ** 2, encoding_findings.enough_dimensions.expect
    assert within(least, enough["values.d_e_enough"]) and math.ceil(least) == 1098
    assert "d_e=1098" in encoding_findings.enough_dimensions.command
    expect = encoding_findings.narrower_from_280_tokens_on.expect
    for tokens in (279, 280):
        nets = 5 * tokens * (1 - Fraction(tokens - 1, 8 * (tokens - 3)))
        below = 5 + (64 / 3 + 6) * math.log(tokens * 8**0.5) ** 2 + 1
        assert (below <= nets) is (tokens == 280)
    assert nets == expect["values.fully_connected_width"] and within(below, expect["values.attention_width_below"])


@pytest.fixture
def no_counts():
    """Forget the counts afterwards: in thousands of dimensions they take 100 MB."""
    yield
    cases.cache_clear()


def least_share(T, dimensions, around):
    """Return the least loss over a grid of C, as a share of the zero predictor's, for q = 3 and without the query."""
    counted = [means(T, 3, dimensions, False, C) for C in around]
    shares = [1 - mean.P**2 / (3 * mean.R) for mean in counted]
    assert min(shares) < min(shares[0], shares[-1])
    return min(shares)


@pytest.mark.parametrize(("tokens", "most"), [(200, 143), (280, 161)])
def test_the_dimensions_that_an_eighth_takes_by_counting(tokens, most):
    """One dimension above the interval's lower end the loss is low enough, and one below that end it is not."""
    enough = encoding_findings.enough_dimensions.expect["values.d_e_required"]
    width = encoding_findings.narrower_from_280_tokens_on.expect["values.attention_width"]
    assert (enough.upper if tokens == 200 else width.upper - 5) == most
    # The grid's step of 1/10 changes the least share by some 10⁻⁴; a dimension changes it by 7·10⁻⁴.
    fine = np.arange(46, 54) / 10
    assert least_share(tokens, most, fine) < 1 / 8 < least_share(tokens, most - 2, fine) - 2e-4


def test_the_widths_cross_at_twelve_tokens():
    """The least loss is below d/(2q)/8 with encodings of 45 dimensions, tokens of 50 numbers; not so with 43.

    A net with 50 units in its first layer has a loss above d/(2q)/8; a net with 51 units may have a lower loss.
    """
    least = {}
    for dimensions in (43, 45):
        counted = (means(12, 3, dimensions, False, C) for C in np.arange(20, 31) / 10)
        least[dimensions] = min(1 - mean.P**2 / (3 * mean.R) for mean in counted)
    assert least[45] < 1 / 8 < least[43]
    # At 11 tokens a net needs at least 46.4 units. Encodings of 41 dimensions, in tokens of 46 numbers, are too short.
    assert 46.4 < 11 * 5 * (1 - Fraction(10, 8 * 8)) < 46.5
    assert least_share(11, 42, np.arange(20, 31) / 10) < 1 / 8 < least_share(11, 41, np.arange(20, 31) / 10)
    assert 50 < 12 * 5 * (1 - Fraction(11, 8 * 9)) < 51
    assert "at T = 12 attention needs 49 or 50 numbers and a net at least 51 units" in (
        encoding_findings.narrower_from_280_tokens_on.text
    )


@pytest.mark.parametrize(("tokens", "narrower"), [(4, False), (11, False), (12, True), (150, True), (279, True)])
def test_on_which_side_of_twelve_tokens_attention_is_certified_to_be_narrower(tokens, narrower):
    found = verify.check(verify.load_theorem("wang2024.separation"), T=tokens, q=3, d=5, share="1/8")
    (clause,) = (clause for clause in found.clauses if clause.label == "narrower")
    assert clause.holds is narrower and clause.evidence == "certified" and clause.rechecked
    assert not found.in_scope


def test_the_dimensions_that_a_hundredth_takes_by_counting(full, no_counts):
    if not full:
        pytest.skip("counts signs in thousands of dimensions, half a minute: run by --full")
    assert least_share(200, 2452, (5.5, 5.58, 5.66)) - 2e-6 > 1 / 100
    mean = means(200, 3, 2468, False, 5.58)
    assert 1 - mean.P**2 / (3 * mean.R) < 1 / 100
    width = encoding_findings.wider_at_small_losses.expect["values.attention_width"]
    assert (width.lower, width.upper) == (2452 + 5, 2468 + 5)


def test_the_loss_in_many_dimensions():
    """Draw counts of signs: in the coordinates in which u is ±3, and in the others, in which one sign differs."""
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
    # Losses are shares of the zero predictor's; the grid of C changes the least loss by less than 2 %.
    error = 5 * least.std() / math.sqrt(draws)
    assert error < 1 / 2000 and abs(least.mean() - 1 / 100) < error + 1 / 5000
    width = encoding_findings.wider_at_small_losses.expect["values.attention_width"]
    assert width.lower - 5 <= dimensions <= width.upper - 5 and width.lower > 200 * 5
    assert encoding_findings.wider_at_small_losses.expect["values.fully_connected_width"] == 1000 * (
        1 - Fraction(199, 19700)
    )


def test_the_loss_at_twice_the_length():
    expect = encoding_findings.longer_at_test.expect
    assert within(397 / 197 + 200 / 197**0.5 + 200**2 / 197, expect["values.factor"])
    # For another 200 tokens the inner products with the same u are drawn, given |u|².
    alpha, C = 612793 / 5000, 53 / 16
    own, norm = scores(3)
    random = np.random.default_rng(400)
    # In each coordinate u² is 9 or 1, and these add up to |u|²: so the number of coordinates with 9 is known.
    large = np.rint((norm * D_E - D_E) / 8).astype(int)
    more = 3 * (2 * random.binomial(large[:, None], 0.5, (SAMPLES, 200)) - large[:, None])
    more = (more + 2 * random.binomial((D_E - large)[:, None], 0.5, (SAMPLES, 200)) - (D_E - large)[:, None]) / D_E
    for tokens, name in ((own, "training"), (np.concatenate([own, more], axis=1), "test")):
        logits = C * (tokens - norm[:, None])
        shares_at = np.exp(logits) / (1 + np.exp(logits).sum(axis=1, keepdims=True))
        residual = alpha * shares_at
        residual[:, :3] -= 1 / 3
        assert is_sampled(expect[f"values.loss_at_{name}_length"], D / 2 * (residual**2).sum(axis=1))


def test_many_dimensions_at_another_length():
    """The limit κ + c²/q, from the softmax: in many dimensions a selected token's logit exceeds the others' by C."""
    T, longer, q, w = 200, 400, 3, Fraction(1, 10**9)

    def share(length, alpha):
        own = 1 / (q + (length - q) * w)
        return q * (q * (alpha * own - Fraction(1, q)) ** 2 + (length - q) * (alpha * own * w) ** 2)

    own = 1 / (q + (T - q) * w)
    best = own / (q * own**2 + (T - q) * (w * own) ** 2)
    ratio = share(longer, best) / share(T, best)
    assert abs(ratio / (Fraction(397, 197) + Fraction(200**2, 197 * q)) - 1) < 1e-6
    assert "the ratio tends to κ + c²/q" in encoding_findings.longer_at_test.text


def least_losses(own, others):
    """Return the least losses over a grid of C, without and with the query token, of logits (n, 3) and (n, T − 3)."""
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
    """Return whether the finding's interval contains the loss with the query, and its text has both losses.

    For SAMPLES draws five standard errors are about 5 %; the rounding of 0.014 to two digits is another 4 %.
    """
    finding = encoding_findings.figure1_floor_under_each_reading
    wanted = finding.expect[f"measurements.loss_{name}.value"]
    said = {"fixed": 0.09, "sphere": 0.09, "gaussian": 0.19, "harmonic": 0.017, "simplices": 0.014, "whitened": 0.034}[
        name
    ]
    with_it = {"fixed": 0.36, "sphere": 0.36, "gaussian": 0.43, "harmonic": 0.085, "simplices": 0.19, "whitened": 0.13}
    assert all(str(number) in finding.text for number in (said, with_it[name]))
    if abs(with_query / with_it[name] - 1) > 0.1:
        return False
    return wanted.lower < 0.95 * with_query < 1.05 * with_query < wanted.upper and abs(over_tokens / said - 1) < 0.1


def test_the_floor_of_a_harmonic_frame():
    # The inner products depend on the difference of two tokens alone, so only subsets with token 0 are needed.
    frequencies = sorted(range(1, 100), key=lambda k: k * k * math.sqrt(2) % 1)[:85]
    row = np.cos(2 * np.pi * np.arange(T)[:, None] * frequencies / T).sum(axis=1) / 85
    pairs = np.array(list(combinations(range(1, T), 2)))
    products = row[(np.arange(T)[:, None] - np.arange(T)) % T]
    over_tokens, with_query = least_losses(*of_triples(products, np.insert(pairs, 0, 0, axis=1)))
    assert is_within("harmonic", over_tokens, with_query)
    assert not is_within("harmonic", over_tokens, 1.2 * with_query)
    assert round(with_query, 3) == 0.085 and round(over_tokens, 3) == 0.017


def test_the_floor_of_simplices():
    # Thirty simplices, twenty of seven vertices and ten of six.
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
    # By rotation invariance, another encoding's component along u has the law of one coordinate.
    along = random.standard_normal((len(u), T - 3))
    rest = random.chisquare(D_E - 1, along.shape)
    along /= np.sqrt(along**2 + rest) if reading == "sphere" else math.sqrt(D_E)
    own = np.einsum("nik,nk->ni", selected, u)
    assert is_within(reading, *least_losses(own, np.linalg.norm(u, axis=1)[:, None] * along))


def test_the_bound_from_below_is_below_what_is_lost_at_every_scale():
    bound = encoding_findings.dimension_from_below.expect["values.loss_bound"]
    assert bound == Fraction(5, 96) * 16 / (D_E + 16 * (3 + Fraction(256 * 3, 197)))
    assert f"{float(bound):.4f}" == "0.0030" and "the bound is 0.0030" in encoding_findings.dimension_from_below.text
    own, _ = scores(3)
    for r in np.arange(-8, 33) / 4:
        weights = np.exp2(r * own - (r * own).max(axis=1, keepdims=True))
        lost = 1 - weights[:, :3].sum(axis=1) ** 2 / (3 * (weights**2).sum(axis=1))
        assert D / 6 * (lost.mean() - 5 * lost.std(ddof=1) / math.sqrt(SAMPLES)) > bound
