"""Numba decorators for kernels, with a disk cache that is invalidated when any source file of this package changes.

Numba's own cache checks only the file of a function, but a kernel may call functions of several files.
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
    """Return the subfolder of `folder` for kernels compiled from the present contents of `sources`."""
    digest = hashlib.sha256()
    for source in sorted(sources):
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)}\n".encode() + content)
    return folder / f"kernels-{digest.hexdigest()[:16]}"


def forget_others(folder: Path, *, after: float = 86400.0) -> None:
    """Remove the other kernel folders beside `folder` that have not changed for `after` seconds.

    Recently changed folders are kept, because a running process may still write to them.
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
"""Whether the cache folder is writable. If not, each run compiles, because Numba's own cache might be outdated."""
if not config.CACHE_DIR:  # pyright: ignore[reportAttributeAccessIssue]
    # Several versions of this package may share a cache folder that the user has set: nothing is removed there.
    forget_others(_FOLDER)


def _kernel(fastmath: set[str]) -> Callable[[Callable[..., Any]], Any]:
    def decorate(function: Callable[..., Any]) -> Any:
        # Tests wrap functions in checks of their arguments: Numba compiles the function without these checks.
        function = inspect.unwrap(function)
        # Numba chooses the cache folder of a function when it is decorated.
        before, config.CACHE_DIR = config.CACHE_DIR, str(_FOLDER)  # pyright: ignore[reportAttributeAccessIssue]
        try:
            return numba.njit(cache=_KEPT, nogil=True, error_model="numpy", fastmath=fastmath)(function)
        finally:
            config.CACHE_DIR = before  # pyright: ignore[reportAttributeAccessIssue]

    return decorate


exactly = _kernel({"contract"})
"""Decorator that keeps the order of sums as written, and allows products to be fused with sums."""
compiled = _kernel({"reassoc", "contract", "nsz"})
"""Decorator that allows any order of sums, and products to be fused with sums; infinities and NaN are kept."""
