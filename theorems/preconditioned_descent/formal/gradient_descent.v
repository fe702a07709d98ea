(** Lemma 1: layers of pattern (8) are gradient descent on R, preconditioned by the transposes of the A_l. *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
Open Scope R_scope.

(** ** The gradient of R: (1/n) Σ_i ⟨v − w, x_i⟩ x_i *)

Definition examples_gradient (d n : nat) (x : matrix) (w v : vector) (k : nat) : R :=
  sum n (fun i => sum d (fun m => (v m - w m) * x m i) * x k i) / INR n.

(** One entry of v changed: ⟨v − w, x_i⟩ changes by the difference times the token's entry. *)
Lemma residual_with_entry d (x : matrix) w v k t i : (k < d)%nat ->
  sum d (fun m => (with_entry v k t m - w m) * x m i) = sum d (fun m => (v m - w m) * x m i) + (t - v k) * x k i.
Proof.
  intro Hk. replace ((t - v k) * x k i) with
    (sum d (fun m => (with_entry v k t m - w m) * x m i - (v m - w m) * x m i)); [rewrite sum_minus; ring|].
  rewrite (sum_single _ _ k Hk); unfold with_entry.
  - rewrite Nat.eqb_refl. ring.
  - intros m _ N. rewrite (proj2 (Nat.eqb_neq m k) N). ring.
Qed.

Lemma slope_of_examples_loss d n x w v k : (1 <= n)%nat -> (k < d)%nat ->
  slope (examples_loss d n x w) v k (examples_gradient d n x w v k).
Proof.
  intros Hn Hk. assert (0 < INR n) by (apply lt_0_INR; lia).
  set (r := fun i => sum d (fun m => (v m - w m) * x m i)).
  assert (E : forall t, / (2 * INR n) * sum n (fun i => (r i + (t - v k) * x k i) ^ 2)
    = examples_loss d n x w (with_entry v k t)).
  { intro t. unfold examples_loss, Rdiv. rewrite Rmult_comm. f_equal. apply sum_ext. intros i _.
    rewrite residual_with_entry by exact Hk. reflexivity. }
  apply (is_derive_ext _ _ _ _ E). replace (examples_gradient d n x w v k)
    with (/ (2 * INR n) * sum n (fun i => 2 * (r i * x k i)))
    by (rewrite sum_scal; unfold examples_gradient, r; field; lra).
  apply (is_derive_scal (fun t => sum n (fun i => (r i + (t - v k) * x k i) ^ 2))).
  apply (is_derive_sum n (fun i t => (r i + (t - v k) * x k i) ^ 2)). intros i _. auto_derive; [exact I|ring].
Qed.

(** The entries of the next iterate. *)
Lemma step_entry d n x w B v v' k : (1 <= n)%nat -> descent_step d (examples_loss d n x w) B v v' -> (k < d)%nat ->
  v' k = v k - sum d (fun m => B k m * examples_gradient d n x w v m).
Proof.
  intros Hn [g [Hg E]] Hk. rewrite (E k Hk). f_equal. apply sum_ext. intros m Hm. f_equal.
  pose proof (is_derive_unique _ _ _ (Hg m Hm)) as U.
  rewrite (is_derive_unique _ _ _ (slope_of_examples_loss d n x w v m Hn Hm)) in U. symmetry. exact U.
Qed.

Theorem step_exists : lemma1_step_exists.
Proof.
  intros d n x w B v Hn. exists (fun k => v k - sum d (fun m => B k m * examples_gradient d n x w v m)).
  exists (examples_gradient d n x w v). split; [|reflexivity]. intros k Hk. apply slope_of_examples_loss; assumption.
Qed.

Theorem descent_exists : lemma1_descent_exists.
Proof.
  intros d n x w L B Hn.
  exists (fix v l := match l with
    | O => fun _ => 0
    | S l => fun k => v l k - sum d (fun m => B l k m * examples_gradient d n x w (v l) m)
    end).
  split; [reflexivity|]. intros l _. eexists. split; [|reflexivity].
  intros k Hk. apply slope_of_examples_loss; assumption.
Qed.

(** ** A layer takes the labels at v to those at the next iterate *)

(** ⟨Aᵀ g, x_j⟩ for g = (1/n) Σ_i r_i x_i is (1/n) Σ_i r_i x_iᵀ A x_j. *)
Lemma preconditioned d n (x A : matrix) (r : vector) j :
  sum d (fun k => sum d (fun m => A m k * (sum n (fun i => r i * x m i) / INR n)) * x k j) =
  sum n (fun i => r i * form d A x i j) / INR n.
Proof.
  set (seen_by := fun m => sum d (fun k => A m k * x k j)).
  transitivity (sum d (fun m => sum n (fun i => r i * x m i) / INR n * seen_by m)).
  - rewrite (sum_ext d _ (fun k => sum d (fun m => sum n (fun i => r i * x m i) / INR n * (A m k * x k j)))).
    + rewrite sum_swap. apply sum_ext. intros m _. rewrite sum_scal. reflexivity.
    + intros k _. rewrite <- sum_scal_r. apply sum_ext. intros m _. ring.
  - unfold Rdiv. rewrite <- sum_scal_r.
    rewrite (sum_ext n _ (fun i => sum d (fun m => r i * x m i * (/ INR n * seen_by m)))).
    + rewrite sum_swap. apply sum_ext. intros m _. rewrite sum_scal_r. ring.
    + intros i _. unfold form. rewrite <- sum_scal, <- sum_scal_r. apply sum_ext. intros m _.
      unfold seen_by. ring.
Qed.

(** The next iterate's product with a token. *)
Lemma next_label d n x w A v v' j : (1 <= n)%nat -> descent_step d (examples_loss d n x w) (transpose A) v v' ->
  sum d (fun k => v' k * x k j) = sum d (fun k => v k * x k j)
  - sum n (fun i => sum d (fun m => (v m - w m) * x m i) * form d A x i j) / INR n.
Proof.
  intros Hn D. rewrite <- (preconditioned d n x A (fun i => sum d (fun m => (v m - w m) * x m i))).
  rewrite <- sum_minus. apply sum_ext. intros k Hk. rewrite (step_entry d n x w _ v v' k Hn D Hk).
  unfold transpose, examples_gradient. ring.
Qed.

Theorem one_layer : lemma1_one_layer.
Proof.
  intros d n A x w v v' Z Hn [Tokens [Examples Query]] D.
  assert (Step : forall j, (j <= n)%nat -> sum n (fun m => Z d m * form d A Z m j)
    = -1 * sum n (fun i => sum d (fun m => (v m - w m) * x m i) * form d A x i j)).
  { intros j Hj. rewrite <- sum_scal. apply sum_ext. intros m Hm.
    rewrite (form_ext d A Z x m j), Examples by (lia || (intros; apply Tokens; lia)).
    rewrite (sum_ext d _ (fun k => -1 * ((v k - w k) * x k m))), sum_scal by (intros; ring). ring. }
  split; [|split; [intros j Hj|]].
  - intros i j Hi Hj. rewrite pattern_token by exact Hi. apply Tokens; assumption.
  - rewrite pattern_label, Step, Examples by lia.
    assert (Split : forall u : vector, sum d (fun k => (w k - u k) * x k j)
      = sum d (fun k => w k * x k j) - sum d (fun k => u k * x k j)).
    { intro u. rewrite <- sum_minus. apply sum_ext. intros k _. ring. }
    rewrite !Split, (next_label d n x w A v v' j Hn D). unfold Rdiv. ring.
  - rewrite pattern_label, Step, Query, (next_label d n x w A v v' n Hn D) by lia. unfold Rdiv. ring.
Qed.

(** From v_0 = 0, by induction over the layers. *)
Theorem every_layer : lemma1_every_layer.
Proof.
  intros d n L A x w v Hn [Zero D]. induction L as [|L IH].
  - unfold pattern_forward. simpl. split; [intros; apply prompt_token; assumption|split; [intros j Hj|]].
    + rewrite prompt_label by exact Hj. apply sum_ext. intros k Hk. rewrite Zero by exact Hk. ring.
    + rewrite prompt_query, sum_zero; [ring|]. intros k Hk. rewrite Zero by exact Hk. ring.
  - apply (one_layer d n (A L) x w (v L)); auto with arith.
Qed.

(** ** As printed: A in the place of its transpose, for symmetric A *)

Lemma step_by_transpose d n x w A v v' : symmetric d A -> descent_step d (examples_loss d n x w) A v v' ->
  descent_step d (examples_loss d n x w) (transpose A) v v'.
Proof.
  intros HA [g [Hg E]]. exists g. split; [exact Hg|]. intros k Hk. rewrite (E k Hk). f_equal.
  apply sum_ext. intros m Hm. unfold transpose. rewrite (HA k m Hk Hm). reflexivity.
Qed.

Theorem one_layer_as_printed : lemma1_one_layer_as_printed.
Proof.
  intros d n A x w v v' Z Hn HA HZ D. apply (one_layer d n A x w v); auto using step_by_transpose.
Qed.

Theorem every_layer_as_printed : lemma1_as_printed.
Proof.
  intros d n L A x w v Hn HA [Zero D]. apply every_layer; [exact Hn|]. split; [exact Zero|].
  intros l Hl. apply step_by_transpose; auto.
Qed.

(** ** A = e_1 e_2ᵀ, which is not symmetric: x_1 = w = e_1, x_2 = e_2, n = 1. The label is −1, and ⟨v_1, x_2⟩ = 0 *)

Theorem transpose_is_needed : lemma1_any_matrix.
Proof.
  set (A := fun i j => if andb (i =? 0) (j =? 1) then 1 else 0 : R).
  set (x := fun i j => if i =? j then 1 else 0 : R). set (w := fun i => if i =? 0 then 1 else 0 : R).
  destruct (descent_exists 2%nat 1%nat x w 1%nat (fun _ => A) ltac:(lia)) as [v D].
  exists 2%nat, 1%nat, A, x, w, v. split; [lia|]. split; [exact D|].
  rewrite pattern_forward_label. cbn [sum].
  rewrite !(step_entry 2%nat 1%nat x w _ (v 0%nat) _ _ ltac:(lia) (proj2 D 0%nat ltac:(lia))) by lia.
  destruct D as [Z _]. unfold examples_gradient. cbn [sum]. rewrite !Z by lia.
  unfold pattern_forward, form, prompt, labels, A, x, w. simpl. lra.
Qed.
