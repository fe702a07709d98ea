"""The library: theorems of machine-learning theory, one result a file, statement beside derivation."""
