"""Searches for counterexamples, for hypotheses that are not needed, and for the sharpness of bounds."""
