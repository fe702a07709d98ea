r"""Steps for the one-hot run: the entries of the Hessian in the box 0 ≤ α ≤ √(T/q), C ≥ 0, term by term.

The proof that uses these steps is in `one_hot_descent`, with the same symbols: `share` is P, `other` is w = e^{−C},
`alpha` is α, and `top` is r = √(T/q).
"""

import sympy as sp

from theorems.sparse_token_selection.one_hot_box import alpha, other, top
from theorems.sparse_token_selection.task import T, d, eta, q
from verify import Identity, Implication

share = sp.Symbol("share", nonnegative=True)
x, y, u = sp.symbols("bend_part turn_part along", real=True)
first, last, rate, unit = sp.symbols("first last rate unit", nonnegative=True)
VARIABLES = (share, x, y, u, first, last, rate, unit)

_CUBIC = share**2 * (1 - share)
_IN_THE_BOX = (sp.Ge(alpha, 0), sp.Le(alpha, top), sp.Le(share, 1), sp.Le(other, 1))
_FOUR = sp.Rational(4, 27)
MIXED_ENTRY = (
    Implication(
        "mixed_at_most",
        (*_IN_THE_BOX, sp.Le(_CUBIC, _FOUR)),
        sp.Le(4 * alpha * _CUBIC * (1 - other) - 2 * share * (1 - share), 16 * top / 27),
        says="4 alpha P^2 (1-P)(1-w) - 2P(1-P) <= 16r/27 where 0 <= alpha <= r, P^2 (1-P) <= 4/27",
    ),
    Implication(
        "mixed_part",
        (sp.Ge(alpha, 0), sp.Le(share, 1), sp.Le(other, 1)),
        sp.Ge(alpha * _CUBIC * (1 - other), 0),
        says="alpha P^2 (1-P)(1-w) >= 0 where alpha >= 0, P <= 1, w <= 1",
    ),
    Implication(
        "mixed_at_least",
        (sp.Ge(x, 0), sp.Le(sp.Rational(1, 2), 16 * top / 27)),
        sp.Ge(4 * x - 2 * share * (1 - share), -16 * top / 27),
        says="4x - 2P(1-P) >= -16r/27 where x = alpha P^2 (1-P)(1-w) >= 0, 1/2 <= 16r/27",
    ),
)
_FALLING = -share * (1 - share) * (1 - 2 * share)
_MEAN = _CUBIC * ((2 - 3 * share) * (1 - other) + other)
_OF_TWO = 4 * other - 1 - other**2
_FIRST_OF_TWO = 2 * alpha * other * (1 - other) / (1 + other) ** 3
_SECOND_OF_TWO = 2 * alpha**2 * other * _OF_TWO / (1 + other) ** 4
ENTRY_OF_C = (
    Implication(
        "bend_at_most",
        (sp.Ge(alpha, 0), sp.Le(alpha, top), sp.Le(_FALLING, sp.Rational(1, 10))),
        sp.Le(2 * alpha * _FALLING, top / 5),
        says="-2 alpha P(1-P)(1-2P) <= r/5 where 0 <= alpha <= r, -P(1-P)(1-2P) <= 1/10",
    ),
    Implication(
        "mean_at_most",
        (sp.Le(other, 1), sp.Le(_CUBIC, _FOUR), sp.Le(_CUBIC * (2 - 3 * share), _FOUR)),
        sp.Le(_MEAN, _FOUR),
        says="P^2 (1-P)((2-3P)(1-w) + w) <= 4/27 where P^2 (1-P) and P^2 (1-P)(2-3P) are",
    ),
    Implication(
        "turn_at_most",
        (sp.Le(x, _FOUR), sp.Le(q * alpha**2, T)),
        sp.Le(2 * alpha**2 * x, 8 * T / (27 * q)),
        says="2 alpha^2 x <= 8T/(27q) where x <= 4/27, q alpha^2 <= T",
    ),
    Implication(
        "entry_at_most",
        (sp.Le(x, top / 5), sp.Le(top, (T / q + 4) / 4), sp.Le(y, 8 * T / (27 * q))),
        sp.Le(x + y, (T / q + 4) / 20 + 8 * T / (27 * q)),
        says="x + y <= (T/q + 4)/20 + 8T/(27q) where x <= r/5, r <= (T/q + 4)/4, y <= 8T/(27q)",
    ),
    Identity(
        "entry_of_two_tokens",
        (2 * alpha * _FALLING + 2 * alpha**2 * _MEAN).subs(share, 1 / (1 + other)),
        _FIRST_OF_TWO + _SECOND_OF_TWO,
        says="at P = 1/(1+w) the entry is 2 alpha w(1-w)/(1+w)^3 + 2 alpha^2 w(4w-1-w^2)/(1+w)^4",
    ),
    Implication(
        "alpha_of_two_tokens",
        (sp.Le(alpha**2, 2),),
        sp.Le(alpha, sp.Rational(3, 2)),
        says="alpha <= 3/2 where alpha^2 <= 2",
    ),
    Implication(
        "first_of_two_tokens",
        (sp.Le(alpha, sp.Rational(3, 2)), sp.Le(other, 1)),
        sp.Le(_FIRST_OF_TWO, 3 * other * (1 - other) / (1 + other) ** 3),
        says="2 alpha w(1-w)/(1+w)^3 <= 3w(1-w)/(1+w)^3 where alpha <= 3/2, w <= 1",
    ),
    Implication(
        "second_of_two_tokens",
        (sp.Le(alpha**2, 2), sp.Ge(_OF_TWO, 0)),
        sp.Le(_SECOND_OF_TWO, 4 * other * _OF_TWO / (1 + other) ** 4),
        says="2 alpha^2 w x/(1+w)^4 <= 4w x/(1+w)^4 where alpha^2 <= 2, x = 4w-1-w^2 >= 0",
    ),
    Implication(
        "second_is_negative",
        (sp.Le(_OF_TWO, 0), sp.Le(x, 3 * y), sp.Le(y, sp.Rational(1, 10))),
        sp.Le(x + _SECOND_OF_TWO, sp.Rational(4, 5)),
        says="x + 2 alpha^2 w(4w-1-w^2)/(1+w)^4 <= 4/5 where 4w-1-w^2 <= 0, x <= 3y, y <= 1/10",
    ),
)
SCALED = (
    Implication(
        "scaled_entry_of_alpha",
        (sp.Le(x, 2),),
        sp.Le(eta / d * (d / (2 * q) * x), eta / q),
        says="(eta/d) (d/(2q)) x <= eta/q where x <= 2",
    ),
    Implication(
        "scaled_entry_of_C",
        (sp.Le(x, 4 * (T - 1) / (5 * q)),),
        sp.Le(eta / (T - 1) * (d / (2 * q) * x), eta / q * (2 * d / (5 * q))),
        says="(eta/(T-1)) (d/(2q)) x <= (eta/q) 2d/(5q) where x <= 4(T-1)/(5q)",
    ),
    Implication(
        "square_of_the_mixed",
        (sp.Le(x, 16 * top / 27), sp.Ge(x, -16 * top / 27)),
        sp.Le(x**2, 256 * top**2 / 729),
        says="x^2 <= 256 r^2/729 where -16r/27 <= x <= 16r/27",
    ),
    Implication(
        "scaled_entry_mixed",
        (sp.Le(x, 256 * T / (729 * q)),),
        sp.Le(
            eta**2 / (d * (T - 1)) * (d / (2 * q)) ** 2 * x, sp.Rational(64, 729) * eta**2 * d * T / ((T - 1) * q**3)
        ),
        says="eta^2/(d(T-1)) (d/(2q))^2 x <= 64/729 eta^2 d T/((T-1) q^3) where x <= 256 T/(729q)",
    ),
    Implication(
        "mixed_over_the_first",
        (sp.Gt(unit, 0), sp.Le((unit * x) ** 2, unit**2 * rate)),
        sp.Le(x**2, rate),
        says="b^2 <= c where (h b)^2 <= h^2 c, h > 0",
    ),
    Implication(
        "form_of_the_entries",
        (sp.Le(first, unit), sp.Le(last, unit * rate)),
        sp.Le(first * u**2 + 2 * unit * x * u * y + last * y**2, unit * (u**2 + 2 * x * u * y + rate * y**2)),
        says="p u^2 + 2h b uy + s y^2 <= h (u^2 + 2b uy + c y^2) where p <= h, s <= h c",
    ),
    Implication(
        "largest_of_the_form",
        (sp.Le(x**2, rate),),
        sp.Le(u**2 + 2 * x * u * y + rate * y**2, (1 + rate) * (u**2 + y**2)),
        says="u^2 + 2b uy + c y^2 <= (1 + c)(u^2 + y^2) where b^2 <= c",
    ),
)
FORM = SCALED[-3:]
"""The steps that bound the largest eigenvalue of a quadratic form by bounds of its entries."""
FALL_IN_PARTS = Identity(
    "fall_in_parts",
    2 * q / d * (eta / d * (d / q * x) ** 2 + eta / (T - 1) * (d / q * y) ** 2),
    2 * eta / q * (x**2 + d / (T - 1) * y**2),
    says="2q/d ((eta/d)(d/q x)^2 + (eta/(T-1))(d/q y)^2) = (2 eta/q)(x^2 + d/(T-1) y^2)",
)
STEPS_OF_THE_ENTRIES = (*MIXED_ENTRY, *ENTRY_OF_C, *SCALED, FALL_IN_PARTS)
