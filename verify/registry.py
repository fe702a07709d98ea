"""Theorems, experiments, comparisons, predictions and findings by id (entry points); theorems also by `file.py:name`.

Each kind has a group of entry points, id -> `module:object`, of which an object is imported when it
is asked for. The entries of every installed package are there, beside ours.
"""

import contextlib
import importlib.util
import sys
import traceback
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from verify.errors import InputError

if TYPE_CHECKING:
    from verify.comparisons import Comparison, Prediction
    from verify.experiments import Experiment
    from verify.findings import Finding
    from verify.theorem import Theorem

_CLASSES = {
    "theorem": ("verify.theorem", "Theorem"),
    "experiment": ("verify.experiments", "Experiment"),
    "comparison": ("verify.comparisons", "Comparison"),
    "finding": ("verify.findings", "Finding"),
    "prediction": ("verify.comparisons", "Prediction"),
}


def theorem_ids() -> list[str]:
    """Return the ids of all installed theorems, sorted; nothing is imported."""
    return _ids("theorem")


def experiment_ids() -> list[str]:
    """Return the ids of all installed experiments, sorted; nothing is imported."""
    return _ids("experiment")


def comparison_ids() -> list[str]:
    """Return the ids of all installed comparisons, sorted; nothing is imported."""
    return _ids("comparison")


def finding_ids() -> list[str]:
    """Return the ids of all installed findings, sorted; nothing is imported."""
    return _ids("finding")


def prediction_ids() -> list[str]:
    """Return the ids of all experiments of which theory predicts a curve, sorted; nothing is imported."""
    return _ids("prediction")


def load_theorem(reference: str) -> "Theorem":
    """Return the theorem of an id or of `file.py:name`. Raises InputError where there is none."""
    path, colon, name = reference.rpartition(":")
    if reference.endswith(".py") or (colon and path.endswith(".py")):
        return _from_file(*((path, name) if path.endswith(".py") and colon else (reference, "")))
    return _load("theorem", reference, " or file.py:name")


def load_experiment(reference: str) -> "Experiment":
    """Return the experiment of an id. Raises InputError where there is none."""
    return _load("experiment", reference)


def load_comparison(reference: str) -> "Comparison":
    """Return the comparison of an id. Raises InputError where there is none."""
    return _load("comparison", reference)


def load_finding(reference: str) -> "Finding":
    """Return the finding of an id. Raises InputError where there is none."""
    return _load("finding", reference)


def load_prediction(reference: str) -> "Prediction":
    """Return what theory predicts of an experiment, by the experiment's id. Raises InputError where it does not."""
    return _load("prediction", reference)


def package_of(theorem_id: str) -> str:
    """Return the top-level package whose entry point a theorem's id is. Raises InputError for an unknown id."""
    found = [entry.value for entry in _entries("theorem") if entry.name == theorem_id]
    if not found:
        raise InputError("theorem", theorem_id, "unknown id")
    return found[0].partition(":")[0].partition(".")[0]


def _entries(kind: str) -> metadata.EntryPoints:
    return metadata.entry_points(group=f"lemmascope.{kind}s")


def _ids(kind: str) -> list[str]:
    return sorted({entry.name for entry in _entries(kind)})


def _load(kind: str, reference: str, besides: str = "") -> Any:
    found = {entry.value: entry for entry in _entries(kind) if entry.name == reference}
    if not found:
        known = f"known are {', '.join(_ids(kind))}{besides and ','}" if _ids(kind) else "none is installed"
        raise InputError(kind, reference, f"unknown id; {known}{besides}")
    if len(found) > 1:
        raise InputError(kind, reference, f"several packages have this id: {', '.join(sorted(found))}")
    ((value, entry),) = found.items()
    try:
        loaded = entry.load()
    except Exception as error:
        raise InputError(kind, reference, f"{value} cannot be loaded: {type(error).__name__}: {error}") from error
    module, name = _CLASSES[kind]
    if not isinstance(loaded, getattr(import_module(module), name)):
        raise InputError(kind, reference, f"is a {type(loaded).__name__}, not a {name}")
    return loaded


def _from_file(path: str, name: str) -> "Theorem":
    from verify.theorem import Theorem

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


def reference_of(theorem: "Theorem") -> tuple[str, str] | None:
    """Return by what another process loads this very theorem, and its module; None where it is in none."""
    with contextlib.suppress(InputError):
        if theorem.id in theorem_ids() and load_theorem(theorem.id) is theorem:
            return theorem.id, package_of(theorem.id)
    # A script may have made it, or hold it, under a condition that another process does not meet: it comes last.
    for module in sorted(sys.modules.values(), key=lambda module: getattr(module, "__name__", "") == "__main__"):
        path = getattr(module, "__file__", None)
        if isinstance(module, ModuleType) and path and path.endswith(".py"):
            for name, value in list(vars(module).items()):
                if value is theorem:
                    return f"{Path(path).resolve()}:{name}", module.__name__
    return None
