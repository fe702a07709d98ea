"""What is installed, by id.

Each kind of object has a group of entry points, id -> `module:object`, of which an object is imported when it is asked
for. The entries of every installed package are there, beside ours. A kind is loaded from where its class is.
"""

from importlib import metadata
from typing import TypeVar

from verify.errors import InputError

Kind = TypeVar("Kind")


def entries(kind: str) -> metadata.EntryPoints:
    """Return the entry points of a kind."""
    return metadata.entry_points(group=f"lemmascope.{kind}s")


def ids(kind: str) -> list[str]:
    """Return the ids of all that is installed of a kind, sorted; nothing is imported."""
    return sorted({entry.name for entry in entries(kind)})


def theorem_ids() -> list[str]:
    """Return the ids of all installed theorems, sorted; nothing is imported."""
    return ids("theorem")


def experiment_ids() -> list[str]:
    """Return the ids of all installed experiments, sorted; nothing is imported."""
    return ids("experiment")


def comparison_ids() -> list[str]:
    """Return the ids of all installed comparisons, sorted; nothing is imported."""
    return ids("comparison")


def finding_ids() -> list[str]:
    """Return the ids of all installed findings, sorted; nothing is imported."""
    return ids("finding")


def prediction_ids() -> list[str]:
    """Return the ids of all experiments of which theory predicts a curve, sorted; nothing is imported."""
    return ids("prediction")


def package_of(theorem_id: str) -> str:
    """Return the top-level package whose entry point a theorem's id is. Raises InputError for an unknown id."""
    found = [entry.value for entry in entries("theorem") if entry.name == theorem_id]
    if not found:
        raise InputError("theorem", theorem_id, "unknown id")
    return found[0].partition(":")[0].partition(".")[0]


def load(kind: str, of: type[Kind], reference: str, besides: str = "") -> Kind:
    """Return the object of an id, of a class; InputError where there is none, `besides` says what else would do."""
    found = {entry.value: entry for entry in entries(kind) if entry.name == reference}
    if not found:
        known = f"known are {', '.join(ids(kind))}{besides and ','}" if ids(kind) else "none is installed"
        raise InputError(kind, reference, f"unknown id; {known}{besides}")
    if len(found) > 1:
        raise InputError(kind, reference, f"several packages have this id: {', '.join(sorted(found))}")
    ((value, entry),) = found.items()
    try:
        loaded = entry.load()
    except Exception as error:
        raise InputError(kind, reference, f"{value} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(loaded, of):
        raise InputError(kind, reference, f"is a {type(loaded).__name__}, not a {of.__name__}")
    return loaded
