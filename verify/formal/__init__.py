"""Statements and proofs for Rocq, a proof assistant: what its kernel accepts rests on nothing of this program."""
