(** The mean of (tr(G M) + ⟨u, w⟩)² for an eigenvector u of the covariance: the components of one layer's loss. *)

Require Import Reals Lra Lia Arith.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
From PreconditionedDescent.formal.one_layer Require Import normal_mean token_moments.
Open Scope R_scope.

(** ** G, and its parts that are even and odd in w *)

Section Parts.
Variables (d n : nat) (M : matrix) (u : vector) (x : matrix).
Let G (w : vector) : matrix := gram n (prompt d n x (labels d x w) 0).

Lemma gram_tokens w a b : (a < d)%nat -> (b < d)%nat -> G w a b = sum n (fun m => x a m * x b m) / INR n.
Proof.
  intros Ha Hb. unfold G, gram. f_equal. apply sum_ext. intros m _. rewrite !prompt_token by assumption. reflexivity.
Qed.

Lemma gram_label w a : (a < d)%nat -> G w a d = sum n (fun m => x a m * labels d x w m) / INR n.
Proof.
  intro Ha. unfold G, gram. f_equal. apply sum_ext. intros m Hm.
  rewrite prompt_token, prompt_label by assumption. reflexivity.
Qed.

Lemma gram_labels w : G w d d = sum n (fun m => labels d x w m * labels d x w m) / INR n.
Proof. unfold G, gram. f_equal. apply sum_ext. intros m Hm. rewrite !prompt_label by assumption. reflexivity. Qed.

Lemma gram_sym w a b : G w a b = G w b a.
Proof. unfold G, gram. f_equal. apply sum_ext. intros. ring. Qed.

Definition even_part (w : vector) : R := sum d (fun a => sum d (fun b => G w a b * M b a)) + G w d d * M d d.
Definition odd_vector : vector := fun k => u k + sum n (fun m => x k m * dot d (border d M) (column x m)) / INR n.

Lemma labels_negated w m : labels d x (fun k => - w k) m = - labels d x w m.
Proof. unfold labels. rewrite (sum_ext d _ (fun k => -1 * (w k * x k m))), sum_scal by (intros; ring). ring. Qed.

Lemma even_part_even w : even_part (fun k => - w k) = even_part w.
Proof.
  unfold even_part. f_equal.
  - apply sum_ext. intros a Ha. apply sum_ext. intros b Hb. rewrite !gram_tokens by assumption. reflexivity.
  - rewrite !gram_labels. do 2 f_equal. apply sum_ext. intros m _. rewrite labels_negated. ring.
Qed.

Lemma odd_part w : sum d (fun a => G w a d * border d M a) + sum d (fun k => u k * w k) = dot d w odd_vector.
Proof.
  unfold dot, odd_vector. rewrite (sum_ext d (fun k => w k * _) (fun k => sum n (fun m => w k * x k m *
    (dot d (border d M) (column x m) * / INR n)) + u k * w k)).
  - rewrite sum_plus. f_equal. rewrite sum_swap.
    rewrite (sum_ext d _ (fun a => sum n (fun m => border d M a * x a m * (labels d x w m * / INR n)))).
    + rewrite sum_swap. apply sum_ext. intros m _. rewrite !sum_scal_r. unfold labels, dot, column. ring.
    + intros a Ha. rewrite gram_label by exact Ha. unfold Rdiv. rewrite <- !sum_scal_r. apply sum_ext. intros m _. ring.
  - intros k _. unfold Rdiv. rewrite Rmult_plus_distr_l, <- sum_scal_r, <- sum_scal, Rplus_comm. f_equal; [|ring].
    apply sum_ext. intros m _. ring.
Qed.

Lemma parts w : component_error d n M u x w = even_part w + dot d w odd_vector.
Proof.
  rewrite <- odd_part. unfold component_error, even_part. fold (G w). unfold product. cbn [sum].
  rewrite sum_plus. rewrite (sum_ext d (fun a => G w a d * border d M a) (fun a => G w a d * M d a + G w d a * M a d)).
  - rewrite sum_plus. ring.
  - intros a _. unfold border. rewrite (gram_sym w d a). ring.
Qed.
End Parts.

(** ** The covariance C Cᵀ = U diag(λ) Uᵀ *)

(** Σ_k μ_k ⟨C_k, p⟩ ⟨C_k, q⟩ over the columns C_k is pᵀ C diag(μ) Cᵀ q. *)
Lemma quadratic_form d C mu p q : sum d (fun k => mu k * (dot d p (column C k) * dot d q (column C k))) =
  sum d (fun i => sum d (fun j => p i * q j * in_basis d C mu i j)).
Proof.
  rewrite (sum_ext d _ (fun k => sum d (fun i => sum d (fun j => p i * q j * (C i k * mu k * C j k))))).
  - rewrite sum_swap. apply sum_ext. intros i _. rewrite sum_swap. apply sum_ext. intros j _. apply sum_scal.
  - intros k _. unfold dot, column. rewrite <- sum_scal_r, <- sum_scal. apply sum_ext. intros i _.
    rewrite <- !sum_scal. apply sum_ext. intros j _. ring.
Qed.

Section Covariance.
Variables (d : nat) (C U : matrix) (lambda : vector).
Hypothesis H : covariance d C U lambda.

Lemma columns_orthonormal i j : (i < d)%nat -> (j < d)%nat -> dot d (column U i) (column U j) = if i =? j then 1 else 0.
Proof. intros Hi Hj. destruct H as [O _]. exact (O i j Hi Hj). Qed.

(** ⟨Cᵀp, Cᵀq⟩ = Σ_k λ_k ⟨U_k, p⟩ ⟨U_k, q⟩. *)
Lemma covariance_form p q : sum d (fun k => dot d p (column C k) * dot d q (column C k)) =
  sum d (fun k => lambda k * (dot d p (column U k) * dot d q (column U k))).
Proof.
  rewrite quadratic_form. rewrite (sum_ext d _ (fun k => 1 * (dot d p (column C k) * dot d q (column C k))))
    by (intros; ring).
  rewrite (quadratic_form d C (fun _ => 1)). apply sum_ext. intros i Hi. apply sum_ext. intros j Hj.
  destruct H as [_ [_ S]]. rewrite <- (S i j Hi Hj). f_equal. apply sum_ext. intros k _. unfold transpose. ring.
Qed.

(** ⟨U γ, U δ⟩ = ⟨γ, δ⟩. *)
Definition turned (g : vector) : vector := fun k => sum d (fun j => U k j * g j).
Lemma turned_isometric g h : sum d (fun k => turned g k * turned h k) = sum d (fun j => g j * h j).
Proof.
  rewrite (sum_ext d _ (fun k => sum d (fun i => sum d (fun j => g i * h j * (U k i * U k j))))).
  - rewrite sum_swap. apply sum_ext. intros i Hi. rewrite sum_swap.
    rewrite (sum_single d _ i Hi).
    + rewrite sum_scal. change (sum d (fun k => U k i * U k i)) with (dot d (column U i) (column U i)).
      rewrite columns_orthonormal, Nat.eqb_refl by exact Hi. ring.
    + intros j Hj N. rewrite sum_scal. change (sum d (fun k => U k i * U k j)) with (dot d (column U i) (column U j)).
      rewrite columns_orthonormal by assumption. rewrite (proj2 (Nat.eqb_neq i j)) by auto. ring.
  - intros k _. unfold turned. rewrite <- sum_scal_r. apply sum_ext. intros i _. rewrite <- sum_scal.
    apply sum_ext. intros j _. ring.
Qed.
End Covariance.

(** C = U diag(√λ). *)
Theorem covariance_exists : claims.covariance_exists.
Proof.
  intro d. split.
  - intros i j Hi Hj. unfold product, transpose, identity. rewrite (sum_single d _ i Hi).
    + rewrite Nat.eqb_refl. ring.
    + intros k _ K. rewrite (proj2 (Nat.eqb_neq k i) K). ring.
  - intros U lambda O P. exists (fun i k => U i k * sqrt (lambda k)). split; [exact O|]. split; [exact P|].
    intros i j _ _. apply sum_ext. intros k Hk. specialize (P k Hk). unfold transpose.
    replace (lambda k) with (sqrt (lambda k) * sqrt (lambda k)) at 3 by (apply sqrt_sqrt; lra). ring.
Qed.
