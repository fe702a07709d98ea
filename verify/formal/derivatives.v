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
