"""Proofs of inequalities by deduction: found by linear programs, slopes, inductions and cases, for the re-checker."""
