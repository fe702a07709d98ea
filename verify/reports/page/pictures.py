"""Plots as SVG in the page: text stays text, and black becomes the colour of the page's text."""

import io
import re
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

from verify.reports.page.elements import Html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lemmascope",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.framealpha": 0.0,
    "legend.edgecolor": "none",
    "font.family": "sans-serif",
}
_DPI = 110
_DRAWN, _LEAST = 1.4, 0.85
"""Pixels per point of a plot if there is room, and their minimum: on a narrower screen the plot scrolls sideways."""
_IDS = re.compile(r'(\bid="|url\(#|href="#)')
_IMAGE_ID = re.compile(r'(<image\b[^>]*?) id="[^"]*"')
"""An image's id. Matplotlib makes it from the content, so equal colour bars share an id; nothing refers to it."""
_BLACK = re.compile(r"#000000\b|#262626\b")
_PLACES = re.compile(r'\b(?:d|x|y|width|height)="[^"]*"')
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
"""A coordinate in points with two or more decimals; differences below a tenth of a point are invisible."""
_LINES = re.compile(r"\s*\n([LMCQz])\s*")
"""The letter of a path's command, at the beginning of a line."""
_FONT = re.compile(r"'DejaVu Sans'[^;\"]*|sans-serif[^;\"]*(?=[;\"])")


def picture(draw: Callable[[], "Figure"], name: str, title: str, text: str) -> Html:
    """Return a drawn figure as SVG; `name` is the prefix of its ids, `title` and `text` are for screen readers."""
    from matplotlib import rc_context

    target = io.StringIO()
    with rc_context(_STYLE):
        figure = draw()
        # The page shows the title itself.
        figure.suptitle("")
        figure.savefig(target, format="svg", dpi=_DPI, metadata={"Date": None})
    return _inline(target.getvalue(), name, title, text)


def _short(place: re.Match[str]) -> str:
    """Return an attribute with coordinates rounded to tenths of a point, and with a path's commands on one line."""
    return _LINES.sub(r"\1", _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.1f}", place[0]))


def _inline(svg: str, name: str, title: str, text: str) -> Html:
    """Return an SVG file as an element: with prefixed ids, without metadata, and with `currentColor` for black."""
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert size is not None
    body = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index(">", svg.index("<svg")) + 1 :], flags=re.DOTALL)
    body = _IMAGE_ID.sub(r"\1", body)
    body = _BLACK.sub("currentColor", _IDS.sub(rf"\g<1>{name}-", body)).replace("xlink:href", "href")
    body = re.sub(r"\n\s*", "\n", _FONT.sub("sans-serif", body))
    body = _PLACES.sub(_short, body)
    said = f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(text)}</desc>'
    width, height = (float(side) for side in size.groups())
    return Html(
        f'<svg class="plot" role="img" aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {width:g} {height:g}" '
        f'style="min-width:{_LEAST * width:.0f}px" width="{_DRAWN * width:.0f}" '
        f'xmlns="http://www.w3.org/2000/svg">{said}{body}'
    )
