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

_ALL = re.compile(r"\s*(?:any|all|every)\s+(?=[\w(.]|[-+]\S)")
"""A word before all domains; a sign with a space after it is an operation on a name."""
_ENTRY = re.compile(r"\s*(?:(integers?|reals?)\s+(?=[\w(.+-]))?(.*?)(?:\s+(integer|real))?\s*", re.DOTALL)
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

    def add_relation(
        self, part: Part, tree: ast.expr, read: tuple[Mapping[str, Mapping[str, End]], bool], *, integer: bool,
        before: Sequence[str],
    ) -> None:  # fmt: skip
        """Add a comparison, or a chain of comparisons, that `_ends` has read; `before` are names with the same domain.

        Raises InputError for a name that already has a domain. With `integer` or `before`, the comparison must give a
        domain to exactly one name, and nothing else.
        """
        ends, has_others = read
        if has_others:
            self.others.append(part)
        if (integer or before) and (len(ends) != 1 or has_others):
            raise part.error(tree, _WANTED)
        for name, sides in ends.items():
            if sides:
                self.add(part, Domain(integer, **sides), *before, name)


@dataclass
class _Reader:
    """The domains read so far, and the state that the next entry depends on.

    `waiting` has the names, with their parts, that get a later end or none. A `group` is "integer" or "real" after a
    plural, and in a line with `any`, `all` or `every`, `has_all`, a name needs no end. After `open_kind`, a kind and
    the last name that has it, an entry must have a kind of its own.
    """

    has_all: bool
    found: Domains = field(default_factory=Domains)
    waiting: list[tuple[Part, str]] = field(default_factory=list[tuple[Part, str]])
    group: str = ""
    open_kind: tuple[str, str] | None = None

    def end_group(self) -> None:
        """Give the waiting names a domain without ends, and end the group."""
        for part, name in self.waiting:
            if not (self.group or self.has_all):
                raise part.error(None, f"{name} has no domain; {_WANTED}")
            self.found.add(part, Domain(self.group == "integer"), name)
        self.waiting, self.group = [], ""

    def read(self, entry: Part) -> None:
        """Read an entry. Raises InputError if it is not understood."""
        parts = _ENTRY.fullmatch(entry.text)
        assert parts is not None
        before, text, after = parts.groups(default="")
        inner = Part(entry.line, text, entry.column + parts.start(2))
        kind, is_plural = (before or after).removesuffix("s"), before.endswith("s")
        if before and after and kind != after:
            raise inner.error(None, "a number is real or an integer, not both")
        tree = inner.parsed()
        if kind:
            if after and self.waiting:
                raise inner.error(tree, _WANTED)
            self.end_group()
            self.group, self.open_kind = (kind if is_plural else ""), None
        if isinstance(tree, ast.Name):
            self._refuse_open_kind(inner, tree.id, kind)
            if kind and not is_plural:
                self.found.add(inner, Domain(kind == "integer"), tree.id)
                self.open_kind = (kind, tree.id) if before else None
            else:
                self.waiting.append((inner, tree.id))
        else:
            self._read_relation(inner, tree, kind)

    def _read_relation(self, part: Part, tree: ast.expr, kind: str) -> None:
        ends, has_others = _ends(part, tree)
        named = [name for name, sides in ends.items() if sides]
        if named:
            self._refuse_open_kind(part, named[0], kind)
        is_first = isinstance(tree, ast.Compare) and isinstance(tree.left, ast.Name)
        kind, group = kind or self.group, self.group
        if (self.group or self.has_all) and not is_first:
            self.end_group()
        before = [name for _, name in self.waiting]
        self.found.add_relation(part, tree, (ends, has_others), integer=kind == "integer", before=before)
        self.waiting, self.group = [], ""
        self.open_kind = (group, named[0]) if group and named else self.open_kind

    def _refuse_open_kind(self, part: Part, name: str, kind: str) -> None:
        if self.open_kind and not kind:
            word, before = self.open_kind
            raise part.error(None, f"after {word} {before}, {name} needs a kind too: integer or real")


def domains_in(part: Part) -> Domains:
    """Return the domains in a list.

    In `x, y > 0` and `integers n, m >= 1` the end is that of each name. After `any`, `all` or `every`, a name needs no
    end. Raises InputError for an entry that is not understood, and for `integer n, m >= 1`, which does not say whether
    m is an integer.
    """
    word = _ALL.match(part.text)
    reader = _Reader(word is not None)
    start = word.end() if word else 0
    for entry in Part(part.line, part.text[start:], part.column + start, part.name).split():
        reader.read(entry)
    reader.end_group()
    return reader.found


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
