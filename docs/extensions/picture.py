"""The picture of the architecture, drawn from the table of allowed imports that the tests enforce."""

from collections.abc import Iterator
from html import escape

from tests.layout import SUBPACKAGES

_WIDE, _HIGH, _GAP, _BETWEEN = 250, 32, 20, 26
_SAID = {
    "root": "shared words",
    "rechecker": "checks proofs alone",
    "language": "the language of statements",
    "evaluation": "values",
    "provers": "proofs",
    "claims": "kinds of clause",
    "checking": "one theorem, one instance",
    "search": "counterexamples",
    "runs": "sweeps, experiments",
    "formal": "a proof assistant",
    "reports": "output",
}


def direct() -> dict[str, set[str]]:
    """Return each subpackage's allowed imports, except those that another of its allowed imports may import."""
    found = {}
    for subpackage, allowed in SUBPACKAGES.items():
        others = allowed - {subpackage}
        found[subpackage] = {other for other in others if not any(other in SUBPACKAGES[via] - {via} for via in others)}
    return found


def _levels(edges: dict[str, set[str]]) -> dict[str, int]:
    def level(subpackage: str) -> int:
        return 1 + max(map(level, edges[subpackage]), default=-1)

    return {subpackage: level(subpackage) for subpackage in edges}


def _places(edges: dict[str, set[str]]) -> dict[str, tuple[float, float]]:
    """Return the upper left corner of each box: one row for each level, from the root down.

    The re-checker is in the row of `claims`.
    """
    levels = _levels(edges)
    levels["rechecker"] = levels["claims"]
    rows: dict[int, list[str]] = {}
    for subpackage, level in levels.items():
        rows.setdefault(level, []).append(subpackage)
    widest = max(map(len, rows.values()))
    places = {}
    for level, subpackages in rows.items():
        # `claims` is in the column of the subpackages that it imports; the re-checker is on the other side.
        subpackages.sort(key=lambda subpackage: subpackage == "rechecker")
        start = 0 if "rechecker" in subpackages else (widest - len(subpackages)) / 2 * (len(subpackages) > 1)
        for i, subpackage in enumerate(subpackages):
            places[subpackage] = ((start + i) * (_WIDE + _GAP) + 10, level * (_HIGH + _BETWEEN) + 10)
    return places


def subpackages() -> str:
    """Return the picture as SVG: a box for each subpackage, and an arrow to each of its `direct` imports."""
    edges = direct()
    places = _places(edges)
    width = max(x for x, _ in places.values()) + _WIDE + 10
    height = max(y for _, y in places.values()) + _HIGH + 10
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" font-family="sans-serif">'
    return "\n".join([head, _STYLE, *_arrows(edges, places), *_boxes(places), "</svg>"]) + "\n"


_STYLE = """<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0 L8 4 L0 8 z" fill="#667"/></marker></defs>"""


def _arrows(edges: dict[str, set[str]], places: dict[str, tuple[float, float]]) -> Iterator[str]:
    for subpackage, others in edges.items():
        for other in sorted(others):
            (x, y), (to_x, to_y) = places[subpackage], places[other]
            # An arrow to another column leaves its box near the side that faces the other box.
            share = 0.5 + 0.4 * ((to_x > x) - (to_x < x))
            ends = f'x1="{x + share * _WIDE:g}" y1="{y:g}" x2="{to_x + (1 - share) * _WIDE:g}" y2="{to_y + _HIGH:g}"'
            yield f'<line {ends} stroke="#667" stroke-width="1.5" marker-end="url(#head)"/>'


def _boxes(places: dict[str, tuple[float, float]]) -> Iterator[str]:
    for subpackage, (x, y) in places.items():
        base = f"{y + 21:g}"
        yield f'<rect x="{x:g}" y="{y:g}" width="{_WIDE}" height="{_HIGH}" rx="5" fill="#eef2f8" stroke="#4a6a9a"/>'
        yield f'<text x="{x + 10:g}" y="{base}" font-size="13"><tspan font-weight="bold">{subpackage}</tspan>'
        yield f'<tspan dx="8" font-size="11">{escape(_SAID[subpackage])}</tspan></text>'
