"""Lines of a proof as text and in LaTeX: each expression in a line is marked, and has both forms."""

import re
from typing import Any

from verify.printing import latex_of, text_of

_MARKED = re.compile("\x02([^\x1f]*)\x1f([^\x03]*)\x03")
_PART = re.compile(r"\*\*(\w+)|(>=|<=|\*|[<>=+\-()])|(\d+)|([^*<>=+\-()\d\x02]+)")
_FUNCTIONS = ("exp", "log", "sin", "cos")
_WORD = re.compile(rf"\b({'|'.join(_FUNCTIONS)}|[b-z])\b")
_OPERATORS = {">=": r"\ge ", "<=": r"\le ", "*": r"\cdot ", "(": r"\left(", ")": r"\right)"}
_ESCAPED = {character: f"\\{character}" for character in "{}$&#_%"}
_ESCAPED |= {"\\": r"\backslash ", "^": r"\hat{}", "~": r"\sim "}


def marked(expression: Any) -> str:
    """Return an expression, marked, for a line that is not yet written as text or in LaTeX."""
    return f"\x02{text_of(expression)}\x1f{latex_of(expression)}\x03"


def plain(line: str) -> str:
    """Return a line as text."""
    return _MARKED.sub(r"\1", line)


def formula(line: str) -> str:
    """Return a line in LaTeX for math mode; its words are text there."""
    parts, end = [r"\quad " * ((len(line) - len(line.lstrip())) // 2)], len(line) - len(line.lstrip())
    for found in _MARKED.finditer(line, end):
        parts += [_outside(line[end : found.start()]), found[2]]
        end = found.end()
    return "".join([*parts, _outside(line[end:])]).rstrip()


def _outside(text: str) -> str:
    """Return the text between expressions in LaTeX: operators as such, and words as text."""
    parts = list[str]()
    for power, operator, number, words in (found.groups(default="") for found in _PART.finditer(text)):
        if power:
            parts.append(f"^{{{power}}}")
        elif operator:
            parts.append(_OPERATORS.get(operator, operator))
        elif number:
            parts.append(number)
        elif words.strip():
            parts += map(_written, _WORD.split(words))
    return "".join(parts)


def _written(words: str) -> str:
    """Return words in LaTeX: a function's name as a command, a single letter as a variable, other words as text."""
    if words in _FUNCTIONS:
        return f"\\{words} "
    if len(words.strip()) == 1 and words.strip().isalpha():
        return words
    return rf"\text{{{''.join(_ESCAPED.get(letter, letter) for letter in words)}}}" if words else ""
