(* What every proof begins with: relations and their margins, signs, slacks. *)
Lemma and_then : forall A B : Prop, A -> (A -> B) -> A /\ B.
Proof. tauto. Qed.
Lemma and_flat : forall A B C : Prop, A /\ (B /\ C) -> (A /\ B) /\ C.
Proof. tauto. Qed.
Lemma nonzero_as : forall a b : R, a = b -> b <> 0 -> a <> 0.
Proof. intros a b -> H; exact H. Qed.
Lemma nonzero_factor : forall a f r : R, a = f * r -> a <> 0 -> f <> 0.
Proof. intros a f r -> H Z; apply H; rewrite Z; ring. Qed.
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
Lemma root_between : forall a low high : R, 0 <= low -> 0 <= high -> low * low <= a -> a <= high * high ->
  low <= sqrt a <= high.
Proof.
  intros a low high L H A B; split; [rewrite <- (sqrt_square low L) | rewrite <- (sqrt_square high H)];
  apply sqrt_le_1_alt; assumption.
Qed.
Lemma exp_power : forall (x : R) (n : nat), exp x ^ n = exp (INR n * x).
Proof.
  intros x n; induction n as [|n IH]; [rewrite Rmult_0_l, exp_0; reflexivity|].
  rewrite <- tech_pow_Rmult, IH, <- exp_plus, S_INR; f_equal; ring.
Qed.
Lemma exp_above_tangent : forall u v : R, exp v * (1 + u - v) <= exp u.
Proof.
  intros u v; replace (exp u) with (exp v * exp (u - v)) by (rewrite <- exp_plus; f_equal; ring).
  apply Rmult_le_compat_l; [left; apply exp_pos | pose proof (exp_ineq1_le (u - v)); lra].
Qed.
Lemma ln_below : forall u : R, 0 < u -> ln u <= u - 1.
Proof. intros u U; pose proof (exp_ineq1_le (ln u)) as H; rewrite exp_ln in H by exact U; lra. Qed.
Lemma ln_at_least_0 : forall u : R, 1 <= u -> 0 <= ln u.
Proof. intros u [U | <-]; [rewrite <- ln_1; left; apply ln_increasing; lra | rewrite ln_1; right; reflexivity]. Qed.
Lemma ln_below_tangent : forall u v : R, 0 < u -> 0 < v -> ln u <= ln v + (u - v) / v.
Proof.
  intros u v U V; assert (Q : 0 < u / v) by (apply Rmult_lt_0_compat; [exact U | apply Rinv_0_lt_compat, V]).
  replace (ln u) with (ln v + ln (u / v)) by (rewrite <- ln_mult by assumption; f_equal; field; lra).
  replace ((u - v) / v) with (u / v - 1) by (field; lra). pose proof (ln_below _ Q); lra.
Qed.
(* The arithmetic mean is at least the geometric one. *)
Definition sum_of := fold_right Rplus 0.
Definition product_of := fold_right Rmult 1.
Lemma sum_over : forall (v : R) (l : list R), 0 < v -> Forall (fun u => 0 < u) l ->
  INR (length l) * (1 - ln v) + ln (product_of l) <= sum_of l / v.
Proof.
  intros v l V P; induction P as [|u l U P IH]; cbn [length product_of sum_of fold_right] in *.
  - rewrite ln_1; simpl; lra.
  - assert (Q : 0 < product_of l) by (clear IH; induction P; simpl; [lra | apply Rmult_lt_0_compat; assumption]).
    fold (product_of l) in *; fold (sum_of l) in *; rewrite S_INR, ln_mult by assumption.
    pose proof (ln_below_tangent u v U V). replace ((u + sum_of l) / v) with (u / v + sum_of l / v) by (field; lra).
    replace ((u - v) / v) with (u / v - 1) in * by (field; lra). lra.
Qed.
Lemma product_zero : forall l, Forall (fun u => 0 <= u) l -> Forall (fun u => 0 < u) l \/ product_of l = 0.
Proof.
  intros l P; induction P as [|u l [U | <-] P IH]; [left; constructor | | right; apply Rmult_0_l].
  destruct IH as [IH | IH]; [left; constructor; assumption | right].
  unfold product_of in *; simpl; rewrite IH; apply Rmult_0_r.
Qed.
Lemma mean : forall (v : R) (l : list R), Forall (fun u => 0 <= u) l -> v ^ length l <= product_of l ->
  INR (length l) * v <= sum_of l.
Proof.
  intros v l P H.
  assert (S : 0 <= sum_of l) by (clear H; induction P; simpl; [lra | apply Rplus_le_le_0_compat; assumption]).
  destruct (Rle_lt_dec v 0) as [V | V].
  { apply Rle_trans with 0; [|exact S]. pose proof (Rmult_le_compat_l _ _ _ (pos_INR (length l)) V); lra. }
  pose proof (pow_lt _ (length l) V) as W.
  destruct (product_zero l P) as [Q | Q]; [|rewrite Q in H; lra].
  pose proof (sum_over v l V Q) as B.
  assert (L : INR (length l) * ln v <= ln (product_of l)).
  { rewrite <- ln_pow by exact V. destruct H as [H | ->]; [left; apply ln_increasing; assumption | right; reflexivity]. }
  apply Rmult_le_reg_r with (/ v); [apply Rinv_0_lt_compat, V|].
  replace (INR (length l) * v * / v) with (INR (length l)) by (field; lra). unfold Rdiv in B; lra.
Qed.

Ltac flat :=
  repeat first
    [ match goal with |- (_ /\ _) /\ _ => apply and_flat end
    | match goal with |- True /\ _ => split; [exact I|] end ].

(* A number that is a whole one is any real number from here on. *)
Ltac as_real t x :=
  repeat match goal with H : context [t] |- _ => revert H end; generalize t as x; intros.
(* A variable is what an equation E says, whatever other equations say of it. *)
Ltac put E x :=
  first
    [ match goal with
      | H : x = _ |- _ => tryif constr_eq H E then fail else (rewrite E in *; clear E)
      | H : _ = x |- _ => rewrite E in *; clear E
      end
    | subst x ].

(* Signs of sums, products, quotients and powers, by those of their parts. *)
Ltac positive :=
  first
    [ assumption
    | signs ltac:(of_atom)
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
    | signs ltac:(of_atom)
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
    | lra ]
(* The sign of what is no sum, product, quotient or power. *)
with of_atom :=
  first
    [ match goal with
      | |- 0 < exp _ => apply exp_pos
      | |- 0 < sqrt _ => apply sqrt_lt_R0; positive
      | |- 0 <= sqrt _ => apply sqrt_pos
      | |- 0 <= Rabs _ => apply Rabs_pos
      end
    | lra ].

Ltac nonzero :=
  first
    [ assumption
    | signs ltac:(of_atom)
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
    | apply eq_by; field_simplify; lra | repeat constructor; lra
    | progress cbv [powerRZ Pos.to_nat Pos.iter_op Nat.add]; lra ].

(* A divisor may be the product of two numbers that are not 0. *)
Ltac nonzero_product :=
  match goal with
  | H : ?a <> 0, K : ?b <> 0 |- ?c <> 0 =>
    apply (nonzero_as c (a * b)); [ring | apply Rmult_integral_contrapositive_currified; assumption]
  end.
Ltac nonzeros := repeat match goal with |- _ /\ _ => split end; first [exact I | nonzero | nonzero_product].
(* Exponentials of sums, of small multiples and of halves are products and powers. *)
Lemma exp_halves : forall x : R, exp x = exp (1 / 2 * x) ^ 2.
Proof. intros; rewrite exp_power; f_equal; simpl; lra. Qed.
Lemma exp_less : forall x y : R, exp (x - y) = exp x * / exp y.
Proof. intros; unfold Rminus; rewrite exp_plus, exp_Ropp; reflexivity. Qed.
Lemma exp_times : forall (p : positive) (x : R), exp (IZR (Zpos p) * x) = exp x ^ Pos.to_nat p.
Proof. intros; rewrite exp_power, INR_IZR_INZ, positive_nat_Z; reflexivity. Qed.
Lemma exp_times_negative : forall (p : positive) (x : R), exp (IZR (Zneg p) * x) = / exp x ^ Pos.to_nat p.
Proof. intros; rewrite <- exp_times, <- exp_Ropp; f_equal; rewrite <- Pos2Z.opp_pos, opp_IZR; ring. Qed.
Lemma half_first : forall x : R, x / 2 = 1 / 2 * x.
Proof. intros; lra. Qed.
Lemma exp_at_0 : forall x : R, x = 0 -> exp x = 1.
Proof. intros x ->; exact exp_0. Qed.
(* The sum under an exponential, multiplied out. *)
Ltac multiplied x :=
  lazymatch x with
  | context [(_ + _) * _] => ring_simplify x
  | context [_ * (_ + _)] => ring_simplify x
  | context [(_ - _) * _] => ring_simplify x
  | context [_ * (_ - _)] => ring_simplify x
  end.
(* Exponentials of the same number in another form are one. *)
Ltac alike :=
  repeat match goal with
    | |- context [exp ?x] =>
      match goal with
      | |- context [exp ?y] => tryif constr_eq x y then fail else replace (exp y) with (exp x) by (f_equal; ring)
      end
    end.
(* A power is written out as a natural number. *)
Ltac small p := let t := eval compute in (Pos.leb p 64) in constr_eq t true.
Ltac exponentials :=
  repeat match goal with
    | |- context [exp ?x] =>
      match x with
      | context [0 + ?y] => rewrite (Rplus_0_l y)
      | context [0] => rewrite (exp_at_0 x) by ring
      | _ => progress multiplied x
      | ln ?y => rewrite (exp_ln y) by positive
      | - ?y => rewrite (exp_Ropp y)
      | - ?y * ?z => rewrite (Ropp_mult_distr_l_reverse y z)
      | ?y / 2 => rewrite (half_first y)
      | ?y - ?z => rewrite (exp_less y z)
      | ?y + ?z => rewrite (exp_plus y z)
      | IZR ?n * ?y * ?z => rewrite (Rmult_assoc (IZR n) y z)
      | IZR (Zpos ?p) * ?y => small p; rewrite (exp_times p y); let k := eval compute in (Pos.to_nat p) in change (Pos.to_nat p) with k
      | IZR (Zneg ?p) * ?y =>
        small p; rewrite (exp_times_negative p y); let k := eval compute in (Pos.to_nat p) in change (Pos.to_nat p) with k
      | _ => match goal with |- context [exp (1 / 2 * x)] => rewrite (exp_halves x) end
      end
    end;
  alike.
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
Ltac identity := equal_where_defined; nonzeros.
Ltac equal :=
  first
    [ identity
    (* A product with 0, whose other factors may divide by what is not known. *)
    | rewrite Rmult_0_r; identity
    | match goal with |- context [exp _] => exponentials; identity end
    | progress chosen; first [identity | roots]
    (* In the logarithm of a product of u and 1/u. *)
    | match goal with |- context [ln (?u / ?u)] => replace (u / u) with 1 by (field; nonzeros); rewrite ln_1; identity end
    | match goal with |- context [sqrt _] => roots end ].
(* A variable is what a fact F, that a difference is 0, says that it is. *)
Ltac solved :=
  first
    [ lra
    | match goal with
      | F : ?a = 0 |- ?x = _ => first
          [ transitivity (x + a); [rewrite F; ring | equal] | transitivity (x - a); [rewrite F; ring | equal] ]
      end ].
(* Numbers >= 0 whose product is at least v to their number have a mean of at least v. *)
Ltac by_mean v l :=
  let P := fresh "P" in assert (P : Forall (fun u => 0 <= u) l) by (repeat (apply Forall_cons; [nonnegative |]); apply Forall_nil);
  let Q := fresh "Q" in
  assert (Q : v ^ length l <= product_of l)
    by (cbv [length product_of fold_right]; first [right; equal | apply le_by; nonnegative]);
  let M := fresh "M" in
  pose proof (mean v l P Q) as M; cbv [length sum_of fold_right] in M; rewrite INR_IZR_INZ in M;
  cbv [Z.of_nat Pos.of_succ_nat Pos.succ] in M; lra.
