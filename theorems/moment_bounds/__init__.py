"""General mathematics: bounds on means from moments."""
