(** The claims of the two shifts, of the gradient and of the opposite moves, as propositions. *)

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

(** `shift`: |b' − b| ≤ (R/2) |x' − x| ≤ n^{3/2} exp(10 R²) |x' − x|. Neither R ≥ 4 nor a small move is needed. *)
Definition weight_shift_shift : Prop := forall n d r A x x' b b',
  sizes n d r -> in_norms n d r A x -> in_norms n d r A x' -> shifts n d A x A x' b b' ->
  norm n (minus b' b) <= r / 2 * norm d (minus x' x)
  /\ r / 2 * norm d (minus x' x) <= claimed_factor n r * norm d (minus x' x).

(** `sharp`: at n = 2 no factor c smaller than R/2 is enough, at any d and R, within the norms and for small moves. *)
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

(** ** `li2024.gradient`: z are the logits, p = softmax(z), g = Σ_k p_k (p_k − b_k), r = Σ_k p_k² *)

Section Gradient.
Variables (n : nat) (b z : vector).
Definition loss_of_logits (z : vector) : R := loss n (softmax n z) b.
Definition mean_residual : R := let p := softmax n z in sum n (fun k => p k * (p k - b k)).
Definition sum_of_squares : R := let p := softmax n z in sum n (fun k => p k ^ 2).
(** The gradient's entry i, that is J (p − b) with J = diag(p) − ppᵀ. *)
Definition gradient_entry (i : nat) : R := let p := softmax n z in p i * (p i - b i - mean_residual).
(** The Hessian's entries (i, i) and (i, j), i ≠ j. *)
Definition hessian_diagonal_entry (i : nat) : R := let p := softmax n z in
  p i * (2 * p i - b i - mean_residual) - p i ^ 2 * (4 * p i - 2 * b i - 2 * mean_residual - sum_of_squares).
Definition hessian_entry (i j : nat) : R := let p := softmax n z in
  - p i * p j * (2 * p i - b i + 2 * p j - b j - 2 * mean_residual - sum_of_squares).
End Gradient.

Definition gradient : Prop := forall n b z i, (i < n)%nat -> slope (loss_of_logits n b) z i (gradient_entry n b z i).
(** h is the gradient's entry i, at every point. *)
Definition hessian_diagonal : Prop := forall n b z i h, (i < n)%nat ->
  (forall z, slope (loss_of_logits n b) z i (h z)) -> slope h z i (hessian_diagonal_entry n b z i).
Definition hessian_off_diagonal : Prop := forall n b z i j h, (i < n)%nat -> (j < n)%nat -> i <> j ->
  (forall z, slope (loss_of_logits n b) z i (h z)) -> slope h z j (hessian_entry n b z i j).
(** In x the gradient is Aᵀ J (p − b). *)
Definition gradient_in_x : Prop := forall n d A b x k, (1 <= n)%nat -> (k < d)%nat ->
  slope (loss_at n d A b) x k (sum n (fun i => A i k * gradient_entry n b (applied d A x) i)).

(** ** `li2024.opposite_moves`: two rows a and −a, d = 1, b = (1, 0); a layer with the weights w and −v *)

Definition two_rows (a : R) : matrix := fun i _ => if i =? 0 then a else - a.
Definition first_row : vector := fun i => if i =? 0 then 1 else 0.
Definition constant (c : R) : matrix := fun _ _ => c.
Definition probability (D : R) : R := 1 / (1 + exp (- D)).

Section Moves.
Variables (a x eta w v : R).
(** The difference of the logits, 2ax, and by what the gradient step raises and the layer lowers it. *)
Definition difference : R := 2 * a * x.
Definition raised : R := 8 * eta * a ^ 2 * probability difference * (1 - probability difference) ^ 2.
Definition lowered : R := difference * v * (1 - exp (- (2 * w * a ^ 2))) / (1 + exp (- (2 * w * a ^ 2))).

(** f before the moves, after the step and after the layer; all five numbers are positive. No other hypothesis is
    needed. *)
Definition moves (f after_step after_layer : vector) : Prop :=
  0 < a /\ 0 < x /\ 0 < eta /\ 0 < w /\ 0 < v /\ exists x',
    gradient_step 2 1 (two_rows a) first_row eta (fun _ => x) x' /\
    f = prediction 2 1 (two_rows a) (fun _ => x) /\
    after_step = prediction 2 1 (two_rows a) x' /\
    after_layer = prediction 2 1 (after_attention 2 1 (two_rows a) (constant w) (constant (- v))) (fun _ => x).
End Moves.

(** Such moves exist at all positive numbers. *)
Definition moves_exist : Prop := forall a x eta w v, 0 < a -> 0 < x -> 0 < eta -> 0 < w -> 0 < v ->
  exists f f' f'', moves a x eta w v f f' f''.

(** The first row's probability before the moves and after each. *)
Definition moved_probabilities : Prop := forall a x eta w v f f' f'', moves a x eta w v f f' f'' ->
  f 0%nat = probability (difference a x) /\ f' 0%nat = probability (difference a x + raised a x eta) /\
  f'' 0%nat = probability (difference a x - lowered a x w v).
Definition further_than_the_step : Prop := forall a x eta w v f f' f'', moves a x eta w v f f' f'' ->
  norm 2 (minus f' f'') > norm 2 (minus f' f).
Definition further_than_the_layer : Prop := forall a x eta w v f f' f'', moves a x eta w v f f' f'' ->
  norm 2 (minus f' f'') > norm 2 (minus f f'').
Definition step_lowers_the_loss : Prop := forall a x eta w v f f' f'', moves a x eta w v f f' f'' ->
  loss 2 f' first_row <= loss 2 f first_row - raised a x eta ^ 2 / (4 * eta * a ^ 2) + raised a x eta ^ 2 / 12.
Definition layer_raises_the_loss : Prop := forall a x eta w v f f' f'', moves a x eta w v f f' f'' ->
  loss 2 f'' first_row >=
  loss 2 f first_row + 2 * f 0%nat * (1 - f 0%nat) ^ 2 * lowered a x w v - lowered a x w v ^ 2 / 12.
