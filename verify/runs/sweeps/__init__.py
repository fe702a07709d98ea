"""A theorem checked over a grid of instances."""
