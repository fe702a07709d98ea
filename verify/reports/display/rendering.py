"""A page as plain text, HTML, Markdown or LaTeX: its text is escaped, and only its formulas are typeset."""

import re
from html import escape

from verify.reports.display.pages import Cell, Page, Table, Written
from verify.shown import visible

# A notebook typesets text between dollar signs, unless the element's classes forbid it.
_TEXT, _FORMULA = "tex2jax_ignore mathjax_ignore", "tex2jax_process mathjax_process"
_MARKDOWN = re.compile(r"[\\`*_\[\]#|~$]")
_LIST = re.compile(r"^(\d*)([-+.)])")
_LATEX = {character: f"\\{character}" for character in "{}$&#_%"}
_LATEX |= {"\\": r"$\backslash$", "^": r"$\hat{}$", "~": r"$\sim$", "<": "$<$", ">": "$>$"}


def plain(page: Page) -> str:
    """Return a page as text, one line for each row."""
    lines = [visible(line) for line in (page.title, *page.lines)]
    for table in page.tables:
        lines += [visible(table.heading)] if table.heading else []
        wide = [max(len(_text(row[i])) for row in table.rows) for i in range(len(table.columns) - 1)]
        for row in table.rows:
            # The last column is not padded.
            cells = [*(_text(cell).ljust(width) for cell, width in zip(row[:-1], wide, strict=True)), _text(row[-1])]
            lines.append(f"  {'  '.join(cells)}".rstrip())
    return "\n".join([*lines, *([visible(page.headline)] if page.headline else [])])


def _text(cell: Cell) -> str:
    return visible(cell.text if isinstance(cell, Written) else cell)


def html(page: Page) -> str:
    """Return a page as HTML: an element with headings, paragraphs and tables."""
    parts = [f"<strong>{_html(page.title)}</strong>", *(f"<p>{_html(line)}</p>" for line in page.lines)]
    parts += map(_html_table, page.tables)
    parts += [f"<p><strong>{_html(page.headline)}</strong></p>"] if page.headline else []
    return f'<div class="{_TEXT}">{"".join(parts)}</div>'


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{_html(name)}</th>" for name in table.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{_html_cell(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    caption = f"<caption>{_html(table.heading)}</caption>" if table.heading else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _html_cell(cell: Cell) -> str:
    if isinstance(cell, Written):
        return f'<span class="{_FORMULA}" title="{_html(cell.text)}">${_html(cell.latex)}$</span>'
    return _html(cell)


def _html(text: str) -> str:
    return escape(visible(text))


def markdown(page: Page) -> str:
    """Return a page as Markdown."""
    parts = [f"**{_marked(page.title)}**", *map(_marked, page.lines)]
    for table in page.tables:
        head = f"| {' | '.join(map(_marked, table.columns))} |\n|{'---|' * len(table.columns)}"
        rows = (f"| {' | '.join(map(_marked_cell, row))} |" for row in table.rows)
        parts += [*([f"*{_marked(table.heading)}*"] if table.heading else []), "\n".join([head, *rows])]
    parts += [f"**{_marked(page.headline)}**"] if page.headline else []
    return "\n\n".join(parts)


def _marked(text: str) -> str:
    """Return text on one line that Markdown shows unchanged, even if it begins like an item of a list."""
    marked = _MARKDOWN.sub(r"\\\g<0>", " ".join(visible(text).split()))
    return escape(_LIST.sub(r"\1\\\2", marked), quote=False)


def _marked_cell(cell: Cell) -> str:
    if not isinstance(cell, Written):
        return _marked(cell)
    # A bar would end the cell, even within a formula.
    return "$" + cell.latex.replace("|", r"\vert ") + "$"


def latex(page: Page) -> str:
    """Return a page's tables as displayed formulas; cells of text stay text."""
    parts = []
    for table in page.tables:
        rows = " \\\\\n".join(" & ".join(map(_latex_cell, row)) for row in table.rows)
        heading = f"\\textbf{{{_escaped(table.heading)}}} \\\\\n" if table.heading else ""
        parts.append(f"$$\\begin{{array}}{{{'l' * len(table.columns)}}}\n{heading}{rows}\n\\end{{array}}$$")
    return "\n\n".join(parts)


def _latex_cell(cell: Cell) -> str:
    return f"\\displaystyle {cell.latex}" if isinstance(cell, Written) else f"\\text{{{_escaped(cell)}}}"


def _escaped(text: str) -> str:
    """Return text escaped for a text command within a formula."""
    return "".join(_LATEX.get(character, character) for character in " ".join(visible(text).split()))
