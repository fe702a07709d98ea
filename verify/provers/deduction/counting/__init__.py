"""Integers that count: growth, inductions of recursions, sums, floors."""
