"""Ahn et al. 2023, arXiv 2306.00297: linear transformers that carry out preconditioned gradient descent."""
