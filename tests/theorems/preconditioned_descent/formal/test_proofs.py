"""Rocq accepts the proofs with only the axioms of the classical reals, and refuses them if a definition is wrong."""

import pytest

from tests.theorems import rocq

AREA = rocq.Area("preconditioned_descent", "PreconditionedDescent")
PROOFS = {
    "filled_label.label_is_added": "lemma6_outputs",
    "filled_label.label_is_not_added": "lemma6_any_last_column",
    "filled_label.error_is_filled_in_label": "lemma5_error",
    "filled_label.loss_is_mean_square": "lemma5_mean_square",
    "filled_label.loss_is_not_mean_square": "lemma5_any_last_column",
    "exchange.every_order": "lemma4_every_order",
    "exchange.loss_in_every_order": "lemma4_loss",
    "exchange.order_matters": "lemma4_any_matrices",
    "gradient_descent.every_layer": "lemma1_every_layer",
    "gradient_descent.every_layer_as_printed": "lemma1_as_printed",
    "gradient_descent.descent_exists": "lemma1_descent_exists",
    "gradient_descent.one_layer": "lemma1_one_layer",
    "gradient_descent.one_layer_as_printed": "lemma1_one_layer_as_printed",
    "gradient_descent.step_exists": "lemma1_step_exists",
    "gradient_descent.transpose_is_needed": "lemma1_any_matrix",
    "one_layer.convexity.component_minimum": "lemma2_minimiser",
    "one_layer.convexity.component_slopes": "lemma2_slopes",
    "one_layer.convexity.component_convex": "lemma3_convex",
    "one_layer.convexity.component_strictly_convex": "lemma3_strictly",
    "one_layer.minimum.global_minimum_of_one_layer": "theorem1_global",
    "one_layer.minimum.minimum_of_one_layer": "theorem1_minimum",
    "one_layer.minimum.one_layer_rescaled": "theorem1_rescaling",
    "one_layer.normal_mean.normal_mean_exists": "normal_mean_exists",
    "one_layer.component.covariance_exists": "covariance_exists",
}


area = rocq.folder_of(AREA)


class TestProofs(rocq.ProofsOfAnArea):
    AREA, PROOFS, OTHER = AREA, PROOFS, {"exchange.every_order": "lemma4_loss"}


# With each planted error the definitions still compile, and the proof that uses the changed definition fails.
PLANTED = {
    "the query among the keys": ("definitions", "andb (i =? j) (j <? n)", "andb (i =? j) (j <? S n)", "layer"),
    "Q transposed": (
        "definitions",
        "(transpose Z) (product (S d) Q Z)",
        "(transpose Z) (product (S d) (transpose Q) Z)",
        "layer",
    ),
    "pattern (8) with the other sign": ("definitions", "then - A i j", "then A i j", "layer"),
    "the error with the other sign": (
        "definitions",
        "(prompt x (labels x w) 0) - labels x w n",
        "(prompt x (labels x w) 0) + labels x w n",
        "filled_label",
    ),
    "a free corner of Q": ("claims", "(i <= d)%nat -> Q l i d = 0", "(i < d)%nat -> Q l i d = 0", "filled_label"),
    "9/10 of the label filled in": (
        "claims",
        "(prompt d n x (labels d x w) (labels d x w n))",
        "(prompt d n x (labels d x w) (9 / 10 * labels d x w n))",
        "filled_label",
    ),
    "layers that are no multiples of one": ("claims", "a l * K i j", "a l * K i j + INR l", "exchange"),
    "an order that repeats a layer": ("claims", "s l = s m -> l = m", "s l = s m -> s l = s m", "exchange"),
    "the loss without its half": ("definitions", "/ (2 * INR n)", "/ INR n", "gradient_descent"),
    "ascent": (
        "definitions",
        "v k - sum d (fun m => B k m * g m)",
        "v k + sum d (fun m => B k m * g m)",
        "gradient_descent",
    ),
    "A in the place of its transpose": (
        "claims",
        "descent d n x w L (fun l => transpose (A l)) v",
        "descent d n x w L A v",
        "gradient_descent",
    ),
    "A in the place of its transpose in one layer": (
        "claims",
        "descent_step d (examples_loss d n x w) (transpose A) v v'",
        "descent_step d (examples_loss d n x w) A v v'",
        "gradient_descent",
    ),
    "a second moment of 2": (
        "definitions",
        "INR (S j) * normal_moment j",
        "INR (S (S j)) * normal_moment j",
        "one_layer/normal_mean",
    ),
    "the tokens' covariance for w": (
        "definitions",
        "(fun k => g k (S n))",
        "(fun k => product d C g k (S n))",
        "one_layer/prompt_table",
    ),
    "columns of length 1 that are not orthogonal": (
        "claims",
        "product d (transpose U) U i j = if i =? j then 1 else 0",
        "product d (transpose U) U i i = 1",
        "one_layer/component",
    ),
    "the last column less the last row": (
        "claims",
        "fun a => M a d + M d a",
        "fun a => M a d - M d a",
        "one_layer/component",
    ),
    "n + 2 for n + 1": (
        "claims",
        "(INR n + 1) / INR n * lambda k",
        "(INR n + 2) / INR n * lambda k",
        "one_layer/component_minimum",
    ),
    "the trace dropped": ("claims", "lambda k + sum d lambda / INR n)", "lambda k)", "one_layer/component_minimum"),
    "the component's matrix with the other sign": (
        "claims",
        "then - best_step d n lambda j else 0",
        "then best_step d n lambda j else 0",
        "one_layer/convexity",
    ),
    "strictly convex in the diagonal": (
        "claims",
        "border d M a <> border d M' a",
        "M a a <> M' a a",
        "one_layer/convexity",
    ),
    "1 + lambda a for the minimum": (
        "claims",
        "(1 - lambda k * best_step",
        "(1 + lambda k * best_step",
        "one_layer/minimum",
    ),
    "the sum of the scales": (
        "claims",
        "gamma * delta * prediction",
        "(gamma + delta) * prediction",
        "one_layer/minimum",
    ),
}
QUICK = {"a free corner of Q", "an order that repeats a layer"}


@pytest.mark.formal
@pytest.mark.parametrize(
    "error", [pytest.param(error, marks=[] if error in QUICK else [pytest.mark.audit]) for error in PLANTED]
)
def test_a_wrong_definition_is_refused(tmp_path, error):
    assert AREA.refuses(tmp_path, *PLANTED[error])
