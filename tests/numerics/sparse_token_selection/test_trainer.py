"""The fast trainer has the reference's gradients, PyTorch's steps, and draws with the right distribution."""

import math
from dataclasses import replace

import pytest
import torch

from numerics.sparse_token_selection import reference
from numerics.sparse_token_selection.batches import Batch, Batches
from numerics.sparse_token_selection.trainer import (
    Plan,
    Training,
    batch_gradient,
    batch_losses,
    fixed_encodings,
    readings,
)
from tests.numerics.devices import DEVICES
from verify import InputError, Running

PLAN = Plan(7, 3, 2, 5, "stochastic", "tokens_and_query", "sgd", 1.0, 1 / 3, 4, 11, 0.5, "float64", (0, 3, 8))
SEED = 8
KINDS = [
    replace(PLAN, encoding=encoding, attend=attend, d_e=7 if encoding == "one_hot" else 5)
    for encoding in ("stochastic", "fixed", "one_hot")
    for attend in ("tokens", "tokens_and_query")
]
IDS = [f"{plan.encoding} {plan.attend}" for plan in KINDS]


def begun(plan):
    """Return a training, and its first batch."""
    training = Training(plan, 5, "cpu")
    return training, training.batches.drawn(0)


def indicators(batch):
    n, _, T = batch.tokens.shape
    return torch.zeros(n, T, dtype=batch.tokens.dtype).scatter_(1, batch.members, 1.0)


def by_autograd(W, V, batch, attend):
    leaves = W.clone().requires_grad_(), V.clone().requires_grad_()
    losses = reference.loss(*leaves, batch.encodings, batch.tokens, indicators(batch), attend=attend)
    return losses.detach(), *torch.autograd.grad(losses.mean(), leaves)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("plan", [*KINDS, replace(KINDS[2], T=200, d=5, d_e=170)], ids=[*IDS, "fixed, large"])
def test_losses_and_gradients_are_the_references(plan, dtype):
    training, batch = begun(replace(plan, dtype=dtype))
    losses, slope_W, slope_V = by_autograd(training.W, training.V, batch, plan.attend)
    found = batch_gradient(training.W, training.V, batch, plan.attend)
    # Numbers have size 1, and errors add up like a random walk: four successive sums have 2 (d + d_e) + T terms.
    errors = 8 * math.sqrt(2 * (plan.d + plan.d_e) + plan.T)
    close = {"rtol": 0, "atol": errors * torch.finfo(training.plan.precision).eps}
    torch.testing.assert_close(batch_losses(training.W, training.V, batch, plan.attend), losses, **close)
    torch.testing.assert_close(found.loss, losses.mean(), **close)
    torch.testing.assert_close(found.W, slope_W[:, plan.d :], **close)
    torch.testing.assert_close(found.V, slope_V, **close)
    assert not slope_W[:, : plan.d].any() and slope_W.abs().max() > 1e-3


@pytest.mark.parametrize("plan", KINDS, ids=IDS)
def test_a_trainings_gradient_is_that_of_its_batch(plan):
    training, batch = begun(plan)
    found = training.gradient()
    # There are about a hundred rounding errors of numbers of size 1.
    for one, other in zip(found, batch_gradient(training.W, training.V, batch, plan.attend), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-14)
    assert not torch.equal(batch.tokens, Training(plan, 6, "cpu").batches.drawn(0).tokens)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("plan", KINDS, ids=IDS)
def test_a_training_is_the_same_on_each_device(monkeypatch, plan, device):
    ours, theirs = Training(plan, 5, "cpu"), Training(plan, 5, device)
    # The CPU's compiled steps and draws are switched off, as on a GPU.
    monkeypatch.setattr(Batches, "on_cpu", False)
    for _ in range(8):
        theirs.advance()
    monkeypatch.undo()
    for _ in range(8):
        ours.advance()
    theirs.divergence.check()
    for found, expected in ((theirs.W, ours.W), (theirs.V, ours.V)):
        torch.testing.assert_close(found.cpu(), expected, rtol=1e-10, atol=1e-12)
    assert ours.step == 8 and bool((ours.V != Training(plan, 5, "cpu").V).any())


def test_fixed_encodings_are_those_of_the_seed():
    plan = replace(PLAN, encoding="fixed")
    one, other = (Training(plan, seed, "cpu").batches.encodings for seed in (5, 6))
    assert torch.equal(one, fixed_encodings(5, 7, 5, torch.float64, "cpu")) and not torch.equal(one, other)


def test_a_wrong_gradient_would_be_seen():
    training, batch = begun(PLAN)
    other = Batch(batch.encodings, batch.tokens.flip(2), batch.members)
    found = [batch_gradient(training.W, training.V, each, PLAN.attend).W for each in (batch, other)]
    assert (found[0] - found[1]).abs().max() > 1e-3


@pytest.mark.parametrize("plan", KINDS, ids=IDS)
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_steps_are_pytorchs(plan, optimizer):
    plan = replace(plan, optimizer=optimizer, eta=0.05, eta_late=0.01, late=2)
    # If all fixed encodings agree in a coordinate, the slope there is a rounding error, and Adam would normalise it to
    # size 1. The seed avoids this case.
    assert plan.encoding != "fixed" or fixed_encodings(SEED, 7, 5, torch.float64, "cpu").sum(dim=1).abs().max() < 3
    training = Training(plan, SEED, "cpu")
    W, V = training.W.clone().requires_grad_(), training.V.clone().requires_grad_()
    steps = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer]([W, V], lr=plan.eta)
    for step in range(5):
        steps.param_groups[0]["lr"] = plan.eta if step < plan.late else plan.eta_late
        batch = training.batches.drawn(step)
        losses = reference.loss(W, V, batch.encodings, batch.tokens, indicators(batch), attend=plan.attend)
        steps.zero_grad()
        losses.mean().backward()
        steps.step()
        training.advance()
    for found, expected in ((training.W, W), (training.V, V)):
        torch.testing.assert_close(found, expected.detach(), rtol=0, atol=1e-12)
    assert (
        training.step == 5 and (training.W[:, plan.d :] - Training(plan, SEED, "cpu").W[:, plan.d :]).abs().max() > 1e-3
    )


def test_fixed_encodings_are_the_first_of_one_draw():
    long, short = (fixed_encodings(7, T, 5, torch.float64, "cpu") for T in (20, 8))
    assert long.shape == (5, 20) and torch.equal(long[:, :8], short)
    assert not torch.equal(short, fixed_encodings(8, 8, 5, torch.float64, "cpu"))
    torch.testing.assert_close(long.square().sum(dim=0), torch.ones(20, dtype=torch.float64))


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("plan", KINDS[::2], ids=IDS[::2])
def test_resumed_training_ends_at_the_same_bits(plan, optimizer):
    plan = replace(plan, optimizer=optimizer, eta=0.05)
    whole, broken = Training(plan, 5, "cpu"), Training(plan, 5, "cpu")
    for step in range(8):
        whole.advance()
        broken.advance()
        if step in (2, 5):
            state = broken.state()
            broken.advance()
            broken = Training(plan, 5, "cpu", state)
    assert torch.equal(whole.W, broken.W) and torch.equal(whole.V, broken.V) and broken.step == 8


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
        assert one.step == other.step and torch.equal(one.W, other.W) and torch.equal(one.V, other.V)


def test_a_training_that_diverges_is_refused():
    training = Training(replace(PLAN, eta=1e200), 5, "cpu")

    def train():
        for _ in range(20):
            training.advance()

    with pytest.raises(InputError, match=r"eta = 1e\+200: training diverges: no finite loss at step"):
        train()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda state: 3,
        lambda state: {**state, "W": state["W"] * 2},
        lambda state: {**state, "W": [], "V": []},
        lambda state: {**state, "V": [1, 2]},
        lambda state: {name: part for name, part in state.items() if name != "training"},
        lambda state: {**state, "training": {**state["training"], "step": 99}},
        lambda state: {**state, "training": {**state["training"], "key": 5}},
        lambda state: {**state, "training": {**state["training"], "W": state["training"]["V"]}},
        lambda state: {**state, "training": {**state["training"], "W": state["training"]["W"].float()}},
    ],
)
def test_a_state_of_something_else_is_one_line(tmp_path, spoil):
    told = lambda step: None  # noqa: E731
    running = Running(tmp_path / "s", every=0.0)
    found = readings(PLAN, SEED, "cpu", running=running, part="a", told=told)
    next(found)
    next(found)
    found.close()
    whole = Running(tmp_path / "s")
    state = whole.left("a")
    assert len(list(readings(PLAN, SEED, "cpu", running=whole, part="a", told=told))) == len(PLAN.read)
    whole.keep("a", lambda: spoil(state), now=True)
    with pytest.raises(InputError, match=r"checkpoint = .*: has no valid state of a; remove it to start over"):
        list(readings(PLAN, SEED, "cpu", running=Running(tmp_path / "s"), part="a", told=told))
