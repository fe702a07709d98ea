"""The picture of the architecture, drawn from the table of wings that the tests hold every import to."""

from collections.abc import Iterator
from html import escape

from tests.house import ROOT, WINGS, floors, imports, lines_of_code, modules, wing_of

_WIDE, _HIGH, _GAP, _BETWEEN = 330, 32, 20, 26
_SAID = {
    "root": "shared words",
    "rechecker": "checks proofs alone",
    "language": "what can be said",
    "evaluation": "what it is worth",
    "provers": "how it is shown",
    "claims": "kinds of clause",
    "checking": "one theorem, one instance",
    "search": "counterexamples",
    "runs": "sweeps, experiments",
    "reports": "what people see",
}


def direct() -> dict[str, set[str]]:
    """Return the wings that each may import and that none of these may import in turn."""
    found = {}
    for wing, allowed in WINGS.items():
        others = allowed - {wing}
        found[wing] = {other for other in others if not any(other in WINGS[via] - {via} for via in others)}
    return found


def _levels(edges: dict[str, set[str]]) -> dict[str, int]:
    def level(wing: str) -> int:
        return 1 + max(map(level, edges[wing]), default=-1)

    return {wing: level(wing) for wing in edges}


def _places(edges: dict[str, set[str]]) -> dict[str, tuple[float, float]]:
    """Return the upper left corner of each box: a row a level, from the root down; the re-checker aside, by claims."""
    levels = _levels(edges)
    levels["rechecker"] = levels["claims"]
    rows: dict[int, list[str]] = {}
    for wing, level in levels.items():
        rows.setdefault(level, []).append(wing)
    widest = max(map(len, rows.values()))
    places = {}
    for level, wings in rows.items():
        # Claims stand in the column of what they import; the re-checker on the other side.
        wings.sort(key=lambda wing: wing == "rechecker")
        start = 0 if "rechecker" in wings else (widest - len(wings)) / 2 * (len(wings) > 1)
        for i, wing in enumerate(wings):
            places[wing] = ((start + i) * (_WIDE + _GAP) + 10, level * (_HIGH + _BETWEEN) + 10)
    return places


def wings() -> str:
    """Return the picture as SVG: a box a wing, with its size, and an arrow from each to those that it imports."""
    edges = direct()
    places = _places(edges)
    width = max(x for x, _ in places.values()) + _WIDE + 10
    height = max(y for _, y in places.values()) + _HIGH + 10
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" font-family="sans-serif">'
    return "\n".join([head, _STYLE, *_arrows(edges, places), *_boxes(places), "</svg>"]) + "\n"


_STYLE = """<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0 L8 4 L0 8 z" fill="#667"/></marker></defs>"""


def _arrows(edges: dict[str, set[str]], places: dict[str, tuple[float, float]]) -> Iterator[str]:
    for wing, others in edges.items():
        for other in sorted(others):
            (x, y), (to_x, to_y) = places[wing], places[other]
            # Between columns an arrow goes from the side that is nearer to the other.
            share = 0.5 + 0.4 * ((to_x > x) - (to_x < x))
            ends = f'x1="{x + share * _WIDE:g}" y1="{y:g}" x2="{to_x + (1 - share) * _WIDE:g}" y2="{to_y + _HIGH:g}"'
            yield f'<line {ends} stroke="#667" stroke-width="1.5" marker-end="url(#head)"/>'


def _boxes(places: dict[str, tuple[float, float]]) -> Iterator[str]:
    known = modules(ROOT, "verify")
    right, top = _WIDE + _GAP + 10, 10 + _HIGH / 2
    counted = f"{floors(imports(known))} floors: the longest chain of imports"
    yield f'<text x="{right}" y="{top:g}" font-size="11">{counted}</text>'
    for wing, (x, y) in places.items():
        own = [path for name, path in known.items() if wing_of(name) == wing and path.name != "__init__.py"]
        size = f"{len(own)} modules, {sum(map(lines_of_code, own))} lines"
        base, end = f"{y + 21:g}", f"{x + _WIDE - 10:g}"
        yield f'<rect x="{x:g}" y="{y:g}" width="{_WIDE}" height="{_HIGH}" rx="5" fill="#eef2f8" stroke="#4a6a9a"/>'
        yield f'<text x="{x + 10:g}" y="{base}" font-size="13"><tspan font-weight="bold">{wing}</tspan>'
        yield f'<tspan dx="8" font-size="11">{escape(_SAID[wing])}</tspan></text>'
        yield f'<text x="{end}" y="{base}" text-anchor="end" font-size="10" fill="#556">{size}</text>'
