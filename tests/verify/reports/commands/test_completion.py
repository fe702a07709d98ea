"""Completion: the completions of the last word of a line, and the scripts for the shells."""

import shutil
import subprocess
import sys

import pytest

from tests.verify.command_line import assert_one_line, body_of
from verify.reports import command_line
from verify.reports.commands.completion import SCRIPTS, complete


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("verify ch", ["check"]),
        ("verify --v", ["--version"]),
        ("verify check wang2024.theorem", ["wang2024.theorem1", "wang2024.theorem2"]),
        ("verify check wang2024.theorem1 ", ["T=", "d=", "eps=", "eta=", "q="]),
        ("verify check wang2024.theorem1 T=9 e", ["eps=", "eta="]),
        ("verify check --digits 3 wang2024.theorem1 eta=1 e", ["eps="]),
        ("verify check wang2024.theorem1 --di", ["--digits"]),
        ("verify check wang2024.theorem1 --digits ", []),
        ("verify check --json wang2024.theorem1 q", ["q="]),
        ("verify check wang2024.theorem2 attend=", ["attend=tokens", "attend=tokens_and_query"]),
        ("verify explore wang2024.theorem1 --drop st", ["step_size"]),
        ("verify explore --seconds 3 wang2024.theorem1 --drop st", ["step_size"]),
        ("verify explore --json wang2024.theorem1 T=9 --drop st", ["step_size"]),
        ("verify sweep --jobs 2 wang2024.theorem1 --over e", ["eps=", "eta="]),
        ("verify sweep wang2024.theorem1 --over e", ["eps=", "eta="]),
        ("verify list --paper w", ["wang2024"]),
        ("verify conditions wang2024.theorem1 --format m", ["markdown"]),
        ("verify derive wang2024.lemma1 --format ", ["json", "latex", "markdown", "text"]),
        ("verify completion ", ["bash", "fish", "zsh"]),
        ("verify new a.py --kind i", ["identity", "inequality"]),
        ("verify simulate li2024.closeness --device c", ["cpu", "cuda"]),
        ("verify simulate li2024.clos", ["li2024.closeness"]),
        ("verify simulate wang2024.separation sh", ["share="]),
        # An unknown verb, or one that fails, completes to nothing.
        ("verify chek ", []),
        ("verify check no.theorem ", []),
        ("verify explore no.theorem --drop ", []),
        ("verify explore --drop ", []),
        ("verify recheck ", []),
        ("verify new ", []),
    ],
)
def test_a_line_is_completed(line, found):
    assert complete(line) == found


@pytest.mark.parametrize("words", [("derive", "wang2024.lemma1"), ("conditions", "wang2024.lemma1", "T=9", "q=2")])
def test_each_form_that_is_suggested_is_one(cli, words):
    suggested = complete(" ".join(("verify", *words, "--format", "")))
    assert len(suggested) == 4 and [cli(*words, "--format", each)[0] for each in suggested] == [0] * 4


def test_nothing_is_all_verbs():
    assert {"check", "new", "--help"} <= set(complete("verify ")) and complete("verify") == []


def test_a_file_that_prints_or_fails_is_no_trouble(theorem_file, capsys):
    path = theorem_file("print('loud')\nmine = theorem_of(Inequality('c', sp.Lt(x, 2)))\n")
    assert complete(f"verify check {path} ") == ["x="] and capsys.readouterr() == ("", "")
    assert complete(f"verify check {theorem_file('1/0', 'broken.py')} ") == []


def test_the_hidden_word_prints_them(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["verify", "__complete", "verify ch"])
    with pytest.raises(SystemExit) as stop:
        command_line.main()
    assert (stop.value.code, capsys.readouterr().out) == (0, "check\n")


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_script_is_printed(cli, shell):
    assert cli("completion", shell) == (0, SCRIPTS[shell], "")
    assert body_of(cli("completion", shell, "--json")[1])["script"] == SCRIPTS[shell]


def test_the_help_says_that_a_file_runs(cli):
    assert "runs the file's code" in " ".join(cli("completion", "--help")[1].split())


def test_another_shell_is_refused(cli):
    assert_one_line(cli("completion", "bsh"), "shell = bsh", "did you mean bash")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("line", "reply"),
    [("verify che", "check"), ("verify check wang2024.theorem2 attend=tokens_", "tokens_and_query")],
)
def test_in_bash(tmp_path, line, reply):
    script = tmp_path / "complete.bash"
    script.write_text(
        f'verify() {{ {sys.executable} -m verify "$@"; }}\n{SCRIPTS["bash"]}'
        f"COMP_LINE='{line}'\nCOMP_POINT=${{#COMP_LINE}}\n_verify\necho \"${{COMPREPLY[@]}}\"\n"
    )
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (reply + "\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_reads_its_script(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    path = tmp_path / "script"
    path.write_text(SCRIPTS[shell])
    assert subprocess.run([shell, "-n", str(path)], capture_output=True, check=False).stderr == b""
