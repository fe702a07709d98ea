"""Length generalisation as stated: the theorem, and the layer from its definition at two lengths, with any matrices."""

import math
from itertools import combinations, product

import hypothesis
import pytest
import torch
from hypothesis import strategies as st

from numerics.sparse_token_selection import reference
from verify import load_theorem

THEOREM = load_theorem("wang2024.fresh_and_fixed_encodings")
ROUNDING = 1e-12


def population_loss(W, V, T, q, d, encodings, weights, attend):
    """Return the mean loss over encodings (n, d_e, T) with the given weights (n,), and over all subsets.

    If the logits do not depend on the tokens, ½|f − STS|² is a quadratic form in X, with the target STS. Its mean is
    the sum of its values at the unit matrices.
    """
    units = torch.eye(d * T, dtype=torch.float64).reshape(d * T, d, T)
    loss = 0.0
    for y in combinations(range(T), q):
        subset = torch.zeros(T, dtype=torch.float64)
        subset[list(y)] = 1
        n = len(encodings)
        parts = reference.loss(
            W,
            V,
            encodings.repeat_interleave(d * T, dim=0),
            units.repeat(n, 1, 1),
            subset.expand(n * d * T, T),
            attend=attend,
        )
        loss += float(weights @ parts.reshape(n, d * T).sum(dim=1)) / math.comb(T, q)
    return loss


def block(A, B, M):
    """Return W = diag(B, M) and V = (A, 0)."""
    d, d_e = len(A), len(M)
    W, V = torch.zeros(d + d_e, d + d_e, dtype=torch.float64), torch.zeros(d, d + d_e, dtype=torch.float64)
    W[:d, :d], W[d:, d:], V[:, :d] = B, M, A
    return W, V


def times(T, T_test, q):
    """Return κ + c + c², or 1 + T − T_test if T_test ≤ T."""
    if T_test <= T:
        return 1 + T - T_test
    c = (T_test - T) / math.sqrt(T - q)
    return (T_test - q) / (T - q) + c + c**2


@pytest.mark.parametrize("sizes", [(4, 7, 2, 1), (6, 3, 3, 2), (2, 5, 1, 1)])
def test_the_theorem(ledger, sizes):
    ledger.check(THEOREM, **dict(zip(("T", "T_test", "q", "d"), sizes, strict=True)))


def test_its_canaries(ledger):
    ledger.canaries(THEOREM)


@st.composite
def layers(draw):
    """Draw sizes, a law of two or three encodings, a layer's three matrices and its attention."""
    T, T_test = draw(st.integers(2, 5)), draw(st.integers(1, 5))
    q, d, d_e = draw(st.integers(1, min(T - 1, T_test))), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    random = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=generator)  # noqa: E731
    support = draw(st.integers(2, 3))
    law = random(support, d_e), torch.softmax(random(support), dim=0)
    A = draw(st.sampled_from([0.5, 1.0, 3.0])) * (torch.eye(d, dtype=torch.float64) + random(d, d) / 4)
    M = draw(st.sampled_from([0.3, 3.0])) * random(d_e, d_e)
    return (T, T_test, q, d), law, (A, random(d, d), M), draw(st.sampled_from(["tokens", "tokens_and_query"]))


@hypothesis.settings(max_examples=30, deadline=None)
@hypothesis.given(drawn=layers())
def test_with_fresh_encodings_the_loss_at_other_lengths_is_at_most_a_multiple(drawn):
    (T, T_test, q, d), (points, chances), matrices, attend = drawn
    W, V = block(*matrices)
    losses = []
    for length in (T, T_test):
        rows = torch.tensor(list(product(range(len(points)), repeat=length)))
        weights = chances[rows].prod(dim=1)
        losses.append(population_loss(W, V, length, q, d, points[rows].mT, weights, attend))
    assert losses[1] <= times(T, T_test, q) * losses[0] + ROUNDING * (1 + float(V.square().sum()))


def test_with_many_encodings_more_than_kappa_is_lost():
    # Encodings are drawn from 24 orthonormal vectors. From two tokens to three, κ = 2 and c² = 1.
    T, T_test, q, points = 2, 3, 1, 24
    eye, one = torch.eye(points, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    W, V = block(1.06 * one, one, 2 * eye)
    losses = []
    for length in (T, T_test):
        rows = torch.tensor(list(product(range(points), repeat=length)))
        weights = torch.full((len(rows),), float(points) ** -length, dtype=torch.float64)
        losses.append(population_loss(W, V, length, q, 1, eye[rows].mT, weights, "tokens"))
    assert 2.2 < losses[1] / losses[0] <= times(T, T_test, q)


@pytest.mark.parametrize(
    ("T", "q", "d", "attend"),
    [
        *((T, q, d, attend) for T, q, d in ((3, 2, 2), (5, 3, 1)) for attend in ("tokens", "tokens_and_query")),
        (3, 1, 1, "tokens"),
    ],
)
def test_a_layer_that_has_learnt_one_draw_attends_to_the_next_token_alone(T, q, d, attend):
    # With one-hot encodings the last token has the logit 0. Another token has the logit 40 · 1{selected} − 80 k, with
    # the number k of selected tokens without the last.
    eye, first = torch.eye(T + 1, dtype=torch.float64), torch.ones(T + 1, dtype=torch.float64)
    first[T] = 0
    M = 40 * torch.diag(first) - 80 * torch.outer(first, first)
    W, V = block(torch.eye(d, dtype=torch.float64), torch.zeros(d, d, dtype=torch.float64), M)
    one = torch.ones(1, dtype=torch.float64)
    assert population_loss(W, V, T, q, d, eye[None, :, :T], one, attend) < ROUNDING
    beyond = population_loss(W, V, T + 1, q, d, eye[None], one, attend)
    # The output is the last token: the error is 1 + 1/q if it is not selected, else (1 − 1/q)² + (q − 1)/q².
    chance = q / (T + 1)
    selected = (1 - 1 / q) ** 2 + (q - 1) / q**2 if q > 1 else T / (T + 1)
    assert beyond == pytest.approx(d / 2 * ((1 - chance) * (1 + 1 / q) + chance * selected), abs=ROUNDING)


def test_trained_on_the_selected_tokens_alone_a_layer_need_not_know_others():
    # At T = q, with logits 0 and A = I, the loss is 0, and d/(2q(q+1)) at one more token.
    q, d = 2, 1
    W, V = block(torch.eye(d, dtype=torch.float64), *(torch.zeros(1, 1, dtype=torch.float64),) * 2)
    encodings, one = torch.ones(1, 1, 3, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    assert population_loss(W, V, q, q, d, encodings[:, :, :q], one, "tokens") < ROUNDING
    assert population_loss(W, V, 3, q, d, encodings, one, "tokens") == pytest.approx(d / (2 * q * (q + 1)))
