(* lemmascope, for Rocq: user.t, the statement of digest e7231fd8310887cd723a094fe235017793060cce78eacee60383309a849e9e11 *)
From Coq Require Import Reals ZArith List.
Local Open Scope R_scope.

From Coquelicot Require Import Coquelicot.
Definition in_domain (x : R) : Prop :=
  0 < x.
(* Some parameters satisfy all hypotheses. *)
Definition example_in_scope : Prop := in_domain (1).
(* claim *)
Definition claim_claim : Prop :=
  forall (x : R),
  in_domain x ->
  exists limit_0 : R, (at_right 0 (fun u : R => - 3 * u + x <> 0 /\ (- u + x) / (- 3 * u + x) - u <> 0) /\ filterlim (fun u : R => (- 2 * u + x) / ((- u + x) / (- 3 * u + x) - u)) (at_right 0) (locally limit_0)) /\ (limit_0 = x).
