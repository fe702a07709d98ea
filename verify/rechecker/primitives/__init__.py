"""The primitives of the language, each computed anew."""
