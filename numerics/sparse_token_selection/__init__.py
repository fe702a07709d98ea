"""Simulation of sparse token selection by one softmax attention layer (arXiv 2406.06893)."""
