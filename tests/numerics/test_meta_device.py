"""Models, losses and trainers take a step on PyTorch's meta device, which refuses tensors of other devices.

Code that creates a tensor on the CPU would fail on a GPU. These tests detect such code without a GPU.
"""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from numerics.preconditioned_descent import reduced, reference as transformers
from numerics.preconditioned_descent.experiments import clipped, distance_to_identity
from numerics.softmax_regression import reference as regression
from numerics.sparse_token_selection import fully_connected, linear_measurements, reference, stochastic, trainer
from numerics.sparse_token_selection.batches import Batch, Batches, Sizes
from numerics.sparse_token_selection.experiments import ground_truth


class OneDevice(TorchDispatchMode):
    """Refuse operations on tensors of two devices, as a GPU does; allow copies and 0-dimensional tensors."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        parts = [part for part in tree_leaves((args, kwargs)) if isinstance(part, torch.Tensor) and part.ndim]
        if "copy" not in func.__name__ and len({part.device for part in parts}) > 1:
            raise RuntimeError(f"{func.__name__}: tensors of two devices")
        return func(*args, **(kwargs or {}))


META = {"device": "meta", "dtype": torch.float64}


def meta(*shape):
    return torch.empty(*shape, **META)


def layer(attend="tokens"):
    """Yield gradients of the layer's loss on a batch, with shared encodings and with encodings for each sample."""
    W, V = meta(5, 5).requires_grad_(), meta(2, 5).requires_grad_()
    for encodings in (meta(3, 4), meta(6, 3, 4)):
        value = reference.loss(W, V, encodings, meta(6, 2, 4), meta(6, 4), attend=attend).sum()
        yield from torch.autograd.grad(value, (W, V))


def trainer_step(attend="tokens"):
    for encodings in (meta(3, 4), meta(6, 3, 4)):
        members = torch.empty(6, 2, device="meta", dtype=torch.int64)
        yield from trainer.batch_gradient(meta(5, 5), meta(2, 5), Batch(encodings, meta(6, 2, 4), members), attend)


def batches():
    for shared in (None, meta(5, 4)):
        yield from Batches(Sizes(6, 4, 2, 3, 5), 1, torch.float64, shared, "meta").drawn(3)


def net():
    for reads in fully_connected.READINGS:
        made = fully_connected.Net(4, 2, width=3, depth=2, hidden=5, activation="relu", reads=reads).to("meta")
        value = fully_connected.net_losses(made, meta(6, 2, 4), meta(6, 4)).mean()
        yield from torch.autograd.grad(value, list(made.parameters()))


def measurements():
    yield linear_measurements.target_functionals(meta(6, 4), 2)


def transformer(activation=None):
    A, B = meta(2, 3, 3).requires_grad_(), meta(2, 3, 3).requires_grad_()
    value = transformers.in_context_errors(
        transformers.pattern(A, B), meta(6, 3, 5), meta(6, 3), activation=activation
    ).mean()
    yield from torch.autograd.grad(value, (A, B))


def transformer_reduced():
    A, B = meta(2, 3, 3).requires_grad_(), meta(2, 3, 3).requires_grad_()
    for n, half, uniforms in ((2, 6, 0), (5, 6, 5)):
        yield reduced._half(n, 3, meta(half, 4), torch.empty(4, uniforms, device="meta", dtype=torch.int64))
    prompts = reduced.reduced(meta(6, 3, 5), meta(6, 3))
    yield from torch.autograd.grad(reduced.losses(A, B, prompts).mean(), (A, B))
    yield reduced.mean_losses(A, B, prompts.second_moment, meta(3, 3))
    yield clipped(meta(2, 3, 3), 0.1)
    yield distance_to_identity(meta(3, 3))


def softmax():
    A, x, b = meta(4, 3), meta(3), meta(4)
    yield regression.loss(A, x, b)
    yield regression.prediction(A, x)
    yield regression.new_target(b, meta(4), meta(4))
    yield regression.data_after_attention(A, meta(3, 3), meta(3, 3))


def truth():
    yield from ground_truth(4, 2, "meta")
    yield stochastic.enumerated_signs(2, 2, device="meta")
    yield reference.one_hot_encodings(3, device="meta")


STEPS = {
    "layer": layer,
    "layer with the query": lambda: layer("tokens_and_query"),
    "trainer": trainer_step,
    "trainer with the query": lambda: trainer_step("tokens_and_query"),
    "batches": batches,
    "fully-connected net": net,
    "linear measurements": measurements,
    "linear attention": transformer,
    "ReLU attention": lambda: transformer("relu"),
    "reduced prompts": transformer_reduced,
    "softmax regression": softmax,
    "what is made from sizes": truth,
}


@pytest.mark.parametrize("what", STEPS)
def test_all_of_a_step_is_on_the_device(what):
    with OneDevice():
        found = list(STEPS[what]())
    assert found and all(tensor.device.type == "meta" for tensor in found)


def test_a_tensor_of_another_device_would_be_seen():
    members = torch.empty(6, 2, device="meta", dtype=torch.int64)
    batch = Batch(meta(3, 4), meta(6, 2, 4), members)
    # One matrix is on the CPU, like a constant that is created without a device.
    with OneDevice(), pytest.raises(RuntimeError, match="tensors of two devices"):
        trainer.batch_gradient(torch.zeros(5, 5, dtype=torch.float64), meta(2, 5), batch, "tokens")
