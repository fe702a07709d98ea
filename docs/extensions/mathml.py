"""Formulas as MathML, which browsers display without a script, so that the site loads nothing from other servers."""

from typing import TYPE_CHECKING, Any

from docutils import nodes

from verify.reports.page.formulas import mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx


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
