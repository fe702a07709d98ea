(* Derivatives are shown with Coquelicot. *)
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
