(** Lemmas 6 and 5: the query's label is only added, and the loss is the mean square of the filled-in label. *)

Require Import Reals Lra Lia Arith.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
Open Scope R_scope.

(** Z' is Z with c added to the query's label. *)
Definition label_added (d n : nat) (c : R) (Z Z' : matrix) : Prop := forall i j, (i <= d)%nat -> (j <= n)%nat ->
  Z' i j = Z i j + (if andb (i =? d) (j =? n) then c else 0).

Lemma label_added_example d n c Z Z' i j : label_added d n c Z Z' -> (i <= d)%nat -> (j < n)%nat -> Z' i j = Z i j.
Proof.
  intros H Hi Hj. rewrite H by lia. rewrite (proj2 (Nat.eqb_neq j n)), Bool.andb_false_r by lia. ring.
Qed.

Lemma label_added_token d n c Z Z' i j : label_added d n c Z Z' -> (i < d)%nat -> (j <= n)%nat -> Z' i j = Z i j.
Proof. intros H Hi Hj. rewrite H by lia. rewrite (proj2 (Nat.eqb_neq i d)) by lia. simpl. ring. Qed.

(** The examples do not see the query's column, and no column sees the query's label: the last column of Q is 0. *)
Lemma seen_without_label d n c Q Z Z' m j : (forall i, (i <= d)%nat -> Q i d = 0) -> label_added d n c Z Z' ->
  (m < n)%nat -> (j <= n)%nat -> seen d Q Z' m j = seen d Q Z m j.
Proof.
  intros HQ H Hm Hj. apply sum_ext. intros a Ha. unfold transpose.
  rewrite (label_added_example d n c Z Z') by (assumption || lia). f_equal. apply sum_ext. intros b Hb.
  destruct (Nat.eq_dec b d) as [->|N]; [rewrite HQ by lia; ring|].
  rewrite (label_added_token d n c Z Z') by (assumption || lia). reflexivity.
Qed.

Lemma label_added_layer d n c P Q Z Z' : (forall i, (i <= d)%nat -> Q i d = 0) -> label_added d n c Z Z' ->
  label_added d n c (layer d n P Q Z) (layer d n P Q Z').
Proof.
  intros HQ H i j Hi Hj. rewrite !layer_entry, (H i j) by assumption.
  rewrite (sum_ext n (fun m => product (S d) P Z' i m * _) (fun m => product (S d) P Z i m * seen d Q Z m j)); [ring|].
  intros m Hm. rewrite (seen_without_label d n c Q Z Z') by assumption. f_equal.
  apply sum_ext. intros k Hk. rewrite (label_added_example d n c Z Z') by (assumption || lia). reflexivity.
Qed.

Theorem label_is_added : lemma6_outputs.
Proof.
  intros d n L P Q x y c _ HQ. fold (label_added d n c (forward d n L P Q (prompt d n x y 0))
    (forward d n L P Q (prompt d n x y c))).
  induction L as [|L IH]; simpl.
  - intros i j Hi Hj. unfold prompt. destruct (Nat.ltb_spec i d) as [Ht|Ht].
    + rewrite (proj2 (Nat.eqb_neq i d)) by lia. simpl. ring.
    + rewrite (proj2 (Nat.eqb_eq i d)) by lia. simpl. destruct (Nat.ltb_spec j n) as [Hn|Hn].
      * rewrite (proj2 (Nat.eqb_neq j n)) by lia. ring.
      * rewrite (proj2 (Nat.eqb_eq j n)) by lia. ring.
  - apply label_added_layer; [intros i Hi; apply HQ; lia|]. apply IH. intros l i Hl. apply HQ. lia.
Qed.

Theorem error_is_filled_in_label : lemma5_error.
Proof.
  intros d n L P Q x w Hn HQ. unfold error, prediction, filled_in_label.
  rewrite (label_is_added d n L P Q x (labels d x w) (labels d x w n) Hn HQ d n) by lia.
  rewrite !Nat.eqb_refl. simpl. ring.
Qed.

Theorem loss_is_mean_square : lemma5_mean_square.
Proof.
  intros d n L P Q E Hn HQ HE. apply HE. intros x w. rewrite error_is_filled_in_label by assumption. ring.
Qed.

(** ** A prompt of ones, d = n = 1, P of ones, Q with ones in its last column alone: a label c of the query becomes 5c,
    and its token 1 + 4c *)

Definition ones : matrix := fun _ _ => 1.
Definition last_column_of_ones : matrix := fun _ j => if j =? 1 then 1 else 0.

Lemma layer_of_ones y c i : y 0%nat = 1 -> (i <= 1)%nat ->
  forward 1 1 1 (fun _ => ones) (fun _ => last_column_of_ones) (prompt 1 1 ones y c) i 1%nat =
  if i =? 0 then 1 + 4 * c else 5 * c.
Proof.
  intros Hy Hi. simpl forward. rewrite layer_entry. change (INR 1) with 1.
  destruct i as [|[|i]]; [| |lia];
    unfold seen, product, transpose, prompt, ones, last_column_of_ones; simpl; rewrite Hy; field.
Qed.

Theorem label_is_not_added : lemma6_any_last_column.
Proof.
  exists 1%nat, 1%nat, (fun _ => ones), (fun _ => last_column_of_ones), ones, (fun _ => 1), 1.
  rewrite !layer_of_ones by (lia || reflexivity). simpl. repeat split; (lia || lra).
Qed.

(** E takes the value at that prompt, with w = 1. *)
Theorem loss_is_not_mean_square : lemma5_any_last_column.
Proof.
  exists 1%nat, 1%nat, (fun _ => ones), (fun _ => last_column_of_ones), (fun f => f ones (fun _ => 1)).
  split; [lia|]. split; [lia|]. split; [intros f g H; apply H|].
  assert (Y : forall j, labels 1 ones (fun _ => 1) j = 1) by (intro j; unfold labels, ones; simpl; ring).
  unfold in_context_loss, error, prediction, filled_in_label. rewrite !layer_of_ones, Y by (apply Y || lia).
  simpl. lra.
Qed.
