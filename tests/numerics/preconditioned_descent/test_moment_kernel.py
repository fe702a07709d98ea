"""The kernel's loss and gradient are the reference's on the same draw, for all sizes and numbers of threads."""

import pytest
import torch

from numerics.preconditioned_descent import moment_kernel
from numerics.preconditioned_descent.experiments import random_rotation
from numerics.preconditioned_descent.moment_kernel import mean_gradient
from numerics.preconditioned_descent.reduced import Prompts, losses, reduced
from numerics.preconditioned_descent.reference import in_context_errors, pattern, sample
from verify import InputError, cores


def drawn(L, d, n, count, with_B):
    """Return asymmetric matrices, tokens and weights."""
    source = torch.Generator().manual_seed(100 * L + 10 * d + n)
    U = random_rotation(d, source)
    D = torch.linspace(0.5, 1.5, d, dtype=torch.float64)
    tokens, weights = sample(count, n, U.T @ D.diag() @ U, U.T @ (1 / D).diag() @ U, source)
    matrices = [torch.randn(L, d, d, generator=source, dtype=torch.float64) / 3 for _ in range(1 + with_B)]
    return matrices, tokens, weights


# The cases include partly filled blocks, several chunks of blocks, and both more and fewer dimensions than the paper's.
@pytest.mark.parametrize("with_B", [False, True])
@pytest.mark.parametrize(
    ("L", "d", "n", "count"),
    [
        (1, 1, 1, 1),
        (1, 3, 2, 65),
        (2, 3, 5, 7),
        (3, 2, 4, 64),
        (4, 2, 3, 130),
        (2, 6, 9, 40),
        (1, 5, 9, 65),
        (4, 5, 9, 65),
        (3, 5, 20, 1500),
    ],
)
def test_losses_and_gradients_are_the_references(L, d, n, count, with_B):
    matrices, tokens, weights = drawn(L, d, n, count, with_B)
    leaves = [matrix.clone().requires_grad_() for matrix in matrices]
    expected = in_context_errors(pattern(*leaves), tokens, weights).mean()
    slopes = torch.autograd.grad(expected, leaves)
    loss, found = mean_gradient(matrices[0], matrices[1] if with_B else None, reduced(tokens, weights))
    # The tolerances allow for a thousand rounding errors, relative to the largest number.
    torch.testing.assert_close(loss, expected.detach(), rtol=1e-11, atol=0)
    assert len(found) == len(leaves)
    for one, other in zip(found, slopes, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-11 * float(other.abs().max()))
    assert float(slopes[0].abs().max()) > 1e-3
    # No layer reads the tokens that the last B moves.
    assert not with_B or (not found[1][-1].any() and (L == 1 or float(slopes[1][0].abs().max()) > 1e-3))


def test_a_wrong_order_would_be_seen():
    (A, B), tokens, weights = drawn(3, 2, 4, 30, True)
    prompts = reduced(tokens, weights)
    _, found = mean_gradient(A, B, prompts)
    for wrong in ((A.mT.contiguous(), B), (A, B.mT.contiguous()), (A.flip(0), B), (A, B.flip(0))):
        _, other = mean_gradient(*wrong, prompts)
        assert (found[0] - other[0]).abs().max() > 1e-3


@pytest.mark.parametrize("with_B", [False, True])
def test_the_slope_is_that_of_the_loss(with_B):
    matrices, tokens, weights = drawn(3, 5, 20, 200, with_B)
    prompts = reduced(tokens, weights)
    loss, found = mean_gradient(matrices[0], matrices[1] if with_B else None, prompts)
    step = [1e-6 * torch.randn(matrix.shape, dtype=torch.float64, generator=torch.Generator()) for matrix in matrices]
    up, down = (
        losses(*(matrix + sign * move for matrix, move in zip(matrices, step, strict=True)), prompts).mean()
        if with_B
        else losses(matrices[0] + sign * step[0], None, prompts).mean()
        for sign in (1, -1)
    )
    slope = sum(float((one * move).sum()) for one, move in zip(found, step, strict=True))
    # The error of a central difference is of the order of the squared step plus rounding errors of the loss.
    assert abs(float(up - down) / 2 - slope) < 1e-9 * float(loss)
    assert abs(slope) > 1e-7 * float(loss)


def test_results_do_not_depend_on_threads(monkeypatch):
    matrices, tokens, weights = drawn(2, 3, 5, 5000, True)
    found = []
    for count in (1, 2, 3):
        monkeypatch.setattr(cores, "cores", lambda count=count: count)
        loss, slopes = mean_gradient(*matrices, reduced(tokens, weights))
        found.append(torch.cat([loss[None], *(slope.flatten() for slope in slopes)]))
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])
    assert moment_kernel._BLOCK * moment_kernel._CHUNK < 5000


@pytest.mark.parametrize("with_B", [False, True])
@pytest.mark.parametrize("d", [2, 5])
def test_overflowing_loss_is_not_finite(d, with_B):
    matrices, tokens, weights = drawn(3, d, 7, 70, with_B)
    for scale in (1e200, float("nan")):
        A, *B = (scale * matrix for matrix in matrices)
        assert not bool(mean_gradient(A, B[0] if B else None, reduced(tokens, weights))[0].isfinite())


@pytest.mark.audit
@pytest.mark.parametrize("with_B", [False, True])
@pytest.mark.parametrize("d", [3, 5])
def test_float32_is_float64_to_its_rounding(d, with_B):
    matrices, tokens, weights = drawn(3, d, 20, 200, with_B)
    prompts = reduced(tokens, weights)
    expected, slopes = mean_gradient(matrices[0], matrices[1] if with_B else None, prompts)
    A, *B = (matrix.float() for matrix in matrices)
    loss, found = mean_gradient(A, B[0] if B else None, Prompts(*(part.float() for part in prompts)))
    assert loss.dtype == torch.float32 and loss != expected
    assert float(loss) == pytest.approx(float(expected), rel=1e-5)
    for one, other in zip(found, slopes, strict=True):
        assert one.dtype == torch.float32
        torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-5 * float(other.abs().max()))


@pytest.mark.usefixtures("unchecked")
def test_tensors_of_wrong_shape_or_type_are_refused():
    (A, B), tokens, weights = drawn(2, 3, 5, 4, True)
    prompts = reduced(tokens, weights)
    S, w, x = prompts
    for name, given in (
        ("A", (A[:, :2], None, prompts)),
        ("A", (A.half(), None, prompts)),
        ("second_moment", (A.float(), None, prompts)),
        ("B", (A, B[:1], prompts)),
        ("second_moment", (A, B, Prompts(S[:2], w, x))),
        ("weights", (A, B, Prompts(S, w[:, :3], x))),
        ("query", (A, B, Prompts(S, w, x.float()))),
    ):
        with pytest.raises(InputError, match=rf"{name} = .*: must be of shape \(.*\) and torch.float64, or all "):
            mean_gradient(*given)
    for name, given in (
        ("A", (A[:0], None, prompts)),
        ("A", (A[0, 0, 0], None, prompts)),
        ("query", (A, None, Prompts(S, w, x[0]))),
        ("query", (A, None, Prompts(S[..., :0], w[:, :0], x[:, :0]))),
    ):
        with pytest.raises(InputError, match=rf"{name} = .*: must have . dimensions, and none of them 0"):
            mean_gradient(*given)


def test_matrices_that_ask_for_a_gradient_are_taken():
    (A, B), tokens, weights = drawn(2, 3, 5, 4, True)
    given = (A, B), (A.clone().requires_grad_(), B.clone().requires_grad_())
    (one, slopes), (other, again) = (mean_gradient(*each, reduced(tokens, weights)) for each in given)
    assert one == other and all(map(torch.equal, slopes, again))
