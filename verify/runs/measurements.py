"""Measurements of a simulation: numbers with standard errors, curves and matrices; and predictions for curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verify.errors import TheoremError


@dataclass(frozen=True)
class Measurement:
    """A measured number: the mean of independent values, with its standard error.

    (mean − truth) / standard_error has Student's t distribution with samples − 1 degrees of freedom: exactly if the
    values are normal, and approximately if they are not.

    Parameters
    ----------
    value
        The mean.
    standard_error
        The standard error of the mean: 0 if the value is deterministic up to rounding, None if it is not known, as
        after a single run.
    samples
        Number of values averaged.

    Raises
    ------
    TheoremError
        If there are no samples, if the standard error is negative, or if it is positive for a single sample.

    Examples
    --------
    >>> from verify import Measurement
    >>> Measurement(0.5, 0.01, 100).samples
    100
    """

    value: float
    standard_error: float | None = 0.0
    samples: int = 1

    def __post_init__(self) -> None:
        if (self.standard_error or 0) < 0 or self.samples < 1:
            raise TheoremError("a measurement has a standard error >= 0 and at least one sample")
        if self.standard_error and self.samples < 2:
            raise TheoremError("a standard error needs at least two samples")

    def band(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of the mean, by Student's t; a point if the error is 0 or unknown."""
        if not self.standard_error:
            return self.value, self.value
        # SciPy is heavy, and many results have no random measurement.
        from scipy.stats import t

        half = float(t.ppf(0.975, self.samples - 1)) * self.standard_error
        return self.value - half, self.value + half


@dataclass(frozen=True)
class Curve:
    """A quantity measured along something that varies, such as the steps of a training.

    Curves with the same two axes share a plot.

    Parameters
    ----------
    over, quantity
        Names of the two axes, with their units.
    points, measured
        The points of the curve, at least one, and a measurement at each.
    logarithmic
        Whether the vertical axis is logarithmic; one such curve makes the axis of its plot logarithmic.

    Raises
    ------
    TheoremError
        If there are no points, or if the numbers of points and of measurements differ.

    Examples
    --------
    >>> from verify import Curve, Measurement
    >>> Curve("steps", "loss", (1.0, 2.0), (Measurement(1.0), Measurement(0.5))).points
    (1.0, 2.0)
    """

    over: str
    quantity: str
    points: tuple[float, ...]
    measured: tuple[Measurement, ...]
    logarithmic: bool = False

    def __post_init__(self) -> None:
        if not self.points or len(self.points) != len(self.measured):
            raise TheoremError(f"a curve over {self.over} needs at least one point, and a measurement at each")

    def to_json(self) -> dict[str, object]:
        """Return the object of the curve in JSON: the axes, the points, the measurements and their confidence bands."""
        lower, upper = zip(*(measured.band() for measured in self.measured), strict=True)
        return {
            "over": self.over,
            "quantity": self.quantity,
            "logarithmic": self.logarithmic,
            "at": list(self.points),
            "value": [measured.value for measured in self.measured],
            "lower": list(lower),
            "upper": list(upper),
            "standard_error": [measured.standard_error for measured in self.measured],
            "samples": [measured.samples for measured in self.measured],
        }

    @staticmethod
    def from_json(body: Mapping[str, Any]) -> "Curve":
        """Return the curve that `to_json` wrote. Raises KeyError, TypeError or ValueError for any other body."""
        columns = (body[name] for name in ("value", "standard_error", "samples"))
        measured = tuple(Measurement(*row) for row in zip(*columns, strict=True))
        return Curve(body["over"], body["quantity"], tuple(body["at"]), measured, body["logarithmic"])


@dataclass(frozen=True)
class HeatMap:
    """A matrix of numbers, drawn as a heat map.

    Parameters
    ----------
    rows, columns
        Names of the axes.
    quantity
        The quantity, with its unit.
    values
        The rows, all of the same length.

    Raises
    ------
    TheoremError
        If there are no rows, or if they are empty or of different lengths.

    Examples
    --------
    >>> from verify import HeatMap
    >>> len(HeatMap("row", "column", "entry of W", ((1.0, 0.0), (0.0, 1.0))).values)
    2
    """

    rows: str
    columns: str
    quantity: str
    values: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if not self.values or len({len(row) for row in self.values}) != 1 or not self.values[0]:
            raise TheoremError(f"a heat map of {self.quantity} needs rows of one length")

    @staticmethod
    def from_json(body: Mapping[str, Any]) -> "HeatMap":
        """Return the heat map of an object in JSON, as `ExperimentResult.to_json` writes it."""
        return HeatMap(body["rows"], body["columns"], body["quantity"], tuple(tuple(row) for row in body["values"]))


@dataclass(frozen=True)
class Predicted:
    """A prediction of theory: along an axis, a quantity lies between two curves, which may coincide.

    The prediction is drawn over the simulated curves with the same two axes.

    Parameters
    ----------
    over, quantity
        Names of the two axes, with their units.
    points
        The points of the prediction, at least one.
    lower, upper
        The two curves, at these points.

    Raises
    ------
    TheoremError
        If there are no points, or if a curve has another number of values.

    Examples
    --------
    >>> from verify import Predicted
    >>> Predicted("steps", "loss", (1.0, 2.0), (0.9, 0.4), (1.1, 0.6)).upper
    (1.1, 0.6)
    """

    over: str
    quantity: str
    points: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.points or not len(self.points) == len(self.lower) == len(self.upper):
            raise TheoremError(f"theory over {self.over} needs at least one point, and both ends at each")

    @classmethod
    def line(
        cls, like: Curve, points: Sequence[float], values: Sequence[float], errors: Sequence[float] | None = None
    ) -> "Predicted":
        """Return the band values ± errors on the axes of a simulated curve; the errors are 0 by default."""
        errors = errors or [0.0] * len(points)
        lower, upper = (tuple(v + sign * e for v, e in zip(values, errors, strict=True)) for sign in (-1, 1))
        return cls(like.over, like.quantity, tuple(points), lower, upper)

    @classmethod
    def level(cls, like: Curve, lower: float, upper: float | None = None) -> "Predicted":
        """Return the constant band from `lower` to `upper` along a simulated curve; `upper` is `lower` by default."""
        upper = lower if upper is None else upper
        return cls(like.over, like.quantity, (like.points[0], like.points[-1]), (lower, lower), (upper, upper))

    def to_json(self) -> dict[str, object]:
        """Return the object of the prediction in JSON: the axes, the points and the two curves."""
        ends = {"at": list(self.points), "lower": list(self.lower), "upper": list(self.upper)}
        return {"over": self.over, "quantity": self.quantity, **ends}
