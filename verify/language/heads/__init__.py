"""The heads of the language beyond arithmetic: those that bind a symbol or choose, and the table of all."""
