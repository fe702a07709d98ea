"""Packages that may be missing: the message that names one and says how to install it."""

import sys
import tomllib

import pytest

from verify import installed
from verify.errors import InputError
from verify.installed import EXTRAS, ROOT, install, lack, lacked_by, needs

PACKAGES = [(extra, package) for extra, brought in EXTRAS.items() for package in brought if package != "pytest-xdist"]


@pytest.fixture(autouse=True)
def at_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(("extra", "package"), PACKAGES)
def test_a_missing_package_is_named_in_one_line(monkeypatch, extra, package):
    monkeypatch.setitem(sys.modules, package, None)
    line = f'needs {package}: python -m pip install -c constraints.txt -e ".[{extra}]"'
    assert lack(package) == lack("sympy", package) == line
    with pytest.raises(InputError, match=r"^--option = 3: needs ") as told:
        needs("--option", 3, package)
    assert str(told.value) == f"--option = 3: {line}"
    with pytest.raises(ModuleNotFoundError) as error:
        __import__(package)
    assert lacked_by(error.value) == line


def test_several_missing_packages_share_a_line_that_names_each_extra_once(monkeypatch):
    for package in ("torch", "matplotlib", "networkx"):
        monkeypatch.setitem(sys.modules, package, None)
    line = 'needs torch, networkx, matplotlib: python -m pip install -c constraints.txt -e ".[plot,sim]"'
    assert lack("torch", "networkx", "numba", "matplotlib") == line


def test_packages_that_a_finder_refuses_are_missing(monkeypatch):
    class Refuses:
        def find_spec(self, name, path=None, target=None):
            raise ModuleNotFoundError(name, name=name)

    monkeypatch.delitem(sys.modules, "networkx", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Refuses()])
    assert lack("networkx").startswith("needs networkx: ")


def test_an_installed_package_is_not_named():
    assert lack("pytest", "sympy") == ""
    needs("--option", 3, "pytest", "sympy")


def test_from_another_folder_the_command_names_the_checkout(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert install("sim") == f'python -m pip install -c "{ROOT / "constraints.txt"}" -e "{ROOT}[sim]"'


def test_outside_of_a_checkout_the_packages_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(installed, "ROOT", tmp_path)
    assert install("plot", "test") == "python -m pip install latex2mathml matplotlib networkx pytest pytest-xdist"


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = {extra: tuple(x.partition(">=")[0] for x in project["optional-dependencies"][extra]) for extra in EXTRAS}
    assert brought == EXTRAS
    assert not {x.partition(">=")[0] for x in project["dependencies"]} & {x for each in brought.values() for x in each}


def test_a_missing_submodule_names_its_package():
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
def test_other_errors_name_no_package(error):
    assert lacked_by(error) == ""
