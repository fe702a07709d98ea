"""What is told of a search for a deduction, and of what it found."""
