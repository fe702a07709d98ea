"""Trials of the claims in words: code that evaluates them at an instance, from the definitions."""
