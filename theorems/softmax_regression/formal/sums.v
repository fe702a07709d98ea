(** Finite sums, norms, and the spectral norm. *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From SoftmaxRegression Require Import definitions.
From SoftmaxRegression.formal Require Import claims.
Open Scope R_scope.

(** ** Sums *)

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n as [|n IH]; intro H; simpl; [reflexivity|]. rewrite IH, (H n) by auto with arith. reflexivity. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_scal n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; intro H; simpl; [lra|].
  pose proof (H n (Nat.lt_succ_diag_r n)). enough (sum n f <= sum n g) by lra. auto with arith.
Qed.

Lemma sum_zero n f : (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof. intro H. induction n as [|n IH]; simpl; [reflexivity|]. rewrite IH, H by auto with arith. ring. Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intro H. rewrite <- (sum_zero n (fun _ => 0)) by reflexivity. apply sum_le, H. Qed.

Lemma sum_pos n f : (1 <= n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof.
  intros Hn H. destruct n as [|n]; [lia|]. simpl. pose proof (H n (Nat.lt_succ_diag_r n)).
  enough (0 <= sum n f) by lra. apply sum_nonneg. intros i Hi. apply Rlt_le, H. lia.
Qed.

Lemma sum_first n f : (1 <= n)%nat -> (forall i, (1 <= i)%nat -> f i = 0) -> sum n f = f 0%nat.
Proof.
  intros Hn H. induction n as [|n IH]; [lia|]. destruct n as [|n]; [simpl; ring|].
  change (sum (S (S n)) f) with (sum (S n) f + f (S n)). rewrite IH, (H (S n)) by lia. ring.
Qed.

Lemma is_derive_sum n (f : nat -> R -> R) (l : nat -> R) (x : R) :
  (forall i, (i < n)%nat -> is_derive (f i) x (l i)) -> is_derive (fun t => sum n (fun i => f i t)) x (sum n l).
Proof.
  induction n as [|n IH]; intro H; simpl; [exact (is_derive_const 0 x)|].
  apply (is_derive_plus (fun t => sum n (fun i => f i t)) (f n)); auto with arith.
Qed.

(** Terms that are not negative: each is at most the sum, and the sum of squares at most the square of the sum. *)
Lemma term_le_sum n f i : (forall i, (i < n)%nat -> 0 <= f i) -> (i < n)%nat -> f i <= sum n f.
Proof.
  induction n as [|n IH]; intros H Hi; [lia|]. simpl. pose proof (H n (Nat.lt_succ_diag_r n)).
  assert (H' : forall j, (j < n)%nat -> 0 <= f j) by auto with arith.
  destruct (Nat.eq_dec i n) as [->|N]; [pose proof (sum_nonneg n f H'); lra|].
  assert (f i <= sum n f) by (apply IH; [exact H'|lia]). lra.
Qed.

Lemma sum_of_squares_le n f : (forall i, (i < n)%nat -> 0 <= f i) -> sum n (fun i => f i ^ 2) <= sum n f ^ 2.
Proof.
  induction n as [|n IH]; intro H; [simpl; lra|].
  change (sum n (fun i => f i ^ 2) + f n ^ 2 <= (sum n f + f n) ^ 2).
  assert (H' : forall j, (j < n)%nat -> 0 <= f j) by auto with arith.
  specialize (IH H'). pose proof (Rmult_le_pos _ _ (sum_nonneg n f H') (H n (Nat.lt_succ_diag_r n))). nra.
Qed.

(** Cauchy and Schwarz: the quadratic Σ (g_i t + f_i)² is nowhere negative. *)
Lemma cauchy_schwarz n f g :
  sum n (fun i => f i * g i) ^ 2 <= sum n (fun i => f i ^ 2) * sum n (fun i => g i ^ 2).
Proof.
  induction n as [|n IH]; [simpl; lra|].
  change ((sum n (fun i => f i * g i) + f n * g n) ^ 2
    <= (sum n (fun i => f i ^ 2) + f n ^ 2) * (sum n (fun i => g i ^ 2) + g n ^ 2)).
  assert (Q : 0 <= sum n (fun i => (g n * f i - f n * g i) ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
  rewrite (sum_ext n _ (fun i => g n ^ 2 * f i ^ 2 + (- (2 * f n * g n) * (f i * g i) + f n ^ 2 * g i ^ 2))) in Q
    by (intros; ring).
  rewrite !sum_plus, !sum_scal in Q. nra.
Qed.

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
