"""What is installed: the version of this package, and others that much is done without.

What asks for one that is missing gets one line, which says what to install.
"""

import sys
from importlib.util import find_spec

from verify.errors import InputError

_SIMULATIONS = "pip install torch numba jaxtyping"
_SWEEPS = "pip install joblib pyarrow"
_DASK = "pip install dask distributed"
INSTALLED_BY = {
    "dask": _DASK,
    "distributed": _DASK,
    "jaxtyping": _SIMULATIONS,
    "joblib": _SWEEPS,
    "latex2mathml": "pip install latex2mathml",
    "matplotlib": "pip install matplotlib",
    "networkx": "pip install networkx",
    "numba": "pip install numba",
    "pyarrow": _SWEEPS,
    "pytest": "pip install pytest",
    "torch": _SIMULATIONS,
}
"""What installs a package that may be missing, by its name."""


def version() -> str:
    """Return the version of the installed distribution."""
    # It takes longer than all else that the help loads.
    from importlib import metadata

    return metadata.version("lemmascope")


def lack(package: str) -> str:
    """Return what to install where a package is missing, as in `needs torch: pip install …`; "" where it is there."""
    there = sys.modules[package] if package in sys.modules else find_spec(package)
    return "" if there else _advice(package)


def needs(package: str, name: str, value: object) -> None:
    """Raise InputError where a package is missing that a value of a name needs: one line, with what to install."""
    if lacking := lack(package):
        raise InputError(name, value, lacking)


def lacked_by(error: BaseException) -> str:
    """Return what to install for an error to go away: "" where it is not that one of these packages is missing."""
    package = str(error.name).partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return _advice(package) if package in INSTALLED_BY else ""


def _advice(package: str) -> str:
    return f"needs {package}: {INSTALLED_BY[package]}"
