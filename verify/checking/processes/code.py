"""The version of the code that computed a result; only results of the same version are put together."""

import ast
import hashlib
import re
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from verify.files import sources
from verify.installed import version

if TYPE_CHECKING:
    from verify.checking.theorem import Theorem

_NUMERICAL = ("torch", "numpy", "numba", "python-flint", "sympy")
"""Distributions whose version may change the last digit of a result, or whether a clause is decided."""


@cache
def code_version(module: str) -> str:
    """Return the value of `read_code_version` at its first call in this process."""
    return read_code_version(module)


def read_code_version(module: str) -> str:
    """Return our version, those of numerical packages, and a digest of the sources that a result depends on.

    The sources are ours, those of the module's top-level package and those behind every door, so that a result of older
    code is never used after an edit. The version is "" if sources are not found: no result is then stored.
    """
    # This import loads the re-checker.
    from verify.checking.doors import doors

    if not module:
        return ""
    digest = hashlib.sha256()
    for package in sorted({module.partition(".")[0], "verify"}):
        files = list(sources(package))
        if not files:
            return ""
        for name, path in files:
            content = path.read_bytes()
            digest.update(f"{package}/{name} {len(content)}\n".encode() + content)
    for door in doors()[0]:
        digest.update(f"{door.name} {door.digest}\n".encode())
    installed = []
    for name in _NUMERICAL:
        with suppress(metadata.PackageNotFoundError):
            installed.append(f"{name}-{metadata.version(name)}")
    return " ".join([version(), digest.hexdigest(), *installed])


def code_of(theorem: "Theorem", reference: str, module: str) -> str:
    """Return the version of all code that computes a theorem's rows, including its values and the data of its proofs.

    A theorem's file given by its path is read anew, because it may be edited and loaded again. Our files, and the
    modules that it imports from its folder, are read once per process. The version is "" if sources are not found.
    """
    path = Path(reference.rpartition(":")[0]) if ".py:" in reference else None
    lone = path is not None and "." not in module and path.name != "__init__.py"
    parts = [code_version("verify" if lone else module)]
    if path is not None:
        if not path.is_file():
            return ""
        parts.append(_with_imported(path))
    # An object's address in a text differs between processes.
    data = re.sub(r" at 0x[0-9a-fA-F]+", "", repr((sorted(theorem.values.items()), sorted(theorem.proofs.items()))))
    return " ".join([*parts, hashlib.sha256(data.encode()).hexdigest()]) if parts[0] else ""


def _with_imported(path: Path) -> str:
    """Return a digest of a file and of the modules beside it that import statements reach, directly or indirectly."""
    digest, seen, left = hashlib.sha256(), {path.resolve()}, [(path.name, path.read_bytes())]
    while left:
        name, content = left.pop()
        digest.update(f"{name} {len(content)}\n".encode() + content)
        for imported in sorted(_imported(content)):
            beside = path.parent / imported
            for file in [beside.with_suffix(".py"), *sorted(beside.rglob("*.py"))]:
                if file.is_file() and file.resolve() not in seen:
                    seen.add(file.resolve())
                    left.append((file.relative_to(path.parent).as_posix(), _as_loaded(file.resolve())))
    return digest.hexdigest()


@cache
def _as_loaded(path: Path) -> bytes:
    """Return a module's source as it was at its first reading: an imported module is not loaded again."""
    return path.read_bytes()


def _imported(source: bytes) -> set[str]:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return set()
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.partition(".")[0] for name in names}
