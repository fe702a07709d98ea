"""Theorems: a statement that is data, its source, its derivation and the false variants that must be refuted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import sympy as sp

from verify.errors import TheoremError
from verify.language import RELATIONS, digest, to_data
from verify.parameters import Parameter

if TYPE_CHECKING:
    from verify.claims import Clause
    from verify.conditions import ConditionsResult
    from verify.derivation import Derivation
    from verify.outcomes import CheckResult


@dataclass(frozen=True)
class Paper:
    """A paper of the library: `key` begins the ids of its theorems.

    `numbered_statements` is how many numbered results it has, None when that is not known to us;
    `disclosed` lists those whose text we know.
    """

    key: str
    citation: str
    arxiv: str
    numbered_statements: int | None = None
    disclosed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Where a statement comes from: `printed` in the paper, `recalled` second-hand, or `derived here`."""

    number: str
    provenance: Literal["printed", "recalled", "derived here"]
    paper: Paper | None = None
    note: str = ""

    def __str__(self) -> str:
        where = f"{self.paper.citation}, arXiv {self.paper.arxiv}, " if self.paper else ""
        return f"{where}{self.number} ({self.provenance}{self.note and ': ' + self.note})"


@dataclass(frozen=True)
class Hypothesis:
    """A labelled hypothesis: a relation on the parameters (`text`: as printed), or, structural, a sentence."""

    label: str
    relation: sp.core.relational.Relational | None = None
    text: str = ""

    def __post_init__(self) -> None:
        if self.relation is None and not self.text:
            raise TheoremError(f"hypothesis {self.label}: needs a relation or a text")
        if self.relation is not None and not isinstance(self.relation, tuple(RELATIONS.values())):
            raise TheoremError(f"hypothesis {self.label}: {self.relation} is not a relation between expressions")

    @property
    def kind(self) -> str:
        """`parametric` or `structural`."""
        return "structural" if self.relation is None else "parametric"

    @property
    def statement(self) -> str:
        """The hypothesis in words or symbols."""
        return self.text or str(self.relation)

    @property
    def slack(self) -> sp.Expr:
        """Expression that is positive inside and 0 on the boundary."""
        assert self.relation is not None
        left, right = self.relation.args
        if isinstance(self.relation, sp.Eq):
            return -sp.Abs(left - right)
        return right - left if isinstance(self.relation, sp.StrictLessThan | sp.LessThan) else left - right

    def to_data(self) -> dict[str, Any]:
        """Return what the digest covers."""
        body = self.text if self.relation is None else to_data(self.relation)
        return {"label": self.label, "kind": self.kind, "hypothesis": body}


@dataclass(frozen=True)
class Statement:
    """Parameters, hypotheses, definitions and claim.

    `variables` are symbols that the claim quantifies over beside the parameters (`for all α, C`);
    `domain` are relations without which the parameters mean nothing (`q <= T`): an instance
    that breaks one is an input error, not an instance out of scope. `definitions` name
    expressions, each in terms of the parameters, the variables and earlier definitions.
    """

    parameters: tuple[Parameter, ...]
    clauses: "tuple[Clause, ...]"
    hypotheses: tuple[Hypothesis, ...] = ()
    domain: tuple[sp.core.relational.Relational, ...] = ()
    variables: tuple[sp.Symbol, ...] = ()
    definitions: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.clauses:
            raise TheoremError("a statement needs at least one clause")
        for what, labels in (
            ("parameter", [p.name for p in self.parameters]),
            ("hypothesis", [h.label for h in self.hypotheses]),
            ("clause", [c.label for c in self.clauses]),
        ):
            twice = {label for label in labels if labels.count(label) > 1}
            if twice:
                raise TheoremError(f"{what} {twice.pop()}: named twice")
        known = {p.name for p in self.parameters}
        for relation in (*self.domain, *(h.relation for h in self.hypotheses if h.relation is not None)):
            self._known(relation, known, "a hypothesis")
        known |= {v.name for v in self.variables}
        for name, expression in self.definitions.items():
            self._known(expression, known, f"definition {name}")
            known.add(name.name)
        for clause in self.clauses:
            for expression in clause.expressions():
                self._known(expression, known | clause.bound_names(), f"clause {clause.label}")
        self.to_data()

    @staticmethod
    def _known(expression: sp.Basic, known: set[str], where: str) -> None:
        unknown = sorted(s.name for s in sp.sympify(expression).free_symbols if s.name not in known)
        if unknown:
            raise TheoremError(f"{where} uses {', '.join(unknown)}, which the statement does not introduce")

    def to_data(self) -> dict[str, Any]:
        """Return the statement as data: what the digest covers."""
        return {
            "parameters": [_parameter_data(parameter) for parameter in self.parameters],
            "variables": [to_data(variable) for variable in self.variables],
            "domain": [to_data(relation) for relation in self.domain],
            "hypotheses": [hypothesis.to_data() for hypothesis in self.hypotheses],
            "definitions": [[to_data(name), to_data(value)] for name, value in self.definitions.items()],
            "claim": [clause.to_data() for clause in self.clauses],
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the statement's data."""
        return digest(self.to_data())

    def __hash__(self) -> int:
        return hash(self.digest)

    def expand(self, expression: sp.Basic) -> sp.Basic:
        """Return the expression with the definitions put in."""
        for name, value in reversed(self.definitions.items()):
            expression = expression.subs(name, value)
        return expression


def _parameter_data(parameter: Parameter) -> dict[str, Any]:
    bounds = {"minimum": parameter.minimum, "above": parameter.above}
    return {
        "name": parameter.name,
        "kind": parameter.kind,
        "words": list(parameter.words),
        **{name: None if bound is None else str(bound) for name, bound in bounds.items()},
    }


@dataclass(frozen=True)
class Canary:
    """A false variant of a theorem's statement, with an instance at which a check must refute it."""

    label: str
    statement: Statement
    instance: Mapping[str, Any]
    clause: str


@dataclass(frozen=True)
class ClauseValue:
    """A reported value that the evaluation of a clause finds on its way."""

    clause: str
    name: str


@dataclass(frozen=True)
class Theorem:
    """A numbered or named result.

    Parameters
    ----------
    id, title, source
        `paper.result`, one line, and where it was taken from.
    statement
        What is claimed; everything that is evaluated is compiled from it.
    example
        An instance in scope that is checked in about a second.
    values
        Names of reported values and what they are: an expression, or a `ClauseValue`.
    derivation
        Function that returns the `Derivation`; called when it is asked for.
    proofs
        For a clause's label, the data of a proof that the engine carries out at an instance.
    canaries
        False variants, each refuted by a check.
    statement_uses, proof_uses
        Ids of the theorems that the statement, respectively its proof, rests on.
    """

    id: str
    title: str
    source: Source
    statement: Statement
    example: Mapping[str, Any]
    values: Mapping[str, sp.Expr | ClauseValue] = field(default_factory=dict)
    derivation: "Callable[[], Derivation] | None" = None
    proofs: Mapping[str, Any] = field(default_factory=dict)
    canaries: tuple[Canary, ...] = ()
    statement_uses: tuple[str, ...] = ()
    proof_uses: tuple[str, ...] = ()

    def conditions(self, **given: Any) -> "ConditionsResult":
        """Say which hypotheses hold, fail or need a parameter; a partial instance will do. Raises InputError."""
        from verify.conditions import conditions

        return conditions(self, given)

    def check(self, *, seconds: float = 60, digits: int = 17, seed: int = 0, **given: Any) -> "CheckResult":
        """Check hypotheses and claim at an instance, within about `seconds`. Raises InputError."""
        from verify.check import check

        return check(self, given, seconds=seconds, digits=digits, seed=seed)

    def derive(self) -> "Iterator[Any]":
        """Yield the derivation's steps, each checked as it is yielded. Raises TheoremError at a step that fails."""
        if self.derivation is None:
            raise TheoremError(f"{self.id} has no derivation")
        return self.derivation().checked_steps()

    def variant(self, statement: Statement) -> "Theorem":
        """Return the same theorem with another statement, under the same proof data."""
        return replace(self, statement=statement)
