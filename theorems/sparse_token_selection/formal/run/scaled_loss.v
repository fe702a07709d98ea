(** The scaled loss ℓ = 2qL/d in α and C: its slopes and curvatures, the least slopes, and the run along which ℓ
  falls. *)

Require Import Reals Lra Psatz Arith.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection.formal Require recursion.
Open Scope R_scope.

(** ** Derivatives along a segment (α + tu, C + tv), for P, PS and w as functions of t *)

Lemma first_derivative (P K : R -> R) (a u t P' K' : R) : is_derive P t P' -> is_derive K t K' ->
  is_derive (fun t => 1 - 2 * (a + t * u) * P t + (a + t * u) ^ 2 * K t) t
    (-2 * u * P t - 2 * (a + t * u) * P' + 2 * (a + t * u) * u * K t + (a + t * u) ^ 2 * K').
Proof.
  intros D1 D2. auto_derive; [repeat split; eexists; eassumption|].
  replace (Derive (fun x : R => P x) t) with P' by (symmetry; apply is_derive_unique; exact D1).
  replace (Derive (fun x : R => K x) t) with K' by (symmetry; apply is_derive_unique; exact D2). ring.
Qed.

Lemma second_derivative (P K w : R -> R) (a u v t P' K' w' : R) :
  is_derive P t P' -> is_derive K t K' -> is_derive w t w' ->
  is_derive (fun t => -2 * u * P t - 2 * (a + t * u) * (P t * (1 - P t) * v) + 2 * (a + t * u) * u * K t
      + (a + t * u) ^ 2 * (2 * P t ^ 2 * (1 - P t) * (1 - w t) * v)) t
    (-2 * u * P' - 2 * u * (P t * (1 - P t) * v) - 2 * (a + t * u) * (P' * (1 - 2 * P t) * v) + 2 * u * u * K t
      + 2 * (a + t * u) * u * K' + 2 * (a + t * u) * u * (2 * P t ^ 2 * (1 - P t) * (1 - w t) * v)
      + (a + t * u) ^ 2 * ((4 * P t - 6 * P t ^ 2) * P' * (1 - w t) * v - 2 * P t ^ 2 * (1 - P t) * w' * v)).
Proof.
  intros D1 D2 D3. auto_derive; [repeat split; eexists; eassumption|].
  replace (Derive (fun x : R => P x) t) with P' by (symmetry; apply is_derive_unique; exact D1).
  replace (Derive (fun x : R => K x) t) with K' by (symmetry; apply is_derive_unique; exact D2).
  replace (Derive (fun x : R => w x) t) with w' by (symmetry; apply is_derive_unique; exact D3). ring.
Qed.

Section Scaled.
Variables T q d eta : R.
Hypothesis HT : 2 <= T.
Hypothesis Hq : 1 <= q <= T.
Hypothesis Hd : 0 < d.
Hypothesis Heta : 0 < eta.

Local Notation w := recursion.w.
Local Notation N := (recursion.N T q).
Local Notation P := (recursion.P T q).
Local Notation step_alpha := (recursion.step_alpha T q eta).
Local Notation step_C := (recursion.step_C T q d eta).
Local Notation run := (recursion.run T q d eta).
Local Notation loss_at := (recursion.loss_at T q d eta).

(** PS, and ℓ. *)
Definition PS (C : R) : R := P C ^ 2 + P C * (1 - P C) * w C.
Definition scaled (alpha C : R) : R := 1 - 2 * alpha * P C + alpha ^ 2 * PS C.

Lemma w_pos C : 0 < w C.
Proof. apply exp_pos. Qed.

Lemma w_le_one C : 0 <= C -> w C <= 1.
Proof.
  intros. unfold recursion.w. rewrite <- exp_0. destruct (Req_dec C 0) as [->|]; [rewrite Ropp_0; lra|].
  left. apply exp_increasing. lra.
Qed.

Lemma N_pos C : 0 < N C.
Proof. unfold recursion.N. pose proof (w_pos C). assert (0 <= (T - q) * w C) by (apply Rmult_le_pos; lra). lra. Qed.

Lemma Q_of_P C : recursion.Q T q C = 1 - P C.
Proof. unfold recursion.Q, recursion.P. pose proof (N_pos C) as H. unfold recursion.N in *. field. lra. Qed.

Lemma P_range C : 0 < P C <= 1.
Proof.
  pose proof (N_pos C). pose proof (w_pos C). split; [apply Rdiv_lt_0_compat; lra|].
  unfold recursion.P. apply Rmult_le_reg_r with (N C); [assumption|]. field_simplify; [|lra]. unfold recursion.N.
  assert (0 <= (T - q) * w C) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma least_share C : 0 <= C -> q / T <= P C.
Proof.
  intro H. pose proof (N_pos C). pose proof (w_le_one C H). unfold recursion.P. apply Rmult_le_compat_l; [lra|].
  apply Rinv_le_contravar; [assumption|]. unfold recursion.N.
  assert ((T - q) * w C <= (T - q) * 1) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma PS_is_product C : P C * recursion.S' T q C = PS C.
Proof. unfold recursion.S', PS. rewrite Q_of_P. ring. Qed.

Lemma PS_at_most_one C : 0 <= C -> PS C <= 1.
Proof.
  intro H. unfold PS. pose proof (P_range C). pose proof (w_pos C). pose proof (w_le_one C H).
  assert (P C * (1 - P C) * w C <= P C * (1 - P C) * 1) by (apply Rmult_le_compat_l; [apply Rmult_le_pos|]; lra). lra.
Qed.

Lemma loss_of_scaled alpha C : recursion.loss T q d alpha C = d / (2 * q) * scaled alpha C.
Proof. unfold recursion.loss, scaled. rewrite <- PS_is_product. ring. Qed.

Lemma scaled_nonneg alpha C : 0 <= scaled alpha C.
Proof.
  unfold scaled, PS. pose proof (P_range C). pose proof (w_pos C).
  assert (0 <= alpha ^ 2 * (P C * (1 - P C) * w C)).
  { apply Rmult_le_pos; [apply pow2_ge_0|]. apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
  pose proof (pow2_ge_0 (1 - alpha * P C)). nra.
Qed.

(** Where ℓ ≤ 1, 0 ≤ αP ≤ 2. *)
Lemma excess alpha C : scaled alpha C <= 1 -> 0 <= alpha * P C <= 2.
Proof.
  intro H. unfold scaled, PS in H. pose proof (P_range C). pose proof (w_pos C).
  assert (0 <= alpha ^ 2 * (P C * (1 - P C) * w C)).
  { apply Rmult_le_pos; [apply pow2_ge_0|]. apply Rmult_le_pos; [apply Rmult_le_pos|]; lra. }
  set (t := alpha * P C). assert (t ^ 2 <= 2 * t) by (unfold t; nra). split; nra.
Qed.

Lemma slope_of_P C : is_derive P C (P C * (1 - P C)).
Proof.
  pose proof (N_pos C) as H. unfold recursion.P at 1, recursion.N, recursion.w. unfold recursion.N, recursion.w in H.
  auto_derive; [lra|]. unfold recursion.P, recursion.N, recursion.w in *. field. lra.
Qed.

Lemma slope_of_PS C : is_derive PS C (2 * P C ^ 2 * (1 - P C) * (1 - w C)).
Proof.
  pose proof (N_pos C) as H. unfold recursion.N, recursion.w in H.
  apply (is_derive_ext (fun C => (q / (q + (T - q) * exp (- C))) ^ 2
    + q / (q + (T - q) * exp (- C)) * (1 - q / (q + (T - q) * exp (- C))) * exp (- C))); [reflexivity|].
  auto_derive; [repeat split; lra|]. unfold recursion.P, recursion.N, recursion.w in *. field. lra.
Qed.

(** ** A step: ℓ's slopes, −2 times the first and the second of these, and the sum of their squares, each scaled by its
    step size *)

Definition slope_alpha (alpha C : R) : R := alpha * PS C - P C.
Definition slope_C (alpha C : R) : R := alpha * P C * (1 - P C) * (1 - alpha * P C * (1 - w C)).
Definition speed_alpha : R := eta / q.
Definition ratio : R := d / (T - 1).
Definition speed_C : R := eta * d / (q * (T - 1)).
Definition squares (alpha C : R) : R := speed_alpha * slope_alpha alpha C ^ 2 + speed_C * slope_C alpha C ^ 2.

Lemma steps alpha C : step_alpha alpha C = alpha - speed_alpha * slope_alpha alpha C
  /\ step_C alpha C = C + speed_C * slope_C alpha C.
Proof.
  unfold recursion.step_alpha, recursion.step_C, slope_alpha, slope_C, speed_alpha, speed_C.
  rewrite Q_of_P, <- PS_is_product. split; field; lra.
Qed.

Lemma ratio_pos : 0 < ratio.
Proof. apply Rdiv_lt_0_compat; lra. Qed.

Lemma speed_alpha_pos : 0 < speed_alpha.
Proof. apply Rdiv_lt_0_compat; lra. Qed.

Lemma speed_C_is_product : speed_C = speed_alpha * ratio.
Proof. unfold speed_C, speed_alpha, ratio. field. lra. Qed.

Lemma speed_C_pos : 0 < speed_C.
Proof. rewrite speed_C_is_product. apply Rmult_lt_0_compat; [apply speed_alpha_pos|apply ratio_pos]. Qed.

Lemma squares_nonneg alpha C : 0 <= squares alpha C.
Proof.
  unfold squares. pose proof speed_alpha_pos. pose proof speed_C_pos.
  apply Rplus_le_le_0_compat; (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
Qed.

(** Where the squares vanish a step moves nothing. *)
Lemma no_step alpha C : squares alpha C = 0 -> step_alpha alpha C = alpha /\ step_C alpha C = C.
Proof.
  intro Z. unfold squares in Z. destruct (steps alpha C) as [-> ->].
  pose proof speed_alpha_pos. pose proof speed_C_pos.
  assert (0 <= speed_alpha * slope_alpha alpha C ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
  assert (0 <= speed_C * slope_C alpha C ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
  assert (Za : slope_alpha alpha C = 0).
  { destruct (Req_dec (slope_alpha alpha C) 0) as [|Ne]; [assumption|]. exfalso.
    assert (0 < slope_alpha alpha C ^ 2) by (apply pow2_gt_0; assumption).
    assert (0 < speed_alpha * slope_alpha alpha C ^ 2) by (apply Rmult_lt_0_compat; lra). lra. }
  assert (Zc : slope_C alpha C = 0).
  { destruct (Req_dec (slope_C alpha C) 0) as [|Ne]; [assumption|]. exfalso.
    assert (0 < slope_C alpha C ^ 2) by (apply pow2_gt_0; assumption).
    assert (0 < speed_C * slope_C alpha C ^ 2) by (apply Rmult_lt_0_compat; lra). lra. }
  rewrite Za, Zc. split; ring.
Qed.

(** While C falls it stays at least 0, for a step size in C of at most 1/3. *)
Lemma C_stays_positive alpha C : speed_C <= 1 / 3 -> 0 <= C -> scaled alpha C <= 1 -> 0 <= step_C alpha C.
Proof.
  intros Third HC H. rewrite (proj2 (steps alpha C)). destruct (excess alpha C H) as [t0 t2]. unfold slope_C.
  set (t := alpha * P C) in *. pose proof (P_range C). pose proof (w_pos C). pose proof (w_le_one C HC).
  pose proof speed_C_pos.
  assert (1 - w C <= C) by (pose proof (exp_ineq1_le (- C)); unfold recursion.w; lra).
  destruct (Rle_dec 0 (1 - t * (1 - w C))) as [Y|Y].
  - assert (0 <= speed_C * (t * (1 - P C) * (1 - t * (1 - w C)))); [|lra].
    apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [|assumption]. apply Rmult_le_pos; lra.
  - assert (t * (1 - w C) <= 2 * (1 - w C)) by (apply Rmult_le_compat_r; lra).
    set (z := - (1 - t * (1 - w C))). assert (0 <= z <= 1 - 2 * w C) by (unfold z; lra).
    assert (0 <= t * (1 - P C) <= 2) by nra.
    assert (0 <= t * (1 - P C) * z <= 2 * (1 - 2 * w C)) by (split; [apply Rmult_le_pos|apply Rmult_le_compat]; lra).
    replace (t * (1 - P C) * (1 - t * (1 - w C))) with (- (t * (1 - P C) * z)) by (unfold z; ring).
    assert (speed_C * (t * (1 - P C) * z) <= 1 / 3 * (2 * (1 - 2 * w C))) by (apply Rmult_le_compat; lra). lra.
Qed.

(** ** ℓ along a step *)

Section Segment.
Variables alpha C u v : R.
Local Notation A t := (alpha + t * u).
Local Notation X t := (C + t * v).

Definition along (t : R) : R := scaled (A t) (X t).
Definition along' (t : R) : R :=
  -2 * u * P (X t) - 2 * A t * (P (X t) * (1 - P (X t)) * v) + 2 * A t * u * PS (X t)
  + A t ^ 2 * (2 * P (X t) ^ 2 * (1 - P (X t)) * (1 - w (X t)) * v).

(** The entries of the Hessian, halved: 1 for α is PS; the mixed one; the one of C. *)
Definition curvature_mixed (a x : R) : R := P x * (1 - P x) * (2 * (a * P x) * (1 - w x) - 1).
Definition curvature_C (a x : R) : R :=
  a * P x * (1 - P x) * (a * P x * ((2 - 3 * P x) * (1 - w x) + w x) - (1 - 2 * P x)).
Definition along'' (t : R) : R :=
  2 * (PS (X t) * u ^ 2 + 2 * curvature_mixed (A t) (X t) * u * v + curvature_C (A t) (X t) * v ^ 2).

Lemma P_along t : is_derive (fun t => P (X t)) t (P (X t) * (1 - P (X t)) * v).
Proof.
  evar_last.
  - apply (is_derive_comp P (fun t => X t)); [apply slope_of_P|]. auto_derive; [trivial|reflexivity].
  - unfold scal; simpl; unfold mult; simpl; ring.
Qed.

Lemma PS_along t : is_derive (fun t => PS (X t)) t (2 * P (X t) ^ 2 * (1 - P (X t)) * (1 - w (X t)) * v).
Proof.
  evar_last.
  - apply (is_derive_comp PS (fun t => X t)); [apply slope_of_PS|]. auto_derive; [trivial|reflexivity].
  - unfold scal; simpl; unfold mult; simpl; ring.
Qed.

Lemma w_along t : is_derive (fun t => w (X t)) t (- w (X t) * v).
Proof. unfold recursion.w. auto_derive; [trivial|ring]. Qed.

Lemma slope_along t : is_derive along t (along' t).
Proof.
  unfold along, along', scaled. evar_last.
  - apply (first_derivative (fun t => P (X t)) (fun t => PS (X t)) alpha u t _ _ (P_along t) (PS_along t)).
  - ring.
Qed.

Lemma curvature_along t : is_derive along' t (along'' t).
Proof.
  unfold along', along''. evar_last.
  - apply (second_derivative (fun t => P (X t)) (fun t => PS (X t)) (fun t => w (X t)) alpha u v t _ _ _
      (P_along t) (PS_along t) (w_along t)).
  - unfold curvature_mixed, curvature_C. cbv beta. ring.
Qed.

(** No eigenvalue of the scaled Hessian is above 1 + κ where neither its entry of C nor the square of its mixed entry is
    above κ. *)
Lemma eigenvalue kappa t : PS (X t) <= 1 ->
  curvature_mixed (A t) (X t) ^ 2 * ratio <= kappa -> curvature_C (A t) (X t) * ratio <= kappa ->
  along'' t <= 2 * ((1 + kappa) * (u ^ 2 + v ^ 2 / ratio)).
Proof.
  intros H1 H2 H3. unfold along''. pose proof ratio_pos as R0. set (m := curvature_mixed _ _) in *.
  set (c := curvature_C _ _) in *.
  set (K := PS (X t)) in *. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_reg_r with ratio; [assumption|].
  replace ((1 + kappa) * (u ^ 2 + v ^ 2 / ratio) * ratio) with ((1 + kappa) * (ratio * u ^ 2 + v ^ 2)) by (field; lra).
  assert (J1 : 0 <= (1 - K) * (ratio * u ^ 2)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; [lra|apply pow2_ge_0]]).
  assert (J2 : 0 <= (kappa - m ^ 2 * ratio) * (ratio * u ^ 2))
    by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; [lra|apply pow2_ge_0]]).
  assert (J3 : 0 <= (kappa - c * ratio) * v ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
  pose proof (pow2_ge_0 (v - m * (ratio * u))). nra.
Qed.
End Segment.

(** The bound on the curvature, in terms of the squares, along a step of the run. *)
Lemma squares_of_step alpha C kappa :
  (1 + kappa) * ((- (speed_alpha * slope_alpha alpha C)) ^ 2 + (speed_C * slope_C alpha C) ^ 2 / ratio)
  = speed_alpha * (1 + kappa) * squares alpha C.
Proof. unfold squares. rewrite speed_C_is_product. pose proof ratio_pos. field. lra. Qed.

Lemma along_start alpha C u v : along alpha C u v 0 = scaled alpha C.
Proof. unfold along. replace (alpha + 0 * u) with alpha by ring. replace (C + 0 * v) with C by ring. reflexivity. Qed.

Lemma along_end alpha C u v : along alpha C u v 1 = scaled (alpha + u) (C + v).
Proof. unfold along. rewrite !Rmult_1_l. reflexivity. Qed.

Lemma along_start_slope alpha C :
  along' alpha C (- (speed_alpha * slope_alpha alpha C)) (speed_C * slope_C alpha C) 0 = -2 * squares alpha C.
Proof.
  unfold along'. rewrite !Rmult_0_l, !Rplus_0_r. unfold squares, slope_alpha, slope_C. ring.
Qed.

(** ** The least slopes *)

Definition least (y : R) : R :=
  Rmin (speed_alpha * ((q / T) ^ 2 * y ^ 2 / 16)) (speed_C * ((3 / 4 * (q / T)) ^ 2 * (y / 2) ^ 2)).

Lemma least_pos y : 0 < y -> 0 < least y.
Proof.
  intro Hy. pose proof speed_alpha_pos. pose proof speed_C_pos. assert (0 < q / T) by (apply Rdiv_lt_0_compat; lra).
  unfold least. apply Rmin_pos; apply Rmult_lt_0_compat; try lra.
  - assert (0 < (q / T) ^ 2) by (apply pow_lt; lra). assert (0 < y ^ 2) by (apply pow_lt; lra).
    assert (0 < (q / T) ^ 2 * y ^ 2) by (apply Rmult_lt_0_compat; lra). lra.
  - apply Rmult_lt_0_compat; apply pow_lt; lra.
Qed.

(** The coordinates m = P/S and ρ = αS − 1: ℓ = (1 − m) + mρ², and its slopes are Pρ and (1 + ρ) m B,
    B = 1 − m − ρm (1 − P)(1 − w). *)
Lemma coordinates alpha C : 0 <= C -> exists m rho, 0 < m <= 1 /\ P C <= m /\ alpha * P C = (1 + rho) * m
  /\ scaled alpha C = (1 - m) + m * rho ^ 2 /\ slope_alpha alpha C = P C * rho
  /\ slope_C alpha C = alpha * P C * ((1 - m) - rho * m * ((1 - P C) * (1 - w C))).
Proof.
  intro HC. pose proof (P_range C). pose proof (w_pos C). pose proof (w_le_one C HC).
  assert (kk : PS C = P C * (P C + (1 - P C) * w C)) by (unfold PS; ring).
  unfold scaled, slope_alpha, slope_C. rewrite kk. set (p := P C) in *. set (e := w C) in *.
  set (SS := p + (1 - p) * e). assert (S0 : 0 < SS) by (unfold SS; nra). assert (S1 : SS <= 1) by (unfold SS; nra).
  pose (m := p / SS). pose (rho := alpha * SS - 1). exists m, rho.
  assert (mp : p <= m) by (unfold m; apply Rmult_le_reg_r with SS; [assumption|field_simplify; [nra|lra]]).
  assert (m1 : m <= 1) by (unfold m; apply Rmult_le_reg_r with SS; [assumption|field_simplify; [unfold SS; nra|lra]]).
  assert (Et : alpha * p = (1 + rho) * m) by (unfold rho, m; field; lra).
  split; [lra|]. split; [assumption|]. split; [exact Et|]. split; [|split].
  - unfold rho, m. field. lra.
  - unfold rho. ring.
  - replace (alpha * p * (1 - p) * (1 - alpha * p * (1 - e))) with (alpha * p * ((1 - p) * (1 - alpha * p * (1 - e))))
      by ring.
    f_equal. rewrite Et. assert (Em : 1 - m = (1 - p) * (1 - m * (1 - e))).
    { unfold m, SS. unfold SS in S0. field. lra. }
    rewrite Em at 1. ring.
Qed.

Lemma least_slopes alpha C y : 0 <= C -> 0 < y <= 1 -> y <= scaled alpha C <= 1 -> least y <= squares alpha C.
Proof.
  intros HC Hy [H1 H2]. pose proof speed_alpha_pos as U. pose proof speed_C_pos as V.
  assert (qT : 0 < q / T) by (apply Rdiv_lt_0_compat; lra).
  pose proof (P_range C) as Pr. pose proof (least_share C HC) as Pl. pose proof (w_pos C) as W0.
  pose proof (w_le_one C HC) as W1.
  destruct (excess alpha C H2) as [t0 t2].
  destruct (coordinates alpha C HC) as (m & rho & [m0 m1] & mp & Et & El & Ea & Ec).
  unfold squares. rewrite Ea, Ec. rewrite El in H1. set (p := P C) in *. set (e := w C) in *. set (t := alpha * p) in *.
  set (B := (1 - m) - rho * m * ((1 - p) * (1 - e))).
  assert (0 <= speed_alpha * (p * rho) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
  assert (0 <= speed_C * (t * B) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
  destruct (Rle_dec (y ^ 2 / 16) (rho ^ 2)) as [A|A].
  - apply Rle_trans with (speed_alpha * ((q / T) ^ 2 * y ^ 2 / 16)); [apply Rmin_l|].
    enough (speed_alpha * ((q / T) ^ 2 * y ^ 2 / 16) <= speed_alpha * (p * rho) ^ 2) by lra.
    apply Rmult_le_compat_l; [lra|]. replace ((p * rho) ^ 2) with (p ^ 2 * rho ^ 2) by ring.
    replace ((q / T) ^ 2 * y ^ 2 / 16) with ((q / T) ^ 2 * (y ^ 2 / 16)) by (unfold Rdiv; ring).
    apply Rmult_le_compat; try apply pow2_ge_0; try assumption; [pose proof (pow2_ge_0 y); lra|apply pow_incr; lra].
  - apply Rnot_le_lt in A. assert (- (y / 4) < rho < y / 4) by nra.
    apply Rle_trans with (speed_C * ((3 / 4 * (q / T)) ^ 2 * (y / 2) ^ 2)); [apply Rmin_r|].
    enough (speed_C * ((3 / 4 * (q / T)) ^ 2 * (y / 2) ^ 2) <= speed_C * (t * B) ^ 2) by lra.
    apply Rmult_le_compat_l; [lra|]. rewrite (Rpow_mult_distr t).
    assert (HB : y / 2 <= B).
    { unfold B. assert (0 <= (1 - p) * (1 - e) <= 1) by nra. set (z := (1 - p) * (1 - e)) in *.
      assert (0 <= m * z <= 1) by nra. assert (rho * m * z <= y / 4) by nra. assert (0 <= rho ^ 2) by apply pow2_ge_0.
      assert (m * rho ^ 2 <= y ^ 2 / 16) by nra. assert (y ^ 2 <= y) by nra. nra. }
    assert (3 / 4 * (q / T) <= t) by (rewrite Et; apply Rmult_le_compat; lra).
    apply Rmult_le_compat; [apply pow2_ge_0|apply pow2_ge_0|apply pow_incr; lra|apply pow_incr; lra].
Qed.

(** ** The run, where each step from ℓ ≤ 1 and C ≥ 0 keeps both and lowers ℓ by a multiple of the squares *)

Definition alpha_at (n : nat) : R := fst (run n).
Definition C_at (n : nat) : R := snd (run n).
Definition scaled_at (n : nat) : R := scaled (alpha_at n) (C_at n).

Lemma alpha_next n : alpha_at (S n) = step_alpha (alpha_at n) (C_at n).
Proof. unfold alpha_at, C_at. simpl. destruct (run n). reflexivity. Qed.

Lemma C_next n : C_at (S n) = step_C (alpha_at n) (C_at n).
Proof. unfold alpha_at, C_at. simpl. destruct (run n). reflexivity. Qed.

Lemma scaled_start : scaled_at 0 = 1.
Proof. unfold scaled_at, alpha_at, C_at, scaled. simpl. ring. Qed.

Lemma loss_at_scaled n : loss_at n = d / (2 * q) * scaled_at n.
Proof. unfold recursion.loss_at, scaled_at, alpha_at, C_at. destruct (run n). apply loss_of_scaled. Qed.

Lemma loss_nonneg n : 0 <= loss_at n.
Proof.
  rewrite loss_at_scaled. apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; lra|apply scaled_nonneg].
Qed.

Variable beta : R.
Hypothesis Beta : 0 <= beta < 2.
Hypothesis Inside : forall n, 0 <= C_at n /\ scaled_at n <= 1.
Hypothesis Fall : forall n, scaled_at (S n) <= scaled_at n - 2 * squares (alpha_at n) (C_at n) * (1 - beta / 2).

Lemma never_increases n : loss_at (S n) <= loss_at n.
Proof.
  rewrite !loss_at_scaled. pose proof (Fall n). pose proof (squares_nonneg (alpha_at n) (C_at n)).
  apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra|nra].
Qed.

Theorem stays_below eps n m : (n <= m)%nat -> loss_at n <= eps -> loss_at m <= eps.
Proof. intros H B. induction H as [|m _ IH]; [assumption|]. pose proof (never_increases m). lra. Qed.

Theorem reaches eps : 0 < eps -> exists n, loss_at n <= eps.
Proof.
  intro He. set (y := Rmin 1 (2 * q * eps / d)).
  assert (Y0 : 0 < y) by (apply Rmin_pos; [lra|]; apply Rdiv_lt_0_compat; [nra|lra]).
  assert (Y1 : y <= 1) by apply Rmin_l. pose proof (least_pos y Y0) as Lp.
  set (fall := 2 * least y * (1 - beta / 2)). assert (F0 : 0 < fall) by (unfold fall; nra).
  assert (exists n, scaled_at n <= y) as [n Hn].
  { assert (exists n, INR n > 2 / fall) as [n Hn].
    { destruct (nfloor_ex (2 / fall)) as [n0 [_ H0]]; [left; apply Rdiv_lt_0_compat; lra|].
      exists (S n0). rewrite S_INR. lra. }
    assert (G : forall j, (exists i, scaled_at i <= y) \/ scaled_at j <= 1 - INR j * fall).
    { induction j as [|j [I|I]]; [right; rewrite scaled_start; simpl; lra|left; assumption|].
      destruct (Rle_dec (scaled_at j) y) as [Z|Z]; [left; exists j; assumption|right].
      destruct (Inside j) as [J1 J2]. rewrite S_INR. pose proof (Fall j) as F.
      pose proof (least_slopes (alpha_at j) (C_at j) y J1 (conj Y0 Y1) (conj (Rlt_le _ _ (Rnot_le_lt _ _ Z)) J2)).
      unfold fall in *. nra. }
    destruct (G n) as [I|I]; [assumption|]. exfalso.
    assert (INR n * fall > 2). { apply Rmult_gt_compat_r with (r := fall) in Hn; [|assumption]. field_simplify in Hn;
      lra. }
    pose proof (scaled_nonneg (alpha_at n) (C_at n)). unfold scaled_at in I. lra. }
  exists n. rewrite loss_at_scaled. assert (y <= 2 * q * eps / d) by apply Rmin_r.
  assert (0 < d / (2 * q)) by (apply Rdiv_lt_0_compat; lra).
  apply Rle_trans with (d / (2 * q) * (2 * q * eps / d)); [apply Rmult_le_compat_l; lra|right; field; lra].
Qed.
End Scaled.
