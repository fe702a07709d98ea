(** The moments of linear forms p·v and q·v of a standard normal vector, and of their products over n tokens. *)

Require Import Reals Lra Lia Arith.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
From PreconditionedDescent.formal.one_layer Require Import normal_mean.
Open Scope R_scope.

Definition dot (d : nat) (p v : vector) : R := sum d (fun k => p k * v k).
Definition column (g : matrix) (j : nat) : vector := fun k => g k j.

Lemma dot_ext d p v v' : (forall k, (k < d)%nat -> v k = v' k) -> dot d p v = dot d p v'.
Proof. intro H. apply sum_ext. intros k Hk. rewrite H by exact Hk. reflexivity. Qed.

(** With one more entry: its odd powers have mean 0, its square 1 and its fourth power 3. *)
Lemma vector_mean_next d f (c0 c1 c2 c3 c4 : vector -> R) :
  (forall v t, f (with_entry v d t) = c0 v + t * c1 v + t ^ 2 * c2 v + t ^ 3 * c3 v + t ^ 4 * c4 v) ->
  vector_mean (S d) f = vector_mean d c0 + vector_mean d c2 + 3 * vector_mean d c4.
Proof.
  intro H. simpl. pose proof (vector_mean_average d) as A.
  transitivity (three_points (fun t => vector_mean d c0 + t * vector_mean d c1 + t ^ 2 * vector_mean d c2
    + t ^ 3 * vector_mean d c3 + t ^ 4 * vector_mean d c4)).
  - apply (average_ext three_points_average). intro t. rewrite (average_ext A _ _ (fun v => H v t)).
    rewrite !(average_plus A), !(average_scal A). reflexivity.
  - pose proof three_points_average as T. rewrite !(average_plus T), (average_const T).
    rewrite (average_ext T (fun t => t * _) (fun t => vector_mean d c1 * t ^ 1)) by (intro; ring).
    rewrite (average_ext T (fun t => t ^ 2 * _) (fun t => vector_mean d c2 * t ^ 2)) by (intro; ring).
    rewrite (average_ext T (fun t => t ^ 3 * _) (fun t => vector_mean d c3 * t ^ 3)) by (intro; ring).
    rewrite (average_ext T (fun t => t ^ 4 * _) (fun t => vector_mean d c4 * t ^ 4)) by (intro; ring).
    rewrite !(average_scal T), !three_points_moment by lia. simpl. ring.
Qed.

Lemma dot_with_entry d p v t : dot (S d) p (with_entry v d t) = dot d p v + p d * t.
Proof.
  unfold dot. simpl. unfold with_entry at 2. rewrite Nat.eqb_refl. f_equal. apply sum_ext. intros k Hk.
  unfold with_entry. rewrite (proj2 (Nat.eqb_neq k d)) by lia. reflexivity.
Qed.

Lemma mean_of_two d p q : vector_mean d (fun v => dot d p v * dot d q v) = dot d p q.
Proof.
  induction d as [|d IH]; [unfold dot; simpl; ring|].
  rewrite (vector_mean_next d _ (fun v => dot d p v * dot d q v) (fun v => p d * dot d q v + q d * dot d p v)
    (fun _ => p d * q d) (fun _ => 0) (fun _ => 0)) by (intros; rewrite !dot_with_entry; ring).
  rewrite IH, !(average_const (vector_mean_average d)). unfold dot. simpl. ring.
Qed.

Lemma mean_of_four d p q : vector_mean d (fun v => (dot d p v * dot d q v) ^ 2) =
  dot d p p * dot d q q + 2 * dot d p q ^ 2.
Proof.
  induction d as [|d IH]; [unfold dot; simpl; ring|]. pose proof (vector_mean_average d) as A.
  rewrite (vector_mean_next d _ (fun v => (dot d p v * dot d q v) ^ 2)
    (fun v => 2 * dot d p v * dot d q v * (p d * dot d q v + q d * dot d p v))
    (fun v => p d ^ 2 * (dot d q v * dot d q v) + q d ^ 2 * (dot d p v * dot d p v)
      + 4 * p d * q d * (dot d p v * dot d q v))
    (fun v => 2 * p d * q d * (p d * dot d q v + q d * dot d p v))
    (fun _ => p d ^ 2 * q d ^ 2)) by (intros; rewrite !dot_with_entry; ring).
  rewrite IH, !(average_plus A), !(average_scal A), !mean_of_two, (average_const A). unfold dot. simpl. ring.
Qed.

(** Σ_m (p·g_m)(q·g_m) over the columns g_1 … g_n. *)
Definition pairs (d n : nat) (p q : vector) (g : matrix) : R :=
  sum n (fun m => dot d p (column g m) * dot d q (column g m)).

Lemma pairs_with_column d n p q g v : pairs d (S n) p q (with_column g n v) = pairs d n p q g + dot d p v * dot d q v.
Proof.
  unfold pairs. simpl. f_equal.
  - apply sum_ext. intros m Hm.
    f_equal; apply dot_ext; intros k _; unfold column, with_column; rewrite (proj2 (Nat.eqb_neq m n)) by lia;
      reflexivity.
  - f_equal; apply dot_ext; intros k _; unfold column, with_column; rewrite Nat.eqb_refl; reflexivity.
Qed.

Lemma mean_of_pairs d n p q : table_mean d n (pairs d n p q) = INR n * dot d p q.
Proof.
  pose proof (vector_mean_average d) as V.
  induction n as [|n IH]; [unfold pairs; simpl; ring|]. pose proof (table_mean_average d n) as A. cbn [table_mean].
  rewrite (average_ext V _ (fun v => INR n * dot d p q + dot d p v * dot d q v)).
  - rewrite (average_plus V), (average_const V), mean_of_two, S_INR. ring.
  - intro v. rewrite (average_ext A _ _ (fun g => pairs_with_column d n p q g v)), (average_plus A), (average_const A).
    rewrite <- IH. reflexivity.
Qed.

Lemma mean_of_squared_pairs d n p q : table_mean d n (fun g => pairs d n p q g ^ 2) =
  INR n * (dot d p p * dot d q q) + INR n * (INR n + 1) * dot d p q ^ 2.
Proof.
  pose proof (vector_mean_average d) as V.
  induction n as [|n IH]; [unfold pairs; simpl; ring|]. pose proof (table_mean_average d n) as A. cbn [table_mean].
  rewrite (average_ext V _ (fun v => table_mean d n (fun g => pairs d n p q g ^ 2)
    + 2 * (INR n * dot d p q) * (dot d p v * dot d q v) + (dot d p v * dot d q v) ^ 2)).
  - rewrite !(average_plus V), (average_const V), (average_scal V), mean_of_two, mean_of_four, IH, S_INR. ring.
  - intro v. set (s := dot d p v * dot d q v).
    rewrite (average_ext A _ (fun g => pairs d n p q g ^ 2 + 2 * s * pairs d n p q g + s ^ 2)).
    + rewrite !(average_plus A), (average_scal A), (average_const A), mean_of_pairs. ring.
    + intro g. rewrite pairs_with_column. fold s. ring.
Qed.
