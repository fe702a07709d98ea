"""General mathematics: means over exchangeable entries, with the number of entries symbolic."""
