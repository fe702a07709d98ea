# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false
"""Defaults shared by most kinds of clause; a kind overrides those that differ."""

from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar

import sympy as sp

from verify.claims.question import Proof
from verify.errors import TheoremError
from verify.language.expressions import to_data
from verify.language.statement import Statement
from verify.printing import text_of


class ClauseDefaults:
    """Defaults: the clause uses no variables, is no relation, and has no known proof for all parameters."""

    quantifies: ClassVar[bool] = False
    uses_matrices: ClassVar[bool] = False
    rests_on_hypotheses: ClassVar[bool] = True
    relation: ClassVar[None] = None

    says: str

    @property
    def text(self) -> str:
        """The clause in words or symbols."""
        return self.says or self._symbols

    @cached_property
    def _symbols(self) -> str:
        return self.in_symbols()

    def in_symbols(self) -> str:
        """Return the clause in symbols, for a clause without the author's text (`says`)."""
        raise NotImplementedError

    def bound_names(self) -> set[str]:
        """Return the empty set: the clause binds no names."""
        return set()

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return None: no proof for all parameters is known for the kind."""
        return None


class Equality(ClauseDefaults):
    """A clause that two sides are equal, for all values of the statement's variables and without any hypothesis."""

    quantifies: ClassVar[bool] = True
    rests_on_hypotheses: ClassVar[bool] = False

    label: str
    left: sp.Expr
    right: sp.Expr

    def __post_init__(self) -> None:
        if sp.sympify(self.left) == sp.sympify(self.right):
            raise TheoremError(f"clause {self.label}: both sides are written the same")

    def in_symbols(self) -> str:
        """Return both sides."""
        return f"{text_of(self.left)} = {text_of(self.right)}"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield both sides."""
        yield from (sp.sympify(self.left), sp.sympify(self.right))

    def sides_data(self) -> dict[str, object]:
        """Return the data of both sides."""
        return {"left": to_data(sp.sympify(self.left)), "right": to_data(sp.sympify(self.right))}
