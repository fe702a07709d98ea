(** Theorem 1: one layer's loss is Σ_k λ_k times the mean square of a component, and P = diag(0, 1), Q = −diag(A, 0)
    makes every component least. *)

Require Import Reals Lra Lia Arith.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
From PreconditionedDescent.formal.one_layer Require Import normal_mean polynomials token_moments component
  component_mean prompt_table component_minimum.
Open Scope R_scope.

(** ** The error of one layer, by components *)

Definition rank_one (q p : vector) : matrix := fun i j => q i * p j.
Definition unit_vector (b : nat) : vector := fun k => if k =? b then 1 else 0.

Section Layer.
Variables (d n : nat) (P Q x : matrix) (w : vector).
Let Z : matrix := prompt d n x (labels d x w) 0.

Lemma trace_of_rank_one q p : sum (S d) (fun i => product (S d) (gram n Z) (rank_one q p) i i) =
  sum n (fun m => sum (S d) (fun i => p i * Z i m) * sum (S d) (fun j => q j * Z j m)) / INR n.
Proof.
  unfold product, rank_one, gram, Rdiv.
  rewrite (sum_ext (S d) _ (fun i => sum (S d) (fun j => sum n (fun m => p i * Z i m * (q j * Z j m) * / INR n)))).
  - rewrite <- sum_scal_r. rewrite (sum_ext n _ (fun m => sum (S d) (fun i => sum (S d) (fun j =>
      p i * Z i m * (q j * Z j m) * / INR n)))).
    + rewrite (sum_swap n). apply sum_ext. intros i _. apply sum_swap.
    + intros m _. rewrite <- !sum_scal_r. apply sum_ext. intros i _. rewrite <- sum_scal, <- sum_scal_r.
      reflexivity.
  - intros i _. apply sum_ext. intros j _. rewrite <- !sum_scal_r. apply sum_ext. intros m _. ring.
Qed.

(** h_b = tr(G q_b pᵀ) + w_b, with p the last row of P and q_b the columns of Q. *)
Definition column_error (b : nat) : R := component_error d n (rank_one (column Q b) (P d)) (unit_vector b) x w.

Lemma dot_unit_vector b : (b < d)%nat -> sum d (fun k => unit_vector b k * w k) = w b.
Proof.
  intro Hb. unfold unit_vector. rewrite (sum_single d _ b Hb).
  - rewrite Nat.eqb_refl. ring.
  - intros k _ N. rewrite (proj2 (Nat.eqb_neq k b) N). ring.
Qed.

Lemma error_by_columns : error d n 1 (fun _ => P) (fun _ => Q) x w = - sum d (fun b => x b n * column_error b).
Proof.
  unfold error, prediction. simpl forward. fold Z. rewrite layer_entry. unfold Z at 1. rewrite prompt_query.
  rewrite (sum_ext d _ (fun b => w b * x b n + x b n / INR n *
    sum n (fun m => sum (S d) (fun i => P d i * Z i m) * sum (S d) (fun j => Q j b * Z j m)))).
  - rewrite sum_plus. fold (labels d x w n).
    assert (E : sum n (fun m => product (S d) P Z d m * seen d Q Z m n) / INR n = sum d (fun b => x b n / INR n *
      sum n (fun m => sum (S d) (fun i => P d i * Z i m) * sum (S d) (fun j => Q j b * Z j m)))); [|rewrite E; ring].
    unfold Rdiv. rewrite <- sum_scal_r.
    rewrite (sum_ext d _ (fun b => sum n (fun m => product (S d) P Z d m * (x b n * sum (S d) (fun j => Q j b * Z j m))
      * / INR n))).
    + rewrite sum_swap. apply sum_ext. intros m _. rewrite sum_scal_r, sum_scal. do 2 f_equal.
      unfold seen, product at 1, transpose.
      rewrite (sum_ext d _ (fun b => sum (S d) (fun j => Z j m * (Q j b * x b n)))).
      * rewrite sum_swap. apply sum_ext. intros j _. rewrite sum_scal. f_equal. unfold product. simpl sum.
        unfold Z at 2. rewrite prompt_query, Rmult_0_r, Rplus_0_r. apply sum_ext. intros b Hb.
        unfold Z. rewrite prompt_token by exact Hb. reflexivity.
      * intros b _. rewrite <- sum_scal. apply sum_ext. intros j _. ring.
    + intros b _. rewrite <- sum_scal. apply sum_ext. intros m _. unfold product. ring.
  - intros b Hb. unfold column_error, component_error. fold Z. rewrite trace_of_rank_one, dot_unit_vector by exact Hb.
    unfold column, Rdiv. ring.
Qed.

(** Σ_b U_bk h_b is the component along U_k. *)
Definition along (U : matrix) (k : nat) : matrix := rank_one (fun j => sum d (fun b => Q j b * U b k)) (P d).

Lemma error_along U k : sum d (fun b => column_error b * U b k) = component_error d n (along U k) (column U k) x w.
Proof.
  unfold column_error, component_error, along. fold Z. rewrite trace_of_rank_one.
  rewrite (sum_ext d _ (fun b => U b k * w b + sum n (fun m => sum (S d) (fun i => P d i * Z i m) *
    (sum (S d) (fun j => Q j b * Z j m) * U b k)) * / INR n)).
  - rewrite sum_plus, Rplus_comm. f_equal. unfold Rdiv. rewrite sum_scal_r, sum_swap. f_equal.
    apply sum_ext. intros m _. rewrite sum_scal. f_equal. rewrite (sum_ext d _ (fun b => sum (S d) (fun j => Q j b * U b k * Z j m))).
    + rewrite sum_swap. apply sum_ext. intros j _. apply sum_scal_r.
    + intros b _. rewrite <- sum_scal_r. apply sum_ext. intros j _. ring.
  - intros b Hb. rewrite trace_of_rank_one, dot_unit_vector by exact Hb. unfold column, Rdiv.
    rewrite Rmult_plus_distr_r, Rplus_comm. f_equal; [ring|].
    rewrite Rmult_assoc, (Rmult_comm (/ INR n)), <- Rmult_assoc. f_equal. rewrite <- sum_scal_r. apply sum_ext. intros m _. ring.
Qed.
End Layer.

(** ** Every normal mean of the squared error is that over the table *)

Definition two : nat -> nat := fun _ => 2%nat.

Lemma polynomial_error d n C P Q : polynomial d (S (S n)) two
  (fun g => error d n 1 (fun _ => P) (fun _ => Q) (product d C g) (fun k => g k (S n))).
Proof.
  set (h := fun b g => column_error d n P Q (product d C g) (fun k => g k (S n)) b).
  apply is_equal with (fun g => -1 * sum d (fun b => product d C g b n * h b g)).
  { intro g. rewrite error_by_columns. unfold h. ring. }
  apply (polynomial_scal d (S (S n)) two (-1)), polynomial_sum. intros b Hb.
  eapply polynomial_le; [|apply polynomial_mult; [apply (polynomial_token d n C b n); lia|apply polynomial_component]].
  intros j _. unfold two_but_query, two. simpl. destruct (j =? n); lia.
Qed.

Lemma loss_of_every_mean d n C P Q N : normal_mean d (S (S n)) N ->
  one_layer_loss d n N C P Q = one_layer_loss d n (table_mean d (S (S n))) C P Q.
Proof.
  intro HN. unfold one_layer_loss, in_context_loss, over_prompts. apply (normal_mean_of_polynomial d (S (S n)) N _ HN).
  set (f := fun g => error d n 1 (fun _ => P) (fun _ => Q) (product d C g) (fun k => g k (S n))).
  apply is_equal with (fun g => f g * f g); [intro g; unfold f; ring|].
  apply (polynomial_mult d (S (S n)) two two); apply polynomial_error.
Qed.

(** ** The loss by components *)

Section Minimum.
Variables (d n : nat) (C U : matrix) (lambda : vector).
Hypothesis Hn : (1 <= n)%nat.
Hypothesis H : covariance d C U lambda.

(** The error is −⟨Cᵀ h, v⟩, linear in the query's standard normal vector v. *)
Lemma error_of_table P Q g v w (G := whole_table n g v w)
  (h := column_error d n P Q (product d C g) w) :
  error d n 1 (fun _ => P) (fun _ => Q) (product d C G) (fun k => G k (S n)) =
  - dot d (fun k => dot d h (column C k)) v.
Proof.
  rewrite error_by_columns. f_equal. unfold dot, column.
  rewrite (sum_ext d _ (fun b => sum d (fun k => h b * C b k * v k))).
  - rewrite sum_swap. apply sum_ext. intros k _. apply sum_scal_r.
  - intros b _. unfold product at 1. rewrite <- sum_scal_r. apply sum_ext. intros k _. unfold G at 1.
    rewrite whole_table_query.
    replace (column_error d n P Q (product d C G) (fun k => G k (S n)) b) with (h b); [ring|].
    apply component_error_ext.
    + intros i m _ Hm. apply sum_ext. intros l _. unfold G. rewrite whole_table_example by exact Hm. reflexivity.
    + intros l _. unfold G. rewrite whole_table_target. reflexivity.
Qed.

Lemma loss_by_components P Q : one_layer_loss d n (table_mean d (S (S n))) C P Q =
  sum d (fun k => lambda k * examples_component d n C U (along d P Q U k) k).
Proof.
  pose proof (table_mean_average d n) as A. pose proof (vector_mean_average d) as V.
  unfold one_layer_loss, in_context_loss, over_prompts. cbn [table_mean].
  transitivity (examples_mean d n C (fun x w => sum d (fun k =>
    lambda k * component_error d n (along d P Q U k) (column U k) x w ^ 2))).
  - unfold examples_mean. apply (average_ext V). intro w.
    rewrite <- (average_swap (table_mean d n) d (fun g v => _ ^ 2) A).
    apply (average_ext A). intro g. set (h := column_error d n P Q (product d C g) w).
    set (c := fun k => dot d h (column C k)). rewrite (average_ext V _ (fun v => dot d c v * dot d c v)).
    + rewrite mean_of_two. unfold dot at 1, c. rewrite (covariance_form d C U lambda H). apply sum_ext. intros k _.
      rewrite <- error_along. unfold dot, h, column. ring.
    + intro v. pose proof (error_of_table P Q g v w) as E. cbv zeta in E. unfold whole_table in E. rewrite E.
      fold h. fold c. ring.
  - pose proof (examples_mean_average d n C) as E.
    set (square := fun k p => component_error d n (along d P Q U k) (column U k) (fst p) (snd p) ^ 2).
    transitivity (sum d (fun k => examples_mean d n C (fun x w => lambda k * square k (x, w)))).
    + exact (average_sum E d (fun k p => lambda k * square k p)).
    + apply sum_ext. intros k _. exact (average_scal E (lambda k) (square k)).
Qed.

(** ** P = diag(0, 1), Q = −diag(A, 0) *)

Lemma best_times_column k a : (k < d)%nat ->
  sum d (fun b => in_basis d U (best_step d n lambda) a b * U b k) = U a k * best_step d n lambda k.
Proof.
  intro Hk. unfold in_basis.
  rewrite (sum_ext d _ (fun b => sum d (fun j => U a j * best_step d n lambda j * (U b j * U b k)))).
  - rewrite sum_swap, (sum_single d _ k Hk).
    + rewrite sum_scal. change (sum d (fun b => U b k * U b k)) with (dot d (column U k) (column U k)).
      rewrite (columns_orthonormal d C U lambda H), Nat.eqb_refl by exact Hk. ring.
    + intros j Hj N. rewrite sum_scal. change (sum d (fun b => U b j * U b k)) with (dot d (column U j) (column U k)).
      rewrite (columns_orthonormal d C U lambda H), (proj2 (Nat.eqb_neq j k) N) by assumption. ring.
  - intros b _. rewrite <- sum_scal_r. apply sum_ext. intros j _. ring.
Qed.

Lemma best_component k (Q := pattern_Q d (in_basis d U (best_step d n lambda))) : (k < d)%nat ->
  examples_component d n C U (along d (pattern_P d) Q U k) k = 1 - lambda k * best_step d n lambda k.
Proof.
  intro Hk.
  assert (Token : forall a, (a < d)%nat -> sum d (fun b => Q a b * U b k) = - best_step d n lambda k * U a k).
  { intros a Ha. replace (- best_step d n lambda k * U a k) with (-1 * (U a k * best_step d n lambda k)) by ring.
    rewrite <- (best_times_column k a Hk), <- sum_scal. apply sum_ext. intros b Hb. unfold Q, pattern_Q.
    rewrite !(proj2 (Nat.ltb_lt _ d)) by assumption. simpl. ring. }
  assert (Corner : sum d (fun b => Q d b * U b k) = 0).
  { apply sum_zero. intros b _. unfold Q, pattern_Q. rewrite Nat.ltb_irrefl. simpl. ring. }
  apply component_least; try assumption; unfold along, rank_one, border, pattern_P.
  - intros a b Ha _. rewrite (proj2 (Nat.eqb_neq a d)), Bool.andb_false_r by lia. ring.
  - rewrite Corner. ring.
  - intros a Ha. rewrite !Nat.eqb_refl, (proj2 (Nat.eqb_neq a d)), Token, Corner by lia. simpl. ring.
Qed.
End Minimum.

Theorem minimum_of_one_layer : theorem1_minimum.
Proof.
  intros d n N C U lambda Hn HN H. unfold best_loss. rewrite (loss_of_every_mean d n C _ _ N HN).
  rewrite (loss_by_components d n C U lambda H). apply sum_ext. intros k Hk.
  rewrite (best_component d n C U lambda Hn H k Hk). reflexivity.
Qed.

Theorem global_minimum_of_one_layer : theorem1_global.
Proof.
  intros d n N C U lambda P Q Hn HN H. rewrite (minimum_of_one_layer d n N C U lambda Hn HN H).
  rewrite (loss_of_every_mean d n C P Q N HN), (loss_by_components d n C U lambda H).
  match goal with |- ?least <= ?loss => enough (0 <= loss - least) by lra end.
  rewrite <- sum_minus. apply sum_nonneg. intros k Hk. rewrite <- Rmult_minus_distr_l. apply Rmult_le_pos.
  - destruct H as [_ [Pos _]]. apply Rlt_le, Pos, Hk.
  - pose proof (component_at_least d n C U lambda Hn H (along d P Q U k) k Hk). lra.
Qed.

Theorem one_layer_rescaled : theorem1_rescaling.
Proof.
  intros d n P Q x y gamma delta _. unfold prediction. simpl forward. rewrite !layer_entry, prompt_query.
  set (Z := prompt d n x y 0).
  rewrite (sum_ext n _ (fun m => gamma * delta * (product (S d) P Z d m * seen d Q Z m n))).
  - rewrite sum_scal. unfold Rdiv. ring.
  - intros m _. replace (product (S d) (scaled gamma P) Z d m) with (gamma * product (S d) P Z d m).
    + replace (seen d (scaled delta Q) Z m n) with (delta * seen d Q Z m n); [ring|].
      unfold seen, product at 1 3. rewrite <- sum_scal. apply sum_ext. intros a _.
      unfold product. rewrite <- !sum_scal. apply sum_ext. intros b _. unfold scaled. ring.
    + unfold product. rewrite <- sum_scal. apply sum_ext. intros a _. unfold scaled. ring.
Qed.
