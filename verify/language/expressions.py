# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""The language of statements: which SymPy expressions it admits, their data form and their digest.

An expression is written as nested lists, `["Add", …]`, with the arguments of commutative heads in a fixed order. The
digest of an expression therefore does not depend on the order in which its terms and factors were typed.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeAlias

import sympy as sp
from sympy.core.function import AppliedUndef

from verify.errors import TheoremError
from verify.language.definedness import evaluated, substituted
from verify.language.heads.scopes import BINDERS, SERIES, Iterate, outermost
from verify.language.labels import NAME, refuse_bad_text
from verify.language.parameters import LONGEST_NUMBER, MOST_DIGITS
from verify.printing import text_of

Data: TypeAlias = list["Data | str | int"]

RELATIONS: dict[str, type[sp.core.relational.Relational]] = {
    "Eq": sp.Eq,
    "Lt": sp.StrictLessThan,
    "Le": sp.LessThan,
    "Gt": sp.StrictGreaterThan,
    "Ge": sp.GreaterThan,
}
STRICT = (sp.StrictLessThan, sp.StrictGreaterThan)


class Case(sp.Function):
    """Case(word, e_1, …, e_k): the e_i that belongs to the i-th word of a parameter of kind `word`.

    An instance chooses a case; the engine computes with the chosen one (`Statement.specialise`).

    Parameters
    ----------
    *args
        The symbol of the parameter, and an expression for each of its words.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Case
    >>> attend, T = sp.symbols("attend T", positive=True)
    >>> Case(attend, T, T + 1)
    Case(attend, T, T + 1)
    """


def decided(expression: sp.Basic, words: Mapping[str, Sequence[str]], instance: Mapping[str, object]) -> sp.Basic:
    """Return the expression with every Case decided by the instance's words; `words` maps a parameter to its list."""
    if not expression.has(Case):
        return expression
    if isinstance(expression, sp.core.relational.Relational):
        # A relation that a word makes trivial stays a relation.
        sides = (decided(side, words, instance) for side in expression.args)
        return expression.func(*sides, evaluate=False)

    def chosen(case: sp.Basic) -> sp.Basic:
        name, *choices = case.args
        return decided(choices[words[str(name)].index(instance[str(name)])], words, instance)

    return substituted(expression, {case: chosen(case) for case in _outermost(expression)})


def _outermost(expression: sp.Basic) -> list[sp.Basic]:
    """Return the Cases of an expression that are in no other Case."""
    if isinstance(expression, Case):
        return [expression]
    return [case for argument in expression.args for case in _outermost(argument)]


class Magnitude(sp.Function):
    """The unevaluated absolute value: SymPy's `Abs` looks for the sign of its argument, which may take very long."""


def refuse_no_relation(where: str, given: object) -> None:
    """Raise TheoremError for an object that is no relation, and say how to write one; `where` begins the message."""
    if isinstance(given, tuple(RELATIONS.values())):
        return
    way = "write one, such as sp.Le(left, right)"
    if given in (True, False):
        way = 'SymPy decided it as it was typed: leave it out, or write it as text, such as relation("x <= x + 1", x)'
    if isinstance(given, str):
        way = "it is text: write relation(text, symbols …), or InWords(label, text) for a claim in words"
    if isinstance(given, sp.And):
        way = "write a claim or a hypothesis for each comparison"
    if given is False:
        way = '== asks whether two expressions are written alike: write sp.Eq(left, right), or relation("x == y", x, y)'
    raise TheoremError(f"{where}: {text_of(given)} is not a relation between expressions; {way}")


def difference(relation: sp.core.relational.Relational) -> sp.Expr:
    """Return larger − smaller side of a relation (right − left for an equation), defined where both have values."""
    left, right = relation.args
    upward = isinstance(relation, sp.StrictGreaterThan | sp.GreaterThan)
    return evaluated(relation.args, left - right if upward else right - left)  # pyright: ignore[reportOperatorIssue, reportReturnType]


_OPERATIONS = (
    *(Case, sp.Add, sp.Mul, sp.Pow, sp.exp, sp.log, sp.Tuple, sp.Derivative, sp.Subs, sp.Limit, sp.transpose),
    *(sp.Abs, sp.Max, sp.Min, sp.sign, sp.floor, sp.ceiling, sp.factorial, sp.binomial, sp.Piecewise),
    *(sp.sin, sp.cos, sp.tan, sp.atan, sp.sinh, sp.cosh, sp.tanh, *SERIES, Iterate),
)
HEADS: dict[str, Any] = {operation.__name__: operation for operation in _OPERATIONS}
_ASSUMPTIONS = (
    *("integer", "even", "odd", "rational", "positive", "negative", "nonnegative", "nonpositive", "nonzero", "real"),
)
# SymPy evaluates exp(1) to E.
_CONSTANTS: tuple[tuple[sp.Basic, Data], ...] = (
    (sp.oo, ["Infinity"]),
    (sp.pi, ["pi"]),
    (sp.E, ["exp", ["Integer", "1"]]),
)
_BINDING = (sp.Derivative, sp.Subs, sp.Limit, *BINDERS)
_ORDERLESS = ("Add", "Max", "Min")
_WRITTEN_FRACTION, _WRITTEN_DECIMAL = 10**6, 10**12


@dataclass(frozen=True)
class Primitive:
    """A named, versioned function of the language that SymPy does not have.

    Call it on SymPy expressions to build a statement; `evaluate` computes it in the arithmetic
    that the engine passes, or, with a `scan`, encloses it at exact arguments. The digest of a statement covers the
    name and the version.
    """

    name: str
    version: int
    evaluate: Callable[..., Any]
    head: Any
    scan: Callable[..., float] | None = None

    def __call__(self, *arguments: object) -> sp.Expr:
        """Return the unevaluated application."""
        return self.head(*arguments)


PRIMITIVES: dict[str, Primitive] = {}


@dataclass(frozen=True)
class Contents:
    """The symbols of an expression, its Cases, the parts that bind symbols, and whether a product keeps a factor 0.

    The binding parts are in the order in which a walk through the expression meets them.
    """

    symbols: frozenset[sp.Symbol]
    cases: frozenset[Case]
    binding: tuple[Any, ...]
    keeps_zero: bool


def contents(expression: sp.Basic) -> Contents:
    """Return the contents of an expression; they are cached."""
    kept = _contents(expression)
    # Two Subs that bind different symbols are equal to SymPy: an expression with a Subs is traversed each time.
    substitutes = any(isinstance(node, sp.Subs) for node in kept.binding)
    return _contents.__wrapped__(expression) if substitutes else kept


@lru_cache(maxsize=2**12)
def _contents(expression: sp.Basic) -> Contents:
    seen: set[int] = set()
    found: dict[Any, None] = {}
    left: list[sp.Basic] = [expression]
    keeps_zero = False
    while left:
        node = left.pop()
        # Nodes are compared by identity, because two Subs that bind different symbols are equal to SymPy.
        if id(node) not in seen:
            seen.add(id(node))
            if isinstance(node, (sp.Symbol, Case, *_BINDING)):
                found.setdefault(node)
            keeps_zero = keeps_zero or _has_factor_zero(node)
            left += node.args
    symbols, cases = (frozenset(node for node in found if isinstance(node, kind)) for kind in (sp.Symbol, Case))
    return Contents(symbols, cases, tuple(node for node in found if isinstance(node, _BINDING)), keeps_zero)


def has_matrices(expression: sp.Basic) -> bool:
    """Whether a symbol that does not commute occurs."""
    return not all(symbol.is_commutative for symbol in contents(expression).symbols)


def primitive(version: int) -> Callable[[Callable[..., Any]], Primitive]:
    """Register a function as a primitive of the language, under its own name.

    Parameters
    ----------
    version
        Version of the function's definition, which statements' digests cover.

    Returns
    -------
    Callable
        A decorator of `function(arithmetic, *numbers)`, which returns the primitive.

    Raises
    ------
    TheoremError
        From the decorator, if the name is taken.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import primitive
    >>> @primitive(version=1)
    ... def doc_square(arithmetic, number):
    ...     return number * number
    >>> doc_square(sp.Symbol("n"))
    doc_square(n)
    """
    return lambda function: _registered(function, version, None)


def enclosed(version: int, *, scan: Callable[..., float]) -> Callable[[Callable[..., Any]], Primitive]:
    """Register a function that encloses its own value as a primitive of the language, under its own name.

    The function takes Fractions and returns a Fraction or an `Enclosure`, whose width does not depend on the engine's
    precision; without a value it raises UndefinedError.

    Parameters
    ----------
    version
        Version of the function's definition, which statements' digests cover.
    scan
        `scan(*floats)`, the approximation of the primitive in searches.

    Returns
    -------
    Callable
        A decorator, which returns the primitive.

    Raises
    ------
    TheoremError
        From the decorator, if the name is taken.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Enclosure, enclosed
    >>> @enclosed(version=1, scan=lambda n: n / 3)
    ... def doc_third(n):
    ...     return Enclosure(n / 3, n / 3)
    >>> doc_third(sp.Symbol("n"))
    doc_third(n)
    """
    return lambda function: _registered(function, version, scan)


def _registered(function: Callable[..., Any], version: int, scan: Callable[..., float] | None) -> Primitive:
    name = function.__name__
    refuse_bad_text("primitive", name, NAME)
    known = PRIMITIVES.get(name)
    if name in HEADS or (known and known.evaluate.__module__ != function.__module__):
        raise TheoremError(f"primitive {name}: the name is taken")
    PRIMITIVES[name] = Primitive(name, version, function, sp.Function(name), scan)
    # Cached data may name another version of the primitive.
    _data.cache_clear()
    return PRIMITIVES[name]


def enclosed_applications(expression: sp.Basic) -> list[tuple[AppliedUndef, Primitive]]:
    """Return the applications of enclosed primitives, each with its primitive, in a fixed order."""
    applied = sorted(sp.sympify(expression).atoms(AppliedUndef), key=text_of)
    known = ((node, PRIMITIVES.get(node.func.__name__)) for node in applied)
    return [(node, primitive) for node, primitive in known if primitive is not None and primitive.scan is not None]


def refuse_float(numerator: int, denominator: int) -> None:
    """Raise TheoremError for a fraction that looks like the expansion or the approximation of a float.

    Allowed are fractions with numerator and denominator up to 10^6, and decimals of at most twelve digits.
    """
    common = math.gcd(numerator, denominator) or 1
    numerator, denominator = abs(numerator) // common, abs(denominator) // common
    written = max(abs(numerator), denominator) <= _WRITTEN_FRACTION
    decimal = _WRITTEN_DECIMAL % denominator == 0 and abs(numerator) <= _WRITTEN_DECIMAL
    if denominator > 1 and not written and not decimal:
        raise TheoremError(
            f"{numerator}/{denominator} looks like a float's expansion; write the exact number, as an expression"
        )


def to_data(expression: sp.Basic, *, written: bool = True) -> Data:
    """Return an expression as data, which a statement's digest covers and the re-checker reads; do not change them.

    Parameters
    ----------
    expression
        An expression of the language.
    written
        Whether an author wrote the expression. If so, long numbers and fractions like a float's expansion are refused;
        a search's result may contain them.

    Returns
    -------
    Data
        Lists of text and lists.

    Raises
    ------
    TheoremError
        For a part outside the language, which the error names.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import to_data
    >>> to_data(sp.Integer(1) / 2)
    ['Rational', '1/2']
    """
    if any(isinstance(node, sp.Subs) for node in contents(expression).binding):
        _refuse_kept(_Same(expression))
    if contents(expression).keeps_zero:
        for product in filter(_has_factor_zero, sp.preorder_traversal(expression)):
            # SymPy deduces that the product is not even. If it finds later that the product is 0 (the order is random),
            # it raises InconsistentAssumptions. Asking for `is_zero` first prevents this, for each object separately.
            _ = product.is_zero
    return _data(expression, written)[0]


def _has_factor_zero(node: sp.Basic) -> bool:
    return isinstance(node, sp.Mul) and any(factor is sp.S.Zero for factor in node.args)


class _Same:
    """An expression that is compared by identity."""

    def __init__(self, expression: sp.Basic) -> None:
        self.expression = expression

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.expression is other.expression

    def __hash__(self) -> int:
        return id(self.expression)


@lru_cache(maxsize=2**12)
def _refuse_kept(same: _Same) -> None:
    """Raise TheoremError for a Subs of an expression that SymPy was asked not to evaluate.

    SymPy considers two such Subs with equal values as equal, so that one could replace the other.
    """
    for node in (inner for subs in same.expression.find(sp.Subs) for inner in sp.preorder_traversal(subs.args[0])):
        if isinstance(node, sp.Add | sp.Mul | sp.Pow | sp.exp | sp.log) and node.func(*node.args) != node:
            raise TheoremError(f"{text_of(node)}: inside a Subs nothing may be kept from being evaluated")


@lru_cache(maxsize=2**15, typed=True)
def _data(expression: sp.Basic, written: bool) -> tuple[Data, str]:
    """Return the data form and its JSON, by which terms are sorted; cached, because canaries share most of them."""
    data = _form(expression, written)
    return data, json.dumps(data)


def _form(expression: sp.Basic, written: bool) -> Data:
    if written and expression.is_Rational and max(abs(expression.p), expression.q) >= LONGEST_NUMBER:  # type: ignore[attr-defined]
        raise TheoremError(f"a number has more than {MOST_DIGITS} digits; write it as a power that is not evaluated")
    if isinstance(expression, sp.Integer):
        return ["Integer", str(int(expression))]
    if isinstance(expression, sp.Rational):
        if written:
            refuse_float(int(expression.p), int(expression.q))
        return ["Rational", f"{expression.p}/{expression.q}"]
    if (constant := next((data for known, data in _CONSTANTS if expression is known), None)) is not None:
        return constant
    if isinstance(expression, sp.Symbol):
        if not expression.is_commutative:
            return ["Symbol", expression.name, "noncommutative"]
        return ["Symbol", expression.name, *(a for a in _ASSUMPTIONS if expression.assumptions0.get(a))]
    if isinstance(expression, sp.Piecewise):
        return ["Piecewise", *_pieces(expression, written)]
    return _applied(expression, written)


def _applied(expression: sp.Basic, written: bool) -> Data:
    """Return the data of a head and its arguments."""
    head = _head_of(expression)
    if isinstance(expression, SERIES):
        terms, limits = outermost(expression)
        return [head, _data(terms, written)[0], _data(sp.Tuple(*limits), written)[0]]
    # Limit has its direction as a symbol named "+", "-" or "+-". Factors that do not commute keep their order.
    is_loose = [head in _ORDERLESS or (head == "Mul" and a.is_commutative) for a in expression.args]
    kept = [_data(a, written)[0] for a, loose in zip(expression.args, is_loose, strict=True) if not loose]
    terms = (_data(a, written) for a, loose in zip(expression.args, is_loose, strict=True) if loose)
    arguments = [data for data, _ in sorted(terms, key=itemgetter(1))] + kept
    if head in PRIMITIVES:
        return ["Primitive", head, PRIMITIVES[head].version, *arguments]
    return [head, *arguments]


def _pieces(expression: Any, written: bool) -> Iterator[Data]:
    """Yield the values of a Piecewise, each but the last followed by its condition."""
    *cases, (last, otherwise) = expression.args
    for value, condition in cases:
        if not isinstance(condition, tuple(RELATIONS.values())):
            raise TheoremError(f"{text_of(expression)}: the condition {text_of(condition)} is not one comparison")
        yield from (_data(value, written)[0], _data(condition, written)[0])
    if otherwise is not sp.true:
        raise TheoremError(f"{text_of(expression)}: the last piece needs the condition True")
    yield _data(last, written)[0]


def _head_of(expression: sp.Basic) -> str:
    for name, kind in RELATIONS.items():
        if type(expression) is kind:
            return name
    name = expression.func.__name__
    if name in PRIMITIVES and isinstance(expression, PRIMITIVES[name].head):
        return name
    if name in HEADS and isinstance(expression, HEADS[name]):
        return name
    is_float = isinstance(expression, sp.Float)
    kind, listed = ("a float", "") if is_float else (name, "; `verify language` lists functions that are in it")
    raise TheoremError(f"{text_of(expression)}: {kind} is outside the language of statements{listed}")


def bound_symbols(expression: sp.Basic, kinds: tuple[Any, ...] = _BINDING) -> frozenset[sp.Basic]:
    """Return the symbols that derivatives, substitutions, limits, sums, products and recursions bind."""
    bound: set[sp.Basic] = set()
    for node in contents(sp.sympify(expression)).binding:
        if isinstance(node, kinds):
            bound.update(node.args[1:2] if isinstance(node, sp.Limit) else node.variables)
    return frozenset(bound)


def from_data(data: Data) -> Any:
    """Return the expression of a data form, the inverse of `to_data` up to SymPy's evaluation. Raises TheoremError."""
    match data:
        case ["Integer", text]:
            return sp.Integer(text)
        case ["Rational", text]:
            return sp.Rational(text)
        case ["Infinity"] | ["pi"]:
            return sp.oo if data == ["Infinity"] else sp.pi
        case ["Piecewise", *parts]:
            *pieces, last = map(from_data, parts)
            return sp.Piecewise(*zip(pieces[::2], pieces[1::2], strict=True), (last, True))
        case ["Symbol", name, "noncommutative"]:
            return sp.Symbol(name, commutative=False)
        case ["Symbol", name, *assumptions]:
            return sp.Symbol(name, **dict.fromkeys(map(str, assumptions), True))
        case ["Primitive", name, version, *arguments]:
            if name not in PRIMITIVES or PRIMITIVES[name].version != version:
                raise TheoremError(f"primitive {name}, version {version}: not known here")
            return PRIMITIVES[name](*map(from_data, arguments))
        case [str(head), *arguments] if head in RELATIONS or head in HEADS:
            made = tuple(map(from_data, arguments))
            return RELATIONS[head](*made, evaluate=False) if head in RELATIONS else HEADS[head](*made)
        case _:
            raise TheoremError(f"{data!r}: not an expression of the language")


def digest(data: Mapping[str, object]) -> str:
    """Return the SHA-256 of the canonical JSON of a statement's data, in hexadecimal."""
    return digest_of(canonical(data))


def canonical(data: Mapping[str, object]) -> str:
    """Return a statement's data as the JSON text from which its digest is computed."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(text: str) -> str:
    """Return the SHA-256 of a canonical text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
