(** Where the loss of the recursion tends to 0, q < T and η < 2q: 1/(n L_n) → 4η/(T−1), the odds r = (T−q)w/q tend to 0,
    and the lag h = (1 + r − α)/r² to q/(T−q). *)

Require Import Reals Lra Psatz Lia.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection.formal Require recursion.
From SparseTokenSelection.formal.run Require Import sequences.
Open Scope R_scope.

Section Rate.
Variables T q d eta : R.
Hypothesis HT : 2 <= T.
Hypothesis Hq : 1 <= q < T.
Hypothesis Hd : 0 < d.
Hypothesis He : 0 < eta < 2 * q.
Local Notation L := (recursion.loss_at T q d eta).
Local Notation run := (recursion.run T q d eta).
Hypothesis HL : is_lim_seq L 0.

(** Along the run: α, C and w; N = q + (T−q)w and M = q + (T−q)w², so that S = M/N; the gap α − 1/S; the move of C. *)
Definition alpha_at n := fst (run n).
Definition C_at n := snd (run n).
Definition w_at n := recursion.w (C_at n).
Definition N_at n := q + (T - q) * w_at n.
Definition M_at n := q + (T - q) * w_at n ^ 2.
Definition gap n := alpha_at n - N_at n / M_at n.
Definition speed := eta * d / (q * (T - 1)).
Definition move n := C_at (S n) - C_at n.

Lemma loss_here n : L n = recursion.loss T q d (alpha_at n) (C_at n).
Proof. unfold recursion.loss_at, alpha_at, C_at. destruct (run n). reflexivity. Qed.

Lemma alpha_next n : alpha_at (S n) = recursion.step_alpha T q eta (alpha_at n) (C_at n).
Proof. unfold alpha_at, C_at. simpl. destruct (run n). reflexivity. Qed.

Lemma C_next n : C_at (S n) = recursion.step_C T q d eta (alpha_at n) (C_at n).
Proof. unfold alpha_at, C_at. simpl. destruct (run n). reflexivity. Qed.

Lemma w_pos n : 0 < w_at n.
Proof. apply exp_pos. Qed.

Lemma N_above n : q < N_at n.
Proof. unfold N_at. pose proof (w_pos n). assert (0 < (T - q) * w_at n) by (apply Rmult_lt_0_compat; lra). lra. Qed.

Lemma M_above n : q < M_at n.
Proof.
  unfold M_at. pose proof (w_pos n).
  assert (0 < (T - q) * w_at n ^ 2) by (apply Rmult_lt_0_compat; [lra|apply pow_lt; assumption]). lra.
Qed.

Ltac pos n := pose proof (w_pos n); pose proof (N_above n); pose proof (M_above n).

Definition scaled n := 2 * q / d * L n.

Lemma scaled_split n : scaled n = (T - q) * w_at n ^ 2 / M_at n + q * M_at n / N_at n ^ 2 * gap n ^ 2.
Proof.
  pos n. unfold scaled. rewrite loss_here. unfold recursion.loss, recursion.S', recursion.P, recursion.Q, recursion.N.
  fold (w_at n). fold (N_at n). unfold gap. unfold M_at in *. unfold N_at in *. field. repeat split; lra.
Qed.

Lemma scaled_lim : is_lim_seq scaled 0.
Proof. unfold scaled. as_value (2 * q / d * 0). apply is_lim_seq_mult'; [apply is_lim_seq_const|exact HL]. Qed.

Lemma scaled_terms n : 0 <= q * M_at n / N_at n ^ 2 * gap n ^ 2 /\ 0 < (T - q) * w_at n ^ 2 / M_at n.
Proof.
  pos n. split. apply Rmult_le_pos; [|apply pow2_ge_0].
  apply Rlt_le, Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|apply pow_lt; lra].
  apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [lra|apply pow_lt; lra]|lra].
Qed.

Lemma w_lim : is_lim_seq w_at 0.
Proof.
  (* s = (T-q)w²/M tends to 0, and w² = q/(T-q) s/(1-s) *)
  pose (s := fun n => (T - q) * w_at n ^ 2 / M_at n). assert (Sl : is_lim_seq s 0).
  { apply is_lim_seq_le_le with (fun _ => 0) scaled; [|apply is_lim_seq_const|apply scaled_lim].
    intro n. destruct (scaled_terms n). rewrite scaled_split. unfold s. lra. }
  apply squeeze_of_squares with (fun n => q / (T - q) * (s n * / (1 - s n))).
  - intro n. pos n. right. assert (1 - s n = q / M_at n) by (unfold s; unfold M_at in *; field; lra). rewrite H2.
    unfold s. field. lra.
  - as_value (q / (T - q) * (0 * / (1 - 0))). apply is_lim_seq_mult'; [apply is_lim_seq_const|].
    apply is_lim_seq_mult'; [assumption|].
    apply (is_lim_seq_inv (fun n => 1 - s n) (Finite (1 - 0))); [|intro F; injection F; lra].
    apply is_lim_seq_minus'; [apply is_lim_seq_const|assumption].
Qed.

Lemma N_lim : is_lim_seq N_at q.
Proof.
  unfold N_at. as_value (q + (T - q) * 0). apply is_lim_seq_plus'; [apply is_lim_seq_const|].
  apply is_lim_seq_mult'; [apply is_lim_seq_const|apply w_lim].
Qed.

Lemma w_square_lim : is_lim_seq (fun n => w_at n ^ 2) 0.
Proof.
  apply is_lim_seq_ext with (fun n => w_at n * w_at n); [intro; ring|]. as_value (0 * 0).
  apply is_lim_seq_mult'; apply w_lim.
Qed.

Lemma M_lim : is_lim_seq M_at q.
Proof.
  unfold M_at. as_value (q + (T - q) * 0). apply is_lim_seq_plus'; [apply is_lim_seq_const|].
  apply is_lim_seq_mult'; [apply is_lim_seq_const|apply w_square_lim].
Qed.

Lemma gap_lim : is_lim_seq gap 0.
Proof.
  apply squeeze_of_squares with (fun n => scaled n * (N_at n * N_at n) / (q * q)).
  - intro n. pos n. destruct (scaled_terms n). rewrite scaled_split. apply Rmult_le_reg_r with (q * q); [nra|].
    replace (((T - q) * w_at n ^ 2 / M_at n + q * M_at n / N_at n ^ 2 * gap n ^ 2) * (N_at n * N_at n) / (q * q)
      * (q * q)) with ((T - q) * w_at n ^ 2 / M_at n * (N_at n * N_at n) + q * M_at n * gap n ^ 2) by (field; lra).
    assert (0 < (T - q) * w_at n ^ 2 / M_at n * (N_at n * N_at n)).
    { apply Rmult_lt_0_compat; [assumption|apply Rmult_lt_0_compat; lra]. }
    pose proof (pow2_ge_0 (gap n)). nra.
  - as_value (0 * (q * q) / (q * q)). apply div_lim; [nra| |apply is_lim_seq_const].
    apply is_lim_seq_mult'; [apply scaled_lim|apply is_lim_seq_mult'; apply N_lim].
Qed.

Lemma alpha_lim : is_lim_seq alpha_at 1.
Proof.
  apply is_lim_seq_ext with (fun n => N_at n / M_at n + gap n); [intro n; unfold gap; ring|]. as_value (q / q + 0).
  apply is_lim_seq_plus'; [apply div_lim; [lra|apply N_lim|apply M_lim]|apply gap_lim].
Qed.

(** ** The move of C, over w *)
Definition factor n := speed * alpha_at n * q * (T - q) / (N_at n * N_at n).

Lemma factor_lim : is_lim_seq factor (speed * (T - q) / q).
Proof.
  unfold factor. as_value (speed * 1 * q * (T - q) / (q * q)).
  apply div_lim; [nra| |apply is_lim_seq_mult'; apply N_lim]. apply is_lim_seq_mult'; [|apply is_lim_seq_const].
  apply is_lim_seq_mult'; [|apply is_lim_seq_const]. apply is_lim_seq_mult'; [apply is_lim_seq_const|apply alpha_lim].
Qed.

Lemma move_formula n : move n = factor n * w_at n * (w_at n * N_at n / M_at n - gap n * q / N_at n * (1 - w_at n)).
Proof.
  pos n. unfold move. rewrite C_next. unfold recursion.step_C, recursion.P, recursion.Q, recursion.N. fold (w_at n).
  fold (N_at n). unfold factor, speed, gap. unfold M_at in *. unfold N_at in *. field. repeat split; lra.
Qed.

Definition bracket n := w_at n * N_at n / M_at n - gap n * q / N_at n * (1 - w_at n).

Lemma bracket_lim : is_lim_seq bracket 0.
Proof.
  unfold bracket. as_value (0 * q / q - 0 * q / q * (1 - 0)). apply is_lim_seq_minus'.
  apply div_lim; [lra|apply is_lim_seq_mult'; [apply w_lim|apply N_lim]|apply M_lim]. apply is_lim_seq_mult'.
  apply div_lim; [lra|apply is_lim_seq_mult'; [apply gap_lim|apply is_lim_seq_const]|apply N_lim].
  apply is_lim_seq_minus'; [apply is_lim_seq_const|apply w_lim].
Qed.

Lemma move_ratio_lim : is_lim_seq (fun n => move n / w_at n) 0.
Proof.
  apply is_lim_seq_ext with (fun n => factor n * bracket n).
  intro n; pos n; rewrite move_formula; unfold bracket; field; lra. as_value (speed * (T - q) / q * 0).
  apply is_lim_seq_mult'; [apply factor_lim|apply bracket_lim].
Qed.

Lemma move_lim : is_lim_seq move 0.
Proof.
  apply is_lim_seq_ext with (fun n => move n / w_at n * w_at n). intro n; pos n; field; lra. as_value (0 * 0).
  apply is_lim_seq_mult'; [apply move_ratio_lim|apply w_lim].
Qed.

Lemma w_next n : w_at (S n) = w_at n * exp (- move n).
Proof. unfold w_at, recursion.w. rewrite <- exp_plus. f_equal. unfold move. ring. Qed.

(** ** The gap over w² tends to 0 *)
Definition gap_ratio n := gap n / w_at n ^ 2.
Definition contraction n := (1 - eta * M_at n / (N_at n * N_at n)) * exp (2 * move n).
Definition drift n := exp (2 * move n) * ((T - q) * ((1 - exp (- move n)) / w_at n)
  * (q * (1 - w_at n - w_at (S n)) - (T - q) * w_at n * w_at (S n)) / (M_at n * M_at (S n))).

Lemma gap_next n :
  gap (S n) = (1 - eta * M_at n / (N_at n * N_at n)) * gap n + (N_at n / M_at n - N_at (S n) / M_at (S n)).
Proof.
  pos n. pos (S n). unfold gap at 1. rewrite alpha_next.
  unfold recursion.step_alpha, recursion.S', recursion.P, recursion.Q, recursion.N. fold (w_at n). fold (N_at n).
  assert (E : alpha_at n * (1 - eta * (q / N_at n) * (q / N_at n + (T - q) * w_at n / N_at n * w_at n) / q)
    + eta * (q / N_at n) / q = (1 - eta * M_at n / (N_at n * N_at n)) * gap n + N_at n / M_at n).
  { unfold gap. unfold M_at in *. unfold N_at in *. field. repeat split; lra. }
  rewrite E. ring.
Qed.

Lemma gap_ratio_next n : gap_ratio (S n) = contraction n * gap_ratio n + drift n.
Proof.
  pos n. pos (S n). unfold gap_ratio. rewrite gap_next. unfold contraction, drift.
  assert (One : exp (2 * move n) * exp (- move n) * exp (- move n) = 1)
    by (rewrite <- !exp_plus; replace (2 * move n + - move n + - move n) with 0 by ring; apply exp_0).
  assert (E : N_at n / M_at n - N_at (S n) / M_at (S n)
    = (T - q) * (w_at n - w_at (S n)) * (q * (1 - w_at n - w_at (S n)) - (T - q) * w_at n * w_at (S n))
      / (M_at n * M_at (S n))).
  { unfold M_at in *. unfold N_at in *. field. lra. }
  rewrite E. pose proof (exp_pos (- move n)). set (y := exp (- move n)) in *. set (g := exp (2 * move n)) in *.
  assert (G : g = / (y * y)). { apply Rmult_eq_reg_r with (y * y); [|nra]. rewrite Rinv_l by nra. lra. }
  rewrite G. assert (Wn : w_at (S n) = w_at n * y) by apply w_next. set (mm := M_at (S n)) in *. rewrite Wn.
  field. repeat split; lra.
Qed.

Lemma w_next_lim : is_lim_seq (fun n => w_at (S n)) 0.
Proof. apply (is_lim_seq_incr_1 w_at). apply w_lim. Qed.

Lemma M_next_lim : is_lim_seq (fun n => M_at (S n)) q.
Proof. apply (is_lim_seq_incr_1 M_at). apply M_lim. Qed.

Lemma growth_lim : is_lim_seq (fun n => exp (2 * move n)) 1.
Proof. apply exp_lim. as_value (2 * 0). apply is_lim_seq_mult'; [apply is_lim_seq_const|apply move_lim]. Qed.

Lemma contraction_lim : is_lim_seq contraction (1 - eta / q).
Proof.
  unfold contraction. as_value ((1 - eta * q / (q * q)) * 1). apply is_lim_seq_mult'; [|apply growth_lim].
  apply is_lim_seq_minus'; [apply is_lim_seq_const|].
  apply div_lim; [nra|apply is_lim_seq_mult'; [apply is_lim_seq_const|apply M_lim]|apply is_lim_seq_mult'; apply N_lim].
Qed.

Lemma fall_of_w_lim : is_lim_seq (fun n => (1 - exp (- move n)) / w_at n) 0.
Proof.
  apply is_lim_seq_ext with (fun n => - ((exp (- move n) - 1) / w_at n)); [intro n; pos n; field; lra|]. as_value (-0).
  apply (is_lim_seq_opp _ 0). apply exp_minus_one_over; [apply w_pos| |]. as_value (-0).
  apply (is_lim_seq_opp move 0), move_lim.
  apply is_lim_seq_ext with (fun n => -(move n / w_at n)); [intro n; pos n; field; lra|]. as_value (-0).
  apply (is_lim_seq_opp _ 0), move_ratio_lim.
Qed.

Lemma drift_lim : is_lim_seq drift 0.
Proof.
  unfold drift. as_value (1 * ((T - q) * 0 * (q * (1 - 0 - 0) - (T - q) * 0 * 0) / (q * q))).
  apply is_lim_seq_mult'; [apply growth_lim|].
  apply div_lim; [nra| |apply is_lim_seq_mult'; [apply M_lim|apply M_next_lim]]. apply is_lim_seq_mult'.
  apply is_lim_seq_mult'; [apply is_lim_seq_const|apply fall_of_w_lim]. apply is_lim_seq_minus'.
  apply is_lim_seq_mult'; [apply is_lim_seq_const|]. apply is_lim_seq_minus'; [|apply w_next_lim].
  apply is_lim_seq_minus'; [apply is_lim_seq_const|apply w_lim]. apply is_lim_seq_mult'; [|apply w_next_lim].
  apply is_lim_seq_mult'; [apply is_lim_seq_const|apply w_lim].
Qed.

Lemma gap_ratio_lim : is_lim_seq gap_ratio 0.
Proof.
  apply recurrence_to_zero with contraction drift (1 - eta / q);
    [|apply gap_ratio_next|apply contraction_lim|apply drift_lim].
  apply Rabs_def1. assert (0 < eta / q) by (apply Rdiv_lt_0_compat; lra). lra. apply Rmult_lt_reg_r with q; [lra|].
  field_simplify; lra.
Qed.

(** ** The lag *)
Definition odds n := (T - q) * w_at n / q.

Lemma loss_pos n : 0 < L n.
Proof.
  assert (E : L n = d / (2 * q) * scaled n) by (unfold scaled; field; lra). rewrite E.
  apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|]. rewrite scaled_split. destruct (scaled_terms n). lra.
Qed.

Theorem odds_limit : is_lim_seq odds 0.
Proof.
  apply is_lim_seq_ext with (fun n => (T - q) / q * w_at n); [intro; unfold odds; field; lra|].
  as_value ((T - q) / q * 0). apply is_lim_seq_mult'; [apply is_lim_seq_const|apply w_lim].
Qed.

Theorem lag_limit : is_lim_seq (fun n => (1 + odds n - alpha_at n) / odds n ^ 2) (q / (T - q)).
Proof.
  apply is_lim_seq_ext with (fun n => q / (T - q) * (1 + odds n) * q / M_at n - gap_ratio n * (q / (T - q)) ^ 2).
  intro n. pos n. unfold gap_ratio, gap, odds. unfold M_at in *. unfold N_at in *. field. repeat split; lra.
  as_value (q / (T - q) * (1 + 0) * q / q - 0 * (q / (T - q)) ^ 2). apply is_lim_seq_minus'.
  apply div_lim; [lra| |apply M_lim]. apply is_lim_seq_mult'; [|apply is_lim_seq_const].
  apply is_lim_seq_mult'; [apply is_lim_seq_const|]. apply is_lim_seq_plus'; [apply is_lim_seq_const|apply odds_limit].
  apply is_lim_seq_mult'; [apply gap_ratio_lim|apply is_lim_seq_const].
Qed.

(** ** The rate *)
Definition inverse_square n := / w_at n ^ 2.

Lemma inverse_square_step : is_lim_seq (fun n => inverse_square (S n) - inverse_square n) (2 * (speed * (T - q) / q)).
Proof.
  apply is_lim_seq_ext with (fun n => (exp (2 * move n) - 1) / w_at n ^ 2).
  - intro n. pos n. unfold inverse_square. rewrite w_next.
    assert (X0 : exp (2 * move n) = / (exp (- move n) * exp (- move n))).
    { rewrite <- exp_plus, <- exp_Ropp. f_equal. ring. }
    rewrite X0. pose proof (exp_pos (- move n)). field. lra.
  - apply exp_minus_one_over; [intro n; apply pow_lt, w_pos| |].
    + as_value (2 * 0). apply is_lim_seq_mult'; [apply is_lim_seq_const|apply move_lim].
    + apply is_lim_seq_ext
        with (fun n => 2 * (factor n * (N_at n / M_at n - gap_ratio n * w_at n * q / N_at n * (1 - w_at n)))).
      { intro n. pos n. rewrite move_formula. unfold gap_ratio. field. lra. }
      as_value (2 * (speed * (T - q) / q * (q / q - 0 * 0 * q / q * (1 - 0)))).
      apply is_lim_seq_mult'; [apply is_lim_seq_const|]. apply is_lim_seq_mult'; [apply factor_lim|].
      apply is_lim_seq_minus'; [apply div_lim; [lra|apply N_lim|apply M_lim]|].
      apply is_lim_seq_mult'; [|apply is_lim_seq_minus'; [apply is_lim_seq_const|apply w_lim]].
      apply div_lim; [lra| |apply N_lim]. apply is_lim_seq_mult'; [|apply is_lim_seq_const].
      apply is_lim_seq_mult'; [apply gap_ratio_lim|apply w_lim].
Qed.

Theorem rate : is_lim_seq (fun n => 1 / (INR n * L n)) (4 * eta / (T - 1)).
Proof.
  pose proof (stolz_cesaro inverse_square _ inverse_square_step) as G.
  apply is_lim_seq_ext_loc with (fun n => 2 * q / d * (inverse_square n / INR n
    * / ((T - q) / M_at n + q * M_at n / (N_at n * N_at n) * (gap_ratio n * gap_ratio n) * (w_at n * w_at n)))).
  - exists 1%nat. intros n Hn. pos n. assert (I : 0 < INR n) by (apply lt_0_INR; lia).
    assert (Lx : L n = d / (2 * q) * scaled n) by (unfold scaled; field; lra). destruct (scaled_terms n) as [X1 X2].
    rewrite Lx, scaled_split.
    assert (Dp : 0 < (T - q) * w_at n ^ 2 / M_at n + q * M_at n / N_at n ^ 2 * gap n ^ 2) by lra.
    assert (Eb : (T - q) / M_at n + q * M_at n / (N_at n * N_at n) * (gap_ratio n * gap_ratio n) * (w_at n * w_at n)
      = ((T - q) * w_at n ^ 2 / M_at n + q * M_at n / N_at n ^ 2 * gap n ^ 2) / w_at n ^ 2)
      by (unfold gap_ratio; field; lra).
    rewrite Eb. unfold inverse_square.
    set (D := (T - q) * w_at n ^ 2 / M_at n + q * M_at n / N_at n ^ 2 * gap n ^ 2) in *. field. repeat split; lra.
  - replace (4 * eta / (T - 1)) with (2 * q / d * (2 * (speed * (T - q) / q)
      * / ((T - q) / q + q * q / (q * q) * (0 * 0) * (0 * 0)))) by (unfold speed; field; lra).
    apply is_lim_seq_mult'; [apply is_lim_seq_const|]. apply is_lim_seq_mult'; [assumption|].
    apply inv_lim; [assert (0 < (T - q) / q) by (apply Rdiv_lt_0_compat; lra); lra|].
    apply is_lim_seq_plus'; [apply div_lim; [lra|apply is_lim_seq_const|apply M_lim]|].
    apply is_lim_seq_mult'; [|apply is_lim_seq_mult'; apply w_lim].
    apply is_lim_seq_mult'; [|apply is_lim_seq_mult'; apply gap_ratio_lim].
    apply div_lim; [nra| |apply is_lim_seq_mult'; apply N_lim].
    apply is_lim_seq_mult'; [apply is_lim_seq_const|apply M_lim].
Qed.
End Rate.
