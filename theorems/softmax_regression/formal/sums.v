(** Norms, and the spectral norm. *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From Formal Require Export sums.
From SoftmaxRegression Require Import definitions.
From SoftmaxRegression.formal Require Import claims.
Open Scope R_scope.

(** ** Norms *)

Lemma squares_nonneg n v : 0 <= sum n (fun i => v i ^ 2).
Proof. apply sum_nonneg. intros. apply pow2_ge_0. Qed.

Lemma norm_nonneg n v : 0 <= norm n v.
Proof. apply sqrt_pos. Qed.

Lemma norm_squared n v : norm n v ^ 2 = sum n (fun i => v i ^ 2).
Proof. apply pow2_sqrt, squares_nonneg. Qed.

Lemma norm_ext n u v : (forall i, (i < n)%nat -> u i = v i) -> norm n u = norm n v.
Proof. intro H. unfold norm. f_equal. apply sum_ext. intros i Hi. rewrite H by exact Hi. reflexivity. Qed.

Lemma norm_at_most n v c : 0 <= c -> sum n (fun i => v i ^ 2) <= c ^ 2 -> norm n v <= c.
Proof. intros Hc H. rewrite <- (sqrt_pow2 c) by exact Hc. apply sqrt_le_1_alt, H. Qed.

Lemma norm_scaled n c v : norm n (fun i => c * v i) = Rabs c * norm n v.
Proof.
  unfold norm. rewrite (sum_ext n _ (fun i => c ^ 2 * v i ^ 2)) by (intros; ring).
  rewrite sum_scal, sqrt_mult_alt by apply pow2_ge_0. f_equal. rewrite <- sqrt_Rsqr_abs. f_equal. unfold Rsqr. ring.
Qed.

Lemma norm_zero n v i : norm n v = 0 -> (i < n)%nat -> v i = 0.
Proof.
  intros H Hi. pose proof (norm_squared n v) as E. rewrite H in E.
  assert (T : v i ^ 2 <= sum n (fun i => v i ^ 2)).
  { apply (term_le_sum n (fun i => v i ^ 2)); [intros; apply pow2_ge_0|exact Hi]. }
  nra.
Qed.

(** ** The spectral norm *)

Lemma applied_scaled d A c x i : applied d A (fun j => c * x j) i = c * applied d A x i.
Proof. unfold applied. rewrite <- sum_scal. apply sum_ext. intros. ring. Qed.

Lemma applied_zero d A x i : (forall j, (j < d)%nat -> x j = 0) -> applied d A x i = 0.
Proof. intro H. apply sum_zero. intros j Hj. rewrite H by exact Hj. ring. Qed.

Lemma applied_minus d A x x' i : applied d A x' i - applied d A x i = applied d A (minus x' x) i.
Proof. unfold applied, minus. rewrite <- sum_minus. apply sum_ext. intros. ring. Qed.

Lemma applied_minus_matrix d A A' x i : applied d A' x i - applied d A x i = applied d (minus_matrix A' A) x i.
Proof. unfold applied, minus_matrix. rewrite <- sum_minus. apply sum_ext. intros. ring. Qed.

(** The Frobenius norm is an upper bound. *)
Lemma applied_bounded n d A x :
  norm d x <= 1 -> norm n (applied d A x) <= sqrt (sum n (fun i => sum d (fun j => A i j ^ 2))).
Proof.
  intro H. apply sqrt_le_1_alt, sum_le. intros i _. pose proof (cauchy_schwarz d (A i) x) as C.
  fold (applied d A x i) in C. rewrite <- (norm_squared d x) in C.
  pose proof (norm_nonneg d x). assert (N : norm d x ^ 2 <= 1) by nra.
  apply (Rmult_le_compat_l _ _ _ (squares_nonneg d (A i))) in N. lra.
Qed.

Theorem spectral_norm_is_lub : claims.spectral_norm_is_lub.
Proof.
  intros n d A. unfold spectral_norm. set (E := fun s => exists x, norm d x <= 1 /\ s = norm n (applied d A x)).
  destruct (completeness E) as [s Hs].
  - exists (sqrt (sum n (fun i => sum d (fun j => A i j ^ 2)))). intros s [x [Hx ->]]. apply applied_bounded, Hx.
  - exists (norm n (applied d A (fun _ => 0))), (fun _ => 0). split; [|reflexivity].
    apply norm_at_most; [lra|]. rewrite sum_zero by (intros; ring). lra.
  - rewrite (is_lub_Rbar_unique E (Finite s)); [exact Hs|]. destruct Hs as [U L]. split.
    + intros r Hr. exact (U r Hr).
    + intros [r| |] Hr; simpl; trivial.
      * apply L. intros r' H. exact (Hr r' H).
      * apply (Hr (norm n (applied d A (fun _ => 0)))). exists (fun _ => 0). split; [|reflexivity].
        apply norm_at_most; [lra|]. rewrite sum_zero by (intros; ring). lra.
Qed.

(** ‖A x‖ ≤ ‖A‖ ‖x‖. *)
Lemma applied_at_most n d A x : norm n (applied d A x) <= spectral_norm n d A * norm d x.
Proof.
  destruct (spectral_norm_is_lub n d A) as [U _]. pose proof (norm_nonneg d x) as P.
  destruct (Req_dec (norm d x) 0) as [Z|N].
  - rewrite Z, Rmult_0_r. apply norm_at_most; [lra|]. rewrite sum_zero; [lra|].
    intros i _. rewrite applied_zero; [ring|]. intros j Hj. exact (norm_zero d x j Z Hj).
  - pose (u := fun j => / norm d x * x j). assert (0 < / norm d x) by (apply Rinv_0_lt_compat; lra).
    assert (B : norm n (applied d A u) <= spectral_norm n d A).
    { apply U. exists u. split; [|reflexivity]. unfold u. rewrite norm_scaled, Rabs_pos_eq by lra.
      rewrite Rinv_l by exact N. lra. }
    rewrite (norm_ext n _ (fun i => / norm d x * applied d A x i)), norm_scaled, Rabs_pos_eq in B
      by (lra || (intros; apply applied_scaled)).
    apply (Rmult_le_compat_r (norm d x)) in B; [|exact P].
    replace (norm n (applied d A x)) with (/ norm d x * norm n (applied d A x) * norm d x) by (field; exact N).
    exact B.
Qed.

Lemma spectral_norm_nonneg n d A : 0 <= spectral_norm n d A.
Proof.
  destruct (spectral_norm_is_lub n d A) as [U _]. apply Rle_trans with (norm n (applied d A (fun _ => 0))).
  - apply norm_nonneg.
  - apply U. exists (fun _ => 0). split; [|reflexivity]. apply norm_at_most; [lra|].
    rewrite sum_zero by (intros; ring). lra.
Qed.

Lemma spectral_norm_at_most n d A c :
  (forall x, norm d x <= 1 -> norm n (applied d A x) <= c) -> spectral_norm n d A <= c.
Proof. intro H. apply (spectral_norm_is_lub n d A). intros s [x [Hx ->]]. apply H, Hx. Qed.
