(** The table of the prompts' entries: a component's error is a polynomial in them that does not see the query. *)

Require Import Reals Lra Lia Arith.
From PreconditionedDescent Require Import definitions.
From PreconditionedDescent.formal Require Import claims layer.
From PreconditionedDescent.formal.one_layer Require Import normal_mean polynomials token_moments component
  component_mean.
Open Scope R_scope.

Section Polynomial.
Variables (d n : nat) (C : matrix).
Local Notation poly := (polynomial d (S (S n))).
Let x (g : matrix) : matrix := product d C g.
Let w (g : matrix) : vector := fun k => g k (S n).
Let Z (g : matrix) : matrix := prompt d n (x g) (labels d (x g) (w g)) 0.
(** The exponent 1 in column j, 0 in the others. *)
Let one_in (j : nat) : nat -> nat := fun j' => if j' =? j then 1%nat else 0%nat.

Lemma polynomial_token i m : (m <= n)%nat -> poly (one_in m) (fun g => x g i m).
Proof.
  intro Hm. apply (polynomial_sum d (S (S n)) _ d (fun k g => C i k * g k m)). intros k Hk.
  apply (polynomial_scal d (S (S n)) _ (C i k) (fun g => g k m)). apply polynomial_entry; lia.
Qed.

(** An entry of an example's column: a token, or a label. *)
Lemma polynomial_example i m : (i <= d)%nat -> (m < n)%nat ->
  poly (fun j => (one_in (S n) j + one_in m j)%nat) (fun g => Z g i m).
Proof.
  intros Hi Hm. destruct (Nat.eq_dec i d) as [->|N].
  - apply is_equal with (fun g => sum d (fun k => g k (S n) * x g k m)).
    + intro g. unfold Z. rewrite prompt_label by exact Hm. reflexivity.
    + apply (polynomial_sum d (S (S n)) _ d (fun k g => g k (S n) * x g k m)). intros k Hk.
      apply (polynomial_mult d (S (S n)) _ _ (fun g => g k (S n)) (fun g => x g k m)).
      * apply polynomial_entry; lia.
      * apply polynomial_token. lia.
  - apply is_equal with (fun g => x g i m).
    + intro g. unfold Z. rewrite prompt_token by lia. reflexivity.
    + apply polynomial_le with (one_in m); [intros; lia|]. apply polynomial_token. lia.
Qed.

(** In the query's column the exponents are 0, in the others at most 2. *)
Definition two_but_query : nat -> nat := fun j => if j =? n then 0%nat else 2%nat.

Lemma polynomial_component M u : poly two_but_query (fun g => component_error d n M u (x g) (w g)).
Proof.
  apply is_equal with (fun g => sum (S d) (fun i => sum (S d) (fun j =>
    M j i * / INR n * sum n (fun m => Z g i m * Z g j m))) + sum d (fun k => u k * g k (S n))).
  { intro g. unfold component_error, product, gram, Rdiv. f_equal. apply sum_ext. intros i _. apply sum_ext. intros j _.
    fold (Z g). ring. }
  apply polynomial_plus.
  - apply (polynomial_sum d (S (S n)) _ (S d) (fun i g => sum (S d) (fun j =>
      M j i * / INR n * sum n (fun m => Z g i m * Z g j m)))). intros i Hi.
    apply (polynomial_sum d (S (S n)) _ (S d) (fun j g => M j i * / INR n * sum n (fun m => Z g i m * Z g j m))).
    intros j Hj. apply polynomial_scal, (polynomial_sum d (S (S n)) _ n (fun m g => Z g i m * Z g j m)). intros m Hm.
    eapply polynomial_le; [|apply polynomial_mult; apply (polynomial_example _ m); lia].
    intros l _. unfold one_in, two_but_query. simpl. destruct (Nat.eqb_spec l n) as [->|N].
    + rewrite (proj2 (Nat.eqb_neq n (S n))), (proj2 (Nat.eqb_neq n m)) by lia. lia.
    + destruct (Nat.eqb_spec l (S n)), (Nat.eqb_spec l m); lia.
  - apply (polynomial_sum d (S (S n)) _ d (fun k g => u k * g k (S n))). intros k Hk.
    apply (polynomial_scal d (S (S n)) _ (u k) (fun g => g k (S n))).
    eapply polynomial_le; [|apply polynomial_entry; lia]. intros l _. unfold two_but_query. simpl.
    destruct (Nat.eqb_spec l n) as [->|N].
    + rewrite (proj2 (Nat.eqb_neq n (S n))) by lia. lia.
    + destruct (l =? S n); lia.
Qed.
End Polynomial.

(** A component does not see the query's token. *)
Lemma component_error_ext d n M u x x' w w' : (forall i m, (i < d)%nat -> (m < n)%nat -> x i m = x' i m) ->
  (forall k, (k < d)%nat -> w k = w' k) -> component_error d n M u x w = component_error d n M u x' w'.
Proof.
  intros Hx Hw. unfold component_error.
  assert (Z : forall i m, (m < n)%nat -> prompt d n x (labels d x w) 0 i m = prompt d n x' (labels d x' w') 0 i m).
  { intros i m Hm. unfold prompt. destruct (Nat.ltb_spec i d) as [Hi|Hi]; [apply Hx; assumption|].
    rewrite (proj2 (Nat.ltb_lt m n) Hm). apply sum_ext. intros k Hk. rewrite Hx, Hw by assumption. reflexivity. }
  f_equal.
  - apply sum_ext. intros i _. apply sum_ext. intros j _. f_equal. unfold gram. f_equal. apply sum_ext. intros m Hm.
    rewrite !Z by exact Hm. reflexivity.
  - apply sum_ext. intros k Hk. rewrite Hw by exact Hk. reflexivity.
Qed.

(** The table of the examples' columns g, of the query's column v, and of w. *)
Definition whole_table (n : nat) (g : matrix) (v w : vector) : matrix := with_column (with_column g n v) (S n) w.

Lemma whole_table_example n g v w k m : (m < n)%nat -> whole_table n g v w k m = g k m.
Proof. intro Hm. unfold whole_table, with_column. rewrite !(proj2 (Nat.eqb_neq m _)) by lia. reflexivity. Qed.
Lemma whole_table_query n g v w k : whole_table n g v w k n = v k.
Proof.
  unfold whole_table, with_column. rewrite (proj2 (Nat.eqb_neq n (S n))), Nat.eqb_refl by lia. reflexivity.
Qed.
Lemma whole_table_target n g v w k : whole_table n g v w k (S n) = w k.
Proof. unfold whole_table, with_column. rewrite Nat.eqb_refl. reflexivity. Qed.

(** Every normal mean of a component's square is its mean over the examples. *)
Lemma mean_over_examples d n N C M u : normal_mean d (S (S n)) N ->
  over_prompts d n N C (fun x w => component_error d n M u x w ^ 2) =
  examples_mean d n C (fun x w => component_error d n M u x w ^ 2).
Proof.
  intro HN. pose proof (table_mean_average d n) as A. pose proof (vector_mean_average d) as V. unfold over_prompts.
  rewrite (normal_mean_of_polynomial d (S (S n)) N _ HN).
  - cbn [table_mean]. apply (average_ext V). intro w.
    set (f := fun g => component_error d n M u (product d C g) w ^ 2).
    rewrite (average_ext V _ (fun _ => table_mean d n f)); [apply (average_const V)|]. intro v.
    apply (average_ext A). intro g. fold (whole_table n g v w). unfold f. f_equal. apply component_error_ext.
    + intros i m _ Hm. apply sum_ext. intros l _. rewrite whole_table_example by exact Hm. reflexivity.
    + intros k _. apply whole_table_target.
  - set (f := fun g => component_error d n M u (product d C g) (fun k => g k (S n))).
    apply is_equal with (fun g => f g * f g); [intro g; unfold f; ring|].
    eapply polynomial_le; [|apply polynomial_mult; apply (polynomial_component d n C M u)].
    intros j _. unfold two_but_query, four. destruct (j =? n); lia.
Qed.
