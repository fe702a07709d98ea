"""At rational instances, one layer's loss over normal prompts in Rocq has the values of `numerics`' quadrature.

Rocq proves that each value is within 10⁻⁹ of the float. The proofs use the library Interval with machine arithmetic,
which no shipped proof uses.
"""

from fractions import Fraction

import pytest
import torch

from numerics.preconditioned_descent import reference
from tests.theorems import rocq

pytestmark = pytest.mark.formal
AREA = rocq.Area("preconditioned_descent", "PreconditionedDescent")

HEAD = """
Require Import Reals List Arith Lra.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims.
From PreconditionedDescent.formal.one_layer Require Import normal_mean minimum.
Import ListNotations.
Open Scope R_scope.
"""
# For d = n = 1: P, Q and the standard deviation C of a token. For d = 2 and n = 1: U and the eigenvalues.
TABLES = {
    "P": [["1/2", "-1"], ["2/3", "1"]],
    "Q": [["1", "1/4"], ["-1/2", "1/3"]],
    "C": [["3/2"]],
    "U": [["3/5", "-4/5"], ["4/5", "3/5"]],
    "eigenvalues": [["1/2", "3"]],
}
UNFOLD = """cbv [one_layer_loss component_loss in_context_loss over_prompts component_error gram identity M error
prediction forward layer attention product transpose mask prompt labels table_mean vector_mean three_points with_column
with_entry sum nth P Q C Nat.eqb Nat.ltb Nat.leb andb]; simpl INR"""


def instance():
    """Yield the lines that define the matrices; M is q pᵀ with P's last row p and Q's first column q."""
    yield HEAD
    for name, rows in TABLES.items():
        lists = "; ".join(f"[{'; '.join(row)}]" for row in rows)
        yield f"Definition {name} : matrix := fun i j => nth j (nth i [{lists}] []) 0."
    yield "Definition M : matrix := fun i j => Q i 0%nat * P 1%nat j."


def tensors():
    """Return the matrices as tensors, by name."""
    return {
        name: torch.tensor([[float(Fraction(value)) for value in row] for row in rows], dtype=torch.float64)
        for name, rows in TABLES.items()
    }


def values():
    """Return the loss f of one layer and its component f_1 = f/λ for d = 1, and the least loss for d = 2."""
    of = tensors()
    covariance = of["C"] @ of["C"].T
    loss = reference.exact_loss((of["P"][None], of["Q"][None]), 1, covariance, torch.eye(1, dtype=torch.float64))
    eigenvalues = of["eigenvalues"][0]
    A = of["U"] @ torch.diag(1 / (2 * eigenvalues + eigenvalues.sum())) @ of["U"].T
    covariance2 = of["U"] @ torch.diag(eigenvalues) @ of["U"].T
    least = reference.exact_loss(reference.pattern(A[None]), 1, covariance2, torch.eye(2, dtype=torch.float64))
    return {"loss": loss.item(), "component": (loss / covariance[0, 0]).item(), "least": least.item()}


def goal(name, value):
    """Return Rocq's goal that a loss is within 10⁻⁹ of a float."""
    if name == "least":
        return f"""Goal forall N C g, normal_mean 2 3 N -> covariance 2 C U (eigenvalues 0%nat) ->
g = best_loss 2 1 N C U (eigenvalues 0%nat) -> {rocq.near(value)}.
Proof. intros N C' g HN H ->. rewrite (minimum_of_one_layer 2%nat 1%nat N C' U (eigenvalues 0%nat) (le_n 1) HN H).
cbv [sum best_step eigenvalues nth]. simpl INR."""
    mean = "(table_mean 1 3) C"
    term = f"one_layer_loss 1 1 {mean} P Q" if name == "loss" else f"component_loss 1 1 {mean} 0 M"
    return f"Goal forall g, g = {term} -> {rocq.near(value)}. Proof. intros g ->. {UNFOLD}."


def text(found):
    """Return a text that Rocq accepts if the losses have the given values to within 10⁻⁹."""
    goals = (f"{goal(name, value)} interval with (i_prec 80). Qed." for name, value in found.items())
    return "\n".join([*instance(), *goals])


area = rocq.folder_of(AREA, "formal/one_layer/minimum.v")


def test_losses_are_those_of_the_quadrature(area):
    good, answer = AREA.asked(area, text(values()))
    assert good, answer


@pytest.mark.parametrize("name", [pytest.param("component", marks=pytest.mark.audit), "least"])
def test_another_loss_is_refused(area, name):
    good, answer = AREA.asked(area, text({name: values()[name] + 1e-6}))
    assert not good and "Numerical evaluation failed" in answer
