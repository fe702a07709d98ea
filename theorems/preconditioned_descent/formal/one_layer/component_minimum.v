(** The least mean square of a component is 1 − λ_k a_k, reached at M = −a_k U_k e_{d+1}ᵀ and at other M. *)

Require Import Reals Lra Lia Arith.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
From PreconditionedDescent.formal.one_layer Require Import normal_mean token_moments component component_mean.
Open Scope R_scope.

Section Least.
Variables (d n : nat) (C U : matrix) (lambda : vector).
Hypothesis Hn : (1 <= n)%nat.
Hypothesis H : covariance d C U lambda.

Lemma best_step_pos k : (k < d)%nat -> 0 < best_step d n lambda k.
Proof.
  intro Hk. destruct H as [_ [P _]]. apply Rinv_0_lt_compat. pose proof (n_pos n Hn) as N. pose proof (P k Hk).
  assert (0 <= sum d lambda) by (apply sum_nonneg; intros i Hi; specialize (P i Hi); lra).
  assert (0 < (INR n + 1) / INR n) by (apply Rdiv_lt_0_compat; lra).
  assert (0 <= sum d lambda / INR n) by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat, N]).
  assert (0 < (INR n + 1) / INR n * lambda k) by (apply Rmult_lt_0_compat; assumption). lra.
Qed.

Lemma curvature_step k : (k < d)%nat -> curvature d n lambda k = lambda k / best_step d n lambda k.
Proof.
  intro Hk. unfold curvature, best_step, Rdiv at 2. rewrite Rinv_inv. field. pose proof (n_pos n Hn). lra.
Qed.

Lemma curvature_pos k : (k < d)%nat -> 0 < curvature d n lambda k.
Proof.
  intro Hk. rewrite curvature_step by exact Hk. destruct H as [_ [P _]].
  apply Rdiv_lt_0_compat; [apply P, Hk|apply best_step_pos, Hk].
Qed.

(** g_k γ² + 2 λ_k γ + λ_k a_k = g_k (γ + a_k)². *)
Lemma completed_square k t : (k < d)%nat ->
  1 + 2 * lambda k * t + curvature d n lambda k * t ^ 2 =
  1 - lambda k * best_step d n lambda k + curvature d n lambda k * (t + best_step d n lambda k) ^ 2.
Proof. intro Hk. rewrite curvature_step by exact Hk. pose proof (best_step_pos k Hk). field. lra. Qed.

Definition examples_component (M : matrix) (k : nat) : R :=
  examples_mean d n C (fun x w => component_error d n M (column U k) x w ^ 2).

Lemma component_at_least M k : (k < d)%nat -> 1 - lambda k * best_step d n lambda k <= examples_component M k.
Proof.
  intro Hk. unfold examples_component. rewrite (mean_of_component d n C U lambda k M Hn H Hk).
  set (t := fun j => dot d (border d M) (column U j)).
  change (fun j => curvature d n lambda j * dot d (border d M) (column U j) ^ 2)
    with (fun j => curvature d n lambda j * t j ^ 2).
  change (dot d (border d M) (column U k)) with (t k).
  assert (P : forall j, (j < d)%nat -> 0 <= curvature d n lambda j * t j ^ 2).
  { intros j Hj. apply Rmult_le_pos; [apply Rlt_le, curvature_pos, Hj|apply pow2_ge_0]. }
  pose proof (term_le_sum d _ k P Hk) as T. cbv beta in T. pose proof (completed_square k (t k) Hk) as S.
  assert (0 <= curvature d n lambda k * (t k + best_step d n lambda k) ^ 2)
    by (apply Rmult_le_pos; [apply Rlt_le, curvature_pos, Hk|apply pow2_ge_0]).
  assert (0 <= examples_mean d n C (fun x w => even_part d n M x w ^ 2)).
  { apply (average_nonneg (examples_mean_average d n C) (fun p => even_part d n M (fst p) (snd p) ^ 2)).
    intro. apply pow2_ge_0. }
  lra.
Qed.

(** It is least where the even part vanishes and M's border is −a_k U_k. *)
Lemma component_least M k : (k < d)%nat -> (forall a b, (a < d)%nat -> (b < d)%nat -> M b a = 0) -> M d d = 0 ->
  (forall a, (a < d)%nat -> border d M a = - best_step d n lambda k * U a k) ->
  examples_component M k = 1 - lambda k * best_step d n lambda k.
Proof.
  intros Hk Inner Corner Border. unfold examples_component. rewrite (mean_of_component d n C U lambda k M Hn H Hk).
  assert (Even : examples_mean d n C (fun x w => even_part d n M x w ^ 2) = 0).
  { pose proof (examples_mean_average d n C) as E. transitivity (examples_mean d n C (fun _ _ => 0)).
    - apply (average_ext E (fun p => even_part d n M (fst p) (snd p) ^ 2) (fun _ => 0)). intros [x w].
      unfold even_part. simpl. rewrite Corner, sum_zero; [ring|]. intros a Ha. apply sum_zero.
      intros b Hb. rewrite Inner by assumption. ring.
    - exact (average_const E 0). }
  rewrite Even.
  assert (G : forall j, (j < d)%nat -> dot d (border d M) (column U j) =
    if k =? j then - best_step d n lambda k else 0).
  { intros j Hj. unfold dot. rewrite (sum_ext d _ (fun a => - best_step d n lambda k * (U a k * U a j))).
    - rewrite sum_scal. change (sum d (fun a => U a k * U a j)) with (dot d (column U k) (column U j)).
      rewrite (columns_orthonormal d C U lambda H) by assumption. destruct (k =? j); ring.
    - intros a Ha. rewrite Border by exact Ha. unfold column. ring. }
  rewrite (sum_single d _ k Hk); rewrite ?G, ?Nat.eqb_refl by exact Hk.
  - pose proof (completed_square k (- best_step d n lambda k) Hk) as S.
    replace (- best_step d n lambda k + best_step d n lambda k) with 0 in S by ring. lra.
  - intros j Hj N. rewrite G, (proj2 (Nat.eqb_neq k j)) by auto. ring.
Qed.
End Least.
