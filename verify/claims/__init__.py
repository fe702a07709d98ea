"""The kinds of clause, one file each."""
