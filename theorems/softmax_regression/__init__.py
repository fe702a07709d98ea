"""Softmax regression: how far its prediction moves when its weights or its data do."""
