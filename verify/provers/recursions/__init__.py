"""Recursions: cycles, and sets of states that each step keeps or leaves."""
