r"""Moments of words in a sample covariance and given matrices, exactly, for any covariance.

x_1 … x_n ~ N(0, Σ) i.i.d. in R^d, W = Σ_i x_i x_iᵀ, S = W/n. Gaussian integration by parts in the x_i on
the left of a trace gives, with A = M_1 W M_2 … W M_k and a product F of such traces,

    E[tr(W A) F] = n E[tr(Σ A) F] + Σ_{A = P W Q} E[(tr(Σ P) tr(W Q) + tr(W Pᵀ Σ Q)) F]
                   + Σ_{tr(W B) in F} E[tr(W (B + Bᵀ) Σ A) F / tr(W B)],

with a summand for each W in A and each W in F, the latter turned to the front of its trace. Since
∂W = ∂x xᵀ + x ∂xᵀ, the x_i meets either of the two sides of that W; on the far one what lies between is
transposed.

A trace may be started anywhere and transposed: it is kept in the least of these forms, and products that
are then the same are taken once. So k equal letters cost much less than the (2k − 1)!! pairings of 2k Gaussian
factors, and k different ones about as much.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from math import prod
from typing import Any

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from theorems.wishart.trace_moments import n, require_positive
from verify import InputError

Letters = tuple[str, ...]
Traces = tuple[Letters, ...]
"""A product of traces. Letters of a trace have a Σ before each: ("N", "Mᵀ") is tr(Σ N Σ Mᵀ)."""
Matrix = sp.MatrixBase | Sequence[Sequence[Any]]

MOST_PAIRINGS = 150_000
"""Pairings, up to exchanges of equal letters, that are admitted: they take half a minute at most."""

_Path = tuple[Letters, ...]
"""What stands between W and W and W …; letters that stand together have a Σ between them. As a trace
(g_1, g_2 …) is tr(W g_1 W g_2 …)."""
_Moment = dict[tuple[int, Traces], int]
"""The coefficient of n to a power times a product of traces."""
_OPEN = ""
"""The letter of an arbitrary matrix B, by which E[S M_1 … S] is read off E tr(S M_1 … S B)."""


def word_formula(words: Sequence[Sequence[str]], symmetric: Collection[str] = ()) -> dict[Traces, sp.Expr]:
    """Return E ∏ tr(S M_1 S M_2 … S M_k) over the words as the coefficients of products of traces.

    A word is its letters M_1 … M_k, by name; "Nᵀ" is the transpose of "N", and N is Nᵀ for the names in `symmetric`
    (the identity matrix is one more letter). E tr(S N S N) has 1 at (("N", "N"),), which is tr(Σ N Σ N), 1/n at
    (("N", "Nᵀ"),) and 1/n at (("N",), ("N",)). Raises InputError without words, for a word without letters, a
    letter without a name, and more than MOST_PAIRINGS pairings.
    """
    formula: dict[Traces, sp.Expr] = {}
    read = [[_letter(letter, symmetric) for letter in word] for word in words]
    for (power, traces), count in _moment(read, symmetric).items():
        formula[traces] = formula.get(traces, 0) + count * n**power
    return formula


def matrix_formula(letters: Sequence[str], symmetric: Collection[str] = ()) -> dict[tuple[Letters, Traces], sp.Expr]:
    """Return E[S M_1 S M_2 … M_{k−1} S] as the coefficients of (letters, traces): a matrix times traces.

    The matrix ("N", "Mᵀ") is Σ N Σ Mᵀ Σ, and () is Σ. E[S N S] has 1 at (("N",), ()), 1/n at (("Nᵀ",), ()) and
    1/n at ((), (("N",),)). Names and errors are those of `word_formula`.
    """
    formula: dict[tuple[Letters, Traces], sp.Expr] = {}
    read = [_letter(letter, symmetric) for letter in letters]
    for (power, traces), count in _moment([[*read, _OPEN]], symmetric).items():
        key = _opened(traces)
        formula[key] = formula.get(key, 0) + count * n**power
    return formula


def word_moment(words: Sequence[Sequence[Matrix]], n: Any, covariance: Matrix) -> sp.Expr:
    """Return E ∏ tr(S M_1 S M_2 … S M_k) over the words, each a sequence of d×d matrices M_1 … M_k.

    Matrices are SymPy's or nested sequences, of exact numbers or symbols; n is an int, a Fraction or a SymPy
    expression. Raises InputError for what `word_formula` refuses, for n known not to be positive, matrices that
    are not d×d or not exact, and a covariance that is not symmetric or known not to be positive semidefinite.
    """
    require_positive("n", n)
    values = _Values(covariance)
    moment = _moment([[values.name(matrix) for matrix in word] for word in words], values.symmetric)
    n = sp.sympify(n)
    return sp.Add(*(count * n**power * values.product(traces) for (power, traces), count in moment.items()))


def matrix_moment(matrices: Sequence[Matrix], n: Any, covariance: Matrix) -> sp.Matrix:
    """Return E[S M_1 S M_2 … M_{k−1} S], d×d, of matrices M_1 … M_{k−1}, all d×d; without any it is E S = Σ.

    Numbers and errors are those of `word_moment`.
    """
    require_positive("n", n)
    values = _Values(covariance)
    moment = _moment([[*map(values.name, matrices), _OPEN]], values.symmetric)
    n = sp.sympify(n)
    total = values.matrix(()).to_Matrix() * 0
    for (power, traces), count in moment.items():
        letters, closed = _opened(traces)
        total += count * n**power * values.product(closed) * values.matrix(letters).to_Matrix()
    return total


class _Values:
    """Names of matrices, the same for equal ones and for transposes, and values of products."""

    def __init__(self, covariance: Matrix) -> None:
        self.covariance = _exact("covariance", covariance)
        if not self.covariance.is_symmetric():
            raise InputError("covariance", self.covariance, "must be symmetric")
        if not self.covariance.free_symbols and self.covariance.is_positive_semidefinite is False:
            raise InputError("covariance", self.covariance, "must be positive semidefinite")
        self.names: dict[sp.ImmutableMatrix, str] = {}
        self.symmetric: set[str] = set()
        self.given: dict[str, DomainMatrix] = {}
        self.known: dict[Letters, DomainMatrix] = {}

    def name(self, matrix: Matrix) -> str:
        matrix = _exact("matrix", matrix)
        if matrix.shape != self.covariance.shape:
            d = self.covariance.rows
            raise InputError("matrix", matrix, f"must be {d}×{d}, as the covariance is")
        if matrix not in self.names:
            name = f"M{len(self.names)}"
            self.names |= {matrix.T: _transposed(name), matrix: name}
            if matrix == matrix.T:
                self.symmetric.add(name)
        return self.names[matrix]

    def matrix(self, letters: Letters) -> DomainMatrix:
        """Return Σ M_1 Σ M_2 … M_k Σ."""
        if not self.known:
            matrices = [self.covariance, *self.names]
            known = DomainMatrix.unify(*map(DomainMatrix.from_Matrix, matrices), fmt="dense")
            self.given = dict(zip(self.names.values(), known[1:], strict=True))
            self.known[()] = known[0]
        if letters not in self.known:
            self.known[letters] = self.matrix(letters[:-1]) * self.given[letters[-1]] * self.known[()]
        return self.known[letters]

    def product(self, traces: Traces) -> sp.Expr:
        """Return the product of traces."""
        return sp.Mul(*(self._trace(trace) for trace in traces))

    def _trace(self, letters: Letters) -> sp.Expr:
        product = self.matrix(letters[:-1]) * self.given[letters[-1]]
        return product.to_Matrix().trace()  # pyright: ignore[reportReturnType]


def _exact(name: str, matrix: Matrix) -> sp.ImmutableMatrix:
    exact = sp.ImmutableMatrix(matrix)
    if exact.rows != exact.cols or not exact.rows:
        raise InputError(name, f"{exact.rows}×{exact.cols}", "must be square")
    if exact.has(sp.Float):
        raise InputError(name, exact, "must have exact entries, without floats")
    return exact


def _moment(words: Sequence[Sequence[str]], symmetric: Collection[str]) -> _Moment:
    """Return E ∏ tr(S M_1 S M_2 … S M_k) over the words."""
    if not words:
        raise InputError("words", "", "at least one is needed")
    if not all(words):
        raise InputError("word", "", "at least one letter is needed")
    letters = [letter for word in words for letter in word]
    _refuse_many(letters, symmetric)
    state = _state((tuple((letter,) for letter in word) for word in words), symmetric)
    moment = _by_parts(state, symmetric, {})
    return {(power - len(letters), traces): count for (power, traces), count in moment.items()}


def _opened(traces: Traces) -> tuple[Letters, Traces]:
    """Return the letters of Z and the other traces, where one trace is tr(Z B) with the open letter B."""
    # It sorts before all names: its trace is the first, and begins with it.
    (_, *letters), *others = traces
    return tuple(letters), tuple(others)


def _letter(letter: str, symmetric: Collection[str]) -> str:
    name = letter.rstrip("ᵀ")
    if not name:
        raise InputError("letter", repr(letter), "must have a name")
    return name if name in symmetric or (len(letter) - len(name)) % 2 == 0 else _transposed(name)


def _refuse_many(letters: Sequence[str], symmetric: Collection[str]) -> None:
    pairings = sp.factorial2(2 * len(letters) - 1)
    times = Counter(letter.rstrip("ᵀ") for letter in letters)
    # A letter that is not symmetric is met as it is or transposed.
    same = prod(sp.factorial(k) if name in symmetric else sp.factorial(k) / 2 ** (k - 1) for name, k in times.items())
    if pairings > MOST_PAIRINGS * same:
        raise InputError(
            "words",
            f"{len(letters)} factors S",
            f"have {pairings} pairings, {sp.ceiling(pairings / same)} up to exchanges of equal letters, and at most "
            f"{MOST_PAIRINGS} are admitted",
        )


def _transposed(letter: str) -> str:
    return letter[:-1] if letter.endswith("ᵀ") else letter + "ᵀ"


def _turned(path: _Path, symmetric: Collection[str]) -> _Path:
    """Return the transpose of g_1 W g_2 … W g_k."""
    return tuple(
        tuple(letter if letter in symmetric else _transposed(letter) for letter in reversed(gap))
        for gap in reversed(path)
    )


def _least(trace: _Path, symmetric: Collection[str]) -> _Path:
    """Return one form of tr(W g_1 W g_2 …) for all that are equal."""
    return min(form[i:] + form[:i] for form in (trace, _turned(trace, symmetric)) for i in range(len(form)))


def _state(words: Any, symmetric: Collection[str]) -> tuple[_Path, ...]:
    """Return one form of a product of traces for all that are equal, the shortest first."""
    return tuple(sorted((_least(word, symmetric) for word in words), key=lambda word: (len(word), word)))


def _joined(left: _Path, right: _Path) -> _Path:
    """Return left Σ right."""
    return (*left[:-1], left[-1] + right[0], *right[1:])


def _by_parts(words: tuple[_Path, ...], symmetric: Collection[str], known: dict[tuple[_Path, ...], _Moment]) -> _Moment:
    """Return E ∏ tr(W g_1 W g_2 …) over the words."""
    if not words:
        return {(0, ()): 1}
    if words in known:
        return known[words]
    first, rest = words[0], words[1:]
    terms: Counter[tuple[int, Traces, tuple[_Path, ...]]] = Counter()

    def add(power: int, closed: _Path | None, *others: _Path) -> None:
        # Of tr(Σ g_1 W g_2 …): a trace without W, or turned to begin with a W.
        traces = ()
        if closed and len(closed) == 1:
            singles = _least(tuple((letter,) for letter in closed[0]), symmetric)
            traces = (tuple(letter for (letter,) in singles),)
        elif closed:
            others = ((*closed[1:-1], closed[-1] + closed[0]), *others)
        terms[power, traces, _state(others, symmetric)] += 1

    add(1, first, *rest)
    for i in range(1, len(first)):
        left, right = first[:i], first[i:]
        add(0, left, right, *rest)
        add(0, None, _joined(_turned(left, symmetric), right), *rest)
    for i, word in enumerate(rest):
        others = rest[:i] + rest[i + 1 :]
        for j in range(len(word)):
            path = word[j:] + word[:j]
            add(0, None, _joined(path, first), *others)
            add(0, None, _joined(_turned(path, symmetric), first), *others)
    moment: Counter[tuple[int, Traces]] = Counter()
    for (power, traces, others), times in terms.items():
        for (more, further), count in _by_parts(others, symmetric, known).items():
            moment[power + more, tuple(sorted(traces + further))] += times * count
    known[words] = moment
    return moment
