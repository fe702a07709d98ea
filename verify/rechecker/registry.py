"""The registry of a re-check: kinds of clause, kinds of proof, and primitives, by their names.

A package adds its own through a door: an installed `Rechecks` with a name. A certificate that rests on a door has the
door's name and digest.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypeVar

from .reading import Data, Effort, Rejected, Unknown, Unreadable, shown

T = TypeVar("T")
Enclosure: TypeAlias = tuple[Fraction, Fraction]
_PRIMITIVE = re.compile(r"\w+/[0-9]+")


@dataclass(frozen=True)
class Checked:
    """The result of a check of a proof: whether the clause holds, and whether that uses a hypothesis.

    The instance's values are no hypotheses: a proof that uses them holds at the instance only.
    """

    holds: bool
    hypotheses_used: bool

    def __post_init__(self) -> None:
        """Raise TypeError for a field that is no bool."""
        if type(self.holds) is not bool or type(self.hypotheses_used) is not bool:
            raise TypeError("the result of a check is two bools")

    def __bool__(self) -> bool:
        """Raise TypeError: the caller must ask for one of the two fields."""
        raise TypeError("the result of a check has no truth value: ask whether the clause holds")


@dataclass(frozen=True)
class ClauseKind:
    """A kind of clause: its keys, and `more` keys that it may have."""

    keys: str
    more: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise TypeError for keys that are no text."""
        _refuse_no_keys(self.keys, self.more)


def _refuse_no_keys(keys: object, more: tuple[object, ...]) -> None:
    if type(keys) is not str or type(more) is not tuple or not all(type(key) is str for key in more):
        raise TypeError("keys are text, with a space between two, and more keys a tuple of texts")


@dataclass(frozen=True)
class ProofKind:
    """A kind of proof: the outcomes that it shows by kind of clause, its keys, its check, and `more` optional keys.

    `check(given, clause, proof, where)` returns its result, or raises Rejected. With `for_all`, a proof shows the
    clause for all parameters, unless it states another scope than "all". With `or_here`, it shows the clause at the
    instance if the instance's words decide a Case of the clause.
    """

    shows: Mapping[str, tuple[str, ...]]
    keys: str
    check: Callable[..., Checked]
    more: tuple[str, ...] = ()
    for_all: bool = False
    or_here: bool = False

    def __post_init__(self) -> None:
        """Raise TypeError for unknown outcomes, keys that are no text, and a check that cannot be called."""
        _refuse_no_keys(self.keys, self.more)
        outcomes = dict(self.shows).values()
        if not all(type(each) is tuple and {"verified", "refuted"}.issuperset(each) for each in outcomes):
            raise TypeError("a kind of proof shows, of each kind of clause, some of verified and refuted")
        if not callable(self.check):
            raise TypeError("the check of a kind of proof is a function")


@dataclass(frozen=True)
class Primitive:
    """The second computation of a function of rational numbers, which counts its effort.

    `value` returns a rational value; `encloses` returns two bounds of a real value. Both are called with the effort and
    the arguments, and raise Rejected if there is no value.
    """

    arity: int
    value: Callable[..., Fraction] | None
    encloses: Callable[..., Enclosure] | None = None

    def __post_init__(self) -> None:
        """Raise TypeError unless exactly one of the two functions is given."""
        if (self.value is None) == (self.encloses is None):
            raise TypeError("a primitive has a value, or bounds of one")


_PARTS = {"clauses": ClauseKind, "proofs": ProofKind, "primitives": Primitive}


@dataclass(frozen=True)
class Rechecks:
    """A package's part of a registry: kinds of clause, kinds of proof, and primitives by name and version ("name/1").

    `version` is the version of all of these together, an integer ≥ 1.
    """

    version: int
    clauses: Mapping[str, ClauseKind] = field(default_factory=dict[str, ClauseKind])
    proofs: Mapping[str, ProofKind] = field(default_factory=dict[str, ProofKind])
    primitives: Mapping[str, Primitive] = field(default_factory=dict[str, Primitive])

    def __post_init__(self) -> None:
        """Copy the mappings. Raise TypeError for an entry of another type, and for an invalid name of a primitive."""
        if type(self.version) is not int or self.version < 1:
            raise TypeError(f"{self.version!r} is no version: an integer from 1 on")
        for part, kind in _PARTS.items():
            entries = dict(getattr(self, part))
            if wrong := [name for name, entry in entries.items() if type(name) is not str or type(entry) is not kind]:
                raise TypeError(f"{part}: {wrong[0]!r} is the name of no {kind.__name__}")
            object.__setattr__(self, part, MappingProxyType(entries))
        for name in self.primitives:
            if not _PRIMITIVE.fullmatch(name):
                raise TypeError(f"{name!r} is no name and version of a primitive: name/1")


class Trusted(NamedTuple):
    """A door that a result rests on: its name, and the version, the package and the digest of its contents."""

    name: str
    version: int
    package: str
    digest: str

    def __str__(self) -> str:
        """Return name and version."""
        return f"{self.name}/{self.version}"


@dataclass(frozen=True)
class Door:
    """An installed `Rechecks`; `load` returns it, or raises Unknown with the reason."""

    name: str
    package: str
    digest: str
    load: Callable[[], Rechecks] = field(compare=False, repr=False)


def closed(name: str) -> Door:
    """Raise Unknown: nothing beyond the core is accepted."""
    raise Unknown(f"{name} is beyond the core, and nothing beyond it is accepted here")


@dataclass(frozen=True)
class Registry(Rechecks):
    """The registry of a re-check; `brought` has the door of each entry that is not the core's, by part and name.

    A part is `clauses`, `proofs` or `primitives`.
    """

    brought: Mapping[tuple[str, str], Trusted] = field(default_factory=dict[tuple[str, str], Trusted])

    def with_rechecks(self, trusted: Trusted, more: Rechecks) -> "Registry":
        """Return a registry with the contents of a door added. Raises Unknown for a name that is taken."""
        brought = {(part, name): trusted for part in _PARTS for name in getattr(more, part)}
        if taken := [name for part, name in brought if name in getattr(self, part)]:
            raise Unknown(
                f"{trusted} of the package {trusted.package} brings {shown(taken[0])}, which is there already"
            )
        parts = {part: {**getattr(self, part), **getattr(more, part)} for part in _PARTS}
        return replace(self, brought={**self.brought, **brought}, **parts)

    def primitive_of(self, rest: list[Data], where: str) -> tuple[str, list[Data]]:
        """Return the name and version of a primitive, and its arguments, from its data.

        Raises Unknown for a primitive that is not in the registry, and Rejected for another number of arguments.
        """
        name, arguments = "/".join(map(str, rest[:2])), rest[2:]
        if len(rest) < 2 or type(rest[1]) is not int or name not in self.primitives:
            raise Unknown(f"{where}: the primitive {shown(name)} is not known to this program")
        if len(arguments) != self.primitives[name].arity:
            raise Rejected(f"{where}: {name} has {len(arguments)} arguments")
        return name, arguments


def guarded(work: Callable[[], T]) -> T:
    """Return the result of a package's code. Raises Unknown if it ends with an error that is not this program's."""
    try:
        return work()
    except (Rejected, Unreadable, RecursionError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise Unknown(f"a package's code ended with {type(error).__name__}: {error}") from error


def _bounds(effort: Effort, primitive: Primitive, arguments: tuple[Fraction, ...]) -> Enclosure:
    if primitive.value is not None:
        value = primitive.value(effort, *arguments)
        return value, value
    return primitive.encloses(effort, *arguments)  # pyright: ignore[reportOptionalCall] -- it has one of the two


_MOST_KEPT = 1000
_kept: dict[tuple[Primitive, tuple[Fraction, ...]], tuple[Enclosure, float]] = {}


def computed(effort: Effort, primitive: Primitive, arguments: tuple[Fraction, ...]) -> Enclosure:
    """Return a primitive's value as two bounds, equal for a `value`; a cached one costs as much as its computation.

    Raises Rejected if it has no value, and for a result that is not exact or no interval.
    """
    if (primitive, arguments) in _kept:
        bounds, cost = _kept[primitive, arguments]
        effort.spend(cost)
        return bounds
    before = effort.left
    bounds = guarded(lambda: _bounds(effort, primitive, arguments))
    exact = type(bounds) is tuple and len(bounds) == 2 and all(type(end) is Fraction for end in bounds)
    if not exact or bounds[0] > bounds[1]:
        raise Rejected("the second computation of a primitive must return a Fraction, or two, the lower one first")
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    _kept[primitive, arguments] = bounds, before - effort.left
    return bounds
