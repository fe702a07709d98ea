# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""Statements as data: parameters, labelled hypotheses, definitions, claims, and the steps of their proof."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp

from verify.errors import TheoremError, meant
from verify.frozen import Frozen, frozen
from verify.language.assumptions import (
    INTEGRAL,
    REAL,
    is_integral,
    refuse_beyond,
    refuse_bound_assumptions,
    refuse_misused,
)
from verify.language.clause_data import ClauseData, FormalText, Hypothesis
from verify.language.definedness import substituted
from verify.language.expressions import (
    RELATIONS,
    Case,
    bound_symbols,
    canonical,
    contents,
    decided,
    digest,
    digest_of,
    has_matrices,
    refuse_no_relation,
    to_data,
)
from verify.language.heads.scopes import BINDERS
from verify.language.labels import NAME, refuse_bad_label, refuse_bad_text
from verify.language.parameters import Instance, Parameter
from verify.printing import text_of
from verify.shown import Formula

_SEQUENCES = ("parameters", "claims", "hypotheses", "domain", "variables", "steps")
"""The parts of a statement that are tuples; a list is converted."""


@dataclass(frozen=True, repr=False)
class Statement(Formula):
    """The statement of a theorem, as data: parameters, hypotheses, definitions, claims and the steps of its proof.

    Parameters
    ----------
    parameters
        The parameters, in the order in which they are shown.
    claims
        Clauses that the result asserts.
    hypotheses
        The assumptions.
    domain
        Relations without which the parameters are meaningless (`q <= T`): an instance that breaks one is invalid input.
        The parameters' upper ends are put before these relations. `replace` keeps old ends in addition to new ones.
    variables
        Symbols other than the parameters; the clauses hold for all their values.
    definitions
        Names for expressions, each in terms of the parameters, the variables and earlier definitions.
    steps
        Clauses that the proof shows before the claims; the digest covers which clauses are steps.
    formal
        Claims as propositions for a proof assistant, by label.

    Raises
    ------
    TheoremError
        For a part of the wrong type, a name used twice, and an expression outside the language.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Inequality, Parameter, Statement
    >>> x = sp.Symbol("x", real=True)
    >>> statement = Statement((Parameter("x", "rational", "a number"),), (Inequality("square", sp.Ge(x**2, x - 1)),))
    >>> statement.role("square"), len(statement.digest)
    ('claim', 64)
    """

    parameters: tuple[Parameter, ...]
    claims: tuple[ClauseData, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    domain: tuple[sp.core.relational.Relational, ...] = ()
    variables: tuple[sp.Symbol, ...] = ()
    definitions: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    steps: tuple[ClauseData, ...] = ()
    formal: Mapping[str, FormalText] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in _SEQUENCES:
            if isinstance(items := getattr(self, part), list):
                object.__setattr__(self, part, tuple(items))
        if not self.claims:
            raise TheoremError("a statement needs at least one claim")
        _refuse_ill_typed(self)
        object.__setattr__(self, "definitions", Frozen(self.definitions))
        object.__setattr__(self, "formal", Frozen(self.formal))
        upper = [end for end in _upper_ends(self) if end not in self.domain]
        object.__setattr__(self, "domain", (*upper, *self.domain))
        for part in ("parameters", "claims", "steps", "hypotheses"):
            object.__setattr__(self, part, frozen(getattr(self, part)))
        _refuse_misnamed(self)
        _refuse_named_twice(self)
        _refuse_unknown_names(self)
        _refuse_misused_symbols(self)
        _refuse_misused_words(self)
        _refuse_circular_defaults(self)
        for step in self._data()["steps"]:
            if step.get("kind") == "in_words":
                raise TheoremError(
                    f"step {step['label']}: a step must be provable; a claim in words belongs in an argument"
                )

    @property
    def further_domain(self) -> tuple[sp.core.relational.Relational, ...]:
        """The relations of the domain, except upper ends of parameters, which are shown with the parameters."""
        ends = [*_upper_ends(self)]
        return tuple(relation for relation in self.domain if relation not in ends)

    @property
    def clauses(self) -> tuple[ClauseData, ...]:
        """Claims, then steps."""
        return (*self.claims, *self.steps)

    def role(self, label: str) -> str:
        """Return the role of a labelled clause, `claim` or `step`."""
        return "step" if any(step.label == label for step in self.steps) else "claim"

    def with_clauses(self, change: Callable[[ClauseData], ClauseData | None]) -> "Statement":
        """Apply `change` to every claim and step; drop formal texts, and clauses for which `change` returns None."""
        claims, steps = (tuple(new for old in part if (new := change(old))) for part in (self.claims, self.steps))
        return replace(self, claims=claims, steps=steps, formal={})

    def alone(self, *clauses: ClauseData) -> "Statement":
        """Return the statement that claims these clauses and nothing else."""
        return replace(self, claims=clauses, steps=(), formal={})

    @staticmethod
    def refuse_unknown(expression: sp.Basic, known: set[str], where: str) -> None:
        """Raise TheoremError for a symbol that is not among the known names."""
        given = sp.sympify(expression)
        if known.issuperset(symbol.name for symbol in contents(given).symbols):
            return
        if unknown := sorted(_free_names(given) - known):
            nearest = meant(unknown[0], sorted(known), "it introduces")
            raise TheoremError(f"{where} uses {', '.join(unknown)}, which the statement does not introduce; {nearest}")

    def refuse_bound(self, expression: sp.Basic) -> None:
        """Raise TheoremError for a part outside the language, and for a forbidden bound symbol.

        Forbidden are assumptions of the symbol, names of definitions and, in `BINDERS`, of parameters and variables.
        """
        expression = sp.sympify(expression)
        to_data(expression)
        refuse_bound_assumptions(expression)
        if taken := bound_symbols(expression) & set(self.definitions):
            raise TheoremError(f"{text_of(expression)}: {min(taken, key=str)} is a definition, and cannot be bound")
        names = {*(parameter.name for parameter in self.parameters), *(variable.name for variable in self.variables)}
        if taken := {str(symbol) for symbol in bound_symbols(expression, BINDERS)} & names:
            raise TheoremError(f"{text_of(expression)}: {min(taken)} is bound there, and introduced by the statement")

    def refuse_other_symbols(self, *expressions: sp.Basic) -> None:
        """Raise TheoremError for two unequal symbols of the same name, here or in the statement.

        A parameter's symbol is refused as well if it assumes more than the parameter's domain implies.
        """
        known = {symbol.name: symbol for symbol in self.symbols()}
        symbols = frozenset[sp.Symbol]().union(*(contents(sp.sympify(each)).symbols for each in expressions))
        refuse_misused(symbols, known, {parameter.name: parameter for parameter in self.parameters})

    def all_expressions(self) -> list[sp.Basic]:
        """Return all expressions of the domain, the hypotheses, the definitions and the clauses."""
        relations = [*self.domain, *(h.relation for h in self.hypotheses if h.relation is not None)]
        expressions = [*relations, *self.definitions.values(), *(e for c in self.clauses for e in c.expressions())]
        return [sp.sympify(expression) for expression in expressions]

    def symbols(self) -> frozenset[sp.Symbol]:
        """Return all symbols that occur, bound ones included."""
        return self._symbols

    @cached_property
    def _symbols(self) -> frozenset[sp.Symbol]:
        return frozenset(self.variables).union(
            self.definitions, *(contents(each).symbols for each in self.all_expressions())
        )

    def for_all(self, clause: ClauseData, *, in_scope: bool, hypotheses: bool) -> bool:
        """Whether a proof at an instance's words holds for all words; with `hypotheses`, the proof may use hypotheses.

        It does if there is no Case, or if the instance is in scope and hypotheses fix all words that decide a Case.
        """
        parts = [*clause.expressions(), *self.definitions.values(), *self.domain]
        if hypotheses and clause.rests_on_hypotheses:
            parts += [h.relation for h in self.hypotheses if h.relation is not None]
        words = {str(case.args[0]) for part in parts for case in sp.sympify(part).atoms(Case)}
        fixed = {h.varies.name for h in self.hypotheses if h.varies}
        return not words or (in_scope and words <= fixed)

    def specialised(self, instance: Instance) -> "Statement":
        """Return the statement with every Case decided by the instance's words, which must all be given."""
        return self.specialise(self, instance)

    def specialise(self, value: Any, instance: Instance) -> Any:
        """Return a value, such as a reported value, with every Case in it decided by the instance's words."""
        words = {p.name: p.words for p in self.parameters if p.kind == "word"}
        return rewritten(value, lambda expression: decided(expression, words, instance)) if words else value

    def to_data(self) -> dict[str, Any]:
        """Return the statement as the data that the digest covers."""
        # The data of expressions are cached and shared between statements; a caller may change the copy.
        return deepcopy(self._data())

    def _data(self) -> dict[str, Any]:
        formal = [[label, text.to_data()] for label, text in self.formal.items()]
        return {
            "parameters": [_parameter_data(parameter) for parameter in self.parameters],
            "variables": [to_data(variable) for variable in self.variables],
            "domain": [to_data(relation) for relation in self.domain],
            "hypotheses": [hypothesis.to_data() for hypothesis in self.hypotheses],
            "definitions": [[to_data(name), to_data(value)] for name, value in self.definitions.items()],
            "claims": [clause.to_data() for clause in self.claims],
            "steps": [clause.to_data() for clause in self.steps],
        } | ({"formal": formal} if formal else {})

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the statement's data."""
        return digest(self._data())

    def canonical(self) -> str:
        """Return the current data as JSON. Raises TheoremError if they are not the data of the digest."""
        text = canonical(self._data())
        if digest_of(text) != self.digest:
            raise TheoremError("the statement has changed since its digest was taken; make another one with replace()")
        return text

    def __hash__(self) -> int:
        # A statement with its words decided may contain `Provided`, which has no data.
        labels = tuple(clause.label for clause in self.clauses)
        return hash((self.parameters, labels, self.domain, self.definitions))

    def expand(self, expression: sp.Basic) -> sp.Basic:
        """Return the expression with definitions substituted; parts that this drops are kept as needs (`Provided`)."""
        if isinstance(expression, tuple(RELATIONS.values())):
            return expression.func(*map(self.expand, expression.args), evaluate=False)
        return _expanded(expression, tuple(self.definitions.items()))


def _upper_ends(statement: Statement) -> Iterator[sp.core.relational.Relational]:
    """Yield the upper ends of the parameters as relations."""
    symbols = {symbol.name: symbol for each in statement.all_expressions() for symbol in contents(each).symbols}
    for parameter in statement.parameters:
        if parameter.upper is not None:
            kind = {"integer": True} if parameter.kind == "integer" else {"real": True}
            symbol = symbols.get(parameter.name, sp.Symbol(parameter.name, **kind))
            end = Fraction(parameter.upper)
            relation = sp.Lt if parameter.maximum is None else sp.Le
            yield relation(symbol, sp.Rational(end.numerator, end.denominator), evaluate=False)


_FLAGS = ("quantifies", "uses_matrices", "rests_on_hypotheses")
_CLAUSE = ("label", "text", "relation", *_FLAGS, "expressions", "bound_names", "to_data", "evaluate", "prove", "scan")
"""The protocol of a clause: its data, and the methods that the engine calls (`verify.claims.question.Clause`)."""


def is_builtin(clause: ClauseData) -> bool:
    """Whether the kind of a clause is part of `verify`, and not a user's own code."""
    return type(clause).__module__.startswith("verify.")


def _lacking(item: object) -> str:
    """Return the attributes that an object lacks to be a clause; "" for a clause."""
    # The class is examined first, so that its properties are not computed.
    return ", ".join(name for name in _CLAUSE if not (hasattr(type(item), name) or hasattr(item, name)))


def _refuse_ill_typed(statement: Statement) -> None:
    for part, what, right in (
        ("parameters", "a parameter", lambda item: isinstance(item, Parameter)),
        ("hypotheses", "a hypothesis", lambda item: isinstance(item, Hypothesis)),
        ("domain", "a relation of the domain", lambda item: isinstance(item, tuple(RELATIONS.values()))),
        ("variables", "a symbol", lambda item: isinstance(item, sp.Symbol)),
        ("claims", "a clause", lambda item: not _lacking(item)),
        ("steps", "a clause", lambda item: not _lacking(item)),
    ):
        items = getattr(statement, part)
        if not isinstance(items, tuple):
            name = type(items).__name__
            how = f"write ({name}(…),), with the comma" if right(items) else f"{what} in each place"
            raise TheoremError(f"{part}: must be a tuple, and is of type {name}: {how}")
        if part == "domain":
            for item in items:
                refuse_no_relation("domain", item)
        wrong = next((item for item in items if not right(item)), None)
        if isinstance(wrong, str):
            how = "Inequality(label, relation), or InWords(label, text)"
            hint = f": write {how}" if what == "a clause" else ""
            raise TheoremError(f"{part}: {wrong!r} is text, where {what} is needed{hint}")
        if wrong is not None:
            needs = f", such as Inequality(label, relation): it has no {_lacking(wrong)}"
            hint = needs if what == "a clause" else ""
            raise TheoremError(f"{text_of(wrong)}: is a {type(wrong).__name__}, where {what} is needed{hint}")
    for part in ("definitions", "formal"):
        if not isinstance(given := getattr(statement, part), Mapping):
            raise TheoremError(f"{part}: is a {type(given).__name__}, where a mapping is needed")


def _refuse_misnamed(statement: Statement) -> None:
    for what, labelled in (("hypothesis", statement.hypotheses), ("clause", statement.clauses)):
        for each in labelled:
            refuse_bad_label(what, each.label)
            # Only the author's text is limited: the text of an expression may be as long as the expression.
            said = each.text if what == "hypothesis" else getattr(each, "says", "")
            refuse_bad_text(f"{what} {each.label}: text", said, empty=True)
    bound = set[str]().union(*(clause.bound_names() for clause in statement.clauses))
    for name in sorted(bound | {symbol.name for symbol in statement.symbols()}):
        refuse_bad_text("symbol", name, NAME)


def _refuse_named_twice(statement: Statement) -> None:
    for what, labels in (
        ("parameter", [p.name for p in statement.parameters]),
        ("hypothesis", [h.label for h in statement.hypotheses]),
        ("clause", [c.label for c in statement.clauses]),
        ("label of a hypothesis and a clause", [x.label for x in (*statement.hypotheses, *statement.clauses)]),
    ):
        twice = {label for label in labels if labels.count(label) > 1}
        if twice:
            raise TheoremError(f"{what} {twice.pop()}: named twice")


def _refuse_unknown_names(statement: Statement) -> None:
    """Refuse symbols that the statement does not introduce, or that may not be used at their place."""
    known = {p.name for p in statement.parameters}
    for relation in (*statement.domain, *(h.relation for h in statement.hypotheses if h.relation is not None)):
        statement.refuse_unknown(relation, known, "a hypothesis")
    for name in (*statement.variables, *statement.definitions):
        if name.name in known:
            raise TheoremError(f"{name}: the name is taken by a parameter, a variable or a definition")
        if name in statement.definitions:
            statement.refuse_unknown(statement.definitions[name], known, f"definition {name}")
        known.add(name.name)
    variables = {variable.name for variable in statement.variables}
    for clause in statement.clauses:
        _refuse_unknown_in_clause(statement, clause, known, variables)
        _refuse_untold(clause)


def _refuse_unknown_in_clause(statement: Statement, clause: ClauseData, known: set[str], variables: set[str]) -> None:
    own = clause.bound_names()
    if clash := sorted(own & known):
        raise TheoremError(f"clause {clause.label}: the name {clash[0]} is taken")
    for expression in clause.expressions():
        statement.refuse_unknown(expression, known | own, f"clause {clause.label}")
        # Expressions are expanded only if there are variables, because expanding takes long.
        if variables and not clause.quantifies:
            used = sorted((_free_names(statement.expand(sp.sympify(expression))) - own) & variables)
            if used:
                raise TheoremError(f"clause {clause.label}: it may not use the variable {used[0]}")
        if not clause.uses_matrices and has_matrices(sp.sympify(expression)):
            raise TheoremError(f"clause {clause.label}: matrices belong in a MatrixIdentity")


def _refuse_untold(clause: ClauseData) -> None:
    """Refuse a clause whose relation or text differs from its data."""
    data, relation = clause.to_data(), clause.relation
    if relation is not None and data.get("relation") != to_data(relation):
        raise TheoremError(f"clause {clause.label}: its relation is not the one of its data")
    # The digest must cover the text printed beside `proved`; the shipped kinds write the text from their data.
    if is_builtin(clause):
        return
    said = data.get("says") or (None if relation is None else text_of(relation))
    refuse_bad_text(f"clause {clause.label}: text", clause.text, empty=True)
    if clause.text != said:
        raise TheoremError(f"clause {clause.label}: its text {clause.text!r} is not what its data say, {said!r}")


def _refuse_misused_symbols(statement: Statement) -> None:
    """Refuse two symbols of one name, assumptions that no domain gives, and a statement that a clause refuses."""
    parameters = {parameter.name: parameter for parameter in statement.parameters}
    seen: dict[str, sp.Symbol] = {}
    refuse_misused(statement.symbols(), seen, parameters)
    integers = {name for name, parameter in parameters.items() if parameter.kind == "integer"}
    integers |= {variable.name for variable in statement.variables if variable.is_integer}
    for name, value in statement.definitions.items():
        is_whole = is_integral(value, integers)
        refuse_beyond("definition", name, INTEGRAL if is_whole else REAL)
        integers |= {name.name} if is_whole else set()
    positives = {
        name
        for name in {*parameters, *(v.name for v in statement.variables)}
        if name in seen and seen[name].is_positive
    }
    for clause in statement.clauses:
        domains = getattr(clause, "bound_domains", None)
        allowed = domains(integers, positives) if domains else {}
        for name in sorted(clause.bound_names() & seen.keys()):
            if seen[name].is_commutative:
                refuse_beyond(f"clause {clause.label}: the bound symbol", seen[name], allowed.get(name, REAL))
        if is_builtin(clause) and (refuse := getattr(clause, "refuse_in", None)):
            refuse(statement)


def _refuse_misused_words(statement: Statement) -> None:
    """Refuse unknown words, words outside Case, invalid Cases, lists, and forbidden bound symbols."""
    words = {p.name: p.words for p in statement.parameters if p.kind == "word"}
    lists = {p.name for p in statement.parameters if p.kind == "rationals"}
    for hypothesis in statement.hypotheses:
        _refuse_unknown_words(hypothesis, words)
    for relation in statement.domain:
        if relation.has(Case):
            raise TheoremError(f"{text_of(relation)}: Case belongs in a hypothesis, a definition or the claim")
    for expression in statement.all_expressions():
        statement.refuse_bound(expression)
        for case in contents(expression).cases:
            name, *choices = case.args
            if len(choices) != len(words.get(str(name), ())):
                raise TheoremError(f"{text_of(case)}: needs one expression for each word of {name}")
        if outside := _outside_case(expression) & set(words):
            raise TheoremError(f"{text_of(expression)} uses the word {min(outside)} other than in Case")
        if listed := lists & _free_names(expression):
            raise TheoremError(f"{text_of(expression)} uses the list {min(listed)}; only a reported value may")


def _refuse_unknown_words(hypothesis: Hypothesis, words: Mapping[str, tuple[str, ...]]) -> None:
    if hypothesis.varies and hypothesis.varies.words != words.get(hypothesis.varies.name):
        name = hypothesis.varies.name
        raise TheoremError(f"hypothesis {hypothesis.label}: {name} is not a parameter of kind word of the statement")
    if hypothesis.supposed_at:
        name, word = hypothesis.supposed_at
        if word not in words.get(name, ()):
            raise TheoremError(f"hypothesis {hypothesis.label}: {name} has no word {word}, at which it is supposed")


def _refuse_circular_defaults(statement: Statement) -> None:
    """Refuse a default that depends on anything but parameters without a default."""
    needed = {parameter.name for parameter in statement.parameters if parameter.default is None}
    for parameter in statement.parameters:
        if parameter.default is not None:
            statement.refuse_unknown(parameter.default, needed, f"the default of {parameter.name}")
            statement.refuse_bound(parameter.default)
            statement.refuse_other_symbols(parameter.default)


@lru_cache(maxsize=4096)
def _expanded(expression: sp.Basic, definitions: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> sp.Basic:
    """Substitute definitions, the last first; cached, because a theorem's canaries share most expressions."""
    for name, value in reversed(definitions):
        if name in expression.free_symbols:
            expression = substituted(expression, {name: value})
    return expression


@lru_cache(maxsize=2**12)
def _outside_case(expression: sp.Basic) -> frozenset[str]:
    """Return the names of the symbols that occur other than as the word of a Case."""
    if isinstance(expression, sp.Symbol):
        return frozenset((expression.name,))
    parts = expression.args[1:] if isinstance(expression, Case) else expression.args
    return frozenset().union(*map(_outside_case, parts))


@lru_cache(maxsize=2**12)
def _free_names(expression: sp.Basic) -> frozenset[str]:
    return frozenset(symbol.name for symbol in expression.free_symbols)  # pyright: ignore[reportAttributeAccessIssue]


def rewritten(value: Any, rewrite: Callable[[sp.Basic], sp.Basic]) -> Any:
    """Return a value with its expressions rewritten, in tuples, mappings and dataclasses too; no checks are run."""
    if isinstance(value, sp.Basic):
        return rewrite(value)
    if isinstance(value, tuple):
        return tuple(rewritten(item, rewrite) for item in value)
    if isinstance(value, Mapping):
        return Frozen({key: rewritten(item, rewrite) for key, item in value.items()})
    if is_dataclass(value) and not isinstance(value, type | Parameter):
        made = object.__new__(type(value))
        for part in fields(value):
            object.__setattr__(made, part.name, rewritten(getattr(value, part.name), rewrite))
        return made
    return value


def _parameter_data(parameter: Parameter) -> dict[str, object]:
    bounds = {"minimum": parameter.minimum, "above": parameter.above}
    return {
        "name": parameter.name,
        "kind": parameter.kind,
        "words": list(parameter.words),
        **{name: None if bound is None else str(bound) for name, bound in bounds.items()},
    }
