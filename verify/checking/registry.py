"""Installed objects, by id, and objects of a file, by `file.py:name`.

An entry point in the group `lemmascope.catalogue` names a package. The file `catalogue.json` in its folder maps ids to
`module:object`, for each kind; `verify pin` writes it. An object is imported when the loader of its kind, such as
`load_theorem`, asks for it. Entry points in the groups of the kinds, `lemmascope.theorems`, …, are read as well.
"""

import importlib.util
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from verify.errors import InputError, explained, meant
from verify.installed import lacked_by
from verify.language.labels import ID

Kind = TypeVar("Kind")
KINDS = ("theorem", "experiment", "comparison", "prediction", "finding", "diagram")
"""The kinds of objects that a package may provide, each with an id."""
_GROUP = "lemmascope.catalogue"
CATALOGUE = "catalogue.json"
PACKAGES = "packages"
"""The key in a catalogue of the list of packages whose objects it contains."""
_OTHER_FILES = {".csv", ".html", ".ipynb", ".json", ".md", ".pdf", ".sqlite", ".tex", ".txt", ".toml", ".yaml", ".yml"}
"""Suffixes of files other than Python's; a reference with such a suffix is a path and not an id."""
_TAKEN_BY = {"theorem": "check", "experiment": "simulate"}
"""The verb that takes the ids of a kind."""
_ID = "parts joined by ., each of letters A to Z and a to z, digits, _ and -, because it becomes part of file names"


def _listed(kind: str) -> Iterator[tuple[str, metadata.EntryPoint | InputError]]:
    """Yield the installed entries of a kind with their packages, from the kind's entry points and from each catalogue.

    A catalogue that cannot be read yields its error in place of its entries; the other catalogues are still read.
    """
    group = f"lemmascope.{kind}s"
    for entry in installed(group):
        fits = ID.fullmatch(entry.name)
        yield (
            _top(entry.value),
            entry if fits else InputError(group, entry.name, f"is not an id: it must consist of {_ID}"),
        )
    for package in catalogued():
        try:
            listed = catalogue(package)[f"{kind}s"]
        except InputError as error:
            yield package, error
        except KeyError:
            yield package, InputError(_GROUP, package, f"has no {CATALOGUE}; `verify pin {package}` writes it")
        else:
            yield from ((package, metadata.EntryPoint(name, value, group)) for name, value in listed.items())


def catalogued() -> list[str]:
    """Return the packages that the entry points in the group `lemmascope.catalogue` name, sorted."""
    return sorted({entry.value for entry in installed(_GROUP)})


def catalogue(package: str) -> Mapping[str, Any]:
    """Return the catalogue in a package's folder, by kind; empty without one. Raises InputError."""
    if "." in package or ":" in package:
        raise InputError(_GROUP, package, f"must name a package, whose folder has the {CATALOGUE}")
    try:
        path = package_folder(package) / CATALOGUE
    except InputError as error:
        raise InputError(_GROUP, package, error.requirement) from error
    try:
        status = path.stat()
    except FileNotFoundError:
        return {}
    return _catalogue(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=100)
def _catalogue(path: Path, _changed: int, _size: int) -> Mapping[str, Any]:
    """Return the contents of a catalogue's file. Raises InputError if it is no catalogue."""
    package = path.parent.name
    try:
        listed = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(_GROUP, package, f"its {CATALOGUE} cannot be read: {type(error).__name__}") from error
    kinds = {f"{kind}s" for kind in KINDS}
    if not isinstance(listed, dict) or listed.keys() != {PACKAGES, *kinds} or not _are_names(listed[PACKAGES]):
        raise InputError(_GROUP, package, f"its {CATALOGUE} must have {', '.join((PACKAGES, *sorted(kinds)))}")
    for kind in kinds:
        if not isinstance(listed[kind], dict) or not all(map(_is_entry, listed[kind].items())):
            why = f"its {kind} must map ids to `module:object`; an id must consist of {_ID}"
            raise InputError(_GROUP, package, why)
    return listed


def _are_names(packages: object) -> bool:
    return isinstance(packages, list) and all(isinstance(name, str) and name.isidentifier() for name in packages)


def installed(group: str) -> Sequence[metadata.EntryPoint]:
    """Return the entry points of a group, of the packages installed on Python's path now."""
    return _installed(metadata.entry_points, path_state()).get(group, ())


def installed_by_name(group: str) -> Mapping[str, Sequence[metadata.EntryPoint]]:
    """Return the installed entry points of a group by the name of their distribution, a dot, and their own name."""
    return _by_name(metadata.entry_points, path_state(), group)


def path_state() -> tuple[tuple[str, int], ...]:
    """Return Python's path with each folder's change time; equal results mean the same installed packages."""
    return tuple(map(_changed, sys.path))


def _changed(folder: str) -> tuple[str, int]:
    """Return a folder of the path with its change time, which an installation or a removal in the folder changes."""
    try:
        return folder, os.stat(folder or ".").st_mtime_ns  # noqa: PTH116 (called hundreds of times)
    except OSError:
        return folder, 0


@lru_cache(maxsize=4)
def _installed(
    read: Callable[[], metadata.EntryPoints], _path: tuple[tuple[str, int], ...]
) -> Mapping[str, Sequence[metadata.EntryPoint]]:
    """Return the entry points that `read` finds on a path, by group; cached, because it reads a file per package."""
    found = read()
    return {group: tuple(found.select(group=group)) for group in found.groups}


@lru_cache(maxsize=4)
def _by_name(
    read: Callable[[], metadata.EntryPoints], path: tuple[tuple[str, int], ...], group: str
) -> Mapping[str, Sequence[metadata.EntryPoint]]:
    """Return the entry points of a group by name; cached, because each distribution's name is in a separate file."""
    found = dict[str, list[metadata.EntryPoint]]()
    for entry in _installed(read, path).get(group, ()):
        found.setdefault(f"{entry.dist.name if entry.dist is not None else ''}.{entry.name}", []).append(entry)
    return found


def _is_entry(pair: tuple[object, object]) -> bool:
    name, value = pair
    fits = isinstance(name, str) and isinstance(value, str) and ID.fullmatch(name)
    return bool(fits and re.fullmatch(r"[\w.]+:[\w.]+", str(value)))


def _entries(kind: str) -> list[tuple[str, metadata.EntryPoint]]:
    """Return the readable entries of a kind, each with its package."""
    return [(package, entry) for package, entry in _listed(kind) if not isinstance(entry, InputError)]


def _top(value: str) -> str:
    """Return the top-level package of `module:object`."""
    return value.partition(":")[0].partition(".")[0]


def ids(kind: str, package: str | None = None) -> list[str]:
    """Return the ids of the installed objects of a kind, of all packages or of one, sorted; no object is imported.

    Parameters
    ----------
    kind
        `theorem`, `experiment`, `comparison`, `prediction` (with the id of its experiment), `finding` or `diagram`.
    package
        A package; None for all.

    Returns
    -------
    list[str]
        The ids.

    Raises
    ------
    InputError
        For another kind, and for a catalogue that cannot be read.

    Examples
    --------
    >>> import verify
    >>> "wang2024.theorem1" in verify.ids("theorem")
    True
    """
    if kind not in KINDS:
        raise InputError("kind", kind, f"must be one of {', '.join(KINDS)}")
    listed = [entry for its, entry in _listed(kind) if package in (None, its)]
    if broken := [entry for entry in listed if isinstance(entry, InputError)]:
        raise broken[0]
    return sorted({entry.name for entry in listed if not isinstance(entry, InputError)})


def kind_of(name: str) -> str | None:
    """Return the kind of an id (the first in `KINDS` if there are several); None if the id is not installed."""
    return next((kind for kind in KINDS if any(entry.name == name for _, entry in _entries(kind))), None)


def listed(kind: str) -> list[str]:
    """Return the readable entries of a kind as `package: id = module:object`, sorted; nothing is imported."""
    return sorted(f"{package}: {entry.name} = {entry.value}" for package, entry in _entries(kind))


def package_of(theorem_id: str) -> str:
    """Return the top-level package of a theorem. Raises InputError for an unknown id or an unreadable catalogue."""
    owners = [package for package, entry in _entries("theorem") if entry.name == theorem_id]
    if not owners:
        ids("theorem")
        raise InputError("theorem", theorem_id, "unknown id")
    return owners[0]


def packages() -> list[str]:
    """Return the top-level packages that have theorems, sorted."""
    return sorted({package for package, _ in _entries("theorem")})


def package_folder(package: str) -> Path:
    """Return the folder of a top-level package, without importing it. Raises InputError for anything else."""
    spec = find_spec(package)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        raise InputError("package", package, "must be a package with a folder and an __init__.py")
    return Path(spec.origin).parent


def load(kind: str, kind_class: type[Kind], reference: str, besides: str = "") -> Kind:
    """Return the object with an id, of a kind and a class.

    Raises InputError; for an unknown id, the message ends with `besides`.
    """
    entries = {entry.value: entry for _, entry in _entries(kind) if entry.name == reference}
    if not entries:
        # This raises if a catalogue cannot be read: the id may be in it.
        known = meant(reference, ids(kind)) if ids(kind) else "none is installed"
        if (other := kind_of(reference)) in _TAKEN_BY:
            raise InputError(kind, reference, f"is not of kind {kind}: use `verify {_TAKEN_BY[other]}`")
        asked = f"unknown id; {known}"
        more = f"{'' if asked.endswith('?') else '.'} {besides}" if besides else ""
        raise InputError(kind, reference, asked + more)
    if len(entries) > 1:
        raise InputError(kind, reference, f"several packages have this id: {', '.join(sorted(entries))}")
    ((value, entry),) = entries.items()
    try:
        loaded = entry.load()
    except (Exception, SystemExit) as error:
        why = lacked_by(error) or f"{value} cannot be loaded: {type(error).__name__}: {error}"
        raise InputError(kind, reference, why) from error
    if not isinstance(loaded, kind_class):
        raise InputError(kind, reference, f"is a {type(loaded).__name__}, not a {kind_class.__name__}")
    if getattr(loaded, "id", reference) != reference:
        raise InputError(kind, reference, f"{value} has another id: {getattr(loaded, 'id', '')}")
    return loaded


def load_named(kind: str, kind_class: type[Kind], reference: str) -> Kind:
    """Return the object that an id or `file.py:name` names, of a kind such as `theorem` and of a class.

    The name may be left out for a file with a single such object. Raises InputError if no such object is found.
    """
    path, colon, name = reference.rpartition(":")
    if reference.endswith(".py") or (colon and path.endswith(".py")):
        found = (path, name) if path.endswith(".py") and colon else (reference, "")
        return _from_file(kind, kind_class, *found)
    if _is_other_file(reference):
        raise InputError(kind, reference, "is no .py file; give an id or file.py:name")
    return load(kind, kind_class, reference, "Or give file.py:name")


def held_by_module(value: object) -> tuple[str, str] | None:
    """Return an object's place `file.py:name` in a loaded module, and the module's name; None if it is in no module."""
    # The main script comes last: it may make the object under a condition that does not hold in another process.
    for module in sorted(sys.modules.values(), key=lambda module: getattr(module, "__name__", "") == "__main__"):
        path = getattr(module, "__file__", None)
        if isinstance(module, ModuleType) and path and path.endswith(".py"):
            for name, held in list(vars(module).items()):
                if held is value:
                    return f"{Path(path).resolve()}:{name}", module.__name__
    return None


def _is_other_file(reference: str) -> bool:
    """Whether a reference is a path, or has the suffix of a file of another kind."""
    path = Path(reference)
    return path.suffix.lower() in _OTHER_FILES or "/" in reference


def _from_file(kind: str, kind_class: type[Kind], path: str, name: str) -> Kind:
    module = _import_file(kind, Path(path))
    known = {key: value for key, value in vars(module).items() if isinstance(value, kind_class)}
    if not known:
        raise InputError(kind, path, f"the file contains no {kind}")
    if not name and len(known) == 1:
        return next(iter(known.values()))
    if name not in known:
        raise InputError(kind, f"{path}:{name}", meant(name, known, f"the file has the {kind}s"))
    return known[name]


def _import_file(kind: str, path: Path) -> ModuleType:
    try:
        found = path.is_file()
    except OSError:
        # The name may be too long, for example.
        found = False
    if not found:
        raise InputError(kind, path, "no such file")
    spec = importlib.util.spec_from_file_location(f"lemmascope_user_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InputError(kind, path, f"{_line_of(error, path)}{explained(error)}") from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module


def _line_of(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: " if error.lineno else ""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    return f"line {lines[-1]}: " if lines else ""
