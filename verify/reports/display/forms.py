"""The forms in which objects are shown: `verify.shown` calls these functions by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from verify.errors import InputError
from verify.installed import lack
from verify.reports.display.layout import WIDTH
from verify.reports.display.short import LINES, fitted, of_kind
from verify.shown import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ADVICE = {
    "CheckResult": "compare result.outcome, as in result.outcome is verify.Outcome.VERIFIED",
    "ConditionsResult": "compare result.in_scope with True, False or None",
    "ProveResult": "compare result.for_all_parameters.standing, as in ….standing is verify.ForAll.PROVED",
    "ExploreResult": "ask whether result.counterexample is None",
    "NecessityResult": "look at the status of each of result.hypotheses",
    "ExtendedRanges": "look at each of result.extended_ranges",
    "SweepResult": "look at result.counts, the number of instances of each outcome",
}
_TEXTS = {
    "CheckResult": "check_text",
    "ConditionsResult": "conditions_text",
    "ProveResult": "prove_text",
    "ExploreResult": "explore_text",
    "NecessityResult": "necessity_text",
    "ExtendedRanges": "extended_ranges_text",
    "SweepResult": "sweep_text",
    "ExperimentResult": "experiment_text",
    "ExperimentSummary": "experiment_summary_text",
    "TheoremSummary": "theorem_summary_text",
}
"""For each class of results, the function of `reports.text` that returns the command line's text."""


def short(value: object) -> str:
    """Return a value's `repr`, in angle brackets, without line breaks."""
    return fitted(f"<{type(value).__name__} ", of_kind(LINES, value)(value))


def text(value: object, width: int = WIDTH) -> str:
    """Return a result as the command line prints it, in `width` columns; any other object as its `text()` or page."""
    if (name := of_kind(_TEXTS, value)) is not None:
        from verify.reports import text as texts

        return getattr(texts, name)(value, width)
    if of_kind({"Derivation": True}, value):
        return _derivation(value)
    if callable(said := getattr(value, "text", None)):
        return visible(said(), lines=True)
    return _rendered("plain", value)


def _derivation(derivation: Any) -> str:
    from verify.reports.text import notation_lines

    steps, failed = derivation.holding_steps
    lines = [*notation_lines(derivation), *(line for step in steps for line in step.lines())]
    return "\n".join(map(visible, [*lines, *([f"does not hold: {failed}"] if failed else [])]))


def html(value: object) -> str:
    """Return a value as HTML, with all text escaped."""
    return _rendered("html", value)


def markdown(value: object) -> str:
    """Return a value as Markdown, with all text escaped."""
    return _rendered("markdown", value)


def latex(value: object) -> str:
    """Return a value as displayed formulas in LaTeX for a notebook."""
    return _rendered("latex", value)


def document(value: object) -> str:
    """Return a value as a complete LaTeX document."""
    from verify.reports.display.latex import document as written
    from verify.reports.display.pages import page_of

    return written(page_of(value))


def _rendered(form: str, value: object) -> str:
    # These imports load SymPy's printers.
    from verify.reports.display import rendering
    from verify.reports.display.pages import page_of

    write: Callable[..., str] = getattr(rendering, form)
    return write(page_of(value))


def advice(value: object) -> str:
    """Return the message that says what to use instead of a result's truth value."""
    return f"a {type(value).__name__} is neither true nor false: {of_kind(_ADVICE, value)}"


def frame(value: object) -> Any:
    """Return the rows of a result as a data frame of pandas or Polars, or as a list of dicts without these packages."""
    from verify.reports.display.frames import framed, rows_of

    return framed(rows_of(value))


def axes(value: Any) -> "tuple[Axes, ...]":
    """Draw a figure with pyplot, and return the axes of its panels; only an experiment has several."""
    module, why = _drawn_by(value)
    if why:
        raise InputError("plot", type(value).__name__, f"cannot be drawn: {why}")
    from matplotlib import pyplot

    figure = pyplot.figure(layout="constrained")
    module.draw(value, figure)
    return tuple(axes for axes in figure.axes if axes.get_label() != "<colorbar>")


def _drawn_by(value: Any) -> tuple[Any, str]:
    """Return the module that draws a value, and why it cannot be drawn ("" if it can)."""
    kinds = {"SweepResult": "sweep", "ExperimentResult": "experiment", "Observation": "observation"}
    match of_kind(kinds, value):
        case "sweep":
            from verify.reports.plots import sweep_plots

            return sweep_plots, sweep_plots.why_no_plot(value)
        case "experiment":
            from verify.reports.plots import experiment_plots

            return experiment_plots, experiment_plots.why_no_plot(value)
        case _:
            from verify.reports.plots import observation_plots

            lacking = lack("matplotlib")
            return observation_plots, f"that {lacking}" if lacking else ""
