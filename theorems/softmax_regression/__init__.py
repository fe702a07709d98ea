"""Softmax regression: the shift of its prediction when its weights or its data move."""
