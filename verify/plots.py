"""Plots of what an experiment measured: a panel for each quantity, a line with its confidence band for each curve."""

import io
import math
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from verify.experiments import Curve, ExperimentResult

# Wong, Points of view: Color blindness, Nature Methods 8 (2011): told apart with every kind of colour vision.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_COLUMNS = 3
_LETTERS = 60
"""Of the settings, on a line above each column."""
_WIDTH, _HEIGHT = 4.6, 3.6


def panels(result: "ExperimentResult") -> "dict[tuple[str, str], dict[str, Curve]]":
    """Return the curves by what is on their axes."""
    found: dict[tuple[str, str], dict[str, Curve]] = {}
    for name, curve in result.curves.items():
        found.setdefault((curve.over, curve.quantity), {})[name] = curve
    return found


def draw(result: "ExperimentResult") -> "Figure":
    """Return the figure of an experiment's curves: means, and 95 % confidence bands where there are errors."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from verify.text import assignments_text

    groups = panels(result)
    columns = min(_COLUMNS, math.ceil(math.sqrt(len(groups))))
    rows = math.ceil(len(groups) / columns)
    figure = Figure(figsize=(_WIDTH * columns, _HEIGHT * rows + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    for place, ((over, quantity), curves) in enumerate(groups.items(), start=1):
        axes = figure.add_subplot(rows, columns, place, xlabel=over, ylabel=quantity)
        for i, (name, curve) in enumerate(curves.items()):
            body, colour = curve.to_json(), _COLOURS[i % len(_COLOURS)]
            axes.plot(
                body["at"],
                body["value"],
                color=colour,
                marker=_MARKS[i % len(_MARKS)],
                markersize=4,
                label=name.replace("_", " "),
            )
            axes.fill_between(body["at"], body["lower"], body["upper"], color=colour, alpha=0.25, linewidth=0)
        axes.grid(visible=True, alpha=0.3)
        if len(curves) > 1:
            axes.legend()
    title = f"{result.experiment}: means and 95 % confidence bands"
    settings = f"{assignments_text(result.settings)} seed={result.seed}"
    figure.suptitle("\n".join([title, *textwrap.wrap(settings, _LETTERS * columns)]), fontsize="small")
    return figure


def plotted(result: "ExperimentResult") -> bytes:
    """Return the figure as a PNG."""
    target = io.BytesIO()
    draw(result).savefig(target, format="png", dpi=120)
    return target.getvalue()
