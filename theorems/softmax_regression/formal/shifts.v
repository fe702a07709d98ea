(** The target shifts by at most R/2 times the move, of the weights and of the data; at n = 2 no smaller factor is
    enough.

    The target moves as far as the prediction. The logits move by at most R times the move. At n = 2 the move t of one
    coordinate moves the logits from 0 to ±Rt/√2, and the prediction with the slope R/2. *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From SoftmaxRegression Require Import definitions.
From SoftmaxRegression.formal Require Import claims sums half_slope.
Open Scope R_scope.

Lemma norm_of_opposite n u v : (forall i, (i < n)%nat -> u i = - v i) -> norm n u = norm n v.
Proof. intro H. unfold norm. f_equal. apply sum_ext. intros i Hi. rewrite H by exact Hi. ring. Qed.

(** ‖b' − b‖ = ‖f' − f‖. *)
Lemma shift_is_move n f f' b b' : same_residual n f f' b b' -> norm n (minus b' b) = norm n (minus f' f).
Proof. intro H. apply norm_of_opposite. intros i Hi. specialize (H i Hi). unfold minus. lra. Qed.

(** ** R/2 is enough *)

Lemma half_at_most_claimed n r : (1 <= n)%nat -> 0 < r -> r / 2 <= claimed_factor n r.
Proof.
  intros Hn Hr. unfold claimed_factor, Rpower.
  assert (L : 0 <= ln (INR n)) by (rewrite <- ln_1; apply ln_le; [lra|apply (le_INR 1), Hn]).
  pose proof (exp_ineq1_le (3 / 2 * ln (INR n))) as E. pose proof (exp_ineq1_le (10 * r ^ 2)) as Q.
  assert (P : r / 2 <= 1 + 10 * r ^ 2) by nra.
  rewrite <- (Rmult_1_l (r / 2)). apply Rmult_le_compat; lra.
Qed.

Lemma shift_at_most n d r A x A' x' b b' move :
  (1 <= n)%nat -> shifts n d A x A' x' b b' -> norm n (minus (applied d A' x') (applied d A x)) <= r * move ->
  norm n (minus b' b) <= r / 2 * move.
Proof.
  intros Hn S L. rewrite (shift_is_move n _ _ b b' S).
  pose proof (softmax_moves_half n (applied d A x) (applied d A' x') Hn). unfold prediction. lra.
Qed.

Theorem weight_shift_holds : claims.weight_shift_shift.
Proof.
  intros n d r A x x' b b' [Hn [_ Hr]] [HA _] _ S. split.
  - apply (shift_at_most n d r A x A x'); [exact Hn|exact S|].
    rewrite (norm_ext n _ (applied d A (minus x' x))) by (intros; apply applied_minus).
    apply (Rle_trans _ _ _ (applied_at_most n d A (minus x' x))), Rmult_le_compat_r; [apply norm_nonneg|exact HA].
  - apply Rmult_le_compat_r; [apply norm_nonneg|apply half_at_most_claimed; assumption].
Qed.

Theorem data_shift_holds : claims.data_shift_shift.
Proof.
  intros n d r A A' x b b' [Hn [_ Hr]] [_ Hx] _ S.
  pose proof (spectral_norm_nonneg n d (minus_matrix A' A)) as P. split.
  - apply (shift_at_most n d r A x A' x); [exact Hn|exact S|].
    rewrite (norm_ext n _ (applied d (minus_matrix A' A) x)) by (intros; apply applied_minus_matrix).
    apply (Rle_trans _ _ _ (applied_at_most n d (minus_matrix A' A) x)). rewrite Rmult_comm.
    apply Rmult_le_compat_r; assumption.
  - apply Rmult_le_compat_r; [exact P|apply half_at_most_claimed; assumption].
Qed.

(** ** One coordinate *)

(** The vector t e_0 and the matrix whose first column is a, all others 0. *)
Definition axis (t : R) : vector := fun j => if j =? 0 then t else 0.
Definition column (a : vector) : matrix := fun i j => if j =? 0 then a i else 0.

Lemma norm_axis d t : (1 <= d)%nat -> norm d (axis t) = Rabs t.
Proof.
  intro H. unfold norm. rewrite sum_first.
  - unfold axis. simpl. rewrite <- sqrt_Rsqr_abs. f_equal. unfold Rsqr. ring.
  - exact H.
  - intros i Hi. unfold axis. rewrite (proj2 (Nat.eqb_neq i 0)) by lia. ring.
Qed.

Lemma applied_column d a x i : (1 <= d)%nat -> applied d (column a) x i = a i * x 0%nat.
Proof.
  intro H. unfold applied. rewrite sum_first; [reflexivity|exact H|].
  intros j Hj. unfold column. rewrite (proj2 (Nat.eqb_neq j 0)) by lia. ring.
Qed.

Lemma spectral_norm_column n d A a : (1 <= d)%nat -> (forall x i, applied d A x i = a i * x 0%nat) ->
  spectral_norm n d A = norm n a.
Proof.
  intros H HA.
  assert (N : forall x, norm n (applied d A x) = Rabs (x 0%nat) * norm n a).
  { intro x. rewrite <- norm_scaled. apply norm_ext. intros. rewrite HA. ring. }
  apply Rle_antisym.
  - apply spectral_norm_at_most. intros x Hx. rewrite N. pose proof (norm_nonneg n a). pose proof (Rabs_pos (x 0%nat)).
    assert (x 0%nat ^ 2 <= 1).
    { apply Rle_trans with (norm d x ^ 2).
      - rewrite norm_squared. apply (term_le_sum d (fun i => x i ^ 2)); [intros; apply pow2_ge_0|lia].
      - pose proof (norm_nonneg d x). nra. }
    assert (Rabs (x 0%nat) <= 1) by (apply Rabs_le; nra). nra.
  - pose proof (applied_at_most n d A (axis 1)) as B. rewrite N, norm_axis in B by exact H.
    unfold axis in B. simpl in B. rewrite Rabs_R1 in B. lra.
Qed.

(** ** At n = 2: two logits ±y *)

Definition pair (y : R) : vector := fun i => if i =? 0 then y else - y.

Lemma norm_pair y : norm 2 (pair y) = sqrt 2 * Rabs y.
Proof.
  unfold norm, pair. simpl. rewrite <- sqrt_Rsqr_abs, <- sqrt_mult_alt by lra. f_equal. unfold Rsqr. ring.
Qed.

(** By how much the prediction moves when the logits move from 0 to ±y. *)
Definition moved_by_pair (y : R) : R := sqrt 2 * (exp y / (exp y + exp (- y)) - / 2).

Lemma move_of_pair z z' y : (forall i, z i = 0) -> (forall i, z' i = pair y i) ->
  moved_by_pair y <= norm 2 (minus (softmax 2 z') (softmax 2 z)).
Proof.
  intros Z Y. pose proof (exp_pos y). pose proof (exp_pos (- y)).
  rewrite (norm_ext 2 _ (pair (exp y / (exp y + exp (- y)) - / 2))), norm_pair.
  - unfold moved_by_pair. pose proof (sqrt_pos 2). apply Rmult_le_compat_l; [assumption|apply Rle_abs].
  - intros i Hi. unfold minus, softmax. simpl. rewrite !Z, !Y, exp_0.
    destruct i as [|[|i]]; [| |lia]; unfold pair; simpl; field; lra.
Qed.

Lemma above_a_smaller_slope (h : R -> R) (l c m : R) : is_derive h 0 l -> h 0 = 0 -> c < l -> 0 < m ->
  exists t, 0 < t /\ t < m /\ c * t < h t.
Proof.
  intros D Z C M. apply is_derive_Reals in D. destruct (D (l - c)) as [delta B]; [lra|].
  pose proof (cond_pos delta) as P. exists (Rmin delta m / 2).
  assert (0 < Rmin delta m <= delta /\ Rmin delta m <= m) as [[Q Q1] Q2].
  { repeat split; [apply Rmin_glb_lt; assumption|apply Rmin_l|apply Rmin_r]. }
  set (t := Rmin delta m / 2) in *. assert (T : 0 < t /\ t < delta /\ t < m) by (unfold t; lra).
  split; [lra|split; [lra|]]. specialize (B t). rewrite Rplus_0_l, Z, Rminus_0_r in B.
  assert (B' : Rabs (h t / t - l) < l - c) by (apply B; [lra|rewrite Rabs_pos_eq; lra]).
  apply Rabs_lt_between in B'. replace (h t) with (h t / t * t) by (field; lra).
  apply Rmult_lt_compat_r; lra.
Qed.

(** Some small t has c t below the move of the prediction, which is below R/2 t. *)
Lemma needed r c : 0 < r -> c < r / 2 ->
  exists t, 0 < t /\ t < r /\ r * t / sqrt 2 < 1 / 100 /\ c * t < moved_by_pair (r * t / sqrt 2).
Proof.
  intros Hr C. assert (S : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  destruct (above_a_smaller_slope (fun t => moved_by_pair (r * t / sqrt 2)) (r / 2) c (Rmin r (sqrt 2 / (100 * r))))
    as [t [T [M B]]].
  - unfold moved_by_pair. auto_derive.
    + pose proof (exp_pos (r * 0 / sqrt 2)). pose proof (exp_pos (- (r * 0 / sqrt 2))).
      repeat split; try exact I; unfold Rdiv in *; lra.
    + rewrite !Rmult_0_r, ?Rmult_0_l, Ropp_0, exp_0. field. lra.
  - unfold moved_by_pair, Rdiv. rewrite Rmult_0_r, Rmult_0_l, Ropp_0, exp_0. field.
  - exact C.
  - apply Rmin_glb_lt; [exact Hr|apply Rdiv_lt_0_compat; lra].
  - exists t. pose proof (Rmin_l r (sqrt 2 / (100 * r))). pose proof (Rmin_r r (sqrt 2 / (100 * r))).
    repeat split; try lra. apply (Rmult_lt_reg_r (sqrt 2)); [exact S|].
    replace (r * t / sqrt 2 * sqrt 2) with (r * t) by (field; lra).
    apply Rlt_le_trans with (r * (sqrt 2 / (100 * r))); [apply Rmult_lt_compat_l; lra|right; field; lra].
Qed.

(** The unit vector (1, −1)/√2, times s. *)
Lemma norm_of_unit_pair s : norm 2 (pair (s / sqrt 2)) = Rabs s.
Proof.
  assert (S : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  rewrite norm_pair. unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ sqrt 2)) by (left; apply Rinv_0_lt_compat, S).
  field. lra.
Qed.

Lemma pair_scaled y c i : pair (y * c) i = pair y i * c.
Proof. unfold pair. destruct (i =? 0); ring. Qed.

Lemma small_pair z z' y :
  (forall i, z i = 0) -> (forall i, z' i = pair y i) -> 0 < y -> y < 1 / 100 -> small_move 2 z z'.
Proof.
  intros Z Y P B i _. rewrite Z, Y. unfold pair. apply Rabs_lt_between. destruct (i =? 0); lra.
Qed.

Theorem weight_shift_is_sharp : claims.weight_shift_sharp.
Proof.
  intros d r c [_ [Hd Hr]] C. destruct (needed r c Hr C) as [t [T [M [Small B]]]].
  assert (S : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  set (A := column (pair (r / sqrt 2))). set (x := axis 0). set (x' := axis t). exists A, x, x'.
  assert (NA : spectral_norm 2 d A <= r).
  { rewrite (spectral_norm_column 2 d A (pair (r / sqrt 2))) by (exact Hd || (intros; apply applied_column, Hd)).
    rewrite norm_of_unit_pair, Rabs_pos_eq; lra. }
  assert (Z : forall i, applied d A x i = 0).
  { intro. unfold A, x. rewrite applied_column by exact Hd. unfold axis. simpl. ring. }
  assert (Y : forall i, applied d A x' i = pair (r * t / sqrt 2) i).
  { intro i. unfold A, x'. rewrite applied_column by exact Hd. unfold axis. simpl. rewrite <- pair_scaled. f_equal.
    field. lra. }
  repeat split; try exact NA.
  - unfold x. rewrite norm_axis, Rabs_R0 by exact Hd. lra.
  - unfold x'. rewrite norm_axis, Rabs_pos_eq by (exact Hd || lra). lra.
  - apply (small_pair _ _ (r * t / sqrt 2) Z Y); [|exact Small]. apply Rdiv_lt_0_compat; nra.
  - intros b b' Sh. rewrite (shift_is_move 2 _ _ b b' Sh). unfold prediction.
    apply Rlt_le_trans with (2 := move_of_pair _ _ _ Z Y).
    rewrite (norm_ext d _ (axis t)), norm_axis, Rabs_pos_eq; [exact B|lra|exact Hd|].
    intros j _. unfold minus, x, x', axis. destruct (j =? 0); ring.
Qed.

Theorem data_shift_is_sharp : claims.data_shift_sharp.
Proof.
  intros d r c [_ [Hd Hr]] C. destruct (needed r c Hr C) as [t [T [M [Small B]]]].
  assert (S : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  set (A := column (fun _ => 0)). set (A' := column (pair (t / sqrt 2))). set (x := axis r). exists A, A', x.
  assert (NA : spectral_norm 2 d A <= r).
  { rewrite (spectral_norm_column 2 d A (fun _ => 0)) by (exact Hd || (intros; apply applied_column, Hd)).
    apply norm_at_most; simpl; nra. }
  assert (NA' : spectral_norm 2 d A' <= r).
  { rewrite (spectral_norm_column 2 d A' (pair (t / sqrt 2))) by (exact Hd || (intros; apply applied_column, Hd)).
    rewrite norm_of_unit_pair, Rabs_pos_eq; lra. }
  assert (NX : norm d x <= r) by (unfold x; rewrite norm_axis, Rabs_pos_eq by (exact Hd || lra); lra).
  assert (Z : forall i, applied d A x i = 0) by (intro; unfold A; rewrite applied_column by exact Hd; ring).
  assert (Y : forall i, applied d A' x i = pair (r * t / sqrt 2) i).
  { intro i. unfold A', x. rewrite applied_column by exact Hd. unfold axis. simpl. rewrite <- pair_scaled. f_equal.
    field. lra. }
  repeat split; try assumption.
  - apply (small_pair _ _ (r * t / sqrt 2) Z Y); [|exact Small]. apply Rdiv_lt_0_compat; nra.
  - intros b b' Sh. rewrite (shift_is_move 2 _ _ b b' Sh). unfold prediction.
    apply Rlt_le_trans with (2 := move_of_pair _ _ _ Z Y).
    rewrite (spectral_norm_column 2 d _ (pair (t / sqrt 2))), norm_of_unit_pair, Rabs_pos_eq; [exact B|lra|exact Hd|].
    intros v i. rewrite <- applied_minus_matrix. unfold A, A'. rewrite !applied_column by exact Hd. ring.
Qed.
