"""The physical limits of this machine: the measured bandwidth of a copy and rate of a matrix product."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from tests.benchmarks.timing import awaited, seconds_of


@dataclass(frozen=True)
class Limit:
    """An amount of bytes, limited by the bandwidth of a copy, or of operations, limited by the rate of a product."""

    name: str
    amount: float
    kind: Literal["bytes", "operations"]

    def seconds(self, device: str) -> float:
        """Return the least time that the machine needs for this amount; operations are in float64."""
        return self.amount / rates(device)["copy_bytes" if self.kind == "bytes" else "float64_operations"]


@cache
def rates(device: str) -> dict[str, float]:
    """Return the bytes that a copy reads and writes per second, and the operations per second of matrix products."""
    if device == "cuda":
        return _on_cuda()
    source = np.ones(2**25)
    target = np.empty_like(source)
    found = {"copy_bytes": 2 * source.nbytes / min(seconds_of(lambda: np.copyto(target, source), 5))}
    for kind in ("float32", "float64"):
        a = np.ones((2048, 2048), dtype=kind)
        product = np.empty_like(a)
        found[f"{kind}_operations"] = 2 * 2048**3 / min(seconds_of(lambda a=a, to=product: np.matmul(a, a, out=to), 5))
    return found


def _on_cuda() -> dict[str, float]:
    import torch

    source = torch.ones(2**27, dtype=torch.float64, device="cuda")
    target = torch.empty_like(source)
    found = {"copy_bytes": 16 * source.numel() / min(seconds_of(awaited("cuda", lambda: target.copy_(source)), 5))}
    for kind in ("float32", "float64"):
        a = torch.ones((8192, 8192), dtype=getattr(torch, kind), device="cuda")
        found[f"{kind}_operations"] = 2 * 8192**3 / min(seconds_of(awaited("cuda", lambda a=a: a @ a), 5))
    return found
