(** Finite sums with the entries of the identity. *)

Require Import Reals Lra Lia Arith.
From Formal Require Export sums.
From SparseTokenSelection Require Import definitions.
Open Scope R_scope.

(** Σ_i [i = j] f(i) = f(j). *)
Lemma sum_one_hot n j f : (j < n)%nat -> sum n (fun i => one_hot i j * f i) = f j.
Proof.
  induction n as [|n IH]; intro H; [lia|]. simpl. unfold one_hot in *.
  destruct (Nat.eq_dec n j) as [<-|N].
  - rewrite Nat.eqb_refl, sum_zero; [ring|]. intros i Hi. rewrite (proj2 (Nat.eqb_neq i n)) by lia. ring.
  - rewrite IH, (proj2 (Nat.eqb_neq n j)) by lia. ring.
Qed.

Lemma one_hot_same i : one_hot i i = 1.
Proof. unfold one_hot. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma one_hot_other i j : i <> j -> one_hot i j = 0.
Proof. intro H. unfold one_hot. rewrite (proj2 (Nat.eqb_neq i j)) by assumption. reflexivity. Qed.

Lemma one_hot_sym i j : one_hot i j = one_hot j i.
Proof. unfold one_hot. rewrite Nat.eqb_sym. reflexivity. Qed.
