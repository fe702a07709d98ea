"""What is installed, by id.

A package has an entry point in the group `lemmascope.catalogue`: a module in which THEOREMS, EXPERIMENTS, COMPARISONS,
PREDICTIONS and FINDINGS map ids to `module:object`. An object is imported when it is asked for, by what loads its kind,
from where its class is. Entry points in groups of these names, `lemmascope.theorems`, …, are read beside them.
"""

from collections.abc import Iterator, Mapping
from importlib import metadata, resources
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from verify.errors import InputError

Kind = TypeVar("Kind")


def catalogues() -> dict[str, ModuleType]:
    """Return, by their names, the modules in which packages say what they have. Raises InputError."""
    found = {}
    for entry in metadata.entry_points(group="lemmascope.catalogue"):
        try:
            found[entry.value] = entry.load()
        except Exception as error:
            why = f"cannot be loaded: {type(error).__name__}: {error}"
            raise InputError("lemmascope.catalogue", entry.value, why) from error
    return found


def _listed(kind: str) -> Iterator[tuple[str, metadata.EntryPoint]]:
    """Yield what is installed of a kind with its package, from the kind's own group and from each catalogue."""
    group = f"lemmascope.{kind}s"
    for entry in metadata.entry_points(group=group):
        yield _top(entry.value), entry
    for name, module in catalogues().items():
        listed: Any = getattr(module, f"{kind}s".upper(), {})
        if not isinstance(listed, Mapping) or not all(isinstance(x, str) for pair in listed.items() for x in pair):
            raise InputError("lemmascope.catalogue", name, f"its {kind}s are no mapping of ids to `module:object`")
        for key, value in listed.items():
            yield _top(name), metadata.EntryPoint(key, value, group)


def _top(value: str) -> str:
    """Return the top-level package of `module:object`."""
    return value.partition(":")[0].partition(".")[0]


def ids(kind: str, package: str | None = None) -> list[str]:
    """Return the ids of all that is installed of a kind, or of a package, sorted; nothing of it is imported."""
    return sorted({entry.name for its, entry in _listed(kind) if package in (None, its)})


def theorem_ids(package: str | None = None) -> list[str]:
    """Return the ids of all installed theorems, or of a package's, sorted; nothing of them is imported."""
    return ids("theorem", package)


def experiment_ids() -> list[str]:
    """Return the ids of all installed experiments, sorted; nothing of them is imported."""
    return ids("experiment")


def comparison_ids() -> list[str]:
    """Return the ids of all installed comparisons, sorted; nothing of them is imported."""
    return ids("comparison")


def finding_ids(package: str | None = None) -> list[str]:
    """Return the ids of all installed findings, or of a package's, sorted; nothing of them is imported."""
    return ids("finding", package)


def prediction_ids() -> list[str]:
    """Return the ids of all experiments of which theory predicts a curve, sorted; nothing of them is imported."""
    return ids("prediction")


def package_of(theorem_id: str) -> str:
    """Return the top-level package that has a theorem. Raises InputError for an unknown id."""
    found = [package for package, entry in _listed("theorem") if entry.name == theorem_id]
    if not found:
        raise InputError("theorem", theorem_id, "unknown id")
    return found[0]


def package_folder(package: str) -> Path:
    """Return the folder of an installed top-level package."""
    return Path(str(resources.files(package)))


def load(kind: str, of: type[Kind], reference: str, besides: str = "") -> Kind:
    """Return the object of an id, of a class; InputError where there is none, `besides` says what else would do."""
    found = {entry.value: entry for _, entry in _listed(kind) if entry.name == reference}
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
