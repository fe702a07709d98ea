"""The kinds of proof, one file each."""
