"""The clauses of a theorem that are evaluated at an instance: all but its claims in words."""

from verify import Outcome, load_theorem
from verify.claims.in_words import in_words


def evaluated(result):
    """The clauses of a check that are not in words."""
    said = in_words(load_theorem(result.theorem).statement)
    return [clause for clause in result.clauses if clause.label not in said]


def all_hold(result):
    """Whether all clauses that are not in words hold, and all claims, those in words included, are verified."""
    return all(clause.holds for clause in evaluated(result)) and result.claim_outcome is Outcome.VERIFIED
