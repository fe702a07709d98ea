"""A kind of clause that is not part of `verify`: two numbers differ by at most a tolerance.

The claim is lowered to an inequality between squares, which gives its digest, proof and re-check; only the text
belongs to this kind.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp

from verify import ClauseResult, Inequality, Question, Statement, TheoremError


@dataclass(frozen=True)
class Within:
    """The clause |left − right| ≤ tolerance, where the tolerance is a positive number."""

    quantifies: ClassVar = True
    uses_matrices: ClassVar = False
    rests_on_hypotheses: ClassVar = True

    label: str
    left: sp.Expr
    right: sp.Expr
    tolerance: sp.Expr

    def __post_init__(self) -> None:
        if not sp.sympify(self.tolerance).is_positive:
            raise TheoremError(f"clause {self.label}: the tolerance {self.tolerance} is no number > 0")

    @property
    def lowered(self) -> Inequality:
        """The same claim as an `Inequality`, a kind that is part of `verify`."""
        squares = sp.Le((self.left - self.right) ** 2, sp.sympify(self.tolerance) ** 2, evaluate=False)
        return Inequality(self.label, squares, says=self.text)

    @property
    def text(self) -> str:
        """The clause in symbols."""
        return f"|{self.left} - ({self.right})| <= {self.tolerance}"

    @property
    def relation(self) -> sp.core.relational.Relational:
        """The inequality between squares."""
        return self.lowered.relation

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the sides of the inequality."""
        yield from self.lowered.expressions()

    def bound_names(self) -> set[str]:
        """Return no names."""
        return set()

    def to_data(self) -> Mapping[str, Any]:
        """Return the data that the digest covers: the inequality."""
        return self.lowered.to_data()

    def evaluate(self, question: Question) -> ClauseResult:
        """Decide the inequality."""
        return self.lowered.evaluate(question)

    def prove(self, statement: Statement, *, hypotheses: bool) -> Mapping[str, Any] | None:
        """Return a proof of the inequality for all parameters, or None."""
        return self.lowered.prove(statement, hypotheses=hypotheses)

    def scan(self, statement: Statement, instance: Mapping[str, Any]) -> float:
        """Return the inequality's relative margin."""
        return self.lowered.scan(statement, instance)
