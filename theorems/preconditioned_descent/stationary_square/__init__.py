"""A kind of clause of its own: a critical point of the integrated square of a recursion's end."""
