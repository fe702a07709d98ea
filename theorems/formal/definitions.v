(** What the definitions of all areas rest on. *)

Require Import Reals.
Open Scope R_scope.

(** f 0 + … + f (n − 1), 0 for n = 0. *)
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => sum m f + f m end.
