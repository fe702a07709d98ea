(** The recursion of Lemma 1 in two numbers, α and C, as in the statement; T, q, d and η are real here. *)

Require Import Reals.
Open Scope R_scope.

Section Recursion.
Variables T q d eta : R.

(** w = e^{−C}, N = q + (T − q) w, P = q/N, Q = 1 − P and S = P + Q w, here S'. *)
Definition w (C : R) : R := exp (- C).
Definition N (C : R) : R := q + (T - q) * w C.
Definition P (C : R) : R := q / N C.
Definition Q (C : R) : R := (T - q) * w C / N C.
Definition S' (C : R) : R := P C + Q C * w C.

Definition loss (alpha C : R) : R := d / (2 * q) * (1 - 2 * alpha * P C + alpha ^ 2 * P C * S' C).
Definition step_alpha (alpha C : R) : R := alpha * (1 - eta * P C * S' C / q) + eta * P C / q.
Definition step_C (alpha C : R) : R :=
  C + eta * d / (q * (T - 1)) * alpha * P C * Q C * (1 - alpha * P C * (1 - w C)).

(** (α, C) after n steps from (0, 0), and the loss there. *)
Fixpoint run (n : nat) : R * R :=
  match n with O => (0, 0) | S m => let (alpha, C) := run m in (step_alpha alpha C, step_C alpha C) end.
Definition loss_at (n : nat) : R := let (alpha, C) := run n in loss alpha C.

End Recursion.
