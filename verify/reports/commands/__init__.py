"""The commands, each a thin layer over a verb."""
