"""Functions of one variable: chains of slopes, lemmas about their signs, other forms of a goal."""
