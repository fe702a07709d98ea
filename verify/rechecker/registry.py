"""The registry that a re-check is given: kinds of clause, kinds of proof, and primitives, by their names."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from .reading import Data, Effort, Rejected, Unknown, shown

Enclosure: TypeAlias = tuple[Fraction, Fraction]
_PRIMITIVE = re.compile(r"\w+/[0-9]+")


@dataclass(frozen=True)
class Checked:
    """The result of a check of a proof: whether the clause holds, and whether that uses a hypothesis.

    The instance's values are no hypothesis: such a proof holds there alone.
    """

    holds: bool
    hypotheses_used: bool

    def __post_init__(self) -> None:
        """Raise TypeError for what is no bool."""
        if type(self.holds) is not bool or type(self.hypotheses_used) is not bool:
            raise TypeError("the result of a check is two bools")

    def __bool__(self) -> bool:
        """Raise TypeError: one of the two is to be asked for."""
        raise TypeError("the result of a check has no truth value: ask whether the clause holds")


@dataclass(frozen=True)
class ClauseKind:
    """A kind of clause: its keys, and `more` keys that it may have."""

    keys: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProofKind:
    """A kind of proof: the outcomes that it shows of each kind of clause, its keys, its check, `more` keys it may have.

    `check(given, clause, proof, where)` returns its result, and raises Rejected. The clause is shown `for_all`
    parameters where a proof that states its scope says "all" there; `or_here` says that it is shown at the instance
    where that one's words choose the clause.
    """

    shows: Mapping[str, tuple[str, ...]]
    keys: str
    check: Callable[..., Checked]
    more: tuple[str, ...] = ()
    for_all: bool = False
    or_here: bool = False


@dataclass(frozen=True)
class Primitive:
    """A function of some rational numbers, computed a second time; it spends the effort that it takes.

    Its value is rational, or a real number between the two bounds that `encloses` returns. Both are called with the
    effort and the arguments, and raise Rejected where there is no value.
    """

    arity: int
    value: Callable[..., Fraction] | None
    encloses: Callable[..., Enclosure] | None = None

    def __post_init__(self) -> None:
        """Raise TypeError unless there is one of the two functions."""
        if (self.value is None) == (self.encloses is None):
            raise TypeError("a primitive has a value, or bounds of one")


@dataclass(frozen=True)
class Registry:
    """Kinds of clause, kinds of proof, and primitives by name and version ("name/1")."""

    clauses: Mapping[str, ClauseKind]
    proofs: Mapping[str, ProofKind]
    primitives: Mapping[str, Primitive]

    def __post_init__(self) -> None:
        """Take copies that stay. Raise TypeError for a primitive whose name is none: it might be an operation's."""
        for name in ("clauses", "proofs", "primitives"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        for name in self.primitives:
            if not _PRIMITIVE.fullmatch(name):
                raise TypeError(f"{name!r} is no name and version of a primitive: name/1")

    def primitive_of(self, rest: list[Data], where: str) -> tuple[str, list[Data]]:
        """Return the name and version of a primitive, and its arguments, from its data.

        Raises Unknown for a primitive that is not here, and Rejected for another number of arguments.
        """
        name, arguments = "/".join(map(str, rest[:2])), rest[2:]
        if len(rest) < 2 or type(rest[1]) is not int or name not in self.primitives:
            raise Unknown(f"{where}: the primitive {shown(name)} is not known to this program")
        if len(arguments) != self.primitives[name].arity:
            raise Rejected(f"{where}: {name} has {len(arguments)} arguments")
        return name, arguments


_MOST_KEPT = 1000
_kept: dict[tuple[Primitive, tuple[Fraction, ...]], tuple[Enclosure, float]] = {}


def computed(effort: Effort, primitive: Primitive, arguments: tuple[Fraction, ...]) -> Enclosure:
    """Return a primitive's value, as two bounds, equal where it is rational; one that is kept costs what it cost then.

    Raises Rejected where it has none, and for what is not exact or no interval.
    """
    if (primitive, arguments) in _kept:
        bounds, cost = _kept[primitive, arguments]
        effort.spend(cost)
        return bounds
    before = effort.left
    if primitive.value is not None:
        value = primitive.value(effort, *arguments)
        bounds = value, value
    else:
        bounds = primitive.encloses(effort, *arguments)  # pyright: ignore[reportOptionalCall] -- it has one of the two
    if not all(type(end) is Fraction for end in bounds) or bounds[0] > bounds[1]:
        raise Rejected("the second computation of a primitive must return a Fraction, or two, the lower one first")
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    _kept[primitive, arguments] = bounds, before - effort.left
    return bounds
