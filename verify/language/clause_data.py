# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""The parts of a statement as data: a clause, a labelled hypothesis, a formal text, and a recursion."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import sympy as sp

from verify.errors import TheoremError
from verify.language.assumptions import INTEGRAL, POSITIVE, REAL, is_integral, is_positive
from verify.language.expressions import Magnitude, difference, refuse_no_relation, to_data
from verify.language.parameters import Parameter
from verify.printing import text_of


class ClauseData(Protocol):
    """One labelled clause, as data: a claim or a step, depending on its place in its statement.

    `quantifies`: the clause may use the statement's variables, and then holds for all their values. `uses_matrices`:
    the clause may contain matrices. `rests_on_hypotheses`: its proof for all parameters may use the hypotheses.
    `relation`: the relation, if the clause is one, else None. A kind may have a method `bound_domains(integers,
    positives)`. It returns the assumptions that bound symbols may have, given the names of integers and of positive
    numbers; other bound symbols may only be `real`. A shipped kind may have `refuse_in(statement)`, which refuses a
    statement that the clause does not fit, and `over_arrays(statement, names, arrays)`, which returns the function that
    computes margins at many points at once for the numerical search.
    """

    quantifies: ClassVar[bool]
    uses_matrices: ClassVar[bool]
    rests_on_hypotheses: ClassVar[bool]

    @property
    def relation(self) -> sp.core.relational.Relational | None:
        """The relation, if the clause is one between expressions of the parameters; else None."""
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
        """Return the data that the digest covers."""
        ...


@dataclass(frozen=True)
class Hypothesis:
    """A labelled hypothesis: parametric, a relation on the parameters, or structural, a sentence.

    Parameters
    ----------
    label
        The hypothesis's name.
    relation
        The relation, None for a structural hypothesis.
    text
        The printed text; for a structural hypothesis, this text is the hypothesis.
    varies
        The parameter of kind `word` that varies a structural hypothesis; the hypothesis holds at its first word only.
    supposed_at
        The name of a parameter of kind `word`, and one of its words, such as ("law", "any"). At an instance with this
        word, a relation that holds makes the hypothesis `assumed`; a relation that fails still makes it fail.

    Raises
    ------
    TheoremError
        If neither a relation nor a text is given, for a `relation` of another type, for `varies` with a relation,
        and for `supposed_at` without one.

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
            wrong = "supposed_at needs a relation; a hypothesis in words is assumed already, unless `varies` is given"
            raise TheoremError(f"hypothesis {self.label}: {wrong}")

    @property
    def kind(self) -> str:
        """`parametric` or `structural`."""
        return "structural" if self.relation is None else "parametric"

    @property
    def statement(self) -> str:
        """The hypothesis in words or symbols."""
        if isinstance(self.relation, sp.Eq) and not self.text:
            return f"{text_of(self.relation.lhs)} = {text_of(self.relation.rhs)}"
        return self.text or text_of(self.relation)

    @property
    def slack(self) -> sp.Expr:
        """Expression that is positive inside and 0 on the boundary; for an equation, −|left − right|."""
        assert self.relation is not None
        slack = difference(self.relation)
        return -Magnitude(slack) if isinstance(self.relation, sp.Eq) else slack  # pyright: ignore[reportOperatorIssue]

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        relation = None if self.relation is None else to_data(self.relation)
        data = {"label": self.label, "kind": self.kind, "relation": relation, "text": self.text}
        supposed = {"supposed_at": list(self.supposed_at)} if self.supposed_at else {}
        return data | ({"varies": self.varies.name} if self.varies else {}) | supposed


@dataclass(frozen=True)
class FormalText:
    """A claim as propositions of Rocq over definitions that are written by hand; `verify.formal_text` reads it.

    Parameters
    ----------
    propositions
        The full name of each proposition, and its text.
    definitions
        The full names of the definitions that the propositions rest on.
    digest
        The digest of the texts of the propositions and of the definitions.
    besides
        The sentences in prose, if any, that derive the claim from the propositions.
    proofs, package
        The theorem that proves each proposition, and the package whose files contain all of them. Neither is part of
        the statement.

    Examples
    --------
    >>> from verify import FormalText
    >>> text = FormalText((("Halves.claims.positive", "0 < half"),), ("Halves.definitions.half",), "0" * 64)
    >>> text.to_data()["propositions"]
    ['Halves.claims.positive']
    """

    propositions: tuple[tuple[str, str], ...]
    definitions: tuple[str, ...]
    digest: str
    besides: tuple[str, ...] = ()
    proofs: tuple[str, ...] = field(default=(), compare=False)
    package: str = field(default="", compare=False)

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        names = [name for name, _ in self.propositions]
        return {"propositions": names, "text": self.digest, "besides": list(self.besides)}


@dataclass(frozen=True)
class Dynamics:
    """A recursion z' = step(z), and a scalar that is observed along it.

    Enclosures get wider if `step` as written repeats a symbol: write a contraction as `z*(1 - a) + b`, not as
    `z - (a*z - b)`.

    Parameters
    ----------
    state
        The symbols of the state.
    initial
        The state before the first step, in terms of the parameters.
    step
        The next state, in terms of the state and the parameters.
    observable
        The scalar that clauses such as `Reaches` are about.
    name
        The observable's name in tables, such as `L`, as the texts of claims write it; no digest covers it.

    Raises
    ------
    TheoremError
        If the state, its start and its step differ in length.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Dynamics
    >>> z, eta = sp.symbols("z eta", positive=True)
    >>> Dynamics((z,), (sp.Integer(1),), (z * (1 - eta),), z**2).observable
    z**2
    """

    state: tuple[sp.Symbol, ...]
    initial: tuple[sp.Expr, ...]
    step: tuple[sp.Expr, ...]
    observable: sp.Expr
    name: str = ""

    @property
    def title(self) -> str:
        """The observable's title in a table, with its name if it has one."""
        return f"observable {self.name}".rstrip()

    def __post_init__(self) -> None:
        if not len(self.state) == len(self.initial) == len(self.step):
            raise TheoremError("a recursion needs one initial value and one step for each state variable")

    def domains(self, integers: Collection[str], positives: Collection[str]) -> Mapping[str, Collection[str]]:
        """Return the assumptions that the state may have: integer or positive if start and steps are shown to be."""
        parts, names = (*self.initial, *self.step), [symbol.name for symbol in self.state]
        whole = {*integers, *(symbol.name for symbol in self.state if symbol.is_integer)}
        above = {*positives, *(symbol.name for symbol in self.state if symbol.is_positive)}
        stays = INTEGRAL if all(is_integral(part, whole) for part in parts) else REAL
        return dict.fromkeys(names, stays | (POSITIVE if all(is_positive(part, above) for part in parts) else REAL))

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        lists = {"state": self.state, "initial": self.initial, "step": self.step}
        return {name: [to_data(item) for item in items] for name, items in lists.items()} | {
            "observable": to_data(self.observable)
        }
