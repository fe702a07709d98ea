"""Trials of the area's claims in words, from the definitions."""
