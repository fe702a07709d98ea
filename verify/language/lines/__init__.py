"""Statements in a line of text: `2*x*y <= x**2 + y**2 for x > 0, y real`."""
