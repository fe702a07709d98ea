"""Fully-connected nets for the task: trained nets, and constructed first layers whose outputs a decoder can invert.

A net's input is (vec X, 1_y), with vec X as in `linear_measurements`; its first layer has `width` units. If y is read
"together", the first layer reads both. If it is read "apart", the first layer reads vec X, and the second layer reads
the first layer's outputs and 1_y. All numbers are float64.
"""

import math
from collections.abc import Callable
from itertools import count, pairwise
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from numerics.settings import at_least
from numerics.sparse_token_selection.linear_measurements import all_subsets, regression
from numerics.sparse_token_selection.reference import sample_batch, target
from verify.errors import InputError

Design = Literal["one_more", "pairs", "none_more"]
DESIGNS = ("one_more", "pairs", "none_more")
READINGS = ("together", "apart")
_HALVINGS = 80
_WHOLE_LINE = 40.0
"""Bound of the interval on which the activation is inverted; measurements of variance 1 are in practice far inside.

An activation that is flat in float64 before this bound, such as tanh, is in effect inverted on a smaller interval.
"""
_WIDEST = 2**32
"""Largest range of codes: inverting an activation has an error of about 10⁻¹⁴ of the range, here 10⁻⁴."""


class Activation(NamedTuple):
    """A function f, an interval on which it increases, whether it increases on the whole line, and its centre.

    f(centre + x) - f(centre - x) increases in x; the centre is None if there is no such point.
    """

    function: Callable[[Tensor], Tensor]
    low: float
    high: float
    monotone: bool
    centre: float | None = 0


ACTIVATIONS = {
    "linear": Activation(lambda x: x, -1, 1, True),
    "relu": Activation(torch.relu, 0, 1, False),
    "leaky_relu": Activation(nn.functional.leaky_relu, -1, 1, True),
    "tanh": Activation(torch.tanh, -1, 1, True),
    "sigmoid": Activation(torch.sigmoid, -1, 1, True),
    "softplus": Activation(nn.functional.softplus, -1, 1, True),
    "elu": Activation(nn.functional.elu, -1, 1, True),
    "gelu": Activation(nn.functional.gelu, 0, 1, False),
    "silu": Activation(nn.functional.silu, 0, 1, False),
    "square": Activation(torch.square, 1, 2, False, centre=1),
    "cubic": Activation(lambda x: x**3 - x, 1, 2, False, centre=1),
    "sine": Activation(torch.sin, -1, 1, False, centre=None),
}


class Net(nn.Module):
    """A net of `depth` hidden layers, the first of `width` units and the others of `hidden`, then a linear layer."""

    def __init__(
        self, T: int, d: int, *, width: int, depth: int, hidden: int, activation: str, reads: str = "together"
    ) -> None:
        super().__init__()
        for name, value in (("T", T), ("d", d), ("width", width), ("depth", depth), ("hidden", hidden)):
            at_least(name, value, 1)
        if reads not in READINGS:
            raise InputError("reads", reads, f"must be one of {', '.join(READINGS)}")
        self.function, self.apart = _activation(activation).function, reads == "apart"
        sizes = [width + T * self.apart, *[hidden] * (depth - 1), d]
        self.first = nn.Linear(d * T + T * (not self.apart), width, dtype=torch.float64)
        self.others = nn.ModuleList(nn.Linear(before, after, dtype=torch.float64) for before, after in pairwise(sizes))

    def forward(self, tokens: Float[Tensor, "n d T"], subsets: Float[Tensor, "n T"]) -> Float[Tensor, "n d"]:
        """Return f(X, y), (n, d), for tokens (n, d, T) and indicators (n, T)."""
        X = tokens.flatten(1)
        inside = self.function(self.first(X if self.apart else torch.cat([X, subsets], dim=1)))
        inside = torch.cat([inside, subsets], dim=1) if self.apart else inside
        for layer in self.others[:-1]:
            inside = self.function(layer(inside))
        return self.others[-1](inside)


def net_losses(net: nn.Module, tokens: Float[Tensor, "n d T"], subsets: Float[Tensor, "n T"]) -> Float[Tensor, "n"]:
    """Return 1/2 ||f(X, y) - STS(X, y)||^2 of each sample, (n,)."""
    return (net(tokens, subsets) - target(tokens, subsets)).square().sum(dim=1) / 2


def train_net(
    net: Net, T: int, q: int, d: int, *, steps: int, batch: int, eta: float, generator: torch.Generator
) -> None:
    """Train by Adam on fresh batches, with a cosine schedule of the step size down to 0.

    Raises
    ------
    InputError
        If `steps` is below 1, or training diverges; the latter error names eta and the step.
    """
    at_least("steps", steps, 1)
    optimizer = torch.optim.Adam(net.parameters(), lr=eta)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(steps):
        loss = net_losses(net, *sample_batch(batch, T, q, d, generator)).mean()
        if not bool(loss.isfinite()):
            raise InputError("eta", eta, f"training diverges: no finite loss at step {step}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()


def initialise(net: Net, generator: torch.Generator) -> None:
    """Draw all weights and biases from U(-1/sqrt(n), 1/sqrt(n)), n the layer's number of inputs: PyTorch's default."""
    with torch.no_grad():
        for layer in (net.first, *net.others):
            bound = 1 / math.sqrt(layer.in_features)
            for part in (layer.weight, layer.bias):
                part.copy_(  # pyright: ignore[reportCallIssue]
                    (2 * torch.rand(part.shape, generator=generator, dtype=part.dtype, device=part.device) - 1) * bound  # pyright: ignore[reportCallIssue]
                )


def subset_code(T: int, q: int) -> tuple[list[int], int]:
    """Return T integers such that different q-subsets have different sums, and an upper bound on these sums.

    The integers are 2^i or, if this gives a smaller bound, numbers whose digits are the residues of i, i^2 .. i^q
    modulo a prime that is at least T. In a sum of q of these numbers no digit carries, and power sums determine a set
    (Newton's identities).

    Raises
    ------
    InputError
        If T is below 1, or q is not from 1 to T.
    """
    at_least("T", T, 1)
    if not isinstance(q, int) or not 1 <= q <= T:
        raise InputError("q", q, f"must be an integer >= 1 and <= {T}")
    prime = next(r for r in count(T) if all(r % divisor for divisor in range(2, math.isqrt(r) + 1)))
    base = q * (prime - 1) + 1
    if base**q < 2**T:
        return [sum(pow(i, k + 1, prime) * base**k for k in range(q)) for i in range(T)], base**q
    return [2**i for i in range(T)], 2**T


def first_layer(
    design: Design, activation: str, measurements: Float[Tensor, "m dT"], T: int, q: int, *, spacing: float = 0.0
) -> tuple[Float[Tensor, "width dT"], Float[Tensor, "width {T}"], Float[Tensor, "width"]]:
    """Return weights on vec X (width, d T), weights on 1_y (width, T) and biases (width,) of a first layer.

    The units read u = A vec X, with the measurements A, and the code c of y, the sum of the numbers of `subset_code`
    over y, with a bound c_0:

    - one_more: u, and c in one more unit, mapped from [0, c_0] to the interval on which the activation increases; for
      activations that increase on the whole line;
    - pairs: b + u and b - u, with b the activation's centre, and c as in one_more; for activations with a centre;
    - none_more: u with spacing * c added to its first entry. A range that contains the values with probability close
      to 1 is mapped to the interval on which the activation increases. Only this design has a spacing.

    Raises
    ------
    InputError
        If there are no measurements, the design, activation or spacing does not fit, or float64 does not resolve the
        codes.
    """
    reading = _designed(design, activation, T, q, spacing, like=measurements)
    m, chosen, code = len(measurements), reading.activation, reading.code
    at_least("m", m, 1)
    if design != "none_more":
        parts = [measurements] if design == "one_more" else [measurements, -measurements]
        on_X = torch.cat([*parts, torch.zeros_like(measurements[:1])])
        on_y = torch.zeros(len(on_X), T, dtype=code.dtype, device=code.device)
        on_y[-1] = (chosen.high - chosen.low) * code / reading.below
        bias = torch.full_like(on_X[:, 0], (chosen.centre or 0) if design == "pairs" else 0)
        bias[-1] = chosen.low
        return on_X, on_y, bias
    on_y = torch.zeros(m, T, dtype=code.dtype, device=code.device)
    on_y[0] = spacing * code
    low, scale = _window(reading, m, spacing)
    return measurements * scale[:, None], on_y * scale[:, None], chosen.low - low * scale


def read_off(
    design: Design, activation: str, outputs: Float[Tensor, "n width"], T: int, q: int, *, spacing: float = 0.0
) -> tuple[Float[Tensor, "n m"], Int64[Tensor, "n"]]:
    """Return the measurements (n, m) and the places (n,) of the subsets in `all_subsets`, from a first layer's outputs.

    The activation is inverted by bisection, and the code is rounded to the nearest code of a q-subset.

    Raises
    ------
    InputError
        If the design, activation or spacing does not fit, or float64 does not resolve the codes.
    """
    reading = _designed(design, activation, T, q, spacing, like=outputs)
    chosen, codes = reading.activation, all_subsets(T, q, device=outputs.device) @ reading.code
    if design == "none_more":
        low, scale = _window(reading, outputs.shape[1], spacing)
        read = _inverse(chosen.function, outputs, chosen.low, chosen.high)
        read = (read - chosen.low) / scale + low
        place = (read[:, :1] - spacing * codes).abs().argmin(dim=1)
        return torch.cat([read[:, :1] - spacing * codes[place, None], read[:, 1:]], dim=1), place
    code = _inverse(chosen.function, outputs[:, -1:], chosen.low, chosen.high)
    code = (code - chosen.low) / (chosen.high - chosen.low)
    if design == "pairs":
        m, centre = outputs.shape[1] // 2, chosen.centre or 0

        def odd(x: Tensor) -> Tensor:
            return chosen.function(centre + x) - chosen.function(centre - x)

        read = _inverse(odd, outputs[:, :m] - outputs[:, m : 2 * m], -_WHOLE_LINE, _WHOLE_LINE)
    else:
        read = _inverse(chosen.function, outputs[:, :-1], -_WHOLE_LINE, _WHOLE_LINE)
    return read, (reading.below * code - codes).abs().argmin(dim=1)


def decoded_losses(
    design: Design,
    activation: str,
    measurements: Float[Tensor, "m dT"],
    tokens: Float[Tensor, "n d T"],
    subsets: Float[Tensor, "n T"],
    *,
    spacing: float = 0.0,
) -> Float[Tensor, "n"]:
    """Return 1/2 ||f - STS||^2 of each sample, (n,), for the regression f on u and y decoded from the first layer.

    The rows of the measurements must have norm 1. Only the first layer's outputs reach the decoder.

    Raises
    ------
    InputError
        If `first_layer` raises it.
    """
    T, q = subsets.shape[1], int(subsets[0].sum())
    on_X, on_y, bias = first_layer(design, activation, measurements, T, q, spacing=spacing)
    outputs = _activation(activation).function(tokens.flatten(1) @ on_X.T + subsets @ on_y.T + bias)
    read, place = read_off(design, activation, outputs, T, q, spacing=spacing)
    matrices = regression(measurements, all_subsets(T, q, device=tokens.device))
    decoded = torch.einsum("nkm,nm->nk", matrices[place], read)
    return (decoded - target(tokens, subsets)).square().sum(dim=1) / 2


class _Reading(NamedTuple):
    """An activation, the code's numbers (T,), float64, and an upper bound on the codes of q-subsets."""

    activation: Activation
    code: Float[Tensor, "T"]
    below: int


def _designed(design: str, activation: str, T: int, q: int, spacing: float, *, like: Float[Tensor, "..."]) -> _Reading:
    """Return a first layer's activation and code of y. Raises InputError if its outputs would not determine y or u."""
    chosen = _activation(activation)
    fits = {
        "one_more": [name for name, each in ACTIVATIONS.items() if each.monotone],
        "pairs": [name for name, each in ACTIVATIONS.items() if each.centre is not None],
        "none_more": list(ACTIVATIONS),
    }
    if design not in DESIGNS:
        raise InputError("design", design, f"must be one of {', '.join(DESIGNS)}")
    if activation not in fits[design]:
        raise InputError("activation", activation, f"must be one of {', '.join(fits[design])} (design {design})")
    if design == "none_more" and not spacing > 0:
        raise InputError("spacing", spacing, "must be > 0 (design none_more)")
    if design != "none_more" and spacing:
        raise InputError("spacing", spacing, f"must be 0 (design {design})")
    code, below = subset_code(T, q)
    if below > _WIDEST / (spacing or 1):
        reached = f"2^{math.log2(below):.4g}" + (f" * {spacing:g}" if spacing else "")
        raise InputError("T", T, f"must be so small that codes of {q}-subsets, here up to {reached}, are up to 2^32")
    return _Reading(chosen, torch.tensor(code, dtype=like.dtype, device=like.device), below)


def _window(reading: _Reading, m: int, spacing: float) -> tuple[Float[Tensor, "{m}"], Float[Tensor, "{m}"]]:
    """Return the lower end of each unit's values, (m,), and the scales, (m,), that map the values onto the interval."""
    # The absolute value of a measurement of variance 1 exceeds 9 with probability 2e-19.
    low = torch.full((m,), -9.0, dtype=reading.code.dtype, device=reading.code.device)
    high = -low
    high[0] = high[0] + spacing * reading.below
    return low, (reading.activation.high - reading.activation.low) / (high - low)


def _inverse(
    function: Callable[[Tensor], Tensor], values: Float[Tensor, "*shape"], low: float, high: float
) -> Float[Tensor, "*shape"]:
    """Return by bisection the arguments at which an increasing function has the values; an end if out of range."""
    lower, upper = torch.full_like(values, low), torch.full_like(values, high)
    for _ in range(_HALVINGS):
        middle = (lower + upper) / 2
        above = function(middle) > values
        lower, upper = torch.where(above, lower, middle), torch.where(above, middle, upper)
    return (lower + upper) / 2


def _activation(name: str) -> Activation:
    if name not in ACTIVATIONS:
        raise InputError("activation", name, f"must be one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]
