"""The picture shows the table of subpackages, and formulas become MathML."""

from fractions import Fraction
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from latex2mathml.exceptions import NoAvailableTokensError

from docs.extensions import picture, step_sizes
from docs.extensions.mathml import mathml
from tests.layout import SUBPACKAGES

SVG = "{http://www.w3.org/2000/svg}"


def test_the_arrows_are_the_table():
    direct = picture.direct()

    def reached(subpackage):
        return {subpackage}.union(*map(reached, direct[subpackage]))

    assert {subpackage: reached(subpackage) for subpackage in SUBPACKAGES} == {
        subpackage: set(allowed) for subpackage, allowed in SUBPACKAGES.items()
    }
    # No arrow is drawn between subpackages that are also connected by a longer path.
    assert direct["reports"] == {"search", "runs", "formal"} and direct["checking"] == {"claims", "rechecker"}


def test_the_picture_has_a_box_a_subpackage_and_an_arrow_an_import():
    drawn = ElementTree.fromstring(picture.subpackages())
    boxes = [(float(r.get("x")), float(r.get("y"))) for r in drawn.findall(f"{SVG}rect")]
    assert len(set(boxes)) == len(SUBPACKAGES)
    assert len(drawn.findall(f"{SVG}line")) == sum(map(len, picture.direct().values()))
    said = " ".join(drawn.itertext())
    assert all(subpackage in said for subpackage in SUBPACKAGES)


def test_formulas_become_mathml():
    assert "<mfrac>" in mathml(r"\frac{1}{20 d^{2}}", display=False)
    assert 'display="block"' in mathml("x", display=True) and 'display="inline"' in mathml("x", display=False)
    # A name of several letters is one symbol, not a product of letters.
    assert "<mi>ε</mi><mo>&lt;</mo>" in mathml("eps < 1", display=False)
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in mathml("x^{2}", display=False)
    assert '<mo form="prefix">(</mo>' in mathml(r"\left(\frac{x}{2}\right)", display=False)
    assert "<mtext>rate</mtext>" in mathml(r"rate \cdot x", display=False)
    assert "<mtext>encoding</mtext>" in mathml(
        r"\operatorname{least}_{encoding dimension}{\left(eps \right)}", display=False
    )
    assert mathml(r"\alpha", display=False) != mathml(r"\beta", display=False)


def test_malformed_formula_is_refused():
    with pytest.raises(NoAvailableTokensError):
        mathml(r"\frac{1}{", display=False)


def test_the_readme_shows_the_step_sizes_as_they_are_known():
    assert step_sizes.PICTURE.read_text(encoding="utf-8") == step_sizes.picture(), step_sizes.__doc__
    instance, limit, shown, violated = step_sizes.ends()
    T, q, d = instance["T"], instance["q"], instance["d"]
    # Limits of the step size: Theorem 1's, its extension's, and 2q, above which zero loss is unstable.
    assert (limit, shown) == (
        Fraction(1, 20 * d**2),
        (Fraction(2 * q * (T - 1), T - 1 + 6 * d), True, "formal"),
    ) and violated > 2 * q


def test_the_step_sizes_are_drawn_in_their_order():
    drawn = ElementTree.fromstring(step_sizes.picture())
    bars = [(float(r.get("x")), float(r.get("width"))) for r in drawn.findall(f"{SVG}rect") if r.get("x")]
    assert len(bars) == 4 and all(width > 0 for _, width in bars)
    for (start, width), (end, _) in pairwise(bars):
        assert start + width == pytest.approx(end, abs=0.2)
