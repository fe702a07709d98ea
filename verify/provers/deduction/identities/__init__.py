"""Identities: sums of angles, and roots of squares."""
