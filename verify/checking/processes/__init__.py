"""A theorem in other processes: its reference for loading, and a test that it is the same one there."""
