"""The verdict at an instance that a search tried: whether each clause holds there, and what that makes of it."""
