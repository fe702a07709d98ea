(** Two predictions are within √2, and within √2 tanh(1/200) where no logit moves by 1/100.

    The positive parts of f' − f add up to the total variation V, and so do the negative ones: ‖f' − f‖ ≤ √2 V. As f' is
    f y/g with y = exp(z' − z) between 1/B and B and g the mean of y under f, the chord of (y/g − 1)₊ on [1/B, B] gives
    V ≤ (B − g)(g − 1/B)/(g (B − 1/B)) ≤ (B − 1)/(B + 1). *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From SoftmaxRegression Require Import definitions.
From SoftmaxRegression.formal Require Import claims sums half_slope.
Open Scope R_scope.

Definition positive_part (x : R) : R := Rmax x 0.
Definition total_variation (n : nat) (f f' : vector) : R := sum n (fun i => positive_part (minus f' f i)).

Lemma positive_part_nonneg x : 0 <= positive_part x.
Proof. apply Rmax_r. Qed.

Lemma norm_at_most_variation n f f' : sum n f = sum n f' -> norm n (minus f' f) <= sqrt 2 * total_variation n f f'.
Proof.
  intro S. set (w := minus f' f). assert (Z : sum n w = 0) by (unfold w, minus; rewrite sum_minus; lra).
  set (V := total_variation n f f').
  assert (N : sum n (fun i => positive_part (- w i)) = V).
  { assert (D : sum n (fun i => positive_part (w i) - positive_part (- w i)) = 0).
    { rewrite <- Z. apply sum_ext. intros i _. unfold positive_part, Rmax. repeat destruct Rle_dec; lra. }
    rewrite sum_minus in D. unfold V, total_variation. fold w. lra. }
  assert (P : 0 <= V) by (apply sum_nonneg; intros; apply positive_part_nonneg).
  apply norm_at_most; [apply Rmult_le_pos; [apply sqrt_pos|exact P]|].
  rewrite (sum_ext n _ (fun i => positive_part (w i) ^ 2 + positive_part (- w i) ^ 2))
    by (intros; unfold positive_part, Rmax; repeat destruct Rle_dec; nra).
  rewrite sum_plus, Rpow_mult_distr, pow2_sqrt by lra.
  pose proof (sum_of_squares_le n (fun i => positive_part (w i)) ltac:(intros; apply positive_part_nonneg)) as A.
  pose proof (sum_of_squares_le n (fun i => positive_part (- w i)) ltac:(intros; apply positive_part_nonneg)) as B.
  rewrite N in B. change (sum n (fun i => positive_part (w i))) with V in A. lra.
Qed.

Lemma variation_at_most_one n z z' : (1 <= n)%nat -> total_variation n (softmax n z) (softmax n z') <= 1.
Proof.
  intro H. rewrite <- (softmax_total n z' H). apply sum_le. intros i _.
  pose proof (softmax_pos n z i H). pose proof (softmax_pos n z' i H).
  unfold positive_part, minus. apply Rmax_lub; lra.
Qed.

(** The new prediction, in terms of the old one. *)
Lemma softmax_moved n z z' i : (1 <= n)%nat -> let y := fun j => exp (z' j - z j) in
  softmax n z' i * mean n (softmax n z) y = softmax n z i * y i.
Proof.
  intros H y. pose proof (total_pos n z H). pose proof (total_pos n z' H). unfold mean, softmax, y.
  assert (E : forall j, exp (z j) * exp (z' j - z j) = exp (z' j)) by (intro; rewrite <- exp_plus; f_equal; ring).
  rewrite (sum_ext n (fun j => exp (z j) / sum n (fun j => exp (z j)) * exp (z' j - z j))
    (fun j => / sum n (fun j => exp (z j)) * exp (z' j))).
  2: { intros j _. rewrite <- (E j). field. lra. }
  rewrite sum_scal, <- (E i). field. lra.
Qed.

(** With B > 1 and y between 1/B and B. *)
Lemma variation_at_most n z z' B : (1 <= n)%nat -> 1 < B ->
  (forall i, (i < n)%nat -> / B <= exp (z' i - z i) <= B) ->
  total_variation n (softmax n z) (softmax n z') <= (B - 1) / (B + 1).
Proof.
  intros H HB Y. set (y := fun j => exp (z' j - z j)). set (f := softmax n z). set (g := mean n f y).
  assert (One : sum n f = 1) by apply softmax_total, H.
  assert (F : forall i, 0 < f i) by (intro; apply softmax_pos, H).
  assert (IB : 0 < / B < 1) by (split; [apply Rinv_0_lt_compat; lra|rewrite <- Rinv_1; apply Rinv_lt_contravar; lra]).
  assert (G : / B <= g <= B).
  { split.
    1: replace (/ B) with (/ B * sum n f) by (rewrite One; ring).
    2: replace B with (B * sum n f) by (rewrite One; ring).
    all: unfold g, mean; rewrite <- sum_scal; apply sum_le; intros i Hi;
      pose proof (F i); pose proof (Y i Hi) as Yi; fold (y i) in Yi; nra. }
  set (k := (B - g) / (g * (B - / B))).
  assert (K : 0 <= k) by (apply Rdiv_le_0_compat; [lra|apply Rmult_lt_0_compat; lra]).
  apply Rle_trans with (sum n (fun i => k * (f i * y i - / B * f i))).
  - apply sum_le. intros i Hi. pose proof (Y i Hi) as Yi. fold (y i) in Yi. pose proof (F i) as Fi.
    pose proof (softmax_moved n z z' i H) as M. cbv zeta in M. fold y f g in M.
    unfold positive_part, minus. apply Rmax_lub.
    + assert (M' : softmax n z' i = f i * y i / g) by (rewrite <- M; field; lra). fold f. rewrite M'.
      apply Rle_minus_l. apply Rle_trans with (f i * (y i / g)); [right; field; lra|].
      replace (k * (f i * y i - / B * f i) + f i) with (f i * (k * (y i - / B) + 1)) by ring.
      apply Rmult_le_compat_l; [lra|].
      assert (Q : 0 <= (g - / B) * (B - y i) / (g * (B - / B))).
      { apply Rdiv_le_0_compat; [apply Rmult_le_pos; lra|apply Rmult_lt_0_compat; lra]. }
      apply Rminus_le. replace (y i / g - _) with (- ((g - / B) * (B - y i) / (g * (B - / B)))); [lra|].
      unfold k. field. split; [lra|]. nra.
    + apply Rmult_le_pos; [exact K|]. nra.
  - rewrite sum_scal, sum_minus, sum_scal, One. change (sum n (fun i => f i * y i)) with g.
    apply Rminus_le. replace (k * (g - / B * 1) - (B - 1) / (B + 1)) with (- (B * (g - 1) ^ 2 / (g * (B ^ 2 - 1)))).
    + enough (0 <= B * (g - 1) ^ 2 / (g * (B ^ 2 - 1))) by lra.
      apply Rdiv_le_0_compat; [apply Rmult_le_pos; [lra|apply pow2_ge_0]|apply Rmult_lt_0_compat; nra].
    + unfold k. field. repeat split; nra.
Qed.

Lemma tanh_of_half x : tanh (x / 2) = (exp x - 1) / (exp x + 1).
Proof.
  unfold tanh, sinh, cosh. pose proof (exp_pos (x / 2)) as P. pose proof (exp_pos (- (x / 2))) as N.
  assert (I : exp (- (x / 2)) = / exp (x / 2)) by apply exp_Ropp.
  replace (exp x) with (exp (x / 2) * exp (x / 2)) by (rewrite <- exp_plus; f_equal; field).
  rewrite I. pose proof (Rmult_lt_0_compat _ _ P P). field. split; apply Rgt_not_eq; lra.
Qed.

Theorem free_bounds : claims.free.
Proof.
  intros n d A x A' x' H. set (z := applied d A x). set (z' := applied d A' x').
  unfold prediction. fold z z'.
  pose proof (norm_at_most_variation n (softmax n z) (softmax n z')) as V.
  rewrite !softmax_total in V by exact H. specialize (V eq_refl). pose proof (sqrt_pos 2) as S. split.
  - apply (Rle_trans _ _ _ V). pose proof (variation_at_most_one n z z' H). nra.
  - intro M. apply (Rle_trans _ _ _ V), Rmult_le_compat_l; [exact S|].
    replace (1 / 200) with (1 / 100 / 2) by field. rewrite tanh_of_half. apply variation_at_most; [exact H| |].
    + pose proof (exp_ineq1_le (1 / 100)). lra.
    + intros i Hi. specialize (M i Hi). apply Rabs_lt_between in M. rewrite <- exp_Ropp.
      split; left; apply exp_increasing; lra.
Qed.
