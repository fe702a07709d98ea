"""The end of population gradient descent from zero, at a small instance in ball arithmetic.

P, the mean attention on the selected tokens, and R, the mean sum of the tokens' squared attention, are sums over all
signs of the definitions' softmax. The run is iterated in balls. Around its last point the Hessian in the coordinates
(√d α, √d_e C) is enclosed over a disc. If its eigenvalues are between λ > 0 and 1/η, a step contracts by 1 − ηλ. If
then the centre moves by less than ηλ times the radius, the disc is mapped into itself, and the run converges to the one
stationary point in it. The gain P²/(qR) is enclosed over all real C outside an interval. If it is below the gain at the
centre, and the best α for each C of the interval gives a point of the disc, the stationary point minimises the loss
over all α and C.
"""

import itertools
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from flint import arb, ctx

from verify.errors import UndecidedError

BITS, NARROWEST = 512, 2.0**-24


class Sizes(NamedTuple):
    """T tokens, q of them selected; the dimensions of a token and its encoding; whether the query is attended to."""

    T: int
    q: int
    d: int
    d_e: int
    query: bool


class Means(NamedTuple):
    """P and R with two derivatives in C."""

    P: tuple[arb, arb, arb]
    R: tuple[arb, arb, arb]


@dataclass(frozen=True)
class End:
    """The disc in which the run ends: centre, radius in (√d α, √d_e C), least curvature in it, steps of the run."""

    alpha: float
    C: float
    radius: float
    curvature: float
    steps: int


@lru_cache(maxsize=8)
def logits(sizes: Sizes) -> list[tuple[tuple[int, ...], int]]:
    """Return the logits, in units of C/d_e, of all tokens attended to, and the number of draws of signs with them."""
    T, q, _, D, query = sizes
    one = Counter[tuple[int, ...]]()
    for signs in itertools.product((1, -1), repeat=T):
        s = sum(signs[:q])
        one[*(s * sign for sign in signs), *([s * s] if query else [])] += 1
    found = Counter({(0,) * (T + query): 1})
    for _ in range(D):
        more = Counter[tuple[int, ...]]()
        for (v, n), (w, m) in itertools.product(found.items(), one.items()):
            more[tuple(x + y for x, y in zip(v, w, strict=True))] += n * m
        found = more
    return sorted(found.items())


def _squared(x: arb) -> arb:
    """Return the square as a product, because the power of a ball around 0 is NaN."""
    return x * x


def means(sizes: Sizes, C: arb) -> Means:
    """Return P, R and their derivatives at C, enclosed."""
    T, q, _, D, _ = sizes
    P, R = [arb(0)] * 3, [arb(0)] * 3
    for v, count in logits(sizes):
        at = [arb(n) / D for n in v]
        shares = [1 / sum((((other - own) * C).exp() for other in at), arb(0)) for own in at]
        mean = sum((p * x for p, x in zip(shares, at, strict=True)), arb(0))
        spread = sum((p * _squared(x - mean) for p, x in zip(shares, at, strict=True)), arb(0))
        for i, (p, own) in enumerate(zip(shares[:T], at, strict=False)):
            x = own - mean
            if i < q:
                P = [a + count * b for a, b in zip(P, (p, p * x, p * (_squared(x) - spread)), strict=True)]
            squares = (p * p, 2 * p * p * x, p * p * (4 * _squared(x) - 2 * spread))
            R = [a + count * b for a, b in zip(R, squares, strict=True)]
    draws = 2 ** (T * D)
    return Means(tuple(x / draws for x in P), tuple(x / draws for x in R))  # pyright: ignore[reportArgumentType]


def step(sizes: Sizes, alpha: arb, C: arb, eta: arb) -> tuple[arb, arb]:
    """Return the α and C that a step of gradient descent leads to."""
    (P, P1, _), (R, R1, _) = means(sizes, C)
    q, d, D = sizes.q, sizes.d, sizes.d_e
    return alpha - eta * (alpha * R - P / q), C - eta * d / (2 * D) * (alpha * alpha * R1 - 2 * alpha * P1 / q)


def end_of_descent(sizes: Sizes, eta: arb, steps: int, radius: float, curvature: float) -> End:
    """Return the disc with the stationary point to which the run converges, or raise UndecidedError."""
    with ctx.workprec(BITS):
        alpha = C = arb(0)
        for _ in range(steps):
            alpha, C = step(sizes, alpha, C, eta)
        a, c, (d, D) = arb(float(alpha)), arb(float(C)), sizes[2:4]
        scales = arb(d).sqrt(), arb(D).sqrt()
        across = [arb(0, radius) / scale for scale in scales]
        (_, P1, P2), (R, R1, R2) = means(sizes, c + across[1])
        near = a + across[0]
        mixed = (near * R1 - P1 / sizes.q) * scales[0] / scales[1]
        bend = (near * near * R2 - 2 * near * P2 / sizes.q) * d / (2 * D)
        for less in ((R - curvature, bend - curvature), (1 / eta - R, 1 / eta - bend)):
            if not (less[0] > 0 and less[0] * less[1] - mixed * mixed > 0):
                raise UndecidedError("the Hessian is not enclosed between the curvature and 1/eta")
        moved = step(sizes, a, c, eta)
        move, off = (
            sum((_squared((x - y) * s) for x, y, s in zip(point, (a, c), scales, strict=True)), arb(0))
            for point in (moved, (alpha, C))
        )
        if not (move < _squared(eta * curvature * radius) and off < _squared(arb(radius))):
            raise UndecidedError("the disc is not mapped into itself, or the run is not in it")
        return End(float(a), float(c), radius, curvature, steps)


def is_least(sizes: Sizes, end: End, half: float, far: float) -> bool:
    """Return whether the stationary point in the disc is shown to have the least loss over all real α and C.

    `half` is half of the length of the interval around the disc's C. Beyond `far`, exponentials are enclosed between 0
    and their value at `far`. False means that this is not shown.
    """
    q = sizes.q
    with ctx.workprec(128):
        (P, *_), (R, *_) = means(sizes, arb(end.C))
        best = P * P / (q * R)
        (P, *_), (R, *_) = means(sizes, arb(end.C, half))
        alpha = P / (q * R)
        away = _squared(alpha - end.alpha) * sizes.d + _squared(arb(half)) * sizes.d_e
        if not away < _squared(arb(end.radius)):
            return False
        if not all(_gain_far_out(sizes, arb(far), sign) < best for sign in (1, -1)):
            return False
        cells = [(-far, end.C - half), (end.C + half, far)]
        while cells:
            low, high = cells.pop()
            middle, wide = (low + high) / 2, (high - low) / 2
            # Ends and midpoints are rounded: the ball is a little wider than the cell.
            (P, *_), (R, *_) = means(sizes, arb(middle, wide + 2.0**-40))
            if P * P / (q * R) < best:
                continue
            if wide < NARROWEST:
                return False
            cells += [(low, middle), (middle, high)]
        return True


def _gain_far_out(sizes: Sizes, far: arb, sign: int) -> arb:
    """Enclose the gain over |C| ≥ far, C of this sign: for k > 0, e^(-k |C|/d_e) is between 0 and e^(-k far/d_e)."""
    T, q, _, D, _ = sizes
    P = R = arb(0)
    for v, count in logits(sizes):
        for i, own in enumerate(v[:T]):
            total, up = arb(0), 0
            for other in v:
                if (k := sign * (other - own)) > 0:
                    up = max(up, k)
                else:
                    total += 1 if k == 0 else (-far * -k / D).exp().union(arb(0))
            # A larger logit elsewhere leaves at most e^(-up far/d_e).
            share = (-far * up / D).exp().union(arb(0)) if up else 1 / total
            P, R = P + count * share * (i < q), R + count * share * share
    draws = 2 ** (T * D)
    return P * P / (q * R * draws)
