"""Verify theorems of machine-learning theory: statements as data, checked, derived and certified.

The public names stand in `__init__.pyi`, and are loaded when they are first used: importing the package is light.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

_NAMES = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
_MODULE_OF = {alias.name: node.module for node in _NAMES if isinstance(node, ast.ImportFrom) for alias in node.names}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # It loads importlib.metadata, which takes longer than all else here.
        from verify.version import version

        return version()
    if (module := _MODULE_OF.get(name)) is None:
        raise AttributeError(f"module 'verify' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
