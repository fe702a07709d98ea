"""The layout: subpackages import only allowed subpackages, without a cycle; folders and the re-checker stay small."""

import inspect
import re
from functools import cache
from pathlib import Path

import pytest

from tests.layout import (
    ROOT,
    SUBPACKAGES,
    TOPS,
    circles,
    described,
    folders,
    functions,
    imports,
    longest_chain,
    modules,
    not_allowed,
    statements,
)
from verify.rechecker.clauses import KINDS
from verify.rechecker.kinds.deductions import RULES

MOST_MODULES = 12
RECHECKER = ROOT / "verify" / "rechecker"
MOST_OF_THE_RECHECKER, MOST_OF_A_KIND = 5300, 50
MOST_OF_A_FUNCTION = {"kinds/deductions.py": 30, "functions.py": 20}
"""The largest numbers of statements: in the re-checker, in the check of a kind of proof, and in a rule or a head."""


def test_subpackages_import_those_above_them_alone():
    edges = imports(modules(ROOT, "verify"))
    assert sum(map(len, edges.values())) > 300 and not_allowed(edges) == []


def test_no_file_imports_itself_in_a_circle():
    assert circles(imports(modules(ROOT, *TOPS))) == []


def test_folders_of_the_engine_are_small():
    counts = folders(modules(ROOT, "verify"))
    assert len(counts) > len(SUBPACKAGES) - 1 and max(counts.values()) <= MOST_MODULES


SUBJECTS = re.compile(
    r"attention|soft_?max|transformer|positional[ _]+encoding|wishart|marchenko|pastur|in[-_]context|wigner", re.I
)


def _subjects(folder):
    """Yield the words about the papers' subjects in the names and texts of files, with their places."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    for path in files:
        for number, line in enumerate([path.name, *path.read_text(encoding="utf-8").splitlines()]):
            yield from (f"{path.name}:{number}: {found[0]}" for found in SUBJECTS.finditer(line))


def test_the_engine_does_not_name_what_the_papers_are_about():
    assert list(_subjects(ROOT / "verify")) == []


def test_a_word_of_a_papers_subject_is_found(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "softmax.py").write_text('"""About\nWishart matrices."""\ntrained_in_context = 1\n')
    (tmp_path / "other.py").write_text("# encoding='utf-8', of a token\n")
    assert list(_subjects(tmp_path)) == ["softmax.py:0: softmax", "softmax.py:2: Wishart", "softmax.py:3: in_context"]


def planted(tmp_path, **sources):
    """Write a small package `verify` and return its imports; a keyword is a file's path with __ for /."""
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
        "import importlib\nimportlib.import_module('verify.reports.text')",
        "from importlib import import_module\ndef f():\n    return import_module(name='verify.reports.text')",
        "x = __import__('verify.reports.text')",
    ],
)
def test_an_import_of_a_subpackage_below_is_found(tmp_path, source):
    edges = planted(tmp_path, language__expressions=source, reports__text="x = 1")
    assert not_allowed(edges) == ["verify.language.expressions imports verify.reports.text"]


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
    assert len(not_allowed(planted(tmp_path, **others | {place: source}))) == 1


def test_imports_of_subpackages_above_are_allowed(tmp_path):
    source = "import verify.errors\nfrom verify.language import expressions\nfrom verify.rechecker import reading"
    others = {
        "errors": "",
        "language__expressions": "",
        "rechecker__reading": "",
        "__main__": "import verify.reports.a",
    }
    assert not_allowed(planted(tmp_path, **others, checking__check=source, reports__a="")) == []


def test_a_circle_is_found_through_functions_and_type_checkers(tmp_path):
    edges = planted(
        tmp_path,
        a="def f():\n    import verify.b",
        b="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from verify.c import x",
        c="from verify import a\nx = 1",
        d="import verify.a",
    )
    assert circles(edges) == [["verify.a", "verify.b", "verify.c"]]


def test_the_longest_chain_is_counted(tmp_path):
    assert longest_chain(planted(tmp_path, a="import verify.b", b="import verify.c", c="", d="")) == 3


def test_the_layout_is_described(tmp_path):
    planted(tmp_path, provers__a="import verify.b", b="x = 1")
    text = [re.sub(" +", " ", line) for line in described(tmp_path)]
    assert text[:3] == ["verify 1 modules", "verify/provers 1 modules", "longest chain of imports 2, largest cycle 0"]
    assert text[3:5] == ["verify 2 statements", "theorems 0 statements"]


def test_statements_are_counted_however_they_are_laid_out(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        '"""Text."""\n\n\ndef f(x):\n    """Text."""\n    if x: return 1; \n    return (\n        2\n    )\n'
    )
    # The statements are two docstrings, def, if, return and return.
    assert statements(path) == 6


def test_the_re_checker_stays_small():
    assert 4000 < sum(map(statements, modules(ROOT, "verify/rechecker").values())) <= MOST_OF_THE_RECHECKER


@pytest.mark.parametrize("name", MOST_OF_A_FUNCTION)
def test_a_rule_and_a_head_of_the_re_checker_stay_small(name):
    counts = functions(RECHECKER / name)
    assert len(counts) > 8 and {each: n for each, n in counts.items() if n > MOST_OF_A_FUNCTION[name]} == {}


def test_the_check_of_each_kind_of_proof_stays_small():
    counts = {name: _of_function(kind.check) for name, kind in KINDS.items()}
    assert len(counts) > 20 and {each: n for each, n in counts.items() if n > MOST_OF_A_KIND} == {}


def test_the_functions_of_the_rules_are_those_that_are_counted():
    counts = functions(RECHECKER / "kinds" / "deductions.py")
    assert {rule.__name__: _of_function(rule) for _, rule in RULES.values()}.items() <= counts.items()


def _of_function(function):
    """Return the number of statements in a function of the re-checker."""
    return _counted(Path(inspect.getfile(function)))[function.__qualname__]


_counted = cache(functions)


def test_the_statements_of_a_function_are_counted_with_those_inside(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("x = 1\ndef f():\n    def g():\n        return 1\n    return g\nclass A:\n    def h(self): ...\n")
    assert functions(path) == {"f": 4, "A.h": 2}
