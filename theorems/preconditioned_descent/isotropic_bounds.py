"""Steps of `isotropic_landscape`: upper bounds on K, in z and in x = z√(d(d+2)).

K, E, M and G are defined there.
"""

import sympy as sp

from theorems.preconditioned_descent.setting import d, n
from verify import (
    Identity,
    Implication,
    Inequality,
)

z, place = sp.symbols("z place", positive=True)
x, e, m, c, b_0 = sp.symbols("xi e m_0 c b_0", nonnegative=True)
u, tau_1, y = sp.symbols("u_11 tau_1 y_j", real=True)

G = n + d + 1

E = 2 * d * G**2 - 2 * (d - 1) ** 2 * (d + 2)
M = E - 2 * (d - 1) ** 2 * (d + 2) * (n + 2)

IN_X = Identity(
    "in_x",
    (e + m / 2 + c / 8) * (1 + x**2) ** 2 - (1 - x**2) * (e + 2 * m * x + c * x**2),
    e * x**2 * (3 + x**2) + m / 2 * (x**2 + 2 * x - 1) ** 2 + c / 8 * (1 - 3 * x**2) ** 2,
    "(e + m/2 + c/8)(1 + x^2)^2 - (1 - x^2)(e + 2m x + c x^2) = e x^2 (3 + x^2) + m/2 (x^2 + 2x - 1)^2 + c/8 (1 - "
    "3x^2)^2",
)
CROSS = Inequality(
    "cross",
    sp.Ge((G * (1 + x**2) + c) ** 2, G**2 * (1 + x**2) ** 2 + 2 * G * c * (1 - x**2)),
    "(G (1 + x^2) + c)^2 >= G^2 (1 + x^2)^2 + 2 G c (1 - x^2) for c >= 0",
)
E_POSITIVE = Inequality("e_positive", sp.Gt(E, 0, evaluate=False), "E > 0")
INVERSE_ROOT = (2 * d * (d + 2) + 1) / (2 * d * (d + 1) * (d + 2))
ROOT_ABOVE = Inequality(
    "root_above",
    sp.Le(G**2 / (d * (d + 2)), (G * INVERSE_ROOT) ** 2),
    "a^2 <= b^2, a^2 = G^2/(d(d+2)), b = G (2d(d+2) + 1)/(2d(d+1)(d+2))",
)
BOUNDS_OF_K = (
    Implication(
        "negative_from_one_on",
        (sp.Ge(x, 1), sp.Gt(m, 0), sp.Gt(y, 0)),
        sp.Lt(e * (1 - x**2) * u**2 - m * y**2, 0),
        "E (1 - x^2) p^2 - k s^2 < 0 where x >= 1, E >= 0, k > 0, s > 0",
    ),
    Implication(
        "crossed",
        (sp.Ge(u, tau_1 + 2 * c * (1 - x**2)),),
        sp.Le(e * (1 - x**2) * y**2 - m * u, (1 - x**2) * (e * y**2 - 2 * m * c) - m * tau_1),
        "E (1 - x^2) p^2 - k s <= (1 - x^2)(E p^2 - 2k r) - k t where s >= t + 2r (1 - x^2), k >= 0",
    ),
    Identity(
        "m_in_z",
        E * (1 + G * z) ** 2 - 2 * (d - 1) * (n + 2) * G * (2 * (d - 1) * (d + 2) * z),
        E + 2 * G * z * M + E * (G * z) ** 2,
        "E (1 + G z)^2 - 2 (d-1)(n+2) G c = E + 2M G z + E (G z)^2 for c = 2(d-1)(d+2) z",
    ),
    Implication(
        "m_at_most",
        (sp.Le(u, m), sp.Le(e**2, b_0**2)),
        sp.Le(e * u, b_0 * m),
        "a M <= b max(M, 0) where a^2 <= b^2, a and b >= 0",
    ),
    Implication(
        "m_in_x",
        (sp.Le(u, m), sp.Le(x, 1)),
        sp.Le((1 - x**2) * (e + 2 * x * u + c * x**2), (1 - x**2) * (e + 2 * m * x + c * x**2)),
        "(1 - x^2)(e + 2x p + c x^2) <= (1 - x^2)(e + 2m x + c x^2) where p <= m, 0 <= x <= 1",
    ),
    Implication(
        "below_the_squares",
        (sp.Le(u, e * (1 + x**2) ** 2), sp.Lt(e, m)),
        sp.Lt(u - m * (1 + x**2) ** 2, 0),
        "v - j (1 + x^2)^2 < 0 where v <= i (1 + x^2)^2, i < j",
    ),
)
