"""Goals with functions: chains of slopes, lemmas about signs, other forms of a goal."""
