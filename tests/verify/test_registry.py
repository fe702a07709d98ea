"""Theorems by id and by file: found, or an input error that says why not."""

import subprocess
import sys
from importlib import metadata
from types import SimpleNamespace

import pytest

from verify import InputError, Theorem, load_theorem, theorem_ids

MINE = 'mine = theorem_of(Inequality("c", sp.Lt(x, 2)))\n'


def test_ids_are_sorted_and_are_those_of_the_entry_points():
    declared = {entry.name for entry in metadata.entry_points(group="lemmascope.theorems")}
    assert theorem_ids() == sorted(declared) and "wang2024.theorem1" in declared


def test_listing_the_ids_imports_no_theorem():
    code = "import sys, verify; verify.theorem_ids(); sys.exit(any(m.split('.')[0] == 'theorems' for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_theorem_is_loaded_by_its_id():
    theorem = load_theorem("wang2024.theorem1")
    assert isinstance(theorem, Theorem) and theorem.id == "wang2024.theorem1"


def test_an_unknown_id_names_the_known_ones():
    with pytest.raises(InputError, match=r"theorem = wang2024.theorem9: unknown id; known are .*wang2024.theorem1"):
        load_theorem("wang2024.theorem9")


def test_an_entry_point_that_is_no_theorem_is_refused(monkeypatch):
    entry = SimpleNamespace(name="other.thing", load=lambda: 42)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [entry])
    with pytest.raises(InputError, match=r"other\.thing: is a int, not a Theorem"):
        load_theorem("other.thing")


def test_a_theorem_is_loaded_from_a_file(theorem_file):
    path = theorem_file(MINE)
    assert load_theorem(f"{path}:mine").id == "user.mine"
    assert load_theorem(path).id == "user.mine"


def test_a_file_with_several_theorems_needs_a_name(theorem_file):
    path = theorem_file(MINE + 'other = theorem_of(Inequality("c", sp.Gt(x, 2)))\n')
    assert load_theorem(f"{path}:other").statement.clauses[0].text == "x > 2"
    for reference in (path, f"{path}:third", f"{path}:x"):
        with pytest.raises(InputError, match="the file has the theorems mine, other"):
            load_theorem(reference)


def test_a_file_may_import_its_neighbours(theorem_file, tmp_path):
    (tmp_path / "bound_of_mine.py").write_text("BOUND = 2\n")
    before = list(sys.path)
    path = theorem_file('from bound_of_mine import BOUND\nmine = theorem_of(Inequality("c", sp.Lt(x, BOUND)))\n')
    assert load_theorem(path).statement.clauses[0].text == "x < 2"
    assert sys.path == before
    del sys.modules["bound_of_mine"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("def f(:\n", r"line 1: SyntaxError"),
        ("x = 1\ny = 2\nraise RuntimeError('boom')\n", r"line 3: RuntimeError: boom"),
        ("x = 1\n\n\ndef f():\n    return 1 / 0\n\nf()\n", r"line 5: ZeroDivisionError"),
        ("import no_such_module_here\n", r"line 1: ModuleNotFoundError"),
        ("import sys\nsys.exit(3)\n", r"line 2: SystemExit: 3"),
        ("from verify import Hypothesis\nHypothesis('h')\n", r"line 2: TheoremError: hypothesis h: needs"),
        ("x = 1\n", "the file holds no theorem"),
        ("", "the file holds no theorem"),
    ],
)
@pytest.mark.parametrize("relative", [False, True])
def test_a_file_that_is_not_understood_says_where(theorem_file, monkeypatch, tmp_path, body, why, relative):
    path = theorem_file(body, "broken.py", header="")
    if relative:
        # The frames of an exception carry the absolute path.
        monkeypatch.chdir(tmp_path)
        path = "broken.py"
    for reference in (path, f"{path}:name"):
        with pytest.raises(InputError, match=why) as refused:
            load_theorem(reference)
        assert "\n" not in str(refused.value)
    assert "" not in sys.path[:1]


def test_a_syntax_error_in_a_neighbour_names_the_neighbour(theorem_file, tmp_path):
    (tmp_path / "broken_neighbour.py").write_text("\n\n\n\n\n\n\ndef f(:\n")
    with pytest.raises(InputError, match=r"broken_neighbour\.py"):
        load_theorem(theorem_file("import broken_neighbour\n"))


@pytest.mark.parametrize("reference", ["no_such_file.py", "no_such_file.py:name", "/no/such/dir/file.py:name", "."])
def test_a_file_that_does_not_exist_is_named(reference):
    with pytest.raises(InputError, match=r"no such file|unknown id"):
        load_theorem(reference)


def test_a_directory_is_no_file(tmp_path):
    folder = tmp_path / "folder.py"
    folder.mkdir()
    with pytest.raises(InputError, match="no such file"):
        load_theorem(str(folder))


def test_an_interrupt_while_a_file_is_loaded_is_not_an_input_error(theorem_file):
    with pytest.raises(KeyboardInterrupt):
        load_theorem(theorem_file("raise KeyboardInterrupt\n"))
