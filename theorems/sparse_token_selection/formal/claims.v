(** The claims in words of Lemma 1, and of the results on the run that follow from it, as propositions. *)

Require Import Reals Bool Arith.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal Require recursion.
Open Scope R_scope.

(** ** Lemma 1: T, q and d with 2 ≤ T, 1 ≤ q ≤ T, 1 ≤ d; every η; every mean with the normal moments up to degree 3 *)

(** V = (α I, 0) and W = diag(0, C (I − 11ᵀ/T)). *)
Definition on_the_set (d T : nat) (alpha C : R) (W V : matrix) : Prop :=
  (forall r c, (r < d + T)%nat -> (c < d + T)%nat ->
    W r c = if (r <? d) || (c <? d) then 0 else C * (one_hot r c - / INR T)) /\
  (forall a r, (a < d)%nat -> (r < d + T)%nat -> V a r = alpha * one_hot a r).

(** A run of the layer with one-hot encodings, and its population loss. *)
Definition one_hot_descent (d T : nat) := descent d T T one_hot.
Definition one_hot_loss (d T : nat) := population_loss d T T one_hot.
Definition run (T q d : nat) (eta : R) := recursion.run (INR T) (INR q) (INR d) eta.

Definition sizes (T q d : nat) : Prop := (2 <= T)%nat /\ (1 <= q <= T)%nat /\ (1 <= d)%nat.

(** Lemma 1, `kept`: gradient descent from zero stays on the set; α and C move by the recursion. *)
Definition kept : Prop := forall T q d eta E W V,
  sizes T q d -> normal_mean d T 3 E -> one_hot_descent d T q E eta W V ->
  forall n, on_the_set d T (fst (run T q d eta n)) (snd (run T q d eta n)) (W n) (V n).

(** Lemma 1, `population_loss`: on the set the population loss is d/(2q) (1 − 2αP + α²PS). *)
Definition loss_on_the_set : Prop := forall T q d alpha C E W V,
  sizes T q d -> normal_mean d T 3 E -> on_the_set d T alpha C W V ->
  one_hot_loss d T q E W V = recursion.loss (INR T) (INR q) (INR d) alpha C.

(** Lemma 1, `step_alpha` and `step_C`: one step of gradient descent from any point of the set. *)
Definition step_from_the_set : Prop := forall T q d eta alpha C E W V W' V',
  sizes T q d -> normal_mean d T 3 E -> on_the_set d T alpha C W V ->
  descent_step d T T one_hot q E eta W V W' V' ->
  on_the_set d T (recursion.step_alpha (INR T) (INR q) eta alpha C)
    (recursion.step_C (INR T) (INR q) (INR d) eta alpha C) W' V'.

(** A step from any point exists, and a run: every entry of the gradient is defined at every point. *)
Definition step_exists : Prop := forall T q d eta E W V,
  sizes T q d -> exists W' V', descent_step d T T one_hot q E eta W V W' V'.
Definition run_exists : Prop := forall T q d eta E, sizes T q d -> exists W V, one_hot_descent d T q E eta W V.

(** A mean with the normal moments up to degree 3 exists. *)
Definition mean_exists : Prop := forall d T, exists E, normal_mean d T 3 E.

(** ** The run: its loss falls below every ε, stays there, and has a rate *)

(** Run W, V of the layer under a mean E with the normal moments up to degree 3, and its loss at each step. *)
Definition one_hot_run (T q d : nat) (eta : R) (E : (matrix -> R) -> R) (W V : nat -> matrix) : Prop :=
  sizes T q d /\ normal_mean d T 3 E /\ one_hot_descent d T q E eta W V.
Definition loss_of_run (T q d : nat) (E : (matrix -> R) -> R) (W V : nat -> matrix) (t : nat) : R :=
  one_hot_loss d T q E (W t) (V t).

Definition reaches (L : nat -> R) (eps : R) : Prop := exists t, L t <= eps.
Definition stays (L : nat -> R) (eps : R) : Prop := forall t s, L t <= eps -> (t <= s)%nat -> L s <= eps.

Section Scopes.
Variables (T q d : nat) (eta : R).

(** Theorem 1: 2 ≤ q < T/4, 0 < ε < dT/(100(T−q)q), 0 < η ≤ 1/(20d²). *)
Definition scope_of_theorem1 (eps : R) : Prop :=
  2 <= INR q /\ INR q < INR T / 4 /\ 0 < eps /\ eps < INR d * INR T / (100 * (INR T - INR q) * INR q)
  /\ 0 < eta /\ eta <= 1 / (20 * INR d ^ 2).
(** `one_hot_larger_steps`: 0 < η < 2q(T−1)/(T−1+6d). *)
Definition larger_steps : Prop := 0 < eta /\ eta < 2 * INR q * (INR T - 1) / (INR T - 1 + 6 * INR d).
(** `one_hot_descent` and `one_hot_rate`: 0 < η ≤ 4q²/(5q+2d). *)
Definition small_steps : Prop := 0 < eta /\ eta <= 4 * INR q ^ 2 / (5 * INR q + 2 * INR d).
End Scopes.

Definition theorem1_reached : Prop := forall T q d eta eps E W V,
  one_hot_run T q d eta E W V -> scope_of_theorem1 T q d eta eps -> reaches (loss_of_run T q d E W V) eps.
Definition theorem1_stays : Prop := forall T q d eta eps E W V,
  one_hot_run T q d eta E W V -> scope_of_theorem1 T q d eta eps -> stays (loss_of_run T q d E W V) eps.

Definition larger_steps_reached : Prop := forall T q d eta eps E W V,
  one_hot_run T q d eta E W V -> larger_steps T q d eta -> 0 < eps -> reaches (loss_of_run T q d E W V) eps.
Definition larger_steps_stays : Prop := forall T q d eta eps E W V,
  one_hot_run T q d eta E W V -> larger_steps T q d eta -> 0 < eps -> stays (loss_of_run T q d E W V) eps.

(** The claims of `one_hot_descent` without its number of steps. *)
Definition small_steps_reached : Prop := forall T q d eta eps E W V,
  one_hot_run T q d eta E W V -> small_steps q d eta -> 0 < eps -> reaches (loss_of_run T q d E W V) eps.
Definition small_steps_stays : Prop := forall T q d eta eps E W V,
  one_hot_run T q d eta E W V -> small_steps q d eta -> 0 < eps -> stays (loss_of_run T q d E W V) eps.

(** `slope`: 1/(t L_t) → 4η/(T−1); the losses are positive, so that no divisor is 0 from t = 1 on. *)
Definition has_slope (T : nat) (eta : R) (L : nat -> R) : Prop :=
  (forall t, 0 < L t) /\ is_lim_seq (fun t => 1 / (INR t * L t)) (4 * eta / (INR T - 1)).

(** `inverse_loss_rate`: q < T, η < 2q, and the loss tends to 0. *)
Definition rate_slope : Prop := forall T q d eta E W V,
  one_hot_run T q d eta E W V -> (q < T)%nat -> 0 < eta -> eta < 2 * INR q ->
  is_lim_seq (loss_of_run T q d E W V) 0 -> has_slope T eta (loss_of_run T q d E W V).
(** There the odds r = (T−q)e^{−C}/q tend to 0, and the lag h = (1 + r − α)/r² to q/(T−q). *)
Definition odds (T q : nat) (C : R) : R := (INR T - INR q) * exp (- C) / INR q.
Definition rate_limits : Prop := forall T q d eta E W V alpha C,
  one_hot_run T q d eta E W V -> (q < T)%nat -> 0 < eta -> eta < 2 * INR q ->
  is_lim_seq (loss_of_run T q d E W V) 0 -> (forall t, on_the_set d T (alpha t) (C t) (W t) (V t)) ->
  is_lim_seq (fun t => odds T q (C t)) 0 /\
  is_lim_seq (fun t => (1 + odds T q (C t) - alpha t) / odds T q (C t) ^ 2) (INR q / (INR T - INR q)).

(** One step at odds r ≠ 0 and lag h, where φ is a number. *)
Section StepAtOdds.
Variables T q d eta h phi r : R.
(** α = 1 + r − h r², w = e^{−C}, and S. *)
Definition alpha_with_lag : R := 1 + r - h * r ^ 2.
Definition w_at_odds : R := q * r / (T - q).
Definition S_at_odds : R := (1 + r * w_at_odds) / (1 + r).
(** The move m of C. *)
Definition move : R := eta * d / (q * (T - 1)) * alpha_with_lag * (r / (1 + r) ^ 2)
  * (1 - alpha_with_lag / (1 + r) * (1 - w_at_odds)).
(** α after the step; the odds r (1 − φ m) after it, which are r e^{−m} at φ = (1 − e^{−m})/m; and the lag there. *)
Definition alpha_after : R := alpha_with_lag * (1 - eta / (1 + r) * S_at_odds / q) + eta / (1 + r) / q.
Definition odds_after : R := r * (1 - phi * move).
Definition lag_after : R := (1 + odds_after - alpha_after) / odds_after ^ 2.
End StepAtOdds.
Definition loss_at_odds (T q d alpha r : R) : R :=
  d / (2 * q) * (1 - 2 * alpha / (1 + r) + alpha ^ 2 / (1 + r) * S_at_odds T q r).
Definition inverse_loss_added (T q d eta h phi r : R) : R :=
  / loss_at_odds T q d (alpha_after T q eta h r) (odds_after T q d eta h phi r)
  - / loss_at_odds T q d (alpha_with_lag h r) r.
Definition exact_phi (m : R) : R := (1 - exp (- m)) / m.
(** These are the loss and the step of the recursion at the odds r of C. *)
Definition rate_step : Prop := forall T q d eta h C, sizes T q d -> (q < T)%nat ->
  let r := odds T q C in let alpha := alpha_with_lag h r in
  let C' := recursion.step_C (INR T) (INR q) (INR d) eta alpha C in
  let m := move (INR T) (INR q) (INR d) eta h r in
  (forall a, recursion.loss (INR T) (INR q) (INR d) a C = loss_at_odds (INR T) (INR q) (INR d) a r) /\
  recursion.step_alpha (INR T) (INR q) eta alpha C = alpha_after (INR T) (INR q) eta h r /\ C' = C + m /\
  (m <> 0 -> odds T q C' = odds_after (INR T) (INR q) (INR d) eta h (exact_phi m) r).

(** As r → 0 the lag h and φ may depend on r. Near 0, except at 0, no divisor in the step is 0, nor either loss. *)
Definition step_defined (T q d eta : R) (h phi : R -> R) : Prop := locally' 0 (fun r =>
  1 + r <> 0 /\ odds_after T q d eta (h r) (phi r) r <> 0 /\ 1 + odds_after T q d eta (h r) (phi r) r <> 0 /\
  loss_at_odds T q d (alpha_with_lag (h r) r) r <> 0 /\
  loss_at_odds T q d (alpha_after T q eta (h r) r) (odds_after T q d eta (h r) (phi r) r) <> 0).
Definition attracting_curve (T q d r : R) : R := q / (T - q) + q * (T - 1 - d) / ((T - q) * (T - 1)) * r.
(** φ is 1 − m/2 up to terms smaller than r². *)
Definition second_order_phi (T q d eta : R) (h phi : R -> R) : Prop :=
  is_lim (fun r => (phi r - (1 - move T q d eta (h r) r / 2)) / r ^ 2) 0 0.

(** `lag`: h' → (1 − η/q) h + η/(T−q). *)
Definition rate_lag : Prop := forall T q d eta h phi (h0 phi0 : R), sizes T q d -> (q < T)%nat ->
  is_lim h 0 h0 -> is_lim phi 0 phi0 ->
  locally' 0 (fun r => 1 + r <> 0 /\ odds_after (INR T) (INR q) (INR d) eta (h r) (phi r) r <> 0) /\
  is_lim (fun r => lag_after (INR T) (INR q) (INR d) eta (h r) (phi r) r) 0
    ((1 - eta / INR q) * h0 + eta / (INR T - INR q)).
(** `rate`: where h tends to the fixed point, 1/L' − 1/L → 4ηφ/(T−1). *)
Definition rate_rate : Prop := forall T q d eta h phi (phi0 : R), sizes T q d -> (q < T)%nat ->
  is_lim h 0 (INR q / (INR T - INR q)) -> is_lim phi 0 phi0 ->
  step_defined (INR T) (INR q) (INR d) eta h phi /\
  is_lim (fun r => inverse_loss_added (INR T) (INR q) (INR d) eta (h r) (phi r) r) 0 (4 * eta * phi0 / (INR T - 1)).
(** `curve`: h = q/(T−q) + q(T−1−d)/((T−q)(T−1)) r is kept to this order. *)
Definition rate_curve : Prop := forall T q d eta phi, sizes T q d -> (q < T)%nat ->
  let h := attracting_curve (INR T) (INR q) (INR d) in is_lim phi 0 1 ->
  step_defined (INR T) (INR q) (INR d) eta h phi /\
  is_lim (fun r => (lag_after (INR T) (INR q) (INR d) eta (h r) (phi r) r - INR q / (INR T - INR q)) / r) 0
    (INR q * (INR T - 1 - INR d) / ((INR T - INR q) * (INR T - 1))).
(** `correction`: there 1/L' − 1/L = 4η/(T−1) (1 − κ r² + o(r²)), κ = (d(T−q−η) + 2q(T−1))/((T−q)(T−1)). *)
Definition rate_correction : Prop := forall T q d eta phi, sizes T q d -> (q < T)%nat -> 0 < eta ->
  let h := attracting_curve (INR T) (INR q) (INR d) in second_order_phi (INR T) (INR q) (INR d) eta h phi ->
  step_defined (INR T) (INR q) (INR d) eta h phi /\
  let added := fun r => inverse_loss_added (INR T) (INR q) (INR d) eta (h r) (phi r) r in
  is_lim (fun r => (added r / (4 * eta / (INR T - 1)) - 1) / r ^ 2) 0
    (- ((INR d * (INR T - INR q - eta) + 2 * INR q * (INR T - 1)) / ((INR T - INR q) * (INR T - 1)))).
(** On the curve 1 − m/2 is such a φ, and so is the recursion's φ, whose m is not 0 there. *)
Definition rate_phi : Prop := forall T q d eta, sizes T q d -> (q < T)%nat -> 0 < eta ->
  let h := attracting_curve (INR T) (INR q) (INR d) in let m := fun r => move (INR T) (INR q) (INR d) eta (h r) r in
  second_order_phi (INR T) (INR q) (INR d) eta h (fun r => 1 - m r / 2) /\
  second_order_phi (INR T) (INR q) (INR d) eta h (fun r => exact_phi (m r)) /\ locally' 0 (fun r => m r <> 0).

(** `one_hot_rate`: the slope for q < T and η ≤ 4q²/(5q+2d), and with the larger step sizes. *)
Definition small_steps_slope : Prop := forall T q d eta E W V,
  one_hot_run T q d eta E W V -> (q < T)%nat -> small_steps q d eta -> has_slope T eta (loss_of_run T q d E W V).
Definition larger_steps_slope : Prop := forall T q d eta E W V,
  one_hot_run T q d eta E W V -> (q < T)%nat -> larger_steps T q d eta -> has_slope T eta (loss_of_run T q d E W V).
(** `steps`: the first step N(ε) with L ≤ ε exists, and ε N(ε) → (T−1)/(4η) as ε → 0. *)
Definition first_below (L : nat -> R) (eps : R) (n : nat) : Prop := L n <= eps /\ forall m, (m < n)%nat -> eps < L m.
Definition small_steps_number : Prop := forall T q d eta E W V,
  one_hot_run T q d eta E W V -> (q < T)%nat -> small_steps q d eta ->
  (forall eps, 0 < eps -> exists n, first_below (loss_of_run T q d E W V) eps n) /\
  forall steps : R -> nat, (forall eps, 0 < eps -> first_below (loss_of_run T q d E W V) eps (steps eps)) ->
    filterlim (fun eps => eps * INR (steps eps)) (at_right 0) (locally ((INR T - 1) / (4 * eta))).

(** ** `stationary_points`: the loss on the set as a function L of α and C, and its slopes, for q < T *)

Definition loss_in_two_numbers (T q d : nat) (L : R -> R -> R) : Prop :=
  sizes T q d /\ (q < T)%nat /\ exists E, normal_mean d T 3 E /\
  forall alpha C W V, on_the_set d T alpha C W V -> one_hot_loss d T q E W V = L alpha C.

Definition slope_in_alpha (L : R -> R -> R) (alpha C g : R) : Prop := is_derive (fun a => L a C) alpha g.
Definition slope_in_C (L : R -> R -> R) (alpha C g : R) : Prop := is_derive (fun c => L alpha c) C g.

Definition stationary_slope_alpha : Prop := forall T q d L alpha C, loss_in_two_numbers T q d L ->
  slope_in_alpha L alpha C
    (- INR d / INR q * recursion.P (INR T) (INR q) C * (1 - alpha * recursion.S' (INR T) (INR q) C)).
Definition stationary_slope_C : Prop := forall T q d L alpha C, loss_in_two_numbers T q d L ->
  slope_in_C L alpha C
    (- INR d / INR q * alpha * recursion.P (INR T) (INR q) C * recursion.Q (INR T) (INR q) C
      * (1 - alpha * recursion.P (INR T) (INR q) C * (1 - recursion.w C))).
(** The two slopes are not 0 at once. *)
Definition stationary_none_finite : Prop := forall T q d L alpha C g g', loss_in_two_numbers T q d L ->
  slope_in_alpha L alpha C g -> slope_in_C L alpha C g' -> g <> 0 \/ g' <> 0.

(** The slopes g and g' at one α, as functions of C, and their limits and the loss's. *)
Definition slopes (L : R -> R -> R) (alpha : R) (g g' : R -> R) : Prop :=
  forall C, slope_in_alpha L alpha C (g C) /\ slope_in_C L alpha C (g' C).
Definition stationary_alpha_at_plus_infinity : Prop := forall T q d L alpha g g',
  loss_in_two_numbers T q d L -> slopes L alpha g g' -> is_lim g p_infty (INR d * (alpha - 1) / INR q).
Definition stationary_slope_C_at_plus_infinity : Prop := forall T q d L alpha g g',
  loss_in_two_numbers T q d L -> slopes L alpha g g' -> is_lim g' p_infty 0.
Definition stationary_loss_at_plus_infinity : Prop := forall T q d L alpha, loss_in_two_numbers T q d L ->
  is_lim (fun C => L alpha C) p_infty (INR d * (alpha - 1) ^ 2 / (2 * INR q)).
Definition stationary_alpha_at_minus_infinity : Prop := forall T q d L alpha g g',
  loss_in_two_numbers T q d L -> slopes L alpha g g' -> is_lim g m_infty (INR d * alpha / (INR T - INR q)).
Definition stationary_slope_C_at_minus_infinity : Prop := forall T q d L alpha g g',
  loss_in_two_numbers T q d L -> slopes L alpha g g' -> is_lim g' m_infty 0.
Definition stationary_loss_at_minus_infinity : Prop := forall T q d L alpha, loss_in_two_numbers T q d L ->
  is_lim (fun C => L alpha C) m_infty (INR d / (2 * INR q) + INR d * alpha ^ 2 / (2 * (INR T - INR q))).

(** The squared cosine of I − 11ᵀ/T with I, in the inner product of the entries. *)
Definition inner (T : nat) (A B : matrix) : R := sum T (fun i => sum T (fun j => A i j * B i j)).
Definition centred (T : nat) : matrix := fun i j => one_hot i j - / INR T.
Definition stationary_cosine : Prop := forall T, (2 <= T)%nat ->
  0 < inner T (centred T) (centred T) /\ 0 < inner T one_hot one_hot /\
  inner T (centred T) one_hot ^ 2 / (inner T (centred T) (centred T) * inner T one_hot one_hot) = 1 - 1 / INR T.
