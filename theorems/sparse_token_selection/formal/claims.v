(** The claims in words of Lemma 1, and of the results on the run that follow from it, as propositions. *)

Require Import Reals Bool Arith.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal Require recursion.
Open Scope R_scope.

(** ** Lemma 1: T, q and d with 2 ≤ T, 1 ≤ q ≤ T, 1 ≤ d; every η; every mean with the normal moments up to degree 3 *)

(** V = (α I, 0) and W = diag(0, C (I − 11ᵀ/T)). *)
Definition on_the_set (d T : nat) (alpha C : R) (W V : matrix) : Prop :=
  (forall r c, (r < d + T)%nat -> (c < d + T)%nat ->
    W r c = if (r <? d) || (c <? d) then 0 else C * (one_hot r c - / INR T)) /\
  (forall a r, (a < d)%nat -> (r < d + T)%nat -> V a r = alpha * one_hot a r).

(** A run of the layer with one-hot encodings, and its population loss. *)
Definition one_hot_descent (d T : nat) := descent d T T one_hot.
Definition one_hot_loss (d T : nat) := population_loss d T T one_hot.
Definition run (T q d : nat) (eta : R) := recursion.run (INR T) (INR q) (INR d) eta.

Definition sizes (T q d : nat) : Prop := (2 <= T)%nat /\ (1 <= q <= T)%nat /\ (1 <= d)%nat.

(** Lemma 1, `kept`: gradient descent from zero stays on the set; α and C move by the recursion. *)
Definition kept : Prop := forall T q d eta E W V,
  sizes T q d -> normal_mean d T 3 E -> one_hot_descent d T q E eta W V ->
  forall n, on_the_set d T (fst (run T q d eta n)) (snd (run T q d eta n)) (W n) (V n).

(** Lemma 1, `population_loss`: on the set the population loss is d/(2q) (1 − 2αP + α²PS). *)
Definition loss_on_the_set : Prop := forall T q d alpha C E W V,
  sizes T q d -> normal_mean d T 3 E -> on_the_set d T alpha C W V ->
  one_hot_loss d T q E W V = recursion.loss (INR T) (INR q) (INR d) alpha C.

(** A run exists: every entry of the gradient is defined at every point. *)
Definition run_exists : Prop := forall T q d eta E, sizes T q d -> exists W V, one_hot_descent d T q E eta W V.

(** A mean with the normal moments up to degree 3 exists. *)
Definition mean_exists : Prop := forall d T, exists E, normal_mean d T 3 E.
