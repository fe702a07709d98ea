"""Counterexamples, needless hypotheses and how sharp a bound is."""
