"""The blocks of the README and of the site are run, and print the output that the page shows."""

import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from itertools import takewhile

import pytest
import typer

from tests.pages import (
    PAGES,
    README,
    ROOT,
    Block,
    Reader,
    blocks,
    commands,
    commands_of_the_site,
    lines,
    reading,
    rewritten,
    timeless,
)
from verify import InputError
from verify.reports.command_line import app
from verify.reports.commands import completion

TEXTS = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
BLOCKS = {name: blocks(text) for name, text in TEXTS.items()}
RUN = ("python", "pycon", "console")
FIRST = (README, "docs/index.md", "docs/tutorial.md", "docs/papers.md")
WITH_BLOCKS = [name for name, found in BLOCKS.items() if any(block.language in RUN for block in found)]
EXCERPTS = [
    # Computing a necessity map takes long.
    pytest.param(name, b.text, id=name, marks=pytest.mark.audit if b.text.startswith("verify necessity") else ())
    for name, found in BLOCKS.items()
    for b in found
    if b.language == "text" and "…" in b.text
]
"""Commands with excerpts of their output; … stands for parts that are left out."""
SHELL = [(name, line) for name, found in BLOCKS.items() for b in found if b.language == "sh" for line in lines(b)]


def test_there_are_pages_and_blocks():
    counts = Counter(block.language for found in BLOCKS.values() for block in found)
    assert {"README.md", "docs/index.md", "docs/tutorial.md", "docs/howto/sweeps.md"} <= set(PAGES)
    assert counts["console"] >= 15 and counts["pycon"] >= 5 and counts["python"] >= 5 and len(SHELL) >= 15
    # No test would read a block in an unknown language. Every fence must belong to a block.
    assert set(counts) <= {*RUN, "sh", "text", "toml", "py", "mermaid", "latex"}
    fences = sum(len(re.findall(r"^```\w+$", text, re.MULTILINE)) for text in TEXTS.values())
    assert fences == sum(counts.values())


# `make test` runs the pages that are read first, and `make audit` draws some of the others.
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.audit] * (page not in FIRST)) for page in WITH_BLOCKS]
)
def test_a_page_shows_what_is_printed(page, tmp_path):
    # The site's pages run the commands that the README shares with them.
    known = commands_of_the_site() if page == README else {}
    with reading(tmp_path, known) as reader:
        for block in BLOCKS[page]:
            if block.language in RUN:
                assert timeless(reader.printed(block)) == timeless(block.text)


def test_the_readme_says_how_the_library_stands():
    pinned = (ROOT / "docs/findings/standing.md").read_text(encoding="utf-8")
    (counts,) = re.findall(r"For all parameters: (.*?; argued inferences: \d+)", pinned)
    theorems = sum(map(int, re.findall(r"(\d+) (?:formal|proved|argued|stated|open)", counts)))
    said = " ".join(TEXTS[README].split())
    assert f"Of the {theorems} theorems, for all parameters: {counts}." in said
    # The part before this heading is to be short enough to read in a few minutes.
    assert len(TEXTS[README].partition("## Where to go")[0].split()) <= 700


def missing(excerpt, printed):
    """Return the parts of an excerpt that are not in the printed text, apart from differences in line breaks."""
    parts = [" ".join(part.split()) for part in re.split(r"^ *…$", excerpt, flags=re.MULTILINE)]
    return [part for part in parts if part not in " ".join(printed.split())]


@pytest.mark.parametrize(("page", "text"), EXCERPTS)
def test_an_excerpt_is_printed(page, text, tmp_path):
    command, _, excerpt = text.partition("\n")
    assert excerpt.strip() and missing(excerpt, Reader(tmp_path).run(command)) == []


def test_an_excerpt_that_is_not_printed_would_be_seen():
    assert missing("  …\n  eta holds\n     up to 4/3\n", "one\n eta holds up to\n   4/3 two") == []
    assert missing("  …\n  eta holds up to 4/3 (2 times)", "eta holds up to 4/3 (3 times)") != []


def test_a_command_is_run_on_one_page_alone():
    shown = {(c, name) for name, found in BLOCKS.items() if name != README for b in found for c in _typed(b)}
    counts = Counter(command for command, _ in shown)
    assert counts and [command for command, count in counts.items() if count > 1] == []


def _typed(block):
    return [command for command, _ in commands(block)] if block.language == "console" else []


@pytest.mark.parametrize(("page", "line"), SHELL, ids=[line for _, line in SHELL])
def test_a_command_that_is_not_run_is_understood(page, line):
    words = shlex.split(line)
    program = words[0].removeprefix(".venv/bin/")
    check = {
        ".": [".venv/bin/activate"].__eq__,
        "git": ["diff", "--exit-code"].__eq__,
        "verify": _verb,
        "make": _target,
        "pytest": _pytest,
        "pip": _pip,
        "python": _module,
    }[program]
    assert check(words[1:])


def _verb(words):
    """Return whether the verb has the options, and the theorem or experiment has the names of the given values."""
    command = typer.main.get_command(app).commands[words[0]]
    known = {name for parameter in command.params for name in getattr(parameter, "opts", ())}
    given = {word.partition("=")[0] for word in words[1:] if "=" in word and not word.startswith("-")}
    return {word for word in words[1:] if word.startswith("--")} <= known and given <= _named(*words[:2])


def _named(verb, reference=""):
    """Return the names of a theorem's parameters or of an experiment's settings, to which a command may give values."""
    if reference.startswith("hardy."):
        # The theorem is in another package, and the test of that package runs the command.
        return set()
    kinds = {parameter.name for parameter in typer.main.get_command(app).commands[verb].params}
    return {each.name for kind in kinds & {"theorem", "experiment"} for each in completion.parameters(kind, reference)}


def _target(words):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return all(re.search(rf"^{word}:", makefile, re.MULTILINE) or "=" in word for word in words)


def _pytest(words):
    """Return whether the folders exist and pytest knows the options; the page itself writes the files."""
    folders = [word for word in takewhile(lambda word: not word.startswith("-"), words) if not word.endswith(".py")]
    options = [word for word in words if word.startswith("-")]
    known = all(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", _options_of_pytest()) for word in options)
    return known and all((ROOT / folder).is_dir() for folder in folders)


@cache
def _options_of_pytest():
    asked = [sys.executable, "-m", "pytest", "--help"]
    return subprocess.run(asked, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def _pip(words):
    """Return whether the command installs this package with existing extras, or pinned versions of dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = project["optional-dependencies"]
    if words[:3] == ["install", "-c", "constraints.txt"] and "." not in words[-1]:
        return set(words[3:]) <= {re.split(r"[>\[]", each)[0] for each in project["dependencies"]}
    extras = re.fullmatch(r"\.(?:\[(.+)\])?", words[-1])
    return extras and set((extras[1] or "").split(",")) - {""} <= set(known)


def _module(words):
    ours = words[0] == "-m" and (ROOT / words[1].replace(".", "/")).with_suffix(".py")
    return words[:2] == ["-m", "venv"] or (ours and ours.is_file())


@pytest.mark.parametrize(
    ("check", "line"),
    [
        (_verb, "check wang2024.lemma1 --seed 1 --sede 2"),
        (_verb, "sweep wang2024.theorem1 --over etta=1:2:3 T=9"),
        (_verb, "simulate wang2024.figure1 TT=3"),
        (_verb, "report out=here"),
        (_target, "tests"),
        (_pip, "install -e .[docks]"),
        (_pip, "install -c constraints.txt sumpy"),
        (_pytest, "--drawz 3"),
        (_pytest, "paper_checks --dra 3"),
        (_pytest, "paper_check -k wang2024"),
        (_module, "-m tests.page"),
        (_module, "tests/pages.py"),
    ],
)
def test_command_lines_with_errors_are_found(check, line):
    assert not check(shlex.split(line))


@pytest.mark.parametrize("words", [["check", "wang2024.nothing", "T=3"], ["simulate", "wang2024.nothing"]])
def test_an_id_that_is_none_would_be_seen(words):
    with pytest.raises(InputError, match="unknown id"):
        _verb(words)


def test_data_on_pages_is_well_formed():
    found = [b for page in BLOCKS.values() for b in page if b.language == "toml"]
    assert found and all(tomllib.loads(block.text) for block in found)


def test_a_wrong_output_would_be_seen(tmp_path):
    page = "```console\n$ verify new a.py\na.py: its last lines are the commands to try\n```\n"
    page += "```pycon\n>>> 2 + 2\n4\n```\n"
    assert rewritten(page) == page
    assert rewritten(page.replace("\n4\n", "\n5\n")) == page
    assert rewritten(page.replace("to try", "to run")) == page
    assert timeless("verified   0.17 s, 3 instances") == timeless("verified   9.99 s, 1 instance")


def test_errors_raised_in_a_block_are_seen(tmp_path):
    with reading(tmp_path) as reader:
        assert "ZeroDivisionError: division by zero" in reader.printed(Block("pycon", ">>> 1 / 0\n", (0, 0)))
        with pytest.raises(ZeroDivisionError):
            reader.printed(Block("python", "1 / 0\n", (0, 0)))
        assert (
            reader.printed(Block("python", "# a.py\nx = 1\n", (0, 0))) and (tmp_path / "a.py").read_text() == "x = 1\n"
        )


@pytest.fixture
def tutorial(tmp_path):
    reader = Reader(tmp_path)
    for block in BLOCKS["docs/tutorial.md"]:
        if block.language == "python":
            reader.printed(block)
    return tmp_path


def test_the_tests_shown_pass_from_outside_the_repository(tutorial):
    shown = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "test_mine.py"],
        capture_output=True,
        text=True,
        cwd=tutorial,
        timeout=300,
        check=False,
    )
    assert shown.returncode == 0, shown.stdout
    lines_shown = shown.stdout.splitlines()
    assert any("user.kantorovich" in line and "verified" in line for line in lines_shown)
    assert any("canaries" in line and "6 of 6" in line for line in lines_shown)
