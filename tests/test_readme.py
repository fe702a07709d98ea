"""The README's files are written out and its commands run; what they print is what the README shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import verify
from verify.reports.command_line import run

README = (Path(verify.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", README, re.DOTALL))
BLOCKS = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
COMMANDS = [tuple(part.split("\n", 1)) for block in BLOCKS for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


def timeless(text):
    """Leave out how long it took, in seconds and, of a search, in instances."""
    return re.sub(r"\d+\.\d+ s\b|\d+ (?:instances?|near the closest)", "…", text).strip()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, body in FILES.items():
        (tmp_path / name).write_text(body, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_files_and_commands():
    assert {"convex_quadratics.py", "kantorovich.py", "two_means.py", "test_mine.py", "slip.py"} <= set(FILES)
    assert len(COMMANDS) >= 8 and all(command.startswith("verify ") for command, _ in COMMANDS)


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_prints_what_is_shown(folder, capsys, command, shown):
    run(command.split()[1:])
    printed = capsys.readouterr()
    assert timeless(printed.out + printed.err) == timeless(shown)


def test_a_wrong_output_would_be_seen(folder, capsys):
    run(["check", "kantorovich.py", "p=1/2", "kappa=4"])
    shown = capsys.readouterr().out
    assert timeless(shown) != timeless(shown.replace("kappa=4", "kappa=5"))
    assert timeless(shown) == timeless(re.sub(r"\d+\.\d\d s", "9.99 s", shown))


def test_the_tests_shown_pass_from_outside_the_repository(folder):
    shown = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=300,
        check=False,
    )
    assert shown.returncode == 0, shown.stdout
    lines = shown.stdout.splitlines()
    assert any("user.kantorovich" in line and "verified" in line for line in lines)
    assert any("canaries" in line and "6 of 6" in line for line in lines)
