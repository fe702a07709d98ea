"""The library: theorems of machine-learning theory. Each result has a file with its statement and its derivation."""
