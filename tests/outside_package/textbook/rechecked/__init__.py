"""Second computations for the re-checker: the harmonic numbers, and divisibility."""

from verify.rechecker.registry import ClauseKind, Primitive, ProofKind, Rechecks

from .division import division
from .harmonic import harmonic_number

RECHECKS = Rechecks(
    version=1,
    clauses={"divides": ClauseKind("divisor dividend")},
    proofs={"division": ProofKind({"divides": ("verified", "refuted")}, "quotient remainder", division)},
    primitives={"harmonic_number/1": Primitive(1, harmonic_number)},
)
