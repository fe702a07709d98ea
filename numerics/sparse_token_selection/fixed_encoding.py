"""A fixed draw of encodings does not generalise in length: a layer that has learnt its draw fails at more tokens.

If the first T encodings of the draw, the columns of E (d_e, T), are linearly independent, then M = E (E'E)^{-2} E'
has E' M E = I. So with W = diag(0, C M) the layer acts on the first T tokens as with one-hot encoding, and its loss
tends to 0 as C grows. Training never sees a later token, whose encoding is in general outside of the span of the first
T.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from numerics.sparse_token_selection.experiments import ground_truth
from numerics.sparse_token_selection.settings import D, Q, T
from numerics.sparse_token_selection.stochastic import averaged_losses, measurement, sign_encodings
from verify import Experiment, InputError, Measurement, Parameter, Setting, Source
from verify.language.parameters import Instance

_SINGULAR = 1e-6


def learnt_metric(encodings: Float[Tensor, "d_e T"]) -> Float[Tensor, "d_e d_e"]:
    """Return M = E (E'E)^{-2} E', (d_e, d_e), with E' M E = I, for E (d_e, T).

    Raises
    ------
    InputError
        If the columns are linearly dependent; the error names d_e.
    """
    left, values, _ = torch.linalg.svd(encodings, full_matrices=False)
    if len(values) < encodings.shape[1] or values[-1] < _SINGULAR * values[0]:
        raise InputError("d_e", len(encodings), f"the draw's first T = {encodings.shape[1]} encodings are dependent")
    return left @ torch.diag(values**-2) @ left.T


def _one_fixed_draw(settings: Instance, *, seed: int, device: str) -> Mapping[str, Measurement]:
    names = ("T", "T_test", "q", "d", "d_e", "samples")
    length, test_length, q, d, d_e, samples = (int(settings[name]) for name in names)
    for name, value in (("q", q), ("T_test", test_length)):
        if (value > length) is (name == "q"):
            raise InputError(name, value, f"must be at {'most' if name == 'q' else 'least'} T = {length}")
    generator = torch.Generator(device).manual_seed(seed)
    drawn = sign_encodings(1, test_length, d_e, generator)[0]
    truth = ground_truth(d_e, d, device)
    W = torch.zeros_like(truth.W)
    W[d:, d:] = float(settings["C"]) * learnt_metric(drawn[:, :length])
    options = {"samples": samples, "generator": generator}
    return {
        "loss": measurement(averaged_losses(W, truth.V, drawn[:, :length], q, **options)),
        "loss_test": measurement(averaged_losses(W, truth.V, drawn, q, **options)),
    }


one_fixed_draw = Experiment(
    id="wang2024.one_fixed_draw",
    title="A layer that has learnt the seed's one draw of encodings: its loss at their number, and at more",
    source=Source("Definition 3", "printed", None, "arXiv 2406.06893; one draw of signs for all samples"),
    settings=(
        Setting(T, 20, 100),
        Setting(Parameter("T_test", "integer", "number of tokens in the test", minimum=2), 40, 200),
        Setting(Q, 3, 3),
        Setting(D, 2, 5),
        Setting(Parameter("d_e", "integer", "dimension of an encoding", minimum=1), 60, 170),
        Setting(Parameter("C", "rational", "W = diag(0, C M)", minimum=0), 8, 10),
        Setting(Parameter("samples", "integer", "fresh samples of tokens and subsets", minimum=2), 4000, 20_000),
    ),
    measure=_one_fixed_draw,
)
