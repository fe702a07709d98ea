(* Bounds of exponentials of rational numbers: e^(n/d) is squared k times from e^(n/(d 2^k)), in units of 1/p. *)
Fixpoint squared (up p : Z) (k : nat) (m : Z) : Z :=
  match k with O => m | S k => squared up p k (m * m / p + up)%Z end.
Lemma exp_doubled : forall x, exp (2 * x) = exp x * exp x.
Proof. intros; rewrite <- exp_plus; f_equal; ring. Qed.
Lemma squared_above : forall p k m x, (0 < p)%Z -> exp x <= IZR m / IZR p ->
  exp (2 ^ k * x) <= IZR (squared 1 p k m) / IZR p.
Proof.
  intros p k; induction k as [|k IH]; intros m x P H; simpl squared.
  - rewrite pow_O, Rmult_1_l; exact H.
  - replace (2 ^ S k * x) with (2 ^ k * (2 * x)) by (simpl; ring); apply IH; [exact P|].
    assert (Q : 0 < IZR p) by (apply (IZR_lt 0), P).
    apply Rmult_le_reg_r with (IZR p * IZR p); [apply Rmult_lt_0_compat; exact Q|].
    replace (IZR (m * m / p + 1) / IZR p * (IZR p * IZR p)) with (IZR (m * m / p + 1) * IZR p) by (field; lra).
    rewrite <- (mult_IZR (m * m / p + 1)). apply Rle_trans with (IZR (m * m)).
    + rewrite exp_doubled, !mult_IZR.
      replace (IZR m * IZR m) with ((IZR m / IZR p) * (IZR m / IZR p) * (IZR p * IZR p)) by (field; lra).
      apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|].
      pose proof (exp_pos x); apply Rmult_le_compat; lra.
    + apply IZR_le. pose proof (Z.mul_succ_div_gt (m * m) p P). lia.
Qed.
Lemma squared_below : forall p k m x, (0 < p)%Z -> (0 <= m)%Z -> IZR m / IZR p <= exp x ->
  IZR (squared 0 p k m) / IZR p <= exp (2 ^ k * x).
Proof.
  intros p k; induction k as [|k IH]; intros m x P M H; simpl squared.
  - rewrite pow_O, Rmult_1_l; exact H.
  - replace (2 ^ S k * x) with (2 ^ k * (2 * x)) by (simpl; ring).
    assert (Q : 0 < IZR p) by (apply (IZR_lt 0), P).
    apply IH; [exact P | rewrite Z.add_0_r; apply Z.div_pos; [apply Z.mul_nonneg_nonneg |]; assumption |].
    apply Rmult_le_reg_r with (IZR p * IZR p); [apply Rmult_lt_0_compat; exact Q|].
    replace (IZR (m * m / p + 0) / IZR p * (IZR p * IZR p)) with (IZR p * IZR (m * m / p + 0)) by (field; lra).
    rewrite <- (mult_IZR p). apply Rle_trans with (IZR (m * m)).
    + apply IZR_le. rewrite Z.add_0_r; apply Z.mul_div_le, P.
    + rewrite exp_doubled, !mult_IZR.
      replace (IZR m * IZR m) with ((IZR m / IZR p) * (IZR m / IZR p) * (IZR p * IZR p)) by (field; lra).
      apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|].
      assert (0 <= IZR m / IZR p).
      { apply Rmult_le_pos; [apply (IZR_le 0), M | left; apply Rinv_0_lt_compat, Q]. }
      apply Rmult_le_compat; assumption.
Qed.
(* 1 + x <= e^x <= 1/(1 - x). *)
Lemma exp_at_most : forall (p n d : Z) (k : nat), (0 < p)%Z -> (0 < d)%Z -> (n < d * 2 ^ Z.of_nat k)%Z ->
  let e := (d * 2 ^ Z.of_nat k)%Z in exp (IZR n / IZR d) <= IZR (squared 1 p k (p * e / (e - n) + 1)) / IZR p.
Proof.
  intros p n d k P D S e.
  assert (Q : 0 < IZR p) by (apply (IZR_lt 0), P). assert (C : 0 < IZR d) by (apply (IZR_lt 0), D).
  assert (B : 0 < 2 ^ k) by (apply pow_lt; lra).
  assert (V : IZR e = IZR d * 2 ^ k) by (unfold e; rewrite mult_IZR, <- pow_IZR; reflexivity).
  assert (G : IZR n < IZR e) by (apply IZR_lt, S).
  assert (U : 0 < IZR e) by (rewrite V; apply Rmult_lt_0_compat; assumption).
  replace (IZR n / IZR d) with (2 ^ k * (IZR n / IZR e)) by (rewrite V; field; lra).
  apply squared_above; [exact P|].
  apply Rle_trans with (IZR e / (IZR e - IZR n)).
  - rewrite <- (Ropp_involutive (IZR n / IZR e)), exp_Ropp.
    replace (IZR e / (IZR e - IZR n)) with (/ (1 + - (IZR n / IZR e))) by (field; lra).
    apply Rinv_le_contravar; [|apply exp_ineq1_le].
    apply Rmult_lt_reg_r with (IZR e); [exact U|].
    replace ((1 + - (IZR n / IZR e)) * IZR e) with (IZR e - IZR n) by (field; lra). lra.
  - apply Rmult_le_reg_r with (IZR p * (IZR e - IZR n)); [apply Rmult_lt_0_compat; lra|].
    replace (IZR e / (IZR e - IZR n) * (IZR p * (IZR e - IZR n))) with (IZR p * IZR e) by (field; lra).
    replace (IZR (p * e / (e - n) + 1) / IZR p * (IZR p * (IZR e - IZR n)))
      with (IZR (p * e / (e - n) + 1) * (IZR e - IZR n)) by (field; lra).
    rewrite <- minus_IZR, <- !mult_IZR; apply IZR_le.
    pose proof (Z.mul_succ_div_gt (p * e) (e - n) ltac:(unfold e in *; lia)). lia.
Qed.
Lemma exp_at_least : forall (p n d : Z) (k : nat), (0 < p)%Z -> (0 < d)%Z -> (- n <= d * 2 ^ Z.of_nat k)%Z ->
  let e := (d * 2 ^ Z.of_nat k)%Z in IZR (squared 0 p k (p * (e + n) / e)) / IZR p <= exp (IZR n / IZR d).
Proof.
  intros p n d k P D S e.
  assert (Q : 0 < IZR p) by (apply (IZR_lt 0), P). assert (C : 0 < IZR d) by (apply (IZR_lt 0), D).
  assert (B : 0 < 2 ^ k) by (apply pow_lt; lra).
  assert (V : IZR e = IZR d * 2 ^ k) by (unfold e; rewrite mult_IZR, <- pow_IZR; reflexivity).
  assert (U : 0 < IZR e) by (rewrite V; apply Rmult_lt_0_compat; assumption).
  assert (W : (0 < e)%Z) by (apply lt_IZR, U).
  replace (IZR n / IZR d) with (2 ^ k * (IZR n / IZR e)) by (rewrite V; field; lra).
  apply squared_below; [exact P | apply Z.div_pos; [apply Z.mul_nonneg_nonneg|]; unfold e in *; lia |].
  apply Rle_trans with (1 + IZR n / IZR e); [|apply exp_ineq1_le].
  apply Rmult_le_reg_r with (IZR p * IZR e); [apply Rmult_lt_0_compat; assumption|].
  replace ((1 + IZR n / IZR e) * (IZR p * IZR e)) with (IZR p * (IZR e + IZR n)) by (field; lra).
  replace (IZR (p * (e + n) / e) / IZR p * (IZR p * IZR e)) with (IZR e * IZR (p * (e + n) / e)) by (field; lra).
  rewrite <- plus_IZR, <- !mult_IZR; apply IZR_le, Z.mul_div_le, W.
Qed.
Lemma ln_at_least : forall c x, 0 < x -> exp c <= x -> c <= ln x.
Proof. intros c x X H; rewrite <- (ln_exp c); destruct H as [H | ->]; [left; apply ln_increasing, H; apply exp_pos | right; reflexivity]. Qed.
Lemma ln_at_most : forall c x, 0 < x -> x <= exp c -> ln x <= c.
Proof. intros c x X H; rewrite <- (ln_exp c); destruct H as [H | ->]; [left; apply ln_increasing, H; exact X | right; reflexivity]. Qed.
Ltac computed H :=
  cbv zeta in H;
  match type of H with
  | context [squared ?up ?p ?k ?m] =>
    let v := eval vm_compute in (squared up p k m) in
    replace (squared up p k m) with v in H by (vm_compute; reflexivity)
  end.
(* Bounds of e^x and of ln a at numbers, as facts: x is n/d, and a is between e^x for two such x. *)
Ltac exp_bounds x n d k :=
  let unit := constr:(1000000000000000000000000000000%Z) in
  let A := fresh "X" in
  pose proof (exp_at_most unit n d k eq_refl eq_refl eq_refl) as A; computed A;
  let B := fresh "X" in
  pose proof (exp_at_least unit n d k eq_refl eq_refl ltac:(discriminate)) as B; computed B;
  replace (IZR n / IZR d) with x in A, B by lra.
Ltac ln_above a x n d k := let B := fresh "X" in assert (B : x <= ln a) by (apply ln_at_least; [lra | exp_bounds x n d k; lra]).
Ltac ln_below a x n d k := let B := fresh "X" in assert (B : ln a <= x) by (apply ln_at_most; [lra | exp_bounds x n d k; lra]).
(* A logarithm in the goal of a number whose square is rational, such as that of 2 sqrt 3: half that of its square. *)
Lemma ln_of_square : forall a r, 0 < a -> a ^ 2 = r -> ln a = ln r / 2.
Proof. intros a r A <-; replace (a ^ 2) with (a * a) by ring; rewrite ln_mult by exact A; lra. Qed.
Ltac roots_as_variables :=
  repeat match goal with |- context [sqrt ?a] =>
    let S := fresh "S" in let E := fresh "E" in let s := fresh "s" in
    assert (S : 0 < sqrt a) by (apply sqrt_lt_R0; lra);
    assert (E : sqrt a ^ 2 = a) by (apply pow2_sqrt; lra);
    generalize dependent (sqrt a); intros s S E
  end.
Ltac square_of_roots :=
  repeat match goal with |- context [?s ^ S (S (S ?n))] =>
    let half := eval compute in (S (Nat.div2 (S n))) in
    replace (s ^ S (S (S n))) with ((s ^ 2) ^ half) by (rewrite <- pow_mult; reflexivity)
  end;
  repeat match goal with E : ?s ^ 2 = _ |- _ => rewrite E; clear E end; lra.
Ltac is_square :=
  first
    [ lra
    | roots_as_variables; field_simplify_eq; repeat match goal with |- _ /\ _ => split end;
      first [nonzero | square_of_roots] ].
Ltac ln_of_squared r x n d y m e k :=
  match goal with |- context [ln ?a] =>
    let E := fresh "E" in
    assert (E : ln a = ln r / 2) by (apply ln_of_square; [positive | is_square]);
    rewrite E; clear E; ln_above r x n d k; ln_below r y m e k; generalize dependent (ln r); intros
  end.
