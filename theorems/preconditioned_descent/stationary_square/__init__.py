"""A kind of clause: the integrated square of a recursion's end has a critical point."""
