"""A theorem in other processes: by what they load it, and that it is the same one there."""
