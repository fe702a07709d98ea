(** Softmax regression, its shifts, and one self-attention layer: the definitions (Li et al. 2024).

    Regression. A ∈ R^{n×d}, b ∈ R^n; f(x) = softmax(Ax) ∈ R^n; the loss is ½‖f(x) − b‖².
    Shift. Where x or A moves, the new target b' leaves the residual as it is: f' − b = f − b'.

    Rows and columns are counted from 0. A vector is a function of its index, a matrix of row and column; entries
    outside their shape are never read. *)

Require Import Reals Arith.
From Coquelicot Require Import Coquelicot.
From Formal Require Export definitions.
Open Scope R_scope.

Definition vector := nat -> R.
Definition matrix := nat -> nat -> R.

Definition minus (u v : vector) : vector := fun i => u i - v i.
Definition minus_matrix (A B : matrix) : matrix := fun i j => A i j - B i j.

(** A x, for A of d columns. *)
Definition applied (d : nat) (A : matrix) (x : vector) : vector := fun i => sum d (fun j => A i j * x j).

(** ‖v‖ of n entries, and the spectral norm of an n × d matrix: the least upper bound of ‖A x‖ over ‖x‖ ≤ 1. *)
Definition norm (n : nat) (v : vector) : R := sqrt (sum n (fun i => v i ^ 2)).
Definition spectral_norm (n d : nat) (A : matrix) : R :=
  Lub_Rbar (fun s => exists x, norm d x <= 1 /\ s = norm n (applied d A x)).

Definition softmax (n : nat) (z : vector) : vector := fun i => exp (z i) / sum n (fun j => exp (z j)).
Definition prediction (n d : nat) (A : matrix) (x : vector) : vector := softmax n (applied d A x).

(** The loss of a prediction p at the target b. *)
Definition loss (n : nat) (p b : vector) : R := / 2 * norm n (minus p b) ^ 2.

(** The target b' with the prediction f has the residual that b has with the prediction f'. *)
Definition same_residual (n : nat) (f f' b b' : vector) : Prop := forall i, (i < n)%nat -> f' i - b i = f i - b' i.

(** g is the slope of h at v in one entry, all others fixed. *)
Definition with_entry (v : vector) (i : nat) (t : R) : vector := fun j => if j =? i then t else v j.
Definition slope (h : vector -> R) (v : vector) (i : nat) (g : R) : Prop :=
  is_derive (fun t => h (with_entry v i t)) (v i) g.

(** The loss at x, and one gradient step on it, of size η, from x to x'. *)
Definition loss_at (n d : nat) (A : matrix) (b x : vector) : R := loss n (prediction n d A x) b.
Definition gradient_step (n d : nat) (A : matrix) (b : vector) (eta : R) (x x' : vector) : Prop :=
  forall k, (k < d)%nat -> exists g, slope (loss_at n d A b) x k g /\ x' k = x k - eta * g.

(** The data after one self-attention layer: A + softmax(A W Aᵀ) A V, softmax by rows. *)
Definition after_attention (n d : nat) (A W V : matrix) : matrix := fun i k =>
  let logit l := sum d (fun c => A i c * sum d (fun c' => W c c' * A l c')) in
  A i k + sum n (fun j => softmax n logit j * sum d (fun c => A j c * V c k)).
