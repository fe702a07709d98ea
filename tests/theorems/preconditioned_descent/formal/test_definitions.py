"""At rational instances, the definitions in Rocq have the values that `numerics` computes.

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

# For d = n = 2: the tokens as columns of x, w, the preconditioners A0 and A1, and P and Q of a layer. For d = 1: P and
# Q of two layers.
TABLES = {
    "x": [["1", "-1/2", "2"], ["1/3", "2", "-1"]],
    "w": [["1/2", "-2"]],
    "A0": [["1/2", "1"], ["-1/3", "1/4"]],
    "A1": [["1", "-1/2"], ["1/5", "2/3"]],
    "P": [["1/2", "-1", "1/3"], ["1", "1/4", "-1/2"], ["2/3", "-1", "1/2"]],
    "Q": [["-1", "1/2", "3/4"], ["1/5", "1", "-1/3"], ["1/2", "-1/4", "1"]],
    "P0": [["1/2", "-1"], ["2/3", "1"]],
    "Q0": [["1", "1/4"], ["-1/2", "1/3"]],
    "P1": [["-1", "1/3"], ["1/2", "3/4"]],
    "Q1": [["1/2", "1"], ["1/5", "-1"]],
}

HEAD = """
Require Import Reals List Arith Lra Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From PreconditionedDescent Require Import definitions.
Import ListNotations.
Open Scope R_scope.
"""
UNFOLD = """cbv [prediction error forward layer attention product transpose mask prompt labels pattern_P pattern_Q
sum nth by_layer x w_row w A0 A1 P Q P0 Q0 P1 Q1 Nat.eqb Nat.ltb Nat.leb andb]; simpl INR"""


def instance():
    """Yield the lines that define the matrices and the vector."""
    yield HEAD
    for name, rows in TABLES.items():
        lists = "; ".join(f"[{'; '.join(row)}]" for row in rows)
        yield f"Definition {'w_row' if name == 'w' else name} : matrix := fun i j => nth j (nth i [{lists}] []) 0."
    yield "Definition w : vector := w_row 0%nat."
    yield "Definition by_layer (A B : matrix) (l : nat) : matrix := match l with O => A | _ => B end."


def tensors():
    """Return the matrices and the vector as tensors, by name."""
    return {
        name: torch.tensor([[float(Fraction(value)) for value in row] for row in rows], dtype=torch.float64)
        for name, rows in TABLES.items()
    }


def values():
    """Return, by term, entries after a layer, a prediction, a squared error, pattern (8) and iterates of descent."""
    of = tensors()
    x, w, A = of["x"][None], of["w"], torch.stack([of["A0"], of["A1"]])
    one = reference.Layers(of["P"][None], of["Q"][None])
    two = reference.Layers(torch.stack([of["P0"], of["P1"]]), torch.stack([of["Q0"], of["Q1"]]))
    pattern = reference.pattern(A)
    after = reference.forward(reference.prompt(x, w), one)[0]
    prompt = "(prompt 2 2 x (labels 2 x w) 0)"
    found = {
        f"forward 2 2 1 (fun _ => P) (fun _ => Q) {prompt} {i} {j}": after[i, j] for i, j in ((0, 1), (2, 0), (2, 2))
    }
    small = reference.prompt(x[:, :1, :2], w[:, :1])
    name = "prediction 1 1 2 (by_layer P0 P1) (by_layer Q0 Q1) (prompt 1 1 x (labels 1 x w) 0)"
    found[name] = reference.prediction(small, two)[0]
    name = "error 2 2 1 (fun _ => pattern_P 2) (fun _ => pattern_Q 2 A0) x w ^ 2"
    found[name] = reference.in_context_errors(reference.pattern(A[:1]), x, w)[0]
    found |= {f"pattern_P 2 {i} {j}": pattern.P[0, i, j] for i in range(3) for j in range(3)}
    found |= {f"pattern_Q 2 A0 {i} {j}": pattern.Q[0, i, j] for i in range(3) for j in range(3)}
    iterates = reference.preconditioned_descent(x, w, A)[0]
    found |= {f"descent {step} {k}": iterates[step, k] for step in (1, 2) for k in range(2)}
    return {name: value.item() for name, value in found.items()}


def goal(name, value):
    """Return Rocq's goal that a term, or an entry of an iterate of descent, is within 10⁻⁹ of a float."""
    kind, *of = name.split()
    if kind != "descent":
        numerals = " ".join(f"{part}%nat" if part.isdigit() else part for part in name.split(" "))
        value_of = numerals.replace("^ 2%nat", "^ 2")
        return f"Goal forall g, g = {value_of} -> {rocq.near(value)}. Proof. intros g ->. {UNFOLD}."
    step, entry = of
    return f"""From PreconditionedDescent.formal Require Import gradient_descent.
Goal forall v g, descent 2 2 x w 2 (by_layer A0 A1) v -> g = v {step}%nat {entry}%nat -> {rocq.near(value)}.
Proof. intros v g D ->.
pose proof (fun l k Hn Hl => step_entry 2%nat 2%nat x w (by_layer A0 A1 l) (v l) (v (S l)) k Hn (proj2 D l Hl)) as E.
rewrite !E by lia. unfold examples_gradient. cbn [sum]. rewrite ?E by lia. cbv [examples_gradient]. destruct D as [Z _].
{UNFOLD}. rewrite !Z by lia."""


def text(found):
    """Return a text that Rocq accepts if the definitions have the given values to within 10⁻⁹."""
    goals = (f"{goal(name, value)} interval with (i_prec 80). Qed." for name, value in found.items())
    return "\n".join([*instance(), *goals])


area = rocq.folder_of(AREA, "formal/gradient_descent.v")


def test_layers_losses_and_descent_are_those_of_the_reference(area):
    good, answer = AREA.asked(area, text(values()))
    assert good, answer


def test_another_value_is_refused(area):
    found = values()
    for kind in ("forward", "descent"):
        name = next(name for name in found if name.startswith(kind))
        good, answer = AREA.asked(area, text({name: found[name] + 1e-6}))
        assert not good and "Numerical evaluation failed" in answer


PLANTED = {
    "P transposed": ("product (S d) P Z)", "product (S d) (transpose P) Z)"),
    "the mean over the query too": ("attention P Q Z i j / INR n", "attention P Q Z i j / INR (S n)"),
}


@pytest.mark.parametrize("error", PLANTED)
def test_a_wrong_definition_has_another_value(tmp_path, error):
    folder = AREA.copied(tmp_path, definitions=PLANTED[error])
    assert AREA.compiled(folder, "definitions.v") is None
    name, value = next(iter(values().items()))
    good, answer = AREA.asked(folder, text({name: value}))
    assert not good and "Numerical evaluation failed" in answer
