"""A goal as a polynomial in coordinates: squares times facts, and means of terms."""
