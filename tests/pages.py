"""Run the blocks of the pages that people write, the README and the site, and compare their output.

`python -m tests.pages` runs all commands and prompts again, and writes their output into the pages.

The language of a block determines its treatment:

- `py` is an excerpt of a file, which another test compares;
- `python` is code that is run or, if its first line is a comment with a file's name, written to that file;
- `pycon` is a Python session, and `console` has commands after `$`; both are run, and their output is compared;
- `sh` has commands that take long or change the machine: a test only checks their names and options.

The blocks of a page run in order, in a temporary folder.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import verify
from verify.reports.command_line import run

ROOT = Path(verify.__file__).parents[1]
README = "README.md"
_GENERATED = ("docs/gallery/", "docs/generated/", "docs/findings/")
"""Folders whose pages are generated from the code or by `verify pin`."""


def _pages() -> Iterator[tuple[str, Path]]:
    for path in (ROOT / README, *sorted((ROOT / "docs").rglob("*.md"))):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(_GENERATED):
            yield name, path


PAGES = dict(_pages())
"""The pages that people write, by path."""
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"# (\w+\.py)\n")
_ELAPSED = re.compile(r"\d+\.\d+ s\b|\d+ (?:instances?|near the closest)")


@dataclass(frozen=True)
class Block:
    """A block of a page: its language, its text, and the text's span in the page."""

    language: str
    text: str
    span: tuple[int, int]


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page."""
    return [Block(found[1], found[2], found.span(2)) for found in _BLOCK.finditer(text)]


def timeless(text: str) -> str:
    """Replace durations in seconds and the numbers of a search's instances in an output by …."""
    return _ELAPSED.sub("…", text).strip()


def commands(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with its output."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def commands_of_the_site() -> dict[str, str]:
    """Return the output of each command on the site's pages; of a command that is shown twice, the first output."""
    texts = [path.read_text(encoding="utf-8") for name, path in PAGES.items() if name != README]
    found = [block for text in texts for block in blocks(text) if block.language == "console"]
    return {command: shown for block in reversed(found) for command, shown in reversed(commands(block))}


def lines(block: Block) -> list[str]:
    """Return the commands of a shell block."""
    return [line for line in block.text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]


@dataclass
class Reader:
    """Run a page's blocks in order in a folder; the output of a `known` command is looked up instead."""

    folder: Path
    known: Mapping[str, str] = field(default_factory=dict)
    names: dict[str, object] = field(default_factory=dict)

    def printed(self, block: Block) -> str:
        """Run a block, and return its text with its current output."""
        if block.language == "python":
            if named := _FILE.match(block.text):
                # The block's first line, the file's name, is left out.
                (self.folder / named[1]).write_text(block.text.partition("\n")[2], encoding="utf-8")
            else:
                exec(compile(block.text, "<page>", "exec"), self.names)
        if block.language == "console":
            return "".join(f"$ {command}\n{self.run(command)}" for command, _ in commands(block))
        return self.answered(block.text) if block.language == "pycon" else block.text

    def run(self, command: str) -> str:
        """Return the output of a command."""
        if command in self.known:
            return self.known[command]
        name, *words = shlex.split(command)
        assert name == "verify", command
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            run(words)
        return said.getvalue()

    def answered(self, text: str) -> str:
        """Return a Python session with its current output."""
        parts = []
        for example in doctest.DocTestParser().get_examples(text):
            said = io.StringIO()
            source = example.source.rstrip("\n")
            try:
                with contextlib.redirect_stdout(said):
                    exec(compile(example.source, "<page>", "single"), self.names)
            except Exception as error:
                said.write(f"Traceback (most recent call last):\n    ...\n{type(error).__name__}: {error}\n")
            typed = "".join(f"{'...' if i else '>>>'} {line}\n" for i, line in enumerate(source.split("\n")))
            parts.append(typed + said.getvalue())
        return "".join(parts)


@contextlib.contextmanager
def reading(folder: Path, known: Mapping[str, str] | None = None) -> Iterator[Reader]:
    """Yield a reader for a folder; the folder becomes the working directory and the first entry of `sys.path`."""
    sys.path.insert(0, str(folder))
    try:
        with contextlib.chdir(folder):
            yield Reader(folder, known or {})
    finally:
        sys.path.remove(str(folder))


def rewritten(text: str, known: Mapping[str, str] | None = None) -> str:
    """Return a page with the current output of its blocks; a block is unchanged if only `timeless` parts differ."""
    with TemporaryDirectory() as folder, reading(Path(folder), known) as reader:
        shown = [(block, reader.printed(block)) for block in blocks(text)]
    for block, printed in reversed(shown):
        if timeless(printed) != timeless(block.text):
            text = text[: block.span[0]] + printed + text[block.span[1] :]
    return text


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    # The README comes last, because it takes the output of shared commands from the site's new pages.
    for page in sys.argv[1:] or sorted(PAGES, key=lambda name: name == README):
        before = PAGES[page].read_text(encoding="utf-8")
        if (after := rewritten(before, commands_of_the_site() if page == README else None)) != before:
            PAGES[page].write_text(after, encoding="utf-8")
            sys.stdout.write(f"{page}\n")
