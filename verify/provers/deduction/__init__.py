"""Proofs of inequalities by linear programs, slopes, inductions and cases, written for the re-checker."""
