# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""A clause that two polynomials in matrices are equal, for all matrices of all sizes: monomial by monomial.

Matrices are noncommutative symbols, `transpose` reverses products, and scalars commute with all. Expanded, each
side is a sum of monomials with expressions in the scalars as coefficients; equal sums are equal at all matrices of
all sizes. Unequal sums differ at some matrices, but perhaps not at matrices of the given sizes.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import flint
import sympy as sp

from verify.claims.defaults import Equality
from verify.claims.identity import has_a_value
from verify.claims.question import Proof, Question
from verify.errors import TheoremError, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import exact_fraction
from verify.evaluation.values import evaluate_rising, exact_values
from verify.language.assumptions import is_integral
from verify.language.definedness import needs, taken_apart
from verify.language.expressions import to_data
from verify.language.noncommutative import Monomial, Shape, monomials, shape_of
from verify.language.nonvanishing import shown_positive
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.language.symbolic_zeros import sample_points, substitute, vanishes
from verify.outcomes import ClauseResult
from verify.printing import text_of
from verify.provers.proof_data import matrices_proof

_LARGEST, _TRIES = 8, 5


@dataclass(frozen=True)
class MatrixIdentity(Equality):
    """A clause: left = right for all matrices and all values of the statement's variables.

    Parameters
    ----------
    label
        The clause's name.
    left, right
        Polynomials in `matrix(name)` letters, their `sympy.transpose`, and scalars.
    shapes
        Numbers of rows and columns of each letter: polynomials with integer coefficients in integer parameters or
        variables; each polynomial must be at least 1 in scope.
    says
        The clause in words.

    Raises
    ------
    TheoremError
        For a letter without a shape, and for matrices that do not fit in a product or a sum, even in terms that cancel.

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
        self._shape()

    def _shape(self) -> Shape | None:
        """Return the shape of both sides, None for scalars. Raises TheoremError if the shapes do not fit."""
        try:
            found = {shape_of(side, self.shapes) for side in self.expressions() if side is not sp.S.Zero}
        except TheoremError as error:
            raise TheoremError(f"clause {self.label}: {error}") from None
        if len(found) > 1:
            raise TheoremError(f"clause {self.label}: an equality of matrices of different shapes")
        return found.pop()

    def refuse_in(self, statement: Statement) -> None:
        """Raise TheoremError for a shape that is no polynomial of integers, or not shown to be at least 1 in scope."""
        integers = {p.name for p in statement.parameters if p.kind == "integer"}
        integers |= {variable.name for variable in statement.variables if variable.is_integer}
        relations = [*statement.domain, *(h.relation for h in statement.hypotheses if h.relation is not None)]
        for letter, shape in self.shapes.items():
            for length in (statement.expand(sp.sympify(part)) for part in shape):
                if not is_integral(length, integers):
                    need = "a polynomial with integer coefficients in parameters of kind integer"
                    raise TheoremError(
                        f"clause {self.label}: {letter} has {text_of(length)} rows or columns; it must be {need}"
                    )
                if not shown_positive(length, statement.parameters, relations):
                    why = "is not shown to be at least 1 in scope: give its parameters a minimum"
                    raise TheoremError(
                        f"clause {self.label}: {letter} has {text_of(length)} rows or columns, which {why}"
                    )

    def bound_names(self) -> set[str]:
        """Return the names of the letters."""
        return {letter.name for letter in self.shapes}

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        shapes = [[to_data(x) for x in map(sp.sympify, (letter, *shape))] for letter, shape in self.shapes.items()]
        return {"kind": "matrix_identity", "label": self.label, "says": self.says, "shapes": shapes} | self.sides_data()

    def evaluate(self, question: Question) -> ClauseResult:
        """Compare the sides monomial by monomial; if they differ, look for matrices at which their values differ."""
        statement = question.statement
        for letter, shape in self.shapes.items():
            sides = (statement.expand(sp.sympify(part)) for part in shape)
            # A size that contains a variable is arbitrary.
            given = [side for side in sides if {str(s) for s in side.free_symbols} <= question.instance.keys()]
            lengths = [evaluate_rising(side, question.instance)[0] for side in given]
            if any(not isinstance(length, Fraction) or length.denominator > 1 or length < 1 for length in lengths):
                return ClauseResult.undecided(self, f"{letter}: there are no matrices of so many rows and columns")
        proof, doubt = question.proof_for_all()
        if proof is not None:
            return ClauseResult.verified(self, proof, detail="the same monomials, for all matrices")
        try:
            if self._is_zero(statement, exact_values(statement.symbols(), question.instance)):
                detail = "the same monomials at this instance, for all matrices"
                return ClauseResult.verified(self, {"kind": "words_here"}, detail=detail)
        except (TheoremError, UndefinedError, UndecidedError) as error:
            return ClauseResult.undecided(self, str(error))
        refutation = self._refutation(question.statement, question.instance)
        if refutation is None:
            why = f"the two sides differ in a monomial; no matrix that was tried (sizes to {_LARGEST}) shows it"
            return ClauseResult.undecided(self, doubt or why)
        scalars, matrices, place, difference = refutation
        named = {f"{letter}": _text(entries) for letter, entries in matrices.items()}
        witness = {**question.instance, **scalars, **named, "entry": place, "left_minus_right": difference}
        proof = matrices_proof(scalars, matrices, place, difference)
        return ClauseResult.refuted(self, proof, margin=difference, detail="the two sides differ", witness=witness)

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return the proof that both sides have the same monomials; None if they do not.

        Raises UndefinedError if they do, but a scalar is not shown to have a value.
        """
        return {"kind": "words"} if self._is_zero(statement, {}) else None

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return −1 if matrices of these sizes, up to 8, show a difference, ∞ if the comparison fails, else 1."""
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

        Raises UndefinedError if they do, but a scalar is not shown to have a value.
        """
        sides = [substitute(side, values) for side in self._sides(statement)]
        plain = [taken_apart(side)[0] for side in sides]
        if not all(vanishes(coefficient) for coefficient in monomials(plain[0] - plain[1]).values()):  # pyright: ignore[reportOperatorIssue]
            return False
        for part in dict.fromkeys(part for side in sides for part in needs(side)):
            if not has_a_value(part, statement):
                raise UndefinedError(f"the same monomials, but {text_of(part)} may have no value")
        return True

    def _difference(self, statement: Statement) -> dict[Monomial, sp.Expr]:
        left, right = self._sides(statement)
        return monomials(taken_apart(left)[0] - taken_apart(right)[0])  # pyright: ignore[reportOperatorIssue]

    def _refutation(
        self, statement: Statement, instance: Instance
    ) -> tuple[dict[str, Fraction], dict[str, list[list[int]]], tuple[int, int], Fraction] | None:
        """Return scalars, matrices, an entry's place and the two sides' difference there; None if none is found."""
        difference = self._difference(statement)
        sizes = {}
        for letter, shape in self.shapes.items():
            lengths = [evaluate_rising(statement.expand(sp.sympify(part)), instance)[0] for part in shape]
            if any(length not in range(1, _LARGEST + 1) for length in lengths):
                return None
            sizes[letter] = tuple(map(int, lengths))  # type: ignore[arg-type]
        found = [evaluate_rising(statement.expand(part), instance)[0] for part in self._shape() or ()]
        if not found or any(length not in range(1, _LARGEST + 1) for length in found):
            return None
        rows, columns = map(int, found)  # type: ignore[arg-type]
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
            made = {letter: flint.fmpq_mat(m) for letter, m in matrices.items()}
            value = _value(difference, made, (rows, columns), instance, scalars)
            for i in range(value.nrows()):
                for j in range(value.ncols()):
                    if value[i, j] != 0:
                        named = {letter.name: entries for letter, entries in matrices.items()}
                        return scalars, named, (i, j), exact_fraction(value[i, j])
        return None


def _value(
    difference: Mapping[Monomial, sp.Expr],
    matrices: Mapping[sp.Symbol, flint.fmpq_mat],
    shape: tuple[int, int],
    *values: Instance,
) -> flint.fmpq_mat:
    known = {name: value for mapping in values for name, value in mapping.items()}
    total = flint.fmpq_mat(*shape)
    for word, coefficient in difference.items():
        scalar, _ = evaluate_rising(coefficient, known)
        if not isinstance(scalar, Fraction):
            raise UndefinedError(f"{text_of(coefficient)}: a rational value is needed here")
        # A monomial without letters is a multiple of the identity.
        rows = shape[0]
        product = flint.fmpq_mat(rows, rows, [int(i == j) for i in range(rows) for j in range(rows)])
        for letter, turned in word:
            product = product * (matrices[letter].transpose() if turned else matrices[letter])
        total = total + product * flint.fmpq(scalar.numerator, scalar.denominator)
    return total


def _text(entries: list[list[int]]) -> str:
    return "; ".join(" ".join(map(str, row)) for row in entries)
