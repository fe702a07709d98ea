"""The account of a search for a deduction, and of its result."""
