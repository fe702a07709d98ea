"""The plot of an observation: the observable of a recursion over the number of steps, one line for each instance."""

from typing import TYPE_CHECKING

import numpy as np

from verify.outcomes import assignments_text
from verify.reports.plots.experiment_plots import as_typed
from verify.runs.sweeps.observation import Observation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMED = 12
"""Maximum number of lines that the legend names."""
_LETTERS = 40
"""Maximum number of letters of an expression as the vertical axis's label; a longer expression is unreadable there."""
_ROOM = 30.0
"""Ratio of the largest to the smallest number beyond which an axis is logarithmic."""


def draw(result: Observation, figure: "Figure") -> "Figure":
    """Draw an observation into a figure, without infinite values and NaN, and return the figure."""
    label = result.observable if len(result.observable) <= _LETTERS else "observable"
    axes = figure.add_subplot(xlabel="steps", ylabel=label)
    same = set.intersection(*({*at.items()} for at in result.instances))
    named = 1 < len(result.instances) <= _NAMED
    for at, values in zip(result.instances, result.values, strict=True):
        own = assignments_text({name: value for name, value in at.items() if (name, value) not in same})
        axes.plot(
            result.steps,
            np.where(np.isfinite(values), values, np.nan),
            marker=".",
            label=as_typed(own) if named else None,
        )
    finite = result.values[np.isfinite(result.values)]
    if finite.size and finite.min() > 0 and finite.max() > _ROOM * finite.min():
        axes.set_yscale("log")
    if min(result.steps) > 0 and max(result.steps) > _ROOM * min(result.steps):
        axes.set_xscale("log")
    fixed = {name: value for name, value in result.instances[0].items() if (name, value) in same}
    title = f"{result.theorem}: {result.clause}  {assignments_text(fixed)}"
    figure.suptitle(as_typed(title.rstrip()), fontsize="small")
    axes.grid(visible=True, alpha=0.3)
    if named:
        figure.legend(loc="outside lower center", ncols=2, fontsize="x-small")
    return figure
