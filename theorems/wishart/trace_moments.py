r"""Exact moments of traces of a real Wishart matrix, at any number of samples and any dimension.

W = X Xᵀ with X ∈ R^{d×n} standard Gaussian, S = W/n. Gaussian integration by parts in the first X of
tr W^k = tr X Xᵀ W^{k−1} gives, for a product F of traces tr W^m and with tr W⁰ = d,

    E[tr W^k F] = (n + k − 1) E[tr W^{k−1} F] + Σ_{j=0}^{k−2} E[tr W^{j+1} tr W^{k−2−j} F]
                  + Σ_{tr W^m in F} 2m E[tr W^{k−1+m} F / tr W^m].

Each step lowers the order of the product, the sum of its powers of W, by one. With the smallest k first, few products
occur (506 from tr W^26, 2256 from tr W^40). All terms are positive, so nothing cancels in balls or in floats.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from verify import InputError, primitive
from verify.errors import UndefinedError

n, d = sp.symbols("n d", integer=True, positive=True)

LARGEST_ORDER = 60
"""Maximum number of factors S in a product of traces. At this order, numbers take seconds and polynomials a minute."""


def trace_moment(parts: Sequence[int], n: Any, d: Any) -> Any:
    """Return E ∏ tr S^k over the k in `parts`.

    n and d may be ints or Fractions (the result is a Fraction), SymPy expressions (a sum of monomials in n
    and d), or elements of a commutative ring with 1/n. Raises InputError without parts, for a part
    that is not a non-negative int, an order above LARGEST_ORDER, and n or d known not to be positive.
    """
    _checked(parts, n, d)
    return _normalised(parts, n, d, {})


def trace_moments(up_to: int, n: Any, d: Any) -> list[Any]:
    """Return [E tr S^k for k = 0 … up_to]; numbers and errors as for `trace_moment`."""
    _checked([up_to], n, d)
    known = {}
    return [_normalised([k], n, d, known) for k in range(up_to + 1)]


def trace_moment_polynomial(parts: Sequence[int]) -> sp.Poly:
    """Return n^order E ∏ tr S^k = E ∏ tr W^k, a polynomial in the symbols n and d with integer coefficients.

    Raises InputError as `trace_moment` does.
    """
    _checked(parts)
    ring = flint.fmpz_mpoly_ctx.get(("n", "d"))
    moment = ring.constant(1) * _moment(parts, *ring.gens(), {})  # pyright: ignore[reportCallIssue]
    coefficients = {tuple(map(int, powers)): int(c) for powers, c in moment.to_dict().items()}
    return sp.Poly.from_dict(coefficients, n, d, domain=sp.ZZ)


@primitive(version=1)
def wishart_trace_moment(arithmetic: Any, k: Any, n: Any, d: Any) -> Any:
    """Return E tr S^k; UndefinedError unless k is an integer from 0 to LARGEST_ORDER."""
    order = whole_order(k)
    return arithmetic.rational(1) * _moment([order], n, d, {}) / n**order


def require_positive(name: str, value: Any) -> None:
    """Raise InputError for a number that is known not to be positive."""
    known = value.is_nonpositive if isinstance(value, sp.Expr) else isinstance(value, int | Fraction) and value <= 0
    if known:
        raise InputError(name, value, "must be positive")


def whole_order(k: Any) -> int:
    """Return a number of the engine as an int from 0 to LARGEST_ORDER, or raise UndefinedError."""
    # A number of the engine cannot be turned into an int, but it can be compared with ints.
    for order in range(LARGEST_ORDER + 1):
        if k == order:
            return order
    raise UndefinedError(f"k: must be an integer from 0 to {LARGEST_ORDER}")


def _checked(parts: Sequence[int], n: Any = 1, d: Any = 1) -> None:
    if not parts:
        raise InputError("parts", "", "at least one is needed")
    for k in parts:
        if not isinstance(k, int) or k < 0:
            raise InputError("k", k, "must be a non-negative integer")
    if sum(parts) > LARGEST_ORDER:
        raise InputError("order", sum(parts), f"must be at most {LARGEST_ORDER}")
    require_positive("n", n)
    require_positive("d", d)


def _normalised(parts: Sequence[int], n: Any, d: Any, known: dict[tuple[int, ...], Any]) -> Any:
    order = sum(parts)
    if isinstance(n, sp.Expr) or isinstance(d, sp.Expr):
        n, d = sp.sympify(n), sp.sympify(d)
        return sp.Add(*(c * n ** (a - order) * d**b for (a, b), c in trace_moment_polynomial(parts).terms()))
    moment = _moment(parts, n, d, known)
    return (Fraction(moment) if isinstance(moment, int) else moment) / n**order


def _moment(parts: Sequence[int], n: Any, d: Any, known: dict[tuple[int, ...], Any]) -> Any:
    """Return E ∏ tr W^k in the ring of n and d; 1 without parts."""
    zeros, order = parts.count(0), sum(parts)
    positive = tuple(sorted(k for k in parts if k))
    if zeros:
        return d**zeros * _moment(positive, n, d, known)
    if not positive:
        return 1
    if positive not in known:
        k, *rest = positive
        if k == 1:
            moment = (n * d + 2 * (order - 1)) * _moment(rest, n, d, known)
        else:
            moment = (n + d + (k - 1)) * _moment([k - 1, *rest], n, d, known)
            for j in range(1, k - 1):
                moment = moment + _moment([j, k - 1 - j, *rest], n, d, known)
            for m, times in Counter(rest).items():
                others = list(rest)
                others.remove(m)
                moment = moment + 2 * m * times * _moment([k - 1 + m, *others], n, d, known)
        known[positive] = moment
    return known[positive]
