"""The heads of the language beyond arithmetic: what binds a symbol or chooses, and the table of all."""
