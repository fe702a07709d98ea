(** The claims of Lemmas 6, 5, 4 and 1, for every number of layers, as propositions. *)

Require Import Reals Arith.
From Coquelicot Require Import Coquelicot.
From PreconditionedDescent Require Import definitions.
Open Scope R_scope.

(** ** The hypotheses *)

(** `zero_last_column`: the last column of every Q_l is zero. *)
Definition zero_last_column (d L : nat) (Q : nat -> matrix) : Prop :=
  forall l i, (l < L)%nat -> (i <= d)%nat -> Q l i d = 0.
(** E takes the mean under a law of the tokens and w. All that is asked of it: equal functions have equal means. *)
Definition mean (E : (matrix -> vector -> R) -> R) : Prop :=
  forall f g, (forall x w, f x w = g x w) -> E f = E g.
(** s permutes the layers 0 … L − 1. *)
Definition permutation (L : nat) (s : nat -> nat) : Prop :=
  (forall l, (l < L)%nat -> (s l < L)%nat) /\
  (forall l m, (l < L)%nat -> (m < L)%nat -> s l = s m -> l = m).
(** Layers of pattern (8), and `multiples`: A_l = a_l K. *)
Definition pattern_forward (d n L : nat) (A : nat -> matrix) (Z : matrix) : matrix :=
  forward d n L (fun _ => pattern_P d) (fun l => pattern_Q d (A l)) Z.
Definition multiple (a : nat -> R) (K : matrix) (l : nat) : matrix := fun i j => a l * K i j.
Definition symmetric (d : nat) (A : matrix) : Prop := forall i j, (i < d)%nat -> (j < d)%nat -> A i j = A j i.

(** ** `ahn2023.lemma6` *)

(** `outputs`: after L layers a label c in the place of the query's 0 has added c to the query's label, and nothing else
    has changed. The examples' labels y are any numbers. *)
Definition lemma6_outputs : Prop := forall d n L P Q x y c, (1 <= n)%nat -> zero_last_column d L Q ->
  forall i j, (i <= d)%nat -> (j <= n)%nat ->
  forward d n L P Q (prompt d n x y c) i j =
  forward d n L P Q (prompt d n x y 0) i j + (if andb (i =? d) (j =? n) then c else 0).

(** With another last column of Q neither a token nor the label need be so, after one layer. *)
Definition lemma6_any_last_column : Prop := exists d n P Q x y c, (1 <= d)%nat /\ (1 <= n)%nat /\
  forward d n 1 P Q (prompt d n x y c) 0%nat n <> forward d n 1 P Q (prompt d n x y 0) 0%nat n /\
  forward d n 1 P Q (prompt d n x y c) d n <> forward d n 1 P Q (prompt d n x y 0) d n + c.

(** ** `ahn2023.lemma5` *)

(** The last label, with ⟨w, x_{n+1}⟩ in the place of the query's 0. *)
Definition filled_in_label (d n L : nat) (P Q : nat -> matrix) (x : matrix) (w : vector) : R :=
  forward d n L P Q (prompt d n x (labels d x w) (labels d x w n)) d n.

(** `mean_square`: f is the mean square of that label, which is minus the error. *)
Definition lemma5_error : Prop := forall d n L P Q x w, (1 <= n)%nat -> zero_last_column d L Q ->
  error d n L P Q x w = - filled_in_label d n L P Q x w.
Definition lemma5_mean_square : Prop := forall d n L P Q E, (1 <= n)%nat -> zero_last_column d L Q -> mean E ->
  in_context_loss d n E L P Q = E (fun x w => filled_in_label d n L P Q x w ^ 2).

(** With another last column of Q it need not be. *)
Definition lemma5_any_last_column : Prop := exists d n P Q E, (1 <= d)%nat /\ (1 <= n)%nat /\ mean E /\
  in_context_loss d n E 1 P Q <> E (fun x w => filled_in_label d n 1 P Q x w ^ 2).

(** ** `ahn2023.lemma4` *)

(** `every_order`: no order of the a_l changes Z_L, for any labels, the prediction in it, nor the loss. *)
Definition lemma4_every_order : Prop := forall d n L K a s x y c, (1 <= n)%nat -> permutation L s ->
  forall i j, (i <= d)%nat -> (j <= n)%nat ->
  pattern_forward d n L (multiple (fun l => a (s l)) K) (prompt d n x y c) i j =
  pattern_forward d n L (multiple a K) (prompt d n x y c) i j.
Definition pattern_loss (d n : nat) (E : (matrix -> vector -> R) -> R) (L : nat) (A : nat -> matrix) : R :=
  in_context_loss d n E L (fun _ => pattern_P d) (fun l => pattern_Q d (A l)).
Definition lemma4_loss : Prop := forall d n L K a s E, (1 <= n)%nat -> permutation L s -> mean E ->
  pattern_loss d n E L (multiple (fun l => a (s l)) K) = pattern_loss d n E L (multiple a K).

(** Two layers of any two matrices may predict otherwise in the other order. *)
Definition lemma4_any_matrices : Prop := exists d n A B x y, (1 <= n)%nat /\
  pattern_forward d n 2 (fun l => if l =? 0 then A else B) (prompt d n x y 0) d n <>
  pattern_forward d n 2 (fun l => if l =? 0 then B else A) (prompt d n x y 0) d n.

(** ** `ahn2023.lemma1` *)

(** Z_L has the tokens x, the labels ⟨w − v, x_j⟩ of the examples and −⟨v, x_{n+1}⟩ of the query. *)
Definition at_iterate (d n : nat) (x : matrix) (w v : vector) (Z : matrix) : Prop :=
  (forall i j, (i < d)%nat -> (j <= n)%nat -> Z i j = x i j) /\
  (forall j, (j < n)%nat -> Z d j = sum d (fun k => (w k - v k) * x k j)) /\
  Z d n = - sum d (fun k => v k * x k n).

(** `every_layer`: after L layers Z_L is at v_L, which descends with the preconditioners A_lᵀ. *)
Definition lemma1_every_layer : Prop := forall d n L A x w v, (1 <= n)%nat ->
  descent d n x w L (fun l => transpose (A l)) v ->
  at_iterate d n x w (v L) (pattern_forward d n L A (prompt d n x (labels d x w) 0)).
(** As printed, with the preconditioners A_l, where these are symmetric. *)
Definition lemma1_as_printed : Prop := forall d n L A x w v, (1 <= n)%nat ->
  (forall l, (l < L)%nat -> symmetric d (A l)) -> descent d n x w L A v ->
  at_iterate d n x w (v L) (pattern_forward d n L A (prompt d n x (labels d x w) 0)).
(** The gradient exists everywhere, and so does the descent. *)
Definition lemma1_descent_exists : Prop := forall d n x w L B, (1 <= n)%nat -> exists v, descent d n x w L B v.

(** As printed it fails for some matrix that is not symmetric, after one layer. *)
Definition lemma1_any_matrix : Prop := exists d n A x w v, (1 <= n)%nat /\ descent d n x w 1 (fun _ => A) v /\
  pattern_forward d n 1 (fun _ => A) (prompt d n x (labels d x w) 0) d n <> - sum d (fun k => v 1%nat k * x k n).
