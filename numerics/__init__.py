"""Simulations from the definitions alone, against which the theorems are compared."""
