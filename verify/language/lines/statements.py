# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false
"""The parts of a statement in a line: `CLAIM [along RECURSION] [if HYPOTHESES] [for DOMAINS]`.

`2*x*y <= x**2 + y**2` is a claim for all real x and y: a name without a domain is a real number. Hypotheses and domains
are separated by commas. A claim may be a chain of comparisons, or several claims joined by `and`.
`0 <= x along x -> x/2 from 1` claims 0 <= x for the state x after t steps, for t = 0, 1, 2, ….
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from verify.errors import InputError, TheoremError
from verify.language.heads.scopes import Iterate
from verify.language.heads.table import ALIASES, CONSTANTS, FUNCTIONS
from verify.language.labels import refuse_bad_name
from verify.language.lines.domains import Domain, Domains, domains_in
from verify.language.lines.expressions import LONGEST, Part, Relation, expression, names_in, relations
from verify.language.parameters import Parameter

_KEYWORD = re.compile(r"(?<![\w.])(along|if|for)(?![\w.])")
_RULE = re.compile(r"\s*(\w+)\s*->(.*?)(?<![\w.])from(?![\w.])(.*)", re.DOTALL)
STEPS = "t"
"""The name of the number of steps along a recursion."""
_BEFORE = "{}_before"
"""The name of a state, or of the number of steps, before a step."""


@dataclass(frozen=True)
class Line:
    """The contents of a line: the parameters with their domains, the hypotheses and the claims.

    `states` maps each state of a recursion to its value after t steps.
    """

    parameters: tuple[Parameter, ...]
    hypotheses: tuple[Relation, ...]
    claims: tuple[Relation, ...]
    states: Mapping[sp.Symbol, sp.Expr]


_WRITTEN = {"≤": "<=", "≥": ">=", "−": "-", "·": "*"}
"""Mathematical signs that a line may contain, each with its form in Python."""


def is_line(text: str) -> bool:
    """Whether a text is a statement in a line; an id or a file's name has no sign of comparison."""
    return any(sign in text for sign in "<>=≤≥")


def read_line(line: str) -> Line:
    """Return the parsed statement of a line.

    Parameters
    ----------
    line
        One line of at most 2000 characters.

    Returns
    -------
    Line
        Relations of symbols with the assumptions of their domains.

    Raises
    ------
    InputError
        For a text that is not understood, with its column.

    Examples
    --------
    >>> from verify.language.lines.statements import read_line
    >>> read_line("2*x*y <= x**2 + y**2 for x > 0").parameters[0].requirement
    'must be a number (such as 3, 0.25, 1e-3 or 1/500) > 0'
    """
    line = _plain(line)
    _refuse_long(line, "statement")
    parts = _parts(line)
    rules = list(_rules(parts["along"])) if "along" in parts else []
    states = {rule.name: sp.Symbol(rule.name, real=True) for rule in rules}
    domains = domains_in(parts["for"]) if "for" in parts else Domains()
    known = _known(line, parts, rules, domains)
    symbols = {name: domain.symbol(name) for name, domain in known.items()}
    return Line(
        tuple(domain.parameter(name) for name, domain in known.items()),
        (*(relations(parts["if"], symbols) if "if" in parts else ()), *domains.relations(symbols)),
        tuple(relations(parts["claim"], symbols | states)),
        _iterated(rules, symbols, states),
    )


def _plain(line: str) -> str:
    """Return a line with mathematical signs replaced by their forms in Python."""
    for sign, plain in _WRITTEN.items():
        line = line.replace(sign, plain)
    return line


def _refuse_long(line: str, name: str) -> None:
    """Raise InputError for a text that is too long, or no line."""
    if len(line) > LONGEST:
        raise InputError(name, line, f"has {len(line)} characters, and may have {LONGEST}")
    if not line.isprintable():
        raise InputError(name, line, "must be one line of printable characters")


def relation(text: str, *symbols: sp.Symbol) -> Relation:
    """Return the relation in a text, unevaluated: SymPy decides none of its parts.

    Parameters
    ----------
    text
        One comparison of at most 2000 characters, in the language of a line.
    *symbols
        The symbols that it may use.

    Returns
    -------
    Relational
        The comparison.

    Raises
    ------
    InputError
        For several comparisons, for an argument that is no symbol, and for a text that is not understood; the error
        names the column.

    Examples
    --------
    >>> import sympy as sp
    >>> import verify
    >>> x = sp.Symbol("x", positive=True)
    >>> verify.relation("x <= x + 1", x)
    x <= x + 1
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("relation", text, "must be text, such as 'x <= x + 1'")
    text = _plain(text)
    _refuse_long(text, "relation")
    named = {symbol.name: symbol for symbol in symbols if isinstance(symbol, sp.Symbol)}  # pyright: ignore[reportUnnecessaryIsInstance]
    if other := [symbol for symbol in symbols if symbol not in named.values()]:
        raise InputError("relation", other[0], "must be one symbol for each name, such as sp.Symbol('x', real=True)")
    found = relations(Part(text, text, 1, "relation"), named)
    if len(found) > 1:
        raise InputError("relation", text, f"has {len(found)} comparisons: write a relation for each")
    return found[0]


@dataclass(frozen=True)
class _Rule:
    """A state of a recursion: its name, its step and its start."""

    name: str
    step: Part
    start: Part


def _known(line: str, parts: Mapping[str, Part], rules: Sequence[_Rule], given: Domains) -> dict[str, Domain]:
    """Return the domain of each parameter, in the order in which the names occur; a recursion's `t` comes last."""
    written = [parts["claim"], *(part for rule in rules for part in (rule.start, rule.step))]
    supposed = [*([parts["if"]] if "if" in parts else []), *given.others]
    written, domains = [*written, *supposed], given.known
    names: dict[str, int] = {}
    for name, column in sorted((each for part in written for each in names_in(part)), key=lambda each: each[1]):
        names.setdefault(name, column)
    states = {rule.name for rule in rules}
    own = {*states, STEPS, *map(_BEFORE.format, (*states, STEPS))} if rules else set[str]()
    if taken := sorted(own & set(domains)):
        raise InputError("statement", line, f"{taken[0]} belongs to the recursion, and cannot have a domain")
    if unused := sorted(set(domains) - set(names)):
        raise InputError("statement", line, f"{unused[0]} has a domain, and is in no claim and no hypothesis")
    outside = [rule.start for rule in rules] + supposed
    for name, column in (each for part in outside for each in names_in(part)):
        if name in own:
            raise InputError(
                "statement", line, f"column {column}: {name} belongs to the recursion, and has no value here"
            )
    for name, column in names.items():
        if name in own - states - {STEPS}:
            raise InputError("statement", line, f"column {column}: {name} is a name that a recursion takes")
        try:
            refuse_bad_name("parameter", name)
        except TheoremError as error:
            raise InputError("statement", line, f"column {column}: {error}") from None
    known = {name: domains.get(name, Domain()) for name in names if name not in own}
    return known | ({STEPS: Domain(integer=True, lower=(Fraction(0), False))} if rules else {})


def _rules(part: Part) -> Iterator[_Rule]:
    """Yield the states of a recursion. Raises InputError for a rule of another form, and for an invalid name."""
    seen = set[str]()
    for each in part.split():
        found = _RULE.fullmatch(each.text)
        if found is None:
            raise each.error(None, "a recursion is written x -> x/2 from 1, with a rule for each state")
        name = found[1]
        if not name.isidentifier() or name in (*CONSTANTS, *FUNCTIONS, *ALIASES, STEPS) or name in seen:
            raise each.error(None, f"{name} is no new name for a state")
        seen.add(name)
        step, start = (Part(each.line, found[i], each.column + found.start(i)) for i in (2, 3))
        yield _Rule(name, step, start)


def _iterated(
    rules: Sequence[_Rule], symbols: Mapping[str, sp.Symbol], states: Mapping[str, sp.Symbol]
) -> dict[sp.Symbol, sp.Expr]:
    """Return the value of each state after t steps."""
    if not rules:
        return {}
    before = {name: sp.Symbol(_BEFORE.format(name), real=True) for name in states}
    counter = sp.Symbol(_BEFORE.format(STEPS), integer=True, nonnegative=True)
    start = [expression(rule.start, symbols) for rule in rules]
    step = [expression(rule.step, {**symbols, **before, STEPS: counter}) for rule in rules]
    parts = symbols[STEPS], (counter, *before.values()), tuple(start), tuple(step)
    return {states[rule.name]: Iterate(place, *parts) for place, rule in enumerate(rules)}  # pyright: ignore[reportReturnType]


def _parts(line: str) -> dict[str, Part]:
    """Return the claim, and the parts after `along`, `if` and `for`."""
    parts, name, begin = dict[str, Part](), "claim", 0
    for found in _KEYWORD.finditer(line):
        parts[name] = Part(line, line[begin : found.start()], begin + 1)
        name, begin = found[1], found.end()
        if name in parts:
            raise InputError("statement", line, f"column {found.start() + 1}: a second {name!r}")
    parts[name] = Part(line, line[begin:], begin + 1)
    return parts
