(* lemmascope, for Rocq: each proof is of its claim, digest e7231fd8310887cd723a094fe235017793060cce78eacee60383309a849e9e11 *)
Require Statement Proof.
Definition accepted_claim_claim : Statement.claim_claim := Proof.claim_claim.
Definition accepted_example_in_scope : Statement.example_in_scope := Proof.example_in_scope.
Definition all_accepted := (conj accepted_claim_claim (conj accepted_example_in_scope I)).
Print Assumptions all_accepted.
