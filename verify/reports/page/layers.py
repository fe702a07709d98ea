"""Graphs as SVG pictures: layers by dependency, with few crossings; every node is a link."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from verify.reports.page.elements import Html, tag

_WIDTH, _LINE, _PADDING = 7.3, 16.0, 9.0
"""The width of a letter, the height of a line of text, and the space around it, in pixels."""
_ACROSS, _DOWN, _THIN = 56.0, 12.0, 6.0
"""Gap between layers, gap between nodes, and height of a place where a long arrow crosses a layer, in pixels."""
_SWEEPS = 12


@dataclass(frozen=True)
class Box:
    """A box: its name, lines of text, the CSS class that colours it, the target of its link, and its full text."""

    name: str
    lines: tuple[str, ...]
    kind: str
    href: str
    title: str

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height of the box, in pixels."""
        return max(map(len, self.lines)) * _WIDTH + 2 * _PADDING, len(self.lines) * _LINE + 2 * _PADDING - 4


@dataclass(frozen=True)
class Arrow:
    """An arrow from a node to a node that it depends on, and its CSS class."""

    start: str
    end: str
    kind: str = ""


_Place = str | tuple[str, str, int]
"""A node's name, or the crossing of a layer by an arrow: the arrow's end, its start and the layer's index."""


def drawn(nodes: Sequence[Box], arrows: Iterable[Arrow], name: str, title: str, text: str) -> Html:
    """Return an acyclic graph as SVG, with the dependencies on the left; `name` is the prefix of its ids."""
    known = {node.name: node for node in nodes}
    arrows = [arrow for arrow in arrows if arrow.start in known and arrow.end in known]
    layers, chains = _layered(list(known), arrows)
    places, (width, height) = _placed(layers, known, chains)
    lines = [_arrow(arrow, [places[place] for place in chains[arrow]], known) for arrow in arrows]
    boxes = [_box(node, places[node.name]) for node in nodes]
    marker = (
        f'<defs><marker id="{name}-tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" class="tip"/></marker></defs>'
    )
    head = f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(text)}</desc>'
    return Html(
        f'<svg class="graph" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'role="group" aria-labelledby="{name}-title {name}-desc" xmlns="http://www.w3.org/2000/svg">'
        f'{head}{marker}<g marker-end="url(#{name}-tip)">{"".join(lines)}</g>{"".join(boxes)}</svg>'
    )


def _layered(
    names: Sequence[str], arrows: Sequence[Arrow]
) -> tuple[list[list[_Place]], dict[Arrow, tuple[_Place, ...]]]:
    """Return the layers, ordered, and the places that each arrow goes through, from its end to its start."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((arrow.end, arrow.start) for arrow in arrows)
    layer = {name: i for i, some in enumerate(nx.topological_generations(graph)) for name in some}
    layers: list[list[_Place]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    # Connected nodes are placed together, sorted by name.
    parts = sorted((sorted(part) for part in nx.weakly_connected_components(graph)), key=lambda part: part[0])
    for part in parts:
        for name in part:
            layers[layer[name]].append(name)
    chains: dict[Arrow, tuple[_Place, ...]] = {}
    for arrow in arrows:
        through = [(arrow.end, arrow.start, i) for i in range(layer[arrow.end] + 1, layer[arrow.start])]
        for i, place in enumerate(through, layer[arrow.end] + 1):
            if place not in layers[i]:
                layers[i].append(place)
        chains[arrow] = (arrow.end, *through, arrow.start)
    return _ordered(layers, _beside(chains.values())), chains


def _beside(chains: Iterable[Sequence[_Place]]) -> Mapping[_Place, tuple[list[_Place], list[_Place]]]:
    """Return the places before and after each place along the arrows."""
    beside: dict[_Place, tuple[list[_Place], list[_Place]]] = defaultdict(lambda: ([], []))
    for chain in chains:
        for before, after in pairwise(chain):
            beside[after][0].append(before)
            beside[before][1].append(after)
    return beside


def _ordered(
    layers: list[list[_Place]], beside: Mapping[_Place, tuple[list[_Place], list[_Place]]]
) -> list[list[_Place]]:
    """Return the layers in the order with the fewest crossings that barycentre sweeps find."""
    best, fewest = [list(layer) for layer in layers], _crossings(layers, beside)
    for sweep in range(_SWEEPS):
        side, order = sweep % 2, range(1, len(layers)) if sweep % 2 == 0 else range(len(layers) - 2, -1, -1)
        for i in order:
            rows = {place: row for row, place in enumerate(layers[i - 1 if side == 0 else i + 1])}
            own = {place: row for row, place in enumerate(layers[i])}

            def middle(
                place: _Place, rows: Mapping[_Place, int] = rows, own: Mapping[_Place, int] = own, side: int = side
            ) -> float:
                at = [rows[other] for other in beside[place][side]] if place in beside else []
                return sum(at) / len(at) if at else float(own[place])

            layers[i] = sorted(layers[i], key=middle)
        if (count := _crossings(layers, beside)) < fewest:
            best, fewest = [list(layer) for layer in layers], count
    return best


def _crossings(layers: Sequence[Sequence[_Place]], beside: Mapping[_Place, tuple[list[_Place], list[_Place]]]) -> int:
    count = 0
    for left, right in pairwise(layers):
        rows = {place: row for row, place in enumerate(right)}
        ends = [(i, rows[after]) for i, place in enumerate(left) if place in beside for after in beside[place][1]]
        count += sum((a - c) * (b - d) < 0 for i, (a, b) in enumerate(ends) for c, d in ends[:i])
    return count


def _placed(
    layers: Sequence[Sequence[_Place]], known: Mapping[str, Box], chains: Mapping[Arrow, Sequence[_Place]]
) -> tuple[dict[_Place, tuple[float, float]], tuple[float, float]]:
    """Return the middle of each place's left side, near the mean height of its dependencies, and the picture's size."""
    beside, places, left, bottom = _beside(chains.values()), {}, 1.0, 0.0
    for layer in layers:
        sizes = {place: known[place].size if isinstance(place, str) else (0.0, _THIN) for place in layer}
        lowest = 1.0
        for place in layer:
            half = sizes[place][1] / 2
            rests = [places[other][1] for other in beside[place][0] if other in places] if place in beside else []
            wanted = sum(rests) / len(rests) if rests else 0.0
            y = max(lowest + half, wanted)
            places[place] = (left, y)
            lowest = y + half + _DOWN
        bottom = max(bottom, lowest)
        left += max((width for width, _ in sizes.values()), default=0.0) + _ACROSS
    return places, (left - _ACROSS + 1, bottom)


def _arrow(arrow: Arrow, points: Sequence[tuple[float, float]], known: Mapping[str, Box]) -> str:
    """Return an arrow as a curve, from its start's left side to its end's right side."""
    first = (points[0][0] + known[arrow.end].size[0], points[0][1])
    path = list(reversed([first, *points[1:]]))
    curve = f"M{path[0][0]:.1f} {path[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(path):
        bend = min(_ACROSS, abs(x - to_x)) * 0.6
        curve += f"C{x - bend:.1f} {y:.1f} {to_x + bend:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"
    return f'<path class="arrow {escape(arrow.kind)}" d="{curve}"/>'


def _box(node: Box, place: tuple[float, float]) -> str:
    width, height = node.size
    x, y = place[0], place[1] - height / 2
    rows = [
        f'<tspan class="{"rest" if i else "first"}" x="{x + _PADDING:.1f}" y="{y + _PADDING + 10 + i * _LINE:.1f}">'
        f"{escape(line)}</tspan>"
        for i, line in enumerate(node.lines)
    ]
    rect = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5"/>'
    box = Html(f"<title>{escape(node.title)}</title>{rect}<text>{''.join(rows)}</text>")
    return tag("a", box, href=node.href, class_=f"node {node.kind}", aria_label=node.title)
