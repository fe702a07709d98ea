# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false
"""A clause in words, of what the language cannot say: an argument may carry it, nothing evaluates it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from verify.claims.context import Context, Proof
from verify.errors import TheoremError
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.outcomes import ClauseResult


@dataclass(frozen=True)
class InWords:
    """A claim in one sentence, such as one that is about all functions of a class. It is never a step."""

    quantifies: ClassVar = True
    uses_matrices: ClassVar = False
    rests_on_hypotheses: ClassVar = True
    relation: ClassVar = None

    label: str
    says: str

    def __post_init__(self) -> None:
        if not self.says.strip():
            raise TheoremError(f"clause {self.label}: says nothing")

    @property
    def text(self) -> str:
        """The sentence."""
        return self.says

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield nothing."""
        yield from ()

    def bound_names(self) -> set[str]:
        """Return no names."""
        return set()

    def to_data(self) -> Mapping[str, object]:
        """Return what the digest covers."""
        return {"kind": "in_words", "label": self.label, "says": self.says}

    def evaluate(self, context: Context) -> ClauseResult:
        """Return that nothing is decided."""
        return ClauseResult.undecided(self, "in words: not evaluated at an instance")

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return None."""
        return None

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return infinity: no instance is nearer than another."""
        return math.inf


def in_words(statement: Statement) -> frozenset[str]:
    """Return the labels of a statement's claims in words."""
    return frozenset(claim.label for claim in statement.claims if isinstance(claim, InWords))
