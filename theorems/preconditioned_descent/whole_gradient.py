r"""The exact gradient in all entries of all A_l (and B_l), at points where these are multiples of I.

At Σ = I, if the query's label is w*ᵀ x at first, it is w*ᵀ K x after L layers, and f = E tr K Kᵀ. If all A_l and B_l
are multiples of I, K = r(S). Move one of them by a matrix M. To first order K moves by a sum of words with one M
between powers of S. The trace of a word does not change if it is rotated, so that f moves by some E tr(M φ(S)), and the
case M = I gives φ: it is 2 r times the slope of r in that multiple. The entries of the gradient are those of E φ(S)ᵀ,
sums of E (S^k)_ij.

*Moments, entry by entry.* Let W = XXᵀ. Gaussian integration by parts in the first X of W^k gives, for a product F of
traces tr W^m,

    E[(W^k)_ij F] = (n + k − 1) E[(W^{k−1})_ij F] + Σ_{s=0}^{k−2} E[tr W^{s+1} (W^{k−2−s})_ij F]
                    + Σ_{tr W^m in F} 2m E[(W^{k−1+m})_ij F / tr W^m],        (W⁰)_ij = δ_ij.

Integration by parts in the first X of a trace tr W^k gives the rule of `trace_moments`, in which (W^m)_ij counts as one
more factor. The shortest factor is taken first.

*Theorem 3's point.* There p(s) = ∏(1 − a_l s) = Σ c_k s^k has rational coefficients c_k, but the a_l need not be
rational. The slope in a_l has φ_l(s) = −2 s p(s) q(a_l, s), q(a, s) = Σ_j s^j Σ_{i≤j} c_i a^{j−i}. So the sum of the
squares over l is a combination of power sums Σ_l a_l^k, which are rational by Newton's identities.

*Theorem 4's point.* All layers but the last are idle, A_l = 0 and B_l = b I; the last has A = a I. Then r = 1 − a s,
and its slope is −s + (1 + 2b) a s² in a_l, −s in a, and 0 in all b_l.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import flint

from verify import enclosed
from verify.errors import UndefinedError

MOST_LAYERS = 20
_SCANNED_LAYERS = 4


@lru_cache(maxsize=64)
def power_entries(up_to: int, n: int, d: int, *, diagonal: bool) -> list[Fraction]:
    """Return E (S^k)_ij for k = 0 … up_to, with i = j if `diagonal`, else with i ≠ j."""
    known: dict[tuple[int, tuple[int, ...]], int] = {}
    return [Fraction(_entry(k, (), n, d, int(diagonal), known), n**k) for k in range(up_to + 1)]


def _entry(
    power: int, traces: tuple[int, ...], n: int, d: int, identity: int, known: dict[tuple[int, tuple[int, ...]], int]
) -> int:
    """Return E[(W^power)_ij ∏ tr W^m] over the traces m >= 1; `identity` is δ_ij."""
    traces = tuple(sorted(traces))
    if not power and not traces:
        return identity
    if (power, traces) in known:
        return known[power, traces]

    def of(power: int, *traces: int) -> int:
        return d ** traces.count(0) * _entry(power, tuple(m for m in traces if m), n, d, identity, known)

    if traces and (not power or traces[0] <= power):
        k, *rest = traces
        moment = (n + k - 1) * of(power, k - 1, *rest) + 2 * power * (of(power + k - 1, *rest) if power else 0)
        moment += sum(of(power, s + 1, k - 2 - s, *rest) for s in range(k - 1))
        moment += _joined(rest, lambda m, others: of(power, k - 1 + m, *others))
    else:
        moment = (n + power - 1) * of(power - 1, *traces)
        moment += sum(of(power - 2 - s, s + 1, *traces) for s in range(power - 1))
        moment += _joined(traces, lambda m, others: of(power - 1 + m, *others))
    known[power, traces] = moment
    return moment


def _joined(traces: Sequence[int], of: Callable[[int, list[int]], int]) -> int:
    """Return Σ 2m of(m, the others) over the traces."""
    total = 0
    for m, times in Counter(traces).items():
        others = list(traces)
        others.remove(m)
        total += 2 * m * times * of(m, others)
    return total


def _squares(polynomials: Sequence[Sequence[Fraction]], n: int, d: int) -> Fraction:
    """Return Σ ‖E φ(S)‖_F² over polynomials φ, each given by its coefficients."""
    total, up_to = Fraction(0), max(map(len, polynomials)) - 1
    for diagonal, count in ((True, d), (False, d * (d - 1))):
        moments = power_entries(up_to, n, d, diagonal=diagonal)
        for polynomial in polynomials:
            total += count * sum((c * m for c, m in zip(polynomial, moments, strict=False)), Fraction(0)) ** 2
    return total


def sizes_of(*sizes: Fraction) -> tuple[int, int, int]:
    """Return L, n and d as ints. Raises UndefinedError unless they are integers >= 1, and L is at most MOST_LAYERS."""
    L, n, d = sizes
    if any(x.denominator != 1 or x < 1 for x in sizes) or L > MOST_LAYERS:
        raise UndefinedError(f"L = {L}, n = {n}, d = {d}: integers >= 1, and at most {MOST_LAYERS} layers")
    return int(L), int(n), int(d)


def least_polynomial(L: int, n: int, d: int, shift: Fraction, scale: Fraction) -> list[Fraction]:
    """Return the coefficients of p(scale s): p(0) = 1, p of degree L is orthogonal to s^shift … s^(shift + L − 1).

    Raises UndefinedError if these conditions do not determine p, and unless shift is an integer from 0 to 10.
    """
    if shift not in range(11):
        raise UndefinedError(f"shift = {shift}: an integer from 0 to 10")
    first = int(shift)
    m = [flint.fmpq(x.numerator, x.denominator) for x in power_entries(2 * L + first, n, d, diagonal=True)]
    rows = range(first, first + L)
    matrix = flint.fmpq_mat(L, L, [m[j + k] for k in rows for j in range(1, L + 1)])
    try:
        solved = matrix.solve(flint.fmpq_mat(L, 1, [-m[k] for k in rows]))
    except ZeroDivisionError:
        raise UndefinedError("the conditions on p do not determine it") from None
    return [Fraction(1)] + [Fraction(int(solved[j, 0].p), int(solved[j, 0].q)) * scale ** (j + 1) for j in range(L)]


def _at_least_point(*at: Fraction) -> Fraction:
    *sizes, shift, scale = at
    count, n, d = sizes_of(*sizes)
    c = least_polynomial(count, n, d, shift, scale)
    # Newton's identities: Σ a_l^k from the elementary symmetric functions (−1)^k c_k.
    sums = [Fraction(count)]
    for k in range(1, 2 * count - 1):
        total = sum((-c[i] * sums[k - i] for i in range(1, min(k, count + 1))), Fraction(0))
        sums.append(total - (k * c[k] if k <= count else 0))
    total = Fraction(0)
    for diagonal, entries in ((True, d), (False, d * (d - 1))):
        moments = power_entries(2 * count, n, d, diagonal=diagonal)
        # −2 E (S^{j+1} p(S))_ij, and the coefficients of the powers of a.
        parts = [-2 * sum((x * moments[j + 1 + k] for k, x in enumerate(c)), Fraction(0)) for j in range(count)]
        by_power = [sum((parts[i + k] * c[i] for i in range(count - k)), Fraction(0)) for k in range(count)]
        total += entries * sum(
            (x * y * sums[i + k] for i, x in enumerate(by_power) for k, y in enumerate(by_power)), Fraction(0)
        )
    return total


def _at_idle_layers(*at: Fraction) -> Fraction:
    *sizes, b, a = at
    L, n, d = sizes_of(*sizes)
    zero, one = Fraction(0), Fraction(1)

    def twice_times_label(slope: Sequence[Fraction]) -> list[Fraction]:
        return [2 * (x - a * y) for x, y in zip((*slope, zero), (zero, *slope), strict=True)]

    in_a, in_last = (twice_times_label((zero, -one, second)) for second in ((1 + 2 * b) * a, zero))
    return _squares([in_a] * (L - 1) + [in_last], n, d)


def _scanned(at: Callable[..., Fraction]) -> Callable[..., float]:
    def value(*arguments: float) -> float:
        exact = [Fraction(x).limit_denominator(10**6) for x in arguments]
        if exact[0] > _SCANNED_LAYERS:
            raise UndefinedError(f"more than {_SCANNED_LAYERS} layers: not looked at in a search")
        return float(at(*exact))

    return value


@enclosed(version=1, scan=_scanned(_at_least_point))
def gradient_at_least_point(L: Fraction, n: Fraction, d: Fraction, shift: Fraction, scale: Fraction) -> Fraction:
    """Return Σ_l ‖∂f/∂A_l‖_F², pattern (8), at A_l = a_l I.

    The a_l are scale/root for the roots of p. p has degree L, p(0) = 1, and E tr S^k p(S) = 0 for
    k = shift … shift + L − 1.
    """
    return _at_least_point(L, n, d, shift, scale)


@enclosed(version=1, scan=_scanned(_at_idle_layers))
def gradient_at_idle_layers(L: Fraction, n: Fraction, d: Fraction, b: Fraction, a: Fraction) -> Fraction:
    """Return Σ_l (‖∂f/∂A_l‖_F² + ‖∂f/∂B_l‖_F²), pattern (11), at A_{L−1} = a I, all other A_l = 0 and all B_l = b I."""
    return _at_idle_layers(L, n, d, b, a)
