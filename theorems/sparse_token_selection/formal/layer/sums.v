(** Finite sums: linearity, exchange, splitting, and the derivative of a sum. *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From SparseTokenSelection Require Import definitions.
Open Scope R_scope.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n as [|n IH]; intro H; simpl; [reflexivity|]. rewrite IH, (H n) by auto with arith. reflexivity. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_scal n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_scal_r n c f : sum n (fun i => f i * c) = sum n f * c.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n as [|n IH]; [simpl; ring|]. rewrite S_INR. simpl sum. rewrite IH. ring. Qed.

Lemma sum_zero n f : (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof. intro H. rewrite (sum_ext n f (fun _ => 0)) by assumption. rewrite sum_const. ring. Qed.

Lemma sum_swap n m f : sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof. induction n as [|n IH]; simpl; [symmetry; apply sum_zero; reflexivity|]. rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_mult n m f g : sum n f * sum m g = sum n (fun i => sum m (fun j => f i * g j)).
Proof. rewrite <- sum_scal_r. apply sum_ext; intros. symmetry. apply sum_scal. Qed.

Lemma sum_split n m f : sum (n + m) f = sum n f + sum m (fun k => f (n + k)%nat).
Proof. induction m as [|m IH]; [rewrite Nat.add_0_r; simpl; ring|]. rewrite Nat.add_succ_r. simpl. rewrite IH. ring.
Qed.

(** Σ_i [i = j] f(i) = f(j). *)
Lemma sum_one_hot n j f : (j < n)%nat -> sum n (fun i => one_hot i j * f i) = f j.
Proof.
  induction n as [|n IH]; intro H; [lia|]. simpl. unfold one_hot in *.
  destruct (Nat.eq_dec n j) as [<-|N].
  - rewrite Nat.eqb_refl, sum_zero; [ring|]. intros i Hi. rewrite (proj2 (Nat.eqb_neq i n)) by lia. ring.
  - rewrite IH, (proj2 (Nat.eqb_neq n j)) by lia. ring.
Qed.

Lemma one_hot_same i : one_hot i i = 1.
Proof. unfold one_hot. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma one_hot_other i j : i <> j -> one_hot i j = 0.
Proof. intro H. unfold one_hot. rewrite (proj2 (Nat.eqb_neq i j)) by assumption. reflexivity. Qed.

Lemma one_hot_sym i j : one_hot i j = one_hot j i.
Proof. unfold one_hot. rewrite Nat.eqb_sym. reflexivity. Qed.

Lemma sum_pos n f : (0 < n)%nat -> (forall i, 0 < f i) -> 0 < sum n f.
Proof.
  intros Hn H. destruct n as [|n]; [lia|]. clear Hn. simpl. pose proof (H n).
  enough (0 <= sum n f) by lra. induction n as [|n IH]; simpl; [lra|]. specialize (IH (H n)). pose proof (H n). lra.
Qed.

Lemma is_derive_sum n (f : nat -> R -> R) (l : nat -> R) (x : R) :
  (forall i, (i < n)%nat -> is_derive (f i) x (l i)) -> is_derive (fun t => sum n (fun i => f i t)) x (sum n l).
Proof.
  induction n as [|n IH]; intro H; simpl; [exact (is_derive_const 0 x)|].
  apply (is_derive_plus (fun t => sum n (fun i => f i t)) (f n)); auto with arith.
Qed.
