"""Plots of experiments' measurements and of sweeps' outcomes."""
