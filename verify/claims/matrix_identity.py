# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""A clause that two polynomials in matrices are equal, for all matrices of all sizes: monomial by monomial.

Matrices are noncommutative symbols, `transpose` reverses products, and scalars commute with all. Expanded, each
side is a sum of monomials with polynomials in the scalars as coefficients; equal sums are equal at all matrices of
whatever sizes. Unequal ones differ at some matrices, though perhaps not at those of the sizes at hand.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import flint
import sympy as sp

from verify.claims.context import Context, Proof
from verify.claims.identity import has_a_value
from verify.claims.shipped import Equality
from verify.errors import TheoremError, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import exact_fraction
from verify.evaluation.values import evaluate_rising, exact_values
from verify.language.definedness import needs, taken_apart
from verify.language.expressions import Case, to_data
from verify.language.noncommutative import Monomial, monomials
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.language.symbolic_zeros import sample_points, substitute, vanishes
from verify.outcomes import ClauseResult
from verify.provers.proof_data import matrices_proof

_LARGEST, _TRIES = 8, 5


@dataclass(frozen=True)
class MatrixIdentity(Equality):
    """A clause: left = right for all matrices and all values of the statement's variables.

    Parameters
    ----------
    label
        Its name.
    left, right
        Polynomials in `matrix(name)` letters, their `sympy.transpose`, and scalars.
    shapes
        Rows and columns of each letter, as expressions of the parameters.
    says
        The clause in words.

    Raises
    ------
    TheoremError
        For a letter without a shape, and products of shapes that do not fit.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import MatrixIdentity, matrix
    >>> A, B = matrix("A"), matrix("B")
    >>> shapes = {A: (sp.Integer(2), sp.Integer(2)), B: (sp.Integer(2), sp.Integer(2))}
    >>> MatrixIdentity("square", (A + B) * (A + B), A * A + A * B + B * A + B * B, shapes).label
    'square'
    """

    uses_matrices: ClassVar[bool] = True

    label: str
    left: sp.Expr
    right: sp.Expr
    shapes: Mapping[sp.Symbol, tuple[sp.Expr, sp.Expr]]
    says: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        used = {symbol for side in self.expressions() for symbol in side.free_symbols if not symbol.is_commutative}
        if missing := sorted(map(str, used - set(self.shapes))):
            raise TheoremError(f"clause {self.label}: the shape of {missing[0]} is not given")
        if not any(side.has(Case) for side in self.expressions()):
            self._shaped([word for side in self.expressions() for word in monomials(side)])

    def _shaped(self, words: list[Monomial]) -> None:
        ends = set[tuple[sp.Basic, sp.Basic] | None]()
        for word in words:
            shapes = [self.shapes[letter][::-1] if turned else self.shapes[letter] for letter, turned in word]
            for (_, inner), (outer, _), (letter, _) in zip(shapes, shapes[1:], word[1:], strict=False):
                if sp.sympify(inner) != sp.sympify(outer):
                    raise TheoremError(f"clause {self.label}: {letter} does not fit what it is multiplied by")
            ends.add((sp.sympify(shapes[0][0]), sp.sympify(shapes[-1][1])) if shapes else None)
        if len(ends) > 1:
            raise TheoremError(f"clause {self.label}: a sum or an equality of matrices of different shapes")

    def bound_names(self) -> set[str]:
        """Return the names of the letters."""
        return {letter.name for letter in self.shapes}

    def to_data(self) -> Mapping[str, object]:
        """Return what the digest covers."""
        shapes = [[to_data(x) for x in map(sp.sympify, (letter, *shape))] for letter, shape in self.shapes.items()]
        return {"kind": "matrix_identity", "label": self.label, "says": self.says, "shapes": shapes} | self.sides_data()

    def evaluate(self, context: Context) -> ClauseResult:
        """Compare monomial by monomial; where the two sides differ, look for matrices at which they do."""
        statement = context.statement
        for letter, shape in self.shapes.items():
            sides = (statement.expand(sp.sympify(part)) for part in shape)
            # A size may be a variable: then it is any.
            given = [side for side in sides if {str(s) for s in side.free_symbols} <= context.instance.keys()]
            lengths = [evaluate_rising(side, context.instance)[0] for side in given]
            if any(not isinstance(length, Fraction) or length.denominator > 1 or length < 1 for length in lengths):
                return ClauseResult.undecided(self, f"{letter}: there are no matrices of so many rows and columns")
        try:
            # A word may have put in what does not fit.
            self._shaped([word for side in self._sides(statement) for word in monomials(taken_apart(side)[0])])
            if (proof := context.proof_for_all()) is not None:
                return ClauseResult.verified(self, proof, detail="the same monomials, for all matrices")
        except (TheoremError, UndefinedError, UndecidedError) as error:
            why = str(error)
        else:
            why = (
                context.doubts.get(self.label)
                or f"the two sides differ in a monomial; no matrices of these sizes (tried to {_LARGEST}) show it"
            )
        try:
            if self._is_zero(statement, exact_values(statement.symbols(), context.instance)):
                detail = "the same monomials at this instance, for all matrices"
                return ClauseResult.verified(self, {"kind": "words_here"}, detail=detail)
        except (TheoremError, UndefinedError, UndecidedError) as error:
            return ClauseResult.undecided(self, str(error))
        refutation = self._refutation(context.statement, context.instance)
        if refutation is None:
            return ClauseResult.undecided(self, why)
        scalars, matrices, place, difference = refutation
        named = {f"{letter}": _text(entries) for letter, entries in matrices.items()}
        witness = {**context.instance, **scalars, **named, "entry": place, "left_minus_right": difference}
        proof = matrices_proof(scalars, matrices, place, difference)
        return ClauseResult.refuted(self, proof, margin=difference, detail="the two sides differ", witness=witness)

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return the proof that both sides have the same monomials, None where they are not.

        Raises UndefinedError where they are, and a scalar is not shown to have a value.
        """
        return {"kind": "words"} if self._is_zero(statement, {}) else None

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return 1 for the same monomials, else −1 where matrices of these sizes show it (small ones are tried)."""
        try:
            if self._is_zero(statement, {}) or self._is_zero(statement, exact_values(statement.symbols(), instance)):
                return 1.0
        except TheoremError:
            return math.inf
        return 1.0 if self._refutation(statement, instance) is None else -1.0

    def _sides(self, statement: Statement) -> list[sp.Basic]:
        return [statement.expand(side) for side in self.expressions()]

    def _is_zero(self, statement: Statement, values: Mapping[sp.Symbol, sp.Rational]) -> bool:
        """Whether the two sides have the same monomials at values of some scalars, for all values of the others.

        Raises UndefinedError where they are, and a scalar is not shown to have a value.
        """
        sides = [substitute(side, values) for side in self._sides(statement)]
        plain = [taken_apart(side)[0] for side in sides]
        if not all(vanishes(coefficient) for coefficient in monomials(plain[0] - plain[1]).values()):  # pyright: ignore[reportOperatorIssue]
            return False
        for part in dict.fromkeys(part for side in sides for part in needs(side)):
            if not has_a_value(part, statement):
                raise UndefinedError(f"the same monomials, but {part} may have no value")
        return True

    def _difference(self, statement: Statement) -> dict[Monomial, sp.Expr]:
        left, right = self._sides(statement)
        return monomials(taken_apart(left)[0] - taken_apart(right)[0])  # pyright: ignore[reportOperatorIssue]

    def _refutation(
        self, statement: Statement, instance: Instance
    ) -> tuple[dict[str, Fraction], dict[str, list[list[int]]], tuple[int, int], Fraction] | None:
        """Return scalars, matrices, a place and the difference of the two sides there."""
        difference = self._difference(statement)
        sizes = {}
        for letter, shape in self.shapes.items():
            lengths = [evaluate_rising(statement.expand(sp.sympify(part)), instance)[0] for part in shape]
            if any(length not in range(1, _LARGEST + 1) for length in lengths):
                return None
            sizes[letter] = tuple(map(int, lengths))  # type: ignore[arg-type]
        needed = [part for side in self._sides(statement) for part in needs(side)]
        written = sp.Tuple(*self._sides(statement)).free_symbols
        variables = [s for s in written if s.is_commutative and s.name not in instance]  # type: ignore[attr-defined]
        for seed, point in enumerate(sample_points(variables, _TRIES)):
            source = random.Random(seed)
            scalars = {symbol.name: Fraction(int(v.p), int(v.q)) for symbol, v in sorted(point.items(), key=str)}
            matrices = {
                letter: [[source.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]
                for letter, (rows, columns) in sizes.items()
            }
            for part in needed:
                evaluate_rising(part, {**instance, **scalars})
            value = _value(difference, {letter: flint.fmpq_mat(m) for letter, m in matrices.items()}, instance, scalars)
            for i in range(value.nrows()):
                for j in range(value.ncols()):
                    if value[i, j] != 0:
                        named = {letter.name: entries for letter, entries in matrices.items()}
                        return scalars, named, (i, j), exact_fraction(value[i, j])
        return None


def _value(
    difference: Mapping[Monomial, sp.Expr], matrices: Mapping[sp.Symbol, flint.fmpq_mat], *values: Instance
) -> flint.fmpq_mat:
    known = {name: value for mapping in values for name, value in mapping.items()}
    total = None
    for word, coefficient in difference.items():
        scalar, _ = evaluate_rising(coefficient, known)
        if not isinstance(scalar, Fraction):
            raise UndefinedError(f"{coefficient}: a rational value is needed here")
        if not word:
            raise UndefinedError("a sum of scalars and matrices")
        first, *others = (matrices[letter].transpose() if turned else matrices[letter] for letter, turned in word)
        product = first * flint.fmpq(scalar.numerator, scalar.denominator)
        for matrix in others:
            product = product * matrix
        total = product if total is None else total + product
    assert total is not None
    return total


def _text(entries: list[list[int]]) -> str:
    return "; ".join(" ".join(map(str, row)) for row in entries)
