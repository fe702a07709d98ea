"""Counter-based batches: a step's batch depends only on a key and the step's number, and is the same on every device.

A sample's words are, in this order: the bits of its encodings, if it has its own; two words for every two entries of
its tokens; and two words for each member of its subset. The bits are arranged in squares of sixteen tokens by sixteen
dimensions. A square has sixteen words, one for each token, of 16 bits, one for each dimension. Plane i has word i of
every square.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float64, Int32, Int64
from torch import Tensor

from numerics import philox_tensors
from numerics.compiled import compiled, exactly
from numerics.philox import gaussians, philox, subset
from numerics.settings import at_least, counted
from verify import InputError

SIDE = 16
"""Number of tokens, and of dimensions, of a square of bits: a word has 16 bits."""
_AHEAD = 2**22
"""Maximum number of words that a GPU draws at a time, unless one step needs more; drawing fewer would take as long."""
_MOST_AHEAD = 64
"""Maximum number of steps that are drawn at a time."""


class Batch(NamedTuple):
    """Encodings (d_e, T), shared, or (n, d_e, T); tokens (n, d, T); the indices of the selected tokens (n, q)."""

    encodings: Float[Tensor, "... d_e T"]
    tokens: Float[Tensor, "n d T"]
    members: Int64[Tensor, "n q"]


class Sizes(NamedTuple):
    """The numbers of samples in a batch, of tokens and of selected tokens; the dimensions of tokens and encodings."""

    n: int
    T: int
    q: int
    d: int
    d_e: int


@exactly
def squares(count: int) -> int:
    """Return the number of squares of bits along `count` tokens or dimensions."""
    return -(-count // SIDE)


@exactly
def plane_words(T: int, d_e: int) -> int:
    """Return the number of words of 16 bits in a plane: one for each square, rounded up to a multiple of 4."""
    return -(-squares(T) * squares(d_e) // 4) * 4


@exactly
def block_count(plane: int, pairs: int, q: int) -> int:
    """Return the number of blocks of four words of a sample, for planes of bits, pairs of Gaussians and members."""
    return -(-(8 * plane + 2 * pairs + 2 * q) // 4)


@compiled
def draw(
    key: Any, step: Any, sample: Any, T: int, plane: int, words: Any, work: Any, tokens: Any, members: Any
) -> None:
    """Draw a sample.

    Parameters
    ----------
    words
        Memory for the sample's words, (4, blocks) of uint32. The first are the encodings' bits, (16, plane) words of
        16 bits. For shared encodings `plane` is 0, and there are no bits.
    work, tokens
        Memory (pairs,), and the output (2 pairs,), of which d T numbers are used.
    members
        The output, (q,).
    """
    philox(key, sample, step, words)
    pairs, q, row = len(work), len(members), words.reshape(-1)
    signs, normals = 8 * plane, 2 * pairs
    gaussians(row[signs : signs + normals], work, tokens)
    subset(row[signs + normals : signs + normals + 2 * q], T, members)


@exactly
def _draw_all(key: Any, step: Any, T: int, plane: int, words: Any, work: Any, tokens: Any, members: Any) -> None:
    """Draw one sample for each row of `words`."""
    for sample in range(len(words)):
        draw(key, step, sample, T, plane, words[sample], work, tokens[sample], members[sample])


class _Drawn(NamedTuple):
    """The words (n, count) of n samples, bits first; the tokens' numbers, (n, ≥ d T); and the members (n, q)."""

    words: Int32[Tensor, "n words"]
    tokens: Float64[Tensor, "n numbers"]
    members: Int64[Tensor, "n q"]


@dataclass(frozen=True, eq=False)
class Batches:
    """The batches of a key, one for each step, in any order.

    `encodings`, (d_e, T), are shared by all samples; without them each sample has its own encodings of random signs.

    Raises
    ------
    InputError
        If a size is below 1, q is above T, the key is not of 64 bits, the type is neither float32 nor float64, or the
        encodings have another shape, type or device.
    """

    sizes: Sizes
    key: int
    dtype: torch.dtype
    encodings: Float[Tensor, "d_e T"] | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name, size in self.sizes._asdict().items():
            at_least(name, size, 1)
        if self.sizes.q > self.sizes.T:
            raise InputError("q", self.sizes.q, f"must be at most T = {self.sizes.T}")
        counted(self.key)
        if self.dtype not in (torch.float32, torch.float64):
            raise InputError("dtype", self.dtype, "must be torch.float32 or torch.float64")
        if self.encodings is not None:
            fitting("encodings", self.encodings, (self.sizes.d_e, self.sizes.T), self.dtype, self.device)

    @property
    def _plane(self) -> int:
        return 0 if self.encodings is not None else int(plane_words(self.sizes.T, self.sizes.d_e))

    @property
    def _pairs(self) -> int:
        return -(-self.sizes.d * self.sizes.T // 2)

    @property
    def on_cpu(self) -> bool:
        """Whether batches are drawn by the compiled kernel."""
        return torch.device(self.device).type == "cpu"

    @cached_property
    def _ahead(self) -> dict[str, Any]:
        """The cached draws of some steps: `steps`, and their `_Drawn`, with a row for each step."""
        return {"steps": range(0)}

    @cached_property
    def memory(self) -> list[Any]:
        """The arrays that `gradient_kernel` uses again at each step, because fresh memory takes a quarter of a step."""
        return []

    def drawn(self, step: int) -> Batch:
        """Return a step's batch.

        Raises
        ------
        InputError
            If the step is not an integer from 0 to 2⁶³ - 1.
        """
        counted(self.key, step)
        n, T, _, d, _ = self.sizes
        words, tokens, members = self._compiled(step) if self.on_cpu else self.by_tensors(step)
        shaped = tokens[:, : d * T].to(self.dtype).reshape(n, d, T)
        return Batch(self._signs(words) if self.encodings is None else self.encodings, shaped, members)

    def _compiled(self, step: int) -> _Drawn:
        n, T, q, _, _ = self.sizes
        words = np.empty((n, 4, block_count(self._plane, self._pairs, q)), np.uint32)
        tokens, members = np.empty((n, 2 * self._pairs)), np.empty((n, q), np.int64)
        _draw_all(np.uint64(self.key), step, T, self._plane, words, np.empty(self._pairs), tokens, members)
        return _Drawn(torch.from_numpy(words.view(np.int32)).flatten(1), *map(torch.from_numpy, (tokens, members)))

    def by_tensors(self, step: int) -> _Drawn:
        """Draw a step by tensor operations, as on a GPU, several steps at a time."""
        if step not in self._ahead["steps"]:
            n, T, q, _, _ = self.sizes
            signs, normals = 8 * self._plane, 2 * self._pairs
            count = signs + normals + 2 * q
            steps = range(step, min(step + max(1, min(_MOST_AHEAD, _AHEAD // (n * count))), 2**63))
            blocks = philox_tensors.by_tensors(self.key, steps, range(n), -(-count // 4), self.device)
            words = blocks.flatten(2)
            tokens = philox_tensors.gaussians_by_tensors(words[..., signs : signs + normals])
            members = philox_tensors.subsets(words[..., signs + normals : count], T)
            self._ahead.update(steps=steps, drawn=_Drawn(words[..., :signs].to(torch.int32), tokens, members))
        row = step - self._ahead["steps"].start
        return _Drawn(*(part[row] for part in self._ahead["drawn"]))

    def _signs(self, words: Int32[Tensor, "n words"]) -> Float[Tensor, "n {self.sizes.d_e} {self.sizes.T}"]:
        """Return the encodings (n, d_e, T) that words of 32 bits, given as int32, stand for."""
        n, T, _, _, d_e = self.sizes
        across, along = squares(T), squares(d_e)
        # As int16, the lower half of a word comes first.
        sixteens = words[:, : 8 * self._plane].contiguous().view(torch.int16).view(n, SIDE, self._plane)
        planes = sixteens[:, :, : across * along].view(n, SIDE, across, along).permute(0, 3, 2, 1)
        bits = planes[:, :, None] >> torch.arange(SIDE, dtype=torch.int16, device=words.device)[:, None, None] & 1
        one = torch.full((), 1 / math.sqrt(d_e), dtype=self.dtype, device=words.device)
        return torch.where(bits.reshape(n, along * SIDE, across * SIDE)[:, :d_e, :T] == 1, one, -one).contiguous()


def fitting(name: str, matrix: Tensor, shape: tuple[int, ...], dtype: torch.dtype, device: str) -> None:
    """Check that a matrix has the given shape, type and kind of device.

    Raises
    ------
    InputError
        If it does not.
    """
    kind = torch.device(device).type
    if matrix.shape != shape or matrix.dtype != dtype or matrix.device.type != kind:
        received = tuple(matrix.shape), matrix.dtype, matrix.device.type
        on = "on the CPU" if kind == "cpu" else f"on {kind}"
        raise InputError(name, received, f"must be of shape {shape} and {dtype}, {on}")
