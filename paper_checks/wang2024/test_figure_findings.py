"""The numbers of the findings about the figures, computed again from sampled encodings and from counts of signs."""

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest

from paper_checks.wang2024 import encoding_findings, figure_findings
from paper_checks.wang2024.by_counting import descent, interpolated, loss, means
from paper_checks.wang2024.by_sampling import D_E, SAMPLES, D, T, best_layer, is_sampled, layer_losses, shares
from paper_checks.wang2024.on_the_set import annealed

TRAINED = (41.26, 2.79)
BY_ADAM = (47.41, 2.835)
NEARLY_BEST = (612793 / 5000, 53 / 16)
"""The layer that the command without α and C reports."""
NOTHING = Fraction(D, 4)
LOSS, SHARE = "values.loss_at_test_length", "values.share_of_answering_nothing"


@pytest.mark.parametrize(
    ("finding", "layer"),
    [
        (figure_findings.fewer_selected_at_test, TRAINED),
        (figure_findings.fewer_selected_at_the_minimiser, NEARLY_BEST),
    ],
)
def test_fewer_selected_tokens_at_test_by_counting(finding, layer):
    alpha, C = layer
    counted = loss(alpha, means(T, 2, D_E, True, C), D, 2)
    for name, value in ((LOSS, counted), (SHARE, counted / float(NOTHING))):
        wanted = finding.expect[name]
        assert float(wanted.lower) < value < float(wanted.upper) < 1.01 * float(wanted.lower)
        assert not float(wanted.lower) < value * 1.01 < float(wanted.upper)


def test_the_trained_layer_by_sampled_encodings():
    expect = figure_findings.fewer_selected_at_test.expect
    losses = layer_losses(2, *TRAINED, query=True)
    error = losses.std(ddof=1) / math.sqrt(SAMPLES)
    assert 5 * error < 0.3 and abs(losses.mean() - float(expect[LOSS].midpoint)) < 5 * error
    assert expect[LOSS].lower / NOTHING > Fraction("5.9")
    # At the subset size of the training.
    trained = loss(TRAINED[0], means(T, 3, D_E, True, TRAINED[1]), D, 3)
    wanted = expect["values.loss_at_training_length"]
    assert float(wanted.lower) < trained < float(wanted.upper)


def test_the_best_layer_by_sampled_encodings():
    wanted = figure_findings.fewer_selected_at_the_minimiser.expect[LOSS]
    alpha, C = NEARLY_BEST
    assert abs(best_layer(True)[1] - C) < 1 / 4
    losses = layer_losses(2, alpha, C, query=True)
    assert is_sampled(wanted, losses)
    assert not is_sampled(wanted, layer_losses(2, alpha, C, query=False))
    assert wanted.lower > 50 and wanted.lower / NOTHING > 40
    # The query's token leaves less than 2 % of the attention to the other tokens.
    assert shares(3, C, query=True).sum(axis=1).mean() < 0.02
    assert shares(2, C, query=True)[:, :2].sum(axis=1).mean() > 5 * shares(3, C, query=True)[:, :3].sum(axis=1).mean()


@pytest.mark.parametrize(("layer", "before", "after"), [(NEARLY_BEST, "0.356", "0.430"), (TRAINED, "0.385", "0.475")])
def test_twice_the_length_of_the_best_and_of_the_trained_layer_by_counting(layer, before, after):
    alpha, C = layer
    for length, said in ((T, before), (2 * T, after)):
        assert f"{loss(alpha, means(length, 3, D_E, True, C), D, 3):.3f}" == said
        assert said in encoding_findings.longer_at_test.text


@pytest.mark.parametrize(
    ("layer", "q_test", "share", "off"),
    [(TRAINED, 4, 0.9023, 2e-2), (TRAINED, 6, 0.99887, 2e-3), (BY_ADAM, 4, 0.9008, 2e-2), (BY_ADAM, 8, 0.99999, 1e-4)],
)
def test_more_selected_tokens_at_test_of_the_trained_layer(layer, q_test, share, off):
    # Losses are shares of d/(2 q_test), like the share that the command with q_test encloses.
    losses = layer_losses(q_test, *layer, query=True) / (D / (2 * q_test))
    error = losses.std(ddof=1) / math.sqrt(SAMPLES)
    assert abs(losses.mean() - share) < 5 * error and error < off


def test_six_selected_tokens_of_adams_layer_by_sampled_encodings():
    expect = figure_findings.more_selected_at_test.expect
    losses = layer_losses(6, *BY_ADAM, query=True)
    assert is_sampled(expect[LOSS], losses) and not is_sampled(expect[LOSS], 1.001 * losses)
    assert is_sampled(expect[SHARE], losses * 12 / D)
    assert not is_sampled(expect[LOSS], layer_losses(6, *BY_ADAM, query=False))


@pytest.mark.parametrize(("alpha", "C"), [(58443 / 40000, 77 / 16), (1.4673, 4.8004)])
def test_fewer_selected_tokens_are_no_harm_without_the_query(alpha, C):
    """Check the nearly optimal layer that the command with attend=tokens reports, and the best layer to four digits."""
    found = loss(alpha, means(T, 2, D_E, False, C), D, 2)
    assert found == pytest.approx(0.10, abs=5e-3) and found / float(NOTHING) == pytest.approx(0.08, abs=5e-3)
    assert loss(alpha, means(T, 3, D_E, False, C), D, 3) == pytest.approx(0.0896, abs=1e-4)


@cache
def least_of_the_small_run():
    """Return the least loss on the set at the sizes of the small runs, over a grid of C."""
    counted = (means(16, 3, 32, True, place / 100) for place in range(120, 150))
    return min(loss(mean.P / (3 * mean.R), mean, 2, 3) for mean in counted)


def test_the_least_loss_of_the_small_run_by_counting():
    expect, least = figure_findings.figure1_ends_at_the_least_loss.expect, least_of_the_small_run()
    lower, upper = (expect[f"theory.least_loss_on_the_set.{end}.0"] for end in ("lower", "upper"))
    assert float(lower.lower) < least < float(upper.upper) and float(lower.upper) < least + 1e-3
    assert figure_findings.figure1_ends_at_the_least_loss.title.endswith("42 % of the zero predictor's loss")
    assert least / (1 / 3) == pytest.approx(0.42, abs=5e-3)


def test_the_quick_ledgers_theory_by_counting():
    expect = figure_findings.the_gap_is_accounted_for.expect
    points = dict(descent(interpolated(16, 3, 2, 32, 1.5), annealed(1.0, 1 / 3, 400, 800), (400, 800)))
    half, end = (loss(alpha, means(16, 3, 32, True, C), 2, 3) for alpha, C in points.values())
    least = least_of_the_small_run()
    wanted = expect["measurements.finite_time_computed.value"]
    floor, width = (expect[f"measurements.floor{of}_enclosed.value"] for of in ("", "_width"))
    assert float(floor.lower) < least < float(floor.upper + width.upper)
    # The finite-time part is measured from the enclosure's upper end, at most `above` above the least loss.
    above = float(floor.upper + width.upper) - least
    assert above < 2.5e-4 and float(wanted.lower) < end - least < float(wanted.upper) + above
    # After 400 steps the loss is within a tenth of the least loss.
    assert 1.05 < half / least < 1.1


def test_the_turn_of_the_gain_by_counting():
    # R falls; log G is concave, with its maximum near C = 3.3, where the least loss is.
    expect = figure_findings.descent_ends_at_the_least_loss.expect
    scales = [k / 10 for k in range(41)]
    counted = [means(T, 3, D_E, True, C) for C in scales]
    gains = [math.log(mean.P**2 / (3 * mean.R)) for mean in counted]
    assert all(later.R < earlier.R for earlier, later in pairwise(counted))
    slopes = [(later - earlier) * 10 for earlier, later in pairwise(gains)]
    assert all(later < earlier for earlier, later in pairwise(slopes))
    assert scales[gains.index(max(gains))] == 3.3
    assert slopes[-1] < -0.1
    wanted = expect["values.least_loss"]
    assert float(wanted.lower) < D / 6 * (1 - math.exp(max(gains))) < float(wanted.upper)
    # R'' and P'' by second differences. The bound is 2 d_e/(d b), with b the largest of `bends`.
    bends = []
    for before, at, after in zip(counted, counted[1:], counted[2:], strict=False):
        a = at.P / (3 * at.R)
        R2, P2 = ((x - 2 * y + z) * 100 for x, y, z in ((before.R, at.R, after.R), (before.P, at.P, after.P)))
        bends.append(a**2 * max(R2, 0) + 2 * a * max(-P2, 0) / 3)
    wanted = expect["values.step_size_bound"]
    assert float(wanted.lower) < 2 * D_E / (D * max(bends)) < float(wanted.upper)
