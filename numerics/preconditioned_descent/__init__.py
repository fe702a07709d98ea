"""Simulation of in-context linear regression by linear and ReLU attention (arXiv 2306.00297)."""
