"""Runs of Rocq's kernel on `.v` files."""
