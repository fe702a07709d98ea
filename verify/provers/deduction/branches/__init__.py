"""Proofs that tell choices and roots apart: facts with absolute values and maxima, orders and squares of roots."""
