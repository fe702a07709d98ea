"""The heads (functions) of the language beyond arithmetic: those that bind symbols or choose, and a table of all."""
