"""A page as a complete LaTeX document, which compiles with any engine: in ASCII, with a few standard packages."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from verify.reports.display.pages import Cell, Page, Table, Written
from verify.shown import visible

_PACKAGES = ("{amsmath,amssymb}", "{array,longtable}", "[margin=20mm]{geometry}")
_FEWEST, _MOST = 10, 60
"""Bounds on a column's share of the width, which is the length of its longest cell in characters."""
_LONGEST = 90
"""Maximum number of characters, as text, of a formula in a column; a table with a longer formula is a list."""
_ESCAPED = {
    **{c: f"\\{c}" for c in "#$%&_{}"},
    "\\": "\\textbackslash{}",
    "^": "\\textasciicircum{}",
    "~": "\\textasciitilde{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "''",
    "–": "--",
    "—": "---",
    "…": "\\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "\u00a0": "~",
}
_NAMED = (
    "≤ le ≥ ge ≠ ne ≈ approx ≡ equiv ∞ infty √ surd ∑ sum ∏ prod ∫ int ∈ in ∉ notin ⊂ subset ∪ cup ∩ cap ∅ emptyset "
    "ℓ ell · cdot × times ± pm ∓ mp ⊗ otimes ⊕ oplus ∘ circ ∇ nabla ∂ partial → to ← leftarrow ↦ mapsto ⇒ Rightarrow "
    "⇔ Leftrightarrow ∀ forall ∃ exists ⌈ lceil ⌉ rceil ⌊ lfloor ⌋ rfloor ⟨ langle ⟩ rangle ‖ Vert ⊥ perp"
)
_MATHS = dict(re.findall(r"(\S) (\w+)", _NAMED))
_LIKE = {"−": "-", "′": "'", "″": "''", "⁻": "^{-}", "₋": "_{-}", "⁺": "^{+}", "₊": "_{+}", "ᵀ": "^{T}", "ᵗ": "^{t}"}
_BLACKBOARD = {"ℝ": "R", "ℕ": "N", "ℤ": "Z", "ℚ": "Q", "ℂ": "C"}
_ACCENTS = {
    "\u0301": "'",
    "\u0300": "`",
    "\u0302": "^",
    "\u0308": '"',
    "\u0303": "~",
    "\u0304": "=",
    "\u030c": "v",
    "\u0327": "c",
    "\u030b": "H",
}
_CAPITALS = ["Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"]


def document(page: Page) -> str:
    """Return a page as a LaTeX document."""
    lines = ["\\documentclass{article}", *(f"\\usepackage{package}" for package in _PACKAGES)]
    lines += ["\\setlength{\\parindent}{0pt}", "\\begin{document}", body(page), "\\end{document}"]
    return "\n".join(lines)


def body(page: Page) -> str:
    """Return a page as a part of a document: a section, a paragraph for each line, the tables, and the headline."""
    lines = [f"\\section*{{{escaped(page.title)}}}"]
    for line in page.lines:
        lines += [escaped(line), ""]
    for table in page.tables:
        lines += [f"\\subsection*{{{escaped(table.heading)}}}"] if table.heading else []
        lines += _listed(table) if _is_long(table) else _tabular(table)
    lines += [f"\\textbf{{{escaped(page.headline)}}}"] if page.headline else []
    return "\n".join(lines)


def _is_long(table: Table) -> bool:
    """Whether a row ends with a formula that is too long for a column."""
    return any(isinstance(row[-1], Written) and len(row[-1].text) > _LONGEST for row in table.rows)


def _listed(table: Table) -> Iterator[str]:
    """Yield a table as a list: the first cell of a row as its label, and the last, a formula, in a line of its own."""
    yield "\\begin{description}"
    for *cells, last in table.rows:
        label, *between = map(_cell, cells or [""])
        yield f"\\item[{{{label}}}] {'; '.join(filter(None, between))}"
        yield f"\\[ {ascii_maths(last.latex)} \\]" if isinstance(last, Written) else _cell(last)
    yield "\\end{description}"


def _tabular(table: Table) -> Iterator[str]:
    """Yield a table that may break over pages; its columns share the width by the lengths of their contents."""
    rows = [*table.rows, table.columns]
    widest = (max(len(_cell_text(cell)) for cell in cells) for cells in zip(*rows, strict=True))
    shares = [min(max(wide, _FEWEST), _MOST) for wide in widest]
    columns = "".join(
        f">{{\\raggedright\\arraybackslash}}p{{\\dimexpr{share / sum(shares):.4f}\\linewidth-2\\tabcolsep\\relax}}"
        for share in shares
    )
    yield f"\\begin{{longtable}}{{@{{}}{columns}@{{}}}}"
    head = " & ".join(f"\\textit{{{escaped(name)}}}" for name in table.columns)
    yield f"{head} \\\\ \\hline \\endhead"
    yield from (f"{' & '.join(map(_cell, row))} \\\\" for row in table.rows)
    yield "\\end{longtable}"


def _cell(cell: Cell) -> str:
    # A label may break after each underscore.
    return (
        f"${ascii_maths(cell.latex)}$"
        if isinstance(cell, Written)
        else escaped(cell).replace("\\_", "\\_\\allowbreak{}")
    )


def _cell_text(cell: Cell) -> str:
    return cell.text if isinstance(cell, Written) else cell


def ascii_maths(latex: str) -> str:
    """Return LaTeX in ASCII: any other letter is written as its LaTeX command, or as `?` if none is known."""
    return "".join(c if c.isascii() else _maths(c) or "?" for c in latex)


def escaped(text: str) -> str:
    """Return plain text as LaTeX in ASCII: special characters are escaped, mathematical letters are set as formulas."""
    return "".join(map(_letter, unicodedata.normalize("NFC", " ".join(visible(text).split()))))


@cache
def _letter(letter: str) -> str:
    if letter in _ESCAPED:
        return _ESCAPED[letter]
    if letter.isascii():
        return letter
    if (maths := _maths(letter)) is not None:
        return f"${maths}$"
    base, *marks = unicodedata.normalize("NFD", letter)
    if base.isascii() and marks and all(mark in _ACCENTS for mark in marks):
        return "".join(f"\\{_ACCENTS[mark]}{{" for mark in marks) + base + "}" * len(marks)
    return f"[U+{ord(letter):04X}]"


def _maths(letter: str) -> str | None:
    """Return the LaTeX of a letter in a formula; None if the letter is not known as mathematical."""
    if letter in _MATHS:
        return f"\\{_MATHS[letter]}"
    if letter in _LIKE:
        return _LIKE[letter]
    if letter in _BLACKBOARD:
        return f"\\mathbb{{{_BLACKBOARD[letter]}}}"
    name = unicodedata.name(letter, "")
    words = name.lower().split()
    if name.startswith("GREEK SMALL LETTER") and len(words) == 4:
        return {"omicron": "o", "lamda": "\\lambda", "final": "\\varsigma"}.get(words[3], f"\\{words[3]}")
    if name.startswith("GREEK CAPITAL LETTER") and len(words) == 4:
        named = words[3].capitalize().replace("Lamda", "Lambda")
        return f"\\{named}" if named in _CAPITALS else f"\\mathrm{{{unicodedata.normalize('NFKD', named)[0]}}}"
    for kind, sign in (("SUPERSCRIPT", "^"), ("SUBSCRIPT", "_")):
        if kind in name and (plain := unicodedata.normalize("NFKC", letter)).isascii():
            return f"{sign}{{{plain}}}"
    if name.startswith("VULGAR FRACTION"):
        return "\\frac{{{}}}{{{}}}".format(*unicodedata.normalize("NFKC", letter).split("\u2044"))
    return None
