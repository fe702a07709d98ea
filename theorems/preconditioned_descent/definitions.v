(** Layers of linear attention on prompts of linear regression: the definitions (Ahn et al. 2023).

    Prompt, with tokens x_1 … x_{n+1} in R^d and labels y_i = ⟨w, x_i⟩: Z_0 has the columns (x_i; y_i) of the examples,
    i ≤ n, and (x_{n+1}; 0) of the query.
    Layer: Z + (1/n) P Z M (Zᵀ Q Z), M = diag(I_n, 0). Prediction: TF = −(Z_L)_{d+1,n+1}.
    Loss: f = E (TF − ⟨w, x_{n+1}⟩)². Pattern (8): P_l = diag(0, 1), Q_l = −diag(A_l, 0).

    Rows, columns and layers are counted from 0, so that row d holds the labels and column n is the query's. A vector is
    a function of its index, a matrix of row and column; entries outside their shape are never read. *)

Require Import Reals Arith.
From Coquelicot Require Import Coquelicot.
From Formal Require Export definitions.
Open Scope R_scope.

Definition vector := nat -> R.
Definition matrix := nat -> nat -> R.

(** The product A B, for A of m columns and B of m rows; the transpose. *)
Definition product (m : nat) (A B : matrix) : matrix := fun i j => sum m (fun k => A i k * B k j).
Definition transpose (A : matrix) : matrix := fun i j => A j i.

Section Layer.
Variables d n : nat.

(** The prompt with a label c of the query, which is 0 in Z_0. *)
Definition prompt (x : matrix) (y : vector) (c : R) : matrix :=
  fun i j => if i <? d then x i j else if j <? n then y j else c.

Definition mask : matrix := fun i j => if andb (i =? j) (j <? n) then 1 else 0.
Definition attention (P Q Z : matrix) : matrix :=
  product (S n) (product (S n) (product (S d) P Z) mask) (product (S d) (transpose Z) (product (S d) Q Z)).
Definition layer (P Q Z : matrix) : matrix := fun i j => Z i j + attention P Q Z i j / INR n.

(** Z_L, and the prediction. *)
Fixpoint forward (L : nat) (P Q : nat -> matrix) (Z : matrix) : matrix :=
  match L with O => Z | S l => layer (P l) (Q l) (forward l P Q Z) end.
Definition prediction (L : nat) (P Q : nat -> matrix) (Z : matrix) : R := - forward L P Q Z d n.

(** Pattern (8). *)
Definition pattern_P : matrix := fun i j => if andb (i =? d) (j =? d) then 1 else 0.
Definition pattern_Q (A : matrix) : matrix := fun i j => if andb (i <? d) (j <? d) then - A i j else 0.

(** The labels ⟨w, x_j⟩, the query's among them; the error TF − ⟨w, x_{n+1}⟩; and the loss, where E takes the mean of a
    function of the tokens and w. *)
Definition labels (x : matrix) (w : vector) : vector := fun j => sum d (fun k => w k * x k j).
Definition error (L : nat) (P Q : nat -> matrix) (x : matrix) (w : vector) : R :=
  prediction L P Q (prompt x (labels x w) 0) - labels x w n.
Definition in_context_loss (E : (matrix -> vector -> R) -> R) (L : nat) (P Q : nat -> matrix) : R :=
  E (fun x w => error L P Q x w ^ 2).

(** R(v) = (1/2n) Σ_i ⟨v − w, x_i⟩², the regression's loss on the examples. *)
Definition examples_loss (x : matrix) (w v : vector) : R :=
  sum n (fun i => sum d (fun k => (v k - w k) * x k i) ^ 2) / (2 * INR n).

(** g is the slope of h at v in one entry, all others fixed. *)
Definition with_entry (v : vector) (i : nat) (t : R) : vector := fun j => if j =? i then t else v j.
Definition slope (h : vector -> R) (v : vector) (i : nat) (g : R) : Prop :=
  is_derive (fun t => h (with_entry v i t)) (v i) g.

(** v_0 = 0 and v_{l+1} = v_l − B_l ∇R(v_l), for L steps. *)
Definition descent_step (h : vector -> R) (B : matrix) (v v' : vector) : Prop := exists g,
  (forall k, (k < d)%nat -> slope h v k (g k)) /\
  (forall k, (k < d)%nat -> v' k = v k - sum d (fun m => B k m * g m)).
Definition descent (x : matrix) (w : vector) (L : nat) (B : nat -> matrix) (v : nat -> vector) : Prop :=
  (forall k, (k < d)%nat -> v 0%nat k = 0) /\
  (forall l, (l < L)%nat -> descent_step (examples_loss x w) (B l) (v l) (v (S l))).

End Layer.

(** ** The mean over standard normal entries, and normal prompts *)

(** f 0 × … × f (n − 1), 1 for n = 0. *)
Fixpoint finite_product (n : nat) (f : nat -> R) : R := match n with O => 1 | S m => finite_product m f * f m end.

(** E t^k of a standard normal t: 1, 0, 1, 0, 3, … *)
Fixpoint normal_moment (k : nat) : R :=
  match k with O => 1 | 1%nat => 0 | S (S j) => INR (S j) * normal_moment j end.

Section Normal.
Variables d m : nat.

(** A monomial in the entries of a d × m table g has an exponent for each. A polynomial of exponents at most b is a
    linear combination of monomials whose exponents in column j are at most b j, or a function that equals one at
    every g. *)
Definition monomial (k : nat -> nat -> nat) (g : matrix) : R :=
  finite_product m (fun j => finite_product d (fun i => g i j ^ k i j)).
Definition exponents_at_most (b : nat -> nat) (k : nat -> nat -> nat) : Prop :=
  forall i j, (i < d)%nat -> (j < m)%nat -> (k i j <= b j)%nat.
Inductive polynomial (b : nat -> nat) : (matrix -> R) -> Prop :=
  | is_monomial k : exponents_at_most b k -> polynomial b (monomial k)
  | is_combination c f g : polynomial b f -> polynomial b g -> polynomial b (fun X => f X + c * g X)
  | is_equal f g : (forall X, f X = g X) -> polynomial b f -> polynomial b g.

(** N is a mean over g that has the moments of independent standard normal entries, up to the exponent 4 of each. It is
    linear on the polynomials of these exponents; on other functions the only condition is that equal functions have
    equal means. *)
Definition four : nat -> nat := fun _ => 4%nat.
Record normal_mean (N : (matrix -> R) -> R) : Prop := {
  mean_of_equal f g : (forall X, f X = g X) -> N f = N g;
  mean_of_combination c f g : polynomial four f -> polynomial four g -> N (fun X => f X + c * g X) = N f + c * N g;
  mean_of_monomial k : exponents_at_most four k ->
    N (monomial k) = finite_product m (fun j => finite_product d (fun i => normal_moment (k i j))) }.
End Normal.

(** A table g of d rows and n + 2 columns has the prompt with the tokens x_j = C g_j, normal with the covariance C Cᵀ,
    and w = g_{n+2}, normal with the covariance I. The mean over such prompts. *)
Definition over_prompts (d n : nat) (N : (matrix -> R) -> R) (C : matrix) : (matrix -> vector -> R) -> R :=
  fun f => N (fun g => f (product d C g) (fun k => g k (S n))).

(** U diag(v) Uᵀ. *)
Definition in_basis (d : nat) (U : matrix) (v : vector) : matrix := fun i j => sum d (fun k => U i k * v k * U j k).
