"""The multipliers of a proof, as an author gives them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verify.budget import proof_work
from verify.errors import TheoremError
from verify.language.statement import Statement
from verify.provers.proof_data import Proof


@dataclass(frozen=True)
class Multipliers:
    """Proof data: a claim's margin is the sum of the slacks of some relations times multipliers, plus a rest ≥ 0.

    The slack of a relation is its larger side minus its smaller side. The rest and the multipliers, except those of
    equations, are shown to be ≥ 0 by deductions; for a claim that is an equation, the rest is shown to be 0. If a part
    is not shown, the clause's message names it.

    Parameters
    ----------
    of
        Maps the label of a relation to the multiplier of its slack: an expression, or its text as in a line. The
        relation is a hypothesis, or a step or a claim, which is then shown first. A key that is no label is itself an
        expression that is shown to be ≥ 0, such as `(x - y)**2`.

    Raises
    ------
    TheoremError
        For an object that is not a mapping, or is empty.

    Examples
    --------
    >>> import verify
    >>> line = "f <= g - e*s**2/2 if f <= g - e*s**2 + L*e**2*s**2/2, e <= 1/L for e > 0, L > 0"
    >>> by = {"hypothesis 1": 1, "hypothesis 2": "L*e*s**2/2"}
    >>> verify.prove(line, by=by).deductions["claim"]
    ('margin = (L*e**2*s**2/2 - e*s**2 - f + g) + L*e*s**2/2*(-e + 1/L)',)
    """

    of: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.of, Mapping) or not self.of:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TheoremError("by: a mapping from labels to multipliers is needed")
        object.__setattr__(self, "of", dict(self.of))

    def prove(self, relation: Any, statement: Statement, *, hypotheses: bool) -> Proof:
        """Return the proof of a relation for all parameters. Raises TheoremError, with the reason, if none is found."""
        # Imported here because it loads SciPy.
        from verify.provers.deduction.account.multiplied import multiplied_proof

        if relation is None:
            raise TheoremError("by: multipliers show an inequality or an equation, and this claim is neither")
        return multiplied_proof(relation, statement, self.of, proof_work(), hypotheses=hypotheses)
