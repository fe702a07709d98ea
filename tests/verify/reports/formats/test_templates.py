"""Template files: the check of each kind succeeds without changes, and no existing file is overwritten."""

import shlex

import pytest

import verify
from tests.verify.command_line import assert_one_line, body_of
from verify import InputError
from verify.reports.formats.templates import KINDS

EXPECTED = {
    "inequality": (0, "proved"),
    "identity": (0, "proved"),
    "recursion": (0, "proved"),
    "argument": (0, "simulated"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_prints_as_its_last_lines_say(cli, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("new", f"my_{kind}.py", "--kind", kind)
    assert (code, err) == (0, "") and out == f"my_{kind}.py: its last lines are the commands to try\n"
    last = [line.removeprefix("#").strip() for line in (tmp_path / f"my_{kind}.py").read_text().splitlines()[-6:]]
    commands, printed = [shlex.split(line)[1:] for line in last[::2]], last[1::2]
    assert [words[0] for words in commands] == ["check", "explore", "prove"]
    for words, said in zip(commands, printed, strict=True):
        assert any(line.strip().startswith(said) for line in cli(*words)[1].splitlines()), words
    said = "check evaluates it by drawn trials" in (tmp_path / f"my_{kind}.py").read_text()
    assert said is (EXPECTED[kind][1] == "simulated")
    code, out, _ = cli(*commands[0], "--json")
    body = body_of(out)
    assert (code, body["evidence"]) == EXPECTED[kind] and body["in_scope"]
    assert all(clause["holds"] for clause in body["clauses"])
    assert cli(*commands[2])[0] == 0
    # No line of the file exceeds the limit for our own lines.
    assert all(len(line) <= 120 for line in (tmp_path / f"my_{kind}.py").read_text().splitlines())


def test_a_file_that_is_there_is_left_alone(cli, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("mine")
    assert_one_line(cli("new", str(path)), "already exists, and is not overwritten")
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("mine.txt", "identity", "must be NAME.py"),
        ("1st.py", "identity", "must be NAME.py"),
        ("a-b.py", "identity", "must be NAME.py"),
        ("class.py", "identity", "class is a Python keyword"),
        ("none/mine.py", "identity", "cannot be written"),
        ("mine.py", "identty", "did you mean identity?"),
    ],
)
def test_a_bad_path_or_kind_is_refused_with_the_reason(tmp_path, name, kind, said):
    with pytest.raises(InputError) as refused:
        verify.new(tmp_path / name, kind)
    assert said in str(refused.value) and list(tmp_path.iterdir()) == []


def commands(folder, tmp_path, monkeypatch):
    """Write a template in a folder, and return the words of each command that it names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir()
    verify.new(f"{folder}/mine.py")
    last = (tmp_path / folder / "mine.py").read_text().splitlines()[-6::2]
    return [shlex.split(line.split("verify ")[1]) for line in last]


@pytest.mark.parametrize("folder", ["sub", "a b", 'a"""b', "a\\x"])
def test_its_commands_name_the_path_as_it_was_given(tmp_path, monkeypatch, folder):
    named = [words[1] for words in commands(folder, tmp_path, monkeypatch)]
    assert len(named) > 1 and set(named) == {f"{folder}/mine.py"}


def test_its_commands_run(cli, tmp_path, monkeypatch):
    # The search drops the hypothesis and finds a counterexample.
    assert [cli(*words)[0] for words in commands('a "b', tmp_path, monkeypatch)] == [0, 1, 0]


def test_in_python_it_returns_the_path(tmp_path):
    assert verify.check(str(verify.new(tmp_path / "mine.py")), x=1, y=2).in_scope
