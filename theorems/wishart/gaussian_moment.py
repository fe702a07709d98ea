# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
r"""A clause: the mean of a polynomial in traces of words in Gaussian matrices, given by traces of fixed matrices.

Scalars such as xᵀAx and |x|² are traces, too: of words with one row and one column. The mean is computed as a sum over
pairings (`pairings`), for matrices of all sizes; the re-checker computes it again by Gaussian integration by parts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import ClassVar

import sympy as sp

from theorems.wishart.pairings import Letters, Word, mean_of_traces
from verify import ClauseResult, Question, Statement, TheoremError, to_data
from verify.claims.defaults import Equality
from verify.claims.question import Proof
from verify.language.noncommutative import Monomial, Shape, monomials, shape_of
from verify.language.parameters import Instance
from verify.language.symbolic_zeros import vanishes
from verify.printing import text_of

Terms = list[tuple[sp.Expr, tuple[Word, ...]]]
"""Coefficients and products of traces."""


@dataclass(frozen=True)
class GaussianMoment(Equality):
    """A clause: E left = right for all given matrices and all values of the statement's variables.

    Parameters
    ----------
    label
        Its name.
    left, right
        Polynomials in scalars; `left` also in the names in `random` and `steps`.
    shapes
        Rows and columns of each letter: positive integers, or symbols for positive integers.
    normal
        The normal letters, whose columns are independent and N(0, C): a map from each of them to C, a letter, or to
        None for I. Different normal letters are independent.
    random
        Random traces: a map from each name to a polynomial in the letters. The name stands for its trace.
    traces
        Values of traces of words without a normal letter, by the word: an assumption on the given matrices.
    symmetric
        The symmetric letters other than the covariances.
    steps
        Step functions: a map from each name to (x, v). The name stands for θ(xᵀv), x a normal column of its own and v
        an expression of the same shape. θ is 1 above 0, 1/2 at 0, and 0 below, so that relu(s) = s θ(s).
    says
        The clause in words.

    Raises
    ------
    TheoremError
        For a trace of a product that is not square.

    Examples
    --------
    >>> import sympy as sp
    >>> from theorems.wishart.gaussian_moment import GaussianMoment
    >>> from verify import matrix
    >>> x, length, d = matrix("x"), sp.Symbol("length"), sp.Symbol("d", integer=True, positive=True)
    >>> fourth = GaussianMoment(
    ...     "fourth", length**2, d * (d + 2), {x: (d, 1)}, {x: None}, {length: sp.transpose(x) * x}
    ... )
    >>> fourth.text
    'E length**2 = d*(d + 2), where length = tr(transpose(x)*x), x normal (d by 1)'
    """

    uses_matrices: ClassVar[bool] = True

    label: str
    left: sp.Expr
    right: sp.Expr
    shapes: Mapping[sp.Symbol, Shape]
    normal: Mapping[sp.Symbol, sp.Symbol | None]
    random: Mapping[sp.Symbol, sp.Expr]
    traces: Mapping[sp.Expr, sp.Expr] = field(default_factory=dict)
    symmetric: tuple[sp.Symbol, ...] = ()
    steps: Mapping[sp.Symbol, tuple[sp.Symbol, sp.Expr]] = field(default_factory=dict)
    says: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for matrix in (*self.random.values(), *self.traces):
            try:
                shape = shape_of(
                    matrix, {letter: tuple(map(sp.sympify, shape)) for letter, shape in self.shapes.items()}
                )
            except (KeyError, TheoremError) as error:
                raise TheoremError(f"clause {self.label}: {error}") from None
            if shape is None or shape[0] != shape[1]:
                raise TheoremError(f"clause {self.label}: {text_of(matrix)} is not square, and has no trace")

    def in_symbols(self) -> str:
        """Return both sides, and the meanings of the names."""
        shapes = {letter: f"({text_of(rows)} by {text_of(columns)})" for letter, (rows, columns) in self.shapes.items()}
        names = [f"{name} = tr({text_of(matrix)})" for name, matrix in self.random.items()]
        names += [f"{name} = theta({text_of(sp.transpose(x) * v)})" for name, (x, v) in self.steps.items()]
        names += [f"tr({text_of(word)}) = {text_of(value)}" for word, value in self.traces.items()]
        names += [" ".join((*self._kind(letter), shape)) for letter, shape in shapes.items()]
        return f"E {super().in_symbols()}, where {', '.join(names)}"

    def _kind(self, letter: sp.Symbol) -> Iterator[str]:
        """Yield a letter's name, and whether it is normal or symmetric."""
        yield letter.name
        if letter in self.normal:
            along = self.normal[letter]
            yield f"normal of covariance {along}" if along else "normal"
        elif letter in self.symmetric or letter in self.normal.values():
            yield "symmetric"

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield both sides, the matrices whose traces are named, and their values."""
        yield from super().expressions()
        yield from (*self.random.values(), *self.traces, *map(sp.sympify, self.traces.values()))
        yield from (v for _, v in self.steps.values())

    def bound_names(self) -> set[str]:
        """Return the names of the letters, the random traces and the steps."""
        return {symbol.name for symbol in (*self.shapes, *self.random, *self.steps)}

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        pairs: dict[str, list[tuple[object, ...]]] = {
            "shapes": [(letter, *map(sp.sympify, shape)) for letter, shape in self.shapes.items()],
            "random": list(self.random.items()),
            "traces": [(word, sp.sympify(value)) for word, value in self.traces.items()],
            "steps": [(name, x, v) for name, (x, v) in self.steps.items()],
        }
        data: dict[str, object] = {
            key: [[to_data(part) for part in each] for each in value] for key, value in pairs.items()
        }
        data["normal"] = [[to_data(x), along and to_data(along)] for x, along in self.normal.items()]
        data["symmetric"] = [to_data(letter) for letter in self.symmetric]
        return {"kind": "gaussian_moment", "label": self.label, "says": self.text} | data | self.sides_data()

    def evaluate(self, question: Question) -> ClauseResult:
        """Compare the mean of the left side with the right one, as polynomials."""
        proof, doubt = question.proof_for_all()
        if proof is None:
            return ClauseResult.undecided(self, doubt or "the mean of the left side is another polynomial")
        return ClauseResult.verified(self, proof, detail="the same polynomial, for all matrices")

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return the proof that the mean is the right side; None if it is not."""
        return {"kind": "by_parts"} if self._holds(statement) else None

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return 1 for every instance: the clause holds for all parameters or is not proved."""
        return 1.0

    def _holds(self, statement: Statement) -> bool:
        return vanishes(sp.expand(self.mean(statement) - statement.expand(self.right)))

    def mean(self, statement: Statement) -> sp.Expr:
        """Return the mean of the left side; a trace whose value the clause does not give is a new symbol."""
        covariances = [along for along in self.normal.values() if along]
        letters = Letters(
            frozenset(letter.name for letter in (*self.symmetric, *covariances)),
            tuple((x.name, along and along.name) for x, along in self.normal.items()),
            frozenset(
                (letter.name, row)
                for letter, shape in self.shapes.items()
                for row in (True, False)
                if shape[not row] == 1
            ),
        )
        values = {
            letters.least(_word(word)): statement.expand(sp.sympify(value))
            for matrix, value in self.traces.items()
            for word in monomials(matrix)
        }
        named = {name: self._trace(statement.expand(matrix), letters) for name, matrix in self.random.items()}
        names = [*self.random, *self.steps]
        total = sp.S.Zero
        for powers, coefficient in sp.Poly(sp.expand(statement.expand(self.left)), *names).terms():
            used = [name for name, power in zip(names, powers, strict=True) for _ in range(power)]
            halves = [name for name in used if name in self.steps]
            if len(set(halves)) != len(halves):
                raise TheoremError(f"clause {self.label}: a power of a step function is not supported")
            for chosen in product(*(named[name] for name in used if name in named)):
                words = tuple(sorted(word for _, words in chosen for word in words))
                if any(sum(x == self.steps[name][0].name for word in words for x, _ in word) % 2 for name in halves):
                    why = "a step function times a product of traces that is odd in the step's column is not supported"
                    raise TheoremError(f"clause {self.label}: {why}")
                factor = coefficient * sp.Mul(*(c for c, _ in chosen)) / 2 ** len(halves)
                total += factor * self._mean(words, letters, values)
        return sp.expand(total)

    def _mean(self, words: tuple[Word, ...], letters: Letters, values: dict[Word, sp.Expr]) -> sp.Expr:
        lengths = {letter.name: shape for letter, shape in self.shapes.items()}
        # A trace whose value the clause does not give is a new symbol.
        total = sp.S.Zero
        for (sizes, traces), times in mean_of_traces(words, letters).items():
            known = (values.setdefault(word, sp.Dummy(real=True)) for word in traces)
            total += times * sp.Mul(*(lengths[name][0 if row else 1] for name, row in sizes), *known)
        return total

    def _trace(self, matrix: sp.Expr, letters: Letters) -> Terms:
        """Return the coefficients and the words of a trace; the term of a multiple of the identity has no word."""
        rows, _ = shape_of(matrix, {letter: tuple(map(sp.sympify, shape)) for letter, shape in self.shapes.items()})  # pyright: ignore[reportGeneralTypeIssues]
        return [
            (c * (1 if word else rows), (letters.least(_word(word)),) if word else ())
            for word, c in monomials(matrix).items()
        ]


def _word(word: Monomial) -> Word:
    return tuple((letter.name, turned) for letter, turned in word)
