"""A package with claims in Rocq, and their proofs."""

DEFINITIONS = """
(** The definitions. *)
Require Import Reals.
Open Scope R_scope.
Definition half : R := 1 / 2.
Definition third : R := 1 / 3.
Section Other.
Variables a b : R.
Definition other : R := a + b.
End Other.
"""
CLAIMS = """
Require Import Reals.
From Halves Require Import definitions.
Open Scope R_scope.
Definition positive : Prop := 0 < half.
Definition below : Prop := half < 1.
"""
PROOFS = """
Require Import Reals Lra.
From Halves Require Import definitions.
From Halves Require claims.
Open Scope R_scope.
Theorem positive_holds : claims.positive. Proof. unfold claims.positive, half. lra. Qed.
Theorem below_holds : claims.below. Proof. unfold claims.below, half. lra. Qed.
"""


def write(folder):
    """Write a package with `.v` files into a folder."""
    (folder / "halves").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    for file, text in (("definitions", DEFINITIONS), ("claims", CLAIMS), ("proofs", PROOFS)):
        (folder / "halves" / f"{file}.v").write_text(text, encoding="utf-8")
