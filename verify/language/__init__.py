"""The language of statements: expressions, parameters, hypotheses, statements and the data of clauses."""
