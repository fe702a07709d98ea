# SymPy has few type annotations.
# pyright: reportAttributeAccessIssue=false
"""The record of a search for a deduction: the ways that were tried, the programs, and the goals left open."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from itertools import islice
from typing import Any, Literal, TypeAlias

from verify.printing import text_of
from verify.provers.deduction.facts import Goal, Tree

End: TypeAlias = Literal["proved", "tried", "work", "seconds", "refused"]
_OPEN_PARTS = 3
"""The largest number of open parts that are reported; the parts of the first ways come first."""
_LONG = 160
"""The largest number of characters of a goal in a report."""
_MOST_TREES = 1000
"""The number of latest records that keep the result of each goal."""
_SIGNS = {"Ge": ">= 0", "Gt": "> 0", "Eq": "= 0"}


@dataclass
class Part:
    """A goal with the ways that were tried, or a way with the goals that it led to.

    Parameters
    ----------
    way
        The name of a way, "" for a goal.
    goal
        The goal to be shown.
    given
        The facts that are known at this place of the search but not at the place before.
    shown
        Whether a proof was found.
    parts
        The ways tried for the goal, or the goals of the way, in order.
    """

    way: str
    goal: Goal
    given: tuple[Goal, ...] = ()
    shown: bool = False
    parts: list["Part"] = field(default_factory=list["Part"])

    def text(self) -> str:
        """Return the goal, and the facts that are new at its place, as text."""
        given = ", ".join(map(_goal_text, self.given))
        return _short(f"{_goal_text(self.goal)}{f' where {given}' if given else ''}")


@dataclass
class Record:
    """The record of one search, filled while the search runs.

    Parameters
    ----------
    limit, left
        The work that the search may take, and the work that is left.
    ended
        Why the search ended: a proof, nothing left to try, no work left or no time left; "refused" if it never began.
    refused
        The reason why the search was refused; "" if the search began.
    ways
        Number of times that each way was tried.
    linear, columns, squares
        The number of linear programs, the most columns of one, and the number of semidefinite programs.
    unused
        The relations that are not used because they are not seen to have values.
    left_out
        The relations that are left out because they are too long, alone or together.
    without_value
        The expressions without a known sign that the claim needs to have a value, each with the sign it needs.
    unsigned
        The names of the claim's symbols whose sign is not known.
    fails_at
        A point in float64 at which the claim seems to fail, by name; empty for none.
    root
        The claim as a goal.
    """

    limit: int = 0
    left: int = 0
    ended: End = "seconds"
    refused: str = ""
    ways: Counter[str] = field(default_factory=Counter[str])
    linear: int = 0
    columns: int = 0
    squares: int = 0
    unused: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    without_value: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    unsigned: tuple[str, ...] = ()
    fails_at: Mapping[str, float] = field(default_factory=dict[str, float])
    root: Part | None = None
    _place: list[tuple[Part, int]] = field(default_factory=list[tuple[Part, int]])

    @property
    def spent(self) -> int:
        """The work that was done."""
        return min(self.limit, self.limit - self.left)

    def refuse(self, operations: int, most: int) -> None:
        """Note that the search is not begun, because the goal or a number is too long, or a power too high."""
        self.ended = "refused"
        long = f"{operations} operations, and a proof is looked for up to {most}"
        self.refused = long if operations > most else "a number of very many digits, or a very high power"

    def know(self, scope: Any, goal: Goal) -> None:
        """Note the goal's symbols whose sign is not known when the search begins."""
        symbols = sorted(goal.expression.free_symbols, key=lambda s: s.name)
        self.unsigned = tuple(s.name for s in symbols if scope.sign(s) == "real")

    def end(self, why: End, left: int) -> None:
        """Note the cause of the search's end, and the work that is left."""
        self.ended, self.left = why, left

    def program(self, columns: int) -> None:
        """Count a linear program."""
        self.linear, self.columns = self.linear + 1, max(self.columns, columns)

    def needs(self, of: Any, need: str) -> None:
        """Note that an expression is not seen to have the sign that the claim needs to have a value."""
        if len(self._place) == 1 and (said := (_short(text_of(of)), need)) not in self.without_value:
            self.without_value.append(said)

    def against(self, goal: Goal, point: Mapping[Any, float]) -> None:
        """Note a point in float64 at which the claim seems to fail; then no proof of the claim is searched for."""
        if self.root is not None and goal == self.root.goal and len(self._place) == 1:
            self.fails_at = {str(symbol): value for symbol, value in point.items()}

    def going(self, way: str, scope: Any, goal: Goal, find: Callable[[], Tree | None]) -> Tree | None:
        """Return the result of `find`, and note the way or the goal as a part of the current part."""
        above, known = self._place[-1] if self._place else (None, scope.count)
        added = (f for f in scope.facts if f.place >= known and f.expression is not None)
        part = Part(way, goal, tuple(Goal(f.expression, f.relation) for f in added))
        self.root = self.root or part
        self.ways[way] += 1
        if above is not None:
            above.parts.append(part)
        self._place.append((part, scope.count))
        try:
            tree = find()
            part.shown = tree is not None
        finally:
            self._place.pop()
        return tree

    def open_parts(self) -> list[str]:
        """Return the goals left open in the claim's ways directly after goals that were shown, each with its way."""
        return [] if self.root is None else list(dict.fromkeys(_nearest(self.root)))[:_OPEN_PARTS]


def _nearest(goal: Part) -> Iterator[str]:
    for way in goal.parts:
        before = 0
        for part in way.parts if way.way else ():
            if not part.shown and before:
                yield f"by {way.way}, {before} of its parts shown; open: {part.text()}"
            before = before + 1 if part.shown else 0


def _goal_text(goal: Goal) -> str:
    return f"{text_of(goal.expression)} {_SIGNS[goal.relation]}"


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def told(way: str) -> Callable[[Callable[..., Tree | None]], Callable[..., Tree | None]]:
    """Return a decorator for methods of a search that take a scope and a goal.

    The decorated method notes each call as a try of the way `way`, or of the goal itself if `way` is "".
    """

    def noting(method: Callable[..., Tree | None]) -> Callable[..., Tree | None]:
        @wraps(method)
        def noted(self: Any, scope: Any, goal: Goal, *arguments: Any, **options: Any) -> Tree | None:
            find = lambda: method(self, scope, goal, *arguments, **options)  # noqa: E731
            return self.work.record.going(way, scope, goal, find)

        return noted

    return noting


_RECORDS: dict[Any, Record] = {}


def new_record(key: Any, work: int) -> Record:
    """Return a new record of a search. The record is never deleted; `record_of` finds it by its key.

    Only the latest records keep the results of their goals.
    """
    _RECORDS[key] = Record(work, work)
    if len(_RECORDS) > _MOST_TREES:
        list(islice(_RECORDS.values(), len(_RECORDS) - _MOST_TREES))[-1].root = None
    return _RECORDS[key]


def record_of(key: Any) -> Record | None:
    """Return the record of the last search with a key; None if there was none."""
    return _RECORDS.get(key)
