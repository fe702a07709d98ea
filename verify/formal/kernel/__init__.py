"""Rocq's kernel is run on `.v` files."""
