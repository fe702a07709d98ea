"""Base classes of results: a short `repr` at the prompt, the command line's text in `print`, a table in a notebook.

`verify.reports.display` has all formats, and is loaded when something is shown. `verify/__init__.py` registers it by
`shown_by`, so that this module does not import it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def visible(text: str, *, lines: bool = False) -> str:
    r"""Return text with each unprintable character as Python's escape sequence, such as `\x1b`.

    All displayed text passes through this function last. So text from a file or from the user can neither begin a new
    line nor control a terminal. With `lines`, line breaks are kept.
    """
    if lines:
        return "\n".join(map(visible, text.split("\n")))
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


_forms: list[Callable[[], Any]] = []


def shown_by(forms: Callable[[], Any]) -> None:
    """Register the function that returns the module with the display functions."""
    _forms[:] = [forms]


def _display(form: str, value: Any) -> Any:
    return getattr(_forms[0](), form)(value)


class Shown:
    """The base of results: a short `repr`, text as on the command line, and an escaped table for notebooks.

    A dataclass derived from it must be declared with `repr=False`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return _display("short", self)

    def __str__(self) -> str:
        return _display("text", self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Have pretty printers, such as Hypothesis's report of a failing case, show the short `repr`."""
        printer.text(repr(self))

    def _repr_html_(self) -> str:
        return _display("html", self)

    def _repr_markdown_(self) -> str:
        return _display("markdown", self)


class Formula(Shown):
    """The base of results that are shown as a formula, too."""

    __slots__ = ()

    def _repr_latex_(self) -> str:
        return _display("latex", self)


class Result(Shown):
    """The base of a verb's results: they have more than two outcomes, and so no truth value."""

    __slots__ = ()

    def __bool__(self) -> bool:
        """Raise TypeError: an inconclusive claim, or an instance out of scope, is neither true nor false."""
        raise TypeError(_display("advice", self))


class Tabled:
    """The base of results that have rows."""

    __slots__ = ()

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame; without pandas as a Polars DataFrame, without both as a list of dicts.

        Numbers are the nearest floats, or None if unknown; `to_json()` has the exact numbers.
        """
        return _display("frame", self)


class Plotted:
    """The base of results that are drawn on one pair of axes."""

    __slots__ = ()

    def plot(self) -> "Axes":
        """Draw a figure with Matplotlib's pyplot, and return its axes. Raises InputError if the result has no plot."""
        (axes,) = _display("axes", self)
        return axes


class Panelled:
    """The base of results that are drawn in one or more panels."""

    __slots__ = ()

    def plot(self) -> "tuple[Axes, ...]":
        """Draw a figure with pyplot, and return the axes of each panel. Raises InputError if the result has no plot."""
        return _display("axes", self)


class Witness(dict[str, Any]):
    """The witness of a refutation: the parameters' values, and other values found at this instance, such as a step.

    A verb that is given a witness as its instance uses the parameters' values alone.
    """

    def __init__(
        self, shown: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), parameters: frozenset[str] = frozenset()
    ) -> None:
        """Copy `shown`; `parameters` are the names of the entries that are parameters."""
        super().__init__(shown)
        self.parameters = parameters

    @property
    def instance(self) -> dict[str, Any]:
        """The values of the parameters."""
        return {name: value for name, value in self.items() if name in self.parameters}
