"""Doors: the modules behind a door, their allowed imports and their digest; no other module is run."""

import sys
from importlib import metadata

import pytest

from tests.layout import ROOT, imports, modules
from verify.checking import doors
from verify.checking.doors import HELPERS, asks_for_doors, door, doors as installed_doors, primitives, with_doors
from verify.rechecker.reading import Unknown

AREAS = {"attention": "sparse_token_selection", "layers": "preconditioned_descent", "wishart": "wishart"}


def by_name(entries, group):
    names = entries.select(group=group).names
    return {f"dist.{name}": tuple(entries.select(group=group, name=name)) for name in names}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose folder cannot be imported, with a door: `package(file=text, …)` writes its modules."""
    folder = tmp_path / "packaged"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError('the package is run')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(doors, "installed_by_name", lambda group: by_name(metadata.EntryPoints(entries), group))
    entries = [metadata.EntryPoint("helps", "packaged.inside.door:RECHECKS", doors.GROUP)]

    def write(**files):
        for name, text in files.items():
            path = folder / ((name if "/" in name else name.replace("__", "/")) + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return door("dist.helps")

    write.entries = entries
    yield write
    for name in [name for name in sys.modules if name.startswith("packaged")]:
        del sys.modules[name]


DOOR = """
from verify.rechecker.registry import Primitive, Rechecks
from .other import double
RECHECKS = Rechecks(2, primitives={"doubled_here/1": Primitive(1, double)})
"""
OTHER = "from fractions import Fraction\ndef double(effort, x):\n    return 2 * x\n"


def test_the_modules_that_a_door_reaches_are_run_and_no_other(package):
    found = package(inside__door=DOOR, inside__other=OTHER, inside__unused="raise RuntimeError")
    assert (found.name, found.package) == ("dist.helps", "packaged")
    rechecks = found.load()
    assert rechecks.version == 2 and rechecks.primitives["doubled_here/1"].value(None, 3) == 6
    assert not any(name.startswith("packaged") for name in sys.modules)


def test_the_digest_is_of_the_text_of_these_modules_alone(package):
    first = package(inside__door=DOOR, inside__other=OTHER).digest
    assert package(inside__unused="x = 1").digest == first
    changed = package(inside__other=OTHER.replace("2 * x", "3 * x"))
    assert changed.digest != first and changed.load().primitives["doubled_here/1"].value(None, 3) == 9
    assert package(inside__other=OTHER).digest == first


def test_modules_are_run_as_they_were_read(package):
    found = package(inside__door=DOOR, inside__other=OTHER)
    package(inside__other=OTHER.replace("2 * x", "3 * x"))
    assert found.load().primitives["doubled_here/1"].value(None, 3) == 6


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("import numpy", r"packaged\.inside\.other, line 1: imports numpy; a door may import the standard library"),
        ("import sympy as sp", "imports sympy"),
        ("from verify.rechecker.given import Given", r"imports verify\.rechecker\.given"),
        ("from verify.rechecker import given", r"imports verify\.rechecker;"),
        ("from verify import check", "imports verify;"),
        ("from verify.errors import InputError", r"imports verify\.errors"),
        ("def f():\n    import torch", "line 2: imports torch"),
        ("import packaged.inside.more", r"imports packaged\.inside\.more by its full name"),
        ("from packaged.inside import more", r"imports packaged\.inside by its full name"),
        ("import verify.rechecker.balls", r"imports verify\.rechecker\.balls; a door may"),
        ("import verify.rechecker.balls as balls", r"imports verify\.rechecker\.balls; a door may"),
        ("from ....above import x", "a relative import leaves the package"),
        ("import importlib", "imports importlib"),
        ("from importlib.util import find_spec", r"imports importlib\.util"),
        ("x = __import__('numpy')", "uses __import__"),
        ("exec('import numpy')", "uses exec"),
        ("import builtins", "imports builtins"),
        ("from builtins import exec as run", "imports exec"),
        ("import sys\nx = sys.modules", "line 2: uses modules"),
        ("from sys import modules", "imports modules"),
        ("x = (lambda: 1).__globals__", "uses __globals__"),
        ("def f(:", "cannot be read: SyntaxError"),
        ("x = '\0'", "cannot be read"),
    ],
)
def test_a_door_that_reaches_further_is_refused(package, line, why):
    with pytest.raises(Unknown, match=why):
        package(inside__door=DOOR, inside__other=line + "\n" + OTHER)


def test_helpers_flint_and_the_standard_library_are_allowed(package):
    lines = "from flint import arb\nimport math, os.path\nfrom verify.rechecker.balls import ball\n"
    lines += "from verify.rechecker import balls, reading\nfrom . import more\n"
    assert package(inside__door=DOOR, inside__other=lines + OTHER, inside__more="y = 1\n").load().version == 2


def test_other_files_under_the_names_of_a_doors_modules_are_not_run(package, tmp_path):
    found = package(inside__door=DOOR, inside__other=OTHER)
    folder = tmp_path / doors._UNDER / f"x{found.digest[:16]}" / "packaged" / "inside"
    folder.mkdir(parents=True)
    (folder / "door.py").write_text(DOOR.replace("from .other import double", "double = lambda effort, x: 0"))
    assert found.load().primitives["doubled_here/1"].value(None, 3) == 6


def test_a_doors_name_is_one_word(package):
    package(inside__door=DOOR, inside__other=OTHER)
    package.entries[:] = [metadata.EntryPoint("my, helps", "packaged.inside.door:RECHECKS", doors.GROUP)]
    with pytest.raises(
        Unknown, match=r"'dist\.my, helps': a door's name consists of letters A to Z and a to z, digits"
    ):
        door("dist.my, helps")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("RECHECKS = 1", "is a int, not a Rechecks"),
        ("x = 1", "cannot be loaded: AttributeError"),
        ("RECHECKS = 1 / 0", "cannot be loaded: ZeroDivisionError"),
        ("from .missing import x", r"packaged\.inside\.missing: has no source file"),
    ],
)
def test_a_door_that_leads_nowhere_says_why(package, text, why):
    with pytest.raises(Unknown, match=why):
        package(inside__door=text).load()


def test_a_door_that_is_not_installed_or_is_twice_is_unknown(package):
    package(inside__door=DOOR, inside__other=OTHER)
    for name in ("dist.none", "none.helps", "helps"):
        with pytest.raises(Unknown, match="is not installed"):
            door(name)
    package.entries.append(metadata.EntryPoint("helps", "packaged.again:RECHECKS", doors.GROUP))
    with pytest.raises(Unknown, match="is provided by several packages"):
        door("dist.helps")


@pytest.mark.parametrize(
    "value", ["packaged.inside.door", "no_such_package.a:b", "sys:path", "packaged.none:x", "__main__:x", "a"]
)
def test_an_entry_that_is_no_module_of_a_package_is_refused(package, value):
    package.entries[:] = [metadata.EntryPoint("helps", value, doors.GROUP)]
    with pytest.raises(Unknown):
        door("dist.helps")


def test_a_name_with_a_dot_and_an_entry_with_an_extra_are_understood(package):
    package.entries[:] = [metadata.EntryPoint("a.b", "packaged.inside.door : RECHECKS [extra]", doors.GROUP)]
    with pytest.raises(Unknown, match=r"dist\.helps is not installed"):
        package(inside__door=DOOR, inside__other=OTHER)
    assert door("dist.a.b").load().version == 2


def test_digest_covers_the_object_named_by_the_entry_point(package):
    first = package(inside__door=DOOR + "OTHER = Rechecks(2)\n", inside__other=OTHER)
    package.entries[:] = [metadata.EntryPoint("helps", "packaged.inside.door:OTHER", doors.GROUP)]
    assert door("dist.helps").digest != first.digest and not door("dist.helps").load().primitives


def test_a_declared_encoding_does_not_change_what_is_run(package):
    """Both texts are read as UTF-8: there `hidden` has an import, and `spelled` only a string (not so in UTF-7)."""
    hidden = b"# coding: utf-7\nx = '+AFw-'; import numpy #'\n"
    with pytest.raises(Unknown, match="imports numpy"):
        package(inside__door=DOOR, inside__other=hidden + OTHER.encode())
    spelled = b"# coding: utf-7\nx = '+ACc-import numpy+ACc-'\n"
    assert package(inside__door=DOOR, inside__other=spelled + OTHER.encode()).load().version == 2
    for bad in (b"# coding: latin-1\nx = '\xe9'\n", b"\xef\xbb\xbfx = 1\n"):
        with pytest.raises(Unknown, match="cannot be read"):
            package(inside__other=bad + OTHER.encode())


def test_the_names_of_a_folder_come_before_its_modules(package):
    """As in Python, `double` is the function that the folder's `__init__` imports, not the module of the same name."""
    door_text = DOOR.replace("from .other", "from .sub")
    files = {"inside/sub/__init__": "from .double import double\n", "inside/sub/double": OTHER}
    found = package(inside__door=door_text, **files)
    assert found.load().primitives["doubled_here/1"].value(None, 3) == 6


def test_a_door_that_ends_the_program_is_refused(package):
    with pytest.raises(Unknown, match="cannot be loaded: SystemExit"):
        package(inside__door="import sys\nsys.exit(3)\n").load()


def test_a_bad_door_keeps_no_other_out_and_its_reason_is_kept(package):
    package(inside__door=DOOR, inside__other=OTHER, bad="import numpy\n", taken=DOOR.replace(".other", ".inside.other"))
    package.entries.append(metadata.EntryPoint("bad", "packaged.bad:RECHECKS", doors.GROUP))
    package.entries.append(metadata.EntryPoint("taken", "packaged.taken:RECHECKS", doors.GROUP))
    known, refused = installed_doors()
    assert [each.name for each in known] == ["dist.helps", "dist.taken"] and "imports numpy" in refused[0]
    registry, why = with_doors()
    assert str(registry.brought["primitives", "doubled_here/1"]) == "dist.helps/2"
    assert len(why) == 2 and "brings 'doubled_here/1', which is there already" in why[1]


def test_kinds_known_to_the_core_ask_for_no_door():
    claim = {"kind": "inequality", "relation": ["Gt", ["Integer", "2"], ["Integer", "1"]]}
    applied = ["Primitive", "f", 1, ["Primitive", "g", 2]]
    assert not asks_for_doors([claim, {"kind": "mine"}], clauses=[claim], proofs=[{"kind": "exact"}, None])
    assert asks_for_doors({"definitions": [["D", applied]]}) and list(primitives([[applied]])) == ["f/1", "g/2"]
    assert asks_for_doors(clauses=[{"kind": "mine"}]) and asks_for_doors(proofs=[{"kind": "mine"}])
    assert asks_for_doors(proofs=[{"kind": "exact", "at": applied}])


def test_ours_import_the_helpers_alone_and_all_of_them_are_opened():
    registry, refused = with_doors()
    names = {f"lemmascope.{name}" for name in AREAS}
    assert refused == () and {trusted.name for trusted in registry.brought.values()} == names
    edges = imports(modules(ROOT, "theorems", "verify"))
    for name, area in AREAS.items():
        own = {module for module in edges if module.startswith(f"theorems.{area}.rechecked")}
        behind = set(doors._closure(f"theorems.{area}.rechecked"))
        assert own <= behind, f"{name}: not reached: {own - behind}"
        assert all(edges[module] <= behind | HELPERS for module in own)
