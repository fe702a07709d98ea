(** Gradient and Hessian of softmax regression in closed form.

    Along a line z + tD of logits the loss has the slope Σ_i D_i p_i (p_i − b_i − g), g = Σ_k p_k (p_k − b_k). The line
    of one logit gives the gradient, the line of a column of A the gradient in x. *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From SoftmaxRegression Require Import definitions.
From SoftmaxRegression.formal Require Import claims sums half_slope.
Open Scope R_scope.

(** The unit vector e_i. *)
Definition unit_vector (i : nat) : vector := fun j => if j =? i then 1 else 0.

Lemma sum_unit n i f : (i < n)%nat -> sum n (fun j => unit_vector i j * f j) = f i.
Proof.
  induction n as [|n IH]; intro H; [lia|]. simpl. unfold unit_vector in *. destruct (Nat.eq_dec n i) as [->|N].
  - rewrite Nat.eqb_refl, sum_zero; [ring|]. intros j Hj. rewrite (proj2 (Nat.eqb_neq j i)) by lia. ring.
  - rewrite IH, (proj2 (Nat.eqb_neq n i)) by lia. ring.
Qed.

Lemma mean_unit n p i : (i < n)%nat -> mean n p (unit_vector i) = p i.
Proof.
  intro H. rewrite <- (sum_unit n i p H). apply sum_ext. intros. ring.
Qed.

(** Changing one entry is moving on a line. *)
Lemma with_entry_on_line v i t j : on_line (with_entry v i 0) (unit_vector i) t j = with_entry v i t j.
Proof. unfold on_line, with_entry, unit_vector. destruct (j =? i); ring. Qed.

Lemma with_entry_same v i j : with_entry v i (v i) j = v j.
Proof. unfold with_entry. destruct (Nat.eqb_spec j i) as [->|]; reflexivity. Qed.

(** ** Slopes along a line *)

Lemma loss_is_sum n p b : loss n p b = / 2 * sum n (fun i => (p i - b i) ^ 2).
Proof. unfold loss. rewrite norm_squared. reflexivity. Qed.

Lemma is_derive_loss n z D b t : (1 <= n)%nat ->
  is_derive (fun t => loss n (softmax n (on_line z D t)) b) t
    (sum n (fun i => D i * gradient_entry n b (on_line z D t) i)).
Proof.
  intro H. set (p := softmax n (on_line z D t)).
  apply (is_derive_ext (fun t => / 2 * sum n (fun i => (softmax n (on_line z D t) i - b i) ^ 2))).
  { intro s. symmetry. apply loss_is_sum. }
  replace (sum n _) with (/ 2 * sum n (fun i => 2 * (p i * (D i - mean n p D)) * (p i - b i))).
  - apply (is_derive_scal (fun t => sum n (fun i => (softmax n (on_line z D t) i - b i) ^ 2)) t (/ 2)).
    apply is_derive_sum. intros i _. pose proof (is_derive_softmax n z D i t H) as Q. cbv zeta in Q. fold p in Q.
    pose proof (is_derive_minus _ _ t _ _ Q (is_derive_const (b i) t)) as M.
    pose proof (is_derive_pow _ 2 t _ M) as P. cbv beta in P.
    match goal with |- is_derive _ _ ?l => match type of P with is_derive _ _ ?l' =>
      replace l with l'; [exact P|] end end.
    unfold Hierarchy.minus, plus, opp, zero; simpl. fold p. ring.
  - unfold gradient_entry, mean_residual. fold p. cbv zeta. set (g := sum n (fun k => p k * (p k - b k))).
    rewrite <- sum_scal.
    rewrite (sum_ext n _ (fun i => D i * (p i * (p i - b i)) - mean n p D * (p i * (p i - b i)))) by (intros; field).
    rewrite (sum_ext n (fun i => D i * (p i * (p i - b i - g)))
      (fun i => D i * (p i * (p i - b i)) - g * (p i * D i))) by (intros; ring).
    rewrite !sum_minus, !sum_scal. fold g. unfold mean. ring.
Qed.

Lemma gradient_entry_ext n b y z i : (forall j, y j = z j) -> gradient_entry n b y i = gradient_entry n b z i.
Proof.
  intro E. unfold gradient_entry, mean_residual. cbv zeta. rewrite (softmax_ext n y z i E). do 2 f_equal.
  apply sum_ext. intros k _. rewrite (softmax_ext n y z k E). reflexivity.
Qed.

Lemma loss_ext n b p p' : (forall i, (i < n)%nat -> p i = p' i) -> loss n p b = loss n p' b.
Proof. intro E. rewrite !loss_is_sum. f_equal. apply sum_ext. intros i Hi. rewrite E by exact Hi. reflexivity. Qed.

(** ** The gradient *)

Theorem gradient_holds : claims.gradient.
Proof.
  intros n b z i Hi. unfold slope, loss_of_logits.
  apply (is_derive_ext (fun t => loss n (softmax n (on_line (with_entry z i 0) (unit_vector i) t)) b)).
  { intro t. apply loss_ext. intros k _. apply softmax_ext, with_entry_on_line. }
  pose proof (is_derive_loss n (with_entry z i 0) (unit_vector i) b (z i) ltac:(lia)) as Q.
  rewrite sum_unit in Q by exact Hi. rewrite (gradient_entry_ext n b _ z) in Q; [exact Q|].
  intro j. rewrite with_entry_on_line. apply with_entry_same.
Qed.

Theorem gradient_in_x_holds : claims.gradient_in_x.
Proof.
  intros n d A b x k Hn Hk. unfold slope, loss_at, prediction.
  set (z := applied d A (with_entry x k 0)). set (D := fun i => A i k).
  assert (L : forall t j, on_line z D t j = applied d A (with_entry x k t) j).
  { intros t j. unfold on_line, z, D, applied. rewrite <- (sum_unit d k (A j) Hk), <- sum_scal, <- sum_plus.
    apply sum_ext. intros c _. rewrite <- (with_entry_on_line x k t c). unfold on_line. ring. }
  apply (is_derive_ext (fun t => loss n (softmax n (on_line z D t)) b)).
  { intro t. apply loss_ext. intros i _. apply softmax_ext, L. }
  pose proof (is_derive_loss n z D b (x k) Hn) as Q.
  rewrite (sum_ext n _ (fun i => A i k * gradient_entry n b (applied d A x) i)) in Q; [exact Q|].
  intros i _. unfold D at 1. f_equal. apply gradient_entry_ext. intro j. rewrite L. apply sum_ext. intros c _.
  rewrite with_entry_same. reflexivity.
Qed.

(** ** The Hessian *)

(** ∂p_k/∂z_j = p_k ([k = j] − p_j). *)
Lemma is_derive_entry n z k j : (j < n)%nat ->
  slope (fun z => softmax n z k) z j (let p := softmax n z in p k * (unit_vector j k - p j)).
Proof.
  intro Hj. unfold slope. cbv zeta.
  apply (is_derive_ext (fun t => softmax n (on_line (with_entry z j 0) (unit_vector j) t) k)).
  { intro t. apply softmax_ext, with_entry_on_line. }
  pose proof (is_derive_softmax n (with_entry z j 0) (unit_vector j) k (z j) ltac:(lia)) as Q. cbv zeta in Q.
  rewrite mean_unit in Q by exact Hj.
  assert (E : forall i, softmax n (on_line (with_entry z j 0) (unit_vector j) (z j)) i = softmax n z i).
  { intro i. apply softmax_ext. intro l. rewrite with_entry_on_line. apply with_entry_same. }
  rewrite !E in Q. exact Q.
Qed.

(** The slope of the gradient's entry i in z_j. *)
Lemma hessian_slope n b z i j : (j < n)%nat ->
  let p := softmax n z in let g := mean_residual n b z in let r := sum_of_squares n z in
  slope (fun z => gradient_entry n b z i) z j
    (p i * (unit_vector j i - p j) * (p i - b i - g)
     + p i * (p i * (unit_vector j i - p j) - (p j * (2 * p j - b j) - p j * (g + r)))).
Proof.
  intros Hj p g r. unfold slope, gradient_entry. cbv zeta.
  assert (E : forall k, softmax n (with_entry z j (z j)) k = p k) by (intro; apply softmax_ext, with_entry_same).
  assert (P : forall k, is_derive (fun t => softmax n (with_entry z j t) k) (z j) (p k * (unit_vector j k - p j)))
    by (intro; apply is_derive_entry, Hj).
  assert (G : is_derive (fun t => mean_residual n b (with_entry z j t)) (z j)
    (p j * (2 * p j - b j) - p j * (g + r))).
  { unfold mean_residual. cbv zeta.
    replace (_ - _) with (sum n (fun k => p k * (unit_vector j k - p j) * (2 * p k - b k))).
    - apply is_derive_sum. intros k _. specialize (P k).
      pose proof (is_derive_mult _ _ (z j) _ _ P (is_derive_minus _ _ (z j) _ _ P (is_derive_const (b k) (z j)))
        ltac:(intros; apply Rmult_comm)) as M. cbv beta in M.
      match goal with |- is_derive _ _ ?l => match type of M with is_derive _ _ ?l' =>
        replace l with l'; [exact M|] end end.
      unfold Hierarchy.minus, plus, opp, mult, zero; simpl. rewrite E. ring.
    - unfold g, r, mean_residual, sum_of_squares. fold p. cbv zeta. rewrite <- sum_plus, <- sum_scal.
      rewrite <- (sum_unit n j (fun k => p k * (2 * p k - b k)) Hj), <- sum_minus.
      apply sum_ext. intros. ring. }
  pose proof (is_derive_mult _ _ (z j) _ _ (P i) (is_derive_minus _ _ (z j) _ _
    (is_derive_minus _ _ (z j) _ _ (P i) (is_derive_const (b i) (z j))) G) ltac:(intros; apply Rmult_comm)) as M.
  cbv beta in M.
  match goal with |- is_derive _ _ ?l => match type of M with is_derive _ _ ?l' =>
    replace l with l'; [exact M|] end end.
  assert (EG : mean_residual n b (with_entry z j (z j)) = g).
  { unfold g, mean_residual. cbv zeta. apply sum_ext. intros. rewrite E. reflexivity. }
  unfold Hierarchy.minus, plus, opp, mult, zero; simpl. rewrite EG, !E. ring.
Qed.

(** A function that is the gradient's entry equals the closed form. *)
Lemma slope_of_gradient n b z i j h g : (i < n)%nat -> (forall z, slope (loss_of_logits n b) z i (h z)) ->
  slope (fun z => gradient_entry n b z i) z j g -> slope h z j g.
Proof.
  intros Hi H. apply is_derive_ext. intro t. specialize (H (with_entry z j t)). unfold slope in H.
  pose proof (gradient_holds n b (with_entry z j t) i Hi) as G. unfold slope in G.
  apply is_derive_unique in H, G. rewrite <- G. exact H.
Qed.

Theorem hessian_diagonal_holds : claims.hessian_diagonal.
Proof.
  intros n b z i h Hi H. apply (slope_of_gradient n b z i i h _ Hi H).
  pose proof (hessian_slope n b z i i Hi) as Q. cbv zeta in Q. unfold unit_vector in Q. rewrite Nat.eqb_refl in Q.
  unfold hessian_diagonal_entry. cbv zeta. match goal with |- slope _ _ _ ?l => match type of Q with slope _ _ _ ?l' =>
    replace l with l' by ring end end. exact Q.
Qed.

Theorem hessian_off_diagonal_holds : claims.hessian_off_diagonal.
Proof.
  intros n b z i j h Hi Hj N H. apply (slope_of_gradient n b z i j h _ Hi H).
  pose proof (hessian_slope n b z i j Hj) as Q. cbv zeta in Q. unfold unit_vector in Q.
  rewrite (proj2 (Nat.eqb_neq i j) N) in Q.
  unfold hessian_entry. cbv zeta. match goal with |- slope _ _ _ ?l => match type of Q with slope _ _ _ ?l' =>
    replace l with l' by ring end end. exact Q.
Qed.
