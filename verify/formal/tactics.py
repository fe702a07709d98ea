"""The lemmas and tactics that every `Proof.v` begins with: signs of explicit sums and products, and slacks."""

TACTICS = r"""
Lemma and_then : forall A B : Prop, A -> (A -> B) -> A /\ B.
Proof. tauto. Qed.
Lemma and_flat : forall A B C : Prop, A /\ (B /\ C) -> (A /\ B) /\ C.
Proof. tauto. Qed.
Lemma nonzero_as : forall a b : R, a = b -> b <> 0 -> a <> 0.
Proof. intros a b -> H; exact H. Qed.
Lemma not_zero : forall a : R, 0 < a -> a <> 0.
Proof. intros; lra. Qed.
Lemma positive_as : forall a b : R, a = b -> 0 < b -> 0 < a.
Proof. intros a b -> H; exact H. Qed.
Lemma nonnegative_as : forall a b : R, a = b -> 0 <= b -> 0 <= a.
Proof. intros a b -> H; exact H. Qed.
Lemma le_by : forall a b : R, 0 <= b - a -> a <= b.
Proof. intros; lra. Qed.
Lemma lt_by : forall a b : R, 0 < b - a -> a < b.
Proof. intros; lra. Qed.
Lemma eq_by : forall a b : R, b - a = 0 -> a = b.
Proof. intros; lra. Qed.
Lemma of_le : forall a b : R, a <= b -> 0 <= b - a.
Proof. intros; lra. Qed.
Lemma of_lt : forall a b : R, a < b -> 0 < b - a.
Proof. intros; lra. Qed.
Lemma of_eq : forall a b : R, a = b -> b - a = 0.
Proof. intros; lra. Qed.
Lemma nonnegative_by_multiple : forall t g s : R, 0 < t -> t * g = s -> 0 <= s -> 0 <= g.
Proof. intros t g s T E S. apply Rmult_le_reg_l with t; [exact T|]. rewrite Rmult_0_r, E; exact S. Qed.
Lemma positive_by_multiple : forall t g s : R, 0 < t -> t * g = s -> 0 < s -> 0 < g.
Proof. intros t g s T E S. apply Rmult_lt_reg_l with t; [exact T|]. rewrite Rmult_0_r, E; exact S. Qed.
Lemma zero_by_multiple : forall t g s : R, 0 < t -> t * g = s -> s = 0 -> g = 0.
Proof.
  intros t g s T E S. apply Rmult_eq_reg_l with t; [rewrite Rmult_0_r, E; exact S|].
  apply Rgt_not_eq; exact T.
Qed.
Lemma above_le : forall low s : R, low <= s -> exists k, 0 <= k /\ s = low + k.
Proof. intros low s H; exists (s - low); lra. Qed.
Lemma above_lt : forall low s : R, low < s -> exists k, 0 < k /\ s = low + k.
Proof. intros low s H; exists (s - low); lra. Qed.
Lemma below_le : forall s high : R, 0 < s -> s <= high -> exists k, 0 <= k /\ s = high / (1 + k).
Proof.
  intros s high P H. exists (high / s - 1). split; [|field; lra].
  apply of_le, Rmult_le_reg_r with s; [exact P|]. replace (high / s * s) with high by (field; lra). lra.
Qed.
Lemma below_lt : forall s high : R, 0 < s -> s < high -> exists k, 0 < k /\ s = high / (1 + k).
Proof.
  intros s high P H. exists (high / s - 1). split; [|field; lra].
  apply of_lt, Rmult_lt_reg_r with s; [exact P|]. replace (high / s * s) with high by (field; lra). lra.
Qed.
Lemma at_most_le : forall c h x : R, 0 < c -> 0 <= h - c * x -> x <= h / c.
Proof.
  intros c h x C H. apply Rmult_le_reg_r with c; [exact C|].
  replace (h / c * c) with h by (field; lra). lra.
Qed.
Lemma at_most_lt : forall c h x : R, 0 < c -> 0 < h - c * x -> x < h / c.
Proof.
  intros c h x C H. apply Rmult_lt_reg_r with c; [exact C|].
  replace (h / c * c) with h by (field; lra). lra.
Qed.
Lemma exp_power : forall (x : R) (n : nat), exp x ^ n = exp (INR n * x).
Proof.
  intros x n; induction n as [|n IH]; [rewrite Rmult_0_l, exp_0; reflexivity|].
  rewrite <- tech_pow_Rmult, IH, <- exp_plus, S_INR; f_equal; ring.
Qed.

Ltac flat :=
  repeat first
    [ match goal with |- (_ /\ _) /\ _ => apply and_flat end
    | match goal with |- True /\ _ => split; [exact I|] end ].

(* Signs of sums, products, quotients and powers, by those of their parts. *)
Ltac positive :=
  first
    [ assumption
    | match goal with
      | |- 0 < exp _ => apply exp_pos
      | |- 0 < _ * _ => apply Rmult_lt_0_compat; positive
      | |- 0 < _ / _ => unfold Rdiv; apply Rmult_lt_0_compat; positive
      | |- 0 < / _ => apply Rinv_0_lt_compat; positive
      | |- 0 < _ ^ _ => apply pow_lt; positive
      | |- 0 < sqrt _ => apply sqrt_lt_R0; positive
      | |- 0 < _ + _ => apply Rplus_lt_le_0_compat; [positive | nonnegative]
      | |- 0 < _ + _ => apply Rplus_le_lt_0_compat; [nonnegative | positive]
      end
    | lra ]
with nonnegative :=
  first
    [ assumption
    | match goal with
      | |- 0 <= exp _ => left; apply exp_pos
      | |- 0 <= sqrt _ => apply sqrt_pos
      | |- 0 <= Rabs _ => apply Rabs_pos
      | |- 0 <= _ ^ 2 => apply pow2_ge_0
      | |- 0 <= _ * _ => apply Rmult_le_pos; nonnegative
      | |- 0 <= _ / _ => unfold Rdiv; apply Rmult_le_pos; nonnegative
      | |- 0 <= / _ => left; apply Rinv_0_lt_compat; positive
      | |- 0 <= ?x ^ 4 => replace (x ^ 4) with ((x ^ 2) ^ 2) by ring; apply pow2_ge_0
      | |- 0 <= _ ^ _ => apply pow_le; nonnegative
      | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; nonnegative
      end
    | left; positive
    | lra ].

Ltac nonzero :=
  first
    [ assumption
    | match goal with
      | |- _ * _ <> 0 => apply Rmult_integral_contrapositive_currified; nonzero
      | |- _ / _ <> 0 => unfold Rdiv; apply Rmult_integral_contrapositive_currified; nonzero
      | |- / _ <> 0 => apply Rinv_neq_0_compat; nonzero
      | |- _ ^ _ <> 0 => apply pow_nonzero; nonzero
      | |- - _ <> 0 => apply Ropp_neq_0_compat; nonzero
      | |- exp _ <> 0 => apply not_zero, exp_pos
      end
    | apply not_zero; positive
    | match goal with H : ?a <> 0 |- ?b <> 0 => apply (nonzero_as b a); [ring | exact H] end
    | match goal with
      | H : ?a <> 0 |- ?b <> 0 => apply (nonzero_as b (- a)); [ring | apply Ropp_neq_0_compat; exact H]
      end
    | match goal with H : 0 < ?a |- ?b <> 0 => apply (nonzero_as b a); [ring | apply not_zero; exact H] end
    | lra ].

(* Relations between numbers. *)
Ltac here :=
  first
    [ exact I | reflexivity | lia | lra | nonzero
    | apply le_by; field_simplify; lra | apply Rle_ge, le_by; field_simplify; lra
    | apply lt_by; field_simplify; lra | apply Rlt_gt, lt_by; field_simplify; lra
    | apply eq_by; field_simplify; lra | repeat constructor; lra ].

Ltac nonzeros := repeat match goal with |- _ /\ _ => split end; nonzero.
(* Exponentials of sums and of small multiples are products and powers. *)
Lemma exp_double : forall x : R, exp (2 * x) = exp x ^ 2.
Proof. intros; rewrite exp_power; f_equal; simpl; ring. Qed.
Lemma exp_triple : forall x : R, exp (3 * x) = exp x ^ 3.
Proof. intros; rewrite exp_power; f_equal; simpl; ring. Qed.
Ltac exponentials :=
  repeat match goal with
    | |- context [exp (- ?x)] => rewrite (exp_Ropp x)
    | |- context [exp (?x - ?y)] => unfold Rminus at 1; rewrite (exp_plus x (- y))
    | |- context [exp (?x + ?y)] => rewrite (exp_plus x y)
    | |- context [exp (2 * ?x)] => rewrite (exp_double x)
    | |- context [exp (3 * ?x)] => rewrite (exp_triple x)
    end.
(* Absolute values and the larger of two, by the signs that are known. *)
Ltac chosen :=
  repeat match goal with
    | |- context [Rabs ?a] =>
      first
        [ rewrite (Rabs_right a) by (apply Rle_ge; nonnegative)
        | rewrite (Rabs_left1 a) by lra ]
    | |- context [Rmax ?a ?b] => first [rewrite (Rmax_left a b) by lra | rewrite (Rmax_right a b) by lra]
    | |- context [Rmin ?a ?b] => first [rewrite (Rmin_left a b) by lra | rewrite (Rmin_right a b) by lra]
    end.
(* The square of a root is what is under it. *)
Ltac roots :=
  repeat match goal with
    | |- context [sqrt ?a] =>
      lazymatch goal with
      | _ : sqrt a * sqrt a = a |- _ => fail
      | _ => assert (sqrt a * sqrt a = a) by (apply sqrt_sqrt; nonnegative)
      end
    end;
  match goal with
  | A : sqrt _ * sqrt _ = _, B : sqrt _ * sqrt _ = _, C : sqrt _ * sqrt _ = _ |- _ =>
    first [ring [A B C] | field [A B C]; nonzeros]
  | A : sqrt _ * sqrt _ = _, B : sqrt _ * sqrt _ = _ |- _ => first [ring [A B] | field [A B]; nonzeros]
  | A : sqrt _ * sqrt _ = _ |- _ => first [ring [A] | field [A]; nonzeros]
  end.
Ltac equal :=
  first
    [ ring
    | field; nonzeros
    | match goal with |- context [exp _] => exponentials; first [ring | field; nonzeros] end
    | progress chosen; first [ring | field; nonzeros | roots]
    | match goal with |- context [sqrt _] => roots end ].
"""

DERIVE = r"""
Ltac derive :=
  auto_derive;
  first
    [ reflexivity
    | repeat match goal with |- _ /\ _ => split end; first [exact I | nonzero | positive] ].
"""
"""A tactic that shows derivatives, with Coquelicot."""
