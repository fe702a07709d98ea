(** Lemmas 2 and 3: in an eigenbasis a component's mean square is convex in M, and least at −a_j e_j e_{d+1}ᵀ. *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
From PreconditionedDescent.formal.one_layer Require Import normal_mean token_moments component component_mean
  prompt_table component_minimum.
Open Scope R_scope.

(** ** The error of a component is affine in M *)

Lemma component_error_mixed d n s M M' u x w : component_error d n (mixed s M M') u x w =
  s * component_error d n M u x w + (1 - s) * component_error d n M' u x w.
Proof.
  unfold component_error, product. set (G := gram n (prompt d n x (labels d x w) 0)).
  rewrite (sum_ext (S d) (fun i => sum (S d) (fun k => G i k * mixed s M M' k i))
    (fun i => s * sum (S d) (fun k => G i k * M k i) + (1 - s) * sum (S d) (fun k => G i k * M' k i))).
  - rewrite sum_plus, !sum_scal. ring.
  - intros i _. rewrite <- !sum_scal, <- sum_plus. apply sum_ext. intros k _. unfold mixed. ring.
Qed.

Lemma component_error_equal d n M M' u x w : (forall a b, M a b = M' a b) ->
  component_error d n M u x w = component_error d n M' u x w.
Proof.
  intro E. unfold component_error. f_equal. apply sum_ext. intros i _. apply sum_ext. intros k _.
  rewrite E. reflexivity.
Qed.

Section Component.
Variables (d n : nat) (N : (matrix -> R) -> R) (C : matrix) (lambda : vector) (j : nat).
Hypothesis HN : in_eigenbasis d n N C lambda.
Hypothesis Hj : (j < d)%nat.

Lemma loss_over_examples M : component_loss d n N C j M = examples_component d n C identity M j.
Proof. apply mean_over_examples. apply HN. Qed.

Lemma dot_identity c k : (k < d)%nat -> dot d c (column identity k) = c k.
Proof.
  intro Hk. unfold dot, column, identity. rewrite (sum_single d _ k Hk).
  - rewrite Nat.eqb_refl. ring.
  - intros i _ I. rewrite (proj2 (Nat.eqb_neq i k) I). ring.
Qed.

(** f_j = E even² + 1 + 2 λ_j c_j + Σ_k g_k c_k². *)
Definition even_loss (M : matrix) : R := examples_mean d n C (fun x w => even_part d n M x w ^ 2).
Definition odd_loss (c : vector) : R := 1 + 2 * lambda j * c j + sum d (fun k => curvature d n lambda k * c k ^ 2).

Lemma loss_by_parts M : component_loss d n N C j M = even_loss M + odd_loss (border d M).
Proof.
  destruct HN as [Hn [_ H]]. rewrite loss_over_examples. unfold examples_component.
  rewrite (mean_of_component d n C identity lambda j M Hn H Hj). unfold even_loss, odd_loss.
  rewrite dot_identity by exact Hj. f_equal. f_equal. apply sum_ext. intros k Hk. rewrite dot_identity by exact Hk.
  reflexivity.
Qed.

Lemma even_part_mixed s M M' x w :
  even_part d n (mixed s M M') x w = s * even_part d n M x w + (1 - s) * even_part d n M' x w.
Proof.
  unfold even_part. set (G := gram n (prompt d n x (labels d x w) 0)).
  rewrite (sum_ext d (fun a => sum d (fun b => G a b * mixed s M M' b a))
    (fun a => s * sum d (fun b => G a b * M b a) + (1 - s) * sum d (fun b => G a b * M' b a))).
  - rewrite sum_plus, !sum_scal. unfold mixed. ring.
  - intros i _. rewrite <- !sum_scal, <- sum_plus. apply sum_ext. intros k _. unfold mixed. ring.
Qed.

Lemma even_loss_convex s M M' : 0 <= s <= 1 -> even_loss (mixed s M M') <= s * even_loss M + (1 - s) * even_loss M'.
Proof.
  intro Hs. pose proof (examples_mean_average d n C) as E. unfold even_loss.
  set (f := fun p => even_part d n M (fst p) (snd p) ^ 2). set (f' := fun p => even_part d n M' (fst p) (snd p) ^ 2).
  apply Rle_trans with (examples_mean d n C (fun x w => s * f (x, w) + (1 - s) * f' (x, w))).
  - apply (average_le E (fun p => even_part d n (mixed s M M') (fst p) (snd p) ^ 2)
      (fun p => s * f p + (1 - s) * f' p)).
    intros [x w]. unfold f, f'. simpl fst. simpl snd. rewrite even_part_mixed.
    set (a := even_part d n M x w). set (b := even_part d n M' x w).
    assert (0 <= s * (1 - s) * (a - b) ^ 2) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply pow2_ge_0]). nra.
  - right. etransitivity; [exact (average_plus E (fun p => s * f p) (fun p => (1 - s) * f' p))|].
    f_equal; [exact (average_scal E s f)|exact (average_scal E (1 - s) f')].
Qed.

(** s f(c) + (1 − s) f(c') exceeds f(s c + (1 − s) c') by s (1 − s) Σ_k g_k (c_k − c'_k)². *)
Lemma odd_loss_mixed s M M' : odd_loss (border d (mixed s M M')) +
  s * (1 - s) * sum d (fun k => curvature d n lambda k * (border d M k - border d M' k) ^ 2) =
  s * odd_loss (border d M) + (1 - s) * odd_loss (border d M').
Proof.
  set (c := border d M). set (c' := border d M').
  assert (B : forall k, border d (mixed s M M') k = s * c k + (1 - s) * c' k)
    by (intro k; unfold c, c', border, mixed; ring).
  unfold odd_loss. rewrite B.
  rewrite (sum_ext d (fun k => curvature d n lambda k * border d (mixed s M M') k ^ 2)
    (fun k => s * (curvature d n lambda k * c k ^ 2) + (1 - s) * (curvature d n lambda k * c' k ^ 2)
      - s * (1 - s) * (curvature d n lambda k * (c k - c' k) ^ 2))) by (intros k _; rewrite B; ring).
  rewrite sum_minus, sum_plus, !sum_scal. ring.
Qed.

Lemma curvature_term_nonneg (c c' : vector) k : (k < d)%nat -> 0 <= curvature d n lambda k * (c k - c' k) ^ 2.
Proof.
  destruct HN as [Hn [_ H]]. intro Hk. apply Rmult_le_pos; [|apply pow2_ge_0].
  apply Rlt_le, (curvature_pos d n C identity lambda Hn H k Hk).
Qed.

Lemma loss_convex s M M' : 0 <= s <= 1 -> component_loss d n N C j (mixed s M M')
  + s * (1 - s) * sum d (fun k => curvature d n lambda k * (border d M k - border d M' k) ^ 2) <=
  s * component_loss d n N C j M + (1 - s) * component_loss d n N C j M'.
Proof.
  intro Hs. rewrite !loss_by_parts. pose proof (even_loss_convex s M M' Hs). pose proof (odd_loss_mixed s M M'). lra.
Qed.

(** ** The slopes *)

(** f_j along an entry is f_j + 2 (t − t_0) p + (t − t_0)² r. *)
Lemma loss_along_entry M a b : exists p r, 0 <= r /\ forall t, component_loss d n N C j (with_matrix_entry M a b t) =
  component_loss d n N C j M + 2 * (t - M a b) * p + (t - M a b) ^ 2 * r.
Proof.
  pose proof (examples_mean_average d n C) as E. set (M1 := with_matrix_entry M a b (M a b + 1)).
  set (h := fun p => component_error d n M (column identity j) (fst p) (snd p)).
  set (k := fun p => component_error d n M1 (column identity j) (fst p) (snd p) - h p).
  exists (examples_mean d n C (fun x w => h (x, w) * k (x, w))), (examples_mean d n C (fun x w => k (x, w) ^ 2)).
  split; [apply (average_nonneg E (fun p => k p ^ 2)); intro; apply pow2_ge_0|].
  intro t. set (s := t - M a b). rewrite !loss_over_examples. unfold examples_component.
  transitivity (examples_mean d n C (fun x w => h (x, w) ^ 2 + 2 * s * (h (x, w) * k (x, w)) + s ^ 2 * k (x, w) ^ 2)).
  - apply (average_ext E
      (fun p => component_error d n (with_matrix_entry M a b t) (column identity j) (fst p) (snd p) ^ 2)
      (fun p => h p ^ 2 + 2 * s * (h p * k p) + s ^ 2 * k p ^ 2)). intro p.
    rewrite (component_error_equal d n _ (mixed s M1 M)).
    + rewrite component_error_mixed. unfold k, h. ring.
    + intros i l. unfold mixed, M1, with_matrix_entry, s.
      destruct (Nat.eqb_spec i a) as [->|], (Nat.eqb_spec l b) as [->|]; simpl; ring.
  - etransitivity; [exact (average_plus E (fun p => h p ^ 2 + 2 * s * (h p * k p)) (fun p => s ^ 2 * k p ^ 2))|].
    f_equal; [|exact (average_scal E (s ^ 2) (fun p => k p ^ 2))].
    etransitivity; [exact (average_plus E (fun p => h p ^ 2) (fun p => 2 * s * (h p * k p)))|].
    f_equal. exact (average_scal E (2 * s) (fun p => h p * k p)).
Qed.

(** A quadratic function that is nowhere below its value at 0 has slope 0 there. *)
Lemma slope_at_least_point p r : 0 <= r -> (forall s, 0 <= 2 * s * p + s ^ 2 * r) -> p = 0.
Proof.
  intros Hr Q. assert (K : 0 < / (r + 1)) by (apply Rinv_0_lt_compat; lra).
  assert (I : / (r + 1) * (r + 1) = 1) by (apply Rinv_l; lra). set (k := / (r + 1)) in *. specialize (Q (- p * k)).
  assert (E : 2 * (- p * k) * p + (- p * k) ^ 2 * r = - (k * (1 + k)) * (p * p)).
  { replace ((- p * k) ^ 2 * r) with (k * p * p * (k * (r + 1) - k)) by ring. rewrite I. ring. }
  rewrite E in Q. assert (0 < k * (1 + k)) by (apply Rmult_lt_0_compat; lra). nra.
Qed.

Lemma best_is_least M : component_loss d n N C j (best_matrix d n lambda j) <= component_loss d n N C j M.
Proof.
  destruct HN as [Hn [_ H]]. rewrite !loss_over_examples, (component_least d n C identity lambda Hn H).
  - apply (component_at_least d n C identity lambda Hn H M j Hj).
  - exact Hj.
  - intros a b Ha Hb. unfold best_matrix. rewrite (proj2 (Nat.eqb_neq a d)), Bool.andb_false_r by lia. reflexivity.
  - unfold best_matrix. rewrite (proj2 (Nat.eqb_neq d j)) by lia. reflexivity.
  - intros a Ha. unfold border, best_matrix, identity. rewrite Nat.eqb_refl, (proj2 (Nat.eqb_neq d j)) by lia.
    destruct (a =? j); simpl; ring.
Qed.
End Component.

Theorem component_minimum : lemma2_minimiser.
Proof. intros d n N C lambda j M HN Hj. apply best_is_least; assumption. Qed.

Theorem component_slopes : lemma2_slopes.
Proof.
  intros d n N C lambda j a b HN Hj best.
  destruct (loss_along_entry d n N C lambda j HN best a b) as [p [r [Hr E]]].
  assert (Z : p = 0).
  { apply (slope_at_least_point p r Hr). intro s.
    pose proof (best_is_least d n N C lambda j HN Hj (with_matrix_entry best a b (best a b + s))) as L.
    fold best in L. rewrite E in L. replace (best a b + s - best a b) with s in L by ring. lra. }
  apply (is_derive_ext _ _ _ _ (fun t => eq_sym (E t))). rewrite Z. auto_derive; [exact I|ring].
Qed.

Theorem component_convex : lemma3_convex.
Proof.
  intros d n N C lambda j s M M' HN Hj Hs. pose proof (loss_convex d n N C lambda j HN Hj s M M' Hs) as L.
  assert (0 <= sum d (fun k => curvature d n lambda k * (border d M k - border d M' k) ^ 2))
    by (apply sum_nonneg; intros; apply (curvature_term_nonneg d n N C lambda HN); assumption).
  assert (0 <= s * (1 - s)) by (apply Rmult_le_pos; lra). nra.
Qed.

Theorem component_strictly_convex : lemma3_strictly.
Proof.
  intros d n N C lambda j s M M' a HN Hj Hs Ha Differ.
  pose proof (loss_convex d n N C lambda j HN Hj s M M' ltac:(lra)) as L.
  pose proof (term_le_sum d (fun k => curvature d n lambda k * (border d M k - border d M' k) ^ 2) a
    (fun k Hk => curvature_term_nonneg d n N C lambda HN _ _ k Hk) Ha) as T. cbv beta in T.
  destruct HN as [Hn [_ H]]. pose proof (curvature_pos d n C identity lambda Hn H a Ha).
  assert (0 < (border d M a - border d M' a) ^ 2) by (apply pow2_gt_0; lra).
  assert (0 < curvature d n lambda a * (border d M a - border d M' a) ^ 2) by (apply Rmult_lt_0_compat; assumption).
  assert (0 < s * (1 - s)) by (apply Rmult_lt_0_compat; lra). nra.
Qed.
