"""Convergence to the least loss on the set: the theorems, and training of the full matrices over all signs."""

import itertools
import math
from fractions import Fraction
from itertools import pairwise

import hypothesis
import numpy as np
import pytest
from flint import arb
from hypothesis import strategies as st

from paper_checks.wang2024 import on_the_set
from paper_checks.wang2024.descent_in_balls import Sizes, means
from paper_checks.wang2024.stochastic_encoding import Exactly, trained
from theorems.sparse_token_selection.attention_gain import estimated_gain
from verify import Outcome, check, load_theorem

WITH_THE_QUERY = load_theorem("wang2024.least_loss_with_the_query")
WITHOUT_THE_QUERY = load_theorem("wang2024.least_loss_without_the_query")
NEGATIVE = load_theorem("wang2024.negative_scales")
ROUNDING = 1e-13
"""Bound on the rounding error of sums of numbers of size at most 1."""
SIZES = ((3, 2, 2), (4, 2, 1), (4, 2, 2))
"""Some (T, q, d_e) at which the hypotheses hold with C_1 = 1, or with C_1 = 3/4 for d_e = 1."""


@pytest.mark.parametrize("theorem", [WITH_THE_QUERY, WITHOUT_THE_QUERY, NEGATIVE], ids=lambda theorem: theorem.id)
def test_the_example_is_verified_and_each_canary_is_refuted(ledger, theorem):
    ledger.check(theorem, **theorem.example)
    ledger.canaries(theorem)


@pytest.mark.parametrize("sizes", SIZES)
def test_the_hypotheses_hold_at_the_trained_sizes(ledger, sizes):
    T, q, d_e = sizes
    ledger.check(WITH_THE_QUERY, T=T, q=q, d=1, d_e=d_e, eta="1/200", C_1="3/4" if d_e == 1 else 1)


@pytest.mark.audit
@pytest.mark.parametrize(
    ("theorem", "lengths", "dimensions", "beyond"),
    [(WITH_THE_QUERY, (20, 200), (40, 170), "1.15"), (WITHOUT_THE_QUERY, (12, 32), (64, 170), "1.03")],
    ids=["tokens_and_query", "tokens"],
)
@hypothesis.settings(max_examples=5, deadline=None, phases=[hypothesis.Phase.generate])
@hypothesis.given(data=st.data())
def test_the_hypotheses_hold_at_drawn_sizes(theorem, lengths, dimensions, beyond, data):
    # Without the query, the enclosures do not decide whether log G is concave for more tokens or fewer dimensions.
    T, d, d_e = (data.draw(st.integers(*ends)) for ends in (lengths, (1, 8), dimensions))
    gain, turn = estimated_gain(T, 3, d_e, theorem is WITH_THE_QUERY)
    end = Fraction(math.ceil(64 * turn * float(beyond)), 64)
    start = {} if theorem is WITH_THE_QUERY else {"C_0": Fraction(round(turn * 0.8), 4)}
    found = check(theorem, {"T": T, "q": 3, "d": d, "d_e": d_e, "eta": 1, "C_1": end, **start}, seconds=300)
    assert found.in_scope
    assert not [clause.label for clause in found.clauses if clause.outcome is Outcome.REFUTED]
    assert float(found.values["least_loss"].lower) <= d / 6 * (1 - gain) * 1.001


@pytest.mark.parametrize("attend", ["tokens", "tokens_and_query"])
def test_the_loss_at_negative_scales_is_above_0_479_at_the_figures_sizes(ledger, attend):
    found = ledger.check(NEGATIVE, T=200, q=3, d=5, d_e=170, attend=attend)
    assert found.in_scope
    # a = q (1 + log(T − q + 1))/(T − q + 1).
    a = 3 * (1 + math.log(198)) / 198
    expected = 5 / 6 * (1 - a**2 / (a**2 + 3 * (200 / 201 - a) ** 2 / 197))
    assert float(found.values["least_loss_below_zero"].midpoint) == pytest.approx(expected, rel=1e-9)
    assert expected > 0.479


def over_all_signs(T, q, D, query, C):
    """Return means over all signs of a selected token's share, 1/N, the others' share and R; the query's largest share.

    For a selected token i, N is 1 plus the number of tokens j that are not selected and have v_j ≤ v_i.
    """
    shares, counted, others, squares, own = 0.0, 0.0, 0.0, 0.0, 0.0
    for signs in itertools.product((1, -1), repeat=T * D):
        e = np.array(signs).reshape(T, D)
        u = e[:q].sum(axis=0)
        v = e @ u / D
        weights = np.exp(C * np.append(v, [u @ u / D] * query))
        p = weights / weights.sum()
        shares += p[:q].sum() / q
        counted += np.mean([1 / (1 + (v[q:] <= v[i]).sum()) for i in range(q)])
        others += p[q:T].sum()
        squares += (p[:T] ** 2).sum()
        own = max(own, p[T:].sum())
    draws = 2 ** (T * D)
    return shares / draws, counted / draws, others / draws, squares / draws, own


@pytest.mark.parametrize("sizes", [(5, 2, 2), (4, 3, 2), (5, 3, 2)])
@pytest.mark.parametrize("query", [False, True])
def test_the_inferences_on_negative_scales_hold_over_all_signs(sizes, query):
    T, q, _ = sizes
    for C in (-0.1, -1.0, -10.0):
        share, counted, others, squares, own = over_all_signs(*sizes, query, C)
        assert share <= counted + ROUNDING
        assert counted <= sum(1 / k for k in range(1, T - q + 2)) / (T - q + 1) + ROUNDING
        assert own <= query / (T + 1) + ROUNDING
        assert squares >= q * share**2 + others**2 / (T - q) - ROUNDING
    # At a positive C the query token's share may exceed 1/(T + 1).
    assert not query or over_all_signs(*sizes, query, 1.0)[-1] > 1 / (T + 1)


@pytest.mark.parametrize("sizes", [(6, 1, 1, 2), (6, 2, 1, 2), (6, 3, 1, 2), (8, 3, 1, 1)])
@pytest.mark.parametrize("query", [False, True])
def test_the_attention_to_selected_tokens_is_small_at_negative_scales(sizes, query):
    T, q, *_ = sizes
    for C in (0.0, -0.1, -0.5, -1.0, -3.0, -10.0):
        (P, *_), (R, *_) = means(Sizes(*sizes, query), arb(C))
        # Both bounds are sharper than the proved bounds.
        assert float(P) <= q / T + ROUNDING
        assert float(P * P / (q * R)) <= q / T + ROUNDING


def scales(drawn, W, V):
    """Return α and C of matrices on the set."""
    return float(V.diagonal().mean()), float(W[drawn.d :, drawn.d :].diagonal().mean())


@hypothesis.settings(max_examples=6, deadline=None)
@hypothesis.given(sizes=st.sampled_from(SIZES), d=st.integers(1, 2), eta=st.sampled_from([1 / 4, 1 / 2, 1.0]))
def test_alpha_and_c_rise_in_training(sizes, d, eta):
    T, q, d_e = sizes
    drawn = Exactly(T, q, d, d_e, "tokens_and_query", eta)
    run = [scales(drawn, W, V) for W, V, _ in trained(drawn, 40, "cpu")]
    for step, ((alpha, C), (next_alpha, next_C)) in enumerate(pairwise(run)):
        assert next_alpha > alpha - ROUNDING
        assert next_C > C - ROUNDING
        # In the first steps α and C rise by more than the rounding.
        assert step > 5 or next_alpha > alpha
        assert not 1 <= step <= 5 or next_C > C


@pytest.mark.audit
def test_the_training_ends_at_the_least_loss():
    drawn = Exactly(4, 2, 1, 2, "tokens_and_query", 1.0)
    *_, (_, _, earlier), (_, _, loss) = trained(drawn, 400, "cpu")
    low, high = on_the_set.layer(4, 2, 1, 2, query=True).floor(Fraction(1, 100))
    assert low - ROUNDING <= loss <= high + ROUNDING
    assert loss == pytest.approx(earlier, abs=1e-9)


def test_c_falls_in_training_out_of_scope():
    # With q = 3, T = 4 and attention to [Z, z_query], 2q > T + 1, and C falls from the first step that moves it.
    drawn = Exactly(4, 3, 1, 2, "tokens_and_query", 0.5)
    run = [scales(drawn, W, V) for W, V, _ in trained(drawn, 3, "cpu")]
    assert run[2][1] < run[1][1] - 1e-6
