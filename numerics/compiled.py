"""Numba's decorators for kernels, whose code is kept on the disk until a source that may be part of it changes.

Numba itself looks at a function's own file alone, and kernels are made of functions of several.
"""

import contextlib
import hashlib
import inspect
import os
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
from numba.core import config

_ROOT = Path(__file__).parent


def kept_in(folder: Path, sources: Iterable[Path]) -> Path:
    """Return the folder, inside of another one, for kernels compiled from the sources as they are now."""
    digest = hashlib.sha256()
    for source in sorted(sources):
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)}\n".encode() + content)
    return folder / f"kernels-{digest.hexdigest()[:16]}"


def forget_others(folder: Path, *, after: float = 86400.0) -> None:
    """Remove kernels compiled from other sources than a folder's, if nothing was written there for `after` seconds.

    A process that still runs may keep more in a folder.
    """
    for other in folder.parent.glob("kernels-*"):
        with contextlib.suppress(OSError):
            if other != folder and time.time() - other.stat().st_mtime > after:
                shutil.rmtree(other)


SOURCES = tuple(_ROOT.rglob("*.py"))
_FOLDER = kept_in(Path(config.CACHE_DIR or _ROOT / "__pycache__"), SOURCES)  # pyright: ignore[reportAttributeAccessIssue]
with contextlib.suppress(OSError):
    _FOLDER.mkdir(parents=True, exist_ok=True)
_KEPT = os.access(_FOLDER, os.W_OK)
"""Whether the folder can keep kernels. If not, each run compiles: elsewhere Numba looks at a function's file alone."""
if not config.CACHE_DIR:  # pyright: ignore[reportAttributeAccessIssue]
    # Another folder may be that of several versions of us.
    forget_others(_FOLDER)


def _kernel(fastmath: set[str]) -> Callable[[Callable[..., Any]], Any]:
    def decorate(function: Callable[..., Any]) -> Any:
        # Numba compiles the function itself: tests wrap functions in checks of their arguments.
        function = inspect.unwrap(function)
        # Where a function's code is kept is settled when it is decorated.
        before, config.CACHE_DIR = config.CACHE_DIR, str(_FOLDER)  # pyright: ignore[reportAttributeAccessIssue]
        try:
            return numba.njit(cache=_KEPT, nogil=True, error_model="numpy", fastmath=fastmath)(function)
        finally:
            config.CACHE_DIR = before  # pyright: ignore[reportAttributeAccessIssue]

    return decorate


exactly = _kernel({"contract"})
"""Sums as they stand; products are fused with sums."""
compiled = _kernel({"reassoc", "contract", "nsz"})
"""Sums in any order, and fused with products; infinities and NaN are kept."""
