"""The trainer has the reference's gradient and takes the steps of PyTorch's Adam; resuming gives the same bits."""

from dataclasses import replace

import pytest
import torch

from numerics import philox_tensors
from numerics.preconditioned_descent.experiments import clipped, eigenvalues
from numerics.preconditioned_descent.reduced import Prompts, losses, reduced
from numerics.preconditioned_descent.reference import in_context_errors, pattern, sample
from numerics.preconditioned_descent.trainer import Plan, Training, prompts_for, readings, task_of
from numerics.repeatable import generator_for
from tests.numerics.devices import DEVICES
from verify import InputError, Running

PLAN = Plan(2, 3, 5, "A_and_B", "even", 0.25, 20, 3, 0.01, 0.05, 4, 0.3, (0, 3, 8))
CODE = replace(PLAN, betas=(0.99, 0.9), rotation="singular_vectors", dtype="float32")
PLANS = [PLAN, replace(PLAN, trained="A"), replace(PLAN, L=1), replace(PLAN, n=2), CODE]
IDS = ["A and B", "A", "one layer", "few examples", "as in the code"]


@pytest.mark.parametrize("plan", PLANS, ids=IDS)
def test_steps_are_adams_on_clipped_gradients(plan):
    training, twin = Training(plan, 3, "cpu"), Training(plan, 3, "cpu")
    leaves = [matrix.clone().requires_grad_() for matrix in training.matrices]
    adam = torch.optim.Adam(leaves, lr=plan.eta, betas=plan.betas)
    for step in range(7):
        twin.step = step
        twin.draw_batch()
        adam.param_groups[0]["lr"] = plan.eta / 2 ** (step // plan.halving)
        loss = losses(leaves[0], leaves[1] if len(leaves) > 1 else None, twin._batch).mean()
        slopes = torch.autograd.grad(loss, leaves, materialize_grads=True, allow_unused=True)
        for leaf, slope in zip(leaves, slopes, strict=True):
            leaf.grad = clipped(slope, plan.clip)
        adam.step()
        training.advance()
        # Clipping has an effect here: the norm of a layer's gradient exceeds the limit.
        assert torch.linalg.matrix_norm(slopes[0]).max() > plan.clip
    for found, expected in zip(training.matrices, leaves, strict=True):
        # Adam divides by the root of the mean square, so a step has size eta; the entries are of order 1.
        tolerance = {torch.float64: 1e-12, torch.float32: 1e-5}[training.dtype]
        torch.testing.assert_close(found, expected.detach(), rtol=0, atol=tolerance)
    assert training.step == 7


def test_moments_of_other_factors_are_other_steps():
    ends = []
    for betas in ((0.9, 0.9), (0.99, 0.9), (0.9, 0.99)):
        training = Training(replace(PLAN, betas=betas), 3, "cpu")
        for _ in range(3):
            training.advance()
        ends.append(training.matrices[0])
    assert all((one - other).abs().max() > 1e-3 for one, other in ((ends[0], ends[1]), (ends[0], ends[2])))


@pytest.mark.parametrize("plan", PLANS, ids=IDS)
def test_the_gradient_is_the_references_on_the_batch(plan):
    training = Training(plan, 3, "cpu")
    tokens, weights = sample(plan.batch, plan.n, training.task.covariance, training.task.inverse, torch.Generator())
    training._batch = Prompts(*(part.to(training.dtype) for part in reduced(tokens, weights)))
    loss, found = training.gradient()
    leaves = [matrix.double().requires_grad_() for matrix in training.matrices]
    expected = in_context_errors(pattern(*leaves), tokens, weights).mean()
    near = {torch.float64: {"rtol": 1e-10, "atol": 1e-12}, torch.float32: {"rtol": 1e-5, "atol": 1e-5}}[training.dtype]
    torch.testing.assert_close(loss.double(), expected.detach(), **near)
    slopes = torch.autograd.grad(expected, leaves, materialize_grads=True, allow_unused=True)
    for one, other in zip(found, slopes, strict=True):
        torch.testing.assert_close(one.double(), other, **near)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("plan", PLANS, ids=IDS)
def test_a_training_is_the_same_on_each_device(monkeypatch, plan, device):
    ours, theirs = Training(plan, 3, "cpu"), Training(plan, 3, device)
    for _ in range(8):
        ours.advance()
    # The CPU's compiled gradients and words are switched off, as on a GPU.
    monkeypatch.setattr(theirs, "device", "meta")
    monkeypatch.setattr(philox_tensors, "words", by_tensors)
    for _ in range(8):
        theirs.advance()
    theirs.divergence.check()
    for found, expected in zip(theirs.matrices, ours.matrices, strict=True):
        # Adam divides by the root of the mean square, so small entries agree to fewer digits.
        tolerance = {torch.float64: 1e-8, torch.float32: 1e-4}[ours.dtype]
        torch.testing.assert_close(found.cpu(), expected, rtol=0, atol=tolerance)


def by_tensors(key, steps, samples, count, device):
    """Return the words as a GPU computes them."""
    return philox_tensors.by_tensors(key, steps, samples, -(-count // 4), device).flatten(2)[:, :, :count]


def test_a_batch_serves_as_many_steps_as_it_is_asked_to():
    training, seen = Training(PLAN, 3, "cpu"), []
    for _ in range(7):
        training.advance()
        seen.append(training._batch.query[0, 0].item())
    assert len(set(seen)) == 3 and seen[0] == seen[2] != seen[3] == seen[5] != seen[6]


def test_sigma_has_the_spectrum_in_a_rotation_of_the_seeds():
    one, again, other = (task_of(PLAN, seed, "cpu") for seed in (1, 1, 2))
    assert torch.equal(one.covariance, again.covariance) and not torch.allclose(one.covariance, other.covariance)
    for task in (one, other):
        spectrum = torch.linalg.eigvalsh(task.covariance)
        torch.testing.assert_close(spectrum, eigenvalues("even", 3, 0.25).sort().values)
        identity = torch.eye(3, dtype=torch.float64)
        torch.testing.assert_close(task.covariance @ task.inverse, identity)
        torch.testing.assert_close(task.root @ task.root, task.covariance)
        torch.testing.assert_close(task.vectors.T @ task.covariance @ task.vectors, eigenvalues("even", 3, 0.25).diag())
        torch.testing.assert_close(task.vectors.T @ task.vectors, identity)
    assert (one.covariance - one.covariance.diagonal().diag()).abs().max() > 1e-3


def test_the_codes_eigenvectors_are_those_of_a_uniform_matrix():
    uniform = 2 * torch.rand(3, 3, generator=generator_for(1, "rotation", "cpu"), dtype=torch.float64) - 1
    vectors = task_of(CODE, 1, "cpu").vectors
    # The left singular vectors of M are the eigenvectors of MMᵀ up to signs, in descending order of the eigenvalues.
    expected = torch.linalg.eigh(uniform @ uniform.T).eigenvectors.flip(1)
    torch.testing.assert_close((vectors.T @ expected).abs(), torch.eye(3, dtype=torch.float64), rtol=0, atol=1e-10)


def test_float32_rounds_the_matrices_and_the_prompts_alone():
    training = Training(CODE, 3, "cpu")
    training.advance()
    assert {matrix.dtype for matrix in (*training.matrices, *training.means[0], *training._batch)} == {torch.float32}
    (reading,) = readings(replace(CODE, read=(8,)), 3, "cpu", running=Running(), part="x", told=id)
    (other,) = readings(replace(CODE, read=(8,), dtype="float64"), 3, "cpu", running=Running(), part="x", told=id)
    assert reading.A.dtype == torch.float64 and not torch.equal(reading.A, other.A)
    torch.testing.assert_close(reading.A, other.A, rtol=0, atol=1e-5)


def test_prompts_of_a_purpose_are_no_others():
    one, again, other = (prompts_for(PLAN, 1, purpose, 5, "cpu") for purpose in ("a", "a", "b"))
    assert torch.equal(one.query, again.query) and not torch.equal(one.query, other.query)
    training = Training(PLAN, 1, "cpu")
    training.draw_batch()
    assert not torch.isclose(training._batch.query[0, :5], one.query[0]).any()


@pytest.mark.parametrize("plan", PLANS, ids=IDS)
def test_resumed_training_ends_at_the_same_bits(plan):
    whole, broken = Training(plan, 5, "cpu"), Training(plan, 5, "cpu", Training(plan, 5, "cpu").state())
    for step in range(8):
        whole.advance()
        broken.advance()
        # The run is interrupted in the middle of a batch and at its end.
        if step in (1, 2, 6):
            state = broken.state()
            broken.advance()
            broken = Training(plan, 5, "cpu", state)
    assert broken.step == 8
    assert all(torch.equal(one, other) for one, other in zip(whole.matrices, broken.matrices, strict=True))


def test_readings_are_those_of_the_plan_and_resume(tmp_path):
    told = []
    found = list(readings(PLAN, 5, "cpu", running=Running(), part="x", told=told.append))
    assert [reading.step for reading in found] == [0, 3, 8] and told == list(range(1, 9))
    file = tmp_path / "state.pt"
    running = Running(file, every=0.0)
    for reading in readings(PLAN, 5, "cpu", running=running, part="x", told=lambda _: None):
        if reading.step == 3:
            break
    later = []
    again = list(readings(PLAN, 5, "cpu", running=Running(file), part="x", told=later.append))
    assert later == list(range(4, 9))
    for one, other in zip(found, again, strict=True):
        assert one.step == other.step and torch.equal(one.A, other.A) and torch.equal(one.B, other.B)
    assert [r.B for r in readings(replace(PLAN, trained="A"), 5, "cpu", running=Running(), part="y", told=id)] == [
        None
    ] * 3


def test_a_training_that_diverges_is_refused():
    training = Training(replace(PLAN, eta=1e80), 5, "cpu")

    def train():
        for _ in range(20):
            training.advance()

    with pytest.raises(InputError, match=r"eta = 1e\+80: training diverges: no finite loss at step"):
        train()


def test_a_spectrum_that_is_printed_has_five_numbers():
    with pytest.raises(InputError, match="d = 3: must be 5 with the printed spectrum"):
        Training(replace(PLAN, spectrum="printed"), 5, "cpu")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda state: 3,
        lambda state: {**state, "kept": []},
        lambda state: {**state, "kept": [1, 2]},
        lambda state: {name: part for name, part in state.items() if name != "training"},
        lambda state: {**state, "training": {**state["training"], "step": 99}},
        lambda state: {**state, "training": {**state["training"], "matrices": []}},
        lambda state: {**state, "training": {**state["training"], "means": [[], []]}},
        lambda state: {**state, "training": {**state["training"], "key": 5}},
    ],
)
def test_a_state_of_something_else_is_one_line(tmp_path, spoil):
    told = lambda step: None  # noqa: E731
    running = Running(tmp_path / "s", every=0.0)
    found = readings(PLAN, 5, "cpu", running=running, part="a", told=told)
    next(found)
    next(found)
    found.close()
    whole = Running(tmp_path / "s")
    state = whole.left("a")
    assert len(list(readings(PLAN, 5, "cpu", running=whole, part="a", told=told))) == len(PLAN.read)
    whole.keep("a", lambda: spoil(state), now=True)
    with pytest.raises(InputError, match=r"checkpoint = .*: has no valid state of a; remove it to start over"):
        list(readings(PLAN, 5, "cpu", running=Running(tmp_path / "s"), part="a", told=told))
