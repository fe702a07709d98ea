"""The statement and the instance of a certificate, read from their data."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TypeVar, overload

from flint import arb, ctx

from .fields import Balls, Exact, Field, NotExact, evaluate
from .forms import ASSUMPTIONS, INTEGRAL, REAL, is_integral
from .nodes import Name, Node, order
from .polynomials import Exponent, FinerUnit, Sign
from .reading import (
    SENTENCE,
    Data,
    Effort,
    Rejected,
    TooLarge,
    Undefined,
    Unknown,
    Unreadable,
    bits_of,
    entries,
    items,
    line,
    plain_label,
    rational,
    shown,
    string,
)
from .registry import Registry, Trusted
from .terms import MOST_NAMES, Names, Terms

T = TypeVar("T")
_SCOPE_BITS, _MOST_WORDS, _MOST_PARTS = (128, 256, 512, 1024, 2048, 4096), 1000, 10_000


@dataclass(frozen=True)
class Parameter:
    """A parameter and its domain."""

    name: str
    kind: str
    words: tuple[str, ...]
    minimum: Fraction | None
    above: Fraction | None

    @property
    def lower(self) -> Fraction | None:
        """The lower end, which belongs to the domain if it is `minimum`; None for no end."""
        return self.minimum if self.minimum is not None else self.above

    @property
    def sign(self) -> Sign:
        """The sign of the parameter's values, as far as the domain decides it."""
        if (self.minimum is not None and self.minimum > 0) or (self.above is not None and self.above >= 0):
            return "positive"
        return "nonnegative" if self.minimum == 0 else "real"

    def implies(self, assumed: Sequence[str]) -> bool:
        """Whether the domain implies the assumptions in a symbol's data."""
        positive = self.sign == "positive"
        known = {"real", "rational", *(("integer",) if self.kind == "integer" else ())}
        if positive:
            known |= {"positive", "nonzero"}
        if positive or self.sign == "nonnegative":
            known.add("nonnegative")
        return set(assumed) <= known

    def read(self, value: Data, where: str) -> Fraction | str | list[Fraction]:
        """Return the parameter's value from its data. Raises Rejected for a value outside the domain."""
        if self.kind == "word":
            return string(value, where, self.words)
        if self.kind == "rationals":
            if not (listed := items(value, where)):
                raise Rejected(f"{where}: is an empty list")
            return [self._inside(entry, f"{where}[{i}]") for i, entry in enumerate(listed)]
        return self._inside(value, where)

    def _inside(self, value: Data, where: str) -> Fraction:
        number = rational(value, where)
        if self.kind == "integer" and number.denominator != 1:
            raise Rejected(f"{where}: {shown(value)} is not an integer")
        if (self.minimum is not None and number < self.minimum) or (self.above is not None and number <= self.above):
            raise Rejected(f"{where}: {shown(value)} is outside the parameter's domain")
        return number


def _headed(parts: Iterable[Data], head: str) -> Iterator[list[Data]]:
    """Yield the arguments at each occurrence of a head in some data."""
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        if type(part) is list and part[:1] == [head]:
            yield part[1:]
        waiting.extend(part if type(part) is list else part.values() if type(part) is dict else ())


def _words(parts: Iterable[Data]) -> set[str | None]:
    """Return the names of the word parameters that decide the Cases in some data."""
    return {_name(rest) for rest in _headed(parts, "Case")}


class Given:
    """A statement at an instance, against which proofs are checked.

    The hypotheses are evaluated only when they are needed, because that can take long.
    """

    def __init__(self, statement: Data, instance: Data, effort: Effort, registry: Registry) -> None:
        """Read a statement; a definition that is not understood is refused when a clause needs it.

        Raises Rejected if the statement cannot be read, or the instance does not fit it.
        """
        parts = "parameters variables domain hypotheses definitions claims steps"
        # A formal text is for a proof assistant: no proof here uses it.
        statement = entries(statement, "statement", parts, ["formal"])
        definitions = items(statement["definitions"], "definitions")
        self.effort, self.registry = effort, registry
        self.terms = Terms(effort, registry, map(_name, definitions), self._may_assume, self._is_introduced)
        listed = items(statement["parameters"], "statement.parameters")
        if len(listed) > MOST_NAMES:
            raise TooLarge("parameters", MOST_NAMES)
        for part in ("hypotheses", "claims", "steps", "domain"):
            if len(items(statement[part], part)) > _MOST_PARTS:
                raise TooLarge(part, _MOST_PARTS)
        self.parameters = {p.name: p for p in (_parameter(d, f"parameters[{i}]") for i, d in enumerate(listed))}
        if len(self.parameters) != len(listed):
            raise Rejected("statement.parameters: a parameter is named twice")
        self.instance = entries(instance, "instance", "", self.parameters)
        if missing := [name for name in self.parameters if name not in self.instance]:
            raise Rejected(f"instance: {shown(missing[0])} is missing")
        values = {name: p.read(self.instance[name], f"instance.{name}") for name, p in self.parameters.items()}
        self.values = {name: value for name, value in values.items() if isinstance(value, Fraction)}
        self.counts = {name: len(p.words) for name, p in self.parameters.items() if p.kind == "word"}
        self.chosen = {name: self.parameters[name].words.index(str(values[name])) for name in self.counts}
        self.numbers: dict[Name, Node] = {name: self.terms.number(value) for name, value in self.values.items()}
        self.definitions: dict[Name, Node] = {}
        self._unread: dict[Name, Unknown] = {}
        self.variables: set[str] = set()
        for d in items(statement["variables"], "variables"):
            self.variables.add(self.new_name(d, "variables", ASSUMPTIONS))
        for i, pair in enumerate(definitions):
            self._define(pair, f"definitions[{i}]")
        self.domain = self._read_domain(items(statement["domain"], "domain"))
        self.parametric: list[Node] = []
        hypotheses = items(statement["hypotheses"], "hypotheses")
        self._held = [self._hypothesis(data, f"hypotheses[{i}]") for i, data in enumerate(hypotheses)]
        labelled = [entry for entry in hypotheses if type(entry) is dict]
        self._fixed = {str(entry["varies"]) for entry in labelled if "varies" in entry}
        self._statement = statement
        self.claims, self.steps = (items(statement[part], part) for part in ("claims", "steps"))
        self.labels = [str(entry["label"]) for entry in labelled]
        if len(set(self.labels)) != len(labelled):
            raise Rejected("hypotheses: a label occurs twice")

    def _define(self, pair: Data, where: str) -> None:
        """Read a definition, which may use the names introduced before it."""
        name, value = items(pair, where, 2)
        try:
            meaning = self.expression(value, where)
        except Unknown as error:
            # Clauses that do not use the definition are still read.
            self._unread[self.new_name(name, where)] = error
            return
        whole = is_integral(self.effort, meaning, self.integers)
        self.definitions[self.new_name(name, where, INTEGRAL if whole else REAL)] = meaning

    def _read_domain(self, listed: list[Data]) -> list[Node]:
        """Return the relations of the domain. Raises Rejected if the instance breaks one."""
        domain = [self.relation(data, f"domain[{i}]", defined=False) for i, data in enumerate(listed)]
        for i, relation in enumerate(domain):
            if not self.holds(relation, f"domain[{i}]"):
                raise Rejected(f"instance: breaks domain[{i}] of the statement")
        return domain

    @property
    def introduced(self) -> tuple[Collection[Name], ...]:
        """The names of parameters, definitions and variables."""
        return self.parameters, self.definitions, self.variables

    def _is_introduced(self, name: Name) -> bool:
        return any(name in names for names in self.introduced)

    @cached_property
    def integers(self) -> set[Name]:
        """Names of integers: parameters of kind `integer`, and variables that are assumed to be integers."""
        whole = {name for name in self.variables if "integer" in self.terms.assumptions[name]}
        return {*whole, *(name for name, parameter in self.parameters.items() if parameter.kind == "integer")}

    @cached_property
    def in_scope(self) -> bool:
        """Whether all hypotheses hold at the instance."""
        return all(held() for held in self._held)

    def for_all(self, clause: Data, *, hypotheses_used: bool) -> bool:
        """Whether a proof of a clause at the instance's words is a proof for all parameters.

        The proof is one if there is no Case, or if the instance is in scope and hypotheses fix all words that decide
        Cases. Cases in hypotheses count if the proof uses a hypothesis.
        """
        choose = [_words([clause]), self._words["everywhere"]]
        if hypotheses_used:
            choose.append(self._words["hypotheses"])
        return not any(choose) or (all(words <= self._fixed for words in choose) and self.in_scope)

    def chooses(self, clause: Data) -> bool:
        """Whether a clause, a definition or the domain has a Case; a proof is then one for all only in scope."""
        return bool(_words([clause]) or self._words["everywhere"])

    def trusts(
        self, parts: Collection[Data], kinds: Iterable[tuple[str, str]] = (), *, hypotheses_used: bool
    ) -> tuple[Trusted, ...]:
        """Return the doors that bring some kinds, or the primitives in some data or in definitions used there.

        The domain always counts, because it is evaluated at the instance. Hypotheses count if they are used.
        """
        if not self.registry.brought:
            return ()
        more = [self._statement["domain"], *([self._statement["hypotheses"]] if hypotheses_used else [])]
        found = {self.registry.brought[kind] for kind in kinds if kind in self.registry.brought}
        return tuple(sorted(found | self._doors([*parts, *more], self._defined_by)))

    def _doors(self, parts: Collection[Data], defined_by: Mapping[str, set[Trusted]]) -> set[Trusted]:
        """Return the doors that bring the primitives in some data, or in the definitions used there."""
        primitives = (("primitives", "/".join(map(str, rest[:2]))) for rest in _headed(parts, "Primitive"))
        found = {self.registry.brought[name] for name in primitives if name in self.registry.brought}
        return found.union(*(defined_by.get(str(rest[0]), set()) for rest in _headed(parts, "Symbol") if rest))

    @cached_property
    def _defined_by(self) -> dict[str, set[Trusted]]:
        """The doors that each definition rests on; a definition mentions only earlier ones."""
        doors: dict[str, set[Trusted]] = {}
        for pair in items(self._statement["definitions"], "definitions"):
            doors[str(_name(pair))] = self._doors([pair], doors)
        return doors

    @cached_property
    def _words(self) -> dict[str, set[str | None]]:
        """The words that decide Cases in the definitions and the domain, and those in the hypotheses."""
        statement = self._statement
        return {
            "everywhere": _words([statement["definitions"], statement["domain"]]),
            "hypotheses": _words([statement["hypotheses"]]),
        }

    def _may_assume(self, name: str, assumed: Sequence[str]) -> bool:
        return name not in self.parameters or self.parameters[name].implies(assumed)

    def new_name(self, data: Data, where: str, allowed: Collection[str] = REAL) -> str:
        """Return the name of a symbol that the statement has not introduced, and that has only allowed assumptions.

        Raises Rejected for anything else.
        """
        node = self.terms.expression(data, where)
        taken = node.head != "symbol" or self._is_introduced(node.name) or node.name in self._unread
        if taken or len((name := str(node.name)).split()) != 1:
            raise Rejected(f"{where}: {shown(data)} is no symbol that is new")
        self.terms.refuse_beyond(node, allowed, where)
        return name

    def _hypothesis(self, data: Data, where: str) -> Callable[[], bool]:
        """Read a hypothesis, and return a function that tells whether it holds."""
        data = entries(data, where, "label kind relation text", ("varies", "supposed_at"))
        kind = string(data["kind"], f"{where}.kind", ("parametric", "structural"))
        plain_label(data["label"], f"{where}.label")
        line(data["text"], f"{where}.text", SENTENCE)
        if (kind == "parametric") != (data["relation"] is not None) or (kind == "parametric" and "varies" in data):
            raise Rejected(f"{where}: a relation that does not go with the kind")
        if "supposed_at" in data:
            name, word = items(data["supposed_at"], f"{where}.supposed_at", 2)
            words = self.parameters[string(name, f"{where}.supposed_at", list(self.counts))].words
            string(word, f"{where}.supposed_at", words)
            if kind == "structural":
                raise Rejected(f"{where}.supposed_at: it has no relation")
        if kind == "structural":
            first = not self.chosen[string(data["varies"], where, list(self.chosen))] if "varies" in data else True
            return lambda: first
        try:
            relation = self.relation(data["relation"], where, defined=False)
        except Unknown as error:
            return partial(_raise, error)
        self.parametric.append(relation)

        def held() -> bool:
            try:
                return self.holds(relation, where)
            except Undefined:
                # A relation without a value does not hold.
                return False

        return held

    def keeps_assumptions(self, name: Name, value: Fraction, where: str) -> None:
        """Raise Rejected for a value that a symbol's assumptions exclude."""
        assumed = self.terms.assumptions.get(name, ())
        self.effort.spend(len(assumed) * (1 + bits_of(value) / 1000))
        if not all(_HAS[a](value) for a in assumed):
            raise Rejected(f"{where}: is not {' and '.join(assumed)}")

    def expression(self, data: Data, where: str, bound: Sequence[Name] = (), *, defined: bool = True) -> Node:
        """Return an expression with its Cases decided and, if `defined`, the definitions substituted.

        Raises Rejected for a name that neither the statement nor `bound` introduces.
        """
        return self._prepared(self.terms.expression(data, where), where, bound, defined)

    def relation(self, data: Data, where: str, bound: Sequence[Name] = (), *, defined: bool = True) -> Node:
        """Return a relation, read like an expression."""
        return self._prepared(self.terms.relation(data, where), where, bound, defined)

    def _prepared(self, node: Node, where: str, bound: Sequence[Name], defined: bool) -> Node:
        node = self._chosen_in(node)
        if defined:
            node = self.terms.substitute(node, self.definitions)
        known = (self.values, bound, *((self.variables,) if defined else ()))
        for name in self.terms.names(node.free):
            if not any(name in names for names in known):
                raise self._unread.get(name) or Rejected(f"{where}: uses {shown(name)}, which is not introduced")
        return self.terms.carried_out(node)

    def _chosen_in(self, node: Node) -> Node:
        """Return the node with every Case decided by the place of its word."""
        done: dict[Node, Node] = {}
        for part in order(self.effort, [node]):
            args = [done[a] for a in part.args]
            if part.head == "Case":
                name = str(part.args[0].name)
                if name not in self.counts or self.counts[name] != len(args) - 1:
                    raise Rejected(f"Case needs one expression for each word of {shown(name)}")
                done[part] = args[1 + self.chosen[name]]
            else:
                done[part] = self.terms.build(part.head, args) if args != list(part.args) else part
        return done[node]

    def read(self, data: Data, where: str, bound: Sequence[Name] = ()) -> Node:
        """Return an expression at the instance, read from its data. Raises Rejected like `expression`."""
        return self.at_instance(self.expression(data, where, bound))

    def at_instance(self, node: Node, more: Names | None = None) -> Node:
        """Return a node at the instance."""
        return self.terms.substitute(node, {**self.numbers, **(more or {})})

    @overload
    def number(self, node: Node, bits: None) -> Fraction: ...
    @overload
    def number(self, node: Node, bits: int) -> arb: ...
    def number(self, node: Node, bits: int | None) -> Fraction | arb:
        """Return the value of a node at the instance: exact, or a ball at the working precision, which is `bits`.

        Raises NotExact if an exact value is requested and not known to be rational, Undefined if there is no value.
        """
        nodes = [self.at_instance(node)]
        if bits is None:
            return self.evaluated(nodes, Exact(self.effort))[0]
        return self.evaluated(nodes, Balls(self.effort, bits))[0]

    def evaluated(self, nodes: Sequence[Node], field: Field[T]) -> list[T]:
        """Return the values of some nodes in a field, or in any object that has the operations of a field.

        Raises Rejected if a node has no value.
        """
        return evaluate(self.terms, nodes, field)

    def margin(self, relation: Node, bits: int) -> arb:
        """Return the larger minus the smaller side of a relation at the instance, as a ball of `bits` bits."""
        low, high = sides(relation)
        return self.number(high, bits) - self.number(low, bits)

    def holds(self, relation: Node, where: str) -> bool:
        """Whether a relation of the parameters holds at the instance, by exact values or balls of rising precision.

        Raises Undefined if a side has no value at the last precision, and Rejected if the margin's sign is undecided.
        """
        try:
            low, high = sides(relation)
            margin = self.number(high, None) - self.number(low, None)
            return decides(relation, margin, margin, where)
        except NotExact:
            pass
        failed: Rejected = Rejected(where)
        for bits in _SCOPE_BITS:
            with ctx.workprec(bits):
                try:
                    margin = self.margin(relation, bits)
                except Undefined as error:
                    failed = Undefined(f"{where}: {error}")
                    continue
                if margin > 0 or margin < 0:
                    return decides(relation, margin, margin, where)
                failed = Rejected(f"{where}: the relation is undecided at the instance")
        raise failed

    def sign_of(self, name: Name) -> Sign:
        """Return the sign of a symbol: of a parameter by its domain, of a variable by its assumptions."""
        self.effort.spend(1)
        if name in self.parameters:
            return self.parameters[name].sign
        assumed = self.terms.assumptions.get(name, ())
        if "positive" in assumed:
            return "positive"
        if "nonzero" in assumed or "negative" in assumed:
            return "nonzero"
        # The symbols of a statement are real numbers.
        return "nonnegative" if "nonnegative" in assumed else "real"


def _parameter(data: Data, where: str) -> Parameter:
    data = entries(data, where, "name kind words minimum above")
    name = line(data["name"], f"{where}.name")
    if not name.isidentifier():
        raise Unreadable(f"{where}.name: {shown(name)} is no name: letters, digits and _, and no digit first")
    if len(items(data["words"], f"{where}.words")) > _MOST_WORDS:
        raise TooLarge("words of a parameter", _MOST_WORDS, where)
    kind = string(data["kind"], f"{where}.kind", ("integer", "rational", "rationals", "word"))
    words = tuple(line(w, f"{where}.words") for w in items(data["words"], f"{where}.words"))
    ends = ("minimum", "above")
    minimum, above = (None if data[end] is None else rational(data[end], f"{where}.{end}") for end in ends)
    if not name or (kind == "word") != bool(words) or len(set(words)) != len(words):
        raise Rejected(f"{where}: is not a parameter")
    if words and (minimum, above) != (None, None):
        raise Rejected(f"{where}: a word has no bounds")
    return Parameter(name, kind, words, minimum, above)


def _name(data: Data) -> str | None:
    """Return the name of the symbol with which some data seem to begin; None without one."""
    match data:
        case [[_, str(name), *_], *_]:
            return name
        case _:
            return None


def _raise(error: Unknown) -> bool:
    raise error


def sides(relation: Node) -> tuple[Node, Node]:
    """Return the smaller and the larger side of a relation; for an equation, the left and the right side."""
    left, right = relation.args
    return (right, left) if relation.head in ("Gt", "Ge") else (left, right)


def decides(relation: Node, low: Fraction | arb, high: Fraction | arb, where: str) -> bool:
    """Whether a relation holds if its margin is in [low, high]. Raises Rejected if the interval does not decide it."""
    if relation.head == "Eq":
        holds, fails = low == high == 0, low > 0 or high < 0
    elif relation.head in ("Lt", "Gt"):
        holds, fails = low > 0, high <= 0
    else:
        holds, fails = low >= 0, high < 0
    if holds == fails:
        raise Rejected(f"{where}: the margin does not decide the relation")
    return holds


def with_units(work: Callable[[dict[Exponent, Fraction]], T]) -> T:
    """Return `work(units)`, started again with smaller units each time an exponential needs one (`FinerUnit`)."""
    units: dict[Exponent, Fraction] = {}
    while True:
        try:
            return work(units)
        except FinerUnit:
            continue


_HAS: dict[str, Callable[[Fraction], bool]] = {
    "integer": lambda x: x.denominator == 1,
    "even": lambda x: (x / 2).denominator == 1,
    "odd": lambda x: ((x - 1) / 2).denominator == 1,
    "rational": lambda x: True,
    "real": lambda x: True,
    "positive": lambda x: x > 0,
    "negative": lambda x: x < 0,
    "nonnegative": lambda x: x >= 0,
    "nonpositive": lambda x: x <= 0,
    "nonzero": lambda x: x != 0,
}
