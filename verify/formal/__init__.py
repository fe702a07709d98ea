"""Statements and proofs for Rocq, a proof assistant whose kernel's verdict does not rest on this program."""
