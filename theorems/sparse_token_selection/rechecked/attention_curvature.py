r"""How much attention's means by random sign encodings can bend: bounds of −P'' and R'' over an interval of C.

Let y_i be the factor of C in a logit, v_i or |u|² for the query token, p the softmax over all tokens, x_i = y_i −
Σ p_j y_j, Var = Σ p_j x_j², S the sum of p over the selected. From p_i' = p_i x_i and x_i' = −Var, for the factor f =
e^{μ(C − C₁)} and any m,

    −(f P)'' = f E[S Var − Σ_y p_i (x_i + μ)²] ≤ f E S Σ_j p_j (y_j − m)²,
    (f²R)'' = f² E Σ_i p_i² (4(x_i + μ)² − 2Var) ≤ 4f² E Σ_i p_i² Σ_j p_j (y_i − y_j + μ)²,

the last as x_i + μ is the mean of y_i − y_j + μ over j. Whatever the weights π ≥ 0 with sum 1, by Jensen

    log N = log Σ π_i e^{C y_i}/π_i ≥ H + C ℓ,    ℓ = Σ π_i y_i,    H = −Σ π_i log π_i,

so that p_i ≤ e^{−H + C(y_i − ℓ)}. With equal weights on the selected tokens, and on the others, this puts E of a square
of a linear form in y times e^{C·(another)} in place of each term: it is convex in C, and so on an interval at most its
value at one of the ends. A linear form's parts in the D coordinates are independent and alike: with a_k = E ν^k e^y in
one, E (Σν − m)² e^{Σy} = D a₂ a₀^{D−1} + D(D−1) a₁² a₀^{D−2} − 2m D a₁ a₀^{D−1} + m² a₀^D.
"""

from fractions import Fraction
from math import comb

from flint import arb

from verify.rechecker.balls import ball
from verify.rechecker.reading import Effort

Form = tuple[int, int, int, int, int]
"""Coefficients of y at up to two selected tokens, up to two others, and |u|²."""


class Curvature:
    """Bounds of −(fP)'' and (f²R)'', f = e^{μ(C − C₁)}, at single C, that are convex in C for the same π, m, μ, C₁."""

    def __init__(
        self,
        effort: Effort,
        sizes: tuple[int, int, int, int],
        shares: tuple[Fraction, Fraction, Fraction],
        start: Fraction,
        rate: Fraction,
    ) -> None:
        self.effort, self.rate, self.start = effort, rate, start
        self.T, self.q, self.D, self.query = sizes
        n = self.T - self.q
        self.a, self.b, self.c = shares
        assert min(shares) >= 0 and sum(shares) == 1 and (n or not self.b) and (self.query or not self.c)
        # e^{−H}; a share that is 0 adds nothing.
        entropy = arb(0)
        for share, tokens in ((self.a, self.q), (self.b, n), (self.c, 1)):
            if share:
                entropy -= ball(share) * ball(share / tokens).log()
        self.least = (-entropy).exp()
        self.middle = self.a + self.b * start * self.q / self.D + self.c * self.q

    def bounds(self, C: Fraction) -> tuple[arb, arb]:
        """Return the two bounds at C."""
        q, n, query = self.q, self.T - self.q, self.query
        turn, m, mu = ball(self.rate * (C - self.start)).exp(), self.middle, self.rate
        first, second = arb(0), arb(0)
        # The exponents and the linear form, by the kind of the tokens i and j.
        pairs: list[tuple[int, Form, Form, Form]] = [
            (q, (1, 0, 0, 0, 0), (1, 0, 0, 0, 0), (0, 0, 0, 0, 0)),
            (q * (q - 1), (1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (1, -1, 0, 0, 0)),
            (q * n, (1, 0, 0, 0, 0), (0, 0, 1, 0, 0), (1, 0, -1, 0, 0)),
            (n, (0, 0, 1, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 0, 0)),
            (n * q, (0, 0, 1, 0, 0), (1, 0, 0, 0, 0), (-1, 0, 1, 0, 0)),
            (n * (n - 1), (0, 0, 1, 0, 0), (0, 0, 0, 1, 0), (0, 0, 1, -1, 0)),
        ]
        if query:
            pairs.append((q, (1, 0, 0, 0, 0), (0, 0, 0, 0, 1), (1, 0, 0, 0, -1)))
            pairs.append((n, (0, 0, 1, 0, 0), (0, 0, 0, 0, 1), (0, 0, 1, 0, -1)))
        for many, i, j, difference in pairs:
            if not many:
                continue
            if i[0]:
                first += many * self._square(C, 2, _sum(i, j), j, -m)
            second += many * self._square(C, 3, _sum(i, i, j), difference, mu)
        return turn * self.least**2 * first, 4 * turn**2 * self.least**3 * second

    def _square(self, C: Fraction, power: int, exponent: Form, form: Form, shift: Fraction) -> arb:
        """Return E (form + shift)² e^{C (exponent − power·ℓ)}."""
        q, n, D = self.q, self.T - self.q, self.D
        chosen = [k for k in range(2) if exponent[k] or form[k]]
        others = [k for k in (2, 3) if exponent[k] or form[k]]
        each = power * self.b / n if n else Fraction(0)
        unit, rest = ball(C / D), q - len(chosen)
        u, drift = exponent[4] - power * (self.a / q + self.c), ball(each)
        moments = [arb(0), arb(0), arb(0)]
        for s in range(q % 2, q + 1, 2):
            # Over the others that are not named, a cosh each; s and −s are alike.
            weight = (ball(u) * s * s * unit).exp() * (1 if s == 0 else 2) / 2**q
            if each:
                weight *= (drift * s * unit).cosh() ** (n - len(others))
            states = [(weight, 0, 0)]
            for k in chosen:
                up = (unit * (s * exponent[k])).exp()
                down = 1 / up
                states = [(w * x, v + e * s * form[k], t + e) for w, v, t in states for e, x in ((1, up), (-1, down))]
            states = [(w * comb(rest, (rest + s - t) // 2), v, 0) for w, v, t in states if abs(s - t) <= rest]
            for k in others:
                up = (unit * s * (exponent[k] - drift)).exp()
                half, down = up / 2, 1 / (2 * up)
                states = [(w * x, v + e * s * form[k], 0) for w, v, _ in states for e, x in ((1, half), (-1, down))]
            for w, v, _ in states:
                nu = v + form[4] * s * s
                moments[0] += w
                moments[1] += w * nu
                moments[2] += w * nu * nu
        self.effort.spend(10 + (q // 2 + 1) * 6 * 2 ** (len(chosen) + len(others)) / 4)
        a0, a1, a2 = moments
        m, a1, a2 = ball(shift), a1 / D, a2 / D**2
        high = a0 ** (D - 2) if D > 1 else 1 / a0
        return high * (D * a2 * a0 + D * (D - 1) * a1 * a1 + 2 * m * D * a1 * a0 + m * m * a0 * a0)


def _sum(*forms: Form) -> Form:
    a, b, c, d, e = (sum(parts) for parts in zip(*forms, strict=True))
    return a, b, c, d, e
