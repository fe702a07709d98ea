# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""The parts of a statement as data: a clause, and a labelled hypothesis."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import sympy as sp

from verify.errors import TheoremError
from verify.language.expressions import Magnitude, difference, refuse_no_relation, to_data
from verify.language.parameters import Parameter


class ClauseData(Protocol):
    """One labelled clause, as data: a claim or a step, by where it stands in its statement.

    `quantifies`: it may use the statement's variables, and then holds for all their values. `uses_matrices`: its
    expressions may hold matrices. `rests_on_hypotheses`: a proof of it for all parameters may use the hypotheses.
    `relation`: the relation that it is, None for another kind.
    """

    quantifies: ClassVar[bool]
    uses_matrices: ClassVar[bool]
    rests_on_hypotheses: ClassVar[bool]

    @property
    def relation(self) -> sp.core.relational.Relational | None:
        """The relation between expressions of the parameters that the clause is, None for another kind."""
        ...

    @property
    def label(self) -> str:
        """Name of the clause."""
        ...

    @property
    def text(self) -> str:
        """The clause in words or symbols."""
        ...

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the expressions of the clause."""
        ...

    def bound_names(self) -> set[str]:
        """Return names that the clause binds itself, such as a recursion's state."""
        ...

    def to_data(self) -> Mapping[str, object]:
        """Return what the digest covers."""
        ...


@dataclass(frozen=True)
class Hypothesis:
    """A labelled hypothesis: parametric, a relation on the parameters, or structural, a sentence.

    Parameters
    ----------
    label
        Its name.
    relation
        The relation, None for a structural hypothesis.
    text
        How it is printed; of a structural hypothesis, the hypothesis itself.
    varies
        The parameter of kind `word` by which a structural hypothesis is varied: it holds at the first word.
    supposed_at
        The name of a parameter of kind `word`, and a word that only supposes what the relation says of the others, such
        as `any` in a list of laws: there the hypothesis is `assumed`, unless the relation fails.

    Raises
    ------
    TheoremError
        Without a relation and a text, where a relation is to be varied by a word, and where what has none is supposed.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Hypothesis
    >>> eta, d = sp.symbols("eta d", positive=True)
    >>> Hypothesis("step_size", sp.Le(eta, 1 / (20 * d**2))).kind
    'parametric'
    >>> Hypothesis("zero_initialisation", text="W(0) = 0").kind
    'structural'
    """

    label: str
    relation: sp.core.relational.Relational | None = None
    text: str = ""
    varies: Parameter | None = None
    supposed_at: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.relation is None and not self.text:
            raise TheoremError(f"hypothesis {self.label}: needs a relation or a text")
        if self.relation is not None:
            refuse_no_relation(f"hypothesis {self.label}", self.relation)
        if self.relation is not None and self.varies:
            wrong = f"a relation is varied by dropping it, not by {self.varies.name}"
            raise TheoremError(f"hypothesis {self.label}: {wrong}")
        if self.relation is None and self.supposed_at:
            raise TheoremError(f"hypothesis {self.label}: without a relation it is supposed wherever it is not varied")

    @property
    def kind(self) -> str:
        """`parametric` or `structural`."""
        return "structural" if self.relation is None else "parametric"

    @property
    def statement(self) -> str:
        """The hypothesis in words or symbols."""
        if isinstance(self.relation, sp.Eq) and not self.text:
            return f"{self.relation.lhs} = {self.relation.rhs}"
        return self.text or str(self.relation)

    @property
    def slack(self) -> sp.Expr:
        """Expression that is positive inside and 0 on the boundary."""
        assert self.relation is not None
        slack = difference(self.relation)
        return -Magnitude(slack) if isinstance(self.relation, sp.Eq) else slack  # pyright: ignore[reportOperatorIssue]

    def to_data(self) -> Mapping[str, object]:
        """Return what the digest covers."""
        relation = None if self.relation is None else to_data(self.relation)
        data = {"label": self.label, "kind": self.kind, "relation": relation, "text": self.text}
        supposed = {"supposed_at": list(self.supposed_at)} if self.supposed_at else {}
        return data | ({"varies": self.varies.name} if self.varies else {}) | supposed
