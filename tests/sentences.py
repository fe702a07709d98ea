"""Find sentences that begin without a subject: `make lint` fails if a folder has more of them than its ceiling.

A sentence must begin with its subject, which has a name. So these beginnings are refused: `What …` for a thing that
has a name, `Where it …` for a condition, and `It is … that …`. A result must have a name too: `Return what …` is
refused, and a docstring that begins with `How many …` or `Where …`. The check reads docstrings, comments, other strings
of several words, and pages; each item of a list is read separately. `python -m tests.sentences` prints the sentences
with their places if a folder has more than its ceiling. Ceilings are only lowered.
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CEILINGS = {"verify": 0, "tests": 0, "paper_checks": 0, "theorems": 0, "numerics": 0, "docs": 0}
"""The largest number of such sentences that each folder may have."""
EXAMPLES = "tests/test_sentences.py"
"""The file whose strings are examples of refused sentences."""
_START = r"(?:^|(?<=[.!?:] )|(?<=[.!?:][*_] )|(?<=[.!?:]\*\* ))[*_(]*"
"""The beginning of a text or of a sentence, with marks of emphasis and an opening parenthesis."""
_BEGINS = re.compile(_START + r"(?:What (?!if\b)|Where (?:it|there)\b|It is \w+ that\b)")
_RESULTS = re.compile(_START + r"(?:(?:Return|Yield) (?:what|where|how|which)|Whatever|Whoever)\b")
_FIRST = re.compile(r"^(?:How|Where|Which|When|Why|Who|Whose)\b")
"""A first word of a docstring that names nothing."""
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+", re.MULTILINE)
"""The mark of an item of a list."""
HEADINGS = {
    "What does not hold as printed": "a section of the findings",
    "What the printed figures show": "a section of the findings",
    "What was observed and is not proved": "a section of the findings",
    "What it reports": "the heading of a command's output in a finding",
    "What the papers claim, and what holds": "the title of the report",
    "What the papers claim, what holds and what does not": "the first heading of the report",
    "What rests on what": "the report's section of its graph",
    "What the words for evidence mean": "the report's table of words",
    "What bounds the ratios that are not reached": "a section of the benchmarks",
}
"""Headings that are allowed although they have the form of a question, each with its place.

Only the heading itself is allowed: a longer sentence that begins with its words is refused.
"""
_INSTEAD = (
    "name the subject first: `the rows that workers computed`, not `what workers computed`; `if it …`; "
    "name the result: `Return the change of α`, not `Return what a step adds`; `Number of nodes`, not `How many nodes`"
)
_PAGES = ("docs/*.md", "docs/howto/*.md", "docs/explanation/*.md", "docs/reference/*.md", "*.md")


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the beginning of each refused sentence of a Python file or of a page."""
    text = path.read_text(encoding="utf-8")
    # A digest covers the files of second computations and of the re-checker, so fewer beginnings are refused there.
    is_fixed = "rechecked" in path.parts or path.is_relative_to(ROOT / "verify" / "rechecker")
    for line, said, is_docstring in _python(text) if path.suffix == ".py" else _page(text):
        for place, item in enumerate(_ITEM.split(said)):
            words = " ".join(item.split())
            first = [_FIRST] if is_docstring and not place else []
            patterns = [_BEGINS] if is_fixed else [_BEGINS, _RESULTS, *first]
            for start in sorted({found.start() for pattern in patterns for found in pattern.finditer(words)}):
                if _sentence(words[start:]) not in HEADINGS:
                    yield line, words[start : start + 70]


def _sentence(words: str) -> str:
    """Return the first sentence of a text, without its final punctuation mark."""
    return re.split(r"[.!?:](?: |$)", words, maxsplit=1)[0]


def _python(text: str) -> Iterator[tuple[int, str, bool]]:
    nodes = list(ast.walk(ast.parse(text)))
    docstrings = {node.value for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value, node in docstrings
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# "), False


def _page(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield a page's paragraphs and list items, without headings, table cells and blocks of code."""
    begun, piece, is_code = 1, "", False
    for at, line in enumerate([*text.split("\n"), ""], 1):
        is_fence = line.lstrip().startswith("```")
        is_left_out = is_code or is_fence or not line.strip() or line.lstrip().startswith(("#", "|"))
        if piece and (is_left_out or _ITEM.match(line)):
            yield begun, piece, False
            piece = ""
        if not is_left_out:
            begun, piece = begun if piece else at, f"{piece}{line}\n"
        is_code ^= is_fence


def found(root: Path = ROOT) -> dict[str, list[str]]:
    """Return the places of refused sentences by top folder, in the order of the files."""
    places: dict[str, list[str]] = {folder: [] for folder in CEILINGS}
    files = [path for folder in CEILINGS for path in sorted((root / folder).rglob("*.py"))]
    pages = [path for pattern in _PAGES for path in sorted(root.glob(pattern))]
    for path in (*files, *pages):
        name = path.relative_to(root).as_posix()
        if name == EXAMPLES:
            continue
        folder = name.split("/")[0] if "/" in name else "docs"
        places[folder] += [f"{name}:{line}: {said}" for line, said in sentences(path)]
    return places


def main() -> int:
    """Print the refused sentences of each folder that has more than its ceiling; return 1 if there is such a folder."""
    places = found()
    counts = Counter({folder: len(listed) for folder, listed in places.items()})
    above = [folder for folder in CEILINGS if counts[folder] > CEILINGS[folder]]
    for folder in above:
        print(*places[folder], f"{folder}: {counts[folder]}, at most {CEILINGS[folder]}; {_INSTEAD}", sep="\n")  # noqa: T201
    return bool(above)


if __name__ == "__main__":
    sys.exit(main())
