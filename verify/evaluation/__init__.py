"""Evaluation of expressions in each arithmetic: exact rationals, balls, intervals, and floats."""
