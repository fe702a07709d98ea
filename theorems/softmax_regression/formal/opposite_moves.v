(** A gradient step and an attention layer move the prediction of two rows in opposite directions.

    With the logits ±D/2 the first row has the probability P(D) = 1/(1 + e^{−D}), which grows with D; the step raises D,
    the layer lowers it. The loss is (1 − P)², with the slope −2P(1−P)² in D and a second derivative of size 1/6 at
    most. *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From SoftmaxRegression Require Import definitions.
From SoftmaxRegression.formal Require Import claims sums half_slope gradient.
Open Scope R_scope.

(** ** The probability *)

Lemma probability_between D : 0 < probability D < 1.
Proof.
  unfold probability. pose proof (exp_pos (- D)). split.
  - apply Rdiv_lt_0_compat; lra.
  - apply (Rmult_lt_reg_r (1 + exp (- D))); [lra|]. field_simplify; lra.
Qed.

Lemma probability_increasing D D' : D < D' -> probability D < probability D'.
Proof.
  intro H. unfold probability. pose proof (exp_pos (- D')).
  assert (exp (- D') < exp (- D)) by (apply exp_increasing; lra).
  apply Rmult_lt_compat_l; [lra|]. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra|lra].
Qed.

Lemma softmax_of_pair z y : z 0%nat = y -> z 1%nat = - y ->
  softmax 2 z 0%nat = probability (2 * y) /\ softmax 2 z 1%nat = 1 - probability (2 * y).
Proof.
  intros Z0 Z1. unfold softmax, probability. cbn [sum]. rewrite Z0, Z1.
  replace (exp (- (2 * y))) with (exp (- y) * exp (- y)) by (rewrite <- exp_plus; f_equal; ring).
  pose proof (exp_pos y). pose proof (exp_pos (- y)) as N. assert (I : exp y = / exp (- y)).
  { rewrite <- exp_Ropp. f_equal. ring. }
  rewrite I. pose proof (Rmult_lt_0_compat _ _ N N). split; field; split; apply Rgt_not_eq; lra.
Qed.

(** Two predictions of two rows are √2 times as far apart as their first entries. *)
Lemma distance u v p q : u 0%nat = p -> u 1%nat = 1 - p -> v 0%nat = q -> v 1%nat = 1 - q ->
  norm 2 (minus u v) = sqrt 2 * Rabs (p - q).
Proof.
  intros U0 U1 V0 V1. unfold norm, minus. cbn [sum]. rewrite U0, U1, V0, V1.
  rewrite <- sqrt_Rsqr_abs, <- sqrt_mult_alt by lra. f_equal. unfold Rsqr. ring.
Qed.

Lemma loss_of_pair u p : u 0%nat = p -> u 1%nat = 1 - p -> loss 2 u first_row = (1 - p) ^ 2.
Proof. intros U0 U1. rewrite loss_is_sum. unfold first_row. cbn. rewrite U0, U1. field. Qed.

(** ** The moves *)

Section Moves.
Variables (a x eta w v : R).
Hypotheses (Ha : 0 < a) (Hx : 0 < x) (Heta : 0 < eta) (Hw : 0 < w) (Hv : 0 < v).

Lemma difference_after_the_step x' : gradient_step 2 1 (two_rows a) first_row eta (fun _ => x) x' ->
  2 * (a * x' 0%nat) = difference a x + raised a x eta.
Proof.
  intro S. destruct (S 0%nat) as [g [G ->]]; [lia|].
  pose proof (gradient_in_x_holds 2%nat 1%nat (two_rows a) first_row (fun _ => x) 0%nat ltac:(lia) ltac:(lia)) as C.
  unfold slope in *. apply is_derive_unique in G, C. rewrite G in C. rewrite C. clear C G S.
  destruct (softmax_of_pair (applied 1 (two_rows a) (fun _ => x)) (a * x)) as [P0 P1];
    try (unfold applied, two_rows; cbn; ring).
  unfold gradient_entry, mean_residual. cbn [sum]. cbv zeta. rewrite P0, P1. unfold first_row, two_rows. cbn.
  unfold raised, difference. replace (2 * a * x) with (2 * (a * x)) by ring. ring.
Qed.

Lemma raised_pos : 0 < raised a x eta.
Proof.
  unfold raised. pose proof (probability_between (difference a x)) as P. set (p := probability (difference a x)) in *.
  pose proof (pow_lt a 2 Ha). pose proof (pow_lt (1 - p) 2 ltac:(lra)).
  apply Rmult_lt_0_compat; [|assumption]. apply Rmult_lt_0_compat; [|lra].
  apply Rmult_lt_0_compat; [lra|assumption].
Qed.

Lemma lowered_pos : 0 < lowered a x w v.
Proof.
  unfold lowered, difference.
  assert (0 < 2 * w * a ^ 2) by (apply Rmult_lt_0_compat; [lra|apply pow_lt, Ha]).
  assert (exp (- (2 * w * a ^ 2)) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
  pose proof (exp_pos (- (2 * w * a ^ 2))).
  apply Rdiv_lt_0_compat; [|lra].
  pose proof (Rmult_lt_0_compat _ _ Ha Hx). apply Rmult_lt_0_compat; [|lra]. apply Rmult_lt_0_compat; lra.
Qed.

Lemma logits_after_the_layer :
  let A := after_attention 2 1 (two_rows a) (constant w) (constant (- v)) in
  let y := / 2 * (difference a x - lowered a x w v) in
  applied 1 A (fun _ => x) 0%nat = y /\ applied 1 A (fun _ => x) 1%nat = - y.
Proof.
  cbv zeta. unfold applied, after_attention. cbn [sum]. cbv zeta.
  pose (logit := fun i l => 0 + two_rows a i 0%nat * (0 + constant w 0%nat 0%nat * two_rows a l 0%nat)).
  destruct (softmax_of_pair (logit 0%nat) (w * a ^ 2))
    as [P0 P1]; try (unfold logit, two_rows, constant; cbn; ring).
  destruct (softmax_of_pair (logit 1%nat) (- (w * a ^ 2)))
    as [Q0 Q1]; try (unfold logit, two_rows, constant; cbn; ring).
  unfold logit in P0, P1, Q0, Q1. cbv beta in P0, P1, Q0, Q1. rewrite P0, P1, Q0, Q1. unfold two_rows, constant, probability, lowered, difference. cbn [Nat.eqb].
  replace (- (2 * (w * a ^ 2))) with (- (2 * w * a ^ 2)) by ring.
  replace (- (2 * - (w * a ^ 2))) with (- - (2 * w * a ^ 2)) by ring. rewrite (exp_Ropp (- (2 * w * a ^ 2))).
  pose proof (exp_pos (- (2 * w * a ^ 2))). split; field; repeat split; apply Rgt_not_eq; lra.
Qed.
End Moves.

(** The three predictions. *)
Lemma three_predictions a x eta w v f f' f'' : moves a x eta w v f f' f'' ->
  let P := probability in let D := difference a x in let D' := D + raised a x eta in let D'' := D - lowered a x w v in
  (f 0%nat = P D /\ f 1%nat = 1 - P D) /\ (f' 0%nat = P D' /\ f' 1%nat = 1 - P D') /\
  (f'' 0%nat = P D'' /\ f'' 1%nat = 1 - P D'').
Proof.
  intros [Ha [Hx [Heta [Hw [Hv [x' [S [-> [-> ->]]]]]]]]]. cbv zeta. unfold prediction. repeat apply conj.
  1,2: replace (difference a x) with (2 * (a * x)) by (unfold difference; ring); apply softmax_of_pair;
    unfold applied, two_rows; cbn; ring.
  1,2: rewrite <- (difference_after_the_step a x eta x' S); apply softmax_of_pair; unfold applied, two_rows; cbn; ring.
  all: destruct (logits_after_the_layer a x w v) as [Z0 Z1];
    destruct (softmax_of_pair _ _ Z0 Z1) as [E0 E1];
    replace (2 * (/ 2 * (difference a x - lowered a x w v))) with (difference a x - lowered a x w v) in E0, E1 by field;
    assumption.
Qed.

Theorem probabilities_of_the_moves : claims.moved_probabilities.
Proof. intros a x eta w v f f' f'' M. pose proof (three_predictions _ _ _ _ _ _ _ _ M) as T. cbv zeta in T. tauto. Qed.

Theorem moves_exist_holds : claims.moves_exist.
Proof.
  intros a x eta w v Ha Hx Heta Hw Hv.
  set (z := applied 1 (two_rows a) (fun _ => x)).
  set (g := fun k => sum 2 (fun i => two_rows a i k * gradient_entry 2 first_row z i)).
  eexists _, _, _. repeat (split; [assumption|]). exists (fun k => x - eta * g k).
  split; [|split; [reflexivity|split; reflexivity]]. intros k Hk. exists (g k). split; [|reflexivity].
  apply (gradient_in_x_holds 2%nat 1%nat (two_rows a) first_row (fun _ => x) k); [lia|exact Hk].
Qed.

(** p' > p > p''. *)
Lemma opposite a x eta w v f f' f'' : moves a x eta w v f f' f'' ->
  let P := probability in let D := difference a x in
  P D < P (D + raised a x eta) /\ P (D - lowered a x w v) < P D.
Proof.
  intros [Ha [Hx [Heta [Hw [Hv _]]]]]. cbv zeta. pose proof (raised_pos a x eta Ha Heta).
  pose proof (lowered_pos a x w v Ha Hx Hw Hv). split; apply probability_increasing; lra.
Qed.

Theorem further_than_the_step_holds : claims.further_than_the_step.
Proof.
  intros a x eta w v f f' f'' M. pose proof (opposite _ _ _ _ _ _ _ _ M) as O.
  destruct (three_predictions _ _ _ _ _ _ _ _ M) as [[F0 F1] [[G0 G1] [H0 H1]]]. cbv zeta in *.
  rewrite (distance f' f'' _ _ G0 G1 H0 H1), (distance f' f _ _ G0 G1 F0 F1), !Rabs_pos_eq by lra.
  apply Rmult_gt_compat_l; [apply sqrt_lt_R0|]; lra.
Qed.

Theorem further_than_the_layer_holds : claims.further_than_the_layer.
Proof.
  intros a x eta w v f f' f'' M. pose proof (opposite _ _ _ _ _ _ _ _ M) as O.
  destruct (three_predictions _ _ _ _ _ _ _ _ M) as [[F0 F1] [[G0 G1] [H0 H1]]]. cbv zeta in *.
  rewrite (distance f' f'' _ _ G0 G1 H0 H1), (distance f f'' _ _ F0 F1 H0 H1), !Rabs_pos_eq by lra.
  apply Rmult_gt_compat_l; [apply sqrt_lt_R0|]; lra.
Qed.

(** ** The losses, to second order *)

Lemma increment_at_most (k dk : R -> R) m h : (forall s, is_derive k s (dk s)) -> 0 <= h ->
  (forall s, 0 <= s <= h -> dk s <= m) -> k h - k 0 <= m * h.
Proof.
  intros D H B. destruct (MVT_gen k 0 h dk) as [s [S E]].
  - intros s _. apply D.
  - intros s _. apply derivable_continuous_pt. exists (dk s). apply is_derive_Reals, D.
  - rewrite Rmin_left, Rmax_right in S by exact H. specialize (B s S). rewrite E, Rminus_0_r.
    apply Rmult_le_compat_r; lra.
Qed.

Lemma second_order (k dk ddk : R -> R) m h : (forall s, is_derive k s (dk s)) -> (forall s, is_derive dk s (ddk s)) ->
  (forall s, ddk s <= m) -> 0 <= h -> k h <= k 0 + dk 0 * h + m / 2 * h ^ 2.
Proof.
  intros D DD B H.
  assert (S : forall s, is_derive (fun s => k s - dk 0 * s - m / 2 * s ^ 2) s (dk s - dk 0 - m * s)).
  { intro s. auto_derive; [exists (dk s); apply D|].
    replace (Derive (fun s => k s) s) with (dk s) by (symmetry; apply is_derive_unique, D). field. }
  pose proof (increment_at_most _ _ 0 h S H) as I. cbv beta in I.
  enough (k h - dk 0 * h - m / 2 * h ^ 2 - (k 0 - dk 0 * 0 - m / 2 * 0 ^ 2) <= 0 * h) by lra.
  apply I. intros s [S0 _]. pose proof (increment_at_most dk ddk m s DD S0 (fun u _ => B u)). lra.
Qed.

Definition loss_slope (D : R) : R := - 2 * probability D * (1 - probability D) ^ 2.
Definition loss_bend (D : R) : R :=
  2 * probability D * (1 - probability D) ^ 2 * (3 * probability D - 1).

Lemma is_derive_probability c e s :
  is_derive (fun s => probability (c + e * s)) s (e * probability (c + e * s) * (1 - probability (c + e * s))).
Proof.
  unfold probability. pose proof (exp_pos (- (c + e * s))). auto_derive; [lra|]. field. lra.
Qed.

Lemma loss_derivatives c e :
  (forall s, is_derive (fun s => (1 - probability (c + e * s)) ^ 2) s (e * loss_slope (c + e * s))) /\
  (forall s, is_derive (fun s => e * loss_slope (c + e * s)) s (e ^ 2 * loss_bend (c + e * s))).
Proof.
  split; intro s; pose proof (is_derive_probability c e s) as D; unfold loss_slope, loss_bend;
    set (P := fun s => probability (c + e * s)) in *; change (probability (c + e * s)) with (P s).
  - apply (is_derive_ext (fun s => (1 - P s) ^ 2)); [reflexivity|].
    auto_derive; [exists (e * P s * (1 - P s)); exact D|].
    replace (Derive (fun s => P s) s) with (e * P s * (1 - P s)) by (symmetry; apply is_derive_unique, D). ring.
  - apply (is_derive_ext (fun s => e * (- 2 * P s * (1 - P s) ^ 2))); [reflexivity|].
    auto_derive; [repeat split; exists (e * P s * (1 - P s)); exact D|].
    replace (Derive (fun s => P s) s) with (e * P s * (1 - P s)) by (symmetry; apply is_derive_unique, D). ring.
Qed.

(** 1/6 − 2p(1−p)²(3p−1) = 6p(1−p)(p − 2/3)² + ⅔(p − ½)². *)
Lemma bend_between D : - / 6 <= loss_bend D <= / 6.
Proof.
  unfold loss_bend. pose proof (probability_between D) as [P Q]. set (p := probability D) in *. split.
  - assert (A : p * (1 - 3 * p) <= / 12) by (pose proof (pow2_ge_0 (p - / 6)); lra).
    assert (B : 0 <= (1 - p) ^ 2 <= 1) by (split; [apply pow2_ge_0|nra]). nra.
  - assert (A : 0 <= p * (1 - p) * (p - 2 / 3) ^ 2)
      by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply pow2_ge_0]).
    pose proof (pow2_ge_0 (p - / 2)). lra.
Qed.

Theorem step_lowers_the_loss_holds : claims.step_lowers_the_loss.
Proof.
  intros a x eta w v f f' f'' M. destruct (three_predictions _ _ _ _ _ _ _ _ M) as [[F0 F1] [[G0 G1] _]]. cbv zeta in *.
  destruct M as [Ha [_ [Heta _]]]. rewrite (loss_of_pair f _ F0 F1), (loss_of_pair f' _ G0 G1).
  pose proof (raised_pos a x eta Ha Heta) as H. set (D := difference a x) in *. set (h := raised a x eta) in *.
  destruct (loss_derivatives D 1) as [L1 L2].
  pose proof (second_order _ _ _ (/ 6) h L1 L2) as T. cbv beta in T.
  replace (D + 1 * h) with (D + h) in T by ring. replace (D + 1 * 0) with D in T by ring.
  assert (E : 1 * loss_slope D * h = - (h ^ 2 / (4 * eta * a ^ 2))).
  { unfold loss_slope, h, raised. fold D. field. lra. }
  rewrite E in T. enough ((1 - probability (D + h)) ^ 2
    <= (1 - probability D) ^ 2 + - (h ^ 2 / (4 * eta * a ^ 2)) + / 6 / 2 * h ^ 2) by lra.
  apply T; [|lra]. intro s. pose proof (bend_between (D + 1 * s)). lra.
Qed.

Theorem layer_raises_the_loss_holds : claims.layer_raises_the_loss.
Proof.
  intros a x eta w v f f' f'' M. destruct (three_predictions _ _ _ _ _ _ _ _ M) as [[F0 F1] [_ [H0 H1]]]. cbv zeta in *.
  destruct M as [Ha [Hx [_ [Hw [Hv _]]]]]. rewrite (loss_of_pair f _ F0 F1), (loss_of_pair f'' _ H0 H1), F0.
  pose proof (lowered_pos a x w v Ha Hx Hw Hv) as H. set (D := difference a x) in *. set (h := lowered a x w v) in *.
  destruct (loss_derivatives D (-1)) as [L1 L2].
  assert (N1 : forall s, is_derive (fun s => - (1 - probability (D + -1 * s)) ^ 2) s (- (-1 * loss_slope (D + -1 * s))))
    by (intro; apply (is_derive_opp (fun s => (1 - probability (D + -1 * s)) ^ 2)), L1).
  assert (N2 : forall s,
    is_derive (fun s => - (-1 * loss_slope (D + -1 * s))) s (- ((-1) ^ 2 * loss_bend (D + -1 * s))))
    by (intro; apply (is_derive_opp (fun s => -1 * loss_slope (D + -1 * s))), L2).
  pose proof (second_order _ _ _ (/ 6) h N1 N2) as T. cbv beta in T.
  replace (D + -1 * h) with (D - h) in T by ring. replace (D + -1 * 0) with D in T by ring.
  assert (B : forall s, - ((-1) ^ 2 * loss_bend (D + -1 * s)) <= / 6)
    by (intro s; pose proof (bend_between (D + -1 * s)); lra).
  specialize (T B ltac:(lra)). unfold loss_slope in T. lra.
Qed.
