"""General mathematics: means over exchangeable entries, with a symbolic number of entries."""
