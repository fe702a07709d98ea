"""Plots of an experiment's measurements: lines with confidence bands, theory drawn over them, heat maps of matrices."""

import io
import math
import textwrap
from typing import TYPE_CHECKING

from verify.installed import lack
from verify.outcomes import assignments_text
from verify.runs.experiments import ExperimentResult
from verify.runs.measurements import Curve, HeatMap, Predicted
from verify.shown import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Colours that people tell apart with every kind of colour vision: Wong, Color blindness, Nature Methods 8 (2011).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", "-.", ":")
_THEORY = "#000000"
THEORY_LINES = ((0, (6, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)), (0, (3, 1)))
# This colour map goes from brown through white to blue-green: it has no red beside green, and is dark at both ends.
_DIVERGING = "BrBG"
_COLUMNS = 3
"""Maximum number of panels beside each other: three are 13.8 inches wide."""
_LETTERS = 60
"""Maximum number of letters in a line of the settings above the panels, per column of panels."""
_LETTERS_OF_AXIS = 38
"""Maximum number of letters in a line of a vertical axis's label; a longer label is wrapped."""
_WIDTH = 4.6
"""Width of a panel, in inches."""
_HEIGHT = 3.6
"""Height of a panel, in inches."""
_FEW = 6
"""Maximum number of points that each get a tick, if all are whole numbers."""
_DECADES = 1000
"""Minimum ratio of a logarithmic axis's ends at which only powers of ten have a tick."""
_MARKED = 12
"""Approximate number of points of a long curve that are marked."""

Axis = tuple[str, str]


def panels(result: ExperimentResult) -> dict[Axis, tuple[dict[str, Curve], dict[str, Predicted]]]:
    """Return the curves, and theory's predictions of them, by the quantities on their axes."""
    groups: dict[Axis, tuple[dict[str, Curve], dict[str, Predicted]]] = {}
    for name, curve in result.curves.items():
        groups.setdefault((curve.over, curve.quantity), ({}, {}))[0][name] = curve
    for name, said in result.theory.items():
        if (said.over, said.quantity) in groups:
            groups[said.over, said.quantity][1][name] = said
    return groups


def draw(result: ExperimentResult, figure: "Figure | None" = None) -> "Figure":
    """Return the figure of an experiment: means with 95 % confidence bands, theory in black, and heat maps.

    The plots are drawn into `figure` if it is given, else into a new figure.
    """
    groups = panels(result)
    count = len(groups) + len(result.heat_maps)
    columns = min(_COLUMNS, math.ceil(math.sqrt(count)))
    rows = math.ceil(count / columns)
    settings = f"{assignments_text(result.settings)} seed={result.seed}"
    heading = [_title(result), *textwrap.wrap(settings, _LETTERS * columns)]
    figure = sized(figure, _WIDTH * columns, _HEIGHT * rows + 0.2 * len(heading) + 0.2)
    for place, ((over, quantity), (curves, theory)) in enumerate(groups.items(), start=1):
        label = textwrap.fill(quantity, _LETTERS_OF_AXIS) if "\n" not in quantity else quantity
        _lines(figure.add_subplot(rows, columns, place, xlabel=over, ylabel=label), curves, theory)
    for place, (name, heat_map) in enumerate(result.heat_maps.items(), start=len(groups) + 1):
        _heat(figure.add_subplot(rows, columns, place), name, heat_map)
    figure.suptitle("\n".join(heading), fontsize="small")
    return figure


def as_typed(text: str) -> str:
    """Return text that a figure shows unchanged: Matplotlib would read text between dollar signs as mathematics."""
    return visible(text).replace("$", "\\$")


def _title(result: ExperimentResult) -> str:
    said = ["means and 95 % confidence bands"] if result.curves else []
    said += ["theory in black"] if any(theory for _, theory in panels(result).values()) else []
    said += ["heat maps"] if result.heat_maps else []
    return f"{result.experiment}: {', '.join(said)}"


def _lines(axes: "Axes", curves: dict[str, Curve], theory: dict[str, Predicted]) -> None:
    logarithmic = any(curve.logarithmic for curve in curves.values())
    if logarithmic:
        # Numbers <= 0 are left out of a band, not clipped to the edge of the axis.
        axes.set_yscale("log", nonpositive="mask")
    for i, (name, curve) in enumerate(curves.items()):
        body, colour = curve.to_json(), _COLOURS[i % len(_COLOURS)]
        marks = {"marker": _MARKS[i % len(_MARKS)], "markersize": 4, "markevery": max(1, len(body["at"]) // _MARKED)}
        style = {"color": colour, "linestyle": _LINES[i % len(_LINES)], "label": name.replace("_", " ")}
        axes.plot(body["at"], body["value"], **marks, **style)
        axes.fill_between(body["at"], body["lower"], body["upper"], color=colour, alpha=0.25, linewidth=0)
    for i, (name, said) in enumerate(theory.items()):
        middle = [(low + high) / 2 for low, high in zip(said.lower, said.upper, strict=True)]
        line = {"linestyle": THEORY_LINES[i % len(THEORY_LINES)], "linewidth": 1.4, "zorder": 5}
        axes.plot(said.points, middle, color=_THEORY, label=name.replace("_", " "), **line)
        axes.fill_between(said.points, said.lower, said.upper, color=_THEORY, alpha=0.15, linewidth=0)
    if logarithmic:
        _decimals(axes)
    points = {point for curve in curves.values() for point in curve.points}
    if len(points) <= _FEW and all(point == int(point) for point in points):
        # A few whole numbers, such as sizes, are the only ticks: there are no values between them.
        axes.set_xticks(sorted(points))
    axes.grid(visible=True, alpha=0.3)
    if len(curves) + len(theory) > 1:
        # Above the panel: within it the legend would cover curves.
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize="x-small", frameon=False)


def _decimals(axes: "Axes") -> None:
    """Make a logarithmic axis's ticks plain decimals, even if the axis spans less than a decade, or many decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_ylim()
    between = (1, 1.5, 2, 3, 5, 7) if high < _DECADES * low else (1,)
    axes.yaxis.set_major_locator(LogLocator(subs=between))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _heat(axes: "Axes", name: str, heat_map: HeatMap) -> None:
    from matplotlib.ticker import MaxNLocator

    most = max(abs(number) for row in heat_map.values for number in row) or 1.0
    shape = len(heat_map.values), len(heat_map.values[0])
    # With an equal aspect, a matrix far from square would be a thin strip.
    aspect = "equal" if max(shape) <= 2 * min(shape) else "auto"
    image = axes.imshow(heat_map.values, cmap=_DIVERGING, vmin=-most, vmax=most, aspect=aspect, interpolation="nearest")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    axes.set_title(name.replace("_", " "), fontsize="medium")
    axes.set_xlabel(heat_map.columns)
    axes.set_ylabel(heat_map.rows)
    assert axes.figure is not None
    axes.figure.colorbar(image, ax=axes, label=heat_map.quantity)


def why_no_plot(result: ExperimentResult) -> str:
    """Return why an experiment's result has no plot; "" if it has one."""
    if not (result.curves or result.heat_maps):
        return "it has no curves and no heat maps"
    lacking = lack("matplotlib")
    return f"that {lacking}" if lacking else ""


def plotted(result: ExperimentResult) -> bytes:
    """Return the figure of an experiment, which has a curve or a heat map, as the content of a PNG file."""
    return png(draw(result))


def sized(figure: "Figure | None", width: float, height: float) -> "Figure":
    """Return a figure with a size in inches: the given one, or a new one."""
    if figure is not None:
        figure.set_size_inches(width, height)
        return figure
    # Matplotlib is slow to import: it is imported only if something is drawn.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def png(figure: "Figure") -> bytes:
    """Return a figure as the content of a PNG file."""
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=120)
    return target.getvalue()
