"""The kernel: its gradients are the reference's on its draw, and its draws are of the right law."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy import stats

from numerics.sparse_token_selection import reference, sign_kernel
from numerics.sparse_token_selection.sign_kernel import SignBatches, Sizes, transposed
from numerics.sparse_token_selection.trainer import Training, fixed_encodings
from tests.numerics.sparse_token_selection.test_trainer import PLAN
from verify import InputError, cores

KEY = 2**64 - 9
SIZES = [
    Sizes(40, 16, 3, 2, 24),
    Sizes(33, 7, 3, 2, 5),
    Sizes(3, 1, 1, 1, 1),
    Sizes(5, 17, 16, 1, 9),
    Sizes(5, 9, 9, 3, 8),
    Sizes(64, 8, 1, 5, 23),
    Sizes(70, 200, 3, 5, 170),
]


def batches(*sizes, dtype=torch.float64, key=KEY, shared=False):
    sizes = Sizes(*sizes)
    return SignBatches(sizes, key, dtype, fixed_encodings(7, sizes.T, sizes.d_e, dtype, "cpu") if shared else None)


def matrices(sizes, dtype=torch.float64):
    source = torch.Generator().manual_seed(sum(sizes))
    D = sizes.d + sizes.d_e
    # Logits and values of size 1, whatever the number of dimensions.
    W = torch.randn(D, D, generator=source, dtype=torch.float64) / math.sqrt(D)
    V = torch.randn(sizes.d, D, generator=source, dtype=torch.float64) / math.sqrt(sizes.d)
    return W.to(dtype), V.to(dtype)


def by_autograd(W, V, drawn, attend):
    encodings, tokens, members = drawn
    encodings = encodings.expand(len(tokens), -1, -1)
    subsets = torch.zeros(len(tokens), tokens.shape[2], dtype=tokens.dtype).scatter_(1, members, 1.0)
    leaves = W.clone().requires_grad_(), V.clone().requires_grad_()
    loss = reference.loss(*leaves, encodings, tokens, subsets, attend=attend).mean()
    return loss.detach(), *torch.autograd.grad(loss, leaves)


def close(sizes, dtype):
    """How far a gradient may be off, relative to its norm.

    Its sums are of at most 2 (d + d_e) + T terms in all, whose roundings, of either sign, add up like a random walk;
    four of the sums follow on each other, of terms at most about twice as large as what they add up to.
    """
    return 8 * math.sqrt(2 * (sizes.d + sizes.d_e) + sizes.T) * torch.finfo(dtype).eps


def relative(found, expected):
    """The norm of the difference, relative to that of what is expected."""
    return ((found - expected).norm() / expected.norm()).item()


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("attend", ["tokens", "tokens_and_query"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_gradients_are_the_references_on_the_same_draw(sizes, attend, dtype, shared):
    source = batches(*sizes, dtype=dtype, shared=shared)
    W, V = matrices(sizes, dtype)
    found = source.gradient(W, V, 5, attend)
    drawn = [part.double() if part.is_floating_point() else part for part in source.drawn(5)]
    loss, slope_W, slope_V = by_autograd(W.double(), V.double(), drawn, attend)
    assert all(each.dtype == dtype for each in found)
    bound = close(sizes, dtype)
    assert relative(found.loss, loss) < bound
    # With one token that is all there is, nothing is learned about where to look.
    if sizes.T == 1 and attend == "tokens":
        assert not slope_W.any() and found.W.abs().max() < bound
    else:
        assert relative(found.W, slope_W[:, sizes.d :]) < bound
    assert relative(found.V, slope_V) < bound


def test_a_wrong_gradient_would_be_seen():
    sizes = SIZES[0]
    W, V = matrices(sizes)
    found = batches(*sizes).gradient(W, V, 5, "tokens")
    for step, attend in ((6, "tokens"), (5, "tokens_and_query")):
        _, slope_W, slope_V = by_autograd(W, V, batches(*sizes).drawn(step), attend)
        assert min(relative(found.W, slope_W[:, sizes.d :]), relative(found.V, slope_V)) > 1000 * close(
            sizes, torch.float32
        )


def test_results_do_not_depend_on_threads_nor_on_what_was_asked_for_before(monkeypatch):
    sizes = SIZES[-1]
    W, V = matrices(sizes)
    found = []
    monkeypatch.setattr(sign_kernel, "_WORTH_A_THREAD", 0)
    for count in (1, 2, 5):
        monkeypatch.setattr(cores, "cores", lambda count=count: count)
        source = batches(*sizes)
        if count == 2:
            source.gradient(W, V, 3, "tokens")
        found.append(source.gradient(W, V, 4, "tokens"))
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other, strict=True))


def test_a_batch_does_not_depend_on_its_size_and_steps_and_keys_have_their_own():
    few, many = (batches(n, 9, 2, 3, 5).drawn(4) for n in (10, 50))
    assert all(torch.equal(one, other[:10]) for one, other in zip(few, many, strict=True))
    for other in (batches(10, 9, 2, 3, 5).drawn(5), batches(10, 9, 2, 3, 5, key=KEY - 2**40).drawn(4)):
        assert not any(torch.equal(one, two) for one, two in zip(few, other, strict=True))
    halves = [part.to(torch.float32) for part in few[:2]]
    assert all(
        torch.equal(*pair) for pair in zip(batches(10, 9, 2, 3, 5, dtype=torch.float32).drawn(4), halves, strict=False)
    )


def test_squares_are_transposed():
    planes = np.random.default_rng(1).integers(0, 2**64, (16, 3), dtype=np.uint64)
    found = np.empty_like(planes)
    transposed(planes, found)
    one, other = (each.view(np.uint16)[:, :, None] >> np.arange(16) & 1 for each in (planes, found))
    assert (one.transpose(2, 1, 0) == other).all() and not (one == other).all()


def test_signs_are_fair_and_independent():
    n, d_e, T = 4000, 13, 9
    encodings, tokens, _ = batches(n, T, 2, 2, d_e).drawn(0)
    signs = encodings * math.sqrt(d_e)
    assert signs.shape == (n, d_e, T) and bool((signs.abs() - 1).abs().max() < 1e-15)
    # Means of n fair signs have standard deviation 1/√n; 117 of them, and the products of two of them and of one and a
    # Gaussian, some 9000: z = 6 has a probability of 2e-9 each.
    flat = torch.cat([signs.reshape(n, -1), tokens.reshape(n, -1)], dim=1)
    products = flat.T @ flat / n
    assert flat[:, : d_e * T].mean(dim=0).abs().max() < 6 / math.sqrt(n)
    products.diagonal()[:] -= 1
    # A Gaussian's square has variance 2.
    assert products.abs().max() < 6 * math.sqrt(2 / n)
    # Batches of two steps are independent: products of an entry of one and the same of the other.
    later = batches(n, T, 2, 2, d_e).drawn(1)[0] * math.sqrt(d_e)
    assert (signs * later).mean(dim=0).abs().max() < 6 / math.sqrt(n)


def test_tokens_are_gaussian():
    tokens = batches(4000, 9, 2, 3, 1).drawn(0)[1].flatten().numpy()
    assert len(tokens) == 108_000 and stats.kstest(tokens, "norm").pvalue > 1e-6
    # Fourth powers have variance 96, and tails beyond 3 a probability of 0.0027.
    assert abs((tokens**4).mean() - 3) < 6 * math.sqrt(96 / len(tokens))
    beyond = (np.abs(tokens) > 3).mean()
    assert abs(beyond - 0.0027) < 6 * math.sqrt(0.0027 / len(tokens))
    assert stats.kstest(tokens * 1.05, "norm").pvalue < 1e-6


@pytest.mark.parametrize(("T", "q"), [(5, 2), (5, 4), (4, 3), (6, 1), (3, 3)])
def test_subsets_are_uniform(T, q):
    n = 12_000
    members = batches(n, T, q, 1, 1).drawn(0)[2]
    found = [tuple(sorted(row)) for row in members.tolist()]
    every = list(combinations(range(T), q))
    counts = np.array([found.count(subset) for subset in every])
    assert counts.sum() == n and members.shape == (n, q)
    # Binomial: z = 6.
    share = 1 / len(every)
    assert np.abs(counts - n * share).max() <= 6 * math.sqrt(n * share * (1 - share))


def test_a_training_is_served_where_encodings_are_signs_and_on_the_cpu():
    assert Training(PLAN, 5, "cpu")._fused is not None
    fixed = Training(replace(PLAN, encoding="fixed"), 5, "cpu")
    assert fixed._fused is not None and fixed.batch().encodings.shape == (PLAN.d_e, PLAN.T)
    one_hot = Training(replace(PLAN, encoding="one_hot", d_e=PLAN.T), 5, "cpu")
    assert one_hot._fused is None


@pytest.mark.parametrize("name", ["n", "T", "q", "d", "d_e"])
def test_sizes_are_positive(name):
    with pytest.raises(InputError, match=f"{name} = 0: must be an integer >= 1"):
        SignBatches(Sizes(4, 5, 2, 3, 6)._replace(**{name: 0}), KEY, torch.float64)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="q = 6: must be at most T = 5"):
        batches(4, 5, 6, 3, 6)
    sizes = Sizes(4, 5, 2, 3, 6)
    W, V = matrices(sizes)
    for name, given in (("W", (W[1:], V)), ("W", (W.float(), V)), ("V", (W, V.T)), ("V", (W, V.float()))):
        with pytest.raises(InputError, match=rf"{name} = .*: must be of shape \(.*\) and torch.float64, on the CPU"):
            batches(*sizes).gradient(*given, 0, "tokens")
    with pytest.raises(InputError, match="attend = query: must be one of tokens, tokens_and_query"):
        batches(*sizes).gradient(W, V, 0, "query")
    for key in (-1, 2**64, 1.5):
        with pytest.raises(InputError, match=r"key = .*: must be an integer from 0 to 2\^64 - 1"):
            SignBatches(sizes, key, torch.float64)
    with pytest.raises(InputError, match=r"encodings = .*: must be of shape \(6, 5\) and torch.float64, on the CPU"):
        SignBatches(sizes, KEY, torch.float64, torch.ones(5, 6))
    with pytest.raises(InputError, match=r"encodings: must have entries 1/sqrt\(d_e\) and -1/sqrt\(d_e\)"):
        SignBatches(sizes, KEY, torch.float64, torch.ones(6, 5, dtype=torch.float64))
    with pytest.raises(InputError, match=r"dtype = torch.bfloat16: must be torch.float32 or torch.float64"):
        SignBatches(sizes, KEY, torch.bfloat16)
    for step in (-1, 2**63, 0.5):
        for use in (batches(*sizes).drawn, lambda step: batches(*sizes).gradient(W, V, step, "tokens")):
            with pytest.raises(InputError, match=r"step = .*: must be an integer from 0"):
                use(step)
