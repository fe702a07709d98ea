"""The catalogue of a package, from the objects that its modules assign at their top level."""

import importlib
import json
import sys

import pytest

from verify import InputError
from verify.checking.registry import KINDS
from verify.reports.catalogue import catalogue_text

HEAD = """
import sympy as sp
from verify import Inequality, Parameter, Source, Statement, Theorem
x = sp.Symbol("x", positive=True)
def made(name):
    statement = Statement((Parameter("x", "rational", "x", above=0),), (Inequality("c", sp.Lt(x, 2)),))
    return Theorem(name, "a title", Source("1", "derived here"), statement, {"x": 1})
"""


@pytest.fixture
def catalogue(tmp_path, monkeypatch):
    """Return a function that writes the modules of packages, and returns the catalogue of `listed_first`."""
    monkeypatch.syspath_prepend(tmp_path)
    folders = set()

    def write(**files):
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/", 1) + (".json" if name.endswith("catalogue") else ".py"))
            path.parent.mkdir(exist_ok=True)
            (path.parent / "__init__.py").touch()
            path.write_text(text)
            folders.add(path.parent.name)
        importlib.invalidate_caches()
        return json.loads(catalogue_text("listed_first"))

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] in folders]:
        del sys.modules[name]


def test_objects_are_listed_by_the_module_that_assigns_them(catalogue):
    found = catalogue(
        listed_first__one=HEAD
        + 'a, b = made("user.a"), made("user.b")\nc: Theorem = made("user.c")\nkept = [made("user.d")]\n',
        listed_first__two="from listed_first.one import a\nfrom verify import Theorem\n",
        listed_first__test_two=HEAD + 'a = made("user.of_a_test")\n',
        listed_first__conftest="raise RuntimeError\n",
    )
    assert found == {"packages": ["listed_first"]} | {f"{kind}s": {} for kind in KINDS} | {
        "theorems": {f"user.{name}": f"listed_first.one:{name}" for name in "abc"}
    }


def test_the_packages_that_a_catalogue_names_are_looked_at(catalogue):
    catalogue(listed_first__one=HEAD + 'a = made("user.a")\n', listed_second__one=HEAD + 'b = made("user.b")\n')
    empty = {f"{kind}s": {} for kind in KINDS}
    found = catalogue(listed_first__catalogue=json.dumps({"packages": ["listed_first", "listed_second"], **empty}))
    assert found["packages"] == ["listed_first", "listed_second"]
    assert found["theorems"] == {"user.a": "listed_first.one:a", "user.b": "listed_second.one:b"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1 / 0\n", r"module = listed_first\.one: cannot be imported: ZeroDivisionError"),
        ("import sys\nsys.exit(3)\nx = 1\n", r"module = listed_first\.one: cannot be imported: SystemExit: 3"),
        ("x = (\n", r"file = .*one\.py.*: cannot be read: "),
        (
            HEAD + 'a = made("user.a")\nb = made("user.a")\n',
            r"theorem = user\.a: is the id of listed_first\.one:a and of ",
        ),
    ],
)
def test_a_module_that_cannot_be_listed_is_an_input_error(catalogue, text, why):
    with pytest.raises(InputError, match=why):
        catalogue(listed_first__one=text if "x = 1" in text or "made" in text or "(" in text else text + "x = 1\n")
