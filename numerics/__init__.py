"""Simulations that use only the papers' definitions; the theorems are compared with them."""
