"""The public names of the package exist, and are loaded only when they are used."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import verify
from verify.installed import version

STUB = Path(verify.__file__).with_suffix(".pyi")


@pytest.mark.parametrize("name", verify.__all__)
def test_every_public_name_is_there(name):
    value = getattr(verify, name)
    assert value.__name__ == name and value.__module__.startswith("verify.")


def test_names_are_listed_once_and_completed():
    names = [line.split()[3] for line in STUB.read_text().splitlines() if line.startswith("from ")]
    assert sorted(names) == verify.__all__ and {*names, "__version__"} == set(dir(verify))
    assert verify.__version__ == version() and (STUB.parent / "py.typed").is_file()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'verify' has no attribute 'Lemma'"):
        _ = verify.Lemma


def test_importing_the_package_is_light():
    code = "import sys, verify, verify.reports.command_line as _; "
    code += "sys.exit(any(m in sys.modules for m in ('sympy', 'torch', 'flint')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_version_is_that_of_the_installed_distribution():
    assert version() == metadata.version("lemmascope")
    assert all(part.isdigit() for part in version().split(".")[:2])
