"""The verdict at an instance that a search tried: whether each clause holds there, and the instance's class."""
