"""The gradient on the set V = (alpha I, 0), W = diag(0, C I), from the definitions: its traces and zero blocks.

Along W = diag(0, C I) the change of the loss from C_low to C_high is C_high - C_low times the mean trace of dL/dW's
positional block over C uniform between them. A batch has half of its samples at C and half at C_low + C_high - C, which
is uniform too: the mean over both halves of a term linear in C is the same for every C. Along V = (alpha I, 0) the
derivative of the loss is the trace of dL/dV's token block.
"""

from collections.abc import Mapping
from functools import partial

import torch
from jaxtyping import Float64
from torch import Tensor

from numerics.sparse_token_selection.experiments import (
    ATTEND,
    D_E,
    DISTRIBUTION,
    STOCHASTIC_SOURCE,
    D,
    Q,
    T,
    ground_truth,
)
from numerics.sparse_token_selection.reference import sampled_gradient
from numerics.sparse_token_selection.stochastic import measurement, sign_encodings, sphere_encodings
from verify import Experiment, InputError, Measurement, Parameter, Setting
from verify.language.parameters import Instance


def furthest_from_zero(values: Float64[Tensor, "batches k"]) -> Measurement:
    """Return the mean over batches of the column whose mean is the most standard errors from 0; 0 if k = 0.

    `values` is (batches, k). A nonzero mean with standard error 0 is further than all others.
    """
    if not values.shape[1]:
        return Measurement(0.0, 0.0, len(values))
    means, errors = values.mean(dim=0).abs(), values.std(dim=0, correction=1)
    away = torch.where(means == 0, 0.0, means / errors)
    # If a value is NaN, argmax returns its place.
    return measurement(values[:, int(away.argmax())])


def entries_and_sums(blocks: Float64[Tensor, "batches m n"]) -> Float64[Tensor, "batches m*n+m+n"]:
    """Return the entries, row sums and column sums of matrices (batches, m, n), (batches, mn + m + n)."""
    return torch.cat([blocks.flatten(1), blocks.sum(dim=2), blocks.sum(dim=1)], dim=1)


def _off_diagonal(blocks: Float64[Tensor, "batches k k"]) -> Float64[Tensor, "batches k k"]:
    return blocks - torch.diag_embed(blocks.diagonal(dim1=1, dim2=2))


def _measure(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    q, d, d_e, batches, samples = (int(settings[name]) for name in ("q", "d", "d_e", "batches", "batch_size"))
    alpha, low, high = (float(settings[name]) for name in ("alpha", "C_low", "C_high"))
    if low >= high:
        raise InputError("C_high", settings["C_high"], f"must be above C_low = {settings['C_low']}")
    truth, generator = ground_truth(d_e, d, device), torch.Generator(device).manual_seed(seed)
    draw = {"signs": sign_encodings, "sphere": sphere_encodings}[str(settings["distribution"])]
    gradient = partial(
        sampled_gradient,
        V=alpha * truth.V,
        encodings=partial(draw, T=int(settings["T"]), d_e=d_e, generator=generator),
        q=q,
        batch_size=samples // 4,
        generator=generator,
        attend=str(settings["attend"]),
    )
    scales = low + (high - low) * torch.rand(batches, generator=generator, dtype=torch.float64, device=device)
    pairs = [[gradient(C * truth.W, batches=2).mean for C in (float(C), low + high - float(C))] for C in scales]
    W = torch.stack([(one.W + other.W) / 2 for one, other in pairs])
    V = torch.stack([(one.V + other.V) / 2 for one, other in pairs])
    positional, token = W[:, d:, d:], V[:, :, :d]
    fixed = gradient(high * truth.W, batches=4 * batches).batches.V[:, :, :d]
    return {
        "loss_change": measurement((high - low) * positional.diagonal(dim1=1, dim2=2).sum(dim=1)),
        "alpha_slope": measurement(fixed.diagonal(dim1=1, dim2=2).sum(dim=1)),
        "V_positional": furthest_from_zero(entries_and_sums(V[:, :, d:])),
        "V_off_diagonal": furthest_from_zero(entries_and_sums(_off_diagonal(token))),
        "W_token_rows": furthest_from_zero(entries_and_sums(W[:, :d, d:])),
        "W_off_diagonal": furthest_from_zero(entries_and_sums(_off_diagonal(positional))),
        "W_diagonal_differences": furthest_from_zero(positional.diagonal(dim1=1, dim2=2).diff(dim=1)),
    }


stochastic_gradient = Experiment(
    id="wang2024.stochastic_gradient",
    title="Gradient at W = C W*, V = alpha V*, fresh encodings: the loss's change over C, slope in alpha at C_high; "
    "of each block that should be 0 the entry, or sum of a row or column, that is the most standard errors from it",
    source=STOCHASTIC_SOURCE,
    settings=(
        Setting(T, 12, 200),
        Setting(Q, 3, 3),
        Setting(D, 2, 5),
        Setting(D_E, 20, 170),
        Setting(Parameter("alpha", "rational", "coefficient of the identity in V's token block"), 1, 110),
        Setting(Parameter("C_low", "rational", "least coefficient of the identity in W's positional block"), 1, 3),
        Setting(Parameter("C_high", "rational", "largest such coefficient"), 3, "7/2"),
        Setting(DISTRIBUTION, "signs", "signs"),
        Setting(ATTEND, "tokens", "tokens_and_query"),
        Setting(Parameter("batches", "integer", "independent batches", minimum=2), 150, 400),
        Setting(Parameter("batch_size", "integer", "samples in a batch, in four parts", minimum=8), 64, 64),
    ),
    measure=_measure,
)
