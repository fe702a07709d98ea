(** Sums and products of polynomials, with the exponents in each column. *)

Require Import Reals Lra Lia Arith.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
From PreconditionedDescent.formal.one_layer Require Import normal_mean.
Open Scope R_scope.

Section Polynomials.
Variables d m : nat.
Local Notation poly := (polynomial d m).

Lemma finite_product_one n f : (forall i, (i < n)%nat -> f i = 1) -> finite_product n f = 1.
Proof. induction n as [|n IH]; intro H; simpl; [reflexivity|]. rewrite IH, (H n) by auto with arith. ring. Qed.

Lemma finite_product_mult n f g : finite_product n (fun i => f i * g i) = finite_product n f * finite_product n g.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma finite_product_single n f j : (j < n)%nat -> (forall i, (i < n)%nat -> i <> j -> f i = 1) ->
  finite_product n f = f j.
Proof.
  intros Hj H. induction n as [|n IH]; [lia|]. simpl. destruct (Nat.eq_dec j n) as [->|N].
  - rewrite finite_product_one; [ring|]. intros i Hi. apply H; lia.
  - rewrite IH, (H n) by (lia || (intros; apply H; lia)). ring.
Qed.

Lemma polynomial_le b b' f : (forall j, (j < m)%nat -> (b j <= b' j)%nat) -> poly b f -> poly b' f.
Proof.
  intro H. induction 1 as [k Hk|c f g Hf IHf Hg IHg|f g E Hf IHf].
  - apply is_monomial. intros i j Hi Hj. specialize (Hk i j Hi Hj). specialize (H j Hj). lia.
  - apply is_combination; assumption.
  - apply is_equal with f; assumption.
Qed.

Lemma polynomial_one b : poly b (fun _ => 1).
Proof.
  apply is_equal with (monomial d m (fun _ _ => 0%nat)).
  - intro X. apply finite_product_one. intros. apply finite_product_one. reflexivity.
  - apply is_monomial. intros i j _ _. lia.
Qed.

Lemma polynomial_scal b c f : poly b f -> poly b (fun X => c * f X).
Proof.
  intro H. apply is_equal with (fun X => (1 + -1 * 1) + c * f X); [intro; ring|].
  apply (is_combination d m b c (fun _ => 1 + -1 * 1)); [|exact H].
  apply (is_combination d m b (-1) (fun _ => 1)); apply polynomial_one.
Qed.

Lemma polynomial_plus b f g : poly b f -> poly b g -> poly b (fun X => f X + g X).
Proof.
  intros Hf Hg. apply is_equal with (fun X => f X + 1 * g X); [intro; ring|]. apply is_combination; assumption.
Qed.

Lemma polynomial_sum b n (f : nat -> matrix -> R) : (forall i, (i < n)%nat -> poly b (f i)) ->
  poly b (fun X => sum n (fun i => f i X)).
Proof.
  induction n as [|n IH]; intro H; simpl.
  - apply is_equal with (fun X => 0 * 1); [intro; ring|]. apply (polynomial_scal b 0 (fun _ => 1)), polynomial_one.
  - apply (polynomial_plus b (fun X => sum n (fun i => f i X)) (f n)); auto with arith.
Qed.

Lemma polynomial_entry i j : (i < d)%nat -> (j < m)%nat ->
  poly (fun j' => if j' =? j then 1%nat else 0%nat) (fun X => X i j).
Proof.
  intros Hi Hj. set (k := fun i' j' => if andb (i' =? i) (j' =? j) then 1%nat else 0%nat).
  apply is_equal with (monomial d m k).
  - intro X. unfold monomial, k. rewrite (finite_product_single m _ j Hj), (finite_product_single d _ i Hi).
    + rewrite !Nat.eqb_refl. simpl. ring.
    + intros i' _ N. rewrite (proj2 (Nat.eqb_neq i' i) N). reflexivity.
    + intros j' _ N. apply finite_product_one. intros i' _. rewrite (proj2 (Nat.eqb_neq j' j) N), Bool.andb_false_r.
      reflexivity.
  - apply is_monomial. intros i' j' _ _. unfold k. destruct (i' =? i), (j' =? j); simpl; lia.
Qed.

Lemma polynomial_mult b b' f g : poly b f -> poly b' g -> poly (fun j => (b j + b' j)%nat) (fun X => f X * g X).
Proof.
  intros Hf Hg. induction Hf as [k Hk|c f f' Hf IHf Hf' IHf'|f f' E Hf IHf].
  - induction Hg as [l Hl|c g g' Hg IHg Hg' IHg'|g g' E Hg IHg].
    + apply is_equal with (monomial d m (fun i j => (k i j + l i j)%nat)).
      * intro X. unfold monomial. rewrite <- finite_product_mult. apply finite_product_ext. intros j _.
        rewrite <- finite_product_mult. apply finite_product_ext. intros i _. apply pow_add.
      * apply is_monomial. intros i j Hi Hj. specialize (Hk i j Hi Hj). specialize (Hl i j Hi Hj). lia.
    + apply is_equal with (fun X => monomial d m k X * g X + c * (monomial d m k X * g' X)); [intro; ring|].
      apply is_combination; assumption.
    + apply is_equal with (fun X => monomial d m k X * g X); [intro; rewrite E; reflexivity|exact IHg].
  - apply is_equal with (fun X => f X * g X + c * (f' X * g X)); [intro; ring|]. apply is_combination; assumption.
  - apply is_equal with (fun X => f X * g X); [intro; rewrite E; reflexivity|exact IHf].
Qed.
End Polynomials.
