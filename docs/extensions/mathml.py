"""Formulas as MathML, which browsers display without a script: the site needs nothing from elsewhere."""

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx


_NAME = re.compile(r"(?<![\\\\A-Za-z{])[A-Za-z]{2,}")
"""A name of more than one letter, which LaTeX takes for a product of letters; SymPy writes products with spaces."""


def mathml(latex: str, *, display: bool) -> str:
    """Return a formula, written in LaTeX, as a MathML element."""
    named = _NAME.sub(lambda name: r"\varepsilon " if name[0] == "eps" else rf"\text{{{name[0]}}}", latex)
    return convert(named, display="block" if display else "inline")


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), display=False))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), display=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: "Sphinx") -> dict[str, bool]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
