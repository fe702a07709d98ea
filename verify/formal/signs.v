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
