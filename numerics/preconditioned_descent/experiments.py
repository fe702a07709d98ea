"""Experiments with the attention of `reference.py`: losses at given weights, and the paper's training.

Spectra of Sigma: `even`, evenly spaced from 1 to `least`, and `printed`, the paper's 1, 1, 1/4, 1/16, 1.
"""

import math
from collections.abc import Iterator, Mapping

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from numerics.preconditioned_descent.reference import (
    Activation,
    Layers,
    in_context_errors,
    pattern,
    sample,
)
from verify import Experiment, InputError, Measurement, Parameter, Setting, Source
from verify.language.parameters import Instance

SOURCE = Source("Sections 2 to 5", "recalled", None, "arXiv 2306.00297; assembled as in `reference`")
PRINTED_SPECTRUM = (1, 1, 1 / 4, 1 / 16, 1)

L = Parameter("L", "integer", "number of layers", minimum=1)
D = Parameter("d", "integer", "dimension of a token", minimum=1)
N = Parameter("n", "integer", "number of labelled tokens in a prompt", minimum=1)
SPECTRUM = Parameter("spectrum", "word", "eigenvalues of Sigma", words=("printed", "even"))
LEAST = Parameter("least", "rational", "last of Sigma's eigenvalues if these are even", above=0)
PRIOR = Parameter("prior", "word", "covariance of w*: Sigma^-1 or I", words=("inverse", "identity"))
TRAINED = Parameter("trained", "word", "trained matrices; if B is not trained, B_l = 0", words=("A_and_B", "A"))
CLIP = Parameter("clip", "rational", "largest Frobenius norm of a matrix's gradient", above=0)
PROMPTS = Parameter("prompts", "integer", "independent prompts over which the loss is averaged", minimum=2)

_CHUNK_ELEMENTS = 2**22


def eigenvalues(spectrum: str, size: int, least: float, device: str = "cpu") -> Float64[Tensor, "{size}"]:
    """Return the eigenvalues of Sigma, (size,).

    Raises
    ------
    InputError
        If the spectrum is the printed one and `size` is not its dimension; the error names d.
    """
    if spectrum == "printed":
        if size != len(PRINTED_SPECTRUM):
            raise InputError("d", size, f"must be {len(PRINTED_SPECTRUM)} with the printed spectrum")
        return torch.tensor(PRINTED_SPECTRUM, dtype=torch.float64, device=device)
    return evenly_spaced(1, least, size, device)


def evenly_spaced(first: float, last: float, count: int, device: str = "cpu") -> Float64[Tensor, "{count}"]:
    """Return `count` evenly spaced numbers from `first` to `last`, (count,); only `first` if `count` is 1."""
    return first + (last - first) / max(count - 1, 1) * torch.arange(count, dtype=torch.float64, device=device)


def distance_to_identity(matrix: Float64[Tensor, "d d"]) -> Float64[Tensor, ""]:
    """Return min_t |M - tI| / |M| in the Frobenius norm, (); the best t is the mean of the diagonal."""
    size = len(matrix)
    nearest = matrix.trace() / size * torch.eye(size, dtype=matrix.dtype, device=matrix.device)
    return torch.linalg.matrix_norm(matrix - nearest) / torch.linalg.matrix_norm(matrix)


def random_rotation(size: int, generator: torch.Generator) -> Float64[Tensor, "{size} {size}"]:
    """Return a uniformly random orthogonal matrix, (size, size)."""
    gaussian = torch.randn(size, size, generator=generator, dtype=torch.float64, device=generator.device)
    Q, R = torch.linalg.qr(gaussian)
    # Signs that make R's diagonal positive make the factorisation unique, and Q's distribution rotation-invariant.
    return Q * R.diagonal().sign()


def singular_vectors(size: int, generator: torch.Generator) -> Float64[Tensor, "{size} {size}"]:
    """Return the left singular vectors, in columns, of a matrix with entries uniform on [-1, 1], (size, size)."""
    uniform = torch.rand(size, size, generator=generator, dtype=torch.float64, device=generator.device)
    return torch.linalg.svd(2 * uniform - 1).U


def clipped(gradient: Float[Tensor, "L d d"], largest: float) -> Float[Tensor, "L d d"]:
    """Return the matrices (L, d, d), each scaled down to the Frobenius norm `largest` if its norm is larger."""
    norms = torch.linalg.matrix_norm(gradient, keepdim=True)
    return gradient * torch.where(norms > largest, largest / norms, 1.0)


def _fresh_errors(
    layers: Layers,
    n: int,
    covariance: Float64[Tensor, "d d"],
    prior: Float64[Tensor, "d d"],
    *,
    prompts: int,
    generator: torch.Generator,
    activation: Activation = None,
) -> Float64[Tensor, "{prompts}"]:
    """Return the squared errors on fresh prompts, (prompts,), sampled in chunks."""
    most = max(1, _CHUNK_ELEMENTS // ((n + 1) * (n + 1 + len(covariance))))
    chunks = [most] * (prompts // most) + [prompts % most] * (prompts % most > 0)
    with torch.no_grad():
        return torch.cat(
            [
                in_context_errors(layers, *sample(chunk, n, covariance, prior, generator), activation=activation)
                for chunk in chunks
            ]
        )


def _measurement(values: Float64[Tensor, "n"]) -> Measurement:
    """Return the mean of independent values (n,), and its standard error."""
    return Measurement(float(values.mean()), float(values.std(correction=1)) / math.sqrt(len(values)), len(values))


def _linear(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    count, size, n = (int(settings[name]) for name in ("L", "d", "n"))
    spectrum = eigenvalues(str(settings["spectrum"]), size, float(settings["least"]), device)
    identity = torch.eye(size, dtype=torch.float64, device=device)
    steps = evenly_spaced(float(settings["a_first"]), float(settings["a_last"]), count, device)
    layers = pattern(
        steps[:, None, None] * (1 / spectrum).diag(), float(settings["b"]) * identity.expand(count, size, size)
    )
    errors = _fresh_errors(
        layers,
        n,
        spectrum.diag(),
        (1 / spectrum).diag() if settings["prior"] == "inverse" else identity,
        prompts=int(settings["prompts"]),
        generator=torch.Generator(device).manual_seed(seed),
    )
    return {"loss": _measurement(errors)}


linear_transformer = Experiment(
    id="ahn2023.linear_transformer",
    title="Loss of linear attention at P_l = diag(b I, 1), Q_l = -diag(a_l Sigma^-1, 0), from fresh prompts",
    source=SOURCE,
    settings=(
        Setting(L, 2, 3),
        Setting(D, 2, 5),
        Setting(N, 10, 20),
        Setting(SPECTRUM, "even", "printed"),
        Setting(LEAST, "1/4", "1/4"),
        Setting(PRIOR, "inverse", "inverse"),
        Setting(Parameter("a_first", "rational", "a_0; the a_l are evenly spaced"), "1/2", "1/2"),
        Setting(Parameter("a_last", "rational", "a_{L-1}, where L > 1"), "1/2", "1/2"),
        Setting(Parameter("b", "rational", "coefficient of the identity in every B_l"), 0, 0),
        Setting(PROMPTS, 20_000, 1_000_000),
    ),
    measure=_linear,
)


def _relu(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    size, n = int(settings["d"]), int(settings["n"])
    identity = torch.eye(size, dtype=torch.float64, device=device)
    errors = _fresh_errors(
        pattern(float(settings["a"]) * identity[None]),
        n,
        identity,
        identity,
        prompts=int(settings["prompts"]),
        generator=torch.Generator(device).manual_seed(seed),
        activation="relu",
    )
    return {"loss": _measurement(errors)}


relu_transformer = Experiment(
    id="ahn2023.relu_transformer",
    title="Loss of one layer of ReLU attention at P = diag(0, 1), Q = -a diag(I, 0), Sigma = I, from fresh prompts",
    source=SOURCE,
    settings=(
        Setting(D, 2, 5),
        Setting(N, 10, 20),
        Setting(Parameter("a", "rational", "coefficient of the identity in -Q"), 1, 1),
        Setting(PROMPTS, 20_000, 1_000_000),
    ),
    measure=_relu,
)


def _trained(
    settings: Instance, covariance: Float64[Tensor, "d d"], prior: Float64[Tensor, "d d"], generator: torch.Generator
) -> tuple[Float64[Tensor, "L d d"], Float64[Tensor, "L d d"] | None]:
    """Return A and, if trained, B, (L, d, d), after one training."""
    count, size, n = (int(settings[name]) for name in ("L", "d", "n"))
    shape = count, size, size
    trained = ("A", "B") if settings["trained"] == "A_and_B" else ("A",)
    scale, largest, halving = float(settings["scale"]), float(settings["clip"]), int(settings["halving"])
    matrices = [
        (scale * torch.randn(shape, generator=generator, dtype=torch.float64, device=generator.device)).requires_grad_()
        for _ in trained
    ]
    optimizer = torch.optim.Adam(matrices, lr=float(settings["eta"]), betas=(0.9, 0.9))
    batch = sample(int(settings["batch"]), n, covariance, prior, generator)
    for step in range(int(settings["steps"])):
        if step and step % int(settings["resample"]) == 0:
            batch = sample(int(settings["batch"]), n, covariance, prior, generator)
        if step and step % halving == 0:
            optimizer.param_groups[0]["lr"] /= 2
        loss = in_context_errors(pattern(*matrices), *batch).mean()
        if not bool(loss.isfinite()):
            raise InputError("eta", settings["eta"], f"training diverges: no finite loss at step {step}")
        for matrix, gradient in zip(matrices, torch.autograd.grad(loss, matrices), strict=True):
            matrix.grad = clipped(gradient, largest)
        optimizer.step()
    A, *rest = (matrix.detach() for matrix in matrices)
    return A, rest[0] if rest else None


def _shape_of(name: str, matrix: Float64[Tensor, "d d"]) -> Iterator[tuple[str, float]]:
    """Yield named values: the mean of the diagonal, the largest absolute entry off it, and the distance to I."""
    diagonal = matrix.diagonal()
    yield f"{name}_diagonal", float(diagonal.mean())
    yield f"{name}_off_diagonal", float((matrix - diagonal.diag()).abs().max())
    yield f"{name}_distance", float(distance_to_identity(matrix))


def _training(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    size, n = int(settings["d"]), int(settings["n"])
    spectrum = eigenvalues(str(settings["spectrum"]), size, float(settings["least"]), device)
    generator = torch.Generator(device).manual_seed(seed)
    rows, errors = [], []
    for _ in range(int(settings["runs"])):
        U = random_rotation(size, generator)
        covariance, prior = (U.T @ (spectrum**power).diag() @ U for power in (1, -1))
        root = U.T @ spectrum.sqrt().diag() @ U
        A, B = _trained(settings, covariance, prior, generator)
        row = {}
        for layer, matrix in enumerate(A):
            row |= _shape_of(f"A{layer}", root @ matrix @ root)
        # The last B changes tokens that no later layer reads.
        for layer, matrix in enumerate([] if B is None else B[:-1]):
            row |= _shape_of(f"B{layer}", matrix)
        rows.append(row)
        errors.append(
            _fresh_errors(pattern(A, B), n, covariance, prior, prompts=int(settings["prompts"]), generator=generator)
        )
    over_runs = {name: _measurement(torch.tensor([row[name] for row in rows], dtype=torch.float64)) for name in rows[0]}
    # The standard error of the loss is over the fresh prompts, given the trained matrices; the others are over runs.
    return {"loss": _measurement(torch.cat(errors)), **over_runs}


linear_transformer_training = Experiment(
    id="ahn2023.linear_transformer_training",
    title="Training of A_l and B_l by Adam: loss on fresh prompts, Sigma^1/2 A_l Sigma^1/2 and B_l next to I",
    source=Source(
        "Section 5",
        "recalled",
        None,
        "arXiv 2306.00297; steps, batch, clipping and Sigma are the paper's, step sizes and Adam's 0.9, 0.9 are ours",
    ),
    settings=(
        Setting(TRAINED, "A_and_B", "A_and_B"),
        Setting(L, 2, 3),
        Setting(D, 2, 5),
        Setting(N, 10, 20),
        Setting(SPECTRUM, "even", "printed"),
        Setting(LEAST, "1/4", "1/4"),
        Setting(Parameter("scale", "rational", "standard deviation of the initial entries", above=0), "1/100", "1/100"),
        Setting(Parameter("eta", "rational", "Adam's step size at the start", above=0), "1/10", "1/100"),
        Setting(Parameter("halving", "integer", "steps after which the step size is halved", minimum=1), 100, 5000),
        Setting(CLIP, "1/100", "1/100"),
        Setting(Parameter("batch", "integer", "prompts in a batch", minimum=1), 1000, 20_000),
        Setting(Parameter("resample", "integer", "steps with the same batch", minimum=1), 2, 100),
        Setting(Parameter("steps", "integer", "steps of Adam", minimum=1), 800, 30_000),
        Setting(Parameter("runs", "integer", "independent runs, each with its own U", minimum=2), 2, 2),
        Setting(PROMPTS, 20_000, 1_000_000),
    ),
    measure=_training,
)
