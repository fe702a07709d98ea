(** Means of polynomials of degree at most three in independent standard normal entries. *)

Require Import Reals Lra Lia Arith Bool.
From SparseTokenSelection Require Import definitions.
From SparseTokenSelection.formal.layer Require Import sums.
Open Scope R_scope.

(** ** Products and exponents *)

Lemma product_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> product n f = product n g.
Proof. induction n as [|n IH]; intro H; simpl; [reflexivity|]. rewrite IH, (H n) by auto with arith. reflexivity. Qed.

Lemma product_one n f : (forall i, (i < n)%nat -> f i = 1) -> product n f = 1.
Proof. induction n as [|n IH]; intro H; simpl; [reflexivity|]. rewrite IH, (H n) by auto with arith. ring. Qed.

Lemma product_zero n f j : (j < n)%nat -> f j = 0 -> product n f = 0.
Proof.
  induction n as [|n IH]; intros Hj H; simpl; [lia|].
  destruct (Nat.eq_dec j n) as [->|N]; [rewrite H|rewrite IH by (lia || assumption)]; ring.
Qed.

Lemma product_single n f j : (j < n)%nat -> (forall i, i <> j -> f i = 1) -> product n f = f j.
Proof.
  induction n as [|n IH]; intros Hj H; simpl; [lia|]. destruct (Nat.eq_dec j n) as [->|N].
  - rewrite product_one by (intros; apply H; lia). ring.
  - rewrite IH, (H n) by (lia || assumption). ring.
Qed.

Lemma product_mult n f g : product n (fun i => f i * g i) = product n f * product n g.
Proof. induction n as [|n IH]; simpl; [ring|rewrite IH; ring]. Qed.

Lemma nat_sum_plus n f g : nat_sum n (fun i => f i + g i)%nat = (nat_sum n f + nat_sum n g)%nat.
Proof. induction n as [|n IH]; simpl; lia. Qed.

Lemma nat_sum_ext n f g : (forall i, f i = g i) -> nat_sum n f = nat_sum n g.
Proof. intro H. induction n as [|n IH]; simpl; congruence. Qed.

Lemma nat_sum_single n f j c : (forall i, i <> j -> f i = 0%nat) -> (f j <= c)%nat -> (nat_sum n f <= c)%nat.
Proof.
  intros H Hc. enough (nat_sum n f <= (if j <? n then c else 0))%nat by (destruct (j <? n); lia).
  induction n as [|n IH]; simpl; [lia|]. destruct (Nat.ltb_spec j n), (Nat.ltb_spec j (S n)); try lia.
  - rewrite (H n) by lia. lia.
  - replace n with j in * by lia. lia.
  - rewrite (H n) by lia. lia.
Qed.

Section Mean.
Variables d T : nat.

(** The exponents of the single entry X_bi. *)
Definition entry (b i : nat) : nat -> nat -> nat := fun a j => if andb (a =? b) (j =? i) then 1%nat else 0%nat.
Definition plus_exponents (k l : nat -> nat -> nat) : nat -> nat -> nat := fun a j => (k a j + l a j)%nat.

Lemma entry_degree b i : (degree d T (entry b i) <= 1)%nat.
Proof.
  unfold degree. apply nat_sum_single with b.
  - intros a H. rewrite (nat_sum_ext T (entry b i a) (fun _ => 0%nat)).
    + induction T; simpl; lia.
    + intro j. unfold entry. rewrite (proj2 (Nat.eqb_neq a b)) by assumption. reflexivity.
  - apply nat_sum_single with i; unfold entry.
    + intros j H. rewrite (proj2 (Nat.eqb_neq j i)) by assumption. rewrite andb_false_r. reflexivity.
    + rewrite !Nat.eqb_refl. simpl. lia.
Qed.

Lemma plus_degree k l : degree d T (plus_exponents k l) = (degree d T k + degree d T l)%nat.
Proof.
  unfold degree, plus_exponents. rewrite <- nat_sum_plus. apply nat_sum_ext. intro a. apply nat_sum_plus.
Qed.

Lemma entry_monomial b i X : (b < d)%nat -> (i < T)%nat -> monomial d T (entry b i) X = X b i.
Proof.
  intros Hb Hi. unfold monomial. rewrite (product_single d _ b Hb), (product_single T _ i Hi).
  - unfold entry. rewrite !Nat.eqb_refl. simpl. ring.
  - intros j H. unfold entry. rewrite (proj2 (Nat.eqb_neq j i)), andb_false_r by assumption. reflexivity.
  - intros a H. apply product_one. intros j _. unfold entry. rewrite (proj2 (Nat.eqb_neq a b)) by assumption.
    reflexivity.
Qed.

Lemma plus_monomial k l X : monomial d T (plus_exponents k l) X = monomial d T k X * monomial d T l X.
Proof.
  unfold monomial, plus_exponents. rewrite <- product_mult. apply product_ext. intros a _.
  rewrite <- product_mult. apply product_ext. intros j _. apply pow_add.
Qed.

(** ** Polynomials *)

Lemma polynomial_one n : polynomial d T n (fun _ => 1).
Proof.
  apply is_equal with (monomial d T (fun _ _ => 0%nat)).
  - intro X. unfold monomial. apply product_one. intros. apply product_one. reflexivity.
  - apply is_monomial. unfold degree. rewrite (nat_sum_ext d _ (fun _ => 0%nat)).
    + induction d; simpl; lia.
    + intro a. induction T; simpl; lia.
Qed.

Lemma polynomial_zero n : polynomial d T n (fun _ => 0).
Proof.
  apply is_equal with (fun X : matrix => 1 + -1 * 1); [intro; ring|]. apply (is_combination _ _ _ (-1));
    apply polynomial_one.
Qed.

Lemma polynomial_scal n c f : polynomial d T n f -> polynomial d T n (fun X => c * f X).
Proof.
  intro H. apply is_equal with (fun X => 0 + c * f X); [intro; ring|].
  apply (is_combination _ _ _ c (fun _ => 0)); [apply polynomial_zero|assumption].
Qed.

Lemma polynomial_sum n m (f : nat -> matrix -> R) : (forall i, (i < m)%nat -> polynomial d T n (f i)) ->
  polynomial d T n (fun X => sum m (fun i => f i X)).
Proof.
  induction m as [|m IH]; intro H; simpl; [apply polynomial_zero|].
  apply is_equal with (fun X => sum m (fun i => f i X) + 1 * f m X); [intro; ring|].
  apply is_combination; auto with arith.
Qed.

Lemma polynomial_entry b i : (b < d)%nat -> (i < T)%nat -> polynomial d T 3 (fun X => X b i).
Proof.
  intros. apply is_equal with (monomial d T (entry b i)); [intro; apply entry_monomial; assumption|].
  apply is_monomial. pose proof (entry_degree b i). lia.
Qed.

Lemma polynomial_two b i c j : (b < d)%nat -> (i < T)%nat -> (c < d)%nat -> (j < T)%nat ->
  polynomial d T 3 (fun X => X b i * X c j).
Proof.
  intros. apply is_equal with (monomial d T (plus_exponents (entry b i) (entry c j))).
  - intro. rewrite plus_monomial, !entry_monomial by assumption. reflexivity.
  - apply is_monomial. rewrite plus_degree. pose proof (entry_degree b i). pose proof (entry_degree c j). lia.
Qed.

Lemma polynomial_three b i c j a k : (b < d)%nat -> (i < T)%nat -> (c < d)%nat -> (j < T)%nat -> (a < d)%nat -> (k <
  T)%nat ->
  polynomial d T 3 (fun X => X b i * X c j * X a k).
Proof.
  intros. apply is_equal with (monomial d T (plus_exponents (plus_exponents (entry b i) (entry c j)) (entry a k))).
  - intro. rewrite !plus_monomial, !entry_monomial by assumption. reflexivity.
  - apply is_monomial. rewrite !plus_degree.
    pose proof (entry_degree b i). pose proof (entry_degree c j). pose proof (entry_degree a k). lia.
Qed.

(** ** Means *)

Variable E : (matrix -> R) -> R.
Hypothesis HE : normal_mean d T 3 E.
Let equal := mean_of_equal d T 3 E HE.
Let combination := mean_of_combination d T 3 E HE.

Lemma mean_zero : E (fun _ => 0) = 0.
Proof.
  rewrite (equal _ (fun X : matrix => 1 + -1 * 1)) by (intro; ring).
  rewrite (combination (-1) (fun _ => 1) (fun _ => 1)) by apply polynomial_one. ring.
Qed.

Lemma mean_scal c f : polynomial d T 3 f -> E (fun X => c * f X) = c * E f.
Proof.
  intro H. rewrite (equal _ (fun X : matrix => 0 + c * f X)) by (intro; ring).
  rewrite (combination c (fun _ => 0) f) by (assumption || apply polynomial_zero). rewrite mean_zero. ring.
Qed.

Lemma mean_sum m (f : nat -> matrix -> R) : (forall i, (i < m)%nat -> polynomial d T 3 (f i)) ->
  E (fun X => sum m (fun i => f i X)) = sum m (fun i => E (f i)).
Proof.
  induction m as [|m IH]; intro H; simpl; [apply mean_zero|].
  rewrite (equal _ (fun X => sum m (fun i => f i X) + 1 * f m X)) by (intro; ring).
  rewrite (combination 1 (fun X => sum m (fun i => f i X)) (f m)); [|apply polynomial_sum| ]; auto with arith.
  rewrite IH by auto with arith. ring.
Qed.

(** A monomial with an odd exponent, 1 or 3, has mean 0. *)
Lemma odd_exponent k b i : (degree d T k <= 3)%nat -> (b < d)%nat -> (i < T)%nat -> k b i = 1%nat \/ k b i = 3%nat ->
  E (monomial d T k) = 0.
Proof.
  intros Hk Hb Hi H. rewrite (mean_of_monomial d T 3 E HE) by assumption.
  apply product_zero with b; [assumption|]. apply product_zero with i; [assumption|].
  destruct H as [-> | ->]; simpl; ring.
Qed.

Lemma entry_at b i a j : {b = a /\ i = j /\ entry b i a j = 1%nat} + {(b <> a \/ i <> j) /\ entry b i a j = 0%nat}.
Proof.
  unfold entry. destruct (Nat.eqb_spec a b), (Nat.eqb_spec j i); simpl; [left|right|right|right]; repeat split; auto.
Qed.

Lemma entry_own b i : entry b i b i = 1%nat.
Proof. unfold entry. rewrite !Nat.eqb_refl. reflexivity. Qed.

Lemma mean_entry b i : (b < d)%nat -> (i < T)%nat -> E (fun X => X b i) = 0.
Proof.
  intros Hb Hi. rewrite (equal _ (monomial d T (entry b i))) by (intro; rewrite entry_monomial; auto).
  pose proof (entry_degree b i). apply odd_exponent with b i; try assumption; [lia|].
  left. apply entry_own.
Qed.

Lemma mean_two b i c j : (b < d)%nat -> (i < T)%nat -> (c < d)%nat -> (j < T)%nat ->
  E (fun X => X b i * X c j) = one_hot b c * one_hot i j.
Proof.
  intros Hb Hi Hc Hj. pose proof (entry_degree b i). pose proof (entry_degree c j).
  rewrite (equal _ (monomial d T (plus_exponents (entry b i) (entry c j))))
    by (intro; rewrite plus_monomial, !entry_monomial; auto).
  destruct (entry_at c j b i) as [[<- [<- E1]]|[N E0]].
  - rewrite !one_hot_same, (mean_of_monomial d T 3 E HE) by (rewrite plus_degree; lia).
    rewrite product_one; [ring|]. intros a _. apply product_one. intros k _. unfold plus_exponents, entry.
    destruct (_ && _); simpl; ring.
  - rewrite (odd_exponent _ b i); try assumption.
    + destruct (Nat.eq_dec b c) as [->|B]; [|rewrite (one_hot_other b c) by assumption; ring].
      rewrite (one_hot_other i j) by (destruct N; congruence). ring.
    + rewrite plus_degree; lia.
    + left. unfold plus_exponents. rewrite E0, entry_own. reflexivity.
Qed.

Lemma mean_three b i c j a k : (b < d)%nat -> (i < T)%nat -> (c < d)%nat -> (j < T)%nat -> (a < d)%nat -> (k < T)%nat ->
  E (fun X => X b i * X c j * X a k) = 0.
Proof.
  intros Hb Hi Hc Hj Ha Hk. pose proof (entry_degree b i). pose proof (entry_degree c j). pose proof (entry_degree a k).
  rewrite (equal _ (monomial d T (plus_exponents (plus_exponents (entry b i) (entry c j)) (entry a k))))
    by (intro; rewrite !plus_monomial, !entry_monomial; auto).
  assert (D : (degree d T (plus_exponents (plus_exponents (entry b i) (entry c j)) (entry a k)) <= 3)%nat)
    by (rewrite !plus_degree; lia).
  destruct (entry_at b i c j) as [[<- [<- E1]]|[N E1]].
  - apply odd_exponent with a k; try assumption. unfold plus_exponents. rewrite entry_own.
    destruct (entry_at b i a k) as [[_ [_ ->]]|[_ ->]]; simpl; auto.
  - destruct (entry_at a k b i) as [[<- [<- E2]]|[_ E2]].
    + apply odd_exponent with c j; try assumption. unfold plus_exponents. rewrite E1, entry_own. auto.
    + apply odd_exponent with b i; try assumption. unfold plus_exponents. rewrite E2, entry_own.
      assert (entry c j b i = 0%nat) as -> by (destruct (entry_at c j b i) as [[<- [<- _]]|[_ Z]]; [destruct N;
        congruence|exact Z]). auto.
Qed.

(** ** Linear forms Σ_i r_i X_bi of a row of X *)

Definition linear (r : nat -> R) (b : nat) (X : matrix) : R := sum T (fun i => r i * X b i).

Lemma mean_linear r b : (b < d)%nat -> E (linear r b) = 0.
Proof.
  intro Hb. unfold linear. rewrite (mean_sum T (fun i X => r i * X b i)).
  - apply sum_zero. intros i Hi. rewrite mean_scal by (apply polynomial_entry; assumption).
    rewrite mean_entry by assumption. ring.
  - intros. apply polynomial_scal, polynomial_entry; assumption.
Qed.

Lemma product_of_linear r s b c X :
  linear r b X * linear s c X = sum T (fun i => sum T (fun j => r i * s j * (X b i * X c j))).
Proof. unfold linear. rewrite sum_mult. apply sum_ext; intros. apply sum_ext; intros. ring. Qed.

Lemma polynomial_linear_product r s b c : (b < d)%nat -> (c < d)%nat -> polynomial d T 3 (fun X => linear r b X *
  linear s c X).
Proof.
  intros. apply is_equal with (fun X => sum T (fun i => sum T (fun j => r i * s j * (X b i * X c j)))).
  - intro. symmetry. apply product_of_linear.
  - apply (polynomial_sum 3 T (fun i X => sum T (fun j => r i * s j * (X b i * X c j)))). intros i Hi.
    apply (polynomial_sum 3 T (fun j X => r i * s j * (X b i * X c j))). intros j Hj.
    apply (polynomial_scal 3 (r i * s j)), polynomial_two; assumption.
Qed.

Lemma mean_linear_product r s b c : (b < d)%nat -> (c < d)%nat ->
  E (fun X => linear r b X * linear s c X) = one_hot b c * sum T (fun i => r i * s i).
Proof.
  intros Hb Hc. rewrite (equal _ _ (product_of_linear r s b c)).
  assert (P2 : forall i j, (i < T)%nat -> (j < T)%nat -> polynomial d T 3 (fun X => r i * s j * (X b i * X c j)))
    by (intros; apply (polynomial_scal 3 (r _ * s _)), polynomial_two; assumption).
  rewrite (mean_sum T (fun i X => sum T (fun j => r i * s j * (X b i * X c j)))).
  - rewrite <- sum_scal. apply sum_ext. intros i Hi.
    rewrite (mean_sum T (fun j X => r i * s j * (X b i * X c j))) by auto.
    rewrite (sum_ext T _ (fun j => one_hot j i * (one_hot b c * (r i * s j)))).
    + apply sum_one_hot. assumption.
    + intros j Hj. rewrite (mean_scal (r i * s j)) by (apply polynomial_two; assumption).
      rewrite mean_two, (one_hot_sym i j) by assumption. ring.
  - intros i Hi. apply (polynomial_sum 3 T (fun j X => r i * s j * (X b i * X c j))). auto.
Qed.

(** A combination of products of three entries has mean 0. *)
Lemma mean_cubic (coefficient : nat -> nat -> nat -> nat -> R) a : (a < d)%nat ->
  E (fun X => sum d (fun b => sum T (fun i => sum T (fun j => sum T (fun k =>
    coefficient b i j k * (X b i * X b j * X a k)))))) = 0.
Proof.
  intro Ha. pose (term := fun b i j k X => coefficient b i j k * (X b i * X b j * X a k) : R).
  assert (P1 : forall b i j k, (b < d)%nat -> (i < T)%nat -> (j < T)%nat -> (k < T)%nat -> polynomial d T 3 (term b i
    j k))
    by (intros; apply polynomial_scal, polynomial_three; assumption).
  assert (P2 : forall b i j, (b < d)%nat -> (i < T)%nat -> (j < T)%nat ->
      polynomial d T 3 (fun X => sum T (fun k => term b i j k X)))
    by (intros; apply polynomial_sum; auto).
  assert (P3 : forall b i, (b < d)%nat -> (i < T)%nat ->
      polynomial d T 3 (fun X => sum T (fun j => sum T (fun k => term b i j k X))))
    by (intros; apply (polynomial_sum 3 T (fun j X => sum T (fun k => term _ _ j k X))); auto).
  assert (P4 : forall b, (b < d)%nat ->
      polynomial d T 3 (fun X => sum T (fun i => sum T (fun j => sum T (fun k => term b i j k X)))))
    by (intros; apply (polynomial_sum 3 T (fun i X => sum T (fun j => sum T (fun k => term _ i j k X)))); auto).
  change (E (fun X => sum d (fun b => sum T (fun i => sum T (fun j => sum T (fun k => term b i j k X))))) = 0).
  rewrite (mean_sum d (fun b X => sum T (fun i => sum T (fun j => sum T (fun k => term b i j k X))))) by assumption.
  apply sum_zero. intros b Hb.
  rewrite (mean_sum T (fun i X => sum T (fun j => sum T (fun k => term b i j k X)))) by auto.
  apply sum_zero. intros i Hi. rewrite (mean_sum T (fun j X => sum T (fun k => term b i j k X))) by auto.
  apply sum_zero. intros j Hj. rewrite (mean_sum T (term b i j)) by auto.
  apply sum_zero. intros k Hk. unfold term. rewrite mean_scal by (apply polynomial_three; assumption).
  rewrite mean_three by assumption. ring.
Qed.

End Mean.
