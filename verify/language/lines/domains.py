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

_KIND = re.compile(r"\s*(?:(integer|real)\s+)?(.*?)(?:\s+(integer|real))?\s*", re.DOTALL)
_WANTED = "a domain is written x > 0, 0 <= p < 1, x, y > 0, y real or integer n >= 2"
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
        domain to exactly one name, and nothing else; both together are refused.
        """
        ends, has_others = _ends(part, tree)
        if has_others:
            self.others.append(part)
        if (integer or before) and (len(ends) != 1 or has_others or (integer and before)):
            raise part.error(tree, _WANTED)
        for name, sides in ends.items():
            if sides:
                self.add(part, Domain(integer, **sides), *before, name)


def domains_in(part: Part) -> Domains:
    """Return the domains in a list.

    Raises InputError for an entry that is not understood, and for `integer n, m >= 1`, which does not say whether m is
    an integer and whether n has the end.
    """
    found, before, last = Domains(), list[str](), None
    for each in part.split():
        kind = _KIND.fullmatch(each.text)
        assert kind is not None
        kinds, inner = {kind[1], kind[3]} - {None}, Part(part.line, kind[2], each.column + kind.start(2))
        if len(kinds) > 1:
            raise inner.error(None, "a number is real or an integer, not both")
        if last is not None and not kinds:
            word, name = last
            way = f"write {name} {word}, or {word} twice"
            raise inner.error(None, f"{word} {name} stands before a name without a kind: {way}")
        tree = inner.parsed()
        last = (kind[1], kind[2]) if kind[1] and isinstance(tree, ast.Name) else None
        if not isinstance(tree, ast.Name):
            found.add_relation(inner, tree, integer="integer" in kinds, before=before)
            before = []
        elif kinds:
            found.add(inner, Domain("integer" in kinds), tree.id)
        else:
            before.append(tree.id)
    if before:
        raise part.error(None, f"{before[0]} has no domain; {_WANTED}")
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
