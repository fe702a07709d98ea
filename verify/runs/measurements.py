"""Measurements of a simulation: numbers with standard errors, curves and matrices; and theory for a curve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verify.errors import TheoremError


@dataclass(frozen=True)
class Measurement:
    """A measured number: the mean of independent values, with its standard error.

    (mean − truth) / standard_error is Student t with samples − 1 degrees of freedom, up to the non-normality of the
    values.

    Parameters
    ----------
    value
        The mean.
    standard_error
        0 says that the value is deterministic up to rounding, None that its error is not known, as of one run.
    samples
        Number of values of which it is the mean.

    Raises
    ------
    TheoremError
        For no samples, a negative standard error, and a positive one of a single sample.

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
        """Return the 95 % confidence interval of the mean, by Student's t; a point where the error is 0 or unknown."""
        if not self.standard_error:
            return self.value, self.value
        # SciPy is heavy, and many results have no random measurement.
        from scipy.stats import t

        half = float(t.ppf(0.975, self.samples - 1)) * self.standard_error
        return self.value - half, self.value + half


@dataclass(frozen=True)
class Curve:
    """A quantity measured along something that varies, such as the steps of a training.

    Curves that agree in both axes share a plot.

    Parameters
    ----------
    over, quantity
        Names of the two axes, with their units.
    points, measured
        The points of the curve, at least one, and a measurement at each.
    logarithmic
        Whether the plot's vertical axis is logarithmic, as it is where one of its curves asks for it.

    Raises
    ------
    TheoremError
        For no points, and for numbers of points and measurements that differ.

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
        """Return every number that is plotted: the points, the means and the ends of their confidence bands."""
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
        """Return the curve that `to_json` has written down; KeyError, TypeError or ValueError for another body."""
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
        The rows, of one length.

    Raises
    ------
    TheoremError
        For no rows, and for rows of several lengths.

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
        """Return the heat map that `to_json` has written down."""
        return HeatMap(body["rows"], body["columns"], body["quantity"], tuple(tuple(row) for row in body["values"]))


@dataclass(frozen=True)
class Predicted:
    """Theory for a quantity along something: it lies between two curves, which may be one.

    It is drawn over the simulated curves whose axes it shares.

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
        For no points, and for curves of another length.

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
        """Return a line over the axes of a simulated curve, with the errors of its values (0) on both sides."""
        errors = errors or [0.0] * len(points)
        lower, upper = (tuple(v + sign * e for v, e in zip(values, errors, strict=True)) for sign in (-1, 1))
        return cls(like.over, like.quantity, tuple(points), lower, upper)

    @classmethod
    def level(cls, like: Curve, lower: float, upper: float | None = None) -> "Predicted":
        """Return the band between two numbers (or at one), all along a simulated curve."""
        upper = lower if upper is None else upper
        return cls(like.over, like.quantity, (like.points[0], like.points[-1]), (lower, lower), (upper, upper))

    def to_json(self) -> dict[str, object]:
        """Return every number that is drawn."""
        ends = {"at": list(self.points), "lower": list(self.lower), "upper": list(self.upper)}
        return {"over": self.over, "quantity": self.quantity, **ends}
