"""A theorem in other processes: its reference for loading, and a test that the theorem loaded there is the same."""
