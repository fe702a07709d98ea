"""Intervals contain the values at all points of a box."""

import random
from fractions import Fraction

import sympy as sp
from flint import arb, ctx

from tests.verify.rechecker.certificates import given_at, one_clause
from tests.verify.rechecker.expressions import FREE, A, B, random_expression
from verify import Inequality
from verify.language.expressions import to_data
from verify.rechecker.fields import Balls, evaluate
from verify.rechecker.kinds import boxes
from verify.rechecker.reading import Effort


def test_intervals_hold_all_values_on_a_box():
    draw = random.Random(11)
    for _ in range(60):
        expression = random_expression(draw, 3, rational=False)
        given = given_at(one_clause(Inequality("bound", sp.Lt(A, B)), *FREE), {"x": "1", "y": "1"})
        node = given.terms.expression(to_data(expression), "here")
        symbols = [given.terms.symbol(name) for name in ("x", "y")]
        ends = [sorted(Fraction(draw.randint(1, 64), 16) for _ in range(2)) for _ in symbols]
        with ctx.workprec(128):
            box = {
                s: tuple(arb(e.numerator) / e.denominator for e in side) for s, side in zip(symbols, ends, strict=True)
            }
            ((low, high),) = evaluate(given.terms, [node], boxes.Intervals(Effort(), 128), box)
            for _ in range(10):
                point = [a + (b - a) * Fraction(draw.randint(0, 8), 8) for a, b in ends]
                values = {s: arb(p.numerator) / p.denominator for s, p in zip(symbols, point, strict=True)}
                (value,) = evaluate(given.terms, [node], Balls(Effort(), 128), values)
                assert not value < low and not value > high, expression
