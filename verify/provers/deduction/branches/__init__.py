"""Proofs about choices and roots: facts with absolute values and maxima, and orders and squares of roots."""
