"""The clauses of a theorem that are evaluated at an instance: all clauses except claims in words."""

from verify import Outcome, load_theorem
from verify.claims.in_words import in_words


def evaluated(result):
    """Return the clauses of a check that are not in words."""
    said = in_words(load_theorem(result.theorem).statement)
    return [clause for clause in result.clauses if clause.label not in said]


def all_hold(result):
    """Return whether all clauses that are not in words hold, and all claims, including those in words, are verified."""
    return all(clause.holds for clause in evaluated(result)) and result.claim_outcome is Outcome.VERIFIED
