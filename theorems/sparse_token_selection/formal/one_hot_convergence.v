(** Theorem 1, and the same for larger step sizes, from the layer on: the loss of every run of gradient descent from
  zero
    falls below every ε and stays there. *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal Require Import claims.
From SparseTokenSelection.formal Require recursion.
From SparseTokenSelection.formal.layer Require Import reduced_dynamics sign_tables.
From SparseTokenSelection.formal.run Require one_hot_larger_steps one_hot_descent.
Open Scope R_scope.

(** By Lemma 1 the loss of the run is that of the recursion. *)
Theorem loss_of_run_is_of_recursion T q d eta E W V : one_hot_run T q d eta E W V ->
  forall t, loss_of_run T q d E W V t = recursion.loss_at (INR T) (INR q) (INR d) eta t.
Proof.
  intros (Size & HE & Run) t. unfold loss_of_run, recursion.loss_at.
  pose proof (lemma1_kept T q d eta E W V Size HE Run t) as On. unfold run in On.
  destruct (recursion.run (INR T) (INR q) (INR d) eta t) as [alpha C].
  exact (lemma1_loss_on_the_set T q d alpha C E (W t) (V t) Size HE On).
Qed.

Lemma real_sizes T q d : sizes T q d -> 2 <= INR T /\ 1 <= INR q <= INR T /\ 1 <= INR d.
Proof.
  intros (HT & Hq & Hd). repeat split; [apply (le_INR 2)|apply (le_INR 1)|apply le_INR|apply (le_INR 1)]; lia.
Qed.

(** ** Step sizes below 2q(T−1)/(T−1+6d) *)

Theorem larger_steps_reach : larger_steps_reached.
Proof.
  intros T q d eta eps E W V Run [E0 E1] He. destruct (real_sizes T q d (proj1 Run)) as (HT & Hq & Hd).
  destruct (one_hot_larger_steps.reached (INR T) (INR q) (INR d) eta HT Hq ltac:(lra) (conj E0 E1) eps He) as [t Ht].
  exists t. rewrite (loss_of_run_is_of_recursion _ _ _ _ _ _ _ Run). exact Ht.
Qed.

Theorem larger_steps_stay : larger_steps_stays.
Proof.
  intros T q d eta eps E W V Run [E0 E1] He t s Ht Hs. destruct (real_sizes T q d (proj1 Run)) as (HT & Hq & Hd).
  rewrite (loss_of_run_is_of_recursion _ _ _ _ _ _ _ Run) in *.
  exact (one_hot_larger_steps.stays (INR T) (INR q) (INR d) eta HT Hq ltac:(lra) (conj E0 E1) eps t s Hs Ht).
Qed.

(** ** Step sizes up to 4q²/(5q+2d) *)

Lemma cases_of_integers T q d : sizes T q d -> INR q = INR T \/ (2 <= INR q /\ INR q + 1 <= INR T)
  \/ (INR q = 1 /\ 3 <= INR T) \/ (INR q = 1 /\ INR T = 2).
Proof.
  intros (HT & Hq & _). destruct (Nat.eq_dec q T) as [->|N]; [left; reflexivity|right].
  destruct (Nat.eq_dec q 1) as [->|N1].
  - right. destruct (Nat.eq_dec T 2) as [->|N2]; [right; simpl; lra|left].
    split; [reflexivity|]. assert (H : (3 <= T)%nat) by lia. apply le_INR in H. simpl in H. lra.
  - left. assert (H : (2 <= q)%nat) by lia. assert (H' : (q + 1 <= T)%nat) by lia. apply le_INR in H, H'.
    rewrite plus_INR in H'. simpl in H, H'. lra.
Qed.

Theorem small_steps_reach : small_steps_reached.
Proof.
  intros T q d eta eps E W V Run Small He. destruct (real_sizes T q d (proj1 Run)) as (HT & Hq & Hd).
  destruct (one_hot_descent.reached (INR T) (INR q) (INR d) eta HT Hq ltac:(lra) Small
    (cases_of_integers T q d (proj1 Run)) eps He) as [t Ht].
  exists t. rewrite (loss_of_run_is_of_recursion _ _ _ _ _ _ _ Run). exact Ht.
Qed.

Theorem small_steps_stay : small_steps_stays.
Proof.
  intros T q d eta eps E W V Run Small He t s Ht Hs. destruct (real_sizes T q d (proj1 Run)) as (HT & Hq & Hd).
  rewrite (loss_of_run_is_of_recursion _ _ _ _ _ _ _ Run) in *.
  exact (one_hot_descent.stays (INR T) (INR q) (INR d) eta HT Hq ltac:(lra) Small
    (cases_of_integers T q d (proj1 Run)) eps t s Hs Ht).
Qed.

(** ** Theorem 1: its step sizes are among these *)

Lemma papers_step T q d eta : sizes T q d -> 0 < eta -> eta <= 1 / (20 * INR d ^ 2) -> small_steps q d eta.
Proof.
  intros Size E0 E1. destruct (real_sizes T q d Size) as (HT & Hq & Hd). split; [assumption|].
  apply Rle_trans with (1 := E1). set (k := INR q) in *. set (m := INR d) in *. assert (0 < 20 * m ^ 2) by nra.
  apply Rmult_le_reg_r with (20 * m ^ 2); [assumption|]. apply Rmult_le_reg_r with (5 * k + 2 * m); [lra|].
  replace (1 / (20 * m ^ 2) * (20 * m ^ 2) * (5 * k + 2 * m)) with (5 * k + 2 * m) by (field; lra).
  replace (4 * k ^ 2 / (5 * k + 2 * m) * (20 * m ^ 2) * (5 * k + 2 * m)) with (80 * (k * m) * (k * m)) by (field; lra).
  assert (k <= k * m) by nra. assert (m <= k * m) by nra. nra.
Qed.

Theorem theorem1_reaches : theorem1_reached.
Proof.
  intros T q d eta eps E W V Run (Q2 & Q4 & P0 & P1 & E0 & E1).
  exact (small_steps_reach T q d eta eps E W V Run (papers_step T q d eta (proj1 Run) E0 E1) P0).
Qed.

Theorem theorem1_stay : theorem1_stays.
Proof.
  intros T q d eta eps E W V Run (Q2 & Q4 & P0 & P1 & E0 & E1).
  exact (small_steps_stay T q d eta eps E W V Run (papers_step T q d eta (proj1 Run) E0 E1) P0).
Qed.

(** The hypotheses of Theorem 1 do not contradict each other: T = 9, q = 2, d = 1, η = 1/20 and ε = 1/200 satisfy
  them, and
    a run exists for them. *)
Theorem theorem1_has_an_instance : exists T q d eta eps E W V,
  one_hot_run T q d eta E W V /\ scope_of_theorem1 T q d eta eps.
Proof.
  assert (Size : sizes 9 2 1) by (unfold sizes; lia).
  destruct (sign_tables_are_a_mean 1%nat 9%nat) as [E HE].
  destruct (lemma1_run_exists 9%nat 2%nat 1%nat (1 / 20) E Size) as (W & V & Run).
  exists 9%nat, 2%nat, 1%nat, (1 / 20), (1 / 200), E, W, V. split; [exact (conj Size (conj HE Run))|].
  unfold scope_of_theorem1. simpl INR. repeat split; lra.
Qed.
