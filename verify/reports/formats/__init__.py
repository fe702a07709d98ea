"""Results in other forms than plain text for the command line."""
