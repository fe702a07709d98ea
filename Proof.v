(* lemmascope, for Rocq: proofs *)
Require Statement.
(* Equations of rational functions and signs of sums and products, computed on terms as data. *)
From Coq Require Import Reals ZArith List Lra Lia setoid_ring.Field_theory setoid_ring.Ring_polynom setoid_ring.BinList.
From Ltac2 Require Import Ltac2.
Set Default Proof Mode "Classic".
#[local] Unset Asymmetric Patterns.
Local Open Scope R_scope.

(* Terms as data, with the values of their atoms: what `field` does, read faster. *)
Notation value := (FEeval 0 1 Rplus Rmult Rminus Ropp Rdiv Rinv IZR N.to_nat pow).
Notation nonzero_all := (PCond 0 1 Rplus Rmult Rminus Ropp (@eq R) IZR N.to_nat pow).
Definition quotient := Fnorm 0%Z 1%Z Z.add Z.mul Z.sub Z.opp Zeq_bool.
Definition divisors (e f : FExpr Z) :=
  Fapp (Fcons2 0%Z 1%Z Z.add Z.mul Z.sub Z.opp Zeq_bool Z.quotrem)
    (condition (quotient e) ++ condition (quotient f)) nil.
Definition normal := norm_subst 0%Z 1%Z Z.add Z.mul Z.sub Z.opp Zeq_bool Z.quotrem 0 nil.
Fixpoint equals (p q : Pol Z) : bool :=
  match p, q with
  | Pc a, Pc b => Z.eqb a b
  | Pinj i p, Pinj j q => if Pos.eqb i j then equals p q else false
  | PX p i r, PX q j s => if Pos.eqb i j then if equals p q then equals r s else false else false
  | _, _ => false
  end.
Lemma equals_by : forall p q, equals p q = true -> p = q.
Proof.
  induction p; destruct q; simpl; intro H; try discriminate;
    repeat match type of H with (if ?b then _ else _) = true => destruct b eqn:?; [|discriminate] end;
    f_equal; auto; now apply Z.eqb_eq || now apply Pos.eqb_eq.
Qed.
(* Equal numerators over equal divisors, or else equal products of each with the other's divisor. The products are not
   computed if the parts are equal: `if` computes one branch, `orb` both. *)
Definition equal_parts (a b : linear Z) :=
  if equals (normal (denum a)) (normal (denum b)) then equals (normal (num a)) (normal (num b)) else false.
Definition same (e f : FExpr Z) :=
  let a := quotient e in let b := quotient f in
  if equal_parts a b then true
  else Peq Zeq_bool (normal (PEmul (num a) (denum b))) (normal (PEmul (num b) (denum a))).
Lemma equal_by : forall l e f, same e f = true -> nonzero_all l (divisors e f) -> value l e = value l f.
Proof.
  intros l e f S D.
  assert (C : nonzero_all l (condition (quotient e) ++ condition (quotient f)))
    by (apply RField_lemma5; intros lock ->; exact D).
  unfold same in S; cbv zeta in S; destruct (equal_parts (quotient e) (quotient f)) eqn:P;
    [clear S | exact (RField_field_lemma1 0 l nil e f I nil eq_refl _ eq_refl _ eq_refl S C)].
  unfold equal_parts in P; destruct (equals (normal (denum _)) _) eqn:V; [rename P into N | discriminate].
  apply equals_by in V, N; apply PCond_app in C as [A B].
  rewrite (RField_field_lemma2 0 nil l I nil eq_refl e _ eq_refl A).
  rewrite (RField_field_lemma2 0 nil l I nil eq_refl f _ eq_refl B).
  unfold normal, quotient in V, N; rewrite V, N; reflexivity.
Qed.

(* Signs of terms by those of their atoms. *)
Inductive known := Above | AtLeast | Apart | Unknown.
Definition says (k : known) (x : R) : Prop :=
  match k with Above => 0 < x | AtLeast => 0 <= x | Apart => x <> 0 | Unknown => True end.
Fixpoint says_all (ks : list known) (l : list R) : Prop :=
  match ks with nil => True | k :: more => says k (hd 0 l) /\ says_all more (tl l) end.
Definition of_sum a b :=
  match a, b with
  | Above, (Above | AtLeast) | AtLeast, Above => Above | AtLeast, AtLeast => AtLeast | _, _ => Unknown end.
Definition of_product a b :=
  match a, b with
  | Above, k | k, Above => k | AtLeast, AtLeast => AtLeast | Apart, Apart => Apart | _, _ => Unknown end.
Definition of_inverse a := match a with Above => Above | Apart => Apart | _ => Unknown end.
Definition of_opposite a := match a with Above | Apart => Apart | _ => Unknown end.
Definition of_power a n :=
  match a with
  | Above => Above
  | _ => if N.even n then match a with Apart => Above | _ => AtLeast end else a end.
Fixpoint sign (ks : list known) (e : FExpr Z) : known :=
  match e with
  | FEc (Zpos _) | FEI => Above
  | FEc Z0 | FEO => AtLeast
  | FEc (Zneg _) => Apart
  | FEX _ p => BinList.nth Unknown p ks
  | FEadd a b => of_sum (sign ks a) (sign ks b)
  | FEsub _ _ => Unknown
  | FEmul a b => of_product (sign ks a) (sign ks b)
  | FEopp a => of_opposite (sign ks a)
  | FEinv a => of_inverse (sign ks a)
  | FEdiv a b => of_product (sign ks a) (of_inverse (sign ks b))
  | FEpow a n => of_power (sign ks a) n
  end.
Lemma says_tail : forall ks l, says_all ks l -> says_all (tl ks) (tl l).
Proof. intros [|k ks] l; simpl; tauto. Qed.
Lemma says_jump : forall p ks l, says_all ks l -> says_all (BinList.jump p ks) (BinList.jump p l).
Proof. induction p; simpl; intros; auto using says_tail. Qed.
Lemma says_nth : forall p ks l, says_all ks l -> says (BinList.nth Unknown p ks) (BinList.nth 0 p l).
Proof.
  induction p; simpl; intros ks l H; auto using says_tail, says_jump.
  destruct ks; simpl in *; tauto.
Qed.
Lemma says_sum : forall a b x y, says a x -> says b y -> says (of_sum a b) (x + y).
Proof. intros [| | |] [| | |]; simpl; intros; try exact I; lra. Qed.
Lemma says_product : forall a b x y, says a x -> says b y -> says (of_product a b) (x * y).
Proof.
  intros [| | |] [| | |] x y; simpl; intros; try exact I; try (apply Rmult_lt_0_compat; assumption);
    try (apply Rmult_le_pos; lra); apply Rmult_integral_contrapositive_currified; lra.
Qed.
Lemma says_inverse : forall a x, says a x -> says (of_inverse a) (/ x).
Proof.
  intros [| | |] x; simpl; intros; try exact I; [apply Rinv_0_lt_compat | apply Rinv_neq_0_compat]; assumption.
Qed.
Lemma says_power : forall a x n, says a x -> says (of_power a n) (x ^ N.to_nat n).
Proof.
  intros a x n H.
  assert (E : N.even n = true -> exists m, x ^ N.to_nat n = (x ^ m) ^ 2).
  { intro V; apply N.even_spec in V as [m ->]; exists (N.to_nat m).
    rewrite Nnat.N2Nat.inj_mul, Nat.mul_comm; exact (pow_mult x (N.to_nat m) 2). }
  destruct a; simpl in *; [apply pow_lt, H | | |]; destruct (N.even n);
    try (destruct (E eq_refl) as [m W]; rewrite W); simpl;
    try apply pow2_ge_0; try exact I; try (apply pow_le; assumption); try (apply pow_nonzero; assumption).
  - apply Rlt_le_trans with (0 + (x ^ m) ^ 2); [|lra]. rewrite Rplus_0_l.
    assert (x ^ m <> 0) by (apply pow_nonzero; assumption).
    destruct (Rtotal_order (x ^ m) 0) as [C | [C | C]]; [|contradiction|]; nra.
Qed.
Lemma says_sign : forall ks l, says_all ks l -> forall e, says (sign ks e) (value l e).
Proof.
  intros ks l H; induction e as [| | [|c|c] | p | | | | a A | | |]; simpl;
    auto using says_sum, says_product, says_inverse, says_power, says_nth; try (unfold Rdiv; auto using says_product, says_inverse); try lra.
  - apply IZR_lt; reflexivity.
  - apply Rlt_not_eq, (IZR_lt _ 0); reflexivity.
  - destruct (sign ks a); simpl in *; try exact I; lra.
Qed.
Definition above (k : known) := match k with Above => true | _ => false end.
Definition at_least (k : known) := match k with Above | AtLeast => true | _ => false end.
Definition apart (k : known) := match k with Above | Apart => true | _ => false end.
Lemma positive_by : forall ks l e, above (sign ks e) = true -> says_all ks l -> 0 < value l e.
Proof. intros ks l e S H; pose proof (says_sign ks l H e); destruct (sign ks e); try discriminate; simpl in *; lra. Qed.
Lemma nonnegative_by : forall ks l e, at_least (sign ks e) = true -> says_all ks l -> 0 <= value l e.
Proof. intros ks l e S H; pose proof (says_sign ks l H e); destruct (sign ks e); try discriminate; simpl in *; lra. Qed.
Lemma nonzero_by : forall ks l e, apart (sign ks e) = true -> says_all ks l -> value l e <> 0.
Proof. intros ks l e S H; pose proof (says_sign ks l H e); destruct (sign ks e); try discriminate; simpl in *; lra. Qed.

(* A term is read as data; `atoms` are its parts that are none of the operations, with what stands for each. *)
Ltac2 Type reading := { mutable atoms : (constr * constr) list; mutable count : int; keep : constr -> bool }.
Ltac2 rec positive_of (n : int) : constr :=
  match Int.equal n 1 with
  | true => constr:(xH)
  | false =>
    let half := positive_of (Int.div n 2) in
    match Int.equal (Int.mod n 2) 1 with true => constr:(xI $half) | false => constr:(xO $half) end
  end.
Ltac2 number_of (n : int) : constr :=
  match Int.equal n 0 with true => constr:(N0) | false => let p := positive_of n in constr:(Npos $p) end.
Ltac2 rec literal (t : constr) : bool :=
  match Constr.Unsafe.kind t with
  | Constr.Unsafe.Constructor _ _ => true
  | Constr.Unsafe.App f xs => match literal f with true => Array.for_all literal xs | false => false end
  | _ => false
  end.
Ltac2 rec natural (n : int) (t : constr) : int option :=
  match Constr.Unsafe.kind t with
  | Constr.Unsafe.Constructor _ _ => Some n
  | Constr.Unsafe.App f xs =>
    match Constr.equal f constr:(S) with true => natural (Int.add n 1) (Array.get xs 0) | false => None end
  | _ => None
  end.
Ltac2 rec found (t : constr) (l : (constr * 'a) list) : 'a option :=
  match l with
  | [] => None
  | e :: l => let (u, x) := e in match Constr.equal t u with true => Some x | false => found t l end
  end.
Ltac2 atom (r : reading) (t : constr) : constr :=
  match found t (r.(atoms)) with
  | Some x => x
  | None =>
    let n := Int.add (r.(count)) 1 in
    let p := positive_of n in
    let x := constr:(@FEX Z $p) in
    r.(count) := n; r.(atoms) := (t, x) :: r.(atoms); x
  end.
Ltac2 call (head : constr) (parts : constr list) : constr :=
  Constr.Unsafe.make (Constr.Unsafe.App head (Array.of_list (constr:(Z) :: parts))).
Ltac2 read (r : reading) (t : constr) : constr :=
  let operations := [(constr:(Rplus), constr:(@FEadd)); (constr:(Rmult), constr:(@FEmul));
    (constr:(Rminus), constr:(@FEsub)); (constr:(Rdiv), constr:(@FEdiv)); (constr:(Ropp), constr:(@FEopp));
    (constr:(Rinv), constr:(@FEinv))] in
  let number := constr:(IZR) in let power := constr:(pow) in
  let rec go t :=
    match Constr.Unsafe.kind t with
    | Constr.Unsafe.App f xs =>
      match r.(keep) t with
      | true => atom r t
      | false =>
        match found f operations with
        | Some head => call head (List.map go (Array.to_list xs))
        | None =>
          match Constr.equal f number with
          | true =>
            match literal (Array.get xs 0) with true => call constr:(@FEc) [Array.get xs 0] | false => atom r t end
          | false =>
            match Constr.equal f power with
            | false => atom r t
            | true =>
              match natural 0 (Array.get xs 1) with
              | Some n => call constr:(@FEpow) [go (Array.get xs 0); number_of n]
              | None => atom r t
              end
            end
          end
        end
      end
    | _ => atom r t
    end in
  go t.
Ltac2 values_of (r : reading) : constr :=
  List.fold_left (fun l e => let (t, _) := e in constr:(@cons R $t $l)) (r.(atoms)) constr:(@nil R).
Ltac2 given (t : Ltac1.t) : constr := Option.get (Ltac1.to_constr t).
Ltac2 read_both (a : constr) (b : constr) (k : Ltac1.t) : unit :=
  let r := { atoms := []; count := 0; keep := fun _ => false } in
  let e := read r a in let f := read r b in
  Ltac1.apply k (List.map Ltac1.of_constr [values_of r; e; f]) Ltac1.run.
Ltac with_both := ltac2:(a b k |- read_both (given a) (given b) k).

(* The equation holds where the divisors are not 0, which is left to be shown. *)
Ltac equal_where_defined :=
  match goal with
  | |- ?a = ?b =>
    with_both a b ltac:(fun l e f =>
      change_no_check (value l e = value l f); apply (equal_by l e f); [vm_compute; exact (eq_refl true) |];
      let d := eval vm_compute in (divisors e f) in
      change_no_check (nonzero_all l d);
      cbv [PCond PEeval BinList.nth hd tl BinList.jump N.to_nat Pos.to_nat Pos.iter_op Nat.add])
  end.

(* The sign of a term, by those of its atoms: these have facts, or `leaf` shows them. *)
Ltac2 fact (h : constr) (t : constr) : (constr * (constr * constr)) option :=
  match! t with
  | 0 < ?a => Some (a, (constr:(Above), h))
  | 0 <= ?a => Some (a, (constr:(AtLeast), h))
  | ?a <> 0 => Some (a, (constr:(Apart), h))
  | _ => None
  end.
Ltac2 rec facts_of (l : (ident * constr option * constr) list) : (constr * (constr * constr)) list :=
  match l with
  | [] => []
  | e :: l =>
    let (h, _, t) := e in
    match fact (Control.hyp h) t with Some f => f :: facts_of l | None => facts_of l end
  end.
Ltac2 shown (leaf : Ltac1.t) (a : constr) : constr * constr :=
  let prove (g : constr) := constr:(ltac2:(Ltac1.run leaf) : $g) in
  Control.plus (fun () => (constr:(Above), prove constr:(0 < $a))) (fun _ =>
  Control.plus (fun () => (constr:(AtLeast), prove constr:(0 <= $a))) (fun _ => (constr:(Unknown), constr:(I)))).
Ltac2 by_signs (t : constr) (lemma : Ltac1.t) (leaf : Ltac1.t) : unit :=
  let facts := facts_of (Control.hyps ()) in
  let minus := constr:(Rminus) in
  let keep t :=
    match Constr.Unsafe.kind t with
    | Constr.Unsafe.App f _ =>
      match Constr.equal f minus with
      | true => true
      | false => match found t facts with Some _ => true | None => false end
      end
    | _ => false
    end in
  let r := { atoms := []; count := 0; keep := keep } in
  let e := read r t in
  let l := values_of r in
  let known e := let (a, _) := e in
    match found a facts with Some f => f | None => shown leaf a end in
  let each := List.map known (r.(atoms)) in
  let signs := List.fold_left (fun l e => let (k, _) := e in constr:(@cons known $k $l)) each constr:(@nil known) in
  let proof := List.fold_left (fun p e => let (_, h) := e in constr:(conj $h $p)) each constr:(I) in
  Ltac1.apply lemma (List.map Ltac1.of_constr [signs; l; e; proof]) Ltac1.run.
Ltac sign_of := ltac2:(t lemma leaf |- by_signs (given t) lemma leaf).
Ltac signs leaf :=
  match goal with
  | |- 0 < ?t => sign_of t ltac:(fun s l e p =>
      change_no_check (0 < value l e); apply (positive_by s l e); [vm_compute; exact (eq_refl true) | exact p]) leaf
  | |- 0 <= ?t => sign_of t ltac:(fun s l e p =>
      change_no_check (0 <= value l e); apply (nonnegative_by s l e); [vm_compute; exact (eq_refl true) | exact p]) leaf
  | |- ?t <> 0 => sign_of t ltac:(fun s l e p =>
      change_no_check (value l e <> 0); apply (nonzero_by s l e); [vm_compute; exact (eq_refl true) | exact p]) leaf
  end.
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
(* Derivatives and limits are shown with Coquelicot. *)
From Coquelicot Require Import Coquelicot.
Ltac derive :=
  auto_derive;
  first
    [ reflexivity
    | repeat match goal with |- _ /\ _ => split end; first [exact I | nonzero | positive] ].
(* What is not 0, or is positive, is so around the point where it has a derivative. *)
Lemma near_and : forall (x : R) (P Q : R -> Prop), locally x P -> locally x Q -> locally x (fun y => P y /\ Q y).
Proof. intros x P Q; exact (filter_and P Q). Qed.
Lemma near_apart : forall (g : R -> R) (x : R), ex_derive g x -> g x <> 0 -> locally x (fun y => g y <> 0).
Proof. intros g x D H; exact (ex_derive_continuous g x D _ (open_neq 0 (g x) H)). Qed.
Lemma near_above : forall (g : R -> R) (x : R), ex_derive g x -> 0 < g x -> locally x (fun y => 0 < g y).
Proof. intros g x D H; exact (ex_derive_continuous g x D _ (open_gt 0 (g x) H)). Qed.
Ltac near :=
  lazymatch goal with
  | |- locally _ (fun _ => True) => apply filter_forall; intro; exact I
  | |- locally ?x (fun y => @?P y /\ @?Q y) => apply (near_and x P Q); cbv beta; near
  | |- locally ?x (fun y => @?g y <> 0) => apply (near_apart g x); [derive | cbv beta; nonzero]
  | |- locally ?x (fun y => 0 < @?g y) => apply (near_above g x); [derive | cbv beta; positive]
  end.
(* A derivative of higher order is one of the function that is the next lower one around the point. *)
Lemma once_more : forall (f g : R -> R) (n : nat) (x l : R),
  locally x (fun y => is_derive_n f n y (g y)) -> is_derive g x l -> is_derive_n f (S n) x l.
Proof.
  intros f g n x l H D; apply (is_derive_ext_loc g (Derive_n f n) x l); [|exact D].
  apply (fun h => filter_imp _ _ h H); intros y Y; symmetry; apply is_derive_n_unique; exact Y.
Qed.
Lemma derivatives_exist : forall (f g : R -> R) (n : nat) (x : R),
  locally x (fun y => is_derive_n f (S n) y (g y)) -> locally x (fun y => ex_derive_n f (S n) y).
Proof. intros f g n x; apply filter_imp; intros y Y; exists (g y); exact Y. Qed.
(* D says of which function the values are derivatives of an order around the point, first of order 0. *)
Ltac lower_orders :=
  match goal with
  | |- context [is_derive_n ?f _ ?x _] =>
    match goal with
    | _ : locally x _ |- _ => idtac
    | _ => assert (locally x (fun _ : R => True)) by (apply filter_forall; intro; exact I)
    end;
    let D := fresh "D" in
    assert (D : locally x (fun y => is_derive_n f 0 y (f y))) by (apply filter_forall; intro; reflexivity)
  end.
Ltac next_order :=
  match goal with
  | D : locally ?x (fun y => is_derive_n ?f ?n y (@?g y)), L : locally ?x ?needs |- _ =>
    lazymatch needs with fun y => is_derive_n _ _ y _ => fail | _ => idtac end;
    let h := open_constr:(_ : R -> R) in
    let E := fresh "E" in
    assert (E : locally x (fun y => is_derive_n f (S n) y (h y)));
    [ refine (filter_imp _ _ _ (filter_and _ _ L (locally_locally x _ D))); cbv beta;
      let y := fresh "y" in let Y := fresh "Y" in let N := fresh "N" in
      intros y [N Y]; repeat match goal with M : _ /\ _ |- _ => destruct M end;
      apply (once_more f g n y _ Y); cbv beta; derive
    | cbv beta in E; clear D; rename E into D ]
  end.
Ltac exists_around :=
  match goal with
  | D : locally ?x (fun y => is_derive_n ?f (S ?n) y (@?g y)) |- _ => exact (derivatives_exist f g n x D)
  end.
Ltac last_order :=
  match goal with
  | D : locally ?x (fun y => is_derive_n ?f ?n y (@?g y)) |- _ => apply (once_more f g n x _ D); cbv beta; derive
  end.
(* A limit from above is the value of a function that is continuous, and the same above the point. *)
Lemma from_above : forall x : R, at_right x (fun u => x < u).
Proof. intros x; apply (filter_forall (F := locally x)); intros u U; exact U. Qed.
Lemma right_of : forall (x : R) (P : R -> Prop), locally x P -> at_right x P.
Proof. intros x P H; apply (fun h => filter_imp (F := locally x) P _ h H); intros u U _; exact U. Qed.
Lemma tends : forall (f g : R -> R) (x l : R),
  at_right x (fun u => g u = f u) -> ex_derive g x -> g x = l -> filterlim f (at_right x) (locally l).
Proof.
  intros f g x l H D <-; apply (filterlim_ext_loc g _ H); intros P B.
  apply right_of, (ex_derive_continuous g x D P B).
Qed.
Ltac above_by W :=
  apply (fun h => filter_imp _ _ h W); let U := fresh "U" in intros around U;
  repeat match goal with M : _ /\ _ |- _ => destruct M end.
Set Default Timeout 60.

Theorem claim_claim : Statement.claim_claim.
Proof.
  unfold Statement.claim_claim, Statement.in_domain.
  intros x B_x.
  cbv beta iota in *.
  repeat match goal with N : _ /\ _ |- _ => destruct N end.
  assert (F_0 : x <> 0).
  {
    destruct (above_lt _ _ B_x) as (o_x & O_X & E); put E x.
    apply (nonzero_as _ ((o_x))); [equal | nonzero].
  }
  exists (x); split; [|].
  {
  pose proof (from_above 0) as W.
  assert (V : at_right 0 (fun around => - 3 * around + x <> 0)).
  {
    apply right_of, near_apart; [derive | cbv beta; apply (nonzero_as _ (x)); [equal | nonzero]].
  }
  apply (filter_and _ _ W) in V; clear W; rename V into W.
  assert (V : at_right 0 (fun around => - 3 * around + x <> 0)).
  {
    above_by W.
    apply (nonzero_as _ (around ^ 0 * (- 3 * around + x))); [equal | nonzero].
  }
  apply (filter_and _ _ W) in V; clear W; rename V into W.
  assert (V : at_right 0 (fun around => - x - 3 * around ^ 2 + around * x + around <> 0)).
  {
    apply right_of, near_apart; [derive | cbv beta; apply (nonzero_as _ (- x)); [equal | nonzero]].
  }
  apply (filter_and _ _ W) in V; clear W; rename V into W.
  assert (V : at_right 0 (fun around => (- around + x) / (- 3 * around + x) - around <> 0)).
  {
    above_by W.
    apply (nonzero_as _ (around ^ 0 * ((- x - 3 * around ^ 2 + around * x + around) / (- x + 3 * around)))); [equal | nonzero].
  }
  apply (filter_and _ _ W) in V; clear W; rename V into W.
  apply and_then; [above_by W; repeat split; assumption | intros _].
  apply (tends _ (fun around => (- x + 2 * around) * (- x + 3 * around) / (- around * x - around + 3 * around ^ 2 + x))).
  { above_by W; equal. }
  { assert (- 3 * 0 + x <> 0) by (apply (nonzero_as _ (x)); [equal | nonzero]). assert (- x - 3 * 0 ^ 2 + 0 * x + 0 <> 0) by (apply (nonzero_as _ (- x)); [equal | nonzero]). derive. }
  { assert (- 3 * 0 + x <> 0) by (apply (nonzero_as _ (x)); [equal | nonzero]). assert (- x - 3 * 0 ^ 2 + 0 * x + 0 <> 0) by (apply (nonzero_as _ (- x)); [equal | nonzero]). cbv beta; equal. }
  }
  flat; apply eq_by.
  equal.
Qed.

Theorem example_in_scope : Statement.example_in_scope.
Proof.
  unfold Statement.example_in_scope, Statement.in_domain; cbv beta iota.
  repeat match goal with |- _ /\ _ => split end; first [here].
Qed.
