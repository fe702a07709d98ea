(** Sparse token selection by one softmax attention layer: the definitions (Wang et al. 2024).

    Task. X = (x_1 … x_T) has independent standard normal entries, d × T; y is a uniformly random subset of q of the T
    tokens; the target is STS(X, y) = (1/q) Σ_{i ∈ y} x_i.
    Layer, with encodings e_1 … e_T in R^{d_e}, tokens z_i = (x_i; e_i) and the query z = (0; Σ_{i ∈ y} e_i):
    f(X, y) = V Z softmax(Zᵀ W z), with W of d + d_e rows and columns and V of d rows and d + d_e columns.
    Loss: L = E ½‖f(X, y) − STS(X, y)‖². Training: W and V from zero; each step subtracts η times the mean of the sample's
    gradient.

    Rows, columns and tokens are counted from 0. A matrix is a function of row and column; its entries outside its shape
    are never read. *)

Require Import Reals List Arith.
From Coquelicot Require Import Coquelicot.
From Formal Require Export definitions.
Import ListNotations.
Open Scope R_scope.

Definition matrix := nat -> nat -> R.

(** f 0 · … · f (n − 1), 1 for n = 0; the sum of natural numbers, 0 for n = 0. *)
Fixpoint product (n : nat) (f : nat -> R) : R := match n with O => 1 | S m => product m f * f m end.
Fixpoint nat_sum (n : nat) (f : nat -> nat) : nat := match n with O => 0%nat | S m => (nat_sum m f + f m)%nat end.

(** A subset of the tokens is the list of T booleans whose i-th entry says whether token i is selected. *)
Definition subset := list bool.
Definition selected (y : subset) (i : nat) : R := if nth i y false then 1 else 0.

(** All subsets of q of T tokens, each once: the first token is not selected, or is. *)
Fixpoint subsets (T q : nat) : list subset :=
  match T with
  | O => match q with O => [[]] | S _ => [] end
  | S t => map (cons false) (subsets t q) ++ match q with O => [] | S p => map (cons true) (subsets t p) end
  end.

Definition mean_over (ys : list subset) (f : subset -> R) : R := fold_right (fun y s => f y + s) 0 ys / INR (length ys).

Definition softmax (T : nat) (s : nat -> R) (i : nat) : R := exp (s i) / sum T (fun j => exp (s j)).

(** One-hot encodings: d_e = T, and e_i, column i, is the i-th unit vector. *)
Definition one_hot : matrix := fun r i => if r =? i then 1 else 0.

Section Layer.
Variables (d T d_e : nat) (e : matrix).

Definition token (X : matrix) (i r : nat) : R := if r <? d then X r i else e (r - d)%nat i.
Definition query (y : subset) (r : nat) : R := if r <? d then 0 else sum T (fun i => selected y i * e (r - d)%nat i).
Definition logit (W X : matrix) (y : subset) (i : nat) : R :=
  sum (d + d_e) (fun r => token X i r * sum (d + d_e) (fun c => W r c * query y c)).
Definition layer (W V X : matrix) (y : subset) (a : nat) : R :=
  sum (d + d_e) (fun r => V a r * sum T (fun i => token X i r * softmax T (logit W X y) i)).
Definition target (q : nat) (X : matrix) (y : subset) (a : nat) : R := sum T (fun i => selected y i * X a i) / INR q.
Definition sample_loss (q : nat) (W V X : matrix) (y : subset) : R :=
  / 2 * sum d (fun a => (layer W V X y a - target q X y a) ^ 2).

(** The gradient of the sample's loss, entry by entry: g is its derivative in one entry, all others and X, y fixed. *)
Definition with_entry (M : matrix) (r c : nat) (t : R) : matrix :=
  fun i j => if andb (i =? r) (j =? c) then t else M i j.
Definition slope_in_W (q : nat) (W V X : matrix) (y : subset) (r c : nat) (g : R) : Prop :=
  is_derive (fun t => sample_loss q (with_entry W r c t) V X y) (W r c) g.
Definition slope_in_V (q : nat) (W V X : matrix) (y : subset) (a r : nat) (g : R) : Prop :=
  is_derive (fun t => sample_loss q W (with_entry V a r t) X y) (V a r) g.

(** Expectation over X. A monomial in the entries of X has an exponent for each; a polynomial of degree at most n is a
    linear combination of monomials of at most that degree, or a function that equals one at every X. *)
Definition monomial (k : nat -> nat -> nat) (X : matrix) : R := product d (fun a => product T (fun i => X a i ^ k a i)).
Definition degree (k : nat -> nat -> nat) : nat := nat_sum d (fun a => nat_sum T (k a)).
Inductive polynomial (n : nat) : (matrix -> R) -> Prop :=
  | is_monomial k : (degree k <= n)%nat -> polynomial n (monomial k)
  | is_combination c f g : polynomial n f -> polynomial n g -> polynomial n (fun X => f X + c * g X)
  | is_equal f g : (forall X, f X = g X) -> polynomial n f -> polynomial n g.

(** E x^k of a standard normal x: 1, 0, 1, 0, 3, … *)
Fixpoint normal_moment (k : nat) : R :=
  match k with O => 1 | 1%nat => 0 | S (S j) => INR (S j) * normal_moment j end.

(** E is a mean over X that has the moments of independent standard normal entries up to degree n. It is linear on the
    polynomials of that degree; on other functions the only condition is that equal functions have equal means. *)
Record normal_mean (n : nat) (E : (matrix -> R) -> R) : Prop := {
  mean_of_equal f g : (forall X, f X = g X) -> E f = E g;
  mean_of_combination c f g : polynomial n f -> polynomial n g -> E (fun X => f X + c * g X) = E f + c * E g;
  mean_of_monomial k : (degree k <= n)%nat ->
    E (monomial k) = product d (fun a => product T (fun i => normal_moment (k a i))) }.

(** The mean over X and a uniformly random subset y; the population loss. *)
Definition population_mean (q : nat) (E : (matrix -> R) -> R) (f : matrix -> subset -> R) : R :=
  mean_over (subsets T q) (fun y => E (fun X => f X y)).
Definition population_loss (q : nat) (E : (matrix -> R) -> R) (W V : matrix) : R :=
  population_mean q E (sample_loss q W V).

(** W', V' is one step of gradient descent from W, V: every entry of the sample's gradient exists at every X and y, and
    the entry moves by −η times its mean. *)
Definition descent_step (q : nat) (E : (matrix -> R) -> R) (eta : R) (W V W' V' : matrix) : Prop :=
  (forall r c, (r < d + d_e)%nat -> (c < d + d_e)%nat -> exists g,
    (forall X y, slope_in_W q W V X y r c (g X y)) /\ W' r c = W r c - eta * population_mean q E g) /\
  (forall a r, (a < d)%nat -> (r < d + d_e)%nat -> exists g,
    (forall X y, slope_in_V q W V X y a r (g X y)) /\ V' a r = V a r - eta * population_mean q E g).

(** A run of gradient descent from W = 0, V = 0. *)
Definition descent (q : nat) (E : (matrix -> R) -> R) (eta : R) (W V : nat -> matrix) : Prop :=
  (forall r c, (r < d + d_e)%nat -> (c < d + d_e)%nat -> W 0%nat r c = 0) /\
  (forall a r, (a < d)%nat -> (r < d + d_e)%nat -> V 0%nat a r = 0) /\
  forall n, descent_step q E eta (W n) (V n) (W (S n)) (V (S n)).

End Layer.
