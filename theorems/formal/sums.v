(** Finite sums: linearity, order, exchange, splitting, derivatives, squares. *)

Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From Formal Require Import definitions.
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

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; intro H; simpl; [lra|].
  pose proof (H n (Nat.lt_succ_diag_r n)). enough (sum n f <= sum n g) by lra. auto with arith.
Qed.

Lemma sum_zero n f : (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof. intro H. induction n as [|n IH]; simpl; [reflexivity|]. rewrite IH, H by auto with arith. ring. Qed.

Lemma sum_swap n m f : sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof. induction n as [|n IH]; simpl; [symmetry; apply sum_zero; reflexivity|]. rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_mult n m f g : sum n f * sum m g = sum n (fun i => sum m (fun j => f i * g j)).
Proof. rewrite <- sum_scal_r. apply sum_ext; intros. symmetry. apply sum_scal. Qed.

Lemma sum_split n m f : sum (n + m) f = sum n f + sum m (fun k => f (n + k)%nat).
Proof. induction m as [|m IH]; [rewrite Nat.add_0_r; simpl; ring|]. rewrite Nat.add_succ_r. simpl. rewrite IH. ring.
Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intro H. rewrite <- (sum_zero n (fun _ => 0)) by reflexivity. apply sum_le, H. Qed.

Lemma sum_pos n f : (1 <= n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof.
  intros Hn H. destruct n as [|n]; [lia|]. simpl. pose proof (H n (Nat.lt_succ_diag_r n)).
  enough (0 <= sum n f) by lra. apply sum_nonneg. intros i Hi. apply Rlt_le, H. lia.
Qed.

Lemma sum_first n f : (1 <= n)%nat -> (forall i, (1 <= i)%nat -> f i = 0) -> sum n f = f 0%nat.
Proof.
  intros Hn H. induction n as [|n IH]; [lia|]. destruct n as [|n]; [simpl; ring|].
  change (sum (S (S n)) f) with (sum (S n) f + f (S n)). rewrite IH, (H (S n)) by lia. ring.
Qed.

Lemma is_derive_sum n (f : nat -> R -> R) (l : nat -> R) (x : R) :
  (forall i, (i < n)%nat -> is_derive (f i) x (l i)) -> is_derive (fun t => sum n (fun i => f i t)) x (sum n l).
Proof.
  induction n as [|n IH]; intro H; simpl; [exact (is_derive_const 0 x)|].
  apply (is_derive_plus (fun t => sum n (fun i => f i t)) (f n)); auto with arith.
Qed.

(** Terms that are not negative: each is at most the sum, and the sum of squares at most the square of the sum. *)
Lemma term_le_sum n f i : (forall i, (i < n)%nat -> 0 <= f i) -> (i < n)%nat -> f i <= sum n f.
Proof.
  induction n as [|n IH]; intros H Hi; [lia|]. simpl. pose proof (H n (Nat.lt_succ_diag_r n)).
  assert (H' : forall j, (j < n)%nat -> 0 <= f j) by auto with arith.
  destruct (Nat.eq_dec i n) as [->|N]; [pose proof (sum_nonneg n f H'); lra|].
  assert (f i <= sum n f) by (apply IH; [exact H'|lia]). lra.
Qed.

Lemma sum_of_squares_le n f : (forall i, (i < n)%nat -> 0 <= f i) -> sum n (fun i => f i ^ 2) <= sum n f ^ 2.
Proof.
  induction n as [|n IH]; intro H; [simpl; lra|].
  change (sum n (fun i => f i ^ 2) + f n ^ 2 <= (sum n f + f n) ^ 2).
  assert (H' : forall j, (j < n)%nat -> 0 <= f j) by auto with arith.
  specialize (IH H'). pose proof (Rmult_le_pos _ _ (sum_nonneg n f H') (H n (Nat.lt_succ_diag_r n))). nra.
Qed.

(** Cauchy and Schwarz: the quadratic Σ (g_i t + f_i)² is nowhere negative. *)
Lemma cauchy_schwarz n f g :
  sum n (fun i => f i * g i) ^ 2 <= sum n (fun i => f i ^ 2) * sum n (fun i => g i ^ 2).
Proof.
  induction n as [|n IH]; [simpl; lra|].
  change ((sum n (fun i => f i * g i) + f n * g n) ^ 2
    <= (sum n (fun i => f i ^ 2) + f n ^ 2) * (sum n (fun i => g i ^ 2) + g n ^ 2)).
  assert (Q : 0 <= sum n (fun i => (g n * f i - f n * g i) ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
  rewrite (sum_ext n _ (fun i => g n ^ 2 * f i ^ 2 + (- (2 * f n * g n) * (f i * g i) + f n ^ 2 * g i ^ 2))) in Q
    by (intros; ring).
  rewrite !sum_plus, !sum_scal in Q. nra.
Qed.
