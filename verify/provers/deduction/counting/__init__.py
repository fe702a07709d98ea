"""Integers that count: growth, invariants of recursions, sums that telescope, floors."""
