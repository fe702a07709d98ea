"""A reader of LaTeX that distinguishes text from mathematics, and finds faults that a TeX engine would refuse."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|[{}$^_]|[^\\{}$^_]+", re.DOTALL)
_OF_TEXT = re.compile(r"\\(?:text\w*|begin|end|section|subsection|item|hline|endhead|ldots|allowbreak)")
"""Commands that text may contain."""


def faults(formula: str) -> Iterator[str]:
    """Yield each fault of a formula: mathematical signs in its text, and unbalanced braces or delimiters."""
    yield from _faults(formula, in_maths=True)


def faults_of_document(document: str) -> Iterator[str]:
    """Yield each fault of a document's body: in its text, and in each of its formulas."""
    _, _, body = document.partition("\\begin{document}")
    body = re.sub(r"\\begin\{longtable\}.*", "", body)
    for i, part in enumerate(re.split(r"\\\[(.*?)\\\]", body)):
        yield from _faults(part, in_maths=bool(i % 2))


def _faults(latex: str, *, in_maths: bool) -> Iterator[str]:
    modes, opens = [in_maths], list[str]()
    for found in _TOKEN.finditer(latex):
        token, before = found[0], latex[: found.start()]
        if token == "{":
            opens.append(token)
            modes.append(modes[-1] and not before.endswith("\\text"))
        elif token == "}" or (token == "$" and opens and opens[-1] == "$"):
            if not opens or opens.pop() != ("{" if token == "}" else "$"):
                yield f"{token} that nothing opens, after {before[-20:]}"
                return
            modes.pop()
        elif token == "$":
            opens.append(token)
            modes.append(True)
        elif not modes[-1] and (token in "^_" or (re.match(r"\\[A-Za-z]", token) and not _OF_TEXT.fullmatch(token))):
            yield f"{token} in text, after {before[-20:]}"
    if opens:
        yield f"{opens} are left open"
    if len(re.findall(r"\\left\b", latex)) != len(re.findall(r"\\right\b", latex)):
        yield "\\left without \\right"
