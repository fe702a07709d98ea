# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false
"""A clause in words, of what the language cannot say: an argument may carry it, nothing evaluates it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import sympy as sp

from verify.claims.defaults import ClauseDefaults
from verify.claims.question import Question
from verify.errors import TheoremError
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.outcomes import ClauseResult


@dataclass(frozen=True)
class InWords(ClauseDefaults):
    """A claim in one sentence, such as one about all functions of a class; it is never a step.

    It is not evaluated at an instance: an argument establishes it.

    Parameters
    ----------
    label
        Its name.
    says
        The claim.

    Raises
    ------
    TheoremError
        For an empty sentence.

    Examples
    --------
    >>> from verify import InWords
    >>> InWords("nets", "no net of this width has a smaller loss").text
    'no net of this width has a smaller loss'
    """

    quantifies: ClassVar[bool] = True

    label: str
    says: str

    def __post_init__(self) -> None:
        if not self.says.strip():
            raise TheoremError(f"clause {self.label}: has no text")

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield nothing."""
        yield from ()

    def to_data(self) -> Mapping[str, object]:
        """Return what the digest covers."""
        return {"kind": "in_words", "label": self.label, "says": self.says}

    def evaluate(self, question: Question) -> ClauseResult:
        """Return that nothing is decided."""
        return ClauseResult.undecided(self, "in words: not evaluated at an instance")

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return infinity: no instance is nearer than another."""
        return math.inf


def in_words(statement: Statement) -> frozenset[str]:
    """Return the labels of a statement's claims in words."""
    return frozenset(claim.label for claim in statement.claims if isinstance(claim, InWords))
