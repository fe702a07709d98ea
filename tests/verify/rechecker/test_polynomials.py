"""A combination of rational functions is found to be 0 exactly if it is 0 by construction with SymPy."""

import random
from fractions import Fraction

import sympy as sp

from tests.verify.rechecker.certificates import given_at, one_clause
from tests.verify.rechecker.expressions import FREE, A, B, random_expression
from verify import Inequality
from verify.language.expressions import to_data
from verify.rechecker.fields import evaluate
from verify.rechecker.polynomials import Quotients, admit_all


def test_rational_functions_vanish_exactly_when_they_do():
    draw = random.Random(13)
    for _ in range(60):
        expression = random_expression(draw, 3, rational=True)
        forms = [sp.together(sp.expand(expression)), sp.together(expression), sp.expand(expression)]
        other = draw.choice(forms)
        for wrong in (sp.Integer(0), A / 10**6, sp.exp(B)):
            given = given_at(one_clause(Inequality("bound", sp.Lt(A, B)), *FREE), {"x": "2/3", "y": "5/7"})
            nodes = [given.terms.expression(to_data(e), "here") for e in (expression, other, wrong)]
            field = Quotients(given.effort, given.sign_of, admit_all, {})
            left, right, more = evaluate(given.terms, nodes, field)
            difference = field.plus(field.plus(left, field.times(right, field.number(Fraction(-1)))), more)
            assert field.is_zero(difference) == (wrong == 0)
            exact = [given.number(node, None) for node in nodes[:2]]
            assert exact[0] == exact[1] == Fraction(str(expression.subs({A: sp.Rational(2, 3), B: sp.Rational(5, 7)})))
