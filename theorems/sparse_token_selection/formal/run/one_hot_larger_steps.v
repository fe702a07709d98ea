(** For 0 < η < 2q(T−1)/(T−1+6d) the loss of the recursion does not rise, and falls below every ε > 0. *)

Require Import Reals Lra Psatz Arith.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection.formal Require recursion.
From SparseTokenSelection.formal.run Require Import level_set_descent scaled_loss.
Open Scope R_scope.

(** The entry of C of the scaled Hessian, and the square of the mixed one, with a = αP, for 0 ≤ a ≤ 2. *)
Lemma curvature_C_at_most_six a P w : 0 <= a <= 2 -> 0 <= P <= 1 -> 0 <= w <= 1 ->
  a * (1 - P) * (a * ((2 - 3 * P) * (1 - w) + w) - (1 - 2 * P)) <= 6.
Proof.
  intros [A0 A2] [P0 P1] [W0 W1].
  assert (H1 : a * ((2 - 3 * P) * (1 - w) + w) <= a * (2 - P)) by (apply Rmult_le_compat_l; [lra|nra]).
  assert (H2 : a * ((2 - 3 * P) * (1 - w) + w) - (1 - 2 * P) <= 3).
  { assert (a * (2 - P) <= 2 * (2 - P)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (H3 : 0 <= a * (1 - P) <= 2) by nra.
  destruct (Rle_dec 0 (a * ((2 - 3 * P) * (1 - w) + w) - (1 - 2 * P))); nra.
Qed.

Lemma curvature_mixed_at_most_six a P w : 0 <= a <= 2 -> 0 <= P <= 1 -> 0 <= w <= 1 ->
  (P * (1 - P) * (2 * a * (1 - w) - 1)) ^ 2 <= 6.
Proof.
  intros Ha HP Hw. assert (0 <= a * (1 - w) <= 2) by nra. assert (-1 <= 2 * a * (1 - w) - 1 <= 3) by lra.
  assert (0 <= P * (1 - P) <= 1 / 4) by (split; [nra|pose proof (pow2_ge_0 (P - 1 / 2)); nra]).
  set (h := P * (1 - P)) in *. set (j := 2 * a * (1 - w) - 1) in *. assert (-1 <= h * j <= 3 / 4) by nra. nra.
Qed.

Section LargerSteps.
Variables T q d eta : R.
Hypothesis HT : 2 <= T.
Hypothesis Hq : 1 <= q <= T.
Hypothesis Hd : 0 < d.
Hypothesis Below : 0 < eta < 2 * q * (T - 1) / (T - 1 + 6 * d).

Local Notation ratio := (ratio T d).
Local Notation speed_alpha := (speed_alpha q eta).
Local Notation speed_C := (speed_C T q d eta).
Local Notation scaled := (scaled T q).
Local Notation step_alpha := (recursion.step_alpha T q eta).
Local Notation step_C := (recursion.step_C T q d eta).
Local Notation squares := (squares T q d eta).

(** κ = 6d/(T−1), β = (η/q)(1 + κ). *)
Definition kappa : R := 6 * ratio.
Definition beta : R := speed_alpha * (1 + kappa).

Lemma eta_pos : 0 < eta.
Proof. lra. Qed.

Lemma beta_below_two : 0 <= beta < 2.
Proof.
  pose proof (ratio_pos T d HT Hd). pose proof (speed_alpha_pos T q eta Hq eta_pos). unfold beta, kappa. split;
    [apply Rmult_le_pos; lra|].
  assert (E : eta * (T - 1 + 6 * d) < 2 * q * (T - 1)).
  { destruct Below as [_ H1]. apply Rmult_lt_compat_r with (r := T - 1 + 6 * d) in H1; [|lra]. field_simplify in H1;
      lra. }
  unfold scaled_loss.speed_alpha, scaled_loss.ratio. apply Rmult_lt_reg_r with (q * (T - 1));
    [apply Rmult_lt_0_compat; lra|].
  field_simplify; lra.
Qed.

Lemma speed_C_at_most_third : speed_C <= 1 / 3.
Proof.
  pose proof (ratio_pos T d HT Hd). pose proof (speed_alpha_pos T q eta Hq eta_pos). pose proof beta_below_two as B.
  rewrite speed_C_is_product by assumption. unfold beta, kappa in B. nra.
Qed.

(** ℓ falls as long as the segment stays where ℓ ≤ 1, and so it stays there. *)
Lemma fall alpha C : 0 <= C -> scaled alpha C <= 1 ->
  scaled (step_alpha alpha C) (step_C alpha C) <= scaled alpha C - 2 * squares alpha C * (1 - beta / 2).
Proof.
  intros HC H. pose proof (C_stays_positive T q d eta HT Hq Hd eta_pos alpha C speed_C_at_most_third HC H) as HC'.
  pose proof beta_below_two as B. pose proof (squares_nonneg T q d eta HT Hq Hd eta_pos alpha C) as G.
  destruct (Req_dec (squares alpha C) 0) as [Z|Z].
  { destruct (no_step T q d eta HT Hq Hd eta_pos alpha C Z) as [-> ->]. rewrite Z. lra. }
  destruct (steps T q d eta HT Hq alpha C) as [Ea Ec].
  set (u := - (speed_alpha * slope_alpha T q alpha C)). set (v := speed_C * slope_C T q alpha C).
  assert (Ea' : step_alpha alpha C = alpha + u) by (unfold u; lra).
  assert (Ec' : step_C alpha C = C + v) by (unfold v; lra).
  rewrite Ea', Ec'. rewrite Ec' in HC'. rewrite <- (along_end T q alpha C u v), <- (along_start T q alpha C u v).
  apply (descent_on_level_set (along T q alpha C u v) (along' T q alpha C u v) (along'' T q alpha C u v)); try lra.
  - intros. apply slope_along; assumption.
  - intros. apply curvature_along; assumption.
  - unfold u, v. apply along_start_slope.
  - intros t Ht Hf. rewrite along_start in Hf. unfold along in Hf. unfold beta, u, v.
    rewrite (Rmult_assoc 2 (speed_alpha * (1 + kappa))), <- squares_of_step by assumption. fold u v.
    assert (X0 : 0 <= C + t * v) by nra. pose proof (excess T q Hq _ _ (Rle_trans _ _ _ Hf H)) as A0.
    pose proof (P_range T q Hq (C + t * v)). pose proof (w_pos (C + t * v)). pose proof (w_le_one _ X0).
    pose proof (ratio_pos T d HT Hd).
    apply eigenvalue; try assumption; [apply PS_at_most_one; assumption| |]; unfold kappa;
      apply Rmult_le_compat_r; try lra.
    + apply curvature_mixed_at_most_six; lra.
    + unfold curvature_C. apply curvature_C_at_most_six; lra.
Qed.

Lemma whole_run n : 0 <= C_at T q d eta n /\ scaled_at T q d eta n <= 1.
Proof.
  pose proof beta_below_two. induction n as [|n [I1 I2]]; [split; [unfold C_at; simpl|rewrite scaled_start]; lra|].
  rewrite C_next. split; [apply C_stays_positive; try assumption; [apply eta_pos|apply speed_C_at_most_third]|].
  pose proof (fall _ _ I1 I2).
  pose proof (squares_nonneg T q d eta HT Hq Hd eta_pos (alpha_at T q d eta n) (C_at T q d eta n)).
  unfold scaled_at in *. rewrite alpha_next, C_next. nra.
Qed.

Lemma fall_along_run n : scaled_at T q d eta (S n)
  <= scaled_at T q d eta n - 2 * squares (alpha_at T q d eta n) (C_at T q d eta n) * (1 - beta / 2).
Proof. destruct (whole_run n). unfold scaled_at. rewrite alpha_next, C_next. apply fall; assumption. Qed.

Theorem reached eps : 0 < eps -> exists n, recursion.loss_at T q d eta n <= eps.
Proof. apply (reaches T q d eta HT Hq Hd eta_pos beta beta_below_two whole_run fall_along_run). Qed.

Theorem stays eps n m : (n <= m)%nat -> recursion.loss_at T q d eta n <= eps -> recursion.loss_at T q d eta m <= eps.
Proof. apply (stays_below T q d eta HT Hq Hd eta_pos beta beta_below_two fall_along_run). Qed.

End LargerSteps.
