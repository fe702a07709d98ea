(** The claims in words of the two shifts, as propositions. *)

Require Import Reals Arith.
From Coquelicot Require Import Coquelicot.
From SoftmaxRegression Require Import definitions.
Open Scope R_scope.

(** ** The hypotheses: n ≥ 1 rows, d ≥ 1 columns, R > 0, which is r here *)

Definition sizes (n d : nat) (r : R) : Prop := (1 <= n)%nat /\ (1 <= d)%nat /\ 0 < r.

(** The claimed factor n^{3/2} exp(10 R²). *)
Definition claimed_factor (n : nat) (r : R) : R := Rpower (INR n) (3 / 2) * exp (10 * r ^ 2).

(** `norms`: the norms of a point A, x are at most R. *)
Definition in_norms (n d : nat) (r : R) (A : matrix) (x : vector) : Prop := spectral_norm n d A <= r /\ norm d x <= r.
(** `small_move`: no logit moves by 1/100. *)
Definition small_move (n : nat) (z z' : vector) : Prop := forall i, (i < n)%nat -> Rabs (z' i - z i) < 1 / 100.
(** The prediction's move from A, x to A', x' makes the target's move from b to b'. *)
Definition shifts (n d : nat) (A : matrix) (x : vector) (A' : matrix) (x' b b' : vector) : Prop :=
  same_residual n (prediction n d A x) (prediction n d A' x') b b'.

(** ** `li2024.weight_shift`: x moves to x' *)

(** `shift`: |b' − b| ≤ (R/2) |x' − x| ≤ n^{3/2} exp(10 R²) |x' − x|. Neither R ≥ 4 nor a small move is asked for. *)
Definition weight_shift_shift : Prop := forall n d r A x x' b b',
  sizes n d r -> in_norms n d r A x -> in_norms n d r A x' -> shifts n d A x A x' b b' ->
  norm n (minus b' b) <= r / 2 * norm d (minus x' x)
  /\ r / 2 * norm d (minus x' x) <= claimed_factor n r * norm d (minus x' x).

(** `sharp`: at n = 2 no factor c smaller than R/2 will do, at any d and R, within the norms and for small moves. *)
Definition weight_shift_sharp : Prop := forall d r c, sizes 2 d r -> c < r / 2 -> exists A x x',
  in_norms 2 d r A x /\ in_norms 2 d r A x' /\ small_move 2 (applied d A x) (applied d A x') /\
  forall b b', shifts 2 d A x A x' b b' -> c * norm d (minus x' x) < norm 2 (minus b' b).

(** ** `li2024.data_shift`: A moves to A' *)

(** `shift`: |b' − b| ≤ (R/2) |A' − A| ≤ n^{3/2} exp(10 R²) |A' − A|. *)
Definition data_shift_shift : Prop := forall n d r A A' x b b',
  sizes n d r -> in_norms n d r A x -> in_norms n d r A' x -> shifts n d A x A' x b b' ->
  norm n (minus b' b) <= r / 2 * spectral_norm n d (minus_matrix A' A)
  /\ r / 2 * spectral_norm n d (minus_matrix A' A) <= claimed_factor n r * spectral_norm n d (minus_matrix A' A).

(** `sharp`. *)
Definition data_shift_sharp : Prop := forall d r c, sizes 2 d r -> c < r / 2 -> exists A A' x,
  in_norms 2 d r A x /\ in_norms 2 d r A' x /\ small_move 2 (applied d A x) (applied d A' x) /\
  forall b b', shifts 2 d A x A' x b b' -> c * spectral_norm 2 d (minus_matrix A' A) < norm 2 (minus b' b).

(** ** `free`, of both: two predictions are within √2, and within √2 tanh(1/200) where no logit moves by 1/100 *)

Definition free : Prop := forall n d A x A' x', (1 <= n)%nat ->
  norm n (minus (prediction n d A' x') (prediction n d A x)) <= sqrt 2 /\
  (small_move n (applied d A x) (applied d A' x') ->
   norm n (minus (prediction n d A' x') (prediction n d A x)) <= sqrt 2 * tanh (1 / 200)).

(** ** The spectral norm is the least upper bound that its definition names: it is finite *)

Definition spectral_norm_is_lub : Prop := forall n d A,
  is_lub (fun s => exists x, norm d x <= 1 /\ s = norm n (applied d A x)) (spectral_norm n d A).
