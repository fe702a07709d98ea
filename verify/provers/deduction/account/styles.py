"""Lines of a proof as text and in LaTeX: each expression in a line is marked, and written in both forms."""

import re
import unicodedata
from typing import Any

from verify.printing import latex_of, text_of

_MARKED = re.compile("\x02([^\x1f]*)\x1f([^\x03]*)\x03")
_RAISED, _LOWERED = "\u00b2\u00b3\u00b9\u1d2c-\u1d61\u2070-\u207f", "\u1d62-\u1d6a\u2080-\u209c\u2c7c"
_SIGNS = (
    r"\\^~\u00ac\u00b1\u00b7\u00bc-\u00be\u00d7\u00f7\u0370-\u03ff\u2016\u2032-\u2037\u2100-\u2bff\U0001d400-\U0001d7ff"
)
"""Characters that are set in math mode, unlike words: Greek letters, relations, arrows."""
_INDEXED = r"\b[A-Za-z]_(?:[A-Za-z]|\d+)\b"
_PART = re.compile(
    rf"\*\*(?P<power>\w+|\([^()]*\))|(?P<operator>>=|<=|[*<>=+\-()])|(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
    rf"|(?P<raised>[{_RAISED}]+)|(?P<lowered>[{_LOWERED}]+)|(?P<sign>[{_SIGNS}])|(?P<indexed>{_INDEXED})"
    rf"|(?P<words>(?:(?!{_INDEXED})[^*<>=+\-()\d\x02{_RAISED}{_LOWERED}{_SIGNS}])+)"
)
_FUNCTIONS = ("exp", "log", "sin", "cos")
_WORD = re.compile(rf"\b({'|'.join(_FUNCTIONS)}|[b-z])\b")
_WRITTEN = {">=": r"\ge ", "<=": r"\le ", "*": r"\cdot ", "(": r"\left(", ")": r"\right)"}
_WRITTEN |= {"\\": r"\backslash ", "^": r"\hat{} ", "~": r"\sim "}
_ESCAPED = {character: f"\\{character}" for character in "{}$&#_%"}


def marked(expression: Any) -> str:
    """Return an expression in both forms, marked for a line that `plain` or `formula` will write."""
    return f"\x02{text_of(expression)}\x1f{latex_of(expression)}\x03"


def plain(line: str) -> str:
    """Return a line as text."""
    return _MARKED.sub(r"\1", line)


def formula(line: str) -> str:
    """Return a line in LaTeX for math mode, with its words set as text."""
    parts, end = [r"\quad " * ((len(line) - len(line.lstrip())) // 2)], len(line) - len(line.lstrip())
    for found in _MARKED.finditer(line, end):
        parts += [_outside(line[end : found.start()]), found[2]]
        end = found.end()
    return "".join([*parts, _outside(line[end:])]).rstrip()


def _outside(text: str) -> str:
    """Return the text between expressions in LaTeX: operators and mathematical letters as such, and words as text."""
    return "".join(_part(str(found.lastgroup), found[0], found) for found in _PART.finditer(text))


def _part(kind: str, part: str, found: re.Match[str]) -> str:
    """Return a part of a line in LaTeX; `kind` is the name of the group of _PART that matched."""
    if kind == "power":
        return f"^{{{_outside(found['power'].strip('()'))}}}"
    if kind in ("raised", "lowered"):
        return f"{'^' if kind == 'raised' else '_'}{{{unicodedata.normalize('NFKC', part)}}}"
    if kind == "indexed":
        return "{}_{{{}}}".format(*part.split("_", 1))
    if kind == "number":
        digits, _, exponent = part.partition("e")
        return f"{digits}\\cdot 10^{{{exponent}}}" if exponent else digits
    if kind == "words":
        return "".join(map(_written, _WORD.split(part))) if part.strip() else ""
    # A letter outside ASCII may later be replaced by a command: the space ends this command.
    return _WRITTEN.get(part, part if part.isascii() else f"{part} ")


def _written(words: str) -> str:
    """Return words in LaTeX: a function's name as a command, a single letter as a variable, other words as text."""
    if words in _FUNCTIONS:
        return f"\\{words} "
    if len(words.strip()) == 1 and words.strip().isalpha():
        return words
    return rf"\text{{{''.join(_ESCAPED.get(letter, letter) for letter in words)}}}" if words else ""
