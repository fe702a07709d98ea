(** Softmax moves by at most half of what its logits move.

    Let p be a softmax, and Cov, Var those of vectors under p. The slope of Σ w_i softmax_i along D is Cov(w, D), which
    is at most Var(w) + Var(D)/4, as Var(w − D/2) ≥ 0; and Var(v) ≤ ½‖v‖². With w the move of the prediction and D that
    of the logits the mean value theorem says that ‖w‖² ≤ ½‖w‖² + ⅛‖D‖². *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From SoftmaxRegression Require Import definitions.
From SoftmaxRegression.formal Require Import sums.
Open Scope R_scope.

(** ** Softmax *)

Lemma total_pos n z : (1 <= n)%nat -> 0 < sum n (fun j => exp (z j)).
Proof. intro H. apply sum_pos; [exact H|]. intros. apply exp_pos. Qed.

Lemma softmax_pos n z i : (1 <= n)%nat -> 0 < softmax n z i.
Proof. intro H. apply Rdiv_lt_0_compat; [apply exp_pos|apply total_pos, H]. Qed.

Lemma softmax_total n z : (1 <= n)%nat -> sum n (softmax n z) = 1.
Proof.
  intro H. pose proof (total_pos n z H). unfold softmax.
  rewrite (sum_ext n _ (fun i => / sum n (fun j => exp (z j)) * exp (z i))) by (intros; unfold Rdiv; ring).
  rewrite sum_scal. field. lra.
Qed.

Lemma softmax_ext n y z i : (forall j, y j = z j) -> softmax n y i = softmax n z i.
Proof.
  intro E. unfold softmax. rewrite E, (sum_ext n _ (fun j => exp (z j))) by (intros; rewrite E; reflexivity).
  reflexivity.
Qed.

(** ** Mean and covariance under weights p *)

Definition mean (n : nat) (p v : vector) : R := sum n (fun i => p i * v i).
Definition covariance (n : nat) (p u v : vector) : R := mean n p (fun i => u i * v i) - mean n p u * mean n p v.

(** A sum of squares under weights is not negative. *)
Lemma mean_square_nonneg n p v c : (forall i, 0 < p i) ->
  0 <= sum n p * c ^ 2 + 2 * c * mean n p v + mean n p (fun i => v i ^ 2).
Proof.
  intro P. replace (_ + _ + _) with (sum n (fun i => p i * (c + v i) ^ 2)).
  - apply sum_nonneg. intros i _. apply Rmult_le_pos; [apply Rlt_le, P|apply pow2_ge_0].
  - unfold mean. rewrite (sum_ext n _ (fun i => c ^ 2 * p i + (2 * c * (p i * v i) + p i * v i ^ 2))) by (intros; ring).
    rewrite !sum_plus, !sum_scal. ring.
Qed.

(** The part i ≠ j of Σ_ij p_i p_j (v_i + v_j)² is not negative. *)
Lemma off_diagonal_nonneg n p v : (forall i, 0 < p i) ->
  2 * sum n (fun i => p i ^ 2 * v i ^ 2) <= sum n p * mean n p (fun i => v i ^ 2) + mean n p v ^ 2.
Proof.
  intro P. induction n as [|n IH]; [unfold mean; simpl; lra|].
  pose proof (mean_square_nonneg n p v (v n) P) as Q. pose proof (P n) as Pn.
  apply (Rmult_le_compat_l (p n)) in Q; [|lra]. unfold mean in *. cbn [sum]. nra.
Qed.

(** Var(v) ≤ 2 Σ p_i (1 − p_i) v_i² ≤ ½‖v‖². *)
Lemma variance_at_most_half n p v : (forall i, 0 < p i) -> sum n p = 1 ->
  covariance n p v v <= / 2 * sum n (fun i => v i ^ 2).
Proof.
  intros P One. pose proof (off_diagonal_nonneg n p v P) as H. rewrite One in H. unfold covariance, mean in *.
  assert (Q : 0 <= sum n (fun i => / 2 * (1 - 2 * p i) ^ 2 * v i ^ 2)).
  { apply sum_nonneg. intros. apply Rmult_le_pos; [|apply pow2_ge_0]. pose proof (pow2_ge_0 (1 - 2 * p i)). lra. }
  rewrite (sum_ext n _ (fun i => / 2 * v i ^ 2 + (2 * (p i ^ 2 * v i ^ 2) - 2 * (p i * v i ^ 2)))) in Q
    by (intros; field).
  rewrite sum_plus, sum_minus, !sum_scal in Q.
  rewrite (sum_ext n (fun i => p i * (v i * v i)) (fun i => p i * v i ^ 2)) by (intros; ring). nra.
Qed.

(** Cov(u, v) ≤ Var(u) + Var(v)/4. *)
Lemma covariance_at_most n p u v : (forall i, 0 < p i) -> sum n p = 1 ->
  covariance n p u v <= covariance n p u u + / 4 * covariance n p v v.
Proof.
  intros P One. pose proof (mean_square_nonneg n p (fun i => u i - / 2 * v i)
    (- mean n p (fun i => u i - / 2 * v i)) P) as Q.
  rewrite One in Q. unfold covariance, mean in *.
  rewrite (sum_ext n (fun i => p i * (u i - / 2 * v i)) (fun i => p i * u i - / 2 * (p i * v i))) in Q
    by (intros; ring).
  rewrite (sum_ext n (fun i => p i * (u i - / 2 * v i) ^ 2)
    (fun i => p i * (u i * u i) - (p i * (u i * v i) - / 4 * (p i * (v i * v i))))) in Q by (intros; field).
  rewrite !sum_minus, !sum_scal in Q. nra.
Qed.

(** ** The slope along a line of logits *)

Definition on_line (z D : vector) (t : R) : vector := fun i => z i + t * D i.

Lemma is_derive_softmax n z D i t : (1 <= n)%nat ->
  is_derive (fun t => softmax n (on_line z D t) i) t
    (let p := softmax n (on_line z D t) in p i * (D i - mean n p D)).
Proof.
  intro H. pose proof (total_pos n (on_line z D t) H) as T. unfold softmax at 1.
  assert (E : forall j, is_derive (fun t => exp (on_line z D t j)) t (D j * exp (on_line z D t j))).
  { intro j. unfold on_line. auto_derive; [exact I|ring]. }
  pose proof (is_derive_sum n (fun j t => exp (on_line z D t j)) _ t (fun j _ => E j)) as S.
  pose proof (is_derive_div _ _ t _ _ (E i) S ltac:(lra)) as Q. cbv beta in Q.
  match goal with |- is_derive _ _ ?l => match type of Q with is_derive _ _ ?l' =>
    replace l with l'; [exact Q|] end end.
  cbv zeta. unfold mean, softmax. set (total := sum n (fun j => exp (on_line z D t j))) in *.
  rewrite (sum_ext n (fun j => exp (on_line z D t j) / total * D j) (fun j => / total * (D j * exp (on_line z D t j))))
    by (intros; unfold Rdiv; ring).
  rewrite sum_scal. field. lra.
Qed.

Lemma is_derive_weighted n w z D t : (1 <= n)%nat ->
  is_derive (fun t => sum n (fun i => w i * softmax n (on_line z D t) i)) t
    (covariance n (softmax n (on_line z D t)) w D).
Proof.
  intro H. set (p := softmax n (on_line z D t)).
  replace (covariance n p w D) with (sum n (fun i => w i * (p i * (D i - mean n p D)))).
  - apply is_derive_sum. intros i _.
    apply (is_derive_scal (fun t => softmax n (on_line z D t) i) t (w i)), is_derive_softmax, H.
  - unfold covariance. unfold mean at 2 3.
    rewrite (sum_ext n _ (fun i => p i * (w i * D i) - mean n p D * (p i * w i))) by (intros; ring).
    rewrite sum_minus, sum_scal. unfold mean. ring.
Qed.

(** ** The bound *)

Theorem softmax_moves_half n z z' : (1 <= n)%nat ->
  norm n (minus (softmax n z') (softmax n z)) <= / 2 * norm n (minus z' z).
Proof.
  intro H. set (w := minus (softmax n z') (softmax n z)). set (D := minus z' z).
  pose (phi := fun t => sum n (fun i => w i * softmax n (on_line z D t) i)).
  destruct (MVT_gen phi 0 1 (fun t => covariance n (softmax n (on_line z D t)) w D)) as [t [_ V]].
  { intros t _. apply is_derive_weighted, H. }
  { intros t _. apply derivable_continuous_pt. exists (covariance n (softmax n (on_line z D t)) w D).
    apply is_derive_Reals, is_derive_weighted, H. }
  assert (W : phi 1 - phi 0 = norm n w ^ 2).
  { rewrite norm_squared. unfold phi. rewrite <- sum_minus. apply sum_ext. intros i Hi.
    rewrite (softmax_ext n (on_line z D 1) z'), (softmax_ext n (on_line z D 0) z)
      by (intro; unfold on_line, D, minus; ring). unfold w, minus. ring. }
  rewrite W in V. set (p := softmax n (on_line z D t)) in V.
  assert (P : forall i, 0 < p i) by (intro; apply softmax_pos, H).
  assert (One : sum n p = 1) by apply softmax_total, H.
  pose proof (covariance_at_most n p w D P One) as C.
  pose proof (variance_at_most_half n p w P One) as Vw. pose proof (variance_at_most_half n p D P One) as VD.
  rewrite <- norm_squared in Vw, VD. pose proof (norm_nonneg n w). pose proof (norm_nonneg n D).
  apply Rnot_lt_le. intro L. nra.
Qed.
