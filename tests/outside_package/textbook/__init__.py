"""Facts of number theory: a primitive, a kind of clause, a rule, an experiment, a comparison and a finding."""
