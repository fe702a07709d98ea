"""Packages that may be missing: what is said of one."""

import sys

import pytest

from verify.errors import InputError
from verify.installed import INSTALLED_BY, lack, lacked_by, needs


@pytest.mark.parametrize("package", INSTALLED_BY)
def test_what_is_missing_is_asked_for_in_one_line(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    line = f"needs {package}: {INSTALLED_BY[package]}"
    assert lack(package) == line and "\n" not in line
    with pytest.raises(InputError, match=r"^--option = 3: needs ") as told:
        needs(package, "--option", 3)
    assert str(told.value) == f"--option = 3: {line}"
    with pytest.raises(ModuleNotFoundError) as error:
        __import__(package)
    assert lacked_by(error.value) == line


def test_what_is_there_is_not_asked_for():
    assert lack("pytest") == ""
    needs("pytest", "--option", 3)


def test_of_a_part_the_package_is_asked_for():
    assert lacked_by(ModuleNotFoundError("no", name="torch.utils.checkpoint")).startswith("needs torch: ")


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("no", name="scipy"),
        ModuleNotFoundError("no name"),
        ImportError("a part of it", name="torch"),
        ValueError("torch"),
    ],
)
def test_another_error_is_none_of_these(error):
    assert lacked_by(error) == ""
