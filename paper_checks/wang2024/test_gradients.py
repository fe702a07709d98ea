"""Lemma 2 against sampled gradients, an exact enumeration, and measurements with planted bugs."""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import torch

from numerics.sparse_token_selection import gradient_experiments, reference
from numerics.sparse_token_selection.experiments import ground_truth
from paper_checks.wang2024 import gradients
from paper_checks.wang2024.claims import often_enough
from paper_checks.wang2024.encodings import Layer
from verify import Evidence, Measurement, Outcome, Verdict, load_comparison, load_theorem

ATTENDS = ["tokens", "tokens_and_query"]
implied = cache(gradients.implied)
DRAWN = gradients.Drawn(Layer(5, 2, 2, 8, Fraction(3, 2), Fraction(2), "tokens", 1), Fraction(1, 2))


@pytest.mark.parametrize("name", ["wang2024.lemma2_gradient", "wang2024.lemma2_gradient_on_the_sphere"])
def test_against_sampled_gradients(ledger, name):
    ledger.compare(load_comparison(name))


def test_the_theorem(ledger):
    ledger.check(load_theorem("wang2024.lemma2"), T=200, q=3, d=5, d_e=170)


def population_gradient(layer):
    """Return loss, dL/dW and dL/dV of the full layer, exact up to rounding: over all signs, subsets and a cubature.

    On the set the logits do not depend on X: the gradient is at most cubic in X, and its mean that over the points
    ±√(T d) u_k, u_k the unit vectors of R^{T d}.
    """
    T, q, d, d_e = layer.T, layer.q, layer.d, layer.d_e
    signs = torch.tensor(list(itertools.product((1.0, -1.0), repeat=d_e * T)), dtype=torch.float64).view(-1, d_e, T)
    subsets = torch.tensor([[i in y for i in range(T)] for y in itertools.combinations(range(T), q)]).double()
    points = torch.eye(T * d, dtype=torch.float64) * (T * d) ** 0.5
    points = torch.cat([points, -points]).view(-1, d, T)
    each = torch.cartesian_prod(*(torch.arange(len(these)) for these in (signs, subsets, points))).T
    truth = ground_truth(d_e, d)
    W, V = (float(layer.C) * truth.W).requires_grad_(), (float(layer.alpha) * truth.V).requires_grad_()
    drawn = signs[each[0]] / d_e**0.5, points[each[2]], subsets[each[1]]
    loss = reference.loss(W, V, *drawn, attend=layer.attend).mean()
    return float(loss.detach()), *torch.autograd.grad(loss, (W, V))


@pytest.mark.parametrize("attend", ATTENDS)
def test_by_enumeration(attend):
    d, low, high = 1, Fraction(1, 4), Fraction(5, 4)
    drawn = gradients.Drawn(Layer(3, 2, d, 2, Fraction(5, 4), high, attend, 0), low)
    expected = implied(drawn)
    least, most = (population_gradient(layer)[0] for layer in (drawn.at_the_low_end(), drawn.layer))
    _, W, V = population_gradient(drawn.layer)
    # What vanishes is a mean of 1152 samples' gradients of size 1, each a few dozen roundings of 10⁻¹⁶.
    rounding = 1e-14
    for name, value in (("loss_change", most - least), ("alpha_slope", float(V[:, :d].trace()))):
        lower, upper = expected[name]
        assert lower - rounding <= value <= upper + rounding
        assert upper - lower < abs(value) / 20
    assert float(V[:, d:].abs().max()) < rounding
    assert float(W[:d].abs().max()) < rounding
    positional = W[d:, d:]
    assert float((positional - positional.trace() / 2 * torch.eye(2, dtype=torch.float64)).abs().max()) < rounding
    assert abs(float(positional.trace())) > 100 * rounding
    # The loss's change is the integral of the trace: by Gauss's rule at 12 points.
    nodes, weights = np.polynomial.legendre.leggauss(12)
    along = [drawn.layer._replace(C=low + (high - low) * (float(node) + 1) / 2) for node in nodes]
    slopes = [float(population_gradient(layer)[1][d:, d:].trace()) for layer in along]
    assert float(high - low) / 2 * np.dot(weights, slopes) == pytest.approx(most - least, abs=1e-12)


def made_up(drawn, **changed):
    """Return measurements as theory has them, with errors of a fiftieth; some of them changed."""
    batches = gradients.BATCHES
    found = {
        name: Measurement((low + high) / 2, abs(low + high) / 100, batches)
        for name, (low, high) in implied(drawn).items()
    }
    found |= {name: Measurement(0.03, 0.01, batches) for name in gradients.means(drawn.layer)}
    return found | changed


def verdict(drawn, found):
    traced = gradients.traces(drawn.layer, implied(drawn), found)
    return next((v for v in (traced, gradients.zeros(drawn.layer, found)) if not v.holds), traced)


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({}, Outcome.VERIFIED),
        ({"loss_change": Measurement(0.5, 0.001, 100)}, Outcome.REFUTED),
        ({"alpha_slope": Measurement(-0.5, 0.001, 100)}, Outcome.REFUTED),
        ({"loss_change": Measurement(0.0, 0.1, 100)}, Outcome.INCONCLUSIVE),
        ({"alpha_slope": Measurement(0.0, 0.1, 3)}, Outcome.INCONCLUSIVE),
        *(({name: Measurement(0.2, 0.01, 100)}, Outcome.REFUTED) for name in gradients.means(DRAWN.layer)),
        *(({name: Measurement(1e-9, 0.0, 100)}, Outcome.REFUTED) for name in gradients.means(DRAWN.layer)),
        *(({name: Measurement(0.03, 0.01, 15)}, Outcome.INCONCLUSIVE) for name in gradients.means(DRAWN.layer)),
    ],
)
def test_measurements_that_are_made_up(changed, outcome):
    assert verdict(DRAWN, made_up(DRAWN, **changed)).outcome is outcome


@pytest.mark.parametrize(("factor", "outcome"), [(2, Outcome.REFUTED), (0.5, Outcome.REFUTED), (1, Outcome.VERIFIED)])
def test_factors_are_seen_where_it_says_so(factor, outcome):
    expected = implied(DRAWN)
    for name, (low, high) in expected.items():
        found = made_up(DRAWN, **{name: Measurement(factor * (low + high) / 2, abs(low + high) / 100, 100)})
        assert gradients.factors_are_seen(expected, found)
        assert gradients.traces(DRAWN.layer, expected, found).outcome is outcome
    vague = made_up(DRAWN, loss_change=Measurement(0.0, 0.1, 100))
    assert not gradients.factors_are_seen(expected, vague)


def test_agreement_where_no_factor_is_seen_decides_nothing():
    agreed, refuted = (Verdict.of(holds, "", Evidence.SIMULATED) for holds in (True, False))
    assert often_enough(agreed, [True, False, False, False], "x").outcome is Outcome.VERIFIED
    assert often_enough(agreed, [True, False, False, False, False], "x").outcome is Outcome.INCONCLUSIVE
    assert often_enough(refuted, [False], "x").outcome is Outcome.REFUTED


def shifted(draw):
    """Tokens and encodings that are not centred: x + 1, and e + 1/√d_e."""

    def encodings(n, T, d_e, generator):
        return draw(n, T, d_e, generator) + d_e**-0.5

    return encodings


def repeated(draw):
    """Encodings whose coordinates are all the first."""

    def encodings(n, T, d_e, generator):
        return draw(n, T, d_e, generator)[:, :1].expand(-1, d_e, -1)

    return encodings


def stretched(draw):
    """Encodings whose first coordinate is twice as large."""

    def encodings(n, T, d_e, generator):
        drawn = draw(n, T, d_e, generator)
        return torch.cat([2 * drawn[:, :1], drawn[:, 1:]], dim=1)

    return encodings


def unscaled(draw):
    """Signs ±1 for ±1/√d_e."""

    def encodings(n, T, d_e, generator):
        return draw(n, T, d_e, generator) * d_e**0.5

    return encodings


def as_they_are(draw):
    return draw


def moved(tokens):
    return tokens + 1


def equal(tokens):
    return tokens[:, :1].expand_as(tokens)


def untouched(tokens):
    return tokens


@pytest.mark.parametrize(
    ("encodings", "tokens", "seen"),
    [
        (as_they_are, untouched, set()),
        (shifted, moved, {"V_positional", "W_token_rows"}),
        (as_they_are, equal, {"V_off_diagonal"}),
        (repeated, untouched, {"W_off_diagonal"}),
        (stretched, untouched, {"W_diagonal_differences"}),
        (unscaled, untouched, {"loss_change", "alpha_slope"}),
    ],
)
def test_a_bug_in_the_measurement_is_seen(monkeypatch, encodings, tokens, seen):
    def batch(*args, drawn=reference.sample_batch, **options):
        found, subsets = drawn(*args, **options)
        return tokens(found), subsets

    monkeypatch.setattr(reference, "sample_batch", batch)
    monkeypatch.setattr(gradient_experiments, "sign_encodings", encodings(gradient_experiments.sign_encodings))
    # A single layer's share of what a run looks at: twice the batches.
    found = gradients.measured(DRAWN, device="cpu", batches=2 * gradients.BATCHES)
    right = made_up(DRAWN)
    refuted = {name for name in found if verdict(DRAWN, right | {name: found[name]}).outcome is Outcome.REFUTED}
    assert seen <= refuted
    assert bool(seen) is bool(refuted)


@pytest.mark.parametrize("attend", ATTENDS)
def test_the_query_is_not_forgotten(attend):
    other = next(name for name in ATTENDS if name != attend)
    drawn, swapped = (DRAWN._replace(layer=DRAWN.layer._replace(attend=name)) for name in (attend, other))
    found = gradients.measured(drawn, device="cpu", batches=gradients.BATCHES)
    assert verdict(drawn, found).outcome is Outcome.VERIFIED
    assert verdict(swapped, found).outcome is Outcome.REFUTED
    assert gradients.zeros(swapped.layer, found).outcome is Outcome.VERIFIED


def test_too_few_batches_decide_nothing():
    found = gradients.measured(DRAWN, device="cpu", batches=2)
    assert verdict(DRAWN, found).outcome is Outcome.INCONCLUSIVE
