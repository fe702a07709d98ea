r"""The population loss's gradient in all entries of W and V, near the set of Lemma 2, by enumeration of all samples.

*The points.* V = α (I, v √κ 11ᵀ); the positional block of W is C I or C 11ᵀ, and all other entries of W are 0. On the
set v = 0, and the block is C I.

*A sample.* The target is STS = (1/q) Σ_{i∈y} x_i, and the residual is r = f − STS, f = Σ_j p_j V z_j. With
u = Σ_{i∈y} e_i, so that z_query = (0; u),

    ∂/∂V = Σ_j p_j r z_jᵀ,    ∂/∂W = Σ_j p_j (r·V z_j − Σ_m p_m r·V z_m) z_j z_queryᵀ,

as the derivative of the logit of j is z_j z_queryᵀ; j and m run over the tokens attended to.

*The tokens.* W has no (token, positional) block, so that the shares p do not depend on X: loss and gradient are of
degree at most 3 in X. Their mean over X is the mean over ± the rows of a Hadamard matrix with at least T d columns,
whose moments of order 0 to 3 are those of the normal distribution: odd moments are 0, and the columns are orthogonal.

*The encodings.* The law has finitely many equally likely draws, and all are enumerated. The encodings times √κ are
integers, and so are the logits times κ/C; κ is d_e for signs, 1 for unit vectors. Each mean is then a sum of rationals
times x^s/D(x)^k with x = e^{C/κ}: a product of k shares has the divisor D(x)^k, D(x) the sum of the powers of x with
these logits as exponents. Terms are stored by (D, k, s). The terms of the same D add up to a polynomial in x over D³.
If all of these polynomials vanish, the mean is exactly 0 for every C. If not, it is enclosed in balls.

P = E Σ_{i∈y} p_i and R = E Σ_i p_i², sums over the tokens, and their slopes in C are computed by their definitions,
with p_i' = p_i (v_i − Σ_m p_m v_m), v the logits over C.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from flint import arb, fmpq

from verify.errors import UndefinedError

if TYPE_CHECKING:
    import numpy as np

LAWS = ("signs", "axes", "first_plus")
"""Independent signs over √d_e; independent ± unit vectors; independent signs, except that each e_i begins with +."""
SIGNS, AXES, FIRST_PLUS = range(3)
PLACES = ON_THE_SET, POSITIONAL_VALUES, ALL_ONES = range(3)
"""A point of the set, a point with v = 1, and a point with C 11ᵀ."""
HIGHEST = 3
"""Maximum number of factors in a product of shares."""
MOST_DRAWS, MOST_WORK, LARGEST = 2**15, 2 * 10**8, 16
"""Maximum number of draws, maximum number of additions (`Model.work`), and largest value of T, d and d_e."""

Integers: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Drawn: TypeAlias = tuple[Integers, Integers]
Name: TypeAlias = Literal["V1", "V0", "W2", "W1", "L2", "L1", "L0", "P", "R", "P'", "R'"]
"""Gradients and loss by the power of α, then P, R and their slopes."""
Term: TypeAlias = tuple[tuple[int, ...], int, int]
"""The exponents of D in order (none for k = 0), then k and s."""
Sums: TypeAlias = Mapping[Term, Sequence[Fraction]]

ONE: Sums = {((), 0, 0): [Fraction(1)]}
"""1, as a product of no shares."""


class Model(NamedTuple):
    """Sizes, the indices of the law and of the place, and whether the query's token is attended to."""

    T: int
    q: int
    d: int
    d_e: int
    law: int
    place: int
    query: bool

    @property
    def draws(self) -> int:
        """Number of pairs of a draw of all encodings and a subset."""
        one = 2 * self.d_e if self.law == AXES else 2 ** (self.d_e - (self.law == FIRST_PLUS))
        return one**self.T * comb(self.T, self.q)

    @property
    def work(self) -> int:
        """The approximate number of additions that all draws take."""
        attended = self.T + self.query
        return self.draws * attended**3 * (self.d + self.d_e) * (4 * self.T * self.d + self.d_e)

    @property
    def squared_scale(self) -> int:
        """κ: encodings times √κ are integers."""
        return 1 if self.law == AXES else self.d_e


def encodings(model: Model) -> Integers:
    """Return all draws of the encodings times √κ, (draws, d_e, T)."""
    import numpy as np

    T, D = model.T, model.d_e
    if model.law == AXES:
        axes = np.concatenate([np.eye(D, dtype=np.int64), -np.eye(D, dtype=np.int64)])
        return np.stack([axes[list(chosen)].T for chosen in product(range(2 * D), repeat=T)])
    free = D - (model.law == FIRST_PLUS)
    signs = np.array(list(product((1, -1), repeat=T * free)), dtype=np.int64).reshape(2 ** (T * free), free, T)
    return np.concatenate([np.ones((len(signs), D - free, T), dtype=np.int64), signs], axis=1)


def tokens(T: int, d: int) -> Integers:
    """Return the points that replace X, (points, d, T): ± the rows of the first T d columns of a Hadamard matrix."""
    import numpy as np

    rows = np.ones((1, 1), dtype=np.int64)
    while len(rows) < T * d:
        rows = np.block([[rows, rows], [rows, -rows]])
    return np.concatenate([rows, -rows])[:, : T * d].reshape(-1, d, T)


@lru_cache(maxsize=64)
def means(model: Model) -> Mapping[Name, Sums]:
    """Return the means over all samples, by name; gradients are flat.

    The encodings are multiplied by √κ, which makes them integers, so that a gradient has a factor √κ for each
    positional index. Raises UndefinedError if there are too many samples.
    """
    import numpy as np

    T, q, d, D = model[:4]
    if max(T, d, D) > LARGEST or model.draws > MOST_DRAWS or model.work > MOST_WORK:
        sizes = f"T = {T}, q = {q}, d = {d}, d_e = {D}"
        why = "too many encodings to go through them all; `verify simulate wang2024.stochastic_gradient` samples them"
        raise UndefinedError(f"{sizes}: {why}")
    drawn, X = encodings(model), tokens(T, d)
    found: dict[Name, dict[Term, Integers]] = defaultdict(dict)
    for y in combinations(range(T), q):
        u = drawn[:, :, list(y)].sum(axis=2)
        seen = np.concatenate([drawn, u[:, :, None]], axis=2) if model.query else drawn
        if model.place == ALL_ONES:
            logits = seen.sum(axis=1) * u.sum(axis=1, keepdims=True)
        else:
            logits = np.einsum("nbj,nb->nj", seen, u)
        rows, group = np.unique(logits, axis=0, return_inverse=True)
        for number, row in enumerate(rows):
            chosen, v = group.reshape(-1) == number, tuple(map(int, row))
            X_seen = np.concatenate([X, 0 * X[:, :, :1]], axis=2) if model.query else X
            gradients = _gradients((seen[chosen], u[chosen]), X_seen, y, model.place == POSITIONAL_VALUES)
            shares = _shares(row, T, y)
            for name, tensor in gradients:
                _add(found[name], v, tensor)
            for name, tensor in shares:
                _add(found[name], v, int(chosen.sum()) * len(X) * tensor[..., None])
    samples, half = len(drawn) * len(X) * comb(T, q), Fraction(1, 2)
    target, slope = Fraction(-1, q), Fraction(1, model.squared_scale)
    factors: dict[Name, Fraction] = {"V0": target, "W1": target, "L2": half, "L1": target, "L0": half / q**2}
    factors |= {"P'": slope, "R'": 2 * slope}
    return {
        name: {term: _times(factors.get(name, Fraction(1)) / samples, total) for term, total in sums.items()}
        for name, sums in found.items()
    }


def _times(factor: Fraction, numbers: Integers) -> list[Fraction]:
    return [factor * int(number) for number in numbers]


def _gradients(drawn: Drawn, X: Integers, y: tuple[int, ...], beside: bool) -> Iterator[tuple[Name, Integers]]:
    """Yield flat coefficients of products of shares, indexed by the shares' tokens, summed over samples.

    The samples are all pairs of one of the given draws of the encodings, which have the same logits, and one of the X.
    Factors α and 1/q are left out: the target is the sum over y, not the mean, and V is (I, 11ᵀ) or (I, 0).
    """
    import numpy as np

    seen, u = drawn
    size, n = X.shape[1], len(u)
    Z = np.concatenate(
        [np.broadcast_to(part, (n, len(X), *part.shape[2:])) for part in (X[None], seen[:, None])], axis=2
    )
    VZ = np.broadcast_to(X[None], (n, *X.shape)) + beside * seen.sum(axis=1)[:, None, None, :]
    target, query = X[:, :, list(y)].sum(axis=2), np.concatenate([np.zeros((n, size), dtype=np.int64), u], axis=1)
    yield "V1", _flat(np.einsum("nxal,nxbj->ljab", VZ, Z))
    yield "V0", _flat(np.einsum("xa,nxbj->jab", target, Z))
    inner, known = np.einsum("nxal,nxam->nxlm", VZ, VZ), np.einsum("xa,nxaj->nxj", target, VZ)
    triple = _flat(np.einsum("nlmjb,nc->lmjbc", np.einsum("nxlm,nxbj->nlmjb", inner, Z), query))
    yield "W2", np.einsum("ljjk->ljk", triple)
    yield "W2", -triple
    pair = _flat(np.einsum("nmjb,nc->mjbc", np.einsum("nxm,nxbj->nmjb", known, Z), query))
    yield "W1", np.einsum("jjk->jk", pair)
    yield "W1", -pair
    yield "L2", inner.sum(axis=(0, 1))[..., None]
    yield "L1", known.sum(axis=(0, 1))[..., None]
    yield "L0", np.array([n * (target**2).sum()])


def _flat(tensor: Integers) -> Integers:
    return tensor.reshape(*tensor.shape[:-2], -1)


def _shares(v: Integers, T: int, y: tuple[int, ...]) -> Iterator[tuple[Name, Integers]]:
    """Yield the coefficients of products of shares in P = Σ_y p, R = Σ p², P' and R'/2."""
    import numpy as np

    m = len(v)
    chosen, tokens_only = (np.isin(np.arange(m), these).astype(np.int64) for these in (y, range(T)))
    square = np.diag(tokens_only)
    yield "P", chosen
    yield "R", square
    yield "P'", chosen * v
    yield "P'", -np.outer(chosen, v)
    yield "R'", square * v
    yield "R'", -square[:, :, None] * v


def _add(sums: dict[Term, Integers], v: tuple[int, ...], tensor: Integers) -> None:
    """Add a tensor, indexed by the tokens of a product of shares, to the terms of these products."""
    order = tensor.ndim - 1
    divisor = tuple(sorted(v)) if order else ()
    for tokens_of in product(range(len(v)), repeat=order):
        if (part := tensor[tokens_of]).any():
            term = divisor, order, sum(v[j] for j in tokens_of)
            sums[term] = sums[term] + part if term in sums else part


def combined(parts: Iterable[tuple[Fraction, Sums]]) -> dict[Term, list[Fraction]]:
    """Return a linear combination without terms that vanish; by Σ x^v/D = 1, terms with k > 0 are written over D³."""
    total: dict[Term, list[Fraction]] = {}
    for factor, sums in parts:
        for (divisor, order, power), entries in sums.items():
            missing = product(divisor, repeat=HIGHEST - order) if order else [()]
            for more in missing:
                term = divisor, HIGHEST if order else 0, power + sum(more)
                before = total.get(term, [Fraction(0)] * len(entries))
                total[term] = [x + factor * y for x, y in zip(before, entries, strict=True)]
    return {term: entries for term, entries in total.items() if any(entries)}


def worth(sums: Sums, C_over_kappa: Fraction) -> list[Any]:
    """Return the values of the entries: exact ones at C = 0, else balls; no values if there are no terms."""
    total: list[Any] = []
    for (divisor, order, power), entries in sums.items():
        factor = _term(divisor, order, power, C_over_kappa)
        values: list[Any] = [factor * (entry if C_over_kappa == 0 else _ball(entry)) for entry in entries]
        total = [x + y for x, y in zip(total, values, strict=True)] if total else values
    return total


def _term(divisor: tuple[int, ...], order: int, power: int, C_over_kappa: Fraction) -> Any:
    if not order:
        return 1
    if C_over_kappa == 0:
        return Fraction(1, len(divisor)) ** order
    top = divisor[-1] if C_over_kappa > 0 else divisor[0]
    exponents = [_ball(C_over_kappa * (v - top)).exp() for v in divisor]
    return _ball(C_over_kappa * (power - order * top)).exp() / sum(exponents, arb(0)) ** order


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
