# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""A clause that two expressions are equal, for all values of the statement's variables."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import sympy as sp

from verify.claims.defaults import Equality
from verify.claims.question import Proof, Question
from verify.errors import TheoremError, UndecidedError, UndefinedError
from verify.evaluation.values import evaluate_rising, exact_values, scan_values, sign_of, symbols_by_name
from verify.language.definedness import evaluated, needs, rebuilt, taken_apart
from verify.language.nonvanishing import factor_signs, nowhere_zero, positive
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.language.symbolic_zeros import (
    carry_out,
    differentiate,
    sample_points,
    share_exponentials,
    substitute,
    zero_with_divisors,
)
from verify.outcomes import ClauseResult
from verify.printing import text_of
from verify.provers.proof_data import identity_proof, point_proof

_ROUNDING = 1e-13
"""Relative difference in float64 up to which two sides may be equal."""


@dataclass(frozen=True)
class Identity(Equality):
    """A clause: left = right for all values of the statement's variables.

    Parameters
    ----------
    label
        The clause's name.
    left, right
        The two sides.
    says
        The clause in words, which is printed in place of the equation.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Identity
    >>> x = sp.Symbol("x", real=True)
    >>> Identity("square", (x + 1) ** 2, x**2 + 2 * x + 1).label
    'square'
    """

    label: str
    left: sp.Expr
    right: sp.Expr
    says: str = ""

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        return {"kind": "identity", "label": self.label, "says": self.says} | self.sides_data()

    def evaluate(self, question: Question) -> ClauseResult:
        """Look for a symbolic zero, for all parameters or at the instance; then for a point that refutes the clause."""
        statement = question.statement
        proof, doubt = question.proof_for_all()
        if proof is not None:
            return ClauseResult.verified(self, proof, margin=Fraction(0), detail="symbolic zero for all parameters")
        why = doubt or "no point found at which the two sides differ"
        values = exact_values(statement.symbols(), question.instance)
        sides = tuple(substitute(side, values) for side in _sides(self, statement))
        try:
            if (proof := _zero_proof(sides, statement, "instance")) is not None:
                return ClauseResult.verified(self, proof, margin=Fraction(0), detail="symbolic zero at this instance")
        except (TheoremError, UndefinedError, UndecidedError) as error:
            why = str(error)
        # A side has a value only where all its parts have one, including the parts that cancel.
        written = sp.Tuple(*map(statement.expand, self.expressions())).free_symbols
        free = {symbol for symbol in written if str(symbol) not in question.instance}
        difference = _difference(sides)
        for point in sample_points(difference.free_symbols | free):
            try:
                value, bits = evaluate_rising(substitute(difference, point), {}, sign=True)
            except (TheoremError, UndefinedError, UndecidedError):
                continue
            if sign_of(value):
                named = {symbol.name: Fraction(int(v.p), int(v.q)) for symbol, v in point.items()}
                witness = {**question.instance, **named, "left_minus_right": value}
                proof = point_proof(named, value, bits)
                why = "the two sides differ"
                return ClauseResult.refuted(self, proof, margin=value, detail=why, witness=witness, bits=bits)
        return ClauseResult.undecided(self, why)

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return the proof that the difference is a symbolic zero; None if it is not.

        Raises UndefinedError or UndecidedError if it is, but the sides are not shown to have values.
        """
        return _zero_proof(_sides(self, statement), statement, "all")

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return 1 for a symbolic zero, else minus the largest relative difference at some points.

        The result for a difference within rounding is a tiny positive number.
        """
        sides = _sides(self, statement)
        try:
            if _equal(sides, statement):
                return 1.0
        except (TheoremError, UndefinedError, UndecidedError):
            pass
        names = symbols_by_name(sp.Tuple(*sides))
        worst = 0.0
        for point in sample_points([symbol for name, symbol in names.items() if name not in instance]):
            values = {**instance, **{symbol.name: float(value) for symbol, value in point.items()}}
            left, right = scan_values(sides, values)
            worst = max(worst, abs(left - right) / (abs(left) + abs(right) or 1.0))
        return -worst if worst > _ROUNDING else _ROUNDING


Sides: TypeAlias = tuple[sp.Expr, sp.Expr]


@lru_cache(maxsize=2**12)
def _sides(clause: Identity, statement: Statement) -> Sides:
    """Return the sides with definitions substituted and derivatives carried out."""
    left, right = (differentiate(rebuilt(statement.expand(side))) for side in clause.expressions())
    return left, right  # pyright: ignore[reportReturnType]


def _difference(sides: Sides) -> sp.Expr:
    """Return left − right, with a value only where both sides have one."""
    return evaluated(sides, sides[0] - sides[1])  # pyright: ignore[reportReturnType]


@lru_cache(maxsize=2**12)
def _equal(sides: Sides, statement: Statement) -> bool:
    """Whether two sides are identically equal. Raises UndefinedError if they are, but not shown to have values."""
    plain = [taken_apart(side)[0] for side in sides]
    zero, divisors = zero_with_divisors(plain[0] - plain[1])  # pyright: ignore[reportOperatorIssue]
    if zero:
        for divisor in divisors:
            _refuse(nowhere_zero(divisor, statement.parameters, statement.domain), divisor)
        for side in sides:
            for part in needs(side):
                _refuse(has_a_value(part, statement), part)
    return zero


def _zero_proof(sides: Sides, statement: Statement, scope: str) -> Proof | None:
    return identity_proof(scope, _factors(sides, statement)) if _equal(sides, statement) else None


def _refuse(shown: bool, part: sp.Basic) -> None:
    if not shown:
        raise UndefinedError(
            f"equal where both have values, but {text_of(part)} may have none, or be divided by and vanish"
        )


def has_a_value(part: sp.Basic, statement: Statement) -> bool:
    """Whether a part of an expression is shown to have a value everywhere on the domain.

    Raises UndefinedError for a number without a value, and UndecidedError for a number whose value is not found.
    """
    if not part.free_symbols:
        evaluate_rising(part, {})
        return True
    domain = statement.parameters, statement.domain
    try:
        if isinstance(part, sp.Limit):
            return all(nowhere_zero(divisor, *domain) for divisor in carry_out(part)[1])
        (argument, *exponent), _ = share_exponentials(list(part.args), numbers=True)
        if isinstance(part, sp.Pow) and exponent[0].is_Integer:
            return nowhere_zero(sp.fraction(sp.together(argument))[0], *domain)
        return isinstance(part, sp.Pow | sp.log) and positive(argument, *domain)
    except sp.PolynomialError:
        return False


@lru_cache(maxsize=2**12)
def _factors(sides: Sides, statement: Statement) -> dict[sp.Basic, int | None]:
    """Return the factors by which a re-check may divide, each with the index of a relation that excludes its zeros.

    These are factors of the divisors that were found here, in lowest terms, and of the denominators as they are written
    in the difference and in the sides, except those inside a limit. `factor_signs` defines the indices, −1 and None.
    """
    plain = [taken_apart(side)[0] for side in sides]
    (rational, *shared), meaning = share_exponentials([plain[0] - plain[1], *plain], numbers=True)  # pyright: ignore[reportOperatorIssue]
    _, met = zero_with_divisors(rational)
    outside = [e.xreplace({limit: sp.Integer(0) for limit in e.atoms(sp.Limit)}) for e in (rational, *shared)]
    written = [power.base for e in outside for power in e.atoms(sp.Pow) if power.exp.is_negative]
    shown: dict[sp.Basic, int | None] = {}
    for divisor in (*met, *written):
        numerator = sp.fraction(sp.together(divisor))[0]
        for factor, shift in factor_signs(numerator, statement.parameters, statement.domain).items():
            shown[factor.xreplace(meaning)] = shift
    return shown
