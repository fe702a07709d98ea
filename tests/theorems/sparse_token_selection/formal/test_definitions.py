"""At rational instances, the definitions in Rocq have the values that `numerics` computes.

Rocq proves that each value is within 10⁻⁹ of the float. The proofs use the library Interval with machine arithmetic,
which no shipped proof uses.
"""

import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import torch

from numerics.sparse_token_selection import reference
from tests.theorems import rocq

pytestmark = pytest.mark.formal
AREA = rocq.Area("sparse_token_selection", "SparseTokenSelection")

# T = 3 tokens of dimension d = 2 with encodings of dimension d_e = 2; the first and the last token are selected.
X = [["1", "-1/2", "3/4"], ["1/3", "2", "-1"]]
ENCODINGS = [["1", "1/2", "-1/2"], ["-1/4", "1", "1/2"]]
W = [["1/2", "-1", "1/3", "1"], ["1", "1/4", "-1/2", "2/3"], ["0", "1", "1/2", "-1"], ["-1/3", "1/5", "1", "1/4"]]
V = [["1", "1/2", "-1/3", "1/4"], ["-1/2", "2", "1", "1/3"]]
SELECTED = [1, 0, 1]
q = 2
IN_W = [(0, 2), (1, 3), (2, 2), (3, 3), (2, 3), (0, 1)]
IN_V = [(0, 0), (0, 3), (1, 1), (1, 2)]

HEAD = """
Require Import Reals List Bool Arith Lra.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal.layer Require Import gradient.
Import ListNotations.
Open Scope R_scope.
"""
UNFOLD = (
    "cbv [gradient_W gradient_V residual sample_loss value target token query sum selected one_hot nth Nat.add Nat.sub "
    "Nat.ltb Nat.leb Nat.eqb X e W V y INR]"
)


def matrix(name, rows):
    lists = "; ".join(f"[{'; '.join(row)}]" for row in rows)
    return f"Definition {name} : matrix := fun i j => nth j (nth i [{lists}] []) 0."


def tensor(rows):
    return torch.tensor([[float(Fraction(value)) for value in row] for row in rows], dtype=torch.float64)


def logits():
    """Return the exact logits; the text states them as lemmas, which Rocq proves."""
    w, x, e = ([[Fraction(value) for value in row] for row in rows] for rows in (W, X, ENCODINGS))
    Z = [*x, *e]
    query = [0, 0, *(sum(s * v for s, v in zip(SELECTED, row, strict=True)) for row in e)]
    applied = [sum(a * b for a, b in zip(row, query, strict=True)) for row in w]
    return [sum(applied[r] * Z[r][i] for r in range(4)) for i in range(3)]


def values():
    """Return, by term, the sample's loss and the chosen entries of its gradient, by autograd."""
    leaves = tensor(W).requires_grad_(), tensor(V).requires_grad_()
    subsets = torch.tensor([SELECTED], dtype=torch.float64)
    loss = reference.loss(*leaves, tensor(ENCODINGS), tensor(X)[None], subsets).sum()
    in_W, in_V = torch.autograd.grad(loss, leaves)
    found = {"sample_loss 2 3 2 e 2 W V X y": loss.item()}
    found |= {f"slope_in_W 2 3 2 e 2 W V X y {r} {c}": in_W[r, c].item() for r, c in IN_W}
    return found | {f"slope_in_V 2 3 2 e 2 W V X y {r} {c}": in_V[r, c].item() for r, c in IN_V}


def instance():
    """Yield lines that define the matrices and the subset, state the logits, and enclose the attention."""
    yield from (HEAD, matrix("X", X), matrix("e", ENCODINGS), matrix("W", W), matrix("V", V))
    yield f"Definition y : subset := [{'; '.join('true' if each else 'false' for each in SELECTED)}]."
    for i, logit in enumerate(logits()):
        yield f"Lemma logit_{i} : logit 2 3 2 e W X y {i} = {logit}. Proof. unfold logit. {UNFOLD}. field. Qed."
    weights = np.exp([float(logit) for logit in logits()])
    for i, share in enumerate(weights / weights.sum()):
        yield f"Lemma share_{i} : Rabs (attention 2 3 2 e W X y {i} - {Fraction(share)}) <= 1 / 10 ^ 12."
        yield "Proof. unfold attention, softmax. cbv [sum]. rewrite logit_0, logit_1, logit_2."
        yield "interval with (i_prec 80). Qed."


def goal(name, value):
    """Return Rocq's goal that a term or slope is within 10⁻⁹ of a float; a slope is equal to its closed form."""
    if not name.startswith("slope"):
        return f"Goal forall g, g = {name} -> {rocq.near(value)}.\nProof. intros g ->. unfold {name.split()[0]}."
    kind, *of = name.split()
    closed = kind.replace("slope_in", "gradient") + " 2 3 2 2 " + " ".join(of[3:4] + of[5:])
    return f"""Goal forall g, {name} g -> {rocq.near(value)}.
Proof. intros g D. assert (C : {name} ({closed})) by (apply {closed.split()[0]}_is_slope; auto with arith).
unfold {kind} in *. apply is_derive_unique in C. apply is_derive_unique in D. rewrite <- D, C.
unfold {closed.split()[0]}, residual."""


def text(found):
    """Return a text that Rocq accepts if the definitions have the given values to within 10⁻⁹."""
    lines = list(instance())
    for name, value in found.items():
        lines.append(goal(name, value))
        lines.append("cbv [sum]. rewrite ?layer_of_values. cbv [sum].")
        lines.append("pose proof share_0 as S0. pose proof share_1 as S1. pose proof share_2 as S2.")
        lines.extend(f"set (p{i} := attention 2 3 2 e W X y {i}) in *. clearbody p{i}." for i in range(3))
        lines.append(f"{UNFOLD}. apply Rabs_le_between' in S0, S1, S2. interval with (i_prec 60).\nQed.")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def layer(tmp_path_factory):
    """Return the folder in which the definitions and the gradient are compiled."""
    folder = AREA.copied(tmp_path_factory.mktemp("layer"))
    failure = AREA.compiled(folder, "formal/layer/gradient.v")
    assert failure is None, failure
    return folder


def test_the_loss_and_its_gradient_are_those_of_autograd(layer):
    good, answer = AREA.asked(layer, text(values()))
    assert good, answer


def test_another_value_is_refused(layer):
    found = values()
    (name,) = [name for name in found if name.endswith("2 3")]
    good, answer = AREA.asked(layer, text({name: found[name] + 1e-6}))
    assert not good and "Numerical evaluation failed" in answer


# The proofs about the gradient hold for any target and query, so only values reveal these errors.
PLANTED = {
    "the target not divided by q": ("X a i) / INR q.", "X a i)."),
    "a query of the tokens that are not selected": (
        "sum T (fun i => selected y i * e",
        "sum T (fun i => (1 - selected y i) * e",
    ),
}


@pytest.mark.parametrize("error", PLANTED)
def test_a_wrong_definition_has_another_value(tmp_path, error):
    folder = AREA.copied(tmp_path, definitions=PLANTED[error])
    assert AREA.compiled(folder, "formal/layer/gradient.v") is None
    (loss,) = [(name, value) for name, value in values().items() if name.startswith("sample_loss")]
    good, answer = AREA.asked(folder, text(dict([loss])))
    assert not good and "Error" in answer


def recursion(found):
    """Return a text that Rocq accepts if the recursion with T = 4, q = d = 2, η = 1/2 has the given values."""
    lines = [HEAD, f"From {AREA.name}.formal Require recursion."]
    for name, value in found.items():
        lines.append(f"Goal forall g, g = {name} -> {rocq.near(value)}. Proof. intros g ->.")
        lines.append(
            "cbv [fst snd recursion.loss_at recursion.run recursion.loss recursion.step_alpha recursion.step_C"
        )
        lines.append("recursion.S' recursion.P recursion.Q recursion.N recursion.w]. interval with (i_prec 60). Qed.")
    return "\n".join(lines)


def trained():
    """Return α, C and the loss after two steps from zero with full matrices, computed by the cubature of degree 3."""

    def gradient(W, V):
        found = reference.cubature_gradient(W, V, reference.one_hot_encodings(4), 2)
        return found.loss, found.W, found.V

    start = torch.zeros(6, 6, dtype=torch.float64), torch.zeros(2, 6, dtype=torch.float64)
    *_, last = reference.train(*start, eta=0.5, steps=2, gradient=gradient)
    found = {
        "fst (recursion.run 4 2 2 (1/2) 2)": last.V[1, 1],
        "snd (recursion.run 4 2 2 (1/2) 2)": last.W[2, 2] - last.W[3, 2],
    }
    return {name: value.item() for name, value in (found | {"recursion.loss_at 4 2 2 (1/2) 2": last.loss}).items()}


def test_the_recursion_is_the_run_of_full_matrices(layer):
    assert AREA.compiled(layer, "formal/recursion.v") is None
    good, answer = AREA.asked(layer, recursion(trained()))
    assert good, answer


def test_another_run_is_refused(layer):
    assert AREA.compiled(layer, "formal/recursion.v") is None
    found = trained()
    for name, value in found.items():
        good, answer = AREA.asked(layer, recursion({name: value + 1e-6}))
        assert not good and "Numerical evaluation failed" in answer


def test_the_subsets_are_all_of_their_size(layer):
    good, answer = AREA.asked(layer, f"{HEAD}\nEval compute in subsets 5 2.")
    found = re.findall(r"\[((?:true|false)(?:;\s*(?:true|false))*)\]", answer)
    members = [tuple(i for i, word in enumerate(re.split(r";\s*", each)) if word == "true") for each in found]
    assert good and len(members) == 10 and sorted(members) == list(combinations(range(5), 2))


def moments(found):
    """Return a text that Rocq accepts if a standard normal variable has the given moments."""
    goals = (f"Goal normal_moment {degree} = {value}.\nProof. simpl. lra. Qed." for degree, value in found.items())
    return "\n".join([HEAD, *goals])


def test_a_normal_moment_is_that_of_the_density(layer):
    nodes, weights = np.polynomial.hermite_e.hermegauss(8)
    found = {degree: round(float(weights @ nodes**degree / weights.sum())) for degree in range(8)}
    good, answer = AREA.asked(layer, moments(found))
    assert good, answer
    good, answer = AREA.asked(layer, moments({4: found[4] - 1}))
    assert not good and "Cannot find witness" in answer
