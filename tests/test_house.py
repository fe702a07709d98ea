"""The house keeps its plan: wings that look up alone, no circle of files, at most twelve modules a folder."""

import pytest

from tests.house import (
    BY_NAME,
    ROOT,
    TOPS,
    WINGS,
    by_name,
    circles,
    described,
    floors,
    folders,
    imports,
    modules,
    out_of_wing,
)

MOST_MODULES = 12


def test_the_wings_look_up_alone():
    edges = imports(modules(ROOT, "verify"))
    assert sum(map(len, edges.values())) > 300 and out_of_wing(edges) == []


def test_what_is_imported_by_name_is_known():
    assert by_name(modules(ROOT, "verify")) == BY_NAME


def test_no_file_imports_itself_in_a_circle():
    assert circles(imports(modules(ROOT, *TOPS))) == []


def test_folders_of_the_engine_are_small():
    counts = folders(modules(ROOT, "verify"))
    assert len(counts) > len(WINGS) - 1 and max(counts.values()) <= MOST_MODULES


def planted(tmp_path, **sources):
    """The imports of a small `verify`, of files by their path with __ for /."""
    for name, source in sources.items():
        path = tmp_path / "verify" / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source + "\n")
    return imports(modules(tmp_path, "verify"))


@pytest.mark.parametrize(
    "source",
    [
        "import verify.reports.text",
        "from verify.reports import text",
        "from verify.reports.text import x",
        "from ..reports.text import x",
        "def f():\n    from verify.reports.text import x",
        "class A:\n    def f(self):\n        import verify.reports.text",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from verify.reports.text import x",
    ],
)
def test_an_import_of_a_wing_below_is_found(tmp_path, source):
    edges = planted(tmp_path, language__expressions=source, reports__text="x = 1")
    assert out_of_wing(edges) == ["verify.language.expressions imports verify.reports.text"]


@pytest.mark.parametrize(
    "source",
    [
        "import importlib\nimportlib.import_module('verify.reports.text')",
        "from importlib import import_module\ndef f():\n    return import_module(name='verify.reports.text')",
        "x = __import__('verify.reports.text')",
    ],
)
def test_an_import_by_name_is_found(tmp_path, source):
    planted(tmp_path, language__expressions=source, reports__text="f('verify.errors')", errors="")
    assert by_name(modules(tmp_path, "verify")) == {("verify.language.expressions", "verify.reports.text")}


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("rechecker__reading", "import verify.errors"),
        ("search__explore", "import verify.runs.store"),
        ("runs__store", "def f():\n    import verify.search.explore"),
        ("errors", "import verify.language.expressions"),
    ],
)
def test_neighbours_and_the_re_checker_are_held_apart(tmp_path, place, source):
    others = {"errors": "", "runs__store": "", "search__explore": "", "language__expressions": ""}
    assert len(out_of_wing(planted(tmp_path, **others | {place: source}))) == 1


def test_what_looks_up_is_allowed(tmp_path):
    source = "import verify.errors\nfrom verify.language import expressions\nfrom verify.rechecker import reading"
    others = {
        "errors": "",
        "language__expressions": "",
        "rechecker__reading": "",
        "__main__": "import verify.reports.a",
    }
    assert out_of_wing(planted(tmp_path, **others, checking__check=source, reports__a="")) == []


def test_a_circle_is_found_through_functions_and_type_checkers(tmp_path):
    edges = planted(
        tmp_path,
        a="def f():\n    import verify.b",
        b="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from verify.c import x",
        c="from verify import a\nx = 1",
        d="import verify.a",
    )
    assert circles(edges) == [["verify.a", "verify.b", "verify.c"]]


def test_floors_are_counted(tmp_path):
    assert floors(planted(tmp_path, a="import verify.b", b="import verify.c", c="", d="")) == 3


def test_the_house_is_described():
    text = "\n".join(described())
    assert "largest circle 0" in text and "verify/provers" in text and "(median)" in text
