"""Theorems by id, or by `file.py:name`, and by what another process loads the same one."""

import contextlib
import sys
from pathlib import Path
from types import ModuleType

from verify.checking.registry import load_named, package_of
from verify.checking.theorem import Theorem
from verify.errors import InputError


def load_theorem(reference: str) -> Theorem:
    """Return a theorem.

    Parameters
    ----------
    reference
        Its id, or `file.py:name`, whose code is run.

    Returns
    -------
    Theorem
        The theorem.

    Raises
    ------
    InputError
        Where there is none.

    Examples
    --------
    >>> import verify
    >>> verify.load_theorem("wang2024.theorem1").source.number
    'Theorem 1'
    """
    return load_named("theorem", Theorem, reference)


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
