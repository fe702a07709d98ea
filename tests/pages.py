"""The pages for people, README and site: their blocks, and how these are run and compared.

`python -m tests.pages` runs all commands and prompts again, and writes their output into the pages.

A block of the language

- `py` is an excerpt of a file, which another test compares;
- `python` is run or, if its first line is a comment with a file's name, written to that file;
- `pycon` is a session at the prompt, `console` one of commands after `$`; both are run, and their output compared;
- `sh` is a list of commands that take long or change the machine: a test checks only that they are understood.

A page's blocks run in order, in one folder of their own.
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
"""Folders of pages that are made from the code, or by `verify pin`: no page in them is written by people."""


def _pages() -> Iterator[tuple[str, Path]]:
    for path in (ROOT / README, *sorted((ROOT / "docs").rglob("*.md"))):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(_GENERATED):
            yield name, path


PAGES = dict(_pages())
"""The pages that people write, by their path."""
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"# (\w+\.py)\n")
_ELAPSED = re.compile(r"\d+\.\d+ s\b|\d+ (?:instances?|near the closest)")


@dataclass(frozen=True)
class Block:
    """A block of a page: its language, its text, and where the text begins and ends."""

    language: str
    text: str
    span: tuple[int, int]


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page."""
    return [Block(found[1], found[2], found.span(2)) for found in _BLOCK.finditer(text)]


def timeless(text: str) -> str:
    """Replace the durations in an output, in seconds, and the numbers of a search's instances by …."""
    return _ELAPSED.sub("…", text).strip()


def commands(block: Block) -> list[tuple[str, str]]:
    """Return the commands of a console block with the output of each."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def commands_of_the_site() -> dict[str, str]:
    """Return the output of each command that the site's pages show; if it is shown twice, the first output."""
    texts = [path.read_text(encoding="utf-8") for name, path in PAGES.items() if name != README]
    found = [block for text in texts for block in blocks(text) if block.language == "console"]
    return {command: shown for block in reversed(found) for command, shown in reversed(commands(block))}


def lines(block: Block) -> list[str]:
    """Return the commands of a shell block."""
    return [line for line in block.text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]


@dataclass
class Reader:
    """A reader who follows a page in a folder, block by block; a `known` command is not run again."""

    folder: Path
    known: Mapping[str, str] = field(default_factory=dict)
    names: dict[str, object] = field(default_factory=dict)

    def printed(self, block: Block) -> str:
        """Run a block, and return its text with the present output."""
        if block.language == "python":
            if named := _FILE.match(block.text):
                # The first line of the block is the file's name.
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
        """Return a session at the prompt with the answers that Python gives now."""
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
    """Yield a reader in a folder, which is its working directory and comes first on `sys.path`."""
    sys.path.insert(0, str(folder))
    try:
        with contextlib.chdir(folder):
            yield Reader(folder, known or {})
    finally:
        sys.path.remove(str(folder))


def rewritten(text: str, known: Mapping[str, str] | None = None) -> str:
    """Return a page with the present output of its blocks; a block stays as it is if only its times would differ."""
    with TemporaryDirectory() as folder, reading(Path(folder), known) as reader:
        shown = [(block, reader.printed(block)) for block in blocks(text)]
    for block, printed in reversed(shown):
        if timeless(printed) != timeless(block.text):
            text = text[: block.span[0]] + printed + text[block.span[1] :]
    return text


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    # The README comes last, so that it takes the output of shared commands from the site's new pages.
    for page in sys.argv[1:] or sorted(PAGES, key=lambda name: name == README):
        before = PAGES[page].read_text(encoding="utf-8")
        if (after := rewritten(before, commands_of_the_site() if page == README else None)) != before:
            PAGES[page].write_text(after, encoding="utf-8")
            sys.stdout.write(f"{page}\n")
