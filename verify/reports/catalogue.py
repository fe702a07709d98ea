"""The file `catalogue.json` of a package: the place `module:name` of each object, by kind and id.

`verify pin` writes the file.
"""

import ast
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from verify.checking.registry import KINDS, PACKAGES, catalogue, package_folder
from verify.checking.theorem import Theorem
from verify.errors import InputError
from verify.installed import lacked_by
from verify.reports.findings import Finding
from verify.runs.comparisons import Comparison, Prediction
from verify.runs.experiments import Experiment
from verify.runs.sweeps.diagram import Diagram

_CLASSES = dict(zip(KINDS, (Theorem, Experiment, Comparison, Prediction, Finding, Diagram), strict=True))
_NO_MODULES = ("test_", "conftest", "__main__")


def catalogue_text(package: str) -> str:
    """Return the text of a package's catalogue, made from the modules of the packages that its present catalogue names.

    Without a catalogue, the package's own modules are used. Raises InputError for a module that cannot be parsed or
    imported, and for two objects of the same kind and id.
    """
    packages = catalogue(package).get(PACKAGES, [package])
    listed: dict[str, Any] = {PACKAGES: packages} | {f"{kind}s": {} for kind in KINDS}
    for each in packages:
        for module, names in _modules(each):
            for name in names:
                _enter(listed, module, name)
    ordered = {part: dict(sorted(ids.items())) if isinstance(ids, dict) else ids for part, ids in listed.items()}
    return json.dumps(ordered, indent=1) + "\n"


def _modules(package: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the modules of a package, except test files and `__main__`, with the names that `_bound` finds in each."""
    folder = package_folder(package)
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder).with_suffix("").parts
        if not path.stem.startswith(_NO_MODULES):
            yield ".".join([package, *(part for part in inside if part != "__init__")]), _bound(path)


def _bound(path: Path) -> list[str]:
    """Return the names of a file's top-level variables and functions. Raises InputError if it cannot be parsed."""
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError) as error:
        raise InputError("file", path, f"cannot be read: {error}") from error
    names = list[str]()
    for node in body:
        match node:
            case ast.Assign(targets):
                names += [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            case ast.AnnAssign(ast.Name(name)) | ast.FunctionDef(name):
                names.append(name)
            case _:
                pass
    return names


def _enter(listed: dict[str, dict[str, str]], module: str, name: str) -> None:
    """Enter an object of a module in the catalogue if the catalogue lists objects of its kind. Raises InputError."""
    try:
        value = getattr(import_module(module), name, None)
    except (Exception, SystemExit) as error:
        why = lacked_by(error) or f"cannot be imported: {type(error).__name__}: {error}"
        raise InputError("module", module, why) from error
    for kind, kind_class in _CLASSES.items():
        if isinstance(value, kind_class):
            place, ids = f"{module}:{name}", listed[f"{kind}s"]
            if value.id in ids:
                raise InputError(kind, value.id, f"is the id of {ids[value.id]} and of {place}")
            ids[value.id] = place
