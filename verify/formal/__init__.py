"""Statements and proofs for Rocq, a proof assistant: its kernel's verdict rests on nothing of this program."""
