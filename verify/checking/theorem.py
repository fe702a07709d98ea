"""Theorems: a statement with its source, its derivation, the data of its proofs and the variants to be refuted."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp

from verify.checking.argument import Inference, refuse_bad_argument, refuse_bad_extension
from verify.checking.derivation import Derivation
from verify.checking.registry import held_by_module, load_named, package_of
from verify.checking.reported_values import ClauseValue, Value, ValueLeast, ValueOver, expressions_of
from verify.checking.sources import Source
from verify.claims.in_words import Evaluation, in_words
from verify.claims.line import defined, example_of, statement_of
from verify.errors import InputError, TheoremError, meant
from verify.language.assumptions import POSITIVE, REAL, is_positive, not_implied, refuse_beyond
from verify.language.expressions import contents
from verify.language.labels import NAME, TITLE, refuse_bad_id, refuse_bad_label, refuse_bad_text
from verify.language.lines.statements import is_line
from verify.language.parameters import Parameter, parse_instance
from verify.language.statement import Hypothesis, Statement
from verify.printing import text_of
from verify.provers.multipliers import Multipliers
from verify.shown import Formula

_LINE = "line."
"""The beginning of the id of a theorem that is stated in a line; the statement's digest follows."""
WITHOUT = " without "
"""The text between a theorem's id and the label of a hypothesis, in the id of a variant without this hypothesis."""


@dataclass(frozen=True)
class Canary:
    """A false variant of a theorem's statement, which a search must refute.

    Parameters
    ----------
    label
        The error in the statement, such as `a 2 for the 1`.
    stated
        The false statement, or a function that returns it. The function is called when the statement is first read,
        so that loading the theorem does not run it. An error of the function is raised then.
    clause
        Label of the clause that must be refuted.

    Raises
    ------
    TheoremError
        If `stated` is neither a statement nor a function, or the statement has no clause of that label.

    Examples
    --------
    >>> import verify
    >>> theorem = verify.load_theorem("wang2024.stationary_points")
    >>> all(isinstance(canary, verify.Canary) for canary in theorem.canaries)
    True
    """

    label: str
    stated: Statement | Callable[[], Statement]
    clause: str

    def __post_init__(self) -> None:
        if isinstance(self.stated, Statement):
            _ = self.statement
        elif not callable(self.stated):
            raise TheoremError(f"canary {self.label}: its statement is a {type(self.stated).__name__}")

    @cached_property
    def statement(self) -> Statement:
        """The false statement. Raises TheoremError if it is no statement, or has no clause of that label."""
        statement = self.stated if isinstance(self.stated, Statement) else self.stated()
        if not isinstance(statement, Statement):
            raise TheoremError(f"canary {self.label}: its statement is a {type(statement).__name__}")
        labels = [clause.label for clause in statement.clauses]
        if self.clause not in labels:
            nearest = meant(self.clause, labels)
            raise TheoremError(f"canary {self.label}: its statement has no clause {self.clause}; {nearest}")
        return statement


@dataclass(frozen=True)
class Bound:
    """The bounds that a clause's upper bound is compared with, to measure its sharpness and to find vacuous cases.

    Parameters
    ----------
    proved
        The best proved bound of the same quantity.
    free
        A trivial bound: the claimed bound is vacuous unless it is smaller.
    along
        The parameter along which `explore` reports where the claimed bound becomes smaller than the trivial one.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Bound
    >>> u = sp.Symbol("u", positive=True)
    >>> Bound(free=u / 2, along="u").along
    'u'
    """

    proved: sp.Expr | None = None
    free: sp.Expr | None = None
    along: str | None = None


@dataclass(frozen=True, repr=False)
class Theorem(Formula):
    """A numbered or named result: its statement, its source, and its support.

    Parameters
    ----------
    id, title, source
        `paper.result`, one line, and the source.
    statement
        The claims as data; everything that is evaluated is compiled from it.
    example
        An instance in scope that is checked in about a second.
    values
        Reported values by name: an expression, a relation, or one of the kinds of `reported_values`.
    derivation
        Function that returns the `Derivation`; called only when a derivation is asked for.
    proofs
        For a clause's label, the data of its proof, such as `Multipliers`, `Descent` or `Tube`.
    evaluations
        For the label of a claim in words, its `Evaluation` at an instance.
    canaries
        False variants, each refuted by a search.
    bounds
        For the label of a clause that is an inequality, the `Bound` with which it is compared.
    statement_uses, proof_uses
        Ids of the theorems that the statement, respectively its proof, rests on.
    boundaries
        Hypotheses of other theorems, by the theorem's id. A sweep's plot draws their boundaries beside the boundaries
        of this theorem's own hypotheses; the claims do not use them.
    argument
        The inferences that lead from the statement's steps to its claims, each after those that it uses. A claim that
        has a proof of its own needs none.
    extensions
        Inferences that conclude claims only from other theorems' claims and from the hypotheses that they name. If
        these hypotheses hold, and those of the other theorems, the claim holds, also at an instance that is out of
        scope here. Parameters of the same name must have the same meaning in all these theorems.
    is_variant
        Whether the statement differs from the one that the other parts were written for, as in a search; some labels
        may then have no clause. `variant` sets it.

    Raises
    ------
    TheoremError
        For a part of the wrong type, an invalid id, an incomplete example, labels without a clause, and hypotheses that
        nothing uses.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Inequality, Parameter, Source, Statement, Theorem, check
    >>> x = sp.Symbol("x", positive=True)
    >>> claim = Inequality("c", sp.Le(2 * x, x**2 + 1))
    >>> statement = Statement((Parameter("x", "rational", "a number", above=0),), (claim,))
    >>> square = Theorem("user.square", "2x <= x^2 + 1", Source("1", "derived here"), statement, {"x": 2})
    >>> str(check(square, x=3).outcome)
    'verified'
    """

    id: str
    title: str
    source: Source
    statement: Statement
    example: Mapping[str, Any]
    values: Mapping[str, Value] = field(default_factory=dict)
    derivation: Callable[[], Derivation] | None = None
    proofs: Mapping[str, Any] = field(default_factory=dict)
    canaries: tuple[Canary, ...] = ()
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    statement_uses: tuple[str, ...] = ()
    proof_uses: tuple[str, ...] = ()
    boundaries: Mapping[str, Hypothesis] = field(default_factory=dict)
    argument: tuple[Inference, ...] = ()
    extensions: tuple[Inference, ...] = ()
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    is_variant: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        self._refuse_ill_typed()
        self._refuse_bad_names()
        object.__setattr__(self, "argument", tuple(self.argument))
        object.__setattr__(self, "extensions", tuple(self.extensions))
        for value in self.values.values():
            for expression in expressions_of(value):
                self.statement.refuse_bound(expression)
            self.statement.refuse_other_symbols(*expressions_of(value))
        self._names_agree()
        # A variant has no argument, because its statement may lack parts that the argument uses.
        if self.argument:
            refuse_bad_argument(self.argument, self.statement, self.proof_uses)
        for extension in self.extensions:
            refuse_bad_extension(extension, self.statement)
        if not self.is_variant:
            self._refuse_incomplete_example()
            self._refuse_unused()

    def _refuse_ill_typed(self) -> None:
        for name, value, right in (
            ("source", self.source, Source),
            ("statement", self.statement, Statement),
            ("example", self.example, Mapping),
        ):
            if not isinstance(value, right):
                how = ', such as Source("Lemma 4", "printed", paper)' if right is Source else ""
                raise TheoremError(f"{name}: is a {type(value).__name__}, where a {right.__name__} is needed{how}")

    def _refuse_bad_names(self) -> None:
        name, without, label = self.id.partition(WITHOUT) if self.is_variant else (self.id, "", "")
        refuse_bad_id("theorem", name)
        if without:
            refuse_bad_label("theorem without", label)
        refuse_bad_text(f"theorem {self.id}: title", self.title, TITLE)
        for used in (*self.statement_uses, *self.proof_uses, *self.boundaries):
            refuse_bad_id(f"theorem {self.id}: uses", used)
        for name in self.values:
            refuse_bad_text("value", name, NAME)
        for canary in self.canaries:
            refuse_bad_text("canary", canary.label, TITLE)

    def _refuse_incomplete_example(self) -> None:
        parameters = self.statement.parameters
        needed = [p.name for p in parameters if p.default is None and not p.words and p.name not in self.example]
        if needed:
            raise TheoremError(f"example: {', '.join(needed)} missing; it must give a value for each parameter")
        try:
            parse_instance(parameters, self.example, partial=True)
        except InputError as error:
            raise TheoremError(f"example: {error}") from None

    def _refuse_unused(self) -> None:
        """Refuse proof data and values for a label without a clause, such as a mistyped one, and unused hypotheses."""
        labels = [clause.label for clause in self.statement.clauses]
        asked = [("proofs", label) for label in self.proofs] + [("formal", label) for label in self.statement.formal]
        said = in_words(self.statement)
        for label in self.evaluations:
            if label not in said:
                raise TheoremError(f"evaluations: there is no claim in words {label}; {meant(label, sorted(said))}")
        asked += [(f"value {name}", v.clause) for name, v in self.values.items() if isinstance(v, ClauseValue)]
        for where, label in asked:
            if label not in labels:
                raise TheoremError(f"{where}: there is no clause {label}; {meant(label, labels)}")
        for hypothesis in unused_hypotheses(self.statement):
            why = "none of its parameters appears in a claim, a definition or another hypothesis that is used"
            raise TheoremError(f"hypothesis {hypothesis.label}: {why}")

    def _names_agree(self) -> None:
        names = {parameter.name for parameter in self.statement.parameters}
        if unknown := sorted(set(self.example) - names):
            nearest = meant(unknown[0], [p.name for p in self.statement.parameters])
            raise TheoremError(f"example: {unknown[0]} is not a parameter; {nearest}")
        self._values_agree()
        for label, bound in self.bounds.items():
            self._bound_agrees(label, bound, names)
        for name, hypothesis in self.boundaries.items():
            if hypothesis.relation is None:
                raise TheoremError(f"boundary {name}: {hypothesis.label} is not a relation")
            self._refuse_beside(hypothesis.relation, names, f"boundary {name}")

    def _values_agree(self) -> None:
        lists = {p.name: p for p in self.statement.parameters if p.kind == "rationals"}
        for name, value in self.values.items():
            if isinstance(value, ValueOver):
                if value.parameter not in lists:
                    raise TheoremError(f"value {name}: {value.parameter} is not a parameter of kind rationals")
                _refuse_misused_entries(name, value, lists[value.parameter])
            if isinstance(value, ValueLeast):
                self._least_agrees(name, value)

    def _bound_agrees(self, label: str, bound: Bound, names: set[str]) -> None:
        clauses = {clause.label: clause for clause in self.statement.clauses}
        relation = getattr(clauses.get(label), "relation", None)
        if relation is None or isinstance(relation, sp.Eq):
            raise TheoremError(f"bound {label}: no clause with this label is an inequality")
        if bound.along is not None and bound.along not in names:
            raise TheoremError(f"bound {label}: {bound.along} is not a parameter")
        if bound.along is not None and any(p.name == bound.along and p.words for p in self.statement.parameters):
            raise TheoremError(f"bound {label}: {bound.along} is not a parameter that has a range")
        known = names | {symbol.name for symbol in self.statement.definitions}
        for expression in (bound.proved, bound.free):
            self._refuse_beside(expression or sp.Integer(0), known, f"bound {label}")
        if bound.along is not None and bound.free is None:
            raise TheoremError(f"bound {label}: along {bound.along}, there is no free bound to compare with")

    def _refuse_beside(self, expression: sp.Basic, known: set[str], where: str) -> None:
        self.statement.refuse_unknown(expression, known, where)
        self.statement.refuse_bound(expression)
        self.statement.refuse_other_symbols(expression)

    def _least_agrees(self, name: str, value: ValueLeast) -> None:
        if value.parameter not in {p.name for p in self.statement.parameters if p.kind == "integer"}:
            raise TheoremError(f"value {name}: {value.parameter} is not a parameter of kind integer")
        for end in value.ends():
            if value.parameter in {symbol.name for symbol in self.statement.expand(end).free_symbols}:  # pyright: ignore[reportAttributeAccessIssue]
                raise TheoremError(
                    f"value {name}: {text_of(end)} uses {value.parameter}, of which the least value is asked for"
                )

    def made_derivation(self) -> Derivation:
        """Return the derivation. Raises TheoremError without one, and if its function fails."""
        if self.derivation is None:
            raise TheoremError(f"{self.id} has no derivation")
        try:
            derivation = self.derivation()
        except TheoremError:
            raise
        except (Exception, SystemExit) as error:
            raise TheoremError(f"{self.id}: its derivation raised {type(error).__name__}: {error}") from error
        if not isinstance(derivation, Derivation):
            raise TheoremError(f"{self.id}: its derivation returned a {type(derivation).__name__}, not a Derivation")
        return derivation

    def by(self, multipliers: Mapping[str, Any]) -> "Theorem":
        """Return the theorem with `Multipliers` as the proof of its one claim. Raises InputError for several."""
        claims = self.statement.claims
        if len(claims) != 1:
            raise InputError("by", "", f"{self.id} has {len(claims)} claims: its file gives the multipliers of each")
        return replace(self, proofs={**self.proofs, claims[0].label: Multipliers(multipliers)})

    def variant(self, statement: Statement) -> "Theorem":
        """Return the theorem with another statement and the same proof data, without argument, extensions and bounds.

        The evaluation of a claim in words is kept if the new statement has the same claim.
        """
        same = {claim.label for claim in statement.claims if claim in self.statement.claims}
        evaluations = {label: evaluation for label, evaluation in self.evaluations.items() if label in same}
        parts = {"bounds": {}, "argument": (), "extensions": (), "evaluations": evaluations}
        return replace(self, statement=statement, is_variant=True, **parts)


def _refuse_misused_entries(name: str, value: ValueOver, entries: Parameter) -> None:
    """Refuse assumptions that an entry's domain does not imply, and assumptions of a sum's symbol beyond `real`.

    The symbol of a sum may be assumed positive if its terms are made of positive numbers, because a list is not empty.
    """
    if lacking := not_implied(value.entry, entries):
        raise TheoremError(f"value {name}, entry {value.entry}: parameter {entries.name} {lacking}")
    for symbol, term in value.sums.items():
        positives = {each.name for each in sp.sympify(term).free_symbols if each.is_positive}  # pyright: ignore[reportAttributeAccessIssue]
        refuse_beyond(f"value {name}: the sum", symbol, POSITIVE if is_positive(term, positives) else REAL)


def load_theorem(reference: str) -> Theorem:
    """Return a theorem.

    Parameters
    ----------
    reference
        Its id, a statement in a line (`claim`), or `file.py:name`, whose code is run.

    Returns
    -------
    Theorem
        The theorem.

    Raises
    ------
    InputError
        If there is no such theorem.

    Examples
    --------
    >>> import verify
    >>> verify.load_theorem("wang2024.theorem1").source.number
    'Theorem 1'
    """
    return claim(reference) if is_line(reference) else load_named("theorem", Theorem, reference)


def unused_hypotheses(statement: Statement) -> list[Hypothesis]:
    """Return the hypotheses whose parameters occur in no clause, definition, domain, default or used hypothesis.

    The list is empty if a clause is in words, which may be about anything.
    """
    expressions = [list(clause.expressions()) for clause in statement.clauses]
    if not all(expressions):
        return []
    parts = [*(e for some in expressions for e in some), *statement.definitions.values(), *statement.domain]
    parts += [parameter.default for parameter in statement.parameters if parameter.default is not None]
    used = {symbol.name for part in parts for symbol in contents(sp.sympify(part)).symbols}
    names = {
        h.label: {h.varies.name} if h.varies else {s.name for s in contents(h.relation).symbols}
        for h in statement.hypotheses
        if h.relation is not None or h.varies
    }
    while shared := [label for label, some in names.items() if some & used]:
        for label in shared:
            used |= names.pop(label)
    return [hypothesis for hypothesis in statement.hypotheses if hypothesis.label in names]


def claim(line: str, *, by: Mapping[str, Any] | None = None) -> Theorem:
    """Return the theorem that a line states: `CLAIM [along RECURSION] [if HYPOTHESES] [for DOMAINS]`.

    Parameters
    ----------
    line
        The text, such as `2*x*y <= x**2 + y**2 for x > 0, y real`: comparisons of expressions with `+ - * / **` and the
        functions that `verify language` lists, joined by `and`. Domains and hypotheses are separated by commas; a name
        without a domain is a real number.
    by
        Multipliers of the claim's proof, as in `Multipliers`; the hypotheses are `hypothesis 1` and so on.

    Returns
    -------
    Theorem
        The theorem with the line's claims, and an instance in scope as its example.

    Raises
    ------
    InputError
        For text that is not understood, with its column, and where no instance in scope is found.

    Examples
    --------
    >>> import verify
    >>> str(verify.check(verify.claim("2*x*y <= x**2 + y**2 for x > 0"), x=1, y=2).outcome)
    'verified'
    """
    stated = _stated(line)
    return stated if by is None else stated.by(by)


@lru_cache(maxsize=64)
def _stated(line: str) -> Theorem:
    statement, example = statement_of(line), None
    other: Statement | None = statement
    # No rational number is equal to log(2), so that a parameter that has to be equal to log(2) becomes a definition.
    while other is not None and (example := example_of(other)) is None:
        other = defined(other)
    if other is None or example is None:
        raise InputError("statement", line, "no instance in scope was found among small numbers")
    statement = other
    title = line if len(line) <= TITLE else f"{line[: TITLE - 1]}…"
    return Theorem(f"{_LINE}{statement.digest[:12]}", title, Source("a line", "derived here"), statement, example)


def reference_of(theorem: Theorem) -> tuple[str, str] | None:
    """Return the reference by which another process loads this theorem, and its module; None if it is in no module."""
    if is_line(theorem.title) and theorem.id.startswith(_LINE):
        with contextlib.suppress(InputError):
            if claim(theorem.title) is theorem:
                return theorem.title, "verify"
    with contextlib.suppress(InputError):
        package = package_of(theorem.id)
        if load_theorem(theorem.id) is theorem:
            return theorem.id, package
    return held_by_module(theorem)
