"""Blocks of a sweep: the results at consecutive instances of a grid that float64 decides, as arrays.

A block has arrays of kinds, margins, errors and values; a number takes 8 bytes. An instance's kind is the index of its
head, which has the parts that rows share. A row is made when it is read. An instance that float64 leaves open has the
kind -1, and a row of its own in the store.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verify.checking.theorem import Theorem
from verify.errors import UndefinedError
from verify.evaluation.running_errors import Estimate, Estimates
from verify.language.parameters import Value
from verify.outcomes import Evidence, json_numbers
from verify.runs.store import Key, settings_digest
from verify.runs.sweeps.grids import Axis, Grid
from verify.runs.sweeps.kept_rows import fits
from verify.runs.sweeps.limits import SWEEP
from verify.runs.sweeps.rows import DEVICE, Effort, Point, Row

_KIND, _NUMBER = np.dtype("<i2"), np.dtype("<f8")
_HEADER = {"count": int, "seconds": float, "margins": list, "values": list, "heads": list}
"""The fields of a block's header, with the type of each."""


@dataclass(frozen=True, eq=False)
class Part:
    """The instances of a grid at places p with `start` ≤ p < `stop`, in the grid's order.

    `axes` has float64 estimates of the values of each axis of numbers, and `digests` has a digest of the values of each
    axis, by the axis's name. Both are made once for all parts.
    """

    grid: Grid
    given: Mapping[str, Value]
    start: int
    stop: int
    axes: Mapping[str, Estimate]
    digests: Mapping[str, str]

    def __len__(self) -> int:
        return self.stop - self.start

    def points(self) -> Iterator[Point]:
        """Yield the instances, with exact values."""
        names = [axis.name for axis in self.grid.axes]
        columns = [map(axis.values.__getitem__, self.places(axis).tolist()) for axis in self.grid.axes]
        return ({**self.given, **dict(zip(names, values, strict=True))} for values in zip(*columns, strict=True))

    def point(self, place: int) -> Point:
        """Return the instance at a place of the part, from 0 on."""
        return {**self.given, **self.grid.point(self.start + place)}

    def places(self, axis: Axis) -> np.ndarray:
        """Return the place of each instance's value on an axis, an array of integers of shape (n,)."""
        sizes = [len(each.values) for each in self.grid.axes]
        return np.unravel_index(np.arange(self.start, self.stop), sizes)[self.grid.axes.index(axis)]

    def numbers(self, name: str, at: np.ndarray) -> Estimate:
        """Return a parameter's numbers at some places. Raises UndefinedError for a fixed value beyond float64."""
        for axis in self.grid.axes:
            if axis.name == name:
                chosen = self.places(axis)[at]
                return Estimate(*(np.asarray(part)[chosen] for part in (self.axes[name].value, self.axes[name].error)))
        fixed = Estimates().number(self.given[name])  # type: ignore[arg-type]
        return Estimate(np.full(len(at), fixed.value), np.full(len(at), fixed.error))

    def key(self, theorem: Theorem, effort: Effort, code: str) -> Key:
        """Return the store's key of the part's block: statement, instances, effort, code, seed."""
        asked: dict[str, Value] = {
            **{f"{name}=": value for name, value in self.given.items()},
            **{f"over {name}": digest for name, digest in self.digests.items()},
            "order": " ".join(axis.name for axis in self.grid.axes),
            "start": self.start,
            "stop": self.stop,
            "statement": theorem.statement.digest,
            "seconds": repr(float(effort.seconds)),
        }
        return Key(settings_digest(f"block {theorem.id}", asked), code, effort.seed, DEVICE)


def parts(grid: Grid, given: Mapping[str, Value]) -> Iterator[Part]:
    """Yield a grid's instances in parts of at most `SWEEP.array` instances."""
    axes = {axis.name: _estimates(axis) for axis in grid.axes if axis.is_number}
    digests = {axis.name: _digest(axis) for axis in grid.axes}
    for start in range(0, len(grid), SWEEP.array):
        yield Part(grid, given, start, min(start + SWEEP.array, len(grid)), axes, digests)


def _digest(axis: Axis) -> str:
    return hashlib.sha256(json.dumps([[type(v).__name__, str(v)] for v in axis.values]).encode()).hexdigest()


def _estimates(axis: Axis) -> Estimate:
    """Return an axis's values as an Estimate; NaN for a value beyond float64's range."""
    arithmetic = Estimates()
    with np.errstate(all="ignore"):
        found = [_number(arithmetic, value) for value in axis.values]
    return Estimate(np.array([one.value for one in found]), np.array([one.error for one in found]))


def _number(arithmetic: Estimates, value: Any) -> Estimate:
    try:
        return arithmetic.number(value)
    except UndefinedError:
        return arithmetic.beyond()


@dataclass
class Block:
    """The decided instances of a part.

    Parameters
    ----------
    kinds
        The index of each instance's head, -1 for an undecided one, of shape (n,).
    margins, errors
        Arrays of shape (n,) by the label of a clause; NaN for an undecided instance, and for a proved clause whose
        margin is beyond float64.
    values
        Arrays of shape (n,) by a reported value's name: numbers, NaN for none, or truth values as 0 and 1.
    heads
        The parts that rows share: `in_scope`, `outcome`, `claim`, `evidence`, `trusts`; for each clause its `label`,
        whether it is `said` in words, and `proved`, the trusts of its proof for all parameters (None without a proof);
        `margins`, the labels with margins; and `truths`, the names of the values that are truth values.
    seconds
        Time per decided instance, in seconds.
    """

    kinds: np.ndarray
    margins: dict[str, np.ndarray] = field(default_factory=dict)
    errors: dict[str, np.ndarray] = field(default_factory=dict)
    values: dict[str, np.ndarray] = field(default_factory=dict)
    heads: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def counted(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Yield each head that has rows, and the number of its rows."""
        for kind, head in enumerate(self.heads):
            if many := int((self.kinds == kind).sum()):
                yield head, many

    @property
    def decided(self) -> int:
        """The number of instances with a row in this block."""
        return int((self.kinds >= 0).sum())

    def row(self, place: int, point: Point, names: Sequence[str]) -> Row:
        """Return the row of a decided instance; `names` are the statement's parameters in their order."""
        head = self.heads[self.kinds[place]]
        shared = {name: head[name] for name in ("in_scope", "outcome", "claim", "evidence", "trusts")}
        clauses = [self._clause(place, head, each) for each in head["clauses"]]
        values: Row = {}
        for name, numbers in self.values.items():
            values |= _shown(name, float(numbers[place]), is_truth=name in head["truths"])
        instance = json_numbers({name: point[name] for name in names})
        rest = {"clauses": clauses, "values": values, "detail": "", "error": "", "seconds": self.seconds}
        return {"instance": instance, **shared, **rest}

    def _clause(self, place: int, head: Mapping[str, Any], said: Mapping[str, Any]) -> Row:
        label, trusts = said["label"], said["proved"]
        if said["said"]:
            return _IN_WORDS | {"label": label}
        evidence = Evidence.COMPUTED if trusts is None else Evidence.PROVED
        body: Row = {"label": label, "holds": True, "evidence": str(evidence), "margin": None, "error": None}
        if label not in head["margins"]:
            body |= {"margin": 0, "margin_float": 0.0, "error": 0, "error_float": 0.0}
        elif not np.isnan(self.margins[label][place]):
            body |= {"margin_float": float(self.margins[label][place])}
            body |= {"error_float": float(self.errors[label][place])}
        unchecked = "decided in float64" if trusts is None else ""
        return {**body, "rechecked": trusts is not None, "trusts": trusts or [], "unchecked": unchecked} | {
            "detail": "",
            "witness": {},
        }

    def encoded(self) -> tuple[str, bytes]:
        """Return the header, in JSON, and the arrays as bytes."""
        header = {"count": len(self.kinds), "seconds": self.seconds, "heads": self.heads}
        header |= {"margins": list(self.margins), "values": list(self.values)}
        numbers = [*self.margins.values(), *self.errors.values(), *self.values.values()]
        arrays = [self.kinds.astype(_KIND).tobytes(), *(each.astype(_NUMBER).tobytes() for each in numbers)]
        return json.dumps(header, allow_nan=False), b"".join(arrays)


def decoded(theorem: Theorem, part: Part, header: bytes, data: bytes) -> Block | None:
    """Return a part's block from its header and bytes in a store; None if it does not fit the theorem and the part."""
    try:
        read = json.loads(header)
        if read.keys() != _HEADER.keys() or any(not isinstance(read[name], kind) for name, kind in _HEADER.items()):
            return None
        known = [clause.label for clause in theorem.statement.clauses]
        names = [label for label in known if label in read["margins"]]
        if read["count"] != len(part) or names != read["margins"] or read["values"] != list(theorem.values):
            return None
        columns = 2 * len(names) + len(read["values"])
        if len(data) != len(part) * (_KIND.itemsize + columns * _NUMBER.itemsize):
            return None
        kinds = np.frombuffer(data, _KIND, len(part))
        numbers = np.frombuffer(data, _NUMBER, offset=kinds.nbytes).reshape(columns, len(part))
        margins, errors = (dict(zip(names, numbers[k * len(names) :], strict=False)) for k in (0, 1))
        values = dict(zip(read["values"], numbers[2 * len(names) :], strict=True))
        block = Block(kinds, margins, errors, values, read["heads"], read["seconds"])
        return block if _fits(theorem, part, block) else None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None


def _fits(theorem: Theorem, part: Part, block: Block) -> bool:
    """Whether a block's numbers decide its clauses, and the first row of each head fits its instance."""
    if block.kinds.size and not (-1 <= block.kinds.min() and block.kinds.max() < len(block.heads)):
        return False
    if any(np.isinf(each).any() for each in (*block.margins.values(), *block.errors.values(), *block.values.values())):
        return False
    names = [parameter.name for parameter in theorem.statement.parameters]
    for kind, head in enumerate(block.heads):
        places = np.flatnonzero(block.kinds == kind)
        if not places.size:
            continue
        if not all(_clause_fits(block, places, head, said) for said in head["clauses"]):
            return False
        if not all(np.isin(block.values[name][places], (0.0, 1.0)).all() for name in head["truths"]):
            return False
        place = int(places[0])
        if not fits(theorem, part.point(place), block.row(place, part.point(place), names)):
            return False
    return True


def _clause_fits(block: Block, places: np.ndarray, head: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Whether a clause's entry in a head is well formed, and its margins at the head's places decide it."""
    label, trusts = said["label"], said["proved"]
    if not isinstance(said["said"], bool) or not isinstance(trusts, list | None):
        return False
    if said["said"] or label not in head["margins"]:
        return True
    margin, error = (found[label][places] for found in (block.margins, block.errors))
    return bool((error[~np.isnan(margin)] >= 0).all() and (trusts is not None or (margin > error).all()))


def _shown(name: str, number: float, *, is_truth: bool) -> Row:
    """Return a value's entries in a row: a truth value; or null and, unless the number is NaN, the number's float."""
    if is_truth:
        return {name: bool(number)}
    return {name: None} if np.isnan(number) else {name: None, f"{name}_float": number}


_IN_WORDS: Row = {
    **dict.fromkeys(("label", "unchecked", "detail"), ""),
    **dict.fromkeys(("holds", "evidence", "margin", "error")),
    "rechecked": False,
    "trusts": [],
    "witness": {},
}
"""The entry of a claim in words in a row, without its label."""
