"""Formulas as MathML, made from the LaTeX that `display` writes: a page without scripts cannot show LaTeX."""

import re
from functools import cache
from html import escape

from verify.reports.display.pages import Cell, Table, Written
from verify.reports.page.elements import Html, Node, table as html_table, tag

_NAME = re.compile(r"\\(?:text|operatorname|mathrm|begin|end)\{[^}]*\}|\\[A-Za-z]+|[A-Za-z]{2,}(?: [A-Za-z]{2,})*")
"""A LaTeX command, or names of several letters, which LaTeX would typeset as products of letters."""

_CHARACTER = re.compile(r"&#x([0-9A-Fa-f]+);")
_NEEDLESS = re.compile(r' stretchy="true" fence="true"|<mrow>(<(m[ino])>[^<]*</\2>)</mrow>')
"""A bracket's attributes that are a browser's defaults, and a row of one element."""


@cache
def mathml(latex: str, *, display: bool = False) -> Html:
    """Return a formula, written in LaTeX, as a MathML element, on a line of its own if `display`."""
    from latex2mathml.converter import convert

    written = convert(_NAME.sub(_named, latex), display="block" if display else "inline")
    written = _NEEDLESS.sub(lambda found: found[1] or "", written)
    return Html(_CHARACTER.sub(lambda found: escape(chr(int(found[1], 16))), written))


def _named(found: re.Match[str]) -> str:
    if found[0].startswith("\\"):
        return found[0]
    words = (r"\varepsilon" if word == "eps" else rf"\text{{{word}}}" for word in found[0].split())
    return r"\; ".join(words) + " "


def cell(shown: Cell) -> Node:
    """Return a cell: a formula typeset, with its text as a tooltip; other text unchanged."""
    return tag("span", mathml(shown.latex), title=shown.text) if isinstance(shown, Written) else shown


def table(shown: Table) -> Html:
    """Return a table of text and formulas."""
    return html_table(shown.columns, ([cell(each) for each in row] for row in shown.rows), shown.heading)
