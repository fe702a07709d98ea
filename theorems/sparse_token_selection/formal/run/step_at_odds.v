(** One step from odds r and lag h near r = 0: the lag after it, and its increment of 1/L to second order. *)

Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection.formal Require Import claims.
From SparseTokenSelection.formal Require recursion.
From SparseTokenSelection.formal.run Require Import limits_at_0.
Open Scope R_scope.

Section Step.
Variables T q d eta : R.
Hypothesis Hq : 1 <= q < T.
Hypothesis Hd : 1 <= d.
Definition c := q / (T - q).
Definition speed := eta * d / (q * (T - 1)).

(** ** The parts of a step, with r factored out *)

Definition nu h r := alpha_with_lag h r / (1 + r) ^ 3 * (c + (c + h) * r - c * h * r ^ 2).
Definition stay h phi r := 1 - phi * r ^ 2 * (speed * nu h r).
Definition lag_above h phi r := h - phi * r * (speed * nu h r)
  + eta / q * ((c * (1 + r) - h - h * c * r ^ 2) / (1 + r) ^ 2).
Definition excess h r := - 2 * c * (h / (1 + r)) + (h / (1 + r)) ^ 2 + c * r ^ 2 * (h / (1 + r)) ^ 2.
Definition scaled h r := c + r ^ 2 * excess h r.

Lemma move_is h r : 1 + r <> 0 -> move T q d eta h r = r ^ 2 * (speed * nu h r).
Proof. intro R1. unfold move, nu, speed, w_at_odds, alpha_with_lag, c. field. repeat split; lra. Qed.

Lemma odds_after_is h phi r : 1 + r <> 0 -> odds_after T q d eta h phi r = r * stay h phi r.
Proof. intro R1. unfold odds_after. rewrite move_is by exact R1. unfold stay. ring. Qed.

Lemma lag_after_is h phi r : 1 + r <> 0 -> r <> 0 -> stay h phi r <> 0 ->
  lag_after T q d eta h phi r = lag_above h phi r / stay h phi r ^ 2.
Proof.
  intros R1 R0 U. unfold lag_after. rewrite odds_after_is by exact R1.
  replace (1 + r * stay h phi r - alpha_after T q eta h r) with (r ^ 2 * lag_above h phi r); [field; auto|].
  unfold stay, lag_above, alpha_after, S_at_odds, w_at_odds, c. set (n := speed * nu h r). unfold alpha_with_lag.
  field. repeat split; lra.
Qed.

Lemma loss_is h r : 1 + r <> 0 -> loss_at_odds T q d (alpha_with_lag h r) r = d / (2 * q) * (r ^ 2 * scaled h r).
Proof.
  intro R1. unfold loss_at_odds, scaled, excess, S_at_odds, w_at_odds, alpha_with_lag, c. field. repeat split; lra.
Qed.

(** α after the step is again 1 + r' − h' r'². *)
Lemma alpha_after_is h phi r (r' := odds_after T q d eta h phi r) (h' := lag_after T q d eta h phi r) :
  r' <> 0 -> alpha_after T q eta h r = alpha_with_lag h' r'.
Proof. intro R0. unfold h', lag_after, alpha_with_lag. fold r'. field. exact R0. Qed.

(** ** The limits as r → 0: the lag after the step *)

Section Limits.
Variables (h phi : R -> R) (h0 phi0 : R).
Hypothesis Lag : tends h h0.
Hypothesis Phi : tends phi phi0.
Local Notation u r := (stay (h r) (phi r) r).
Local Notation r' r := (odds_after T q d eta (h r) (phi r) r).
Local Notation h' r := (lag_after T q d eta (h r) (phi r) r).

Lemma nu_limit : tends (fun r => nu (h r) r) c.
Proof. unfold nu, alpha_with_lag. limit_as; [field|]; lra. Qed.

Lemma stay_limit : tends (fun r => u r) 1.
Proof. pose proof nu_limit. unfold stay. limit_as. ring. Qed.

Lemma divisors : near (fun r => 1 + r <> 0 /\ r <> 0 /\ u r <> 0).
Proof.
  apply (near_and (fun r => 1 + r <> 0)); [|apply (near_and (fun r => r <> 0)); [apply near_at|]].
  - apply (near_nonzero _ 1); [lra|]. limit_as. ring.
  - apply (near_nonzero _ 1); [lra|apply stay_limit].
Qed.

Lemma odds_near : near (fun r => 1 + r <> 0 /\ r' r <> 0).
Proof.
  refine (near_then _ _ _ divisors). intros r (R1 & R0 & U). split; [exact R1|]. rewrite odds_after_is by exact R1.
  apply Rmult_integral_contrapositive_currified; assumption.
Qed.

Lemma odds_after_limit : tends (fun r => r' r) 0.
Proof.
  apply (tends_near (fun r => r * u r)).
  - refine (near_then _ _ _ divisors). intros r (R1 & _). symmetry. apply odds_after_is, R1.
  - pose proof stay_limit. limit_as. ring.
Qed.

Lemma lag_above_limit : tends (fun r => lag_above (h r) (phi r) r) ((1 - eta / q) * h0 + eta / (T - q)).
Proof. pose proof nu_limit. unfold lag_above. limit_as; [unfold c; field|]; lra. Qed.

Theorem lag_after_limit : tends (fun r => h' r) ((1 - eta / q) * h0 + eta / (T - q)).
Proof.
  apply (tends_near (fun r => lag_above (h r) (phi r) r / u r ^ 2)).
  - refine (near_then _ _ _ divisors). intros r (R1 & R0 & U). symmetry. apply lag_after_is; assumption.
  - pose proof stay_limit. pose proof lag_above_limit. limit_as; [field; lra|lra].
Qed.

(** ** The increment of the inverse loss, where h → c *)

Hypothesis Fixed : h0 = c.
Local Notation k r := (excess (h r) r).
Local Notation k' r := (excess (h' r) (r' r)).
Local Notation l r := (scaled (h r) r).
Local Notation l' r := (scaled (h' r) (r' r)).

Lemma c_positive : 0 < c.
Proof. unfold c. apply Rdiv_lt_0_compat; lra. Qed.

Lemma lag_after_fixed : tends (fun r => h' r) c.
Proof. eapply tends_as; [|apply lag_after_limit]. rewrite Fixed. unfold c. field. lra. Qed.

Lemma excess_limit : tends (fun r => k r) (- c ^ 2).
Proof. unfold excess. limit_as; rewrite ?Fixed; first [field; lra | lra]. Qed.

Lemma excess_after_limit : tends (fun r => k' r) (- c ^ 2).
Proof. pose proof lag_after_fixed. pose proof odds_after_limit. unfold excess. limit_as; first [field; lra | lra]. Qed.

Lemma scaled_limit : tends (fun r => l r) c.
Proof. pose proof excess_limit. unfold scaled. limit_as. ring. Qed.

Lemma scaled_after_limit : tends (fun r => l' r) c.
Proof. pose proof excess_after_limit. pose proof odds_after_limit. unfold scaled at 1. limit_as. ring. Qed.

Definition gained r := c * phi r * (speed * nu (h r) r) * (1 + u r) + k r - u r ^ 4 * k' r.

Lemma gained_limit : tends gained (2 * c * phi0 * (speed * c)).
Proof.
  pose proof nu_limit. pose proof stay_limit. pose proof excess_limit. pose proof excess_after_limit.
  unfold gained. limit_as. ring.
Qed.

Lemma losses_near : near (fun r => (1 + r <> 0 /\ r <> 0 /\ u r <> 0) /\ 1 + r' r <> 0 /\ l r <> 0 /\ l' r <> 0).
Proof.
  pose proof c_positive. apply near_and; [apply divisors|].
  apply (near_and (fun r => 1 + r' r <> 0)); [|apply (near_and (fun r => l r <> 0))].
  - apply (near_nonzero _ 1); [lra|]. pose proof odds_after_limit. limit_as. ring.
  - apply (near_nonzero _ c); [lra|apply scaled_limit].
  - apply (near_nonzero _ c); [lra|apply scaled_after_limit].
Qed.

Lemma inverse_loss_added_is r : (1 + r <> 0 /\ r <> 0 /\ u r <> 0) /\ 1 + r' r <> 0 /\ l r <> 0 /\ l' r <> 0 ->
  inverse_loss_added T q d eta (h r) (phi r) r = 2 * q / d * (gained r / (u r ^ 2 * l r * l' r)).
Proof.
  intros ((R1 & R0 & U) & R1' & L & L').
  assert (R0' : r' r <> 0).
  { rewrite odds_after_is by exact R1. apply Rmult_integral_contrapositive_currified; assumption. }
  unfold inverse_loss_added. rewrite (alpha_after_is (h r) (phi r) r) by exact R0'. rewrite !loss_is by assumption.
  assert (E : r' r = r * u r) by (apply odds_after_is, R1).
  set (x := h' r) in *. set (y := r' r) in *. set (v := u r) in *.
  assert (V : 1 - v = phi r * r ^ 2 * (speed * nu (h r) r)) by (unfold v, stay; ring).
  assert (G : r ^ 2 * gained r = l r - v ^ 2 * scaled x y).
  { unfold gained. fold v x y. unfold scaled.
    replace (r ^ 2 * (c * phi r * (speed * nu (h r) r) * (1 + v) + excess (h r) r - v ^ 4 * excess x y))
      with (c * (1 + v) * (phi r * r ^ 2 * (speed * nu (h r) r)) + r ^ 2 * (excess (h r) r - v ^ 4 * excess x y))
      by ring.
    rewrite <- V. set (z := excess x y). rewrite E. ring. }
  replace (gained r) with ((l r - v ^ 2 * scaled x y) / r ^ 2) by (rewrite <- G; field; exact R0).
  set (s := scaled x y) in *. rewrite E. field. repeat split; try assumption; lra.
Qed.

Theorem inverse_loss_limit : tends (fun r => inverse_loss_added T q d eta (h r) (phi r) r) (4 * eta * phi0 / (T - 1)).
Proof.
  apply (tends_near (fun r => 2 * q / d * (gained r / (u r ^ 2 * l r * l' r)))).
  - refine (near_then _ _ _ losses_near). intros r H. symmetry. apply inverse_loss_added_is, H.
  - pose proof gained_limit. pose proof stay_limit. pose proof scaled_limit. pose proof scaled_after_limit.
    pose proof c_positive. limit_as; [unfold speed, c; field; repeat split; lra|].
    apply Rgt_not_eq. nra.
Qed.

Theorem step_is_defined : step_defined T q d eta h phi.
Proof.
  assert (D : d / (2 * q) <> 0) by (apply Rgt_not_eq, Rdiv_lt_0_compat; lra).
  refine (near_then _ _ _ losses_near). intros r ((R1 & R0 & U) & R1' & L & L').
  assert (R0' : r' r <> 0).
  { rewrite odds_after_is by exact R1. apply Rmult_integral_contrapositive_currified; assumption. }
  rewrite (alpha_after_is (h r) (phi r) r) by exact R0'. rewrite !loss_is by assumption.
  repeat apply conj; repeat first [assumption | apply pow_nonzero | apply Rmult_integral_contrapositive_currified].
Qed.
End Limits.

(** ** On the curve h = c + λr, where φ → 1 *)

Definition lambda := q * (T - 1 - d) / ((T - q) * (T - 1)).
Definition curve r := attracting_curve T q d r.
Local Notation n r := (speed * nu (curve r) r).

Lemma curve_is r : curve r = c + lambda * r.
Proof. reflexivity. Qed.

Lemma curve_limit : tends curve c.
Proof. unfold curve, attracting_curve. limit_as. unfold c. ring. Qed.

Section Curve.
Variable phi_here : R -> R.
Hypothesis phi_limit : tends phi_here 1.
Local Notation u r := (stay (curve r) (phi_here r) r).
Local Notation r' r := (odds_after T q d eta (curve r) (phi_here r) r).
Local Notation h' r := (lag_after T q d eta (curve r) (phi_here r) r).

Lemma here_defined : near (fun r => 1 + r <> 0 /\ r <> 0 /\ u r <> 0).
Proof. apply (divisors curve phi_here c 1); [apply curve_limit|apply phi_limit]. Qed.

Lemma fall_of_stay r : 1 - u r = r ^ 2 * (phi_here r * n r).
Proof. unfold stay. ring. Qed.

(** (h' − c)/r, without the division by r. *)
Definition slope_of_lag r := (lambda - phi_here r * n r + eta / q * ((c - lambda - curve r * c * r) / (1 + r) ^ 2)
  + c * r * (phi_here r * n r) * (1 + u r)) / u r ^ 2.

Lemma slope_of_lag_is r : 1 + r <> 0 /\ r <> 0 /\ u r <> 0 -> (h' r - c) / r = slope_of_lag r.
Proof.
  intros (R1 & R0 & U). rewrite lag_after_is by assumption. unfold slope_of_lag. pose proof (fall_of_stay r) as F.
  unfold lag_above. set (v := u r) in *. set (x := n r) in *. set (p := phi_here r) in *. clearbody v x p.
  rewrite curve_is.
  assert (V : c * v ^ 2 = c - c * (1 + v) * (r ^ 2 * (p * x))) by (rewrite <- F; ring).
  replace ((c + lambda * r - p * r * x
    + eta / q * ((c * (1 + r) - (c + lambda * r) - (c + lambda * r) * c * r ^ 2) / (1 + r) ^ 2)) / v ^ 2 - c)
    with ((c + lambda * r - p * r * x
    + eta / q * ((c * (1 + r) - (c + lambda * r) - (c + lambda * r) * c * r ^ 2) / (1 + r) ^ 2) - c * v ^ 2) / v ^ 2)
    by (field; repeat split; first [assumption | lra]).
  rewrite V. field. repeat split; first [assumption | lra].
Qed.

Theorem curve_is_kept : tends (fun r => (h' r - c) / r) lambda.
Proof.
  apply (tends_near slope_of_lag).
  - refine (near_then _ _ _ here_defined). intros r H. symmetry. apply slope_of_lag_is, H.
  - pose proof (nu_limit curve c curve_limit). pose proof (stay_limit curve phi_here c 1 curve_limit phi_limit).
    pose proof curve_limit. pose proof phi_limit. unfold slope_of_lag.
    limit_as; [unfold lambda, speed, c; field; repeat split; lra| |]; lra.
Qed.

(** ** The correction, where φ is 1 − m/2 to second order *)

Hypothesis phi_second_order : second_order_phi T q d eta curve phi_here.
Definition phi_error r := (phi_here r - (1 - move T q d eta (curve r) r / 2)) / r ^ 2.

Lemma phi_is r : 1 + r <> 0 -> r <> 0 -> phi_here r = 1 - r ^ 2 * n r / 2 + r ^ 2 * phi_error r.
Proof. intros R1 R0. unfold phi_error. rewrite move_is by exact R1. field. exact R0. Qed.

Definition bend g h r := (g - c) ^ 2 / (1 + r) ^ 2 + c * (h / (1 + r)) ^ 2.

Lemma excess_is g h r : 1 + r <> 0 -> h = c + g * r -> excess h r = - c ^ 2 + r ^ 2 * bend g h r.
Proof. intros R1 ->. unfold excess, bend. field. exact R1. Qed.

Definition nu_excess r := (lambda + curve r - 2 * c - 2 * c * curve r + r * (- 2 * c * curve r - curve r ^ 2 - c)
  + r ^ 2 * c * curve r ^ 2) / (1 + r) ^ 3.

Lemma nu_is r : 1 + r <> 0 -> nu (curve r) r = c + r ^ 2 * nu_excess r.
Proof. intro R1. unfold nu, nu_excess, alpha_with_lag. rewrite curve_is. field. exact R1. Qed.

Local Notation k r := (excess (curve r) r).
Local Notation k' r := (excess (h' r) (r' r)).
Local Notation l r := (scaled (curve r) r).
Local Notation l' r := (scaled (h' r) (r' r)).
Local Notation x r := (phi_here r * n r).
Local Notation b r := (bend lambda (curve r) r).
Local Notation b' r := (bend ((h' r - c) / r' r) (h' r) (r' r)).

Definition second_order r := - c ^ 2 * x r * (1 + u r) * (1 + u r ^ 2) + b r - u r ^ 6 * b' r
  + speed * (2 * c * nu_excess r - c * nu (curve r) r * (n r * (1 + phi_here r ^ 2) - 2 * phi_error r)
    + 2 * x r * (1 + u r) * l r * l' r - 2 * (c * k r + c * u r ^ 2 * k' r + r ^ 2 * u r ^ 2 * k r * k' r)).

Lemma second_order_is r : (1 + r <> 0 /\ r <> 0 /\ u r <> 0) /\ 1 + r' r <> 0 ->
  gained curve phi_here r - 2 * speed * (u r ^ 2 * l r * l' r) = r ^ 2 * second_order r.
Proof.
  intros ((R1 & R0 & U) & R1').
  assert (E : r' r = r * u r) by (apply odds_after_is, R1).
  assert (R0' : r' r <> 0) by (rewrite E; apply Rmult_integral_contrapositive_currified; assumption).
  assert (K : k r = - c ^ 2 + r ^ 2 * b r) by (apply excess_is; [exact R1|apply curve_is]).
  assert (K' : k' r = - c ^ 2 + r' r ^ 2 * b' r) by (apply excess_is; [exact R1'|field; exact R0']).
  pose proof (fall_of_stay r) as F. pose proof (phi_is r R1 R0) as P. pose proof (nu_is r R1) as N.
  unfold gained, second_order, scaled. set (bb := b r) in *. set (bb' := b' r) in *. set (kk' := k' r) in *.
  rewrite E in *. set (kk := k r) in *. set (v := u r) in *. set (y := nu (curve r) r) in *.
  set (z := nu_excess r) in *. set (p := phi_here r) in *. set (e := phi_error r) in *.
  clearbody bb bb' kk kk' v y z p e.
  assert (A : p * (1 + v) = 2 - r ^ 2 * (speed * y * (1 + p ^ 2) - 2 * e)).
  { replace (1 + v) with (2 - (1 - v)) by ring. rewrite F. replace (p * (2 - r ^ 2 * (p * (speed * y))))
      with (2 * p - r ^ 2 * (speed * y) * p ^ 2) by ring. rewrite P at 1. field. }
  assert (B : kk - v ^ 4 * kk' = r ^ 2 * (- c ^ 2 * (p * (speed * y)) * (1 + v) * (1 + v ^ 2) + bb - v ^ 6 * bb')).
  { rewrite K, K'. replace (r ^ 2 * (- c ^ 2 * (p * (speed * y)) * (1 + v) * (1 + v ^ 2) + bb - v ^ 6 * bb'))
      with (- c ^ 2 * (r ^ 2 * (p * (speed * y))) * (1 + v) * (1 + v ^ 2) + r ^ 2 * bb - r ^ 2 * v ^ 6 * bb') by ring.
    rewrite <- F. ring. }
  assert (C : v ^ 2 = 1 - (1 + v) * (r ^ 2 * (p * (speed * y)))) by (rewrite <- F; ring).
  replace (c * p * (speed * y) * (1 + v) + kk - v ^ 4 * kk')
    with (c * (speed * y) * (p * (1 + v)) + (kk - v ^ 4 * kk')) by ring.
  rewrite B, A. set (w := (c + r ^ 2 * kk) * (c + (r * v) ^ 2 * kk')).
  assert (W : w = c ^ 2 + r ^ 2 * (c * kk + c * v ^ 2 * kk' + r ^ 2 * v ^ 2 * kk * kk')) by (unfold w; ring).
  replace (2 * speed * (v ^ 2 * (c + r ^ 2 * kk) * (c + (r * v) ^ 2 * kk')))
    with (2 * speed * v ^ 2 * w) by (unfold w; ring).
  replace (2 * (p * (speed * y)) * (1 + v) * (c + r ^ 2 * kk) * (c + (r * v) ^ 2 * kk'))
    with (2 * (p * (speed * y)) * (1 + v) * w) by (unfold w; ring).
  replace (2 * speed * v ^ 2 * w) with (2 * speed * w - 2 * speed * ((1 + v) * (r ^ 2 * (p * (speed * y)))) * w)
    by (rewrite C; ring).
  replace (2 * speed * w - 2 * speed * ((1 + v) * (r ^ 2 * (p * (speed * y)))) * w)
    with (2 * speed * (c ^ 2 + r ^ 2 * (c * kk + c * v ^ 2 * kk' + r ^ 2 * v ^ 2 * kk * kk'))
      - 2 * speed * ((1 + v) * (r ^ 2 * (p * (speed * y)))) * w) by (rewrite <- W; ring).
  replace (c * (speed * y) * (2 - r ^ 2 * (speed * y * (1 + p ^ 2) - 2 * e)))
    with (speed * (2 * c * y - c * y * (r ^ 2 * (speed * y * (1 + p ^ 2) - 2 * e)))) by ring.
  rewrite N at 1. ring.
Qed.

Lemma second_order_limit : tends second_order
  (2 * speed * c ^ 2 * - ((d * (T - q - eta) + 2 * q * (T - 1)) / ((T - q) * (T - 1)))).
Proof.
  pose proof curve_limit as Curve. pose proof phi_limit as Phi. pose proof (nu_limit curve c Curve).
  assert (tends phi_error 0) by exact phi_second_order.
  pose proof (stay_limit curve phi_here c 1 Curve Phi) as Stay.
  pose proof (lag_after_fixed curve phi_here c 1 Curve Phi eq_refl).
  pose proof (odds_after_limit curve phi_here c 1 Curve Phi).
  pose proof (excess_limit curve c Curve eq_refl).
  pose proof (excess_after_limit curve phi_here c 1 Curve Phi eq_refl).
  pose proof (scaled_limit curve c Curve eq_refl).
  pose proof (scaled_after_limit curve phi_here c 1 Curve Phi eq_refl).
  assert (tends nu_excess (lambda - c - 2 * c ^ 2)) by (unfold nu_excess; limit_as; [field|]; lra).
  assert (tends (fun r => b r) ((lambda - c) ^ 2 + c ^ 3)) by (unfold bend; limit_as; first [field; lra | lra]).
  assert (tends (fun r => (h' r - c) / r' r) lambda).
  { apply (tends_near (fun r => (h' r - c) / r / u r)).
    - refine (near_then _ _ _ here_defined). intros r (R1 & R0 & U).
      rewrite odds_after_is by exact R1. field. split; assumption.
    - pose proof curve_is_kept. limit_as; [field|]; lra. }
  assert (tends (fun r => b' r) ((lambda - c) ^ 2 + c ^ 3)) by (unfold bend; limit_as; first [field; lra | lra]).
  unfold second_order. limit_as. unfold lambda, speed, c. field. repeat split; lra.
Qed.

Theorem correction (He : 0 < eta) : tends
  (fun r => (inverse_loss_added T q d eta (curve r) (phi_here r) r / (4 * eta / (T - 1)) - 1) / r ^ 2)
  (- ((d * (T - q - eta) + 2 * q * (T - 1)) / ((T - q) * (T - 1)))).
Proof.
  pose proof curve_limit as Curve. pose proof phi_limit as Phi. pose proof c_positive as C0.
  assert (S0 : 0 < speed) by (unfold speed; apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; lra).
  apply (tends_near (fun r => second_order r / (2 * speed * (u r ^ 2 * l r * l' r)))).
  - refine (near_then _ _ _ (losses_near curve phi_here c 1 Curve Phi eq_refl)). intros r H.
    rewrite inverse_loss_added_is by exact H. destruct H as ((R1 & R0 & U) & R1' & L & L').
    assert (G : gained curve phi_here r = r ^ 2 * second_order r + 2 * speed * (u r ^ 2 * l r * l' r)).
    { rewrite <- second_order_is by (repeat split; assumption). ring. }
    rewrite G. replace (2 * q / d) with (4 * eta / (T - 1) / (2 * speed)) by (unfold speed; field; repeat split; lra).
    field. repeat split; first [assumption | lra].
  - pose proof second_order_limit. pose proof (stay_limit curve phi_here c 1 Curve Phi).
    pose proof (scaled_limit curve c Curve eq_refl).
    pose proof (scaled_after_limit curve phi_here c 1 Curve Phi eq_refl).
    limit_as; [field; repeat split; lra|]. pose proof (Rmult_lt_0_compat _ _ S0 (Rmult_lt_0_compat _ _ C0 C0)).
    apply Rgt_not_eq. lra.
Qed.
End Curve.

(** ** The φ of the recursion *)

Lemma phi_limit_of phi : second_order_phi T q d eta curve phi -> tends phi 1.
Proof.
  intro Second. pose proof (nu_limit curve c curve_limit).
  apply (tends_near (fun r => 1 - r ^ 2 * n r / 2 + r ^ 2 * phi_error phi r)).
  - apply (near_then (fun r => 1 + r <> 0 /\ r <> 0)); [intros r [R1 R0]; symmetry; apply phi_is; assumption|].
    apply near_and; [apply (near_nonzero _ 1); [lra|]; limit_as; ring|apply near_at].
  - assert (tends (phi_error phi) 0) by exact Second. limit_as; [field|lra].
Qed.

Lemma move_limit : tends (fun r => move T q d eta (curve r) r) 0.
Proof.
  pose proof (nu_limit curve c curve_limit). apply (tends_near (fun r => r ^ 2 * n r)); [|limit_as; ring].
  apply (near_then (fun r => 1 + r <> 0)); [intros r R1; symmetry; apply move_is, R1|].
  apply (near_nonzero _ 1); [lra|]. limit_as. ring.
Qed.
Hypothesis He : 0 < eta.

Lemma move_near : near (fun r => (1 + r <> 0 /\ r <> 0) /\ move T q d eta (curve r) r <> 0).
Proof.
  pose proof (nu_limit curve c curve_limit) as Nu. pose proof c_positive as C0.
  assert (S0 : 0 < speed) by (unfold speed; apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; lra).
  apply (near_then (fun r => (1 + r <> 0 /\ r <> 0) /\ nu (curve r) r <> 0)).
  - intros r ((R1 & R0) & N0). split; [split; assumption|]. rewrite move_is by exact R1.
    repeat first [assumption | lra | apply pow_nonzero | apply Rmult_integral_contrapositive_currified].
  - apply near_and; [apply near_and; [apply (near_nonzero _ 1); [lra|]; limit_as; ring|apply near_at]|].
    apply (near_nonzero _ c); [lra|exact Nu].
Qed.

Lemma exact_phi_to_second_order : second_order_phi T q d eta curve (fun r => exact_phi (move T q d eta (curve r) r)).
Proof.
  set (m := fun r => move T q d eta (curve r) r).
  pose proof (nu_limit curve c curve_limit) as Nu. pose proof move_limit as M.
  assert (E : tends (fun r => (exp (Rabs (m r)) - 1) * Rabs (n r)) 0).
  { pose proof (continuous_comp Rabs exp 0 (continuous_Rabs 0) (continuous_exp _)) as Exp.
    pose proof (tends_along (fun x => exp (Rabs x)) m 0 Exp M).
    assert (tends (fun r => Rabs (n r)) (Rabs (speed * c)))
      by (apply (tends_along Rabs); [apply continuous_Rabs|limit]).
    limit_as. rewrite Rabs_R0, exp_0. ring. }
  set (bound := fun r => (exp (Rabs (m r)) - 1) * Rabs (n r)) in *.
  apply (is_lim_le_le_loc (fun r => - bound r) bound);
    [|apply (tends_as _ (- 0)); [ring|apply tends_opp, E]|exact E].
  refine (near_then _ _ _ move_near). intros r ((R1 & R0) & M0). fold (m r) in M0 |- *.
  apply Rabs_le_between. unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ r ^ 2)) by
    (left; apply Rinv_0_lt_compat; nra).
  assert (P : 0 < r ^ 2) by nra.
  apply Rmult_le_reg_r with (r ^ 2); [exact P|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  apply Rle_trans with (1 := exact_phi_is (m r) M0). unfold m at 2. rewrite move_is by exact R1.
  rewrite Rabs_mult, (Rabs_pos_eq (r ^ 2)) by lra. right. unfold bound. ring.
Qed.
End Step.

(** ** The claims *)

Lemma in_reals T q d : sizes T q d -> (q < T)%nat -> 1 <= INR q < INR T /\ 1 <= INR d.
Proof.
  intros (_ & [Q _] & D) H. apply (le_INR 1) in Q, D. apply lt_INR in H. simpl in Q, D. lra.
Qed.

Theorem lag_of_a_step : rate_lag.
Proof.
  intros T q d eta h phi h0 phi0 Sizes Less Lag Phi. destruct (in_reals T q d Sizes Less) as [Q D]. split.
  - exact (odds_near (INR T) (INR q) (INR d) eta Q h phi h0 phi0 Lag Phi).
  - exact (lag_after_limit (INR T) (INR q) (INR d) eta Q h phi h0 phi0 Lag Phi).
Qed.

Theorem rate_of_a_step : rate_rate.
Proof.
  intros T q d eta h phi phi0 Sizes Less Lag Phi. destruct (in_reals T q d Sizes Less) as [Q D]. split.
  - exact (step_is_defined (INR T) (INR q) (INR d) eta Q D h phi _ phi0 Lag Phi eq_refl).
  - exact (inverse_loss_limit (INR T) (INR q) (INR d) eta Q D h phi _ phi0 Lag Phi eq_refl).
Qed.

Lemma curve_is_defined T q d eta phi : 1 <= q < T -> 1 <= d -> is_lim phi 0 1 ->
  step_defined T q d eta (attracting_curve T q d) phi.
Proof.
  intros Q D Phi. apply (step_is_defined T q d eta Q D _ _ (c T q) 1);
    [apply curve_limit; assumption|exact Phi|reflexivity].
Qed.

Theorem curve_of_lags : rate_curve.
Proof.
  intros T q d eta phi Sizes Less h Phi. destruct (in_reals T q d Sizes Less) as [Q D].
  split; [apply curve_is_defined|apply curve_is_kept]; assumption.
Qed.

Theorem correction_of_the_rate : rate_correction.
Proof.
  intros T q d eta phi Sizes Less He h Phi. destruct (in_reals T q d Sizes Less) as [Q D].
  assert (Limit : is_lim phi 0 1) by (apply (phi_limit_of (INR T) (INR q) (INR d) eta); assumption).
  split; [apply curve_is_defined|apply correction]; assumption.
Qed.

Theorem phi_of_the_recursion : rate_phi.
Proof.
  intros T q d eta Sizes Less He h m. destruct (in_reals T q d Sizes Less) as [Q D]. split; [|split].
  - apply (tends_near (fun _ => 0)); [|apply tends_constant].
    refine (near_then _ _ _ near_at). intros r R0. unfold m. field. exact R0.
  - apply exact_phi_to_second_order; assumption.
  - refine (near_then _ _ _ (move_near (INR T) (INR q) (INR d) eta Q D He)). intros r [_ M0]. exact M0.
Qed.

(** With r the odds, 1 + r = N/q. *)
Theorem step_in_odds : rate_step.
Proof.
  intros T q d eta h C S H r alpha C' m. destruct (in_reals T q d S H) as [Q D].
  pose proof (exp_pos (- C)) as W. set (v := exp (- C)) in *.
  assert (R : r = (INR T - INR q) * v / INR q) by reflexivity.
  assert (P0 : 0 < (INR T - INR q) * v) by (apply Rmult_lt_0_compat; lra).
  assert (R0 : 0 < r) by (rewrite R; apply Rdiv_lt_0_compat; lra).
  assert (N : recursion.N (INR T) (INR q) C = INR q * (1 + r))
    by (unfold recursion.N, recursion.w; fold v; rewrite R; field; lra).
  assert (Wr : recursion.w C = INR q * r / (INR T - INR q)) by (unfold recursion.w; fold v; rewrite R; field; lra).
  assert (P : recursion.P (INR T) (INR q) C = / (1 + r)) by (unfold recursion.P; rewrite N; field; lra).
  assert (Qs : recursion.Q (INR T) (INR q) C = r / (1 + r)) by (unfold recursion.Q; rewrite N, Wr; field; lra).
  assert (M : C' = C + m).
  { unfold C', m, recursion.step_C, move. rewrite P, Qs, Wr. fold alpha. unfold w_at_odds. field. lra. }
  split; [|split; [|split; [exact M|]]].
  - intro a. unfold recursion.loss, loss_at_odds, recursion.S', S_at_odds, w_at_odds. rewrite P, Qs, Wr. field. lra.
  - unfold recursion.step_alpha, alpha_after, recursion.S', S_at_odds, w_at_odds. rewrite P, Qs, Wr. fold alpha.
    field. lra.
  - intro M0. unfold odds at 1. rewrite M. unfold odds_after, exact_phi. fold m.
    replace (- (C + m)) with (- C + - m) by ring. rewrite exp_plus. fold v. rewrite R. field. lra.
Qed.
