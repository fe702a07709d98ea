"""The papers' figures, redrawn beside the printed numbers, and the phase diagrams."""

from functools import partial

from verify.outcomes import assignments_text, count_text
from verify.reports.page.contents import Contents, Ran
from verify.reports.page.elements import Html, anchor, code, details, framed, joined, table, tag
from verify.reports.page.pictures import picture
from verify.reports.page.theorems import compared
from verify.reports.text import sweep_text, with_error
from verify.runs.experiments import Experiment, ExperimentResult
from verify.runs.measurements import Measurement
from verify.runs.sweeps.diagram import Diagram
from verify.runs.sweeps.sweep import SweepResult

_DIGITS = 4


def figures(contents: Contents) -> Html:
    """Return the papers' figures, each redrawn, with the paper's numbers and claims and whether they hold."""
    parts = [_figure(contents, ran, ran.of) for ran in contents.figures if isinstance(ran.of, Experiment)]
    shown = {ran.of.id for ran in contents.figures}
    others = [each for each in contents.comparisons if each.theorem is None and each.experiment not in shown]
    if others:
        parts.append(
            tag("article", tag("h3", "Claims about figures, decided without a figure"), compared(contents, others))
        )
    return tag("section", tag("h2", "The papers' figures, redrawn"), parts, id="figures")


def _figure(contents: Contents, ran: Ran, experiment: Experiment) -> Html:
    own = [each for each in contents.comparisons if each.experiment == experiment.id]
    return tag(
        "article",
        tag("h3", f"{experiment.id}: {experiment.title}"),
        _drawn(ran, experiment)
        if isinstance(ran.result, ExperimentResult)
        else _not_run(ran, f"verify simulate {experiment.id}"),
        compared(contents, own),
        id=anchor("figure", experiment.id),
        class_="figure",
    )


def _not_run(ran: Ran, command: str) -> Html:
    return tag(
        "p", f"Not drawn: {ran.why}. ", code(command), " runs it; a report made after that shows it.", class_="absent"
    )


def _drawn(ran: Ran, experiment: Experiment) -> Html:
    from verify.reports.plots import experiment_plots

    result = ran.result
    assert isinstance(result, ExperimentResult)
    name, said = anchor("plot", experiment.id), _said(result)
    size = "The paper's own setting" if ran.full else "A quick run, smaller than the paper's"
    effort = (
        f"{size}: {assignments_text(result.settings)}; {result.device}, seed {result.seed}, {result.seconds:.1f} s."
    )
    plot = Html("")
    if result.curves or result.heat_maps:
        plot = picture(partial(experiment_plots.draw, result), name, experiment.title, said)
        effort += " Theory is drawn as lines without markers." if result.theory else ""
    frame = framed(plot, f"plot of {experiment.id}")
    numbers = table(
        ("quantity", "at the start", "at the end", "theory at the end"), _rows(result), f"numbers of {experiment.id}"
    )
    return joined([tag("figure", frame, tag("figcaption", said, " ", effort)), details("The numbers", numbers)])


def _said(result: ExperimentResult) -> str:
    """Return the description of a figure in words."""
    parts = [
        f"{name.replace('_', ' ')} goes from {_number(c.measured[0])} to {_number(c.measured[-1])}"
        for name, c in result.curves.items()
    ]
    for name, heat_map in result.heat_maps.items():
        numbers = [number for row in heat_map.values for number in row]
        shape = f"{len(heat_map.values)} by {len(heat_map.values[0])}"
        parts.append(f"{name.replace('_', ' ')}: {shape} numbers from {min(numbers):.3g} to {max(numbers):.3g}")
    theory = [f"theory: {name.replace('_', ' ')} {_level(said)}" for name, said in result.theory.items()]
    return "; ".join([*parts, *theory]) + "."


def _level(said: object) -> str:
    low, high = said.lower[-1], said.upper[-1]  # pyright: ignore[reportAttributeAccessIssue]
    return f"{(low + high) / 2:.{_DIGITS}g} at the end"


def _number(measured: Measurement) -> str:
    if measured.standard_error:
        return with_error(measured.value, measured.standard_error)
    return f"{measured.value:.{_DIGITS}g}"


def _rows(result: ExperimentResult) -> list[list[str]]:
    rows = []
    for name, curve in result.curves.items():
        theory = [
            f"{key.replace('_', ' ')}: {_level(said)}"
            for key, said in result.theory.items()
            if (said.over, said.quantity) == (curve.over, curve.quantity) and name in _curves_of(key, result)
        ]
        rows.append(
            [name.replace("_", " "), _number(curve.measured[0]), _number(curve.measured[-1]), "; ".join(theory)]
        )
    ends = {f"{name}_{end}" for name in result.curves for end in ("start", "end")}
    rows += [
        [name.replace("_", " "), "", _number(m), ""] for name, m in result.measurements.items() if name not in ends
    ]
    return rows


def _curves_of(theory: str, result: ExperimentResult) -> list[str]:
    """Return the curves that a prediction is about: those whose names begin the prediction's name, else all curves."""
    named = [name for name in result.curves if theory == name or theory.startswith(f"{name}_")]
    return named or list(result.curves)


def diagrams(contents: Contents) -> Html:
    """Return the phase diagrams."""
    parts = [_diagram(ran, ran.of) for ran in contents.diagrams if isinstance(ran.of, Diagram)]
    return tag("section", tag("h2", "Phase diagrams"), parts or tag("p", "No diagram is declared."), id="diagrams")


def _diagram(ran: Ran, diagram: Diagram) -> Html:
    from verify.reports.plots import sweep_plots

    parts: list[Html] = [tag("h3", diagram.title), tag("p", diagram.text)]
    if isinstance(result := ran.result, SweepResult):
        name = anchor("plot", diagram.id)
        text = f"{diagram.text} {' '.join(sweep_text(result).split())}"
        plot = picture(partial(sweep_plots.draw, result), name, diagram.title, text)
        frame = framed(plot, f"diagram: {diagram.title}")
        counted = count_text(result.done, "instance")
        parts += [
            tag(
                "figure",
                frame,
                tag("figcaption", _counts(result), f"{counted}, as ", code("verify sweep"), " decides them."),
            )
        ]
        if not ran.full:
            parts += [
                tag("p", "A coarse grid of ", str(len(result.grid)), "; the whole one: ", code(diagram.command()))
            ]
    else:
        parts += [_not_run(ran, diagram.command())]
    return tag("article", parts, id=anchor("diagram", diagram.id), class_="figure")


def _counts(result: SweepResult) -> str:
    scopes = {True: "in scope", False: "out of scope", None: "undecided scope"}
    parts = [
        f"{count} {outcome.replace('_', ' ')} {scopes[scope]}"
        for (scope, outcome), count in result.claims.items()
        if count
    ]
    return (
        f"Filled: the hypotheses hold; open: they do not, and the claim is evaluated all the same. {', '.join(parts)}. "
    )
