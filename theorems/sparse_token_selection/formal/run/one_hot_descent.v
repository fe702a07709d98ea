(** For 0 < η ≤ 4q²/(5q+2d) and integers q ≤ T the loss of the recursion does not rise, and falls below every ε > 0. *)

Require Import Reals Lra Psatz Arith.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection.formal Require recursion.
From SparseTokenSelection.formal.run Require Import level_set_descent scaled_loss.
Open Scope R_scope.

(** ** Bounds of polynomials in P, and in w for T = 2 *)

Lemma mixed p : 0 <= p <= 1 -> p ^ 2 * (1 - p) <= 4 / 27.
Proof.
  intros. assert (0 <= (p - 2 / 3) ^ 2 * (p + 1 / 3)) by (apply Rmult_le_pos; [apply pow2_ge_0|lra]). nra.
Qed.

Lemma bend p : 0 <= p <= 1 -> - (p * (1 - p) * (1 - 2 * p)) <= 1 / 10.
Proof.
  intros. assert (0 <= 2 * (p - 79 / 100) ^ 2 * (p + 8 / 100)); [|nra].
  apply Rmult_le_pos; [apply Rmult_le_pos; [lra|apply pow2_ge_0]|lra].
Qed.

Lemma turn p : 0 <= p <= 1 -> p ^ 2 * (1 - p) * (2 - 3 * p) <= 4 / 27.
Proof.
  intro H. pose proof (mixed p H). assert (0 <= p ^ 2 * (1 - p)) by (apply Rmult_le_pos; [apply pow2_ge_0|lra]).
  destruct (Rle_dec (1 / 3) p).
  - assert (p ^ 2 * (1 - p) * (2 - 3 * p) <= p ^ 2 * (1 - p) * 1) by (apply Rmult_le_compat_l; lra). lra.
  - assert (0 <= p * (1 - p) <= 2 / 9) by nra.
    assert (0 <= p * (2 - 3 * p) <= 1 / 3) by (pose proof (pow2_ge_0 (p - 1 / 3)); nra).
    replace (p ^ 2 * (1 - p) * (2 - 3 * p)) with (p * (1 - p) * (p * (2 - 3 * p))) by ring.
    assert (p * (1 - p) * (p * (2 - 3 * p)) <= 2 / 9 * (1 / 3)) by (apply Rmult_le_compat; lra). lra.
Qed.

Lemma curvature_of_two_tokens e : 0 <= e <= 1 ->
  3 * e * (1 - e) / (1 + e) ^ 3 + 4 * e * (4 * e - 1 - e ^ 2) / (1 + e) ^ 4 <= 4 / 5.
Proof.
  intros. apply Rmult_le_reg_r with ((1 + e) ^ 4); [apply pow_lt; lra|].
  replace ((3 * e * (1 - e) / (1 + e) ^ 3 + 4 * e * (4 * e - 1 - e ^ 2) / (1 + e) ^ 4) * (1 + e) ^ 4)
    with (3 * e * (1 - e) * (1 + e) + 4 * e * (4 * e - 1 - e ^ 2)) by (field; lra).
  assert (0 <= e * (e - 11 / 20) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
  assert (0 <= e ^ 4) by (apply pow_le; lra). nra.
Qed.

Lemma first_term_of_two_tokens e : 0 <= e <= 1 -> 3 * e * (1 - e) / (1 + e) ^ 3 <= 4 / 5.
Proof.
  intros. apply Rmult_le_reg_r with ((1 + e) ^ 3); [apply pow_lt; lra|].
  replace (3 * e * (1 - e) / (1 + e) ^ 3 * (1 + e) ^ 3) with (3 * e * (1 - e)) by (field; lra).
  assert (0 <= e ^ 3) by (apply pow_le; lra). pose proof (pow2_ge_0 (e - 1 / 2)). nra.
Qed.

Section SmallSteps.
Variables T q d eta : R.
Hypothesis HT : 2 <= T.
Hypothesis Hq : 1 <= q <= T.
Hypothesis Hd : 0 < d.
Hypothesis Small : 0 < eta <= 4 * q ^ 2 / (5 * q + 2 * d).
(** The cases of integers q ≤ T. *)
Hypothesis Integers : q = T \/ (2 <= q /\ q + 1 <= T) \/ (q = 1 /\ 3 <= T) \/ (q = 1 /\ T = 2).

Local Notation w := recursion.w.
Local Notation N := (recursion.N T q).
Local Notation P := (recursion.P T q).
Local Notation PS := (PS T q).
Local Notation ratio := (ratio T d).
Local Notation speed_alpha := (speed_alpha q eta).
Local Notation speed_C := (speed_C T q d eta).
Local Notation scaled := (scaled T q).
Local Notation step_alpha := (recursion.step_alpha T q eta).
Local Notation step_C := (recursion.step_C T q d eta).
Local Notation squares := (squares T q d eta).

(** κ = 2d/(5q), β = (η/q)(1 + κ) and r = √(T/q). *)
Definition kappa : R := 2 * d / (5 * q).
Definition beta : R := speed_alpha * (1 + kappa).
Definition largest_alpha : R := sqrt (T / q).
Local Notation r := largest_alpha.

Lemma eta_pos : 0 < eta.
Proof. lra. Qed.

Lemma eta_bound : eta * (5 * q + 2 * d) <= 4 * q ^ 2.
Proof.
  destruct Small as [_ H]. apply Rmult_le_compat_r with (r := 5 * q + 2 * d) in H; [|lra].
  replace (4 * q ^ 2 / (5 * q + 2 * d) * (5 * q + 2 * d)) with (4 * q ^ 2) in H by (field; lra). lra.
Qed.

Lemma beta_below_two : 0 <= beta < 2.
Proof.
  pose proof (speed_alpha_pos T q eta Hq eta_pos). assert (0 < kappa) by (apply Rdiv_lt_0_compat; lra).
  split; [unfold beta; apply Rmult_le_pos; lra|].
  unfold beta, scaled_loss.speed_alpha, kappa. pose proof eta_bound. apply Rmult_lt_reg_r with (5 * q ^ 2); [nra|].
  replace (eta / q * (1 + 2 * d / (5 * q)) * (5 * q ^ 2)) with (eta * (5 * q + 2 * d)) by (field; lra). nra.
Qed.

Lemma speed_alpha_bound : speed_alpha <= 4 / 5.
Proof.
  unfold scaled_loss.speed_alpha. apply Rmult_le_reg_r with q; [lra|]. replace (eta / q * q) with eta by (field; lra).
  pose proof eta_bound. assert (0 < eta * d) by (apply Rmult_lt_0_compat; lra). nra.
Qed.

Lemma speed_C_bound : speed_C * (T - q) <= 2 * q.
Proof.
  unfold scaled_loss.speed_C. apply Rmult_le_reg_r with (q * (T - 1)); [apply Rmult_lt_0_compat; lra|].
  replace (eta * d / (q * (T - 1)) * (T - q) * (q * (T - 1))) with (eta * d * (T - q)) by (field; lra).
  pose proof eta_bound. assert (eta * (2 * d) <= 4 * q ^ 2) by nra.
  assert (eta * d * (T - q) <= 2 * q ^ 2 * (T - q)) by (apply Rmult_le_compat_r; lra).
  assert (2 * q ^ 2 * (T - q) <= 2 * q ^ 2 * (T - 1)) by (apply Rmult_le_compat_l; nra). nra.
Qed.

Lemma r_squared : r * r = T / q.
Proof. apply sqrt_sqrt. apply Rlt_le, Rdiv_lt_0_compat; lra. Qed.

Lemma r_at_least_one : 1 <= r.
Proof.
  unfold largest_alpha. rewrite <- sqrt_1. apply sqrt_le_1_alt. apply Rmult_le_reg_r with q; [lra|].
  replace (T / q * q) with T by (field; lra). lra.
Qed.

(** ** The box 0 ≤ α ≤ √(T/q), C ≥ 0 *)

(** 1/S ≤ r. *)
Lemma share_at_most C : 0 <= C -> P C <= PS C * r.
Proof.
  intro HC. rewrite <- PS_is_product by assumption. pose proof (P_range T q Hq C) as HP.
  pose proof (N_pos T q Hq C) as Np.
  pose proof r_at_least_one. pose proof r_squared as R2.
  assert (1 <= recursion.S' T q C * r); [|rewrite Rmult_assoc; assert (P C * 1 <= P C * (recursion.S' T q C * r))
    by (apply Rmult_le_compat_l; lra); lra].
  pose (M := q + (T - q) * w C ^ 2).
  assert (SM : recursion.S' T q C = M / N C) by (unfold recursion.S', recursion.P, recursion.Q, M; field; lra).
  assert (Mq : q <= M) by (unfold M; assert (0 <= (T - q) * w C ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]);
    lra).
  assert (Cs : N C ^ 2 <= T * M).
  { unfold M, recursion.N. assert (0 <= q * (T - q) * (1 - w C) ^ 2); [|nra].
    apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply pow2_ge_0]. }
  assert (S0 : 0 < recursion.S' T q C) by (rewrite SM; apply Rdiv_lt_0_compat; lra).
  assert (1 <= (recursion.S' T q C * r) ^ 2).
  { replace ((recursion.S' T q C * r) ^ 2) with (recursion.S' T q C ^ 2 * (r * r)) by ring. rewrite R2, SM.
    apply Rmult_le_reg_r with (q * N C ^ 2); [apply Rmult_lt_0_compat; [lra|apply pow_lt; lra]|].
    replace ((M / N C) ^ 2 * (T / q) * (q * N C ^ 2)) with (M * (T * M)) by (field; lra).
    assert (q * N C ^ 2 <= M * (T * M)) by (apply Rmult_le_compat; try lra; apply pow2_ge_0). lra. }
  assert (0 < recursion.S' T q C * r) by (apply Rmult_lt_0_compat; lra). nra.
Qed.

Lemma alpha_stays_in_range alpha C : 0 <= C -> 0 <= alpha <= r -> 0 <= step_alpha alpha C <= r.
Proof.
  intros HC Ha. rewrite (proj1 (steps T q d eta HT Hq alpha C)). unfold slope_alpha.
  pose proof (share_at_most C HC). pose proof (PS_at_most_one T q Hq C HC).
  pose proof (speed_alpha_pos T q eta Hq eta_pos). pose proof speed_alpha_bound. pose proof (P_range T q Hq C).
  pose proof r_at_least_one. assert (0 < PS C) by nra.
  assert (0 <= speed_alpha * PS C <= 1).
  { split; [apply Rmult_le_pos; lra|]. assert (speed_alpha * PS C <= speed_alpha * 1) by (apply Rmult_le_compat_l;
      lra). lra. }
  replace (alpha - speed_alpha * (alpha * PS C - P C)) with ((1 - speed_alpha * PS C) * alpha + speed_alpha * P C) by
    ring.
  split.
  - assert (0 <= (1 - speed_alpha * PS C) * alpha) by (apply Rmult_le_pos; lra).
    assert (0 <= speed_alpha * P C) by (apply Rmult_le_pos; lra). lra.
  - assert ((1 - speed_alpha * PS C) * alpha <= (1 - speed_alpha * PS C) * r) by (apply Rmult_le_compat_l; lra).
    assert (speed_alpha * P C <= speed_alpha * (PS C * r)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma C_stays_in_range alpha C : 0 <= C -> scaled alpha C <= 1 -> 0 <= step_C alpha C.
Proof.
  intros HC H. rewrite (proj2 (steps T q d eta HT Hq alpha C)). destruct (excess T q Hq alpha C H) as [t0 t2].
  unfold slope_C.
  set (t := alpha * P C) in *. pose proof (P_range T q Hq C). pose proof (w_pos C). pose proof (w_le_one C HC).
  pose proof (speed_C_pos T q d eta HT Hq Hd eta_pos). pose proof speed_C_bound. pose proof (N_pos T q Hq C).
  assert (1 - w C <= C) by (pose proof (exp_ineq1_le (- C)); unfold recursion.w; lra).
  destruct (Rle_dec 0 (1 - t * (1 - w C))) as [Y|Y].
  - assert (0 <= speed_C * (t * (1 - P C) * (1 - t * (1 - w C)))); [|lra].
    apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [|assumption]. apply Rmult_le_pos; lra.
  - assert (t * (1 - w C) <= 2 * (1 - w C)) by (apply Rmult_le_compat_r; lra).
    set (z := - (1 - t * (1 - w C))). assert (0 <= z <= 1 - 2 * w C) by (unfold z; lra).
    assert (PQ : speed_C * (1 - P C) <= 2 * w C).
    { rewrite <- Q_of_P by assumption. unfold recursion.Q. apply Rmult_le_reg_r with (N C); [assumption|].
      replace (speed_C * ((T - q) * w C / N C) * N C) with (speed_C * (T - q) * w C) by (field; lra).
      assert (speed_C * (T - q) * w C <= 2 * q * w C) by (apply Rmult_le_compat_r; lra).
      assert (q <= N C) by (unfold recursion.N; assert (0 <= (T - q) * w C) by (apply Rmult_le_pos; lra); lra).
      assert (2 * w C * q <= 2 * w C * N C) by (apply Rmult_le_compat_l; lra). lra. }
    assert (0 <= speed_C * (1 - P C)) by (apply Rmult_le_pos; lra).
    assert (0 <= t * z <= 2 * (1 - 2 * w C)) by (split; [apply Rmult_le_pos|apply Rmult_le_compat]; lra).
    replace (speed_C * (t * (1 - P C) * (1 - t * (1 - w C)))) with (- (speed_C * (1 - P C) * (t * z))) by (unfold z;
      ring).
    assert (speed_C * (1 - P C) * (t * z) <= 2 * w C * (2 * (1 - 2 * w C))) by (apply Rmult_le_compat; lra).
    pose proof (pow2_ge_0 (w C - 1 / 4)). nra.
Qed.

(** ** The curvatures in the box *)

Lemma entry_mixed a C : 0 <= C -> 0 <= a <= r -> curvature_mixed T q a C ^ 2 * ratio <= kappa.
Proof.
  intros HC Ha. unfold curvature_mixed. pose proof (P_range T q Hq C) as HP. pose proof (w_pos C).
  pose proof (w_le_one C HC).
  pose proof (ratio_pos T d HT Hd). pose proof r_at_least_one. pose proof r_squared as R2.
  assert (HP' : 0 <= P C <= 1) by lra. pose proof (mixed _ HP') as M. set (p := P C) in *. set (e := w C) in *.
  assert (0 <= p ^ 2 * (1 - p)) by (apply Rmult_le_pos; [apply pow2_ge_0|lra]).
  assert (B : - (8 / 27 * r) <= p * (1 - p) * (2 * (a * p) * (1 - e) - 1) <= 8 / 27 * r).
  { replace (p * (1 - p) * (2 * (a * p) * (1 - e) - 1)) with (2 * (a * ((p ^ 2 * (1 - p)) * (1 - e))) - p * (1 - p))
      by ring.
    assert (0 <= p ^ 2 * (1 - p) * (1 - e) <= 4 / 27).
    { split; [apply Rmult_le_pos; lra|].
      assert (p ^ 2 * (1 - p) * (1 - e) <= p ^ 2 * (1 - p) * 1) by (apply Rmult_le_compat_l; lra). lra. }
    assert (0 <= a * (p ^ 2 * (1 - p) * (1 - e)) <= r * (4 / 27)) by (split;
      [apply Rmult_le_pos|apply Rmult_le_compat]; lra).
    assert (0 <= p * (1 - p) <= 1 / 4) by (split; [apply Rmult_le_pos; lra|pose proof (pow2_ge_0 (p - 1 / 2)); nra]).
    lra. }
  set (m := p * (1 - p) * (2 * (a * p) * (1 - e) - 1)) in *. assert (m ^ 2 <= 64 / 729 * (T / q)) by (rewrite <- R2;
    nra).
  apply Rle_trans with (64 / 729 * (T / q) * ratio); [apply Rmult_le_compat_r; lra|].
  unfold scaled_loss.ratio, kappa. apply Rmult_le_reg_r with (q * (T - 1)); [apply Rmult_lt_0_compat; lra|].
  replace (64 / 729 * (T / q) * (d / (T - 1)) * (q * (T - 1))) with (64 / 729 * T * d) by (field; lra).
  replace (2 * d / (5 * q) * (q * (T - 1))) with (2 / 5 * (T - 1) * d) by (field; lra). apply Rmult_le_compat_r; lra.
Qed.

Lemma entry_of_C a C : 0 <= C -> 0 <= a <= r -> curvature_C T q a C * ratio <= kappa.
Proof.
  intros HC Ha. pose proof (P_range T q Hq C) as HP. pose proof (w_pos C) as W0. pose proof (w_le_one C HC) as W1.
  pose proof (ratio_pos T d HT Hd). pose proof r_at_least_one as R1. pose proof r_squared as R2.
  apply Rle_trans with (2 * (T - 1) / (5 * q) * ratio);
    [|unfold scaled_loss.ratio, kappa; right; field; lra].
  apply Rmult_le_compat_r; [lra|]. unfold curvature_C.
  assert (HP' : 0 <= P C <= 1) by lra. pose proof (mixed _ HP') as M1. pose proof (bend _ HP') as M2.
  pose proof (turn _ HP') as M3. set (p := P C) in *. set (e := w C) in *.
  set (c := a * p * (1 - p) * (a * p * ((2 - 3 * p) * (1 - e) + e) - (1 - 2 * p))).
  assert (T2 : p ^ 2 * (1 - p) * ((2 - 3 * p) * (1 - e) + e) <= 4 / 27).
  { replace (p ^ 2 * (1 - p) * ((2 - 3 * p) * (1 - e) + e))
      with ((1 - e) * (p ^ 2 * (1 - p) * (2 - 3 * p)) + e * (p ^ 2 * (1 - p))) by ring.
    assert ((1 - e) * (p ^ 2 * (1 - p) * (2 - 3 * p)) <= (1 - e) * (4 / 27)) by (apply Rmult_le_compat_l; lra).
    assert (e * (p ^ 2 * (1 - p)) <= e * (4 / 27)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (Ec : c = a * - (p * (1 - p) * (1 - 2 * p)) + a ^ 2 * (p ^ 2 * (1 - p) * ((2 - 3 * p) * (1 - e) + e)))
    by (unfold c; ring).
  assert (A2 : a ^ 2 <= r * r) by nra.
  assert (F1 : a * - (p * (1 - p) * (1 - 2 * p)) <= r * (1 / 10)).
  { apply Rle_trans with (a * (1 / 10)); [apply Rmult_le_compat_l; lra|apply Rmult_le_compat_r; lra]. }
  assert (F2 : a ^ 2 * (p ^ 2 * (1 - p) * ((2 - 3 * p) * (1 - e) + e)) <= r * r * (4 / 27)).
  { apply Rle_trans with (a ^ 2 * (4 / 27)); [apply Rmult_le_compat_l; [apply pow2_ge_0|lra]|apply Rmult_le_compat_r;
      lra]. }
  assert (F3 : r <= (r * r + 4) / 4) by (pose proof (pow2_ge_0 (r - 2)); nra).
  assert (F : c <= (T / q + 4) / 40 + 4 / 27 * (T / q)) by (rewrite Ec, <- R2; lra).
  destruct Integers as [Eq|[[Q2 T1]|[[Eq T3]|[Eq Et]]]].
  - (* q = T: P = 1, and the entry is 0 *)
    assert (p = 1) as Ep by (unfold p, recursion.P, recursion.N; rewrite Eq; field; lra). unfold c. rewrite Ep.
    replace (a * 1 * (1 - 1) * (a * 1 * ((2 - 3 * 1) * (1 - e) + e) - (1 - 2 * 1))) with 0 by ring.
    apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra].
  - eapply Rle_trans; [exact F|]. apply Rmult_le_reg_r with q; [lra|].
    replace (((T / q + 4) / 40 + 4 / 27 * (T / q)) * q) with ((T + 4 * q) / 40 + 4 / 27 * T) by (field; lra).
    replace (2 * (T - 1) / (5 * q) * q) with (2 / 5 * (T - 1)) by (field; lra). lra.
  - eapply Rle_trans; [exact F|]. rewrite Eq. replace (T / 1) with T by field.
    replace (2 * (T - 1) / (5 * 1)) with (2 / 5 * (T - 1)) by field. lra.
  - (* T = 2, q = 1: P = 1/(1 + w) *)
    rewrite Ec. assert (Ep : p = 1 / (1 + e)) by (unfold p, recursion.P, recursion.N; fold e; rewrite Eq, Et; field;
      lra).
    assert (RR : r * r = 2) by (rewrite R2, Eq, Et; field).
    assert (r <= 3 / 2) by nra. rewrite Eq, Et. replace (2 * (2 - 1) / (5 * 1)) with (2 / 5) by field.
    assert (EE : 0 <= e <= 1) by lra. pose proof (curvature_of_two_tokens e EE) as U1.
    pose proof (first_term_of_two_tokens e EE) as U2.
    assert (G1 : - (p * (1 - p) * (1 - 2 * p)) = e * (1 - e) / (1 + e) ^ 3) by (rewrite Ep; field; lra).
    assert (G2 : p ^ 2 * (1 - p) * ((2 - 3 * p) * (1 - e) + e) = e * (4 * e - 1 - e ^ 2) / (1 + e) ^ 4) by (rewrite
      Ep; field; lra).
    rewrite G1, G2. assert (0 <= e * (1 - e) / (1 + e) ^ 3) by (apply Rmult_le_pos;
      [nra|apply Rlt_le, Rinv_0_lt_compat, pow_lt; lra]).
    assert (a * (e * (1 - e) / (1 + e) ^ 3) <= 3 / 2 * (e * (1 - e) / (1 + e) ^ 3)) by (apply Rmult_le_compat_r; lra).
    replace (3 * e * (1 - e) / (1 + e) ^ 3) with (3 * (e * (1 - e) / (1 + e) ^ 3)) in U1, U2 by (field; lra).
    replace (4 * e * (4 * e - 1 - e ^ 2) / (1 + e) ^ 4) with (4 * (e * (4 * e - 1 - e ^ 2) / (1 + e) ^ 4)) in U1 by
      (field; lra).
    set (h := e * (4 * e - 1 - e ^ 2) / (1 + e) ^ 4) in *. destruct (Rle_dec 0 h).
    + assert (a ^ 2 * h <= 2 * h) by (apply Rmult_le_compat_r; lra). lra.
    + assert (0 <= a ^ 2 * - h) by (apply Rmult_le_pos; [apply pow2_ge_0|lra]). lra.
Qed.

(** ** The run *)

Lemma fall alpha C : 0 <= C -> 0 <= alpha <= r -> scaled alpha C <= 1 ->
  scaled (step_alpha alpha C) (step_C alpha C) <= scaled alpha C - 2 * squares alpha C * (1 - beta / 2).
Proof.
  intros HC Ha H. pose proof (C_stays_in_range alpha C HC H) as HC'.
  pose proof (alpha_stays_in_range alpha C HC Ha) as Ha'.
  pose proof beta_below_two as B. pose proof (squares_nonneg T q d eta HT Hq Hd eta_pos alpha C) as G.
  destruct (steps T q d eta HT Hq alpha C) as [Ea Ec].
  set (u := - (speed_alpha * slope_alpha T q alpha C)). set (v := speed_C * slope_C T q alpha C).
  assert (Ea' : step_alpha alpha C = alpha + u) by (unfold u; lra).
  assert (Ec' : step_C alpha C = C + v) by (unfold v; lra).
  rewrite Ea', Ec'. rewrite Ec' in HC'. rewrite Ea' in Ha'.
  rewrite <- (along_end T q alpha C u v), <- (along_start T q alpha C u v).
  pose proof (fall_where_bounded (along T q alpha C u v) (along' T q alpha C u v) (along'' T q alpha C u v)
    (squares alpha C) beta 1) as F.
  enough (along T q alpha C u v 1 <= along T q alpha C u v 0 - 2 * squares alpha C * 1 + beta * squares alpha C * 1 ^
    2) by lra.
  apply F; try lra.
  - intros. apply slope_along; assumption.
  - intros. apply curvature_along; assumption.
  - unfold u, v. apply along_start_slope.
  - intros t Ht. unfold beta, u, v.
    rewrite (Rmult_assoc 2 (speed_alpha * (1 + kappa))), <- squares_of_step by assumption. fold u v.
    assert (X0 : 0 <= C + t * v) by nra. assert (A0 : 0 <= alpha + t * u <= r) by (split; nra).
    apply eigenvalue; try assumption; [apply PS_at_most_one; assumption|apply entry_mixed|apply entry_of_C]; assumption.
Qed.

Lemma whole_run n : 0 <= C_at T q d eta n /\ scaled_at T q d eta n <= 1 /\ 0 <= alpha_at T q d eta n <= r.
Proof.
  pose proof beta_below_two. pose proof r_at_least_one.
  induction n as [|n (I1 & I2 & I3)]; [repeat split;
    [unfold C_at|rewrite scaled_start|unfold alpha_at|unfold alpha_at]; simpl; lra|].
  rewrite C_next, alpha_next. split; [apply C_stays_in_range; assumption|]. split; [|apply alpha_stays_in_range;
    assumption].
  pose proof (fall _ _ I1 I3 I2).
  pose proof (squares_nonneg T q d eta HT Hq Hd eta_pos (alpha_at T q d eta n) (C_at T q d eta n)).
  unfold scaled_at in *. rewrite alpha_next, C_next. nra.
Qed.

Lemma inside n : 0 <= C_at T q d eta n /\ scaled_at T q d eta n <= 1.
Proof. destruct (whole_run n) as (H1 & H2 & _). auto. Qed.

Lemma fall_along_run n : scaled_at T q d eta (S n)
  <= scaled_at T q d eta n - 2 * squares (alpha_at T q d eta n) (C_at T q d eta n) * (1 - beta / 2).
Proof.
  destruct (whole_run n) as (H1 & H2 & H3). unfold scaled_at. rewrite alpha_next, C_next. apply fall; assumption.
Qed.

Theorem reached eps : 0 < eps -> exists n, recursion.loss_at T q d eta n <= eps.
Proof. apply (reaches T q d eta HT Hq Hd eta_pos beta beta_below_two inside fall_along_run). Qed.

Theorem stays eps n m : (n <= m)%nat -> recursion.loss_at T q d eta n <= eps -> recursion.loss_at T q d eta m <= eps.
Proof. apply (stays_below T q d eta HT Hq Hd eta_pos beta beta_below_two fall_along_run). Qed.

End SmallSteps.
