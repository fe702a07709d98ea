"""What an expression is worth, in which arithmetic: exact, in balls, in floats with error estimates."""
