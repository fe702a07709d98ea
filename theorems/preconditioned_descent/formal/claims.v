(** The claims of Lemmas 6, 5, 4 and 1, for every number of layers, and of Lemmas 2 and 3 and Theorem 1, for one. *)

Require Import Reals Arith.
From Coquelicot Require Import Coquelicot.
From PreconditionedDescent Require Import definitions.
Open Scope R_scope.

(** ** The hypotheses *)

(** `zero_last_column`: the last column of every Q_l is zero. *)
Definition zero_last_column (d L : nat) (Q : nat -> matrix) : Prop :=
  forall l i, (l < L)%nat -> (i <= d)%nat -> Q l i d = 0.
(** E takes the mean under a law of the tokens and w. The only condition is that equal functions have equal means. *)
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

(** With another last column of Q, after one layer the query's token may change, and its label may change by another
    number than c. *)
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

(** With another last column of Q, f need not be the mean square of this label. *)
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

(** Two layers of any two matrices may predict differently if they are exchanged. *)
Definition lemma4_any_matrices : Prop := exists d n A B x y, (1 <= n)%nat /\
  pattern_forward d n 2 (fun l => if l =? 0 then A else B) (prompt d n x y 0) d n <>
  pattern_forward d n 2 (fun l => if l =? 0 then B else A) (prompt d n x y 0) d n.

(** ** `ahn2023.lemma1` *)

(** Z has the tokens x, the labels ⟨w − v, x_j⟩ of the examples and −⟨v, x_{n+1}⟩ of the query. *)
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
(** `examples`, `query`: a layer of pattern (8) takes any Z at any v to the next iterate; as printed, for a symmetric A.
    Another factor r in the place of 1/n is another A: n r A. *)
Definition lemma1_one_layer : Prop := forall d n A x w v v' Z, (1 <= n)%nat -> at_iterate d n x w v Z ->
  descent_step d (examples_loss d n x w) (transpose A) v v' ->
  at_iterate d n x w v' (layer d n (pattern_P d) (pattern_Q d A) Z).
Definition lemma1_one_layer_as_printed : Prop := forall d n A x w v v' Z, (1 <= n)%nat -> symmetric d A ->
  at_iterate d n x w v Z -> descent_step d (examples_loss d n x w) A v v' ->
  at_iterate d n x w v' (layer d n (pattern_P d) (pattern_Q d A) Z).
(** The gradient exists everywhere, and so do its steps and the descent. *)
Definition lemma1_step_exists : Prop := forall d n x w B v, (1 <= n)%nat -> exists v',
  descent_step d (examples_loss d n x w) B v v'.
Definition lemma1_descent_exists : Prop := forall d n x w L B, (1 <= n)%nat -> exists v, descent d n x w L B v.

(** As printed it fails for some matrix that is not symmetric, after one layer. *)
Definition lemma1_any_matrix : Prop := exists d n A x w v, (1 <= n)%nat /\ descent d n x w 1 (fun _ => A) v /\
  pattern_forward d n 1 (fun _ => A) (prompt d n x (labels d x w) 0) d n <> - sum d (fun k => v 1%nat k * x k n).

(** ** `ahn2023.lemma2`, `ahn2023.lemma3`: the components of one layer's loss *)

(** `gaussian_tokens`: the tokens' covariance is C Cᵀ = U diag(λ) Uᵀ, with λ > 0 and U orthogonal. *)
Definition orthogonal (d : nat) (U : matrix) : Prop := forall i j, (i < d)%nat -> (j < d)%nat ->
  product d (transpose U) U i j = if i =? j then 1 else 0.
Definition covariance (d : nat) (C U : matrix) (lambda : vector) : Prop :=
  orthogonal d U /\ (forall k, (k < d)%nat -> 0 < lambda k) /\
  (forall i j, (i < d)%nat -> (j < d)%nat -> product d C (transpose C) i j = in_basis d U lambda i j).

(** a_k = 1/((n+1) λ_k/n + Σ_j λ_j/n). *)
Definition best_step (d n : nat) (lambda : vector) : vector :=
  fun k => / ((INR n + 1) / INR n * lambda k + sum d lambda / INR n).

(** G = (1/n) Σ_{m ≤ n} z_m z_mᵀ of the examples' columns z_m, and tr(G M) + ⟨u, w⟩ for M of d + 1 rows and columns. *)
Definition gram (n : nat) (Z : matrix) : matrix := fun i j => sum n (fun m => Z i m * Z j m) / INR n.
Definition component_error (d n : nat) (M : matrix) (u : vector) (x : matrix) (w : vector) : R :=
  sum (S d) (fun i => product (S d) (gram n (prompt d n x (labels d x w) 0)) M i i) + sum d (fun k => u k * w k).

(** c, the sum of M's last column and last row, without the corner. *)
Definition border (d : nat) (M : matrix) : vector := fun a => M a d + M d a.

(** In an eigenbasis of the covariance, where it is diag(λ): f_j(M) = E (tr(G M) + w_j)². *)
Definition identity : matrix := fun i j => if i =? j then 1 else 0.
Definition in_eigenbasis (d n : nat) (N : (matrix -> R) -> R) (C : matrix) (lambda : vector) : Prop :=
  (1 <= n)%nat /\ normal_mean d (S (S n)) N /\ covariance d C identity lambda.
Definition component_loss (d n : nat) (N : (matrix -> R) -> R) (C : matrix) (j : nat) (M : matrix) : R :=
  over_prompts d n N C (fun x w => component_error d n M (fun k => identity k j) x w ^ 2).

(** Lemma 2, `minimiser`: M = −a_j e_j e_{d+1}ᵀ has the least f_j, and the slopes in all entries of M vanish there. *)
Definition best_matrix (d n : nat) (lambda : vector) (j : nat) : matrix :=
  fun a b => if andb (a =? j) (b =? d) then - best_step d n lambda j else 0.
Definition with_matrix_entry (M : matrix) (a b : nat) (t : R) : matrix :=
  fun i k => if andb (i =? a) (k =? b) then t else M i k.
Definition lemma2_minimiser : Prop := forall d n N C lambda j M, in_eigenbasis d n N C lambda -> (j < d)%nat ->
  component_loss d n N C j (best_matrix d n lambda j) <= component_loss d n N C j M.
Definition lemma2_slopes : Prop := forall d n N C lambda j a b, in_eigenbasis d n N C lambda -> (j < d)%nat ->
  let best := best_matrix d n lambda j in
  is_derive (fun t => component_loss d n N C j (with_matrix_entry best a b t)) (best a b) 0.

(** Lemma 3, `convex_problem`: f_j is convex in M, and strictly so in c. *)
Definition mixed (s : R) (M M' : matrix) : matrix := fun a b => s * M a b + (1 - s) * M' a b.
Definition lemma3_convex : Prop := forall d n N C lambda j s M M', in_eigenbasis d n N C lambda -> (j < d)%nat ->
  0 <= s <= 1 -> component_loss d n N C j (mixed s M M') <=
  s * component_loss d n N C j M + (1 - s) * component_loss d n N C j M'.
Definition lemma3_strictly : Prop := forall d n N C lambda j s M M' a, in_eigenbasis d n N C lambda -> (j < d)%nat ->
  0 < s < 1 -> (a < d)%nat -> border d M a <> border d M' a -> component_loss d n N C j (mixed s M M') <
  s * component_loss d n N C j M + (1 - s) * component_loss d n N C j M'.

(** ** `ahn2023.theorem1`: one layer *)

Definition one_layer_loss (d n : nat) (N : (matrix -> R) -> R) (C P Q : matrix) : R :=
  in_context_loss d n (over_prompts d n N C) 1 (fun _ => P) (fun _ => Q).
(** The loss at P = diag(0, 1), Q = −diag(A, 0) with A = U diag(a) Uᵀ. *)
Definition best_loss (d n : nat) (N : (matrix -> R) -> R) (C U : matrix) (lambda : vector) : R :=
  one_layer_loss d n N C (pattern_P d) (pattern_Q d (in_basis d U (best_step d n lambda))).

(** `global`: no P and Q have a smaller loss, which is Σ_k λ_k (1 − λ_k a_k). *)
Definition theorem1_global : Prop := forall d n N C U lambda P Q,
  (1 <= n)%nat -> normal_mean d (S (S n)) N -> covariance d C U lambda ->
  best_loss d n N C U lambda <= one_layer_loss d n N C P Q.
Definition theorem1_minimum : Prop := forall d n N C U lambda,
  (1 <= n)%nat -> normal_mean d (S (S n)) N -> covariance d C U lambda ->
  best_loss d n N C U lambda = sum d (fun k => lambda k * (1 - lambda k * best_step d n lambda k)).

(** `rescaling`: γP and δQ predict γδ times what P and Q predict. *)
Definition scaled (c : R) (A : matrix) : matrix := fun i j => c * A i j.
Definition theorem1_rescaling : Prop := forall d n P Q x y gamma delta, (1 <= n)%nat ->
  prediction d n 1 (fun _ => scaled gamma P) (fun _ => scaled delta Q) (prompt d n x y 0) =
  gamma * delta * prediction d n 1 (fun _ => P) (fun _ => Q) (prompt d n x y 0).

(** Normal means exist, and so does a C for every orthogonal U and all positive λ; the identity is orthogonal. *)
Definition normal_mean_exists : Prop := forall d m, exists N, normal_mean d m N.
Definition covariance_exists : Prop := forall d, orthogonal d identity /\
  (forall U lambda, orthogonal d U -> (forall k, (k < d)%nat -> 0 < lambda k) -> exists C, covariance d C U lambda).
