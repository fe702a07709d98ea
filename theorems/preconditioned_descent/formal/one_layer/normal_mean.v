(** A mean with the normal moments up to the exponent 4 exists: each entry takes the values −√3, 0, √3 with the weights
    1/6, 2/3, 1/6, whose moments are 1, 0, 1, 0, 3. Every such mean agrees with it on polynomials. *)

Require Import Reals Lra Lia Arith FunctionalExtensionality.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
Open Scope R_scope.

(** ** Averages: linear on all functions, and never negative on functions that are not *)

Record average {T : Type} (E : (T -> R) -> R) : Prop := {
  average_ext f g : (forall v, f v = g v) -> E f = E g;
  average_combination c f g : E (fun v => f v + c * g v) = E f + c * E g;
  average_one : E (fun _ => 1) = 1;
  average_nonneg f : (forall v, 0 <= f v) -> 0 <= E f }.
Arguments average_ext {T E}.
Arguments average_combination {T E}.
Arguments average_one {T E}.
Arguments average_nonneg {T E}.

Section Averages.
Context {T : Type} {E : (T -> R) -> R} (A : average E).

Lemma average_plus f g : E (fun v => f v + g v) = E f + E g.
Proof.
  rewrite (average_ext A _ (fun v => f v + 1 * g v)) by (intro; ring). rewrite (average_combination A). ring.
Qed.

Lemma average_const c : E (fun _ => c) = c.
Proof.
  rewrite (average_ext A _ (fun _ => 1 + (c - 1) * 1)) by (intro; ring).
  rewrite (average_combination A), (average_one A). ring.
Qed.

Lemma average_scal c f : E (fun v => c * f v) = c * E f.
Proof.
  rewrite (average_ext A _ (fun v => 0 + c * f v)) by (intro; ring).
  rewrite (average_combination A c (fun _ => 0)), average_const. ring.
Qed.

Lemma average_sum n (f : nat -> T -> R) : E (fun v => sum n (fun i => f i v)) = sum n (fun i => E (f i)).
Proof. induction n as [|n IH]; simpl; [apply average_const|]. rewrite average_plus, IH. reflexivity. Qed.

Lemma average_le f g : (forall v, f v <= g v) -> E f <= E g.
Proof.
  intro H. assert (0 <= E (fun v => g v + -1 * f v)) by (apply (average_nonneg A); intro v; specialize (H v); lra).
  rewrite (average_combination A) in *. lra.
Qed.
End Averages.

(** ** The three points *)

Definition three_points (f : R -> R) : R := (f (- sqrt 3) + 4 * f 0 + f (sqrt 3)) / 6.

Lemma three_points_average : average three_points.
Proof.
  unfold three_points. split.
  - intros f g H. rewrite !H. reflexivity.
  - intros c f g. field.
  - field.
  - intros f H. pose proof (H (- sqrt 3)). pose proof (H 0). pose proof (H (sqrt 3)). lra.
Qed.

Lemma three_points_moment k : (k <= 4)%nat -> three_points (fun t => t ^ k) = normal_moment k.
Proof.
  intro H. pose proof (sqrt_sqrt 3 ltac:(lra)) as Q. unfold three_points.
  destruct k as [|[|[|[|[|k]]]]]; [| | | | |lia]; simpl; rewrite ?Rmult_1_r.
  - field.
  - field.
  - replace (- sqrt 3 * - sqrt 3) with (sqrt 3 * sqrt 3) by ring. rewrite Q. field.
  - field.
  - replace (- sqrt 3 * (- sqrt 3 * (- sqrt 3 * - sqrt 3))) with (sqrt 3 * sqrt 3 * (sqrt 3 * sqrt 3)) by ring.
    replace (sqrt 3 * (sqrt 3 * (sqrt 3 * sqrt 3))) with (sqrt 3 * sqrt 3 * (sqrt 3 * sqrt 3)) by ring.
    rewrite Q. field.
Qed.

(** ** The mean over d entries of a column, and over the columns of a table *)

Fixpoint vector_mean (d : nat) (f : vector -> R) : R :=
  match d with
  | O => f (fun _ => 0)
  | S m => three_points (fun t => vector_mean m (fun v => f (with_entry v m t)))
  end.

Lemma vector_mean_average d : average (vector_mean d).
Proof.
  induction d as [|d IH]; split; simpl.
  - auto.
  - reflexivity.
  - reflexivity.
  - auto.
  - intros f g H. apply (average_ext three_points_average). intro t. apply (average_ext IH). auto.
  - intros c f g. rewrite <- (average_combination three_points_average). apply (average_ext three_points_average).
    intro t. apply (average_combination IH).
  - rewrite (average_ext three_points_average _ (fun _ => 1)) by (intro; apply (average_one IH)).
    apply (average_one three_points_average).
  - intros f H. apply (average_nonneg three_points_average). intro t. apply (average_nonneg IH). auto.
Qed.

Definition with_column (g : matrix) (j : nat) (v : vector) : matrix := fun i k => if k =? j then v i else g i k.
Fixpoint table_mean (d m : nat) (f : matrix -> R) : R :=
  match m with
  | O => f (fun _ _ => 0)
  | S k => vector_mean d (fun v => table_mean d k (fun g => f (with_column g k v)))
  end.

Lemma table_mean_average d m : average (table_mean d m).
Proof.
  induction m as [|m IH]; split; simpl.
  - auto.
  - reflexivity.
  - reflexivity.
  - auto.
  - intros f g H. apply (average_ext (vector_mean_average d)). intro v. apply (average_ext IH). auto.
  - intros c f g. rewrite <- (average_combination (vector_mean_average d)).
    apply (average_ext (vector_mean_average d)). intro v. apply (average_combination IH).
  - rewrite (average_ext (vector_mean_average d) _ (fun _ => 1)) by (intro; apply (average_one IH)).
    apply (average_one (vector_mean_average d)).
  - intros f H. apply (average_nonneg (vector_mean_average d)). intro v. apply (average_nonneg IH). auto.
Qed.

(** ** The moments *)

Lemma finite_product_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> finite_product n f = finite_product n g.
Proof. induction n as [|n IH]; intro H; simpl; [reflexivity|]. rewrite IH, (H n) by auto with arith. reflexivity. Qed.

Lemma vector_mean_monomial d (k : nat -> nat) : (forall i, (i < d)%nat -> (k i <= 4)%nat) ->
  vector_mean d (fun v => finite_product d (fun i => v i ^ k i)) = finite_product d (fun i => normal_moment (k i)).
Proof.
  induction d as [|d IH]; intro H; simpl; [reflexivity|]. rewrite <- IH by auto with arith.
  rewrite <- three_points_moment by auto with arith. rewrite <- (average_scal three_points_average).
  apply (average_ext three_points_average). intro t. rewrite Rmult_comm, <- (average_scal (vector_mean_average d)).
  apply (average_ext (vector_mean_average d)). intro v. unfold with_entry at 2. rewrite Nat.eqb_refl, Rmult_comm.
  f_equal. apply finite_product_ext. intros i Hi. unfold with_entry. rewrite (proj2 (Nat.eqb_neq i d)) by lia.
  reflexivity.
Qed.

Lemma table_mean_monomial d m k : exponents_at_most d m four k ->
  table_mean d m (monomial d m k) = finite_product m (fun j => finite_product d (fun i => normal_moment (k i j))).
Proof.
  unfold monomial. induction m as [|m IH]; intro H; simpl; [reflexivity|].
  rewrite <- IH by (intros i j Hi Hj; apply H; lia). rewrite <- vector_mean_monomial by (intros i Hi; apply H; lia).
  rewrite <- (average_scal (vector_mean_average d)). apply (average_ext (vector_mean_average d)). intro v.
  rewrite Rmult_comm, <- (average_scal (table_mean_average d m)). apply (average_ext (table_mean_average d m)).
  intro g. rewrite Rmult_comm. f_equal.
  - apply finite_product_ext. intros i _. unfold with_column. rewrite Nat.eqb_refl. reflexivity.
  - apply finite_product_ext. intros j Hj. apply finite_product_ext. intros i _. unfold with_column.
    rewrite (proj2 (Nat.eqb_neq j m)) by lia. reflexivity.
Qed.

Lemma table_mean_is_normal d m : normal_mean d m (table_mean d m).
Proof.
  split.
  - apply average_ext, table_mean_average.
  - intros c f g _ _. apply average_combination, table_mean_average.
  - apply table_mean_monomial.
Qed.

Theorem normal_mean_exists : claims.normal_mean_exists.
Proof. intros d m. exists (table_mean d m). apply table_mean_is_normal. Qed.

(** Every mean with these moments equals this mean on polynomials. *)
Lemma normal_mean_of_polynomial d m N f : normal_mean d m N -> polynomial d m four f -> N f = table_mean d m f.
Proof.
  intros HN. induction 1 as [k Hk|c f g Hf IHf Hg IHg|f g E Hf IHf].
  - rewrite (mean_of_monomial d m N HN), table_mean_monomial by exact Hk. reflexivity.
  - rewrite (mean_of_combination d m N HN) by assumption. rewrite (average_combination (table_mean_average d m)).
    rewrite IHf, IHg. reflexivity.
  - rewrite <- (mean_of_equal d m N HN f g E), <- (average_ext (table_mean_average d m) f g E). exact IHf.
Qed.

(** ** Averages exchange with the mean over a column, and are even *)

Lemma average_swap {T : Type} (E : (T -> R) -> R) d (f : T -> vector -> R) : average E ->
  E (fun X => vector_mean d (f X)) = vector_mean d (fun v => E (fun X => f X v)).
Proof.
  intro A. revert f. induction d as [|d IH]; intro f; simpl; [reflexivity|].
  rewrite (average_ext three_points_average _ _
    (fun t => eq_sym (IH (fun X v => f X (with_entry v d t))))).
  unfold three_points, Rdiv.
  rewrite (average_ext A _ (fun X => / 6 * (vector_mean d (fun v => f X (with_entry v d (- sqrt 3)))
    + 4 * vector_mean d (fun v => f X (with_entry v d 0)) + vector_mean d (fun v => f X (with_entry v d (sqrt 3))))))
    by (intro; ring).
  rewrite (average_scal A), !(average_plus A), (average_scal A). ring.
Qed.

Lemma vector_mean_negated d (f : vector -> R) : vector_mean d (fun v => f (fun k => - v k)) = vector_mean d f.
Proof.
  revert f. induction d as [|d IH]; intro f; simpl.
  - f_equal. apply functional_extensionality. intro. apply Ropp_0.
  - transitivity (three_points (fun t => vector_mean d (fun v => f (with_entry v d (- t))))).
    + apply (average_ext three_points_average). intro t. rewrite <- (IH (fun v => f (with_entry v d (- t)))).
      apply (average_ext (vector_mean_average d)). intro v. f_equal. apply functional_extensionality. intro k.
      unfold with_entry. destruct (k =? d); reflexivity.
    + unfold three_points. rewrite Ropp_involutive, Ropp_0. unfold Rdiv. ring.
Qed.

Lemma vector_mean_odd d (f : vector -> R) : (forall v, f (fun k => - v k) = - f v) -> vector_mean d f = 0.
Proof.
  intro H. pose proof (vector_mean_negated d f) as E. pose proof (vector_mean_average d) as A.
  rewrite (average_ext A _ (fun v => -1 * f v)), (average_scal A) in E; [lra|]. intro v. rewrite H. ring.
Qed.
