"""Grids of a sweep: the exact values of each swept parameter, and all combinations of these values."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from verify.errors import InputError, meant
from verify.language.parameters import LARGEST_INTEGER, Parameter, Value, simplest_between
from verify.outcomes import json_number
from verify.runs.sweeps.limits import SWEEP

_FORM = "must be START:STOP:COUNT or START:STOP:COUNT:log, or values separated by commas"


@dataclass(frozen=True)
class Axis:
    """One swept parameter and its values, all different, in the order of the sweep.

    `spacing` is `linear`, `log` or, for values that were listed, `listed`.
    """

    parameter: Parameter
    values: tuple[Value, ...]
    spacing: str

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.parameter.name

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers, not words."""
        return self.parameter.kind != "word"

    def to_json(self) -> dict[str, object]:
        """Return the ends, the number of points and the spacing; also the values, if they were listed."""
        ends = {"start": json_number(self.values[0]), "stop": json_number(self.values[-1])}
        listed = {"values": json_number(self.values)} if self.spacing == "listed" else {}
        return {**ends, "count": len(self.values), "spacing": self.spacing, **listed}


@dataclass(frozen=True)
class Grid:
    """The instances of a sweep: all combinations of the axes' values, the last axis fastest."""

    axes: tuple[Axis, ...]

    def __len__(self) -> int:
        return math.prod(len(axis.values) for axis in self.axes)

    def points(self) -> Iterator[dict[str, Value]]:
        """Yield the swept parameters' values at each point; no list of all points is made."""
        names = [axis.name for axis in self.axes]
        for values in product(*(axis.values for axis in self.axes)):
            yield dict(zip(names, values, strict=True))

    def point(self, place: int) -> dict[str, Value]:
        """Return the swept parameters' values of one instance, by its place from 0 on in the order of `points`."""
        found: dict[str, Value] = {}
        for axis in reversed(self.axes):
            place, own = divmod(place, len(axis.values))
            found[axis.name] = axis.values[own]
        return {axis.name: found[axis.name] for axis in self.axes}


def read_over(words: Sequence[str]) -> dict[str, str]:
    """Split `NAME=GRID` words; a word without `=` and a repeated name raise InputError."""
    grids: dict[str, str] = {}
    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        if not equals or not name:
            raise InputError("--over", word, "must have the form NAME=START:STOP:COUNT, NAME=…:log or NAME=v1,v2,…")
        if name in grids:
            raise InputError("--over", word, f"{name} is given twice (first as {grids[name]})")
        grids[name] = text
    return grids


def grid(parameters: Sequence[Parameter], over: Mapping[str, object], given: Mapping[str, object]) -> Grid:
    """Return the grid of a sweep over some parameters.

    Parameters
    ----------
    over
        For each swept parameter's name, `START:STOP:COUNT[:log]`, values separated by commas, or a sequence of values.
        Ends are exact and included.
    given
        The fixed values; none of them may be swept.

    Raises
    ------
    InputError
        For an unknown, fixed or list parameter, a grid that is not understood, and too many points.
    """
    if not isinstance(over, Mapping):
        raise InputError("--over", over, "must be grids by the names of parameters")
    if not parameters:
        raise InputError("--over", ",".join(over), "there is nothing to sweep over: this theorem has no parameters")
    if not over:
        raise InputError("--over", "", "missing: a sweep needs at least one parameter to vary")
    known = {parameter.name: parameter for parameter in parameters}
    # An array, for example of NumPy, is read as a list, and a float in it as its shortest decimal.
    over = {name: asked.tolist() if hasattr(asked, "tolist") else asked for name, asked in over.items()}  # type: ignore[attr-defined]
    upper = 1
    for name, asked in over.items():
        if name not in known:
            raise InputError(
                "--over", name, f"is not a parameter of this theorem; {meant(name, known, 'its parameters are')}"
            )
        if name in given:
            raise InputError(name, given[name], "is swept by --over, and so cannot be fixed")
        upper *= _asked_points(known[name], asked)
    # The requested counts are limited before any axis is made, because making an axis takes seconds.
    if upper > SWEEP.most_points:
        raise InputError("--over", f"{upper} points", f"must be at most {SWEEP.most_points} together")
    return Grid(tuple(_axis(known[name], asked) for name, asked in over.items()))


def _asked_points(parameter: Parameter, asked: object) -> int:
    """Return the number of points requested on an axis; a logarithmic axis of integers may have fewer points."""
    if isinstance(asked, str) and ":" in asked:
        parts = [part.strip() for part in asked.split(":")]
        if len(parts) < 3 or not parts[2]:
            return 1
        digits = parts[2].isascii() and parts[2].isdigit() and len(parts[2]) <= len(str(LARGEST_INTEGER))
        if not (digits and 1 <= int(parts[2]) <= SWEEP.most_points):
            raise InputError(parameter.name, asked, f"COUNT must be an integer from 1 to {SWEEP.most_points}")
        return int(parts[2])
    if isinstance(asked, str):
        return asked.count(",") + 1
    if not isinstance(asked, Sequence):
        raise InputError(parameter.name, asked, f"{_FORM}; in Python also a list of values")
    return max(1, len(asked))


def _axis(parameter: Parameter, asked: object) -> Axis:
    if parameter.kind == "rationals":
        raise InputError("--over", parameter.name, "is a list of numbers, and so cannot be swept")
    if isinstance(asked, str) and ":" in asked:
        if parameter.kind == "word":
            raise InputError(parameter.name, asked, f"is a word: list what to sweep, of {','.join(parameter.words)}")
        return _ranged(parameter, asked)
    listed = asked.split(",") if isinstance(asked, str) else list(asked)
    values = tuple(parameter.parse(value.strip() if isinstance(value, str) else value) for value in listed)
    if not values or len(set(values)) < len(values):
        raise InputError(parameter.name, ",".join(map(str, listed)), "must be one or more values, all different")
    return Axis(parameter, values, "listed")


def _ranged(parameter: Parameter, text: str) -> Axis:
    parts = [part.strip() for part in text.split(":")]
    if len(parts) not in (3, 4) or "" in parts or (len(parts) == 4 and parts[3] != "log"):
        raise InputError(parameter.name, text, _FORM)
    start, stop = (Fraction(parameter.parse(part)) for part in parts[:2])  # type: ignore[arg-type]
    logarithmic, count = len(parts) == 4, int(parts[2])
    if start != stop and count == 1:
        raise InputError(parameter.name, text, "COUNT must be >= 2 to include both ends")
    if start == stop and count > 1:
        raise InputError(parameter.name, text, "START and STOP are the same: COUNT must be 1")
    if logarithmic and min(start, stop) <= 0:
        raise InputError(parameter.name, text, "a logarithmic grid must have START > 0 and STOP > 0")
    points = (_logarithmic if logarithmic else _linear)(start, stop, count)
    if parameter.kind != "integer":
        return Axis(parameter, tuple(points), "log" if logarithmic else "linear")
    if not logarithmic and abs(stop - start) + 1 < count:
        raise InputError(parameter.name, text, f"there are only {abs(stop - start) + 1} integers from START to STOP")
    # Points are rounded to the nearest integer, ties upwards; on a logarithmic axis several may round to one integer.
    whole = dict.fromkeys((point + Fraction(1, 2)).__floor__() for point in points)
    return Axis(parameter, tuple(whole), "log" if logarithmic else "linear")


def _linear(start: Fraction, stop: Fraction, count: int) -> list[Fraction]:
    """Return equally spaced points, exactly, both ends included."""
    return [start + (stop - start) * Fraction(i, max(1, count - 1)) for i in range(count)]


def _logarithmic(start: Fraction, stop: Fraction, count: int) -> list[Fraction]:
    """Return points with nearly equal ratios: the exact ends, and between them the simplest fractions nearby."""
    if count == 1:
        return [start]
    low, high = _log2(start), _log2(stop)
    step = abs(high - low) / (count - 1) * math.log(2)
    room = min(SWEEP.point_distance, Fraction(step) / 100)
    points = [start]
    for i in range(1, count - 1):
        exponent = low + (high - low) * i / (count - 1)
        whole = math.floor(exponent)
        # A power of 2 times a float between 1 and 2 may be outside float64's range.
        near = Fraction(2) ** whole * Fraction(2.0 ** (exponent - whole))
        points.append(simplest_between(near * (1 - room), near * (1 + room)))
    return [*points, stop]


def _log2(value: Fraction) -> float:
    return math.log2(value.numerator) - math.log2(value.denominator)
