(** The rate of every run of the layer: 1/(t L_t) → 4η/(T−1), and the first step with L ≤ ε times ε tends to
  (T−1)/(4η). *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal Require Import claims one_hot_convergence.
From SparseTokenSelection.formal Require recursion.
From SparseTokenSelection.formal.layer Require reduced_dynamics.
From SparseTokenSelection.formal.run Require inverse_loss_rate scaled_loss.
Open Scope R_scope.

Lemma fewer_selected T q : (q < T)%nat -> INR q < INR T.
Proof. apply lt_INR. Qed.

(** A loss that is at most every ε from some step on tends to 0. *)
Lemma vanishes (L : nat -> R) : (forall t, 0 <= L t) -> (forall eps, 0 < eps -> reaches L eps) ->
  (forall eps, 0 < eps -> stays L eps) -> is_lim_seq L 0.
Proof.
  intros Pos Reach Stay. apply is_lim_seq_spec. intro eps. pose proof (cond_pos eps) as He.
  assert (H2 : 0 < eps / 2) by lra. destruct (Reach _ H2) as [n Hn]. exists n. intros m Hm.
  pose proof (Stay _ H2 n m Hn Hm). pose proof (Pos m). rewrite Rminus_0_r, Rabs_pos_eq by assumption. lra.
Qed.

Lemma loss_nonneg T q d eta E W V : one_hot_run T q d eta E W V -> forall t, 0 <= loss_of_run T q d E W V t.
Proof.
  intros Run t. destruct (real_sizes T q d (proj1 Run)) as (HT & Hq & Hd).
  rewrite (loss_of_run_is_of_recursion _ _ _ _ _ _ _ Run). apply scaled_loss.loss_nonneg; lra.
Qed.

(** ** `inverse_loss_rate` *)

Theorem slope_of_inverse_loss : rate_slope.
Proof.
  intros T q d eta E W V Run Hlt E0 E1 Lim. destruct (real_sizes T q d (proj1 Run)) as (HT & Hq & Hd).
  pose proof (loss_of_run_is_of_recursion _ _ _ _ _ _ _ Run) as Same. pose proof (fewer_selected T q Hlt) as Lt.
  assert (Lim' : is_lim_seq (recursion.loss_at (INR T) (INR q) (INR d) eta) 0)
    by (apply is_lim_seq_ext with (2 := Lim); exact Same).
  split.
  - intro t. rewrite Same. apply inverse_loss_rate.loss_pos; lra.
  - apply is_lim_seq_ext with (fun t => 1 / (INR t * recursion.loss_at (INR T) (INR q) (INR d) eta t)).
    + intro t. rewrite Same. reflexivity.
    + apply inverse_loss_rate.rate; try assumption; lra.
Qed.

(** A point of the set has one α and one C. *)
Lemma coordinates_are_unique T q d alpha C alpha' C' W V : sizes T q d ->
  on_the_set d T alpha C W V -> on_the_set d T alpha' C' W V -> alpha = alpha' /\ C = C'.
Proof.
  intros (HT & Hq & Hd) [OnW OnV] [OnW' OnV'].
  assert (One : forall i, one_hot i i = 1) by (intro; unfold one_hot; rewrite Nat.eqb_refl; reflexivity).
  specialize (OnV 0%nat 0%nat ltac:(lia) ltac:(lia)). specialize (OnV' 0%nat 0%nat ltac:(lia) ltac:(lia)).
  specialize (OnW d d ltac:(lia) ltac:(lia)). specialize (OnW' d d ltac:(lia) ltac:(lia)).
  rewrite One in *. rewrite Nat.ltb_irrefl in *. simpl in OnW, OnW'. split; [lra|].
  assert (1 < INR T) by (apply (lt_INR 1); lia). assert (/ INR T < 1) by (rewrite <- Rinv_1; apply Rinv_lt_contravar;
    lra).
  apply Rmult_eq_reg_r with (1 - / INR T); lra.
Qed.

Theorem limits_of_odds_and_lag : rate_limits.
Proof.
  intros T q d eta E W V alpha C Run Hlt E0 E1 Lim On. destruct (real_sizes T q d (proj1 Run)) as (HT & Hq & Hd).
  pose proof (loss_of_run_is_of_recursion _ _ _ _ _ _ _ Run) as Same. pose proof (fewer_selected T q Hlt) as Lt.
  assert (Lim' : is_lim_seq (recursion.loss_at (INR T) (INR q) (INR d) eta) 0)
    by (apply is_lim_seq_ext with (2 := Lim); exact Same).
  assert (Here : forall t, fst (run T q d eta t) = alpha t /\ snd (run T q d eta t) = C t).
  { intro t. destruct Run as (Size & HE & Descent).
    exact (coordinates_are_unique T q d _ _ _ _ (W t) (V t) Size
      (reduced_dynamics.lemma1_kept T q d eta E W V Size HE Descent t) (On t)). }
  assert (Odds : forall t, inverse_loss_rate.odds (INR T) (INR q) (INR d) eta t = odds T q (C t))
    by (intro t; rewrite <- (proj2 (Here t)); reflexivity).
  split.
  - apply is_lim_seq_ext with (1 := Odds). apply inverse_loss_rate.odds_limit; try assumption; lra.
  - apply is_lim_seq_ext with (fun t => (1 + inverse_loss_rate.odds (INR T) (INR q) (INR d) eta t
      - inverse_loss_rate.alpha_at (INR T) (INR q) (INR d) eta t) / inverse_loss_rate.odds (INR T) (INR q) (INR d) eta
          t ^ 2).
    + intro t. rewrite Odds, <- (proj1 (Here t)). reflexivity.
    + apply inverse_loss_rate.lag_limit; try assumption; lra.
Qed.

(** ** `one_hot_rate`: step sizes for which the loss tends to 0 *)

Theorem slope_for_small_steps : small_steps_slope.
Proof.
  intros T q d eta E W V Run Hlt Small. destruct (real_sizes T q d (proj1 Run)) as (HT & Hq & Hd).
  pose proof (proj1 Small) as E0. pose proof (proj2 Small) as E1.
  apply (slope_of_inverse_loss T q d eta E W V Run Hlt E0).
  - apply Rle_lt_trans with (1 := E1). set (k := INR q) in *. set (m := INR d) in *.
    apply Rmult_lt_reg_r with (5 * k + 2 * m); [lra|].
    replace (4 * k ^ 2 / (5 * k + 2 * m) * (5 * k + 2 * m)) with (4 * k ^ 2) by (field; lra). nra.
  - apply vanishes; [exact (loss_nonneg _ _ _ _ _ _ _ Run)| |]; intros eps He.
    + exact (small_steps_reach T q d eta eps E W V Run Small He).
    + exact (small_steps_stay T q d eta eps E W V Run Small He).
Qed.

Theorem slope_for_larger_steps : larger_steps_slope.
Proof.
  intros T q d eta E W V Run Hlt Larger. destruct (real_sizes T q d (proj1 Run)) as (HT & Hq & Hd).
  pose proof (proj1 Larger) as E0. pose proof (proj2 Larger) as E1.
  apply (slope_of_inverse_loss T q d eta E W V Run Hlt E0).
  - apply Rlt_trans with (1 := E1). set (k := INR q) in *. set (m := INR d) in *. set (n := INR T) in *.
    apply Rmult_lt_reg_r with (n - 1 + 6 * m); [lra|].
    replace (2 * k * (n - 1) / (n - 1 + 6 * m) * (n - 1 + 6 * m)) with (2 * k * (n - 1)) by (field; lra).
    assert (0 < k * m) by (apply Rmult_lt_0_compat; lra). lra.
  - apply vanishes; [exact (loss_nonneg _ _ _ _ _ _ _ Run)| |]; intros eps He.
    + exact (larger_steps_reach T q d eta eps E W V Run Larger He).
    + exact (larger_steps_stay T q d eta eps E W V Run Larger He).
Qed.

(** ** The number of steps to ε *)

Lemma below_or_earlier (L : nat -> R) eps n : (exists m, (m < n)%nat /\ L m <= eps) \/ forall m, (m < n)%nat -> eps <
  L m.
Proof.
  induction n as [|n [[m [Hm H]]|IH]]; [right; intros; lia|left; exists m; split; [lia|assumption]|].
  destruct (Rle_dec (L n) eps) as [H|H]; [left; exists n; split; [lia|assumption]|right].
  intros m Hm. destruct (Nat.eq_dec m n) as [->|N]; [lra|apply IH; lia].
Qed.

Lemma first_below_exists (L : nat -> R) eps : reaches L eps -> exists n, first_below L eps n.
Proof.
  intros [t Ht]. induction t as [t IH] using lt_wf_ind.
  destruct (below_or_earlier L eps t) as [[s [Hs H]]|H]; [exact (IH s Hs H)|exists t; split; assumption].
Qed.

(** With the slope c of the inverse loss, ε N(ε) → 1/c: N L_N ≤ N ε < N L_{N−1}. *)
Lemma number_of_steps (L : nat -> R) (c : R) (steps : R -> nat) : 0 < c -> (forall t, 0 < L t) ->
  (forall eps, 0 < eps -> stays L eps) -> is_lim_seq (fun t => 1 / (INR t * L t)) c ->
  (forall eps, 0 < eps -> first_below L eps (steps eps)) ->
  filterlim (fun eps => eps * INR (steps eps)) (at_right 0) (locally (/ c)).
Proof.
  intros Hc Pos Stay Slope First.
  assert (Times : is_lim_seq (fun t => INR t * L t) (/ c)).
  { apply is_lim_seq_ext_loc with (fun t => / (1 / (INR t * L t))).
    - exists 1%nat. intros t Ht. assert (0 < INR t) by (apply lt_0_INR; lia). specialize (Pos t). field. split; lra.
    - apply (is_lim_seq_inv _ (Finite c) Slope). intro H. injection H. lra. }
  assert (Zero : is_lim_seq L 0).
  { apply is_lim_seq_ext_loc with (fun t => INR t * L t * / INR t).
    - exists 1%nat. intros t Ht. assert (0 < INR t) by (apply lt_0_INR; lia). field. lra.
    - replace (Finite 0) with (Rbar_mult (/ c) 0) by (simpl; f_equal; ring). apply is_lim_seq_mult with (/ c) 0.
      + exact Times.
      + replace (Finite 0) with (Rbar_inv p_infty) by reflexivity. apply is_lim_seq_inv;
          [apply is_lim_seq_INR|discriminate].
      + simpl. constructor. }
  assert (Next : is_lim_seq (fun t => INR (S t) * L t) (/ c)).
  { apply is_lim_seq_ext with (fun t => INR t * L t + L t); [intro; rewrite S_INR; ring|].
    replace (Finite (/ c)) with (Finite (/ c + 0)) by (f_equal; ring). apply is_lim_seq_plus'; assumption. }
  apply filterlim_locally. intro delta. apply is_lim_seq_spec in Times, Next.
  destruct (Times delta) as [K1 H1], (Next delta) as [K2 H2]. set (K := S (max K1 K2)).
  exists (mkposreal (L K) (Pos K)). intros eps Near He. change (0 < eps) in He.
  assert (Small : eps < L K).
  { unfold ball in Near. simpl in Near. unfold AbsRing_ball, abs, minus, plus, opp in Near. simpl in Near.
    rewrite Ropp_0, Rplus_0_r, Rabs_pos_eq in Near by lra. exact Near. }
  destruct (First eps He) as [Below Above].
  assert (Late : (K < steps eps)%nat).
  { destruct (Nat.lt_ge_cases K (steps eps)) as [|G]; [assumption|]. exfalso.
    pose proof (Stay eps He (steps eps) K Below G). lra. }
  destruct (steps eps) as [|m]; [lia|]. specialize (H1 (S m) ltac:(unfold K in Late; lia)).
  specialize (H2 m ltac:(unfold K in Late; lia)). apply Rabs_def2 in H1, H2. specialize (Above m ltac:(lia)).
  assert (0 < INR (S m)) by (apply lt_0_INR; lia).
  assert (INR (S m) * L (S m) <= INR (S m) * eps) by (apply Rmult_le_compat_l; lra).
  assert (INR (S m) * eps < INR (S m) * L m) by (apply Rmult_lt_compat_l; lra).
  change (Rabs (eps * INR (S m) - / c) < delta). apply Rabs_def1; lra.
Qed.

Theorem number_of_small_steps : small_steps_number.
Proof.
  intros T q d eta E W V Run Hlt Small. split.
  - intros eps He. apply first_below_exists. exact (small_steps_reach T q d eta eps E W V Run Small He).
  - intros steps First. destruct (real_sizes T q d (proj1 Run)) as (HT & Hq & Hd).
    destruct (slope_for_small_steps T q d eta E W V Run Hlt Small) as [Pos Slope]. pose proof (proj1 Small) as E0.
    replace ((INR T - 1) / (4 * eta)) with (/ (4 * eta / (INR T - 1))) by (field; lra).
    apply number_of_steps with (loss_of_run T q d E W V); try assumption; [apply Rdiv_lt_0_compat; lra|].
    intros eps He. exact (small_steps_stay T q d eta eps E W V Run Small He).
Qed.
