"""The licences of the packages that this one needs, read from the metadata of the installed packages."""

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from docs.extensions.markdown import code, plain, table

_NAME = re.compile(r"[\w.-]+")
_CLASSIFIER = "License :: OSI Approved :: "
_OWN = "lemmascope"
_KNOWN = {"torch": "BSD-3-Clause"}
"""Licences of packages whose metadata state none in some builds."""
_LONGEST = 60
"""Maximum number of characters of a licence's name; a longer field is the licence's text."""


def licences() -> str:
    """Return a table of the packages that are named in `pyproject.toml`: the extras that need each, and its licence."""
    rows = ((code(name), ", ".join(extras), plain(licence(name))) for name, extras in sorted(_needed().items()))
    return table(("package", "needed for", "licence"), rows)


def _needed() -> dict[str, list[str]]:
    """Return the extras that ask for each package; `install` stands for the light install, which has no extra."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {"install": project["dependencies"], **project["optional-dependencies"]}
    needed: dict[str, list[str]] = {}
    for extra, name in ((extra, name) for extra, lines in asked.items() for name in _names(lines)):
        needed.setdefault(name, []).append(extra)
    return needed


def _names(requirements: list[str]) -> Iterator[str]:
    for line in requirements:
        (name,) = _NAME.findall(line)[:1]
        if name != _OWN:
            yield name.lower()


def licence(name: str) -> str:
    """Return the licence of an installed package: its expression, its short field, or its classifiers."""
    if name in _KNOWN:
        return _KNOWN[name]
    said: Any = metadata.metadata(name)
    field = said.get("License-Expression") or said.get("License") or ""
    if 0 < len(field) <= _LONGEST:
        return " ".join(field.split())
    found = [each.removeprefix(_CLASSIFIER) for each in said.get_all("Classifier", []) if each.startswith(_CLASSIFIER)]
    return ", ".join(found) or "see the package"
