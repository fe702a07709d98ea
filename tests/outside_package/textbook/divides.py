"""A kind of clause: one integer divides another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp

from textbook.harmonic import HARDY, n
from verify import ClauseResult, Parameter, Question, Source, Statement, Theorem, UndefinedError, to_data


@dataclass(frozen=True)
class Divides:
    """The divisor, a positive integer, divides the dividend at the instance."""

    quantifies: ClassVar = False
    uses_matrices: ClassVar = False
    rests_on_hypotheses: ClassVar = False
    relation: ClassVar = None

    label: str
    divisor: sp.Expr
    dividend: sp.Expr

    @property
    def text(self) -> str:
        """Return the clause in words."""
        return f"{self.divisor} divides {self.dividend}"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the divisor and the dividend."""
        yield from (sp.sympify(self.divisor), sp.sympify(self.dividend))

    def bound_names(self) -> set[str]:
        """Return the empty set: the clause binds no names."""
        return set()

    def to_data(self) -> Mapping[str, Any]:
        """Return the data that the digest covers and that the re-checker reads."""
        divisor, dividend = map(to_data, self.expressions())
        return {"kind": "divides", "label": self.label, "says": self.text, "divisor": divisor, "dividend": dividend}

    def evaluate(self, question: Question) -> ClauseResult:
        """Divide, with the quotient and the remainder as the proof."""
        divisor, dividend = (question.exact(side) for side in self.expressions())
        if divisor.denominator != 1 or dividend.denominator != 1 or divisor < 1:
            raise UndefinedError(f"{self.label}: the divisor is to be an integer >= 1, the dividend an integer")
        quotient, remainder = divmod(dividend, divisor)
        proof = {"kind": "division", "quotient": str(quotient), "remainder": str(remainder)}
        if remainder:
            return ClauseResult.refuted(self, proof, witness=dict(question.instance), detail=f"remainder {remainder}")
        return ClauseResult.verified(self, proof, detail=f"quotient {quotient}")

    def prove(self, statement: Statement, *, hypotheses: bool) -> None:
        """Return None: no proof for all parameters is searched for."""

    def scan(self, statement: Statement, instance: Mapping[str, Any]) -> float:
        """Return 1, a margin that refutes nothing: floats cannot decide divisibility."""
        return 1.0


neighbours = Theorem(
    id="hardy.neighbours",
    title="The product of two neighbouring integers is even",
    source=Source("no number", "derived here", HARDY),
    statement=Statement((Parameter("n", "integer", "the smaller one", minimum=1),), (Divides("even", 2, n * (n + 1)),)),
    example={"n": 7},
)
