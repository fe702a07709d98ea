"""A theorem's recursion iterated in float64 at many instances at once: the observable's values, which prove nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verify.claims.question import expanded
from verify.errors import InputError
from verify.evaluation import many_runs
from verify.evaluation.instances import check_domain, completed
from verify.installed import needs
from verify.language.clause_data import Dynamics
from verify.language.parameters import Value, parse_instance
from verify.outcomes import json_numbers, number_text
from verify.printing import text_of
from verify.runs.sweeps.grids import grid
from verify.shown import Plotted, Shown, visible

if TYPE_CHECKING:
    from verify.checking.theorem import Theorem
    from verify.language.statement import Statement


@dataclass(frozen=True, kw_only=True, repr=False)
class Observation(Plotted, Shown):
    """The observable of a theorem's recursion after some steps at some instances.

    `values` is a float64 array of shape (instances, steps): infinite or NaN where a run diverges.
    """

    theorem: str
    clause: str
    observable: str
    steps: tuple[int, ...]
    instances: tuple[Mapping[str, Value], ...]
    values: np.ndarray

    def text(self) -> str:
        """Return a line for each instance: its values, and the observable after each number of steps."""
        lines = [
            "  ".join([" ", " ".join(f"{k}={number_text(v)}" for k, v in at.items()), *(f"{x:.6g}" for x in row)])
            for at, row in zip(self.instances, self.values.tolist(), strict=True)
        ]
        steps = ", ".join(map(str, self.steps))
        heading = f"{self.theorem}: {self.clause}: after {steps} steps, in float64, not proved"
        return "\n".join(map(visible, [heading, *lines]))

    def to_json(self) -> dict[str, object]:
        """Return the object of `verify observe --json`, without `schema` and `version`."""
        rows = zip(self.instances, self.values.tolist(), strict=True)
        return {
            "theorem": self.theorem,
            "clause": self.clause,
            "observable": self.observable,
            "steps": list(self.steps),
            "rows": [
                {"instance": json_numbers(instance), "values": [x if np.isfinite(x) else None for x in values]}
                for instance, values in rows
            ],
        }


def observe(
    theorem: "Theorem", steps: Sequence[int], over: Mapping[str, object], given: Mapping[str, object]
) -> Observation:
    """Iterate a theorem's recursion at each instance of a grid, or at one instance.

    Parameters
    ----------
    steps
        Numbers of steps after which the recursion is observed: integers >= 0, increasing.
    over
        Values by parameter name, as in `verify.runs.sweeps.grids.grid`; empty for one instance.
    given
        Values of the other parameters that the recursion uses, except those with a default; a word that is not given
        takes the paper's value.

    Raises
    ------
    InputError
        For a theorem without a recursion, values that are missing, unknown or outside their domains, and without Numba.
    TheoremError
        For a recursion with primitives.
    """
    statement = theorem.statement
    if swept := [p.name for p in statement.parameters if p.words and p.name in over]:
        raise InputError("--over", swept[0], "is a word that selects the recursion: it can be given, but not swept")
    words = {p.name: p.parse(given.get(p.name, p.words[0])) for p in statement.parameters if p.words}
    clause, recursion = _recursion(theorem, words)
    used = {symbol.name for symbol in many_runs.fixed_symbols(recursion)}
    needs("observe", theorem.id, "numba")
    points = grid(statement.parameters, over, given).points() if over else [{}]
    instances = tuple(_instance(statement, words, {**given, **point}, used) for point in points)
    try:
        columns = {name: [float(instance[name]) for instance in instances] for name in sorted(used)}
    except OverflowError:
        raise InputError("observe", theorem.id, "has a value that is too large for float64") from None
    values = many_runs.observe(recursion, columns, steps).T
    return Observation(
        theorem=theorem.id,
        clause=clause,
        observable=text_of(recursion.observable),
        steps=tuple(steps),
        instances=instances,
        values=np.broadcast_to(values, (len(instances), len(steps))),
    )


def _instance(
    statement: "Statement", words: dict[str, Value], given: Mapping[str, object], used: set[str]
) -> dict[str, Value]:
    """Return the given values, and the defaults that the recursion uses. Raises InputError for a missing value."""
    named = parse_instance(statement.parameters, given, partial=True)
    check_domain(statement, named)
    whole = completed(statement, words | named)
    if lacking := [p.name for p in statement.parameters if p.name in used and p.name not in whole]:
        raise InputError(", ".join(lacking), "", "missing: the recursion needs a value")
    return {name: value for name, value in whole.items() if name in used or name in given}


def _recursion(theorem: "Theorem", words: Mapping[str, Value]) -> tuple[str, Dynamics]:
    """Return the label of the first clause about a recursion, and the recursion with the definitions substituted."""
    statement = theorem.statement.specialised(words)
    for clause in statement.clauses:
        recursion = getattr(clause, "dynamics", None)
        if isinstance(recursion, Dynamics):
            return clause.label, expanded(statement, recursion)
    raise InputError("theorem", theorem.id, "has no clause about a recursion: there is nothing to observe")
