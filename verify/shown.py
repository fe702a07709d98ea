"""Results that show themselves: short at the prompt, as on the command line in print, as tables in a notebook.

How each is shown is written in one place, `verify.reports.display`, and loaded when something is shown. The public
page says so, by `shown_by`: nothing here looks up to it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def visible(text: str, *, lines: bool = False) -> str:
    r"""Return text with invisible characters written as Python writes them: an escape character as `\x1b`.

    All text that leaves the program passes through here, once and last: text from a file, or typed text, neither begins
    a line of its own nor does anything to a terminal. With `lines` its line breaks stay.
    """
    if lines:
        return "\n".join(map(visible, text.split("\n")))
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


_forms: list[Callable[[], Any]] = []


def shown_by(forms: Callable[[], Any]) -> None:
    """Take the function that returns the module of the forms in which objects are shown."""
    _forms[:] = [forms]


def _display(form: str, value: Any) -> Any:
    return getattr(_forms[0](), form)(value)


class Shown:
    """The base of results: a short `repr`, text as on the command line, a table for notebooks, all of it escaped there.

    A dataclass of this kind is declared with `repr=False`.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return _display("short", self)

    def __str__(self) -> str:
        return _display("text", self)

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
        """Raise TypeError: that a claim is inconclusive, or an instance out of scope, is neither true nor false."""
        raise TypeError(_display("advice", self))


class Tabled:
    """The base of results that have rows."""

    __slots__ = ()

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame, where pandas is installed, else a Polars one, else a list of dicts.

        Numbers are the nearest floats, None where one is not known: exact ones are in `to_json()`.
        """
        return _display("frame", self)


class Plotted:
    """The base of results that are drawn on one pair of axes."""

    __slots__ = ()

    def plot(self) -> "Axes":
        """Draw a figure with Matplotlib's pyplot, and return its axes. Raises InputError if it has no plot."""
        (axes,) = _display("axes", self)
        return axes


class Panelled:
    """The base of results that are drawn in one or more panels."""

    __slots__ = ()

    def plot(self) -> "tuple[Axes, ...]":
        """Draw a figure with pyplot, and return the axes of each panel. Raises InputError if it has no plot."""
        return _display("axes", self)


class Witness(dict[str, Any]):
    """The witness of a refutation: the values of the parameters, and beside these other findings there, such as a step.

    Given to a verb as an instance it is the values of the parameters alone.
    """

    def __init__(
        self, shown: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), parameters: frozenset[str] = frozenset()
    ) -> None:
        """Take a copy; `parameters` are the names of those that are values of parameters."""
        super().__init__(shown)
        self.parameters = parameters

    @property
    def instance(self) -> dict[str, Any]:
        """The values of the parameters."""
        return {name: value for name, value in self.items() if name in self.parameters}
