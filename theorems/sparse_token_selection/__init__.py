"""Sparse token selection: one softmax attention layer learns to average the q tokens that a query names.

Wang, Wei, Hsu, Lee, ICML 2024 (arXiv 2406.06893). `task` has the definitions.
"""
