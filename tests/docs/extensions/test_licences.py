"""The table of licences lists each package that `pyproject.toml` names, and each has a licence."""

import re
import tomllib
from importlib import metadata

import pytest

from docs.extensions.licences import licence, licences
from tests.pages import ROOT


def test_every_package_that_is_needed_is_listed_with_its_extras():
    rows = dict(re.findall(r"^\| `([\w.-]+)` \| ([\w, ]+) \| (?!see)\S", licences(), re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert len(rows) > 20 and rows["sympy"] == "install" and rows["torch"] == "sim" and "lemmascope" not in rows
    for extra, lines in project["optional-dependencies"].items():
        for line in lines:
            (name, *_) = re.findall(r"[\w.-]+", line)
            assert name == "lemmascope" or extra in rows[name].split(", ")


def test_a_licence_is_what_the_package_says():
    assert licence("python-flint") == metadata.metadata("python-flint")["License-Expression"]
    with pytest.raises(metadata.PackageNotFoundError):
        licence("no-such-package")
