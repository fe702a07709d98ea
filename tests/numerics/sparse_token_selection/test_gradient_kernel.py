"""The kernel's gradients equal the reference's on the same draw."""

import math

import pytest
import torch

from numerics.sparse_token_selection import gradient_kernel, reference
from numerics.sparse_token_selection.batches import Batches, Sizes
from numerics.sparse_token_selection.gradient_kernel import gradient
from verify import InputError, cores

KEY = 2**64 - 9
SIZES = [
    Sizes(40, 16, 3, 2, 24),
    Sizes(33, 7, 3, 2, 5),
    Sizes(3, 1, 1, 1, 1),
    Sizes(5, 17, 16, 1, 9),
    Sizes(5, 9, 9, 3, 8),
    Sizes(64, 8, 1, 5, 23),
    Sizes(5, 32, 3, 2, 32),
    Sizes(70, 200, 3, 5, 170),
]


def batches(*sizes, dtype=torch.float64):
    return Batches(Sizes(*sizes), KEY, dtype)


def matrices(sizes, dtype=torch.float64):
    source = torch.Generator().manual_seed(sum(sizes))
    D = sizes.d + sizes.d_e
    # Logits and values have size 1 for every number of dimensions.
    W = torch.randn(D, D, generator=source, dtype=torch.float64) / math.sqrt(D)
    V = torch.randn(sizes.d, D, generator=source, dtype=torch.float64) / math.sqrt(sizes.d)
    return W.to(dtype), V.to(dtype)


def by_autograd(W, V, drawn, attend):
    encodings, tokens, members = drawn
    subsets = torch.zeros(len(tokens), tokens.shape[2], dtype=tokens.dtype).scatter_(1, members, 1.0)
    leaves = W.clone().requires_grad_(), V.clone().requires_grad_()
    loss = reference.loss(*leaves, encodings, tokens, subsets, attend=attend).mean()
    return loss.detach(), *torch.autograd.grad(loss, leaves)


def close(sizes, dtype):
    """Return the tolerance of a gradient, relative to its norm.

    The gradient's sums have at most 2 (d + d_e) + T terms in total. Their rounding errors have random signs and add up
    like a random walk. There are four successive sums, and a term is at most about twice as large as its sum.
    """
    return 8 * math.sqrt(2 * (sizes.d + sizes.d_e) + sizes.T) * torch.finfo(dtype).eps


def relative(found, expected):
    """Return the norm of the difference, divided by the norm of the expected gradient."""
    return ((found - expected).norm() / expected.norm()).item()


@pytest.mark.parametrize("attend", ["tokens", "tokens_and_query"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_gradients_are_the_references_on_the_same_draw(sizes, attend, dtype):
    source = batches(*sizes, dtype=dtype)
    W, V = matrices(sizes, dtype)
    found = gradient(source, W, V, 5, attend)
    drawn = [part.double() if part.is_floating_point() else part for part in source.drawn(5)]
    loss, slope_W, slope_V = by_autograd(W.double(), V.double(), drawn, attend)
    assert all(each.dtype == dtype for each in found)
    bound = close(sizes, dtype)
    assert relative(found.loss, loss) < bound
    # With T = 1 and no attention to the query, the gradient in W is 0.
    if sizes.T == 1 and attend == "tokens":
        assert not slope_W.any() and found.W.abs().max() < bound
    else:
        assert relative(found.W, slope_W[:, sizes.d :]) < bound
    assert relative(found.V, slope_V) < bound


def test_a_wrong_gradient_would_be_seen():
    sizes = SIZES[0]
    W, V = matrices(sizes)
    found = gradient(batches(*sizes), W, V, 5, "tokens")
    for step, attend in ((6, "tokens"), (5, "tokens_and_query")):
        _, slope_W, slope_V = by_autograd(W, V, batches(*sizes).drawn(step), attend)
        assert min(relative(found.W, slope_W[:, sizes.d :]), relative(found.V, slope_V)) > 1000 * close(
            sizes, torch.float32
        )


@pytest.mark.usefixtures("one_thread")
def test_gradients_do_not_depend_on_threads_nor_on_what_was_asked_for_before(monkeypatch):
    sizes = SIZES[-1]
    W, V = matrices(sizes)
    found = []
    monkeypatch.setattr(gradient_kernel, "_WORTH_A_THREAD", 0)
    for count in (1, 2, 5):
        monkeypatch.setattr(cores, "cores", lambda count=count: count)
        torch.set_num_threads(count)
        source = batches(*sizes)
        if count == 2:
            # The memory of this step is used again.
            gradient(source, W, V, 3, "tokens")
        found.append(gradient(source, W, V, 4, "tokens"))
    for other in found[1:]:
        assert all(torch.equal(one, two) for one, two in zip(found[0], other, strict=True))


@pytest.mark.usefixtures("unchecked")
def test_invalid_arguments_of_the_kernel_are_refused():
    sizes = Sizes(4, 5, 2, 3, 6)
    W, V = matrices(sizes)
    for name, given in (("W", (W[1:], V)), ("W", (W.float(), V)), ("V", (W, V.T)), ("V", (W, V.float()))):
        with pytest.raises(InputError, match=rf"{name} = .*: must be of shape \(.*\) and torch.float64, on the CPU"):
            gradient(batches(*sizes), *given, 0, "tokens")
    with pytest.raises(InputError, match="attend = query: must be one of tokens, tokens_and_query"):
        gradient(batches(*sizes), W, V, 0, "query")
    with pytest.raises(InputError, match="device = meta: must be cpu"):
        gradient(Batches(sizes, KEY, torch.float64, device="meta"), W, V, 0, "tokens")
    shared = Batches(sizes, KEY, torch.float64, torch.ones(6, 5, dtype=torch.float64))
    with pytest.raises(InputError, match=r"encodings = \(6, 5\): must be None: each sample has its own"):
        gradient(shared, W, V, 0, "tokens")
    for step in (-1, 2**63, 0.5):
        with pytest.raises(InputError, match=r"step = .*: must be an integer from 0"):
            gradient(batches(*sizes), W, V, step, "tokens")
