r"""Steps for the one-hot run: C never falls, and bounds of the potential's rise.

The proof that uses these steps is in `one_hot_steps`, with the same symbols: `lag` is ρ, `sigma` is σ, `z` is
(1−P)(1−w), `other` and `later` are w = e^{−C} before and after a step, `move` is y, `bend` is s²σ, `rise` is
g = (1+ρ)(1−ρσ), and `kappa` is κ.
"""

import sympy as sp

from theorems.sparse_token_selection.one_hot_box import m, other
from theorems.sparse_token_selection.task import T, d, eta, q
from verify import Identity, Implication, Inequality

sigma, z, later, move, bend, rise, kappa, share, pulled, top, grown, excess = sp.symbols(
    "sigma z_now next_w move bend rise kappa share pulled r grown excess", nonnegative=True
)
lag, bound, other_bound = sp.symbols("lag bound other_bound", real=True)
N = sp.Symbol("N", positive=True)
VARIABLES = (
    *(sigma, z, later, move, bend, rise, kappa, share, pulled, top, grown, excess),
    *(lag, bound, other_bound, N),
)
QUARTER = sp.Rational(1, 4)

SMALL_MOVE = (
    Implication(
        "pull_where_behind",
        (sp.Le(lag, 0), sp.Le(z, 1)),
        sp.Le(1 - m - lag * m * z, 1 - (1 + lag) * m),
        says="1 - m - rho m z <= 1 - (1 + rho) m where rho <= 0, z <= 1",
    ),
    Implication(
        "move_where_behind",
        (sp.Le(bound, 1 - excess),),
        sp.Le(excess * bound, excess * (1 - excess)),
        says="u x <= u (1 - u) where x <= 1 - u, u >= 0",
    ),
    Inequality("quarter", sp.Le(excess * (1 - excess), QUARTER), says="u (1 - u) <= 1/4"),
    Implication(
        "move_where_ahead",
        (sp.Ge(lag, 0), sp.Le(lag, 1), sp.Le(m, 1), sp.Ge(sigma, 1)),
        sp.Le((1 + lag) * m * (1 - m) * (1 - lag * sigma), QUARTER),
        says="(1 + rho) m (1 - m)(1 - rho sigma) <= 1/4 where 0 <= rho <= 1, m <= 1, sigma >= 1",
    ),
    Implication(
        "move_at_most_one",
        (sp.Le(bound, QUARTER), sp.Le(kappa / 4, 1)),
        sp.Le(kappa * bound, 1),
        says="kappa x <= 1 where x <= 1/4, kappa/4 <= 1",
    ),
)
BEFORE_THE_TURN = (
    Identity(
        "turn_in_w",
        (q + (T - q) * other) * (1 - other) - T * other,
        q - 2 * q * other - (T - q) * other**2,
        says="N(1-w) - Tw = q - 2qw - (T-q)w^2",
    ),
    Implication(
        "S_falls",
        (sp.Ge(other, later), sp.Ge(bound, 0)),
        sp.Ge((other - later) * (bound + (other - later) * N), 0),
        says="(w-w')(x + (w-w')N') >= 0 where w >= w', x >= 0, as for x = (T-q)w'^2 + 2qw' - q",
    ),
)
_HALF = sp.Rational(1, 2)
_ALL = q + (T - q) * other
_ATTENDED = q / _ALL
ENOUGH_ROOM = (
    Implication(
        "beyond_the_turn",
        (sp.Gt(q - 2 * q * later - (T - q) * later**2, 0),),
        sp.Lt(later, _HALF),
        says="w' < 1/2 where q - 2qw' - (T-q)w'^2 > 0",
    ),
    Implication(
        "attended_behind",
        (sp.Eq(grown * bend, 1 + lag), sp.Eq(share, m * bend), sp.Le(lag, 0)),
        sp.Le(grown * share, m),
        says="alpha P <= m where alpha S = 1 + rho, P = m S, rho <= 0",
    ),
    Implication(
        "pull_before",
        (sp.Le(pulled, m), sp.Le(later, _HALF)),
        sp.Le(pulled / (1 - later), 2 * m),
        says="aP/(1-w') <= 2m where aP <= m, w' <= 1/2",
    ),
    Implication(
        "pull_after",
        (sp.Lt(other, 1), sp.Le(later, other), sp.Le(pulled * (1 - other), 1)),
        sp.Le(pulled / (1 - later), 1 / (1 - other) ** 2),
        says="aP/(1-w') <= 1/(1-w)^2 where aP (1-w) <= 1, w' <= w < 1",
    ),
    Implication(
        "xi_at_most",
        (sp.Le(pulled, top),),
        sp.Le(T / (T - 1) * (share * pulled), T / (T - 1) * (share * top)),
        says="T/(T-1) k x <= T/(T-1) k r where x <= r, k >= 0, as for k = P (1-P) w, x = aP/(1-w'), Xi = k x",
    ),
    Implication(
        "half_of_a_ratio",
        (sp.Le(grown, N),),
        sp.Le(grown / N / 2, _HALF),
        says="half of x/y is at most 1/2 where x <= y, y > 0",
    ),
    Implication(
        "odds_after",
        (sp.Lt(other, 1), sp.Le(T * other, N * (1 - other))),
        sp.Le(other / (1 - other), N / T),
        says="w/(1-w) <= N/T where Tw <= N(1-w), w < 1",
    ),
    Implication(
        "square_of_odds_after",
        (sp.Le(grown, N / T),),
        sp.Le(grown**2 / N**2, 1 / T**2),
        says="x^2/N^2 <= 1/T^2 where 0 <= x <= N/T",
    ),
    Implication(
        "xi_after",
        (sp.Lt(other, 1), sp.Eq((1 - other) * grown, other)),
        sp.Eq(_ATTENDED * (1 - _ATTENDED) * other / (1 - other) ** 2, q * (T - q) * grown**2 / _ALL**2),
        says="P (1-P) w/(1-w)^2 = q (T-q) x^2/N^2 where (1-w) x = w, w < 1, P = q/N, N = q + (T-q)w",
    ),
    Implication(
        "half_of_all",
        (sp.Le(2 * q * (T - q), T * (T - 1)),),
        sp.Le(q * (T - q), T * (T - 1) / 2),
        says="q (T-q) <= T (T-1)/2 where 2q (T-q) <= T (T-1)",
    ),
    Implication(
        "product_after",
        (sp.Le(grown, excess), sp.Le(rise, top)),
        sp.Le(rise * grown, top * excess),
        says="y x <= p r where x <= r, y <= p, as for x <= 1/T^2, y = q (T-q) <= T(T-1)/2",
    ),
    Implication(
        "half_after",
        (sp.Le(bound, (T - 1) / (2 * T)),),
        sp.Le(T / (T - 1) * bound, _HALF),
        says="T/(T-1) x <= 1/2 where x <= (T-1)/(2T) = T(T-1)/2 1/T^2",
    ),
    Implication(
        "pull_in_A",
        (sp.Le(bound, _HALF),),
        sp.Le(d / q * bound, d / (2 * q)),
        says="A x <= d/(2q) where T x/(T-1) <= 1/2, which times d/q is A x",
    ),
    Implication(
        "attended_square",
        (sp.Le(share, 1), sp.Le(other, 1)),
        sp.Le(share**2 * (1 - other), 1),
        says="P^2 (1-w) <= 1 where P <= 1, 0 <= w <= 1",
    ),
    Implication(
        "factor_with_room",
        (sp.Le(bound, 1), sp.Le(other_bound, d / (2 * q)), sp.Le(eta * (2 * q + d) / (2 * q**2), 1)),
        sp.Ge(1 - eta / q * (bound + other_bound), 0),
        says="1 - (eta/q)(x + y) >= 0 where x <= 1, y <= d/(2q), (eta/q)(1 + d/(2q)) <= 1",
    ),
)
NO_FALL = (
    Implication(
        "gap_behind",
        (sp.Le(pulled, m), sp.Le(m, 1), sp.Le(other, 1)),
        sp.Ge(1 - pulled * (1 - other), 0),
        says="1 - aP (1-w) >= 0 where aP <= m <= 1, 0 <= w <= 1",
    ),
    Implication(
        "next_sign",
        (sp.Lt(other, 1), sp.Ge((1 - other) * bound, 0)),
        sp.Ge(bound, 0),
        says="x >= 0 where (1-w) x >= 0, w < 1, as for x = N' - q alpha' (1-w')",
    ),
    Implication(
        "next_delta",
        (sp.Ge(N - q * grown * (1 - later), 0),),
        sp.Ge(1 - grown * (q / N) * (1 - later), 0),
        says="1 - alpha' P' (1-w') >= 0 where N' - q alpha' (1-w') >= 0, P' = q/N' > 0",
    ),
    Inequality(
        "first_move", sp.Gt(sp.exp(-sp.Rational(1, 2)), sp.Rational(1, 2), evaluate=False), says="e^(-1/2) > 1/2"
    ),
)
GROWTH = (
    Inequality(
        "exponential_at_one",
        sp.Le(sp.exp(1) - 2, sp.Rational(3, 4), evaluate=False),
        says="e - 2 <= 3/4",
    ),
    Implication(
        "m_in_odds",
        (sp.Eq((1 - m) * grown, m),),
        sp.Eq(m, grown / (1 + grown)),
        says="m = X/(1+X) where (1 - m) X = m",
    ),
    Identity("odds_and_one", 1 / (1 - grown / (1 + grown)), 1 + grown, says="1/(1 - m) = 1 + X for m = X/(1+X)"),
    Identity(
        "mean_of_growth",
        (1 + grown * N) / (1 + grown),
        1 - grown / (1 + grown) + grown / (1 + grown) * N,
        says="(1 + X e^y)/(1 + X) = 1 - m + m e^y for m = X/(1+X)",
    ),
    Identity(
        "rise_in_parts",
        grown * (move + 3 * move**2 / 4) - 3 * kappa / 2 * m * move,
        grown * move + sp.Rational(3, 4) * move * (grown * move - 2 * kappa * m),
        says="X (y + 3y^2/4) - (3 kappa/2) m y = X y + (3/4) y (X y - 2 kappa m)",
    ),
)
_RISE = kappa * m**2 * rise
POTENTIAL = (
    Implication(
        "rise_where_small",
        (sp.Le(m * rise, 2), sp.Le(m, 1)),
        sp.Le(_RISE + sp.Rational(3, 4) * move * kappa * m * (m * rise - 2), kappa * (rise + bend)),
        says="kappa m^2 g + (3/4) y kappa m (mg - 2) <= kappa (g + rho^2 sigma) where mg <= 2, m <= 1, y >= 0",
    ),
    Implication(
        "rise_at_most_two",
        (sp.Ge(lag, 0), sp.Le(lag, 1), sp.Ge(1 - lag * sigma, 0), sp.Le(m, 1)),
        sp.Le(m * (1 + lag) * (1 - lag * sigma), 2),
        says="m (1 + rho)(1 - rho sigma) <= 2 where 0 <= rho <= 1, rho sigma <= 1, m <= 1",
    ),
    Implication(
        "rise_behind",
        (sp.Ge(lag, -1), sp.Le(lag, 0)),
        sp.Le((1 + lag) * (1 - lag * sigma), 1 - lag * sigma),
        says="(1 + rho)(1 - rho sigma) <= 1 - rho sigma where -1 <= rho <= 0",
    ),
    Implication(
        "rise_where_large",
        (sp.Le(rise, 1 + excess), sp.Le(m, 1), sp.Ge(m * rise, 2)),
        sp.Le(rise * (m * rise - 2), excess**2),
        says="g (mg - 2) <= x^2 where g <= 1 + x, m <= 1, mg >= 2",
    ),
    Implication(
        "curvature_at_most",
        (sp.Le(kappa, 4 * grown),),
        sp.Le(3 * kappa * excess / 4, 3 * grown * excess),
        says="(3/4) kappa x <= 3q x/(T-1) where kappa <= 4q/(T-1), x >= 0",
    ),
    Implication(
        "rise_of_the_rest",
        (sp.Le(bound, bend * sigma), sp.Le(grown * sigma, 1)),
        sp.Le(grown * bound, bend),
        says="c x <= s^2 sigma where x <= (s sigma)^2, c sigma <= 1, as for c = (3/4) kappa (1-m)",
    ),
    Implication(
        "rise_altogether",
        (sp.Le(bound, bend), sp.Le(m, 1)),
        sp.Le(_RISE + kappa * m**2 * bound, kappa * (rise + bend)),
        says="kappa m^2 g + kappa m^2 x <= kappa (g + s^2 sigma) where x <= s^2 sigma, m <= 1",
    ),
)
_PSI = 1 / other - 2 - (T - q) * other / q
SUM_OF_MOVES = (
    Implication(
        "moves_in_A",
        (sp.Le(move, T * grown / q),),
        sp.Le(2 * d / (T - 1) * move, 2 * (d * T / (q * (T - 1))) * grown),
        says="2d/(T-1) x <= 2A y where x <= T y/q, A = dT/(q(T-1))",
    ),
    Implication(
        "psi_rises",
        (sp.Gt(later, 0), sp.Le(later, other)),
        sp.Ge(_PSI.subs(other, later), _PSI),
        says="1/w - 2 - (T-q)w/q does not fall as w falls",
    ),
    Inequality(
        "psi_at_most", sp.Ge(2 + (T - q) * other / q, 0), says="1/w less 1/w - 2 - (T-q)w/q is 2 + (T-q)w/q >= 0"
    ),
    Implication(
        "by_parts",
        (sp.Ge(other_bound, bound),),
        sp.Le(bound * (grown - pulled), other_bound * grown - bound * pulled),
        says="psi (alpha' - alpha) <= psi' alpha' - psi alpha where psi' >= psi, alpha' >= 0",
    ),
    Implication(
        "square_of_the_sum",
        (sp.Le(q * top**2, T), sp.Le(move**2, T * grown**2 / q)),
        sp.Le((top * move) ** 2, (T * grown / q) ** 2),
        says="(r y)^2 <= (T x/q)^2 where q r^2 <= T, y^2 <= T x^2/q, as for r = (T/q)^(1/2), y = 1/w, x = X^(1/2)",
    ),
    Implication("root", (sp.Le(move**2, N**2),), sp.Le(move, N), says="y <= x where y^2 <= x^2, x > 0"),
)
NOT_BEFORE = (
    Implication(
        "log_of_the_root",
        (
            sp.Le(grown - 3 * kappa / 2 * bound, excess + kappa * move + share * later),
            sp.Le(bound, top),
            sp.Le(later, top),
        ),
        sp.Le(1 + grown - (share + 3 * kappa / 2) * top, 1 + excess + kappa * move),
        says="1 + X - (k + 3 kappa/2) z <= 1 + x + kappa t where X - (3 kappa/2) r <= x + kappa t + k s, r <= z, s <= "
        "z",
    ),
    Implication(
        "loss_bounds_the_odds",
        (sp.Le((1 - m) + m * lag**2, 1 / N), sp.Lt(m, 1)),
        sp.Ge(1 / (1 - m), N),
        says="1/(1 - m) >= Y where (1 - m) + m rho^2 <= 1/Y, m < 1",
    ),
    Implication(
        "rises_with_the_root",
        (sp.Ge(move, excess), sp.Ge(grown, move)),
        sp.Ge(grown**2 - excess * grown, move**2 - excess * move),
        says="Z - k Z^(1/2) >= Y - k Y^(1/2) where Z >= Y, Y^(1/2) >= k, in roots",
    ),
    Implication(
        "no_bound",
        (sp.Gt(kappa, 0), sp.Le(move, excess)),
        sp.Lt((move**2 - excess * move - N) / kappa, 0),
        says="(Y - k Y^(1/2) - x)/kappa < 0 where Y^(1/2) <= k, x > 0",
    ),
    Implication(
        "steps_at_least",
        (sp.Gt(kappa, 0), sp.Le(bound, other_bound + kappa * move)),
        sp.Ge(move, (bound - other_bound) / kappa),
        says="t >= (x - y)/kappa where x <= y + kappa t",
    ),
)
STEPS_OF_THE_COUNT = (
    *(*SMALL_MOVE, *BEFORE_THE_TURN, *ENOUGH_ROOM, *NO_FALL, *GROWTH, *POTENTIAL, *SUM_OF_MOVES, *NOT_BEFORE),
)
