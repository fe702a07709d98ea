"""Formulas as MathML: what `display` writes in LaTeX for notebooks, which a page without scripts cannot read."""

from functools import cache

from latex2mathml.converter import convert

from verify.reports.display.pages import Cell, Table, Written
from verify.reports.page.elements import Html, Node, tag
from verify.reports.page.elements import table as html_table


@cache
def mathml(latex: str) -> Html:
    """Return a formula, which a reader of screens gets as LaTeX, too."""
    return Html(convert(latex))


def cell(shown: Cell) -> Node:
    """Return a cell: a formula typeset, its text beside it for who points at it; any other text as it is."""
    return tag("span", mathml(shown.latex), title=shown.text) if isinstance(shown, Written) else shown


def table(shown: Table) -> Html:
    """Return a table of text and formulas."""
    return html_table(shown.columns, ([cell(each) for each in row] for row in shown.rows), shown.heading)
