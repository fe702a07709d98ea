"""What can be said: expressions, parameters, hypotheses, statements and the data of clauses."""
