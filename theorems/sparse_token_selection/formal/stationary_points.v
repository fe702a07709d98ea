(** The stationary points of the loss in α and C: none is finite;
  as C → +∞ the slope in α tends to d(α − 1)/q and the loss
    to d(α − 1)²/(2q), as C → −∞ to dα/(T − q) and d/(2q) + dα²/(2(T − q)). *)

Require Import Reals Lra Arith Lia Bool FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal Require Import claims.
From SparseTokenSelection.formal Require recursion.
From SparseTokenSelection.formal.layer Require Import sums reduced_dynamics.
From SparseTokenSelection.formal.run Require Import scaled_loss.
Open Scope R_scope.

Section StationaryPoints.
Variables T q d : R.
Hypothesis Hq : 1 <= q < T.
Hypothesis Hd : 1 <= d.

Local Notation w := recursion.w.
Local Notation N := (recursion.N T q).
Local Notation P := (recursion.P T q).
Local Notation Q := (recursion.Q T q).
Local Notation S_ := (recursion.S' T q).
Local Notation loss := (recursion.loss T q d).

Lemma N_positive C : 0 < N C.
Proof. apply N_pos. lra. Qed.

Theorem slope_alpha alpha C : is_derive (fun a => loss a C) alpha (- d / q * P C * (1 - alpha * S_ C)).
Proof. unfold recursion.loss. auto_derive; [trivial|]. field. lra. Qed.

Theorem slope_C alpha C :
  is_derive (fun x => loss alpha x) C (- d / q * alpha * P C * Q C * (1 - alpha * P C * (1 - w C))).
Proof.
  pose proof (N_positive C) as H. unfold recursion.N, recursion.w in H.
  unfold recursion.loss, recursion.S', recursion.Q, recursion.P, recursion.N, recursion.w.
  auto_derive; [repeat split; lra|]. field. lra.
Qed.

Theorem none_finite alpha C : S_ C * (1 - alpha * P C * (1 - w C)) - P C * (1 - w C) * (1 - alpha * S_ C) = w C.
Proof.
  pose proof (N_positive C) as H. unfold recursion.S', recursion.Q, recursion.P. unfold recursion.N in *. field. lra.
Qed.

(** The two slopes are not 0 at once. *)
Theorem no_stationary_point alpha C slope slope' : is_derive (fun a => loss a C) alpha slope ->
  is_derive (fun x => loss alpha x) C slope' -> slope <> 0 \/ slope' <> 0.
Proof.
  intros D D'. apply is_derive_unique in D, D'. pose proof (slope_alpha alpha C) as E.
  pose proof (slope_C alpha C) as E'.
  apply is_derive_unique in E, E'. rewrite E in D. rewrite E' in D'. subst slope slope'.
  pose proof (P_range T q ltac:(lra) C) as HP. pose proof (w_pos C) as W0. pose proof (none_finite alpha C) as Id.
  assert (HQ : 0 < Q C).
  { unfold recursion.Q. pose proof (N_positive C). apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|assumption]. }
  assert (Dq : - d / q <> 0) by (apply Rmult_integral_contrapositive_currified; [|apply Rinv_neq_0_compat]; lra).
  assert (P C <> 0) by lra. assert (Q C <> 0) by lra.
  destruct (Req_dec (1 - alpha * S_ C) 0) as [Z|Z].
  - right. assert (alpha <> 0) by (intro A; rewrite A, Rmult_0_l in Z; lra).
    assert (1 - alpha * P C * (1 - w C) <> 0) by (intro B; rewrite Z, B, !Rmult_0_r in Id; lra).
    repeat first [assumption | apply Rmult_integral_contrapositive_currified].
  - left. repeat first [assumption | apply Rmult_integral_contrapositive_currified].
Qed.

(** ** Limits: a function that is continuous in e^{−C} at 0, or in e^C *)

Lemma limit_in_w (f F : R -> R) (l : R) : (forall C, f C = F (exp (- C))) -> continuous F 0 -> F 0 = l -> is_lim f
  p_infty l.
Proof.
  intros H Cont <-. apply is_lim_ext with (fun C => F (exp (- C))); [intro; symmetry; apply H|].
  apply (filterlim_comp _ _ _ (fun C => exp (- C)) F _ (locally 0)); [|exact Cont].
  apply (is_lim_comp exp Ropp p_infty 0 m_infty);
    [apply is_lim_exp_m|apply (is_lim_opp (fun C => C) p_infty p_infty), is_lim_id|].
  exists 0. intros. discriminate.
Qed.

Lemma limit_in_inverse (f F : R -> R) (l : R) : (forall C, f C = F (exp C)) -> continuous F 0 -> F 0 = l -> is_lim f
  m_infty l.
Proof.
  intros H Cont <-. apply is_lim_ext with (fun C => F (exp C)); [intro; symmetry; apply H|].
  apply (filterlim_comp _ _ _ exp F _ (locally 0)); [apply is_lim_exp_m|exact Cont].
Qed.

Ltac continuous_fraction := apply (@ex_derive_continuous R_AbsRing R_NormedModule); auto_derive;
  repeat split; first [lra | apply Rmult_integral_contrapositive_currified; lra].
(** An expression of C as one of v, which is e^{−C}, or e^C where e^{−C} = 1/v. *)
Ltac in_w := let C := fresh "C" in intro C; pose proof (exp_pos (- C)) as W0; pose proof (N_positive C) as N0;
  unfold recursion.loss, recursion.S', recursion.Q, recursion.P, recursion.N, recursion.w in *;
  set (v := exp (- C)) in *; clearbody v; field; lra.
Ltac in_inverse := let C := fresh "C" in intro C; pose proof (exp_pos C) as V0;
  unfold recursion.loss, recursion.S', recursion.Q, recursion.P, recursion.N, recursion.w; rewrite exp_Ropp;
  set (v := exp C) in *; clearbody v; assert (0 < q * v) by (apply Rmult_lt_0_compat; lra); field; repeat split; lra.

Section Limits.
Variables (alpha : R) (slope slope' : R -> R).
Hypothesis Slope : forall C, is_derive (fun a => loss a C) alpha (slope C).
Hypothesis Slope' : forall C, is_derive (fun x => loss alpha x) C (slope' C).

Lemma slope_is C : slope C = - d / q * P C * (1 - alpha * S_ C).
Proof.
  pose proof (Slope C) as D. pose proof (slope_alpha alpha C) as D'. apply is_derive_unique in D, D'. congruence.
Qed.

Lemma slope'_is C : slope' C = - d / q * alpha * P C * Q C * (1 - alpha * P C * (1 - w C)).
Proof.
  pose proof (Slope' C) as D. pose proof (slope_C alpha C) as D'. apply is_derive_unique in D, D'. congruence.
Qed.

Theorem alpha_at_plus_infinity : is_lim slope p_infty (d * (alpha - 1) / q).
Proof.
  apply is_lim_ext with (f := fun C => - d / q * P C * (1 - alpha * S_ C)); [intro; symmetry; apply slope_is|].
  apply limit_in_w with (fun v => - d * (1 / (q + (T - q) * v))
    * (1 - alpha * ((q + (T - q) * v * v) / (q + (T - q) * v)))); [in_w|continuous_fraction|field; lra].
Qed.

Theorem slope_C_at_plus_infinity : is_lim slope' p_infty 0.
Proof.
  apply is_lim_ext with (f := fun C => - d / q * alpha * P C * Q C * (1 - alpha * P C * (1 - w C)));
    [intro; symmetry; apply slope'_is|].
  apply limit_in_w with (fun v => - d * alpha * (1 / (q + (T - q) * v)) * ((T - q) * v / (q + (T - q) * v))
    * (1 - alpha * (q / (q + (T - q) * v)) * (1 - v))); [in_w|continuous_fraction|field; lra].
Qed.

Theorem loss_at_plus_infinity : is_lim (fun C => loss alpha C) p_infty (d * (alpha - 1) ^ 2 / (2 * q)).
Proof.
  apply limit_in_w with (fun v => d / (2 * q) * (1 - 2 * alpha * (q / (q + (T - q) * v))
    + alpha * alpha * (q / (q + (T - q) * v)) * ((q + (T - q) * v * v) / (q + (T - q) * v))));
    [in_w|continuous_fraction|field; lra].
Qed.

Theorem alpha_at_minus_infinity : is_lim slope m_infty (d * alpha / (T - q)).
Proof.
  apply is_lim_ext with (f := fun C => - d / q * P C * (1 - alpha * S_ C)); [intro; symmetry; apply slope_is|].
  apply limit_in_inverse with (fun v => - d * (v / (q * v + (T - q))
    - alpha * (q * v * v + (T - q)) / ((q * v + (T - q)) * (q * v + (T - q)))));
        [in_inverse|continuous_fraction|field; lra].
Qed.

Theorem slope_C_at_minus_infinity : is_lim slope' m_infty 0.
Proof.
  apply is_lim_ext with (f := fun C => - d / q * alpha * P C * Q C * (1 - alpha * P C * (1 - w C)));
    [intro; symmetry; apply slope'_is|].
  apply limit_in_inverse with (fun v => - d * alpha * (v / (q * v + (T - q))) * ((T - q) / (q * v + (T - q)))
    * (1 - alpha * q * (v - 1) / (q * v + (T - q)))); [in_inverse|continuous_fraction|field; lra].
Qed.

Theorem loss_at_minus_infinity :
  is_lim (fun C => loss alpha C) m_infty (d / (2 * q) + d * alpha ^ 2 / (2 * (T - q))).
Proof.
  apply limit_in_inverse with (fun v => d / (2 * q) * (1 - 2 * alpha * (q * v / (q * v + (T - q)))
    + alpha * alpha * q * (q * v * v + (T - q)) / ((q * v + (T - q)) * (q * v + (T - q)))));
    [in_inverse|continuous_fraction|field; lra].
Qed.
End Limits.
End StationaryPoints.

(** ** The claims *)

Lemma loss_is T q d L : loss_in_two_numbers T q d L ->
  L = recursion.loss (INR T) (INR q) (INR d) /\ 1 <= INR q < INR T /\ 1 <= INR d.
Proof.
  intros (Size & Less & E & Mean & Loss). destruct Size as (HT & Hq & Hd). repeat split.
  - apply functional_extensionality. intro alpha. apply functional_extensionality. intro C.
    pose (W := fun r c => if (r <? d) || (c <? d) then 0 else C * (one_hot r c - / INR T)).
    pose (V := fun a r => alpha * one_hot a r).
    assert (On : on_the_set d T alpha C W V) by (split; intros; reflexivity).
    rewrite <- (Loss alpha C W V On). apply lemma1_loss_on_the_set; [repeat split; lia|assumption|assumption].
  - apply (le_INR 1). lia.
  - apply lt_INR. assumption.
  - apply (le_INR 1). assumption.
Qed.

Ltac of_the_recursion H := apply loss_is in H as (-> & Hq & Hd).

Theorem slope_alpha_holds : stationary_slope_alpha.
Proof. intros T q d L alpha C H. of_the_recursion H. apply slope_alpha; assumption. Qed.

Theorem slope_C_holds : stationary_slope_C.
Proof. intros T q d L alpha C H. of_the_recursion H. apply slope_C; assumption. Qed.

Theorem none_finite_holds : stationary_none_finite.
Proof. intros T q d L alpha C g g' H. of_the_recursion H. apply no_stationary_point; assumption. Qed.

Ltac limit limit_of := let H := fresh in let G := fresh in
  intros T q d L alpha g g' H G; of_the_recursion H; eapply limit_of; try eassumption; intro; apply G.

Theorem alpha_at_plus_infinity_holds : stationary_alpha_at_plus_infinity.
Proof. limit alpha_at_plus_infinity. Qed.

Theorem slope_C_at_plus_infinity_holds : stationary_slope_C_at_plus_infinity.
Proof. limit slope_C_at_plus_infinity. Qed.

Theorem loss_at_plus_infinity_holds : stationary_loss_at_plus_infinity.
Proof. intros T q d L alpha H. of_the_recursion H. apply loss_at_plus_infinity; assumption. Qed.

Theorem alpha_at_minus_infinity_holds : stationary_alpha_at_minus_infinity.
Proof. limit alpha_at_minus_infinity. Qed.

Theorem slope_C_at_minus_infinity_holds : stationary_slope_C_at_minus_infinity.
Proof. limit slope_C_at_minus_infinity. Qed.

Theorem loss_at_minus_infinity_holds : stationary_loss_at_minus_infinity.
Proof. intros T q d L alpha H. of_the_recursion H. apply loss_at_minus_infinity; assumption. Qed.

Theorem cosine_holds : stationary_cosine.
Proof.
  intros T HT. unfold centred. assert (2 <= INR T) by (apply (le_INR 2); assumption).
  assert (Row : forall i f, (i < T)%nat -> sum T (fun j => f j * one_hot i j) = f i).
  { intros i f Hi. rewrite (sum_ext T _ (fun j => one_hot j i * f j)) by (intros; rewrite one_hot_sym; ring).
    apply sum_one_hot. assumption. }
  assert (E1 : inner T one_hot one_hot = INR T).
  { unfold inner. rewrite (sum_ext T _ (fun _ => 1)) by (intros; rewrite Row, one_hot_same by assumption; reflexivity).
    rewrite sum_const. ring. }
  assert (E2 : inner T (fun i j => one_hot i j - / INR T) one_hot = INR T - 1).
  { unfold inner. rewrite (sum_ext T _ (fun _ => 1 - / INR T)).
    - rewrite sum_const. field. lra.
    - intros i Hi. rewrite (Row i (fun j => one_hot i j - / INR T)), one_hot_same by assumption. reflexivity. }
  assert (E3 : inner T (fun i j => one_hot i j - / INR T) (fun i j => one_hot i j - / INR T) = INR T - 1).
  { unfold inner. rewrite (sum_ext T _ (fun _ => 1 - / INR T)).
    - rewrite sum_const. field. lra.
    - intros i Hi.
      rewrite (sum_ext T _ (fun j => (one_hot i j - 2 * / INR T) * one_hot i j + / INR T * / INR T)) by (intros; ring).
      rewrite sum_plus, (Row i (fun j => one_hot i j - 2 * / INR T)), one_hot_same, sum_const by assumption. field.
      lra. }
  rewrite E1, E2, E3. repeat split; [lra|lra|]. field. lra.
Qed.
