"""Phase diagrams that a package declares: sweeps of a theorem over two parameters, to be drawn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from verify.checking.registry import load
from verify.checking.theorem import load_theorem
from verify.errors import TheoremError
from verify.language.labels import TITLE, refuse_bad_id, refuse_bad_text
from verify.runs.store import Store
from verify.runs.sweeps.grids import grid
from verify.runs.sweeps.limits import SWEEP
from verify.runs.sweeps.sweep import SweepResult, sweep

_AXES = 2


@dataclass(frozen=True)
class Diagram:
    """A theorem's outcomes over two of its parameters.

    Parameters
    ----------
    id
        `paper.name`.
    title
        The title, in one line.
    text
        The content of the picture, in plain sentences.
    theorem
        The theorem's id.
    quick, full
        The values of each of two parameters by its name, as in `verify.sweep`: few values, and enough for a picture.
    given
        The values of the other parameters.
    seconds
        Time budget per instance, in seconds.

    Raises
    ------
    TheoremError
        For a bad id or title, or unless `quick` and `full` have the same two parameters in the same order.

    Examples
    --------
    >>> from verify import Diagram
    >>> over = {"T": "20", "d_e": "40,80"}
    >>> Diagram("doe2025.plane", "A loss", "It falls.", "wang2024.theorem2", over, over, {"q": 3}).size()
    2
    """

    id: str
    title: str
    text: str
    theorem: str
    quick: Mapping[str, str]
    full: Mapping[str, str]
    given: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = SWEEP.seconds

    def __post_init__(self) -> None:
        refuse_bad_id("diagram", self.id)
        refuse_bad_text(f"diagram {self.id}: title", self.title, TITLE)
        for over in (self.quick, self.full):
            if len(over) != _AXES or list(over) != list(self.quick):
                raise TheoremError(f"diagram {self.id}: needs the same two parameters to go over, quick and in full")

    def command(self, *, full: bool = True) -> str:
        """Return the command that computes the rows, and writes them and the picture to a folder."""
        over = " ".join(f"--over {name}={values}" for name, values in (self.full if full else self.quick).items())
        given = " ".join(f"{name}={value}" for name, value in self.given.items())
        return f"verify sweep {self.theorem} {over} {given} --seconds {self.seconds:g} --out ."

    def size(self, *, full: bool = True) -> int:
        """Return the number of instances. Raises InputError for values that do not fit the theorem's parameters."""
        parameters = load_theorem(self.theorem).statement.parameters
        return len(grid(parameters, self.full if full else self.quick, self.given))

    def run(
        self, store: Store | None, *, full: bool = False, tell: Callable[[int, int], None] | None = None
    ) -> SweepResult:
        """Return the sweep, with its rows in the store. Raises InputError as `verify.sweep` does."""
        over = self.full if full else self.quick
        return sweep(load_theorem(self.theorem), over, self.given, store=store, seconds=self.seconds, tell=tell)


def load_diagram(reference: str) -> Diagram:
    """Return the phase diagram of an id. Raises InputError for an unknown id."""
    return load("diagram", Diagram, reference)
