"""Immutable mappings and dataclasses, so that data cannot change after their digest was computed."""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

K = TypeVar("K")
V_co = TypeVar("V_co", covariant=True)


class Frozen(Mapping[K, V_co]):
    """A mapping that cannot be changed; its values are frozen too."""

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[K, V_co]) -> None:
        """Copy and freeze the items."""
        copies = {key: frozen(value) for key, value in items.items()}
        object.__setattr__(self, "_items", copies)
        object.__setattr__(self, "_hash", hash(frozenset(copies.items())))

    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError("it cannot be changed")

    def __getitem__(self, key: K) -> V_co:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[Any, ...]:
        return Frozen, (dict(self._items),)


def frozen(value: Any) -> Any:
    """Return a value with tuples for lists and frozen mappings, also in the fields of frozen dataclasses."""
    if type(value) in (list, tuple):
        kept = tuple(map(frozen, value))
        return value if type(value) is tuple and _same(kept, value) else kept
    if isinstance(value, Mapping):
        return value if isinstance(value, Frozen) else Frozen(value)
    if not is_dataclass(value) or isinstance(value, type) or not value.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return value
    parts = {f.name: getattr(value, f.name) for f in fields(value)}
    kept = {name: frozen(part) for name, part in parts.items()}
    if _same(kept.values(), parts.values()):
        return value
    changed = copy(value)
    for name, part in kept.items():
        object.__setattr__(changed, name, part)
    return changed


def _same(some: Iterable[Any], others: Iterable[Any]) -> bool:
    return all(one is other for one, other in zip(some, others, strict=True))
