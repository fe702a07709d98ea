(** A mean with the normal moments up to degree 3 exists: the mean over all tables of signs ±1, as a sign has the
  moments
    1, 0, 1, 0 of a standard normal variable. *)

Require Import Reals Lra Lia Arith.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal Require Import claims.
From SparseTokenSelection.formal.layer Require Import sums expectation.
Open Scope R_scope.

(** The mean over n signs of a function of them; sign i < n is the i-th. *)
Definition set_sign (s : nat -> R) (n : nat) (t : R) : nat -> R := fun i => if i =? n then t else s i.
Fixpoint mean_over_signs (n : nat) (f : (nat -> R) -> R) : R :=
  match n with
  | O => f (fun _ => 0)
  | S m => / 2 * (mean_over_signs m (fun s => f (set_sign s m 1)) + mean_over_signs m (fun s => f (set_sign s m (-1))))
  end.

Lemma mean_over_signs_ext n f g : (forall s, f s = g s) -> mean_over_signs n f = mean_over_signs n g.
Proof.
  revert f g. induction n as [|n IH]; intros f g H; simpl; [apply H|].
  rewrite (IH (fun s => f (set_sign s n 1)) (fun s => g (set_sign s n 1))) by auto.
  rewrite (IH (fun s => f (set_sign s n (-1))) (fun s => g (set_sign s n (-1)))) by auto. reflexivity.
Qed.

Lemma mean_over_signs_combination n c f g :
  mean_over_signs n (fun s => f s + c * g s) = mean_over_signs n f + c * mean_over_signs n g.
Proof. revert f g. induction n as [|n IH]; intros f g; simpl; [reflexivity|]. rewrite !IH. ring. Qed.

(** The signs are independent. *)
Lemma mean_over_signs_product n (k : nat -> nat) :
  mean_over_signs n (fun s => product n (fun i => s i ^ k i)) = product n (fun i => / 2 * (1 ^ k i + (-1) ^ k i)).
Proof.
  induction n as [|n IH]; simpl; [reflexivity|].
  assert (Own : forall s t, product n (fun i => set_sign s n t i ^ k i) = product n (fun i => s i ^ k i)).
  { intros s t. apply product_ext. intros i Hi. unfold set_sign. rewrite (proj2 (Nat.eqb_neq i n)) by lia.
    reflexivity. }
  assert (Factor : forall t, mean_over_signs n
      (fun s => product n (fun i => set_sign s n t i ^ k i) * set_sign s n t n ^ k n)
      = mean_over_signs n (fun s => product n (fun i => s i ^ k i)) * t ^ k n).
  { intro t. rewrite (mean_over_signs_ext n _ (fun s => 0 + t ^ k n * product n (fun i => s i ^ k i))).
    - rewrite (mean_over_signs_combination n _ (fun _ => 0)).
      replace (mean_over_signs n (fun _ => 0)) with 0 by (clear; induction n as [|n IH]; simpl; [|rewrite <- IH];
        lra). ring.
    - intro s. rewrite Own. unfold set_sign. rewrite Nat.eqb_refl. ring. }
  rewrite !Factor, IH. ring.
Qed.

Lemma sign_moment k : (k <= 3)%nat -> / 2 * (1 ^ k + (-1) ^ k) = normal_moment k.
Proof. intro H. destruct k as [|[|[|[|k]]]]; [| | | |lia]; simpl; field. Qed.

(** A table of d rows and T columns of signs, row by row in one list. *)
Definition table (T : nat) (s : nat -> R) : matrix := fun a i => s (a * T + i)%nat.
Definition mean_over_tables (d T : nat) (f : matrix -> R) : R := mean_over_signs (d * T) (fun s => f (table T s)).

Lemma product_split n m f : product (n + m) f = product n f * product m (fun k => f (n + k)%nat).
Proof. induction m as [|m IH]; [rewrite Nat.add_0_r; simpl; ring|]. rewrite Nat.add_succ_r. simpl. rewrite IH. ring.
Qed.

Lemma product_of_rows d T f : product d (fun a => product T (fun i => f (a * T + i)%nat)) = product (d * T) f.
Proof.
  induction d as [|d IH]; simpl; [reflexivity|]. rewrite IH, (Nat.add_comm T), product_split. reflexivity.
Qed.

Lemma nat_sum_least n f j : (j < n)%nat -> (f j <= nat_sum n f)%nat.
Proof.
  induction n as [|n IH]; intro H; simpl; [lia|]. destruct (Nat.eq_dec j n) as [->|N]; [lia|].
  specialize (IH ltac:(lia)). lia.
Qed.

Theorem sign_tables_are_a_mean : mean_exists.
Proof.
  intros d T. exists (mean_over_tables d T). split.
  - intros f g H. apply mean_over_signs_ext. auto.
  - intros c f g _ _. apply (mean_over_signs_combination (d * T) c (fun s => f (table T s)) (fun s => g (table T s))).
  - intros k Hk. unfold mean_over_tables, monomial. set (flat := fun m => k (m / T)%nat (m mod T)).
    assert (Place : forall a i, (i < T)%nat -> flat (a * T + i)%nat = k a i).
    { intros a i Hi. unfold flat. rewrite Nat.add_comm. rewrite Nat.div_add, Nat.mod_add by lia.
      rewrite Nat.div_small, Nat.mod_small by assumption. reflexivity. }
    rewrite (mean_over_signs_ext _ _ (fun s => product (d * T) (fun m => s m ^ flat m))).
    + rewrite mean_over_signs_product. rewrite <- product_of_rows. apply product_ext. intros a Ha.
      apply product_ext. intros i Hi. rewrite Place by assumption. apply sign_moment.
      apply Nat.le_trans with (2 := Hk). unfold degree. apply Nat.le_trans with (nat_sum T (k a)).
      * apply nat_sum_least. assumption.
      * apply (nat_sum_least d (fun a => nat_sum T (k a))). assumption.
    + intro s. rewrite <- product_of_rows. apply product_ext. intros a _. apply product_ext. intros i Hi.
      rewrite Place by assumption. reflexivity.
Qed.
