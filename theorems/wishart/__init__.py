"""General mathematics: exact moments of real Wishart matrices, any number of samples, any dimension."""
