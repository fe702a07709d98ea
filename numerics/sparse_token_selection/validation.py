"""Fixed validation sets on which a training is measured: the loss at each reading, and its standard error."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from numerics.repeatable import generator_for
from numerics.sparse_token_selection.batches import Batch
from numerics.sparse_token_selection.stochastic import measurement
from numerics.sparse_token_selection.trainer import Plan, Reading, batch_losses, shared_encodings
from verify import Curve, InputError, Measurement

STEPS_TAKEN = "step of training"
LOSS = "validation loss ½‖f − target‖²"
_CHUNK = 256
_BITS = 56
"""Number of random bits that are taken from one random integer."""


@dataclass
class SignEncodings:
    """Draws of encodings with entries ±1/√d_e; a draw overwrites the previous draw of the same size."""

    d_e: int
    dtype: torch.dtype
    device: str
    _memory: dict[tuple[int, int], Float[Tensor, "rows 8"]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Row k has the eight signs that the byte k stands for.
        bits = torch.arange(256, device=self.device)[:, None] >> torch.arange(8, device=self.device) & 1
        self._signs = (2 * bits - 1).to(self.dtype) / math.sqrt(self.d_e)

    def __call__(self, n: int, T: int, generator: torch.Generator) -> Float[Tensor, "{n} {self.d_e} {T}"]:
        """Return n draws of T encodings, (n, d_e, T)."""
        needed = n * self.d_e * T
        rows = -(-needed // _BITS) * (_BITS // 8)
        words = torch.empty(rows * 8 // _BITS, dtype=torch.int64, device=self.device)
        words.random_(0, 2**_BITS, generator=generator)
        # The highest byte of a word is not random.
        octets = words.view(torch.uint8).view(-1, 8)[:, : _BITS // 8].reshape(-1).to(torch.int32)
        memory = self._memory.get((n, T))
        if memory is None:
            memory = self._memory[n, T] = torch.empty(rows, 8, dtype=self.dtype, device=self.device)
        torch.index_select(self._signs, 0, octets, out=memory)
        return memory.view(-1)[:needed].view(n, self.d_e, T)


def draw_batch(
    n: int, q: int, d: int, encodings: Float[Tensor, "... d_e T"], generator: torch.Generator, dtype: torch.dtype
) -> Batch:
    """Return n random samples with the given encodings."""
    T = encodings.shape[-1]
    tokens = torch.randn(n, d, T, generator=generator, dtype=dtype, device=generator.device)
    # The indices of the q largest of independent random numbers are a uniformly random q-subset.
    keys = torch.rand(n, T, generator=generator, device=generator.device, dtype=torch.float64)
    return Batch(encodings, tokens, keys.topk(q, dim=1).indices)


@dataclass
class Validation:
    """A fixed validation set with a given length and subset size, and the function that draws its encodings."""

    encoding: str
    whole: Batch
    draw: Callable[[int], Float[Tensor, "... d_e T"]]

    @staticmethod
    def drawn(plan: Plan, seed: int, device: str, *, n: int, T: int, q: int) -> "Validation":
        """Draw the set.

        Raises
        ------
        InputError
            If q is not from 1 to T, or T is not the plan's with one-hot encoding.
        """
        if not 1 <= q <= T:
            raise InputError("q_test", q, f"must be from 1 to {T}, the number of tokens")
        if plan.encoding == "one_hot" and T != plan.T:
            raise InputError("T_test", T, f"must be T = {plan.T} for one-hot encoding")
        generator = generator_for(seed, f"validation {T} {q}", device)
        source = SignEncodings(plan.d_e, plan.precision, device)
        shared = None if plan.encoding == "stochastic" else shared_encodings(plan, seed, T, device)
        size = torch.empty(plan.d_e, T, dtype=plan.precision, device=device) if shared is None else shared
        whole = draw_batch(n, q, plan.d, size, generator, plan.precision)
        return Validation(plan.encoding, whole, lambda n: source(n, T, generator) if shared is None else shared)

    def losses(self, plan: Plan, W: Float[Tensor, "D D"], V: Float[Tensor, "d D"]) -> Float64[Tensor, "n"]:
        """Return the loss of each point in one forward pass, (n,), on the CPU."""
        losses = []
        for start in range(0, len(self.whole.tokens), _CHUNK):
            tokens, members = (part[start : start + _CHUNK] for part in self.whole[1:])
            losses.append(batch_losses(W, V, Batch(self.draw(len(tokens)), tokens, members), plan.attend))
        return torch.cat(losses).to(torch.float64).cpu()


def losses_at(
    plan: Plan, seed: int, device: str, run: list[Reading], *, n: int, T: int, q: int
) -> list[Float64[Tensor, "n"]]:
    """Return the validation losses at each reading."""
    validation = Validation.drawn(plan, seed, device, n=n, T=T, q=q)
    return [validation.losses(plan, reading.W, reading.V) for reading in run]


def loss_curve(plan: Plan, runs: list[list[Float64[Tensor, "n"]]], quantity: str = LOSS) -> Curve:
    """Return the curve of the mean loss over training, with standard errors over the points, or over several runs."""
    if len(runs) == 1:
        measured = [measurement(losses) for losses in runs[0]]
    else:
        measured = [
            measurement(torch.stack([losses.mean() for losses in reading])) for reading in zip(*runs, strict=True)
        ]
    return Curve(STEPS_TAKEN, quantity, tuple(map(float, plan.read)), tuple(measured), logarithmic=True)


def inverse(measured: Measurement) -> Measurement:
    """Return 1/L for a loss L, with its standard error to first order.

    Raises
    ------
    InputError
        If the loss is not above 0.
    """
    if not measured.value > 0:
        raise InputError("loss", measured.value, "has no inverse: the loss is exactly 0")
    error = measured.standard_error
    return Measurement(1 / measured.value, None if error is None else error / measured.value**2, measured.samples)


def late_change(runs: list[list[Float64[Tensor, "n"]]]) -> Measurement:
    """Return the change of the mean loss over the last quarter of the readings, with its error over runs or points."""
    changes = [losses[-1] - losses[3 * (len(losses) - 1) // 4] for losses in runs]
    return measurement(changes[0] if len(changes) == 1 else torch.stack([change.mean() for change in changes]))
