"""Softmax regression, one gradient step on it, and one softmax self-attention layer, from the definitions."""
