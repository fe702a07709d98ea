# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
r"""A clause about the residual polynomial p(s) = ∏(1 − a_l s), with p(0) = 1, of least ∫ p² dμ for a measure μ.

For a measure μ on the line with moments m_k = ∫ s^k dμ, let f(a) = ∫ ∏_l (1 − a_l s)² dμ, a ∈ R^L. Over all
polynomials p of degree at most L with p(0) = 1,

    ∫ (p + s r)² dμ = ∫ p² dμ + 2 ∫ p s r dμ + ∫ s² r² dμ,

so that p is the only minimiser if p is orthogonal to s, …, s^L and ∫ s² r² dμ > 0 for every r ≠ 0 of degree
below L. If the L roots of this p are real and distinct, the a_l = 1/root are, up to their order, the only
minimiser of f. The minimum is ∫ p² dμ = ∫ p dμ.

This p is, up to a factor, the orthogonal polynomial of degree L of s dμ; for μ on the half line its roots are
real, positive and distinct (Szegő, Orthogonal Polynomials, section 3.3). Here the roots are isolated by
computation, and that theorem is not used.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint
import sympy as sp

from verify.claims.defaults import ClauseDefaults
from verify.claims.question import Question, exact_value
from verify.errors import InputError, UndecidedError, UndefinedError
from verify.evaluation.admissible_ranges import real_roots
from verify.evaluation.arithmetic import exact_fraction
from verify.language.assumptions import NATURAL
from verify.language.expressions import to_data
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.outcomes import ClauseResult, Enclosure
from verify.printing import text_of
from verify.provers.proof_data import inverse_roots, residual_proof

MOST_FACTORS = 20
"""Maximum number of factors; with more, the exact moments and the isolation of the roots take too long."""
_SCANNED_FACTORS, _LARGEST_SHIFT = 8, 10
_LONGEST_MOMENT = 10_000
"""Maximum length of a moment in bits; with longer ones the roots differ by too many orders of magnitude to isolate."""


@dataclass(frozen=True)
class LeastResidual(ClauseDefaults):
    """A clause: ∫ ∏(1 − a_l s)² dμ is least over a ∈ R^L exactly where the a_l, l = 1 … L, are scale/(root of p).

    Here p has degree L and ∫ p(s) s^k dμ = 0 for k = shift, …, shift + L − 1. A true claim has shift and scale 1;
    other values are for claims that have to be refuted.

    Parameters
    ----------
    label
        The clause's name.
    factors
        L, an integer >= 1.
    moment, index
        ∫ s^k dμ as an expression of the parameters and of the symbol `index`, which stands for k.
    shift, scale
        The numbers of these names in the claim above.
    minimum
        The claimed minimum; None if none is claimed.
    says
        The clause in words.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import LeastResidual
    >>> L, k = sp.Symbol("L", integer=True, positive=True), sp.Symbol("k", integer=True, nonnegative=True)
    >>> LeastResidual("minimum", L, 1 / (k + 1), k).label
    'minimum'
    """

    label: str
    factors: sp.Expr
    moment: sp.Expr
    index: sp.Symbol
    shift: sp.Expr = sp.S.One
    scale: sp.Expr = sp.S.One
    minimum: sp.Expr | None = None
    says: str = ""

    def in_symbols(self) -> str:
        """Return the clause in words."""
        last = self.factors + self.shift - 1
        return (
            f"the integral of prod_(l<={self.factors}) (1 - a_l s)^2 is least at a_l = {self.scale}/root alone, the "
            f"roots those of the polynomial orthogonal to s^{self.shift} … s^({last}), for moments {self.moment}"
            + ("" if self.minimum is None else f", and is {self.minimum} there")
        )

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield the number of factors, the moment, the shift, the scale and the minimum."""
        yield from map(sp.sympify, (self.factors, self.moment, self.shift, self.scale, *self._claimed()))

    def _claimed(self) -> tuple[sp.Expr, ...]:
        return () if self.minimum is None else (self.minimum,)

    def bound_names(self) -> set[str]:
        """Return the name of the moment's index."""
        return {self.index.name}

    def bound_domains(self, integers: Collection[str], positives: Collection[str]) -> Mapping[str, Collection[str]]:
        """Return the assumptions of the index, which is 0, 1, 2 and so on."""
        return {self.index.name: NATURAL}

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        parts = {"factors": self.factors, "moment": self.moment, "index": self.index}
        parts |= {"shift": self.shift, "scale": self.scale} | dict(zip(["minimum"], self._claimed(), strict=False))
        data = {name: to_data(sp.sympify(part)) for name, part in parts.items()}
        return {"kind": "residual", "label": self.label, "says": self.says} | data

    def evaluate(self, question: Question) -> ClauseResult:
        """Decide by exact orthogonality; report the a_l in ascending order and the minimum.

        Raises InputError for more than 20 factors.
        """
        problem = _Problem(self, question.statement, question.instance, MOST_FACTORS)
        count = problem.count
        if count > MOST_FACTORS:
            reason = f"its {2 * count} moments and {count} roots are computed exactly"
            raise InputError(str(self.factors), count, f"must be <= {MOST_FACTORS}: {reason}")
        why = problem.not_positive() or no_measure(problem.moments)
        if why is not None:
            return ClauseResult.undecided(self, why)
        claimed = problem.claimed()
        for order, left in enumerate(problem.orthogonality(claimed), 1):
            if left:
                integral, why = exact_fraction(left), f"the integral of p s^{order} is not 0"
                return self._refuted(question, claimed, integral, why, {"order": order, "integral": integral})
        least = problem.minimum(claimed)
        if problem.stated not in (None, least):
            return self._refuted(
                question,
                claimed,
                least - problem.stated,
                "the minimum differs from the claimed one",
                {"minimum": least},
            )
        roots = [Enclosure(*ends) for ends in real_roots(claimed)]
        if len(roots) < count or any(root.lower <= 0 <= root.upper for root in roots):  # type: ignore[operator]
            return ClauseResult.undecided(self, "the minimiser's roots are not all real and distinct")
        proof = residual_proof(claimed, roots, least)
        # The values are those that the proof states.
        values = {"a": inverse_roots(proof["roots"]), "minimum": least, "attained": True}
        return ClauseResult.verified(self, proof, margin=Fraction(0), values=values)

    def _refuted(
        self, question: Question, claimed: flint.fmpq_poly, margin: Fraction, detail: str, shown: Mapping[str, object]
    ) -> ClauseResult:
        witness = {**question.instance, **shown}
        return ClauseResult.refuted(self, residual_proof(claimed, ()), margin=margin, detail=detail, witness=witness)

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return 1 if the claim holds or no suitable measure has the moments, else minus a relative difference.

        Raises UndecidedError for more than 8 factors.
        """
        problem = _Problem(self, statement, instance, _SCANNED_FACTORS)
        if problem.count > _SCANNED_FACTORS:
            raise UndecidedError(f"more than {_SCANNED_FACTORS} factors are not scanned")
        if problem.not_positive() or no_measure(problem.moments):
            return 1.0
        claimed = problem.claimed()
        worst = max(problem.relative(claimed))
        least = problem.minimum(claimed)
        if not worst and problem.stated not in (None, least):
            worst = abs(least - problem.stated) / (abs(least) + abs(problem.stated))
        return -float(worst) if worst else 1.0


class _Problem:
    """The moments at an instance, and the conditions of orthogonality."""

    def __init__(self, clause: LeastResidual, statement: Statement, instance: Instance, most: int) -> None:
        def exact(expression: sp.Expr, **more: int) -> Fraction:
            return exact_value(statement, instance, expression, **more)

        def whole(expression: sp.Expr, least: int) -> int:
            value = exact(expression)
            if value.denominator != 1 or value < least:
                raise UndefinedError(f"{text_of(expression)} = {value}: must be an integer >= {least}")
            return int(value)

        self.count, self.shift, self.scale = whole(clause.factors, 1), whole(clause.shift, 0), exact(clause.scale)
        if self.shift > _LARGEST_SHIFT or not self.scale:
            raise UndefinedError(f"the shift must be <= {_LARGEST_SHIFT} and the scale not 0")
        self.moments: list[flint.fmpq] = []
        if self.count <= most:
            self.stated = None if clause.minimum is None else exact(clause.minimum)
            last = 2 * self.count + max(self.shift - 1, 0)
            moments = (exact(clause.moment, **{clause.index.name: k}) for k in range(last + 1))
            self.moments = [flint.fmpq(m.numerator, m.denominator) for m in moments]
            if max(int(part).bit_length() for m in self.moments for part in (m.p, m.q)) > _LONGEST_MOMENT:
                raise UndecidedError(f"a moment of more than {_LONGEST_MOMENT} bits is too long")

    def not_positive(self) -> str | None:
        """Return the reason if ∫ s² r² dμ > 0 is not shown for all r ≠ 0 of degree below L; None if it is shown.

        All pivots of Gaussian elimination of the matrix (m_(i+j+2)), i, j < L, must be positive.
        """
        rows = [[self.moments[i + j + 2] for j in range(self.count)] for i in range(self.count)]
        for k, pivot in enumerate(_pivots(rows)):
            if not pivot > 0:
                return f"the moments are not those of a measure with more than {k} points apart from 0"
        return None

    def claimed(self) -> flint.fmpq_poly:
        """Return ∏(1 − a_l s) at the claimed a_l, as a polynomial over the rationals.

        Raises UndecidedError if the orthogonality conditions do not determine p.
        """
        count, first = self.count, self.shift
        orders = range(first, first + count)
        matrix = flint.fmpq_mat(count, count, [self.moments[j + k] for k in orders for j in range(1, count + 1)])
        try:
            solved = matrix.solve(flint.fmpq_mat(count, 1, [-self.moments[k] for k in orders]))
        except ZeroDivisionError:
            raise UndecidedError("the conditions on p do not determine it") from None
        scale = flint.fmpq(self.scale.numerator, self.scale.denominator)
        return flint.fmpq_poly([flint.fmpq(1), *(solved[j, 0] * scale ** (j + 1) for j in range(count))])

    def minimum(self, polynomial: flint.fmpq_poly) -> Fraction:
        """Return ∫ p dμ, which is ∫ p² dμ if p is orthogonal to s, …, s^L."""
        terms = zip(polynomial.coeffs(), self.moments, strict=False)
        return exact_fraction(sum((c * m for c, m in terms), flint.fmpq(0)))

    def orthogonality(self, polynomial: flint.fmpq_poly) -> Iterator[flint.fmpq]:
        """Yield ∫ p s^k dμ for k = 1 … L."""
        for terms in self._terms(polynomial):
            yield sum(terms, flint.fmpq(0))

    def relative(self, polynomial: flint.fmpq_poly) -> Iterator[float]:
        """Yield |∫ p s^k dμ| divided by the sum of its terms' absolute values, for k = 1 … L."""
        for terms in self._terms(polynomial):
            whole = abs(sum(terms, flint.fmpq(0))) / sum(map(abs, terms), flint.fmpq(0))
            yield float(exact_fraction(whole))

    def _terms(self, polynomial: flint.fmpq_poly) -> Iterator[list[flint.fmpq]]:
        coefficients = polynomial.coeffs()
        for k in range(1, self.count + 1):
            yield [c * self.moments[j + k] for j, c in enumerate(coefficients)]


def no_measure(moments: Sequence[flint.fmpq]) -> str | None:
    """Return the reason if no measure on the line has the moments m_0, m_1, …; None if one has.

    The pivots are those of Gaussian elimination of the Hankel matrix (m_(i+j)). If all are positive, there is such a
    measure. If pivot k is the first that is 0, such a measure has k points, the roots of s^k − Σ_(j<k) c_j s^j, where
    the moments up to m_(2k−1) determine the c_j. There is one if and only if m_i = Σ_(j<k) c_j m_(i−k+j) for all i >= k
    (Curto and Fialkow, Recursiveness, positivity, and truncated moment problems, 1991).
    """
    size = (len(moments) + 1) // 2
    rows = [[moments[i + j] for j in range(size)] for i in range(size)]
    for k, pivot in enumerate(_pivots(rows)):
        if pivot < 0:
            return f"no measure has the moments {', '.join(map(str, moments[: 2 * k + 1]))}: a square has a mean < 0"
        if pivot == 0:
            return None if _recur(moments, k) else f"no measure has these moments: those up to {2 * k} leave {k} points"
    return None


def _pivots(rows: list[list[flint.fmpq]]) -> Iterator[flint.fmpq]:
    """Yield the pivots of Gaussian elimination of a square matrix; the caller must stop at a pivot that is 0."""
    for k, row in enumerate(rows):
        yield row[k]
        for other in rows[k + 1 :]:
            ratio = other[k] / row[k]
            for j in range(k, len(rows)):
                other[j] -= ratio * row[j]


def _recur(moments: Sequence[flint.fmpq], points: int) -> bool:
    """Whether a measure with this number k of points has all the moments, given that one has the first 2k moments."""
    if not points:
        return not any(moments)
    matrix = flint.fmpq_mat(points, points, [moments[i + j] for i in range(points) for j in range(points)])
    solved = matrix.solve(flint.fmpq_mat(points, 1, [moments[points + i] for i in range(points)]))
    return all(
        moments[i] == sum((solved[j, 0] * moments[i - points + j] for j in range(points)), flint.fmpq(0))
        for i in range(points, len(moments))
    )
