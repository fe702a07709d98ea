"""Completion in real shells: keys are typed at a prompt, and the resulting line is read."""

import os
import shutil
import sys
from pathlib import Path

import pytest

import verify
from verify.reports.commands.completion import SCRIPTS

pexpect = pytest.importorskip("pexpect", reason="there is no terminal to type at")
STARTED = {
    "bash": ("--norc", "--noprofile", "-i"),
    "zsh": ("-f", "-i"),
    "fish": ("--no-config", "--private", "-i"),
}
LINES = {
    "verify che\t": "verify check",
    "verify prove wang2024.inverse_\t": "verify prove wang2024.inverse_loss_rate",
    "verify check first.py y\t3 --dig\t": "verify check first.py y=3 --digits",
    "verify explore first.py --drop la\t": "verify explore first.py --drop larger",
    "verify completion fi\t": "verify completion fish",
    "verify recheck kep\t": "verify recheck kept.json",
    "verify check no.theorem x\t": "verify check no.theorem x",
}
"""Typed texts and their completions: verbs, ids, parameters, options, labels, words, files, nothing."""
SECONDS = 60


@pytest.fixture
def prompt(tmp_path):
    """Start a shell in a folder with a theorem; return a function that types keys and returns the resulting line."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "verify"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m verify "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    verify.new(tmp_path / "first.py")
    (tmp_path / "kept.json").write_text("{}", encoding="utf-8")
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    root = str(Path(verify.__file__).parents[1])
    there = os.environ | {"HOME": str(tmp_path), "PATH": path, "TERM": "xterm", "PYTHONPATH": root}
    started = []

    def start(shell, *first):
        if shutil.which(shell) is None:
            pytest.skip(f"there is no {shell}")
        options = {"cwd": str(tmp_path), "env": there, "dimensions": (40, 200), "timeout": SECONDS}
        terminal = pexpect.spawn(shell, list(STARTED[shell]), encoding="utf-8", **options)
        started.append(terminal)
        for line in first:
            terminal.sendline(line)

        def left(keys):
            # The line is turned into a quoted word, which printf writes to a file.
            terminal.send(f"{keys}\x01printf %s '\x05' >line; printf 'do''ne\\n'\r")
            terminal.expect("done")
            return (tmp_path / "line").read_text(encoding="utf-8")

        return left

    yield start
    for terminal in started:
        terminal.close(force=True)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_line_is_completed_at_the_prompt(prompt, tmp_path, shell):
    (tmp_path / "script").write_text(SCRIPTS[shell], encoding="utf-8")
    left = prompt(shell, "source ./script")
    assert {keys: left(keys).rstrip() for keys in LINES} == LINES


@pytest.mark.parametrize("shell", SCRIPTS)
def test_without_the_script_nothing_is_completed(prompt, shell):
    assert prompt(shell)("verify prove wang2024.inverse_\t").rstrip() == "verify prove wang2024.inverse_"


def test_zsh_loads_it_from_a_folder_too(prompt, tmp_path):
    functions = tmp_path / "functions"
    functions.mkdir()
    (functions / "_verify").write_text(SCRIPTS["zsh"], encoding="utf-8")
    left = prompt("zsh", f"fpath=({functions} $fpath)", "autoload -Uz compinit", "compinit -D -u")
    assert [left("verify che\t").rstrip(), left("verify rech\t").rstrip()] == ["verify check", "verify recheck"]


def test_a_completed_parameter_waits_for_its_value(prompt, tmp_path):
    (tmp_path / "script").write_text(SCRIPTS["bash"], encoding="utf-8")
    left = prompt("bash", "source ./script")
    assert left("verify check first.py x\t") == "verify check first.py x=" and left("verify rech\t")[-1] == " "
