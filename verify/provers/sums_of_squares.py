"""Sums of squares in a polynomial: after their subtraction, the remainder has no negative coefficient.

A combination of monomials is squared and multiplied by a weight ≥ 0. On an orthant the weights are products of distinct
variables; otherwise the weights are given, for example by hypotheses. The coefficients of the squares make up positive
semidefinite matrices. At a zero of the polynomial each square times its weight is 0, which makes the matrices smaller.
The terms of the remainder must be 0 there, too; these linear equations are solved exactly. Newton steps in floats find
an interior point, with a large least eigenvalue. The matrices are rounded to rationals, and decomposed exactly.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
from flint import fmpq_mat

from verify.evaluation.arithmetic import exact_fraction, flint_rational
from verify.provers.orthant_cases import Powers
from verify.provers.zeros import Terms, Zeros, value_of

_MOST_MONOMIALS = 20
"""Maximum number of rows of all matrices together: the numbers of the exact decomposition grow with each row."""
_MOST_UNKNOWN = 90
"""Maximum number of entries of all matrices together: a Newton step solves for as many unknowns."""
_SEVERAL = 2
"""Factor on the two bounds above if weights are given."""
_MOST_CANDIDATES = 600
"""Maximum number of candidates (pairs of a weight and a monomial) before any monomial is left out."""
_STEPS = 40
"""Maximum number of Newton steps: they raise the least eigenvalue's weight in the objective by up to 1.6^40 ≈ 10^8."""
_GROWTH = 1.6
"""Growth factor of this weight from step to step: small enough for one step to follow the central path."""
_ENOUGH = 0.02
"""The search ends when the least eigenvalue exceeds this, enough for rounding; the largest coefficient is 1."""
_ZERO_LENGTH = 1e-6
"""The search ends when a step has to be shortened to this share of its length."""
_DENOMINATORS = (1, 2, 4, 6, 12, 24, 60, 120, 10**3, 10**5, 10**7)
"""Denominators, tried in turn, for rounding the numerical point: proofs by hand have small denominators."""


@dataclass(frozen=True)
class Square:
    """A factor times a weight times the square of the polynomial `root`; `place` is the weight's place in its list."""

    factor: Fraction
    weight: Terms
    place: int
    root: Terms


Blocks = list[tuple[Terms, int, list[Powers]]]
"""For each weight: the weight, its place, and the monomials whose squared combinations it multiplies."""


def squares_in(terms: Mapping[Powers, int], zeros: Sequence[Sequence[Fraction]]) -> list[Square] | None:
    """Return squares whose subtraction leaves no negative coefficient; None if no squares are found.

    `zeros` are points of the orthant at which the polynomial is 0.
    """
    count = len(next(iter(terms)))
    if np.prod([max(powers[i] for powers in terms) // 2 + 1 for i in range(count)]) * 2**count > _MOST_CANDIDATES:
        return None
    weights: list[Terms] = [{w: Fraction(1)} for w in sorted(product((0, 1), repeat=count), key=sum)]
    blocks = _pruned(terms, _blocks(terms, weights), len(weights))
    if _is_large(blocks):
        # Only the squares without a weight are tried.
        blocks = _pruned(terms, _blocks(terms, weights[:1]), 1)
    if not any(place for _, place, _ in blocks):
        # At a zero inside the orthant the remainder is 0. Without weights the polynomial is then a sum of squares
        # everywhere, and its zeros outside the orthant count too.
        flips = (
            tuple(s * x for s, x in zip(signs, zero, strict=True))
            for zero in zeros
            if all(zero)
            for signs in product((1, -1), repeat=len(zero))
        )
        zeros = [*zeros, *(z for z in flips if not value_of(terms, z))]
    return _squares(terms, blocks, Zeros(zeros), [False] * count, 1, len(weights))


def squares_with(
    terms: Terms,
    weights: Sequence[Terms],
    zeros: Zeros,
    real: Sequence[bool],
    even: Sequence[bool],
    multiples: Sequence[Terms] = (),
) -> list[Square] | None:
    """Return squares times weights ≥ 0 whose subtraction leaves no negative coefficient; None if not found.

    At the zeros the polynomial is 0 and no weight is negative. The remainder has no odd power of a `real` variable. The
    polynomial and the weights are even functions of the `even` variables; a square then combines only monomials whose
    powers of these variables have the same parities. Each of the `multiples` of equations may have a factor of either
    sign; the places of the multiples follow those of the weights.
    """
    terms = {powers: Fraction(0) for multiple in multiples for powers in multiple} | dict(terms)
    least = len(weights)
    blocks = _alike(_pruned(terms, [*_blocks(terms, weights), *_unsigned(multiples, least)], least), even, least)
    return _squares(terms, blocks, zeros, real, _SEVERAL, least)


def _unsigned(multiples: Sequence[Terms], first: int) -> Blocks:
    """Return a block for each multiple of an equation: the block's only monomial is 1, its matrix is one number."""
    return [(each, first + i, [(0,) * len(next(iter(each)))]) for i, each in enumerate(multiples)]


def _alike(blocks: Blocks, even: Sequence[bool], first_unsigned: int) -> Blocks:
    """Return the blocks, split into groups of monomials whose powers of `even` variables have the same parities."""
    split: Blocks = [block for block in blocks if block[1] >= first_unsigned]
    for weight, place, monomials in (block for block in blocks if block[1] < first_unsigned):
        groups: dict[Powers, list[Powers]] = {}
        for z in monomials:
            groups.setdefault(tuple(k % 2 for k, alike in zip(z, even, strict=True) if alike), []).append(z)
        split += [(weight, place, group) for group in groups.values() if len(group) > (len(weight) == 1)]
    return split


def _squares(
    terms: Mapping[Powers, Fraction | int],
    blocks: Blocks,
    zeros: Zeros,
    real: Sequence[bool],
    several: int,
    first_unsigned: int,
) -> list[Square] | None:
    scale = max(map(abs, terms.values()))
    scaled = {powers: Fraction(c) / scale for powers, c in terms.items()}
    if not blocks or _is_large(blocks, several):
        return None
    bases = [(weight, place, _vanishing(weight, monomials, zeros)) for weight, place, monomials in blocks]
    gram = _Gram.of_blocks(scaled, [block for block in bases if block[2]], zeros, real, first_unsigned)
    if gram is None:
        return None
    for point in gram.interior_points():
        squares = gram.decomposed(point)
        if squares is not None:
            return [replace(square, factor=square.factor * scale) for square in squares]
    return None


def _blocks(terms: Mapping[Powers, Fraction | int], weights: Sequence[Terms]) -> Blocks:
    """Return, for each weight, the monomials z for which z² times the weight fits the polynomial's degrees."""
    tops = [max(powers[i] for powers in terms) for i in range(len(next(iter(terms))))]
    least, most = (end(map(sum, terms)) for end in (min, max))
    blocks: Blocks = []
    for place, weight in enumerate(weights):
        highest = [max(powers[i] for powers in weight) for i in range(len(tops))]
        ranges = [range((top - w) // 2 + 1) for top, w in zip(tops, highest, strict=True)]
        low, high = (end(map(sum, weight)) for end in (min, max))
        monomials = [z for z in product(*ranges) if least <= 2 * sum(z) + high and 2 * sum(z) + low <= most]
        blocks.append((weight, place, [z for z in monomials if 2 * sum(z) + high <= most]))
    return blocks


def _is_large(blocks: Blocks, several: int = 1) -> bool:
    sizes = [len(monomials) for _, _, monomials in blocks]
    unknown = sum(n * (n + 1) // 2 for n in sizes)
    return sum(sizes) > several * _MOST_MONOMIALS or unknown > several * _MOST_UNKNOWN


def _pruned(terms: Mapping[Powers, Fraction | int], blocks: Blocks, first_unsigned: int) -> Blocks:
    """Leave out useless monomials and blocks; all blocks from `first_unsigned` on, for equations, are kept.

    A mixed product is a product of two monomials of a block and a term of its weight; the two are different if the
    weight has only one term. For such a weight, a monomial is left out if its square times the weight is neither a
    positive term of the polynomial nor a mixed product, and a block is left out if it has only one monomial. No block
    is left if a negative term of the polynomial is no mixed product.
    """
    while True:
        mixed = {
            _sum(a, b, w)
            for weight, place, monomials in blocks
            for a in monomials
            for b in monomials
            if a != b or len(weight) > 1 or place >= first_unsigned
            for w in weight
        }
        squares = mixed | {powers for powers, c in terms.items() if c > 0}
        kept = [(w, i, [a for a in ms if len(w) > 1 or _sum(a, a, *w) in squares]) for w, i, ms in blocks]
        kept = [(w, i, ms) for w, i, ms in kept if len(ms) > (len(w) == 1 and i < first_unsigned)]
        if kept == blocks:
            break
        blocks = kept
    return blocks if all(c >= 0 or powers in mixed for powers, c in terms.items()) else []


def _sum(*powers: Powers) -> Powers:
    return tuple(map(sum, zip(*powers, strict=True)))


def _vanishing(weight: Terms, monomials: Sequence[Powers], zeros: Zeros) -> list[Terms]:
    """Return a basis of the combinations of monomials that are 0 at each zero where the weight is not."""
    rows = zeros.vanishing(weight, monomials)
    _, kernel = _solved(rows, [Fraction(0)] * len(rows), len(monomials)) or ([], [])
    return [{z: c for z, c in zip(monomials, vector, strict=True) if c} for vector in kernel]


def _solved(
    rows: Sequence[Sequence[Fraction]], values: Sequence[Fraction], count: int
) -> tuple[list[Fraction], list[list[Fraction]]] | None:
    """Return a solution of linear equations in `count` unknowns, and a basis of the kernel; None without a solution."""
    entries = [flint_rational(x) for row, value in zip(rows, values, strict=True) for x in (*row, value)]
    reduced, rank = fmpq_mat(len(rows), count + 1, entries).rref()
    table = [[exact_fraction(reduced[i, k]) for k in range(count + 1)] for i in range(rank)]
    leads = [next(k for k, x in enumerate(row) if x) for row in table]
    if count in leads:
        return None
    first = [Fraction(0)] * count
    for lead, row in zip(leads, table, strict=True):
        first[lead] = row[count]
    kernel = []
    for k in sorted(set(range(count)) - set(leads)):
        vector = [Fraction(i == k) for i in range(count)]
        for lead, row in zip(leads, table, strict=True):
            vector[lead] = -row[k]
        kernel.append(vector)
    return first, kernel


@dataclass(frozen=True)
class _Gram:
    """Symmetric matrices, one for each block, and the terms that they subtract from a polynomial.

    Their entries are `first` plus any combination of `kernel`. `taken` has for each entry the terms that it subtracts.
    In the remainder, coefficients of terms in `free` may be positive; the others are 0, by the equations. The blocks
    with a place from `first_unsigned` on belong to multiples of equations: their only entry has any sign.
    """

    terms: Terms
    blocks: Sequence[tuple[Terms, int, Sequence[Terms]]]
    entries: Sequence[tuple[int, int, int]]
    taken: Sequence[Terms]
    free: Sequence[Powers]
    first_unsigned: int
    first: Sequence[Fraction]
    kernel: Sequence[Sequence[Fraction]]

    @classmethod
    def of_blocks(
        cls,
        terms: Terms,
        blocks: Sequence[tuple[Terms, int, Sequence[Terms]]],
        zeros: Zeros,
        real: Sequence[bool],
        first_unsigned: int,
    ) -> "_Gram | None":
        """Return the matrices of some blocks; None if there are no blocks, or the equations have no solution."""
        entries, taken = [], []
        for b, (weight, _, basis) in enumerate(blocks):
            for i, k in combinations_with_replacement(range(len(basis)), 2):
                entries.append((b, i, k))
                part: dict[Powers, Fraction] = {}
                for (mine, c), (other, e), (w, f) in product(basis[i].items(), basis[k].items(), weight.items()):
                    powers = _sum(mine, other, w)
                    part[powers] = part.get(powers, Fraction(0)) + c * e * f * (1 + (i != k))
                taken.append(part)
        places = sorted({powers for part in (terms, *taken) for powers in part})
        fixed = [
            powers
            for powers in places
            if not zeros.are_zeros_of(powers) or any(each and k % 2 for each, k in zip(real, powers, strict=True))
        ]
        rows = [[part.get(powers, Fraction(0)) for part in taken] for powers in fixed]
        solution = _solved(rows, [terms.get(powers, Fraction(0)) for powers in fixed], len(taken)) if taken else None
        if solution is None:
            return None
        return cls(terms, blocks, entries, taken, sorted(set(places) - set(fixed)), first_unsigned, *solution)

    def interior_points(self) -> Iterator[list[Fraction]]:
        """Yield entries near a point found in floats, with positive definite matrices; small denominators first."""
        try:
            point = self._newton()
        except np.linalg.LinAlgError:
            return
        if point is None:
            return
        for denominator in _DENOMINATORS:
            steps = [Fraction(round(float(x) * denominator), denominator) for x in point]
            entries = list(self.first)
            for step, vector in zip(steps, self.kernel, strict=True):
                if step:
                    entries = [x + step * v for x, v in zip(entries, vector, strict=True)]
            yield entries

    def _linear_forms(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the constraints, linear in x: for each block an array (len(x), n, n), and a row for each term left.

        The matrices are to be positive definite and the rows positive. x consists of 1, the coefficients of the kernel
        vectors, and a lower bound of all eigenvalues and terms left.
        """
        directions = np.array([self.first, *self.kernel], dtype=float)
        count = len(directions)
        signed = [b for b, (_, place, _) in enumerate(self.blocks) if place < self.first_unsigned]
        sizes = {b: len(self.blocks[b][2]) for b in signed}
        found = {b: np.zeros((count + 1, n, n)) for b, n in sizes.items()}
        for e, (b, i, k) in enumerate(self.entries):
            if b in found:
                found[b][:count, i, k] = found[b][:count, k, i] = directions[:, e]
        matrices = list(found.values())
        for matrix in matrices:
            matrix[count] = -np.eye(matrix.shape[1])
        left = np.zeros((len(self.free), count + 1))
        if len(self.free):
            taken = np.array([[float(part.get(powers, 0)) for part in self.taken] for powers in self.free])
            left[:, :count] = -taken @ directions.T
            left[:, 0] += [float(self.terms.get(powers, 0)) for powers in self.free]
            # A term from which nothing can be subtracted needs no constraint.
            left = left[np.abs(taken).max(axis=1) > 0]
            left[:, count] = -1
        return matrices, left

    def _newton(self) -> np.ndarray | None:
        """Return coefficients of the kernel vectors for which all eigenvalues, and all terms left, are > 0; else None.

        The least of these numbers is about the largest possible, or more than _ENOUGH.
        """
        matrices, left = self._linear_forms()
        x = np.zeros(left.shape[1])
        x[0] = 1
        lowest = [np.linalg.eigvalsh(m[0])[0] for m in matrices] + ([left[:, 0].min()] if len(left) else [])
        x[-1] = min([*lowest, 0.0]) - 1

        def inside(point: np.ndarray) -> bool:
            if point[-1] >= 1 or (len(left) and (left @ point).min() <= 0):
                return False
            return all(np.linalg.eigvalsh(np.tensordot(point, m, 1))[0] > 0 for m in matrices)

        weight = 1.0
        for _ in range(_STEPS):
            step, length = _newton_step(matrices, left, x, weight), 1.0
            while length > _ZERO_LENGTH and not inside(x + length * step):
                length /= 2
            if length <= _ZERO_LENGTH:
                break
            x = x + 0.9 * length * step
            if x[-1] > _ENOUGH:
                break
            weight *= _GROWTH
        return x[1:-1] if x[-1] > 0 else None

    def decomposed(self, entries: Sequence[Fraction]) -> list[Square] | None:
        """Return exact squares; None if a matrix is not positive semidefinite, or a negative coefficient is left."""
        left = _combined([Fraction(1), *(-x for x in entries)], [self.terms, *self.taken])
        if any(c < 0 for c in left.values()):
            return None
        squares: list[Square] = []
        for b, (weight, place, basis) in enumerate(self.blocks):
            rows = {(i, k): x for (block, i, k), x in zip(self.entries, entries, strict=True) if block == b}
            if place >= self.first_unsigned:
                squares += [Square(x, weight, place, dict(basis[0])) for x in rows.values() if x]
                continue
            pivots = _pivots([[rows[min(i, k), max(i, k)] for k in range(len(basis))] for i in range(len(basis))])
            if pivots is None:
                return None
            for factor, column in pivots:
                root = _combined(column, basis)
                squares.append(Square(factor, weight, place, {powers: c for powers, c in root.items() if c}))
        return squares


def _combined(shares: Sequence[Fraction], polynomials: Sequence[Terms]) -> dict[Powers, Fraction]:
    """Return the linear combination of polynomials with the coefficients `shares`."""
    result: dict[Powers, Fraction] = {}
    for share, polynomial in zip(shares, polynomials, strict=True):
        for powers, c in polynomial.items():
            result[powers] = result.get(powers, Fraction(0)) + share * c
    return result


def _newton_step(matrices: Sequence[np.ndarray], left: np.ndarray, x: np.ndarray, weight: float) -> np.ndarray:
    """Return the Newton step from x that raises `weight` · x[-1] plus logarithmic barriers, and keeps x[0]."""
    count = len(x) - 1
    gradient, hessian = np.zeros(count), 1e-9 * np.eye(count)
    gradient[-1] -= weight
    for m in matrices:
        lower = np.linalg.inv(np.linalg.cholesky(np.tensordot(x, m, 1)))
        scaled = (lower @ m[1:] @ lower.T).reshape(count, -1)
        gradient -= scaled @ np.eye(m.shape[1]).ravel()
        hessian += scaled @ scaled.T
    if len(left):
        scaled = left[:, 1:] / (left @ x)[:, None]
        gradient -= scaled.sum(axis=0)
        hessian += scaled.T @ scaled
    gradient[-1] += 1 / (1 - x[-1])
    hessian[-1, -1] += 1 / (1 - x[-1]) ** 2
    return np.concatenate([[0.0], -np.linalg.solve(hessian, gradient)])


def _pivots(matrix: list[list[Fraction]]) -> list[tuple[Fraction, list[Fraction]]] | None:
    """Return pivots d > 0 and columns c such that the matrix is Σ d c cᵀ; None if it is not positive semidefinite."""
    pivots = []
    for k in range(len(matrix)):
        pivot = matrix[k][k]
        if pivot < 0 or (not pivot and any(matrix[k])):
            return None
        if pivot:
            column = [row[k] / pivot for row in matrix]
            pivots.append((pivot, column))
            matrix = [
                [x - pivot * a * b for x, b in zip(row, column, strict=True)]
                for row, a in zip(matrix, column, strict=True)
            ]
    return pivots
