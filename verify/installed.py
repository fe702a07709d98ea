"""Installed packages: the version of this one, and the packages of its optional extras.

A call that needs a missing package raises InputError: one line, with the command that installs the package's extra.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

from verify.errors import InputError

EXTRAS = {
    "plot": ("latex2mathml", "matplotlib", "networkx"),
    "sim": ("jaxtyping", "numba", "torch"),
    "sweep": ("dask", "distributed", "joblib", "pyarrow"),
    "test": ("pytest", "pytest-xdist"),
}
"""The packages of each extra."""
ROOT = Path(__file__).parents[1]
"""The checkout, or the folder that this package is installed in."""


def version() -> str:
    """Return the version of the installed distribution."""
    # This import takes longer than all others that the help needs.
    from importlib import metadata

    return metadata.version("lemmascope")


def lack(*packages: str) -> str:
    """Return the advice to install missing packages, as in `needs torch: python -m pip …`; "" if none is missing."""
    missing = [package for package in packages if not _there(package)]
    return _advice(missing) if missing else ""


def needs(name: str, value: object, *packages: str) -> None:
    """Raise InputError with the remedy, in one line, if the value of an option needs packages that are missing."""
    if lacking := lack(*packages):
        raise InputError(name, value, lacking)


def lacked_by(error: BaseException) -> str:
    """Return the advice to install the missing package of an extra that caused an error; "" for any other error."""
    package = str(error.name).partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return _advice([package]) if any(package in brought for brought in EXTRAS.values()) else ""


def _there(package: str) -> bool:
    if package in sys.modules:
        return sys.modules[package] is not None
    try:
        return find_spec(package) is not None
    except ImportError:
        # An import finder refuses the package.
        return False


def _advice(missing: list[str]) -> str:
    return f"needs {', '.join(missing)}: {install(*(e for e in EXTRAS if set(EXTRAS[e]) & set(missing)))}"


def install(*extras: str) -> str:
    """Return the command that installs extras: from the checkout with its pins; without a checkout, their packages."""
    if not (ROOT / "constraints.txt").is_file():
        return f"python -m pip install {' '.join(package for extra in extras for package in EXTRAS[extra])}"
    here = Path.cwd() == ROOT
    pins, project = ("constraints.txt", ".") if here else (f'"{ROOT / "constraints.txt"}"', ROOT)
    return f'python -m pip install -c {pins} -e "{project}[{",".join(extras)}]"'
