"""Plots of what experiments measured and of what sweeps found."""
