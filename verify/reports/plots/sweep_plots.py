"""Plots of a sweep: a phase diagram over two parameters, or margins over one, with the edges of the hypotheses."""

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from verify.errors import UndecidedError, UndefinedError
from verify.evaluation.values import scan_values
from verify.installed import lack
from verify.language.expressions import enclosed_applications
from verify.outcomes import assignments_text
from verify.reports.plots.experiment_plots import THEORY_LINES, as_typed, png, sized
from verify.runs.sweeps.grids import Axis
from verify.runs.sweeps.sweep import SweepResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Wong's colours, as in `verify.reports.plots.experiment_plots`; the marks tell the outcomes apart without colour.
STYLES = {
    "verified": ("#0072B2", "o"),
    "refuted": ("#D55E00", "X"),
    "inconclusive": ("#E69F00", "s"),
    "no_instance": ("#999999", "."),
}
_FINE = 241
"""Number of points along an axis at which the sign of a slack is computed."""
_SIZE = 3600.0
"""The area of a phase diagram's mark is 9 _SIZE / n², within limits; n is the larger number of values on an axis."""
_SMALLEST = 2.0
"""Least area of a mark, in points squared."""
_EDGE = 0.04
"""Margin of an axis beyond its values, as a fraction of its width."""
_DRAWN = Fraction(10) ** 150
"""Largest absolute value on an axis; its inverse is the smallest nonzero absolute value, so that ratios are floats."""
_HALF = 52
"""Number of letters that fit into half of the width, in the legend's font size."""
_ROOM = 1.6
"""Spread of margins, in powers of ten, beyond which their axis is logarithmic on both sides of 0."""


def why_no_plot(result: SweepResult) -> str:
    """Return why a sweep has no plot; "" if it has one, over one or two parameters."""
    if lacking := lack("matplotlib"):
        return f"that {lacking}"
    if len(result.grid.axes) > 2:
        return "that is for one or two parameters"
    for axis in result.grid.axes:
        sizes = [abs(Fraction(value)) for value in axis.values if value] if axis.is_number else []  # type: ignore[arg-type]
        if sizes and not 1 / _DRAWN <= min(sizes) <= max(sizes) <= _DRAWN:
            return f"values of {axis.name} are outside of what one can show, 1e-150 to 1e150"
    return ""


def draw(result: SweepResult, figure: "Figure | None" = None) -> "Figure":
    """Return the figure of a sweep over one or two parameters, drawn into `figure` or else into a new figure.

    Over two parameters, marks show the outcome at each instance; over one, each clause's margin and verdict. Marks are
    filled in scope and open out of scope. Dashed lines are the edges of the hypotheses; solid lines are the edges in
    the theorem's `boundaries`.
    """
    figure = sized(figure, 7.2, 5.2)
    given = assignments_text(result.given)
    figure.suptitle(as_typed(f"{result.theorem.id}  {given}".rstrip()), fontsize="small")
    (_phases if len(result.grid.axes) == 2 else _margins)(result, figure)
    return figure


def _phases(result: SweepResult, figure: "Figure") -> None:
    across, up = result.grid.axes
    axes = figure.add_subplot(xlabel=_named(across), ylabel=_named(up))
    places = {axis.name: _places(axis) for axis in (across, up)}
    points_of: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    for point, row in result.rows():
        place = (places[across.name][point[across.name]], places[up.name][point[up.name]])
        points_of.setdefault((row["claim"] or "no_instance", bool(row["in_scope"])), []).append(place)
    size = min(60.0, max(_SMALLEST, _SIZE / max(1, *(len(axis.values) for axis in (across, up))) ** 2 * 9))
    _mark(axes, points_of, s=size, linewidths=1.0, rasterized=True)
    for i, (label, slack, own) in enumerate(_slacks(result)):
        mesh = [_fine(axis) for axis in (across, up)]
        level = np.array([[slack({across.name: x, up.name: y}) for x in mesh[0]] for y in mesh[1]])
        if np.nanmin(level) < 0 < np.nanmax(level):
            line = THEORY_LINES[i % len(THEORY_LINES)] if own else "-"
            axes.contour(*mesh, level, levels=[0.0], colors="#000000", linestyles=[line], linewidths=1.6)
            axes.plot([], [], color="#000000", linestyle=line, linewidth=1.6, label=as_typed(label))
    _scale(axes, "x", across)
    _scale(axes, "y", up)
    _legend(figure, axes)


def _margins(result: SweepResult, figure: "Figure") -> None:
    (axis,) = result.grid.axes
    margins, places = {}, _places(axis)
    for point, row in result.rows():
        for clause in row["clauses"]:
            margin = clause.get("margin_float")
            state = {True: "verified", False: "refuted", None: "inconclusive"}[clause["holds"]]
            filled = bool(row["in_scope"])
            # A line breaks where no margin is known.
            known = margin if margin is not None and math.isfinite(margin) else math.nan
            margins.setdefault(clause["label"], []).append((places[point[axis.name]], known, state, filled))
    margins = {label: points for label, points in margins.items() if not all(math.isnan(p[1]) for p in points)}
    axes = figure.add_subplot(xlabel=_named(axis), ylabel="margin (positive where a clause holds with room)")
    for i, (label, points) in enumerate(margins.items()):
        style = {"color": "#555555", "linestyle": ("-", "--", "-.", ":")[i % 4], "linewidth": 1.0}
        axes.plot([p[0] for p in points], [p[1] for p in points], label=as_typed(label), zorder=1, **style)
    points_of: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    for points in margins.values():
        for x, margin, *kind in points:
            if not math.isnan(margin):
                points_of.setdefault(tuple(kind), []).append((x, margin))
    _mark(axes, points_of, s=22)
    _scale(axes, "x", axis)
    sizes = [abs(margin) for points in points_of.values() for _, margin in points if margin]
    if sizes and math.log10(max(sizes)) - math.log10(min(sizes)) > _ROOM:
        axes.set_yscale("symlog", linthresh=min(sizes))
    axes.axhline(0.0, color="#000000", linewidth=0.8)
    for i, (named, slack, own) in enumerate(_slacks(result)):
        label, fine = named, _fine(axis)
        signs = np.sign([slack({axis.name: x}) for x in fine])
        for k in np.flatnonzero(signs[:-1] * signs[1:] < 0):
            line = THEORY_LINES[i % len(THEORY_LINES)] if own else "-"
            axes.axvline(
                (fine[k] + fine[k + 1]) / 2, label=as_typed(label), color="#000000", linestyle=line, linewidth=1.4
            )
            label = f"_{label}"
    axes.grid(visible=True, alpha=0.3)
    _legend(figure, axes)


def _mark(axes: "Axes", points_of: Mapping[tuple[str, bool], list[tuple[float, float]]], **style: Any) -> None:
    """Mark points by the outcome there, filled if they are in scope."""
    for outcome, (colour, mark) in STYLES.items():
        for in_scope in (True, False):
            if points := points_of.get((outcome, in_scope)):
                label = outcome.replace("_", " ") + ("" if in_scope or outcome == "no_instance" else ", out of scope")
                colours = {"facecolors": colour if in_scope else "none", "edgecolors": colour}
                colours = {"color": colour} if mark == "." else colours
                axes.scatter(*zip(*points, strict=True), marker=mark, label=label, **colours, **style)


def _slacks(result: SweepResult) -> Iterator[tuple[str, Callable[[Mapping[str, float]], float], bool]]:
    """Yield each hypothesis's or boundary's label, slack as a function of floats, and whether it is a hypothesis."""
    if not all(axis.is_number for axis in result.grid.axes):
        return
    statement = result.theorem.statement.specialised(result.given)
    known = {axis.name for axis in result.grid.axes} | set(result.given)
    own = [(f"{h.label}: {h.statement}", h, True) for h in statement.hypotheses if h.relation is not None]
    others = [(f"{h.label}: {h.statement} ({name})", h, False) for name, h in result.theorem.boundaries.items()]
    for label, hypothesis, mine in (*own, *others):
        slack = statement.expand(hypothesis.slack)
        if {symbol.name for symbol in slack.free_symbols} <= known and not enclosed_applications(slack):  # pyright: ignore[reportAttributeAccessIssue]

            def value(point: Mapping[str, float], slack: Any = slack) -> float:
                try:
                    (number,) = scan_values((slack,), {**result.given, **point})
                except (UndefinedError, UndecidedError, ArithmeticError, ValueError):
                    return math.nan
                return math.nan if isinstance(number, complex) else number

            yield label, value, mine


def _legend(figure: "Figure", axes: "Axes") -> None:
    """Put the legend below: in two columns if the labels are short, else in one column with long labels wrapped."""
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        columns = 2 if max(map(len, labels)) <= _HALF else 1
        broken = [textwrap.fill(label, 2 * _HALF) for label in labels]
        figure.legend(handles, broken, loc="outside lower center", ncols=columns, fontsize="x-small")


def _places(axis: Axis) -> dict[Any, float]:
    """Return the coordinate of each value of an axis: the number itself, or a word's index."""
    return {value: float(value) if axis.is_number else float(i) for i, value in enumerate(axis.values)}  # type: ignore[arg-type]


def _fine(axis: Axis) -> np.ndarray:
    """Return `_FINE` points over the whole width of an axis, which extends a little beyond its values."""
    ends = [float(min(axis.values)), float(max(axis.values))]  # type: ignore[arg-type,type-var]
    if axis.spacing == "log":
        room = (ends[1] / ends[0]) ** _EDGE
        return np.geomspace(ends[0] / room, ends[1] * room, _FINE)
    room = (ends[1] - ends[0]) * _EDGE
    return np.linspace(ends[0] - room, ends[1] + room, _FINE)


def _named(axis: Axis) -> str:
    return as_typed(f"{axis.name}: {axis.parameter.meaning}")


def _scale(axes: "Axes", which: str, axis: Axis) -> None:
    """Scale the horizontal axis, `x`, or the vertical one, `y`."""
    if axis.spacing == "log":
        axes.set(**{f"{which}scale": "log"})
    if not axis.is_number:
        axes.set(
            **{
                f"{which}ticks": range(len(axis.values)),
                f"{which}ticklabels": [as_typed(str(value)) for value in axis.values],
            }
        )
    elif len(axis.values) > 1:
        axes.set(**{f"{which}lim": _fine(axis)[[0, -1]]})


def plotted(result: SweepResult) -> bytes:
    """Return the figure of a sweep over one or two parameters as the content of a PNG file."""
    return png(draw(result))
