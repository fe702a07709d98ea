"""The least loss on the set V = (alpha I, 0), W = diag(0, C I) under several readings of "near-orthogonal" encodings.

Definition 3 asks for unit vectors with small inner products. The readings are:
- drawn afresh at every pass: independent `signs`, independent vectors uniform on the `sphere`, and `gaussian` ones,
  whose squared norm is random with mean 1;
- chosen: a `harmonic` frame, with rows of cosines and sines, and `simplices`, which are regular and in orthogonal
  spaces. The symmetry of gradient descent needs a random orthogonal matrix applied to these vectors at every pass, but
  this changes no inner product;
- one draw of signs E for all passes: `fixed`, and `whitened` with W = diag(0, C (E E')^{-1}), because for a fixed draw
  W need not be a multiple of I.

With attention p the layer's error is the sum of (alpha p_i - [i in y]/q) x_i, whose mean square over X is d times the
sum of the squared coefficients. So the loss is d/2 (alpha^2 R - 2 alpha P/q + 1/q), where P is the mean of the sum of
p_i over y and R the mean of the sum of all p_i^2. At the best alpha it is d/(2q) (1 - P^2/(qR)).
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.settings import at_least
from numerics.sparse_token_selection.reference import one_hot_encodings
from numerics.sparse_token_selection.settings import ATTEND, D_E, D, Q, T
from numerics.sparse_token_selection.stochastic import measurement, sign_encodings, sphere_encodings
from verify import Experiment, InputError, Measurement, Parameter, Setting, Source
from verify.language.parameters import Instance

_CHUNK_SAMPLES = 64
_SCALES = torch.logspace(-1, 3.5, 37, base=2, dtype=torch.float64)
"""The values of C that are tried; near the best one the loss is flat."""
_IRRATIONAL = math.sqrt(2)


class Layers(NamedTuple):
    """For sampled encodings: the logits at C = 1, (n, T), the subsets (n, T), and the largest |e_i . e_j|, i != j."""

    logits: Float64[Tensor, "n T"]
    subsets: Float64[Tensor, "n T"]
    coherence: Measurement


def gaussian_encodings(n: int, T: int, d_e: int, generator: torch.Generator) -> Float64[Tensor, "{n} {d_e} {T}"]:
    """Return n draws of T encodings N(0, I/d_e), (n, d_e, T).

    Raises
    ------
    InputError
        If a size is below 1.
    """
    for name, value in (("n", n), ("T", T), ("d_e", d_e)):
        at_least(name, value, 1)
    return torch.randn(n, d_e, T, generator=generator, device=generator.device, dtype=torch.float64) / math.sqrt(d_e)


def harmonic_frame(T: int, d_e: int) -> Float64[Tensor, "{d_e} {T}"]:
    """Return T unit vectors whose inner products have the least mean square that d_e dimensions allow, (d_e, T).

    The rows are cosines and sines with d_e/2 (rounded down) of the frequencies 1, 2, ... below T/2, and a constant row
    if d_e is odd. The chosen frequencies k are those with the smallest fractional parts of k^2 sqrt(2).

    Raises
    ------
    InputError
        Unless 1 <= d_e < T; the error names d_e.
    """
    _fewer(T, d_e, 1)
    among = torch.arange(1, (T - 1) // 2 + 1, dtype=torch.float64)
    kept = among[(among**2 * _IRRATIONAL % 1).argsort()[: d_e // 2]]
    angles = 2 * math.pi * kept[:, None] * torch.arange(T, dtype=torch.float64) / T
    rows = math.sqrt(2) * torch.cat([angles.cos(), angles.sin()])
    constant = torch.ones(d_e % 2, T, dtype=torch.float64)
    return torch.cat([constant, rows]) / math.sqrt(d_e)


def simplex_frame(T: int, d_e: int) -> Float64[Tensor, "{d_e} {T}"]:
    """Return the vertices of T - d_e regular simplices in orthogonal spaces, of sizes as equal as possible, (d_e, T).

    Two vertices of a simplex with g vertices have the inner product -1/(g - 1); those of different simplices have 0.

    Raises
    ------
    InputError
        Unless T/2 <= d_e < T; the error names d_e.
    """
    _fewer(T, d_e, -(-T // 2))
    count = T - d_e
    sizes = [T // count + (k < T % count) for k in range(count)]
    return torch.block_diag(*map(_simplex, sizes))


def _simplex(vertices: int) -> Float64[Tensor, "{vertices}-1 {vertices}"]:
    """Return the unit vertices of a regular simplex with centre 0, in coordinates of their span."""
    start = one_hot_encodings(vertices)
    start[:, 0] = 1
    basis, _ = torch.linalg.qr(start)
    return basis[:, 1:].T * math.sqrt(vertices / (vertices - 1))


def _fewer(T: int, d_e: int, least: int) -> None:
    if not least <= d_e < T:
        raise InputError(
            "d_e", d_e, f"must be from {least} to T - 1 = {T - 1}; from T on one-hot encodings are orthonormal"
        )


def random_subsets(n: int, T: int, q: int, generator: torch.Generator) -> Float64[Tensor, "{n} {T}"]:
    """Return the indicators of n uniformly random q-subsets of T tokens, (n, T)."""
    keys = torch.rand(n, T, generator=generator, device=generator.device, dtype=torch.float64)
    return torch.zeros_like(keys).scatter_(1, keys.argsort(dim=1)[:, :q], 1.0)


def _fresh(draw: Callable[..., Tensor], n: int, T: int, q: int, d_e: int, generator: torch.Generator) -> Layers:
    logits, subsets, largest = [], [], []
    for start in range(0, n, _CHUNK_SAMPLES):
        drawn = draw(min(_CHUNK_SAMPLES, n - start), T, d_e, generator)
        subsets.append(random_subsets(len(drawn), T, q, generator))
        query = torch.einsum("net,nt->ne", drawn, subsets[-1])
        logits.append(torch.einsum("net,ne->nt", drawn, query))
        # The coherence is taken from the first draw of each chunk.
        largest.append(_coherence(drawn[0].T @ drawn[0]))
    coherence = torch.stack(largest)
    return Layers(
        torch.cat(logits), torch.cat(subsets), measurement(coherence) if n > _CHUNK_SAMPLES else _exactly(coherence)
    )


def _kept(
    encodings: Callable[[int, int, torch.Generator], Tensor],
    whitened: bool,
    n: int,
    T: int,
    q: int,
    d_e: int,
    generator: torch.Generator,
) -> Layers:
    vectors = encodings(T, d_e, generator).to(generator.device)
    products = vectors.T @ vectors
    metric = vectors.T @ torch.linalg.pinv(vectors @ vectors.T) @ vectors if whitened else products
    subsets = random_subsets(n, T, q, generator)
    return Layers(subsets @ metric, subsets, _exactly(_coherence(products)))


def _coherence(products: Float64[Tensor, "T T"]) -> Float64[Tensor, ""]:
    return (products - torch.diag(products.diagonal())).abs().max()


def _exactly(value: Tensor) -> Measurement:
    return Measurement(float(value.mean()), 0.0, 1)


READINGS: Mapping[str, Callable[..., Layers]] = {
    "signs": partial(_fresh, sign_encodings),
    "sphere": partial(_fresh, sphere_encodings),
    "gaussian": partial(_fresh, gaussian_encodings),
    "harmonic": partial(_kept, lambda T, d_e, _: harmonic_frame(T, d_e), False),
    "simplices": partial(_kept, lambda T, d_e, _: simplex_frame(T, d_e), False),
    "fixed": partial(_kept, lambda T, d_e, generator: sign_encodings(1, T, d_e, generator)[0], False),
    "whitened": partial(_kept, lambda T, d_e, generator: sign_encodings(1, T, d_e, generator)[0], True),
}
"""Functions (n, T, q, d_e, generator) -> sampled `Layers`, by the reading of Definition 3."""


def attention(layers: Layers, C: float, attend: str) -> tuple[Float64[Tensor, "n"], Float64[Tensor, "n"]]:
    """Return, for each sample at W = C W*, the attention on y, and the sum of the squares of the tokens' attention."""
    logits = C * layers.logits
    if attend == "tokens_and_query":
        # The query's own logit is the sum of the selected tokens' logits.
        logits = torch.cat([logits, (logits * layers.subsets).sum(dim=1, keepdim=True)], dim=1)
    shares = torch.softmax(logits, dim=1)[:, : layers.subsets.shape[1]]
    return (shares * layers.subsets).sum(dim=1), shares.square().sum(dim=1)


def least_loss(layers: Layers, q: int, d: int, attend: str) -> tuple[Measurement, float]:
    """Return the loss at the best alpha and C, and that C, from at least 4 samples.

    C is chosen on one half of the samples, and the loss is measured on the other. The standard error is that of the
    loss linearised in the sampled means P and R.
    """
    n = len(layers.subsets) // 2
    chosen_on, measured_on = (
        layers._replace(logits=layers.logits[rows], subsets=layers.subsets[rows]) for rows in (slice(n), slice(n, None))
    )
    gains = [
        float(one.mean() ** 2 / two.mean()) for one, two in (attention(chosen_on, float(C), attend) for C in _SCALES)
    ]
    C = float(_SCALES[max(range(len(gains)), key=gains.__getitem__)])
    selected, squares = attention(measured_on, C, attend)
    P, R = float(selected.mean()), float(squares.mean())
    linear = 2 * P / (q * R) * selected - P**2 / (q * R**2) * squares
    error = d / (2 * q) * float(linear.std(correction=1)) / math.sqrt(len(linear))
    return Measurement(d / (2 * q) * (1 - P**2 / (q * R)), error, len(linear)), C


def _readings(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    length, q, d, d_e, samples = (int(settings[name]) for name in ("T", "q", "d", "d_e", "samples"))
    if q > length:
        raise InputError("q", q, f"must be at most T = {length}")
    found = {}
    for name, draw in READINGS.items():
        # All readings get the same random numbers.
        layers = draw(samples, length, q, d_e, torch.Generator(device).manual_seed(seed))
        loss, C = least_loss(layers, q, d, str(settings["attend"]))
        found |= {f"loss_{name}": loss, f"C_{name}": Measurement(C, 0.0, 1), f"coherence_{name}": layers.coherence}
    return found


encoding_readings = Experiment(
    id="wang2024.encoding_readings",
    title="The least loss on the set V = alpha V*, W = C W* under several readings of Definition 3, for d_e < T",
    source=Source("Definition 3", "printed", None, "arXiv 2406.06893; what it leaves open is varied"),
    settings=(
        Setting(T, 40, 200),
        Setting(Q, 3, 3),
        Setting(D, 5, 5),
        Setting(D_E, 34, 170),
        Setting(ATTEND, "tokens_and_query", "tokens_and_query"),
        Setting(Parameter("samples", "integer", "sampled encodings and subsets", minimum=4), 2000, 20_000),
    ),
    measure=_readings,
)
