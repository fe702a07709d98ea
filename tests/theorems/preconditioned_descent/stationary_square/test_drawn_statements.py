"""Random statements about critical points with known truth values: none is wrongly verified or wrongly refuted."""

import random
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from tests.verify.statements.drawn import drawn_by
from tests.verify.statements.judge import judged, shown
from tests.verify.statements.measures import (
    PARAMETERS,
    SYMBOLS,
    drawn_measure,
    drawn_spoil,
    in_sympy,
    is_measure,
    moment_of,
    moments,
)
from tests.verify.statements.specimens import Specimen, Values, theorem_of
from tests.verify.statements.writing import faithful
from theorems.preconditioned_descent.stationary_square.clause import StationarySquare
from verify import Dynamics, Statement
from verify.checking.check import check


def stationary(draw: random.Random) -> Specimen:
    """Return a claim about a critical point for two factors, or for one factor 1 − a s, whose point is a = m_1/m_2."""
    at = {"p": Fraction(draw.choice((0, 1, 2)))}
    points, positive = drawn_measure(draw, 3)
    found = moments(points, 5)
    spoil, zero_at = drawn_spoil(draw)
    if spoil and draw.random() < 0.5:
        at = {"p": Fraction(zero_at)}
    layers = 1 if draw.random() < 0.85 else 2
    p, a, s = sp.symbols("z b s", real=True)
    recursion = Dynamics((p,), (sp.S.One,), (p * (1 - a * s),), p)
    moment = faithful(
        moment_of(points, spoil), SYMBOLS, [{"p": Fraction(v), "k": Fraction(n)} for v in (0, 1, 2) for n in range(4)]
    )
    more: dict[str, Any] = {}
    best = found[1] / found[2] if found[2] else None
    near = radius = None
    if layers == 1 and best is not None and draw.random() < 0.75:
        near, radius = best + Fraction(draw.choice((0, 0, 1, -1)), 4), Fraction(1, draw.choice((6, 9)))
        if max(abs(near.numerator), near.denominator) < 10**6:
            more = {"near": (in_sympy(near),), "radius": in_sympy(radius), "minimum": draw.random() < 0.5}

    def truth(values: Values) -> bool | None:
        if (zero_at is not None and values["p"] == zero_at) or not is_measure(found, layers) or best is None:
            return None
        return True if not more else abs(best - near) <= radius

    clause = StationarySquare("c0", sp.Integer(layers), recursion, (a,), s, moment, SYMBOLS["k"], **more)
    kind = f"{layers} layers" + ("" if positive else ", weights of both signs") + (", p/p" if spoil else "")
    others = tuple({"p": Fraction(v)} for v in (0, 1, 2))
    statement = Statement(PARAMETERS, (clause,))
    return Specimen(
        "stationary",
        kind,
        theorem_of(statement),
        at,
        {"c0": truth},
        degenerate=truth(at) is None,
        hard=not positive,
        others=others,
    )


@pytest.mark.audit
def test_no_statement_is_wrongly_decided():
    decided = others = 0
    for i in range(50):
        name = f"stationary:{i}"
        specimen = drawn_by(stationary, name)
        faults, settled, result = judged(specimen, check)
        assert not faults, shown(specimen, name, faults, result)
        if not specimen.degenerate and not specimen.hard:
            others, decided = others + 1, decided + settled
    assert others > 10 and decided >= 0.9 * others
