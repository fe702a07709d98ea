"""Guards of the export to Rocq: each refuses a planted error that would make "accepted" meaningless."""

import re
from pathlib import Path

import pytest

import theorems
import verify
from tests.verify.formal.test_refutations import made
from tests.verify.formal.test_rocq import NEGATION, RATIO, SQUARES, changed, written
from verify.formal import expressions, statements
from verify.formal.export import export
from verify.formal.kernel.compiling import compiled, logical_name
from verify.formal.kernel.running import checked_alone, ran

pytestmark = pytest.mark.formal
EXAMPLE = "Theorem example_in_scope : Statement.example_in_scope. exact I. Qed.\n"


@pytest.mark.parametrize(
    ("line", "witness", "relations"),
    [
        ("x**2 > 0", {"x": "0"}, {"Lt": "<=", "Gt": ">="}),
        ("x**2 <= x for x > 0", {"x": "2"}, {"Le": ">="}),
    ],
)
def test_a_translator_with_another_relation_does_not_refute_a_false_statement(
    tmp_path, monkeypatch, line, witness, relations
):
    (tmp_path / "right").mkdir()
    assert made(tmp_path / "right", line, witness).accepted
    monkeypatch.setattr(expressions, "RELATIONS", {**expressions.RELATIONS, **relations})
    (tmp_path / "wrong").mkdir()
    assert "Proof.v" in made(tmp_path / "wrong", line, witness).refused


def test_a_translator_without_definedness_does_not_refute_what_has_no_value(tmp_path, monkeypatch):
    # At x = −1 the claim has no value; in Rocq sqrt(−1) is 0.
    line = "sqrt(x) >= 0"
    assert "0 <= x" in export(verify.claim(line), seconds=1).files["Statement.v"]
    assert undefined(line, "(- 1)", tmp_path / "right").accepted
    monkeypatch.setattr(expressions.Terms, "_need", lambda *_: None)
    assert "Proof.v" in undefined(line, "(- 1)", tmp_path / "wrong").refused


def undefined(line, witness, folder):
    """Write the negation of a statement at a witness at which its claim has no value, and compile it."""
    written(line, folder, seconds=1)
    text = NEGATION.format(witness=witness, contradiction="destruct H as [H _]; lra.")
    (folder / "Proof.v").write_text(text.replace("Statement.hypothesis_claim", "Statement.claim_claim"))
    (folder / "Check.v").write_text("Require Proof.\nPrint Assumptions Proof.not_claim.\n")
    return compiled(folder)


def test_a_translator_that_drops_a_hypothesis_has_no_proof(tmp_path, monkeypatch):
    assert compiled_anew(RATIO, tmp_path / "right").accepted
    monkeypatch.setattr(statements.Stated, "supposed", lambda stated: [f"in_domain {stated.arguments}".strip()])
    assert not compiled_anew(RATIO, tmp_path / "wrong").accepted


def compiled_anew(line, folder):
    """Export a statement in a line, and compile it."""
    written(line, folder)
    return compiled(folder)


def test_the_statement_compiles_alone_and_requires_no_proof(tmp_path):
    written(SQUARES, tmp_path / "it")
    for name in ("Proof.v", "Check.v"):
        (tmp_path / "it" / name).unlink()
    command = ("coqc", "-q", "-R", ".", logical_name(tmp_path / "it"))
    assert ran(tmp_path / "it", *command, "Statement.v").good
    written(SQUARES, tmp_path / "other")
    path = tmp_path / "other" / "Statement.v"
    path.write_text("Require Proof.\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert "Statement.v" in compiled(tmp_path / "other").refused


def test_the_check_takes_the_statement_and_the_proof_by_qualified_names(tmp_path):
    found = written(SQUARES, tmp_path / "it")
    lines = found.files["Check.v"].splitlines()
    assert [line for line in lines if re.search("Require|Import|Export|Open|Notation", line)] == [
        "Require Statement Proof."
    ]
    # A module Statement inside the proof must not replace the exported module Statement.
    text = (
        "Require Statement.\nModule Statement. Definition claim_claim := True. Definition example_in_scope := True.\n"
        "End Statement.\nTheorem claim_claim : Statement.claim_claim. exact I. Qed.\n"
    )
    (tmp_path / "it" / "Proof.v").write_text(text + EXAMPLE, encoding="utf-8")
    assert "Check.v" in compiled(tmp_path / "it").refused


SWITCHED_OFF = {
    "Guard": "Fixpoint bad (n : nat) : False := bad n.\nDefinition no : False := bad 0.\n",
    "Positivity": "Inductive bad := Bad (f : bad -> False).\n"
    "Definition not_bad (b : bad) : False := match b with Bad f => f b end.\n"
    "Definition no : False := not_bad (Bad not_bad).\n",
}


@pytest.mark.parametrize("check", sorted(SWITCHED_OFF))
def test_a_check_of_the_kernel_that_is_switched_off_is_seen(tmp_path, check):
    written("x**2 + 1 > 2*x - 1", tmp_path / "it")
    proof = "Theorem claim_claim : Statement.claim_claim. destruct no. Qed.\n"
    text = f"Require Statement.\nUnset {check} Checking.\n{SWITCHED_OFF[check]}{proof}{EXAMPLE}"
    (tmp_path / "it" / "Proof.v").write_text(text, encoding="utf-8")
    assert compiled(tmp_path / "it").refused == "Proof.bad is assumed, which is not an axiom of Rocq's real numbers"


def test_the_checker_sees_a_universe_check_that_is_switched_off(tmp_path):
    written("x**2 + 1 > 2*x - 1", tmp_path / "it")
    changed(tmp_path / "it", "Proof.v", "Require Statement.\n", "Require Statement.\nUnset Universe Checking.\n")
    path = tmp_path / "it" / "Proof.v"
    text = path.read_text(encoding="utf-8")
    universe = "Definition inconsistent : Type := let U := Type in (U : U).\n"
    path.write_text(text + universe, encoding="utf-8")
    # Rocq lists the definitions that were compiled without the check, and its checker refuses the file.
    assert "is assumed" in compiled(tmp_path / "it").refused
    name = logical_name(tmp_path / "it")
    refused = checked_alone(tmp_path / "it", ["-R", str(tmp_path / "it"), name], [f"{name}.Proof"])
    assert refused == "coqchk: a check of the kernel is switched off somewhere"


POWERS = """
From Coq Require Import Reals ZArith Lra Lia.
Local Open Scope R_scope.
{definition}
Lemma whole : forall z : Z, Int_part (IZR z) = z.
Proof.
  intro z; destruct (base_Int_part (IZR z)) as [A B]; apply le_IZR in A.
  assert (C : IZR z < IZR (Int_part (IZR z) + 1)) by (rewrite plus_IZR; lra). apply lt_IZR in C; lia.
Qed.
Lemma not_whole : forall z k : Z, forall y : R, IZR k < y < IZR (k + 1) -> y <> IZR z.
Proof. intros z k y [A B] ->; apply lt_IZR in A, B; lia. Qed.
Ltac at_integer z := unfold real_power; rewrite (whole z); destruct (Req_EM_T _ _); [simpl; lra | lra].
Goal real_power 0 (1 / 2) = {half}.
Proof.
  unfold real_power; destruct (Req_EM_T _ _) as [E | _]; [exfalso; revert E; apply (not_whole _ 0); simpl; lra |].
  destruct (Req_EM_T 0 0); lra.
Qed.
Goal real_power 0 0 = 1. Proof. at_integer 0%Z. Qed.
Goal real_power 2 (-1) = 1 / 2. Proof. at_integer (-1)%Z. Qed.
Goal real_power (-2) 3 = - 8. Proof. at_integer 3%Z. Qed.
Goal ~ real_power_defined 0 (-1). Proof. unfold real_power_defined; lra. Qed.
Goal ~ real_power_defined (-1) (1 / 2).
Proof. unfold real_power_defined; intros [? | [? | [_ E]]]; try lra; revert E; apply (not_whole _ 0); simpl; lra. Qed.
"""


@pytest.mark.parametrize(("half", "accepted"), [("0", True), ("1", False)])
def test_powers_of_real_numbers_have_values_where_they_are_defined(tmp_path, half, accepted):
    (tmp_path / "Powers.v").write_text(POWERS.format(definition=expressions.OWN["real_power"], half=half))
    found = ran(tmp_path, "coqc", "-q", "Powers.v")
    assert found.good == accepted, found.error


@pytest.mark.parametrize(("value", "accepted"), [("0", True), ("1", False)])
def test_an_empty_sum_is_0(tmp_path, value, accepted):
    definitions = (Path(theorems.__file__).parent / "formal" / "definitions.v").read_text(encoding="utf-8")
    text = f"{definitions}\nRequire Import Lra.\nGoal forall f, sum 0 f = {value}. Proof. intro; simpl; lra. Qed.\n"
    (tmp_path / "Sums.v").write_text(text, encoding="utf-8")
    assert ran(tmp_path, "coqc", "-q", "Sums.v").good == accepted
