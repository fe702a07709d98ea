# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false
"""The domains in a line, after `for`: `x > 0, 0 <= p < 1, y real, integer n >= 2`, and `x, y > 0` for x > 0, y > 0.

A relation between names, or between a name and an irrational number, is a hypothesis.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import sympy as sp

from verify.language.expressions import STRICT
from verify.language.lines.expressions import Part, Relation, names_in, relations
from verify.language.parameters import Parameter

_ENTRY = re.compile(
    r"\s*(?P<all>(?:any|all|every)\s+(?=[^\W\d]))?(?:(?P<before>integers?|reals?)\s+)?(?P<entry>.*?)"
    r"(?:\s+(?P<after>integer|real))?\s*",
    re.DOTALL,
)
_WANTED = "a domain is written x > 0, 0 <= p < 1, x, y > 0, y real, integer n >= 2 or integers n, m >= 1"
End: TypeAlias = tuple[Fraction, bool]
"""An end of a domain, and whether it is excluded."""


@dataclass(frozen=True)
class Domain:
    """The domain of a name: whether it contains only integers, and its ends."""

    integer: bool = False
    lower: End | None = None
    upper: End | None = None

    def symbol(self, name: str) -> sp.Symbol:
        """Return the symbol, with the sign that the lower end implies."""
        assumed = {"integer": True} if self.integer else {"real": True}
        if self.lower is not None and self.lower[0] >= 0:
            value, excluded = self.lower
            assumed["positive" if value > 0 or excluded else "nonnegative"] = True
        return sp.Symbol(name, **assumed)

    def parameter(self, name: str) -> Parameter:
        """Return the parameter. Raises TheoremError for an empty domain."""
        sides = ((self.lower, ("minimum", "above")), (self.upper, ("maximum", "below")))
        ends = {names[end[1]]: end[0] for end, names in sides if end is not None}
        return Parameter(name, "integer" if self.integer else "real", "", **ends)  # pyright: ignore[reportCallIssue]


@dataclass
class Domains:
    """The domains of names, and the parts of a line with a relation that is no end of a domain."""

    known: dict[str, Domain] = field(default_factory=dict[str, Domain])
    others: list[Part] = field(default_factory=list[Part])

    def relations(self, symbols: Mapping[str, sp.Symbol]) -> Iterator[Relation]:
        """Yield the relations that are no ends of a domain."""
        for part in self.others:
            yield from (relation for relation in relations(part, symbols) if _end_of(relation) is None)

    def add(self, part: Part, domain: Domain, *names: str) -> None:
        """Add the domain of some names. Raises InputError for a name that already has a domain."""
        for name in names:
            if name in self.known:
                raise part.error(None, f"{name} has a second domain")
            self.known[name] = domain

    def add_relation(self, part: Part, tree: ast.expr, *, integer: bool, before: Sequence[str]) -> None:
        """Add a comparison, or a chain of comparisons; each name in `before` gets the domain of its only name.

        Raises InputError for a name that already has a domain. With `integer` or `before`, the comparison must give a
        domain to exactly one name, and nothing else.
        """
        ends, has_others = _ends(part, tree)
        if has_others:
            self.others.append(part)
        if (integer or before) and (len(ends) != 1 or has_others):
            raise part.error(tree, _WANTED)
        for name, sides in ends.items():
            if sides:
                self.add(part, Domain(integer, **sides), *before, name)


def _entry(part: Part) -> tuple[Part, str, bool]:
    """Return an entry without its words, its kind in the singular, and whether it begins a group of names."""
    parts = _ENTRY.fullmatch(part.text)
    assert parts is not None
    inner = Part(part.line, parts["entry"], part.column + parts.start("entry"))
    words = [word for word in (parts["before"], parts["after"]) if word]
    kinds = {word.removesuffix("s") for word in words}
    if len(kinds) > 1:
        raise inner.error(None, "a number is real or an integer, not both")
    return inner, "".join(kinds), bool(parts["all"]) or any(word.endswith("s") for word in words)


def domains_in(part: Part) -> Domains:
    """Return the domains in a list.

    `integers`, `reals`, `any`, `all` and `every` begin a group: their kind, and the end that follows, is that of each
    name up to this end or to the next kind, as in `integers n, m >= 1` and `any x, y`. Raises InputError for an entry
    that is not understood, and for `integer n, m >= 1`, which does not say whether it is a group.
    """
    found, waiting, group, alone = Domains(), list[str](), "", ""
    for each in part.split():
        inner, kind, begins = _entry(each)
        tree = inner.parsed()
        if alone and not kind:
            way = f"write {alone.replace(' ', 's ')}, {inner.text.strip()}, or a kind for each name"
            raise inner.error(None, f"{alone} leaves the kind of the next name open: {way}")
        if group and (kind or begins):
            found.add(inner, Domain(group == "integer"), *waiting)
            waiting = []
        if (waiting and begins) or (kind and waiting and not isinstance(tree, ast.Name)):
            raise inner.error(tree, _WANTED)
        group = (kind or "real") if begins else "" if kind else group
        alone = ""
        if not isinstance(tree, ast.Name):
            found.add_relation(inner, tree, integer="integer" in (kind, group), before=waiting)
            waiting, group = [], ""
        elif kind and not begins:
            found.add(inner, Domain(kind == "integer"), tree.id)
            alone = f"{kind} {tree.id}" if each.text.split()[0] == kind else ""
        else:
            waiting.append(tree.id)
    if group:
        found.add(part, Domain(group == "integer"), *waiting)
    elif waiting:
        raise part.error(None, f"{waiting[0]} has no domain; {_WANTED}")
    return found


def _ends(part: Part, tree: ast.expr) -> tuple[dict[str, dict[str, End]], bool]:
    """Return the ends of each name in an entry, and whether it has a relation that is no end."""
    if not isinstance(tree, ast.Compare) or not names_in(part):
        raise part.error(tree, _WANTED)
    symbols = {name: sp.Symbol(name, real=True) for name, _ in names_in(part)}
    ends, has_others = {name: dict[str, End]() for name in symbols}, False
    for relation in relations(part, symbols):
        if isinstance(relation, sp.Eq):
            raise part.error(tree, "a domain has ends, and no equation: write the number in place of the name")
        if (found := _end_of(relation)) is None:
            has_others = True
            continue
        name, side, end = found
        if side in ends[name]:
            raise part.error(tree, _WANTED)
        ends[name][side] = end
    return ends, has_others


def _end_of(relation: Relation) -> tuple[str, str, End] | None:
    """Return the name, the side and the end in a relation between a name and a rational number; None for any other."""
    small, large = relation.lts, relation.gts  # pyright: ignore[reportAttributeAccessIssue]
    name, end, side = (small, large, "upper") if small.is_Symbol else (large, small, "lower")
    if not (name.is_Symbol and end.is_Rational):
        return None
    return name.name, side, (Fraction(int(end.p), int(end.q)), isinstance(relation, STRICT))
