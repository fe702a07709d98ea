"""Theorems by id (entry-point group `lemmascope.theorems`) or by `file.py:name`."""

import importlib.util
import sys
import traceback
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from verify.errors import InputError
from verify.statement import Theorem

GROUP = "lemmascope.theorems"


def theorem_ids() -> list[str]:
    """Return the ids of all installed theorems, sorted; nothing is imported."""
    return sorted({entry.name for entry in metadata.entry_points(group=GROUP)})


def load_theorem(reference: str) -> Theorem:
    """Return the theorem of an id or of `file.py:name`. Raises InputError where there is none."""
    path, colon, name = reference.rpartition(":")
    if reference.endswith(".py") or (colon and path.endswith(".py")):
        return _from_file(*((path, name) if path.endswith(".py") and colon else (reference, "")))
    found = [entry for entry in metadata.entry_points(group=GROUP) if entry.name == reference]
    if not found:
        raise InputError("theorem", reference, f"unknown id; known are {', '.join(theorem_ids())}, or file.py:name")
    return _theorem(found[0].load(), reference)


def _theorem(value: Any, reference: str) -> Theorem:
    if not isinstance(value, Theorem):
        raise InputError("theorem", reference, f"is a {type(value).__name__}, not a Theorem")
    return value


def _from_file(path: str, name: str) -> Theorem:
    module = _import_file(Path(path))
    theorems = {key: value for key, value in vars(module).items() if isinstance(value, Theorem)}
    if not theorems:
        raise InputError("theorem", path, "the file holds no theorem")
    if not name and len(theorems) == 1:
        return next(iter(theorems.values()))
    if name not in theorems:
        raise InputError("theorem", f"{path}:{name}", f"the file has the theorems {', '.join(theorems)}")
    return theorems[name]


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError("theorem", path, "no such file")
    spec = importlib.util.spec_from_file_location(f"lemmascope_user_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InputError("theorem", path, f"{_line_of(error, path)}{type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module


def _line_of(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: " if error.lineno else ""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    return f"line {lines[-1]}: " if lines else ""
