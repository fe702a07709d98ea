(** The gradient of the sample's loss in each entry of W and V, at every point and for every encoding.

    With p = softmax of the logits, residual ρ_a = f_a − STS_a and u_i = V z_i:
    ∂ℓ/∂W_rc = z_c(query) Σ_a ρ_a Σ_i u_ia p_i (z_ir − Σ_j p_j z_jr),   ∂ℓ/∂V_ar = ρ_a Σ_i p_i z_ir. *)

Require Import Reals Lra Lia Arith Bool.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal.layer Require Import sums.
Open Scope R_scope.

Lemma softmax_ext T s s' i : (forall j, s j = s' j) -> softmax T s i = softmax T s' i.
Proof. intro H. unfold softmax. rewrite H. f_equal. apply sum_ext. intros. rewrite H. reflexivity. Qed.

(** The slope of softmax along a line: p_i (b_i − Σ_j p_j b_j). *)
Lemma softmax_slope T (s b : nat -> R) (t0 : R) i : (0 < T)%nat ->
  is_derive (fun t => softmax T (fun j => s j + (t - t0) * b j) i) t0
    (softmax T s i * (b i - sum T (fun j => softmax T s j * b j))).
Proof.
  intro HT. unfold softmax at 1.
  assert (Z : 0 < sum T (fun j => exp (s j))) by (apply sum_pos; [assumption|intros; apply exp_pos]).
  assert (D : forall j, is_derive (fun t => exp (s j + (t - t0) * b j)) t0 (exp (s j) * b j)).
  { intro j. auto_derive; [trivial|]. replace (s j + (t0 + - t0) * b j) with (s j) by ring. ring. }
  assert (E : forall j, exp (s j + (t0 - t0) * b j) = exp (s j)) by (intro; f_equal; ring).
  evar_last.
  - apply (is_derive_div (fun t => exp (s i + (t - t0) * b i)) (fun t => sum T (fun j => exp (s j + (t - t0) * b j)))).
    + apply D.
    + apply is_derive_sum. intros j _. apply D.
    + rewrite (sum_ext T _ (fun j => exp (s j))) by (intros; apply E). lra.
  - cbv beta. rewrite !E, (sum_ext T (fun j => exp (s j + (t0 - t0) * b j)) (fun j => exp (s j))) by (intros; apply E).
    rewrite (sum_ext T (fun j => softmax T s j * b j) (fun j => exp (s j) * b j * / sum T (fun j => exp (s j))))
      by (intros; unfold softmax, Rdiv; ring).
    rewrite sum_scal_r. unfold softmax. set (z := sum T (fun j => exp (s j))) in *. field. lra.
Qed.

Section Gradient.
Variables (d T d_e q : nat) (e : matrix).
Hypothesis HT : (0 < T)%nat.
Let D := (d + d_e)%nat.

Definition attention (W X : matrix) (y : subset) : nat -> R := softmax T (logit d T d_e e W X y).
Definition residual (W V X : matrix) (y : subset) (a : nat) : R := layer d T d_e e W V X y a - target T q X y a.
(** u_ia = (V z_i)_a *)
Definition value (V X : matrix) (i a : nat) : R := sum D (fun r => V a r * token d e X i r).

Definition gradient_W (W V X : matrix) (y : subset) (r c : nat) : R :=
  query d T e y c * sum d (fun a => residual W V X y a *
    sum T (fun i => value V X i a * (attention W X y i *
      (token d e X i r - sum T (fun j => attention W X y j * token d e X j r))))).
Definition gradient_V (W V X : matrix) (y : subset) (a r : nat) : R :=
  residual W V X y a * sum T (fun i => token d e X i r * attention W X y i).

Lemma with_entry_value M r c t i j : with_entry M r c t i j = M i j + one_hot i r * (one_hot j c * (t - M r c)).
Proof.
  unfold with_entry, one_hot. destruct (Nat.eqb_spec i r) as [->|]; destruct (Nat.eqb_spec j c) as [->|]; simpl; ring.
Qed.

Lemma with_entry_same M r c : forall i j, with_entry M r c (M r c) i j = M i j.
Proof. intros. rewrite with_entry_value. ring. Qed.

Lemma logit_along_entry W X y r c t i : (r < D)%nat -> (c < D)%nat ->
  logit d T d_e e (with_entry W r c t) X y i
  = logit d T d_e e W X y i + (t - W r c) * (query d T e y c * token d e X i r).
Proof.
  intros Hr Hc. unfold logit. fold D.
  rewrite (sum_ext D (fun r' => token d e X i r' * sum D (fun c' => with_entry W r c t r' c' * query d T e y c'))
    (fun r' => token d e X i r' * sum D (fun c' => W r' c' * query d T e y c')
      + one_hot r' r * (token d e X i r' * ((t - W r c) * query d T e y c)))).
  - rewrite sum_plus, sum_one_hot by assumption. ring.
  - intros r' _. rewrite (sum_ext D (fun c' => with_entry W r c t r' c' * query d T e y c')
      (fun c' => W r' c' * query d T e y c' + one_hot c' c * (one_hot r' r * ((t - W r c) * query d T e y c'))))
      by (intros; rewrite with_entry_value; ring).
    rewrite sum_plus, sum_one_hot by assumption. ring.
Qed.

Lemma layer_of_values W V X y a : layer d T d_e e W V X y a = sum T (fun i => value V X i a * attention W X y i).
Proof.
  unfold layer, value, attention. fold D.
  rewrite (sum_ext T (fun i => sum D (fun r => V a r * token d e X i r) * softmax T (logit d T d_e e W X y) i)
    (fun i => sum D (fun r => V a r * (token d e X i r * softmax T (logit d T d_e e W X y) i)))).
  - rewrite sum_swap. apply sum_ext; intros. symmetry. apply sum_scal.
  - intros. rewrite <- sum_scal_r. apply sum_ext; intros; ring.
Qed.

Lemma half_square_slope (F : nat -> R -> R) (F' target : nat -> R) (t0 : R) :
  (forall a, (a < d)%nat -> is_derive (F a) t0 (F' a)) ->
  is_derive (fun t => / 2 * sum d (fun a => (F a t - target a) ^ 2)) t0 (sum d (fun a => (F a t0 - target a) * F' a)).
Proof.
  intro H. evar_last.
  - apply (is_derive_scal (fun t => sum d (fun a => (F a t - target a) ^ 2)) t0 (/ 2)).
    apply (is_derive_sum d (fun a t => (F a t - target a) ^ 2)
      (fun a => 2 * ((F a t0 - target a) * F' a))).
    intros a Ha. specialize (H a Ha). auto_derive; [eexists; exact H|].
    replace (Derive (fun x => F a x) t0) with (F' a) by (symmetry; apply is_derive_unique; exact H). ring.
  - rewrite sum_scal. field.
Qed.

Theorem gradient_W_is_slope W V X y r c : (r < D)%nat -> (c < D)%nat ->
  slope_in_W d T d_e e q W V X y r c (gradient_W W V X y r c).
Proof.
  intros Hr Hc. unfold slope_in_W, sample_loss.
  evar_last.
  - apply (half_square_slope (fun a t => layer d T d_e e (with_entry W r c t) V X y a)
      (fun a => sum T (fun i => value V X i a * (attention W X y i * (query d T e y c * token d e X i r
        - sum T (fun j => attention W X y j * (query d T e y c * token d e X j r)))))) (target T q X y)).
    intros a _. apply (is_derive_ext (fun t => sum T (fun i => value V X i a * softmax T
      (fun j => logit d T d_e e W X y j + (t - W r c) * (query d T e y c * token d e X j r)) i))).
    + intro t. rewrite layer_of_values. apply sum_ext. intros i _. unfold attention. f_equal.
      apply softmax_ext. intro j. rewrite logit_along_entry by assumption. reflexivity.
    + apply (is_derive_sum T (fun i t => value V X i a * softmax T
        (fun j => logit d T d_e e W X y j + (t - W r c) * (query d T e y c * token d e X j r)) i)).
      intros i _. apply is_derive_scal. apply softmax_slope. assumption.
  - unfold gradient_W. rewrite <- sum_scal. apply sum_ext. intros a _.
    replace (layer d T d_e e (with_entry W r c (W r c)) V X y a) with (layer d T d_e e W V X y a).
    + fold (residual W V X y a). rewrite <- !sum_scal. apply sum_ext. intros i _.
      rewrite (sum_ext T (fun j => attention W X y j * (query d T e y c * token d e X j r))
        (fun j => query d T e y c * (attention W X y j * token d e X j r))) by (intros; ring).
      rewrite sum_scal. ring.
    + rewrite !layer_of_values. apply sum_ext. intros i _. f_equal. apply softmax_ext. intro j.
      rewrite logit_along_entry by assumption. ring.
Qed.

Theorem gradient_V_is_slope W V X y a r : (a < d)%nat -> (r < D)%nat ->
  slope_in_V d T d_e e q W V X y a r (gradient_V W V X y a r).
Proof.
  intros Ha Hr. unfold slope_in_V, sample_loss.
  set (attended := fun r' => sum T (fun i => token d e X i r' * attention W X y i)).
  assert (L : forall t b, layer d T d_e e W (with_entry V a r t) X y b
    = layer d T d_e e W V X y b + one_hot b a * ((t - V a r) * attended r)).
  { intros t b. unfold layer. fold D. fold attended. rewrite (sum_ext D _ (fun r' => V b r' * attended r'
      + one_hot r' r * (one_hot b a * ((t - V a r) * attended r')))).
    - rewrite sum_plus, sum_one_hot by assumption. reflexivity.
    - intros r' _. rewrite with_entry_value. fold (attention W X y). fold (attended r'). ring. }
  evar_last.
  - apply (half_square_slope (fun b t => layer d T d_e e W (with_entry V a r t) X y b)
      (fun b => one_hot b a * attended r) (target T q X y)).
    intros b _. apply (is_derive_ext (fun t => layer d T d_e e W V X y b + one_hot b a * ((t - V a r) * attended r))).
    + intro t. symmetry. apply L.
    + auto_derive; [trivial|ring].
  - rewrite (sum_ext d _ (fun b => one_hot b a * (residual W V X y b * attended r))).
    + rewrite sum_one_hot by assumption. reflexivity.
    + intros b _. rewrite L. unfold residual. ring.
Qed.

End Gradient.
