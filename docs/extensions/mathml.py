"""Formulas as MathML, which browsers display without a script: the site needs nothing from elsewhere."""

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx


_NAME = re.compile(r"\\(?:text|operatorname|mathrm|begin|end)\{[^}]*\}|\\[A-Za-z]+|[A-Za-z]{2,}(?: [A-Za-z]{2,})*")
"""A command, or names of more than one letter, which LaTeX takes for products of letters."""


def mathml(latex: str, *, display: bool) -> str:
    """Return a formula, written in LaTeX, as a MathML element."""
    return convert(_NAME.sub(_named, latex), display="block" if display else "inline")


def _named(found: re.Match[str]) -> str:
    if found[0].startswith("\\"):
        return found[0]
    words = (r"\varepsilon" if word == "eps" else rf"\text{{{word}}}" for word in found[0].split())
    return r"\; ".join(words) + " "


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
