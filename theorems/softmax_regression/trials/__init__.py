"""Trials at an instance of the claims in words."""
