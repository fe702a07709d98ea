"""Modules that are loaded when they are first used: PyTorch, and theorems that SymPy takes long to build."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any


class _Deferred:
    """Stands for a module, which is loaded when one of its attributes is asked for."""

    __test__ = False

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        # Pytest asks each name in a test module for attributes such as `__wrapped__`: this must not load the module.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def lazily(name: str) -> Any:
    """Return a stand-in that loads a module on first use. Raises ModuleNotFoundError if there is no such module."""
    if find_spec(name) is None:
        raise ModuleNotFoundError(f"no module {name}", name=name)
    return _Deferred(name)
