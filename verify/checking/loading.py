"""Theorems by id, or by `file.py:name`, and by what another process loads the same one."""

import contextlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from verify.checking.registry import load, package_of
from verify.checking.theorem import Theorem
from verify.errors import InputError


def load_theorem(reference: str) -> Theorem:
    """Return the theorem of an id or of `file.py:name`. Raises InputError where there is none."""
    path, colon, name = reference.rpartition(":")
    if reference.endswith(".py") or (colon and path.endswith(".py")):
        return _from_file(*((path, name) if path.endswith(".py") and colon else (reference, "")))
    return load("theorem", Theorem, reference, " or file.py:name")


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


def reference_of(theorem: Theorem) -> tuple[str, str] | None:
    """Return by what another process loads this very theorem, and its module; None where it is in none."""
    with contextlib.suppress(InputError):
        package = package_of(theorem.id)
        if load_theorem(theorem.id) is theorem:
            return theorem.id, package
    # A script may have made it, or hold it, under a condition that another process does not meet: it comes last.
    for module in sorted(sys.modules.values(), key=lambda module: getattr(module, "__name__", "") == "__main__"):
        path = getattr(module, "__file__", None)
        if isinstance(module, ModuleType) and path and path.endswith(".py"):
            for name, value in list(vars(module).items()):
                if value is theorem:
                    return f"{Path(path).resolve()}:{name}", module.__name__
    return None
