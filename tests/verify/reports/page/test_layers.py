"""Graphs as pictures: layers, crossings, and distinct places."""

import re

import networkx as nx
import pytest

from verify.reports.page import layers
from verify.reports.page.layers import Arrow, Box, _crossings, _layered, drawn


def boxes(names):
    return [Box(name, (name,), "proved", f"#{name}", name) for name in names]


def places(svg):
    found = re.findall(r'aria-label="(\w+)".*?<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', svg)
    return {name: tuple(map(float, numbers)) for name, *numbers in found}


def test_boxes_that_others_rest_on_are_at_the_left():
    svg = drawn(boxes("abcd"), [Arrow("b", "a"), Arrow("c", "b"), Arrow("d", "a"), Arrow("c", "a")], "g", "t", "d")
    at = places(svg)
    assert at["a"][0] < at["b"][0] == at["d"][0] < at["c"][0] and svg.count('class="arrow ') == 4
    assert svg.index('<g marker-end="url(#g-tip)">') < svg.index('class="arrow ') and 'id="g-tip"' in svg


def test_boxes_do_not_overlap():
    names = [f"n{i}" for i in range(14)]
    arrows = [Arrow(f"n{i}", f"n{j}") for i in range(14) for j in range(i) if (i * 7 + j * 3) % 5 == 0]
    rects = list(places(drawn(boxes(names), arrows, "g", "t", "d")).values())
    assert len(rects) == 14
    for i, (x, y, w, h) in enumerate(rects):
        assert all(x + w <= a or a + c <= x or y + h <= b or b + d <= y for a, b, c, d in rects[:i])


def test_crossings_that_can_be_avoided_are():
    # With the nodes in the order of their names, all arrows from z_i to a_(5 − i) would cross each other.
    arrows = [Arrow(f"z{i}", f"a{5 - i}") for i in range(6)] + [Arrow("z0", "a4")]
    names = [*(f"a{i}" for i in range(6)), *(f"z{i}" for i in range(6))]
    order, chains = _layered(names, arrows)
    assert _crossings(order, layers._beside(chains.values())) == 0
    assert _crossings([names[:6], names[6:]], layers._beside(chains.values())) > 10


def test_a_circle_is_refused():
    with pytest.raises(nx.NetworkXUnfeasible):
        drawn(boxes("ab"), [Arrow("a", "b"), Arrow("b", "a")], "g", "t", "d")


def test_an_arrow_to_what_is_not_shown_is_left_out():
    assert drawn(boxes("a"), [Arrow("a", "elsewhere")], "g", "t", "d").count('class="arrow ') == 0


def test_names_are_escaped():
    svg = drawn([Box("a", ("<b>&",), "open", '#"x', "<i>")], [], "g", "<t>", "<d>")
    assert not re.search(r"<(b|i|t|d)>", svg) and "&lt;b&gt;&amp;" in svg
