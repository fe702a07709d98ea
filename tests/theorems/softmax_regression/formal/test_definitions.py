"""At rational instances, the definitions in Rocq have the values that `numerics` computes.

Rocq proves that each value is within 10⁻⁹ of the float. The proofs use the library Interval with machine arithmetic,
which no shipped proof uses.
"""

from fractions import Fraction

import pytest
import torch

from numerics.softmax_regression import reference
from tests.theorems import rocq

pytestmark = pytest.mark.formal
AREA = rocq.Area("softmax_regression", "SoftmaxRegression")

# For n = 3 and d = 2: the data A and A1, a matrix S, the layer's W and V, the weights x and x1, and a target b.
TABLES = {
    "A": [["1", "-1/2"], ["1/3", "2"], ["-1", "3/4"]],
    "A1": [["1/2", "-1/2"], ["1/3", "1"], ["-1", "1/4"]],
    "S": [["3", "0"], ["4", "5"]],
    "W": [["1/2", "1"], ["-1/3", "1/4"]],
    "V": [["1", "-1/2"], ["1/5", "2/3"]],
}
VECTORS = {"x": ["1/2", "-1"], "x1": ["3/4", "1/3"], "b": ["1/6", "1/2", "1/3"]}

HEAD = """
Require Import Reals List Arith Lra.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From SoftmaxRegression Require Import definitions.
From SoftmaxRegression.formal Require Import claims.
Import ListNotations.
Open Scope R_scope.
"""
UNFOLD = (
    "cbv [loss norm minus prediction softmax applied sum nth A A1 W V x x1 b after_attention gradient_entry "
    "hessian_entry hessian_diagonal_entry mean_residual sum_of_squares]"
)


def instance():
    """Yield the lines that define the matrices and vectors."""
    yield HEAD
    for name, rows in TABLES.items():
        lists = "; ".join(f"[{'; '.join(row)}]" for row in rows)
        yield f"Definition {name} : matrix := fun i j => nth j (nth i [{lists}] []) 0."
    for name, row in VECTORS.items():
        yield f"Definition {name} : vector := fun i => nth i [{'; '.join(row)}] 0."


def tensors():
    """Return the matrices and vectors as tensors, by name."""
    return {
        name: torch.tensor([[float(Fraction(value)) for value in row] for row in rows], dtype=torch.float64)
        for name, rows in (TABLES | {name: [row] for name, row in VECTORS.items()}).items()
    }


def values():
    """Return predictions, a loss and its derivatives, the norms of two shifts, and data after attention."""
    of = tensors()
    x, b = of["x"][0], of["b"][0]
    before = reference.prediction(of["A"], x)
    found = {f"prediction 3 2 A x {i}%nat": before[i] for i in range(3)}
    found["loss 3 (prediction 3 2 A x) b"] = reference.loss(of["A"], x, b)
    found |= {f"slope {k}": g for k, g in enumerate(reference.gradient(of["A"], x, b))}
    logits = (of["A"] @ x).requires_grad_()
    in_logits = reference.gradient(torch.eye(3, dtype=torch.float64), logits, b)
    row = torch.autograd.grad(in_logits[1], logits)[0]
    found["gradient_entry 3 b (applied 2 A x) 1%nat"] = in_logits[1]
    found["hessian_diagonal_entry 3 b (applied 2 A x) 1%nat"] = row[1]
    found["hessian_entry 3 b (applied 2 A x) 1%nat 2%nat"] = row[2]
    found["after_attention 3 2 A W V 1%nat 1%nat"] = reference.data_after_attention(of["A"], of["W"], of["V"])[1, 1]
    for A, y in (("A", "x1"), ("A1", "x")):
        target = reference.new_target(b, before, reference.prediction(of[A], of[y][0]))
        found[f"shift {A} {y}"] = torch.linalg.vector_norm(target - b)
    return {name: value.item() for name, value in found.items()}


def goal(name, value):
    """Return Rocq's goal that a term, a slope in x, or the norm of a shift is within 10⁻⁹ of a float."""
    kind, *of = name.split()
    if kind == "slope":
        return f"""From SoftmaxRegression.formal Require Import gradient.
Goal forall g, slope (loss_at 3 2 A b) x {of[0]} g -> {rocq.near(value)}.
Proof. intros g D. pose proof (gradient_in_x_holds 3%nat 2%nat A b x {of[0]}%nat) as C. unfold slope in *.
apply is_derive_unique in D. rewrite (is_derive_unique _ _ _ (C ltac:(auto) ltac:(auto))) in D. rewrite <- D."""
    if kind != "shift":
        return f"Goal forall g, g = {name} -> {rocq.near(value)}. Proof. intros g ->."
    A, x = of
    return f"""Goal forall b' g, shifts 3 2 A x {A} {x} b b' -> g = norm 3 (minus b' b) -> {rocq.near(value)}.
Proof. intros b' g H ->.
assert (E : forall i, (i < 3)%nat -> minus b' b i = prediction 3 2 A x i - prediction 3 2 {A} {x} i)
by (intros i Hi; specialize (H i Hi); unfold minus; lra). cbv [norm]. cbn [sum].
rewrite !E by auto with arith. clear H E."""


def text(found):
    """Return a text that Rocq accepts if the definitions have the given values to within 10⁻⁹."""
    goals = (f"{goal(name, value)} {UNFOLD}. interval with (i_prec 80). Qed." for name, value in found.items())
    return "\n".join([*instance(), *goals])


area = rocq.folder_of(AREA, "formal/gradient.v")


def test_predictions_losses_and_targets_are_those_of_the_reference(area):
    good, answer = AREA.asked(area, text(values()))
    assert good, answer


def test_another_value_is_refused(area):
    found = values()
    for kind in ("shift", "slope", "hessian_entry", "after_attention"):
        name = next(name for name in found if name.startswith(kind))
        good, answer = AREA.asked(area, text({name: found[name] + 1e-6}))
        assert not good and "Numerical evaluation failed" in answer


def spectral(value):
    """Return a text that Rocq accepts if `value` is S's spectral norm, attained at (1, 1)/√2, to within 10⁻⁹."""
    lines = [*instance(), "From SoftmaxRegression.formal Require Import sums."]
    lines.append(f"Goal forall g, g = spectral_norm 2 2 S -> {rocq.near(value)}. Proof. intros g ->.")
    lines.append("""
assert (L : forall x, norm 2 (applied 2 S x) = sqrt (9 * x 0%nat ^ 2 + (4 * x 0%nat + 5 * x 1%nat) ^ 2)).
{ intro x. unfold norm. f_equal. cbv [applied sum nth S]. ring. }
replace (spectral_norm 2 2 S) with (sqrt 45); [interval with (i_prec 80)|]. apply Rle_antisym.
- assert (H : sqrt 45 * 1 <= spectral_norm 2 2 S * norm 2 (fun _ => / sqrt 2)).
  { eapply Rle_trans; [right|apply applied_at_most]. rewrite L, Rmult_1_r. f_equal.
    replace (9 * (/ sqrt 2) ^ 2 + (4 * / sqrt 2 + 5 * / sqrt 2) ^ 2) with (90 * (/ sqrt 2) ^ 2) by ring.
    rewrite pow_inv, pow2_sqrt; lra. }
  replace (norm 2 (fun _ => / sqrt 2)) with 1 in H; [lra|]. unfold norm. cbn [sum]. rewrite pow_inv, pow2_sqrt by lra.
  replace (0 + / 2 + / 2) with 1 by lra. symmetry. apply sqrt_1.
- apply spectral_norm_at_most. intros x H. rewrite L. apply sqrt_le_1_alt.
  pose proof (norm_squared 2 x) as N. cbn [sum] in N. pose proof (norm_nonneg 2 x).
  pose proof (pow2_ge_0 (x 0%nat - x 1%nat)). nra.
Qed.""")
    return "\n".join(lines)


def test_the_spectral_norm_is_the_largest_singular_value(area):
    value = torch.linalg.matrix_norm(tensors()["S"], 2).item()
    good, answer = AREA.asked(area, spectral(value))
    assert good, answer
    good, answer = AREA.asked(area, spectral(value + 1e-6))
    assert not good and "Numerical evaluation failed" in answer


# The general proofs also hold for these wrong definitions; only values reveal the errors.
PLANTED = {
    "the transposed matrix": ("A i j * x j", "A j i * x j"),
    "the loss without its half": ("/ 2 * norm n (minus p b) ^ 2", "norm n (minus p b) ^ 2"),
}


@pytest.mark.parametrize("error", PLANTED)
def test_a_wrong_definition_has_another_value(tmp_path, error):
    folder = AREA.copied(tmp_path, definitions=PLANTED[error])
    assert AREA.compiled(folder, "formal/claims.v") is None
    (loss,) = [(name, value) for name, value in values().items() if name.startswith("loss")]
    good, answer = AREA.asked(folder, text(dict([loss])))
    assert not good and "Numerical evaluation failed" in answer
