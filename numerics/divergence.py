"""The first step of a training whose loss is not finite."""

import torch
from jaxtyping import Float
from torch import Tensor

from verify import InputError

_LOOKS, _NEVER = 256, 2**62
"""Steps after which a card is asked whether a loss was finite; a step that is never reached."""


class Divergence:
    """Remembers the first step whose loss is not finite. A card is waited for now and then only, the CPU each time."""

    def __init__(self, eta: float, device: str) -> None:
        self._eta, self._every = eta, 1 if torch.device(device).type == "cpu" else _LOOKS
        self._first: Tensor | None = None

    def look(self, loss: Float[Tensor, ""], step: int) -> None:
        """Remember a step if its loss is not finite.

        Raises
        ------
        InputError
            For a loss that is not finite; on a card within 256 steps.
        """
        diverged = torch.where(loss.isfinite(), _NEVER, step)
        self._first = diverged if self._first is None else torch.minimum(self._first, diverged)
        if step % self._every == 0:
            self.check()

    def check(self) -> None:
        """Wait for the values that have been looked at.

        Raises
        ------
        InputError
            Where a loss so far was not finite: names eta, and the first such step.
        """
        if self._first is not None and (step := int(self._first)) < _NEVER:
            raise InputError("eta", self._eta, f"training diverges: no finite loss at step {step}")
