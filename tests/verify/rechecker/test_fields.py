"""Values in a field: a number counts as rational only if it is known exactly; limits."""

from fractions import Fraction

import pytest
import sympy as sp

from tests.verify.rechecker.certificates import X, Y, certificate, given_at, one_clause, recheck, u, x, y, z
from verify import Identity, Inequality
from verify.language.expressions import to_data
from verify.rechecker import Rejected
from verify.rechecker.fields import Exact
from verify.rechecker.reading import Effort


def test_a_power_is_not_rational_by_rounding():
    given = given_at(one_clause(Inequality("bound", sp.Lt(0, x)), X, Y), {"x": "2", "y": "4/9"})
    half = given.terms.expression(to_data(sp.sqrt(y)), "here")
    assert given.number(half, None) == Fraction(2, 3)
    with pytest.raises(Rejected, match="not known to be rational"):
        given.number(given.terms.expression(to_data(sp.sqrt(x)), "here"), None)
    assert Exact(Effort()).real_power(Fraction(4, 9), Fraction(-3, 2)) == Fraction(27, 8)


def test_limits_are_exact_and_one_sided_or_infinite_ones_are_not_guessed():
    cases = [
        (sp.Limit((1 + u) ** 3 / u - 1 / u, u, 0), 3, True),
        (sp.Limit((2 * u**2 + u) / (3 * u**2 - 1), u, sp.oo), sp.Rational(2, 3), True),
        (sp.Limit((u**2 - 4) / (u - 2), u, 2), 4, True),
        (sp.Limit(u / (u + 1), u, 0), 0, True),
        (sp.Limit((1 + u) ** 3 / u - 1 / u, u, 0), 2, False),
        (sp.Limit(1 / u, u, 0), 0, False),
        (sp.Limit(sp.exp(u) / u, u, 0), 0, False),
    ]
    for limit, value, holds in cases:
        data = one_clause(Identity("same", y, z), X, variables=(y, z)).to_data()
        data["claims"][0] |= {"left": to_data(limit), "right": to_data(sp.sympify(value))}
        proof = {"kind": "identity", "scope": "all", "factors": []}
        made = certificate(data, {"x": "1"}, ("verified", "proved", proof))
        if holds:
            assert recheck(made)
        else:
            with pytest.raises(Rejected):
                recheck(made)
