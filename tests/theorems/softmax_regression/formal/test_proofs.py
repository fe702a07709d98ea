"""Rocq accepts the proofs with only the axioms of the classical reals, and refuses them if a definition is wrong."""

import pytest

from tests.theorems import rocq

AREA = rocq.Area("softmax_regression", "SoftmaxRegression")
PROOFS = {
    "shifts.weight_shift_holds": "weight_shift_shift",
    "shifts.weight_shift_is_sharp": "weight_shift_sharp",
    "shifts.data_shift_holds": "data_shift_shift",
    "shifts.data_shift_is_sharp": "data_shift_sharp",
    "total_variation.free_bounds": "free",
    "sums.spectral_norm_is_lub": "spectral_norm_is_lub",
    "gradient.gradient_holds": "gradient",
    "gradient.hessian_diagonal_holds": "hessian_diagonal",
    "gradient.hessian_off_diagonal_holds": "hessian_off_diagonal",
    "gradient.gradient_in_x_holds": "gradient_in_x",
    "opposite_moves.moves_exist_holds": "moves_exist",
    "opposite_moves.probabilities_of_the_moves": "moved_probabilities",
    "opposite_moves.further_than_the_step_holds": "further_than_the_step",
    "opposite_moves.further_than_the_layer_holds": "further_than_the_layer",
    "opposite_moves.step_lowers_the_loss_holds": "step_lowers_the_loss",
    "opposite_moves.layer_raises_the_loss_holds": "layer_raises_the_loss",
}


area = rocq.folder_of(AREA)


class TestProofs(rocq.ProofsOfAnArea):
    AREA, PROOFS, OTHER = AREA, PROOFS, {"shifts.weight_shift_holds": "data_shift_shift"}


# With each planted error the definitions still compile, and the proof that uses the changed definition fails.
PLANTED = {
    "softmax of twice the logits": (
        "definitions",
        "exp (z i) / sum n (fun j => exp (z j))",
        "exp (2 * z i) / sum n (fun j => exp (2 * z j))",
        "half_slope",
    ),
    "the residual with the wrong sign": ("definitions", "f' i - b i = f i - b' i", "f' i - b i = b' i - f i", "shifts"),
    "9/20 for the half in the weight shift": (
        "claims",
        "norm n (minus b' b) <= r / 2 * norm d",
        "norm n (minus b' b) <= 9 * r / 20 * norm d",
        "shifts",
    ),
    "9/20 for the half in the data shift": (
        "claims",
        "norm n (minus b' b) <= r / 2 * spectral_norm",
        "norm n (minus b' b) <= 9 * r / 20 * spectral_norm",
        "shifts",
    ),
    "no factor below R for the weight shift": (
        "claims",
        "c < r / 2 -> exists A x x'",
        "c < r -> exists A x x'",
        "shifts",
    ),
    "no factor below R for the data shift": ("claims", "c < r / 2 -> exists A A'", "c < r -> exists A A'", "shifts"),
    "tanh(1/220) for tanh(1/200)": ("claims", "tanh (1 / 200)", "tanh (1 / 220)", "total_variation"),
    "the gradient without the mean of the residual": (
        "claims",
        "p i * (p i - b i - mean_residual)",
        "p i * (p i - b i)",
        "gradient",
    ),
    "the mean of the residual once in the Hessian": (
        "claims",
        "2 * p j - b j - 2 * mean_residual",
        "2 * p j - b j - mean_residual",
        "gradient",
    ),
    "the diagonal's first term alone": (
        "claims",
        " - p i ^ 2 * (4 * p i - 2 * b i - 2 * mean_residual - sum_of_squares)",
        "",
        "gradient",
    ),
    "a step uphill": ("definitions", "x' k = x k - eta * g", "x' k = x k + eta * g", "opposite_moves"),
    "a layer of equal weights": ("definitions", "softmax n logit j * sum", "/ INR n * sum", "opposite_moves"),
    "values of the other sign": ("claims", "(constant (- v))", "(constant v)", "opposite_moves"),
    "closer than the step has moved": (
        "claims",
        "norm 2 (minus f' f'') > norm 2 (minus f' f)",
        "norm 2 (minus f' f'') <= norm 2 (minus f' f)",
        "opposite_moves",
    ),
}
QUICK = {
    "softmax of twice the logits",
    "the residual with the wrong sign",
    "the gradient without the mean of the residual",
    "values of the other sign",
}


@pytest.mark.formal
@pytest.mark.parametrize(
    "error", [pytest.param(error, marks=[] if error in QUICK else [pytest.mark.audit]) for error in PLANTED]
)
def test_a_wrong_definition_is_refused(tmp_path, error):
    assert AREA.refuses(tmp_path, *PLANTED[error])
