"""Values of expressions in each arithmetic: exact, in balls, in floats with error estimates."""
