(** The mean of a component's square is the mean square of its even part plus 1 + 2 λ_k γ_k + Σ_j g_j γ_j². *)

Require Import Reals Lra Lia Arith.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
From PreconditionedDescent.formal.one_layer Require Import normal_mean token_moments component.
Open Scope R_scope.

(** The mean over w and the examples' tokens C g. *)
Definition examples_mean (d n : nat) (C : matrix) (f : matrix -> vector -> R) : R :=
  vector_mean d (fun w => table_mean d n (fun g => f (product d C g) w)).

(** g_j = λ_j ((n + 1) λ_j + Σ λ)/n. *)
Definition curvature (d n : nat) (lambda : vector) (j : nat) : R :=
  lambda j * ((INR n + 1) * lambda j + sum d lambda) / INR n.

Lemma n_pos n : (1 <= n)%nat -> 0 < INR n.
Proof. intro. apply lt_0_INR. lia. Qed.

Section Component.
Variables (d n : nat) (C U : matrix) (lambda : vector) (k0 : nat) (M : matrix).
Hypothesis Hn : (1 <= n)%nat.
Hypothesis H : covariance d C U lambda.
Hypothesis Hk : (k0 < d)%nat.
Let u : vector := column U k0.
Let c : vector := border d M.
Let gamma : vector := fun j => dot d c (column U j).
Let q : vector := fun l => dot d c (column C l).

Lemma odd_vector_pairs g k : odd_vector d n M u (product d C g) k = u k + pairs d n (C k) q g / INR n.
Proof.
  unfold odd_vector, pairs. do 2 f_equal. apply sum_ext. intros m _. f_equal.
  unfold q, dot, column, product. rewrite (sum_ext d _ (fun a => sum d (fun l => border d M a * C a l * g l m))).
  - rewrite sum_swap. apply sum_ext. intros l _. rewrite <- sum_scal_r. apply sum_ext. intros a _. reflexivity.
  - intros a _. rewrite <- sum_scal. apply sum_ext. intros l _. ring.
Qed.

(** ** The moments by the eigenvalues *)

Lemma row_times_q k : (k < d)%nat -> dot d (C k) q = turned d U (fun j => lambda j * gamma j) k.
Proof.
  intro Hk'. unfold dot at 1, q, turned, gamma.
  transitivity (sum d (fun a => c a * product d C (transpose C) k a)).
  - rewrite (sum_ext d _ (fun l => sum d (fun a => c a * (C k l * C a l)))).
    + rewrite sum_swap. apply sum_ext. intros a _. apply sum_scal.
    + intros l _. unfold dot, column. rewrite <- sum_scal. apply sum_ext. intros a _. ring.
  - destruct H as [_ [_ S]]. rewrite (sum_ext d _ (fun a => sum d (fun j => U k j * (lambda j * (c a * U a j))))).
    + rewrite sum_swap. apply sum_ext. intros j _. unfold dot, column. rewrite <- !sum_scal. reflexivity.
    + intros a Ha. rewrite (S k a Hk' Ha). unfold in_basis. rewrite <- sum_scal. apply sum_ext. intros j _. ring.
Qed.

Lemma squared_rows : sum d (fun k => dot d (C k) (C k)) = sum d lambda.
Proof.
  destruct H as [_ [_ S]].
  rewrite (sum_ext d _ (fun k => sum d (fun j => lambda j * (U k j * U k j)))).
  - rewrite sum_swap. apply sum_ext. intros j Hj. rewrite sum_scal.
    change (sum d (fun k => U k j * U k j)) with (dot d (column U j) (column U j)).
    rewrite (columns_orthonormal d C U lambda H), Nat.eqb_refl by exact Hj. ring.
  - intros k Hk'. change (dot d (C k) (C k)) with (product d C (transpose C) k k). rewrite (S k k Hk' Hk').
    apply sum_ext. intros j _. ring.
Qed.

Lemma squared_q : dot d q q = sum d (fun j => lambda j * gamma j ^ 2).
Proof.
  unfold dot at 1, q. rewrite (covariance_form d C U lambda H). apply sum_ext. intros j _. unfold gamma. ring.
Qed.

Lemma u_times_turned h : sum d (fun k => u k * turned d U h k) = h k0.
Proof.
  unfold turned. rewrite (sum_ext d _ (fun k => sum d (fun j => h j * (U k k0 * U k j)))).
  - rewrite sum_swap, (sum_single d _ k0 Hk).
    + rewrite sum_scal. change (sum d (fun k => U k k0 * U k k0)) with (dot d (column U k0) (column U k0)).
      rewrite (columns_orthonormal d C U lambda H), Nat.eqb_refl by exact Hk. ring.
    + intros j Hj N. rewrite sum_scal. change (sum d (fun k => U k k0 * U k j)) with (dot d (column U k0) (column U j)).
      rewrite (columns_orthonormal d C U lambda H) by assumption. rewrite (proj2 (Nat.eqb_neq k0 j)) by auto. ring.
  - intros k _. rewrite <- sum_scal. apply sum_ext. intros j _. unfold u, column. ring.
Qed.

(** ** The odd part *)

Lemma mean_of_odd_part : examples_mean d n C (fun x w => dot d w (odd_vector d n M u x) ^ 2) =
  1 + 2 * lambda k0 * gamma k0 + sum d (fun j => curvature d n lambda j * gamma j ^ 2).
Proof.
  pose proof (table_mean_average d n) as A. pose proof (vector_mean_average d) as V. pose proof (n_pos n Hn) as P.
  unfold examples_mean. rewrite <- (average_swap (table_mean d n) d
    (fun g w => dot d w (odd_vector d n M u (product d C g)) ^ 2) A).
  rewrite (average_ext A _ (fun g => sum d (fun k => odd_vector d n M u (product d C g) k ^ 2))).
  2: { intro g. set (v := odd_vector d n M u (product d C g)).
       rewrite (average_ext V _ (fun w => dot d v w * dot d v w)).
       - rewrite mean_of_two. apply sum_ext. intros. ring.
       - intro w. replace (dot d w v) with (dot d v w) by (apply sum_ext; intros; ring). ring. }
  rewrite (average_sum A d (fun k g => odd_vector d n M u (product d C g) k ^ 2)).
  set (h := turned d U (fun j => lambda j * gamma j)).
  transitivity (sum d (fun k => u k ^ 2 + 2 * (u k * h k)
    + (dot d q q / INR n * dot d (C k) (C k) + (INR n + 1) / INR n * (h k * h k)))).
  - apply sum_ext. intros k Hk'. unfold h. rewrite <- (row_times_q k Hk').
    rewrite (average_ext A _ (fun g => u k ^ 2 + 2 * u k / INR n * pairs d n (C k) q g
      + / INR n ^ 2 * pairs d n (C k) q g ^ 2)) by (intro g; rewrite odd_vector_pairs; field; lra).
    rewrite !(average_plus A), !(average_scal A), (average_const A), mean_of_pairs, mean_of_squared_pairs.
    field. lra.
  - unfold h. rewrite !sum_plus, !sum_scal, u_times_turned, squared_rows, squared_q, (turned_isometric d C U lambda H).
    rewrite (sum_ext d (fun k => u k ^ 2) (fun k => u k * u k)) by (intros; ring).
    change (sum d (fun k => u k * u k)) with (dot d (column U k0) (column U k0)).
    rewrite (columns_orthonormal d C U lambda H), Nat.eqb_refl by exact Hk.
    rewrite (sum_ext d (fun j => curvature d n lambda j * gamma j ^ 2) (fun j =>
      sum d lambda / INR n * (lambda j * gamma j ^ 2)
      + (INR n + 1) / INR n * (lambda j * gamma j * (lambda j * gamma j))))
      by (intros; unfold curvature; field; lra).
    rewrite sum_plus, !sum_scal. field. lra.
Qed.

Lemma examples_mean_average : average (fun f => examples_mean d n C (fun x w => f (x, w))).
Proof.
  pose proof (table_mean_average d n) as A. pose proof (vector_mean_average d) as V. unfold examples_mean. split.
  - intros f g E. apply (average_ext V). intro w. apply (average_ext A). intro X. apply E.
  - intros a f g. rewrite <- (average_combination V). apply (average_ext V). intro w. apply (average_combination A).
  - rewrite (average_ext V _ (fun _ => 1)) by (intro; apply (average_one A)). apply (average_one V).
  - intros f E. apply (average_nonneg V). intro w. apply (average_nonneg A). intro X. apply E.
Qed.

(** ** Both parts: they are uncorrelated, as one is even in w and the other is odd *)

Lemma mean_of_component : examples_mean d n C (fun x w => component_error d n M u x w ^ 2) =
  examples_mean d n C (fun x w => even_part d n M x w ^ 2)
  + (1 + 2 * lambda k0 * gamma k0 + sum d (fun j => curvature d n lambda j * gamma j ^ 2)).
Proof.
  pose proof examples_mean_average as E. rewrite <- mean_of_odd_part.
  set (even := fun p : matrix * vector => even_part d n M (fst p) (snd p)).
  set (odd := fun p : matrix * vector => dot d (snd p) (odd_vector d n M u (fst p))).
  assert (Minus : forall r, -1 * r = - r) by (intro; ring).
  assert (Mixed : examples_mean d n C (fun x w => even (x, w) * odd (x, w)) = 0).
  { apply vector_mean_odd. intro w. pose proof (table_mean_average d n) as A.
    transitivity (-1 * table_mean d n (fun g => even (product d C g, w) * odd (product d C g, w))); [|apply Minus].
    rewrite <- (average_scal A). apply (average_ext A). intro g. unfold even, odd. simpl. rewrite even_part_even.
    unfold dot. rewrite (sum_ext d (fun k => - w k * _) (fun k => -1 * (w k * odd_vector d n M u (product d C g) k)))
      by (intros; ring). rewrite sum_scal. ring. }
  transitivity (examples_mean d n C (fun x w => even (x, w) ^ 2 + 2 * (even (x, w) * odd (x, w)) + odd (x, w) ^ 2)).
  - apply (average_ext E (fun p => component_error d n M u (fst p) (snd p) ^ 2)
      (fun p => even p ^ 2 + 2 * (even p * odd p) + odd p ^ 2)).
    intros [x w]. unfold even, odd. simpl. rewrite parts. ring.
  - rewrite (average_plus E (fun p => even p ^ 2 + 2 * (even p * odd p)) (fun p => odd p ^ 2)).
    rewrite (average_plus E (fun p => even p ^ 2) (fun p => 2 * (even p * odd p))).
    rewrite (average_scal E 2 (fun p => even p * odd p)), Mixed. unfold even, odd. simpl. ring.
Qed.
End Component.
