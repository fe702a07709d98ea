# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""Rational functions over ℚ in several symbols, kept in lowest terms by FLINT's polynomials."""

from collections.abc import Sequence
from dataclasses import dataclass

import flint
import sympy as sp

from verify.errors import BeyondReachError, UndefinedError
from verify.printing import text_of


@dataclass(frozen=True, slots=True)
class Quotient:
    """numerator/denominator in lowest terms; falsy exactly if it is 0."""

    numerator: flint.fmpq_mpoly
    denominator: flint.fmpq_mpoly

    @staticmethod
    def reduced(numerator: flint.fmpq_mpoly, denominator: flint.fmpq_mpoly) -> "Quotient":
        """Return the quotient of two polynomials in lowest terms."""
        common = numerator.gcd(denominator)
        whole = common.is_one()
        return Quotient(numerator, denominator) if whole else Quotient(numerator / common, denominator / common)

    def __bool__(self) -> bool:
        return not self.numerator.is_zero()

    def __add__(self, other: "Quotient") -> "Quotient":
        if self.denominator == other.denominator:
            return Quotient.reduced(self.numerator + other.numerator, self.denominator)
        top = self.numerator * other.denominator + other.numerator * self.denominator
        return Quotient.reduced(top, self.denominator * other.denominator)

    def __neg__(self) -> "Quotient":
        return Quotient(-self.numerator, self.denominator)

    def __mul__(self, other: "Quotient") -> "Quotient":
        return Quotient.reduced(self.numerator * other.numerator, self.denominator * other.denominator)


class QuotientField:
    """The field of rational functions in some symbols."""

    def __init__(self, symbols: Sequence[sp.Symbol]) -> None:
        self.symbols = tuple(symbols)
        # FLINT needs a variable even without symbols.
        names = tuple(f"x{i}" for i in range(max(1, len(self.symbols))))
        context = flint.fmpq_mpoly_ctx.get(names, "lex")
        self._generators = dict(zip(self.symbols, context.gens(), strict=False))
        self._constant = context.constant
        self.zero, self.one = (Quotient(context.constant(n), context.constant(1)) for n in (0, 1))
        self._divisors: list[flint.fmpq_mpoly] = []

    def inverse(self, value: Quotient) -> Quotient:
        """Return 1/value and note the divisor; UndefinedError for 0."""
        if not value:
            raise UndefinedError("division by zero")
        self._divisors.append(value.numerator)
        return Quotient(value.denominator, value.numerator)

    @property
    def divisors(self) -> list[sp.Expr]:
        """The polynomials that were divided by; where one vanishes, the results are not valid."""
        return [self._polynomial(divisor) for divisor in {str(d): d for d in self._divisors}.values()]

    def from_sympy(self, node: sp.Basic) -> Quotient:
        """Return a rational expression as an element of the field. Raises TheoremError for any other expression."""
        if isinstance(node, sp.Rational):
            return Quotient(self._constant(flint.fmpq(int(node.p), int(node.q))), self.one.numerator)
        if node in self._generators:
            return Quotient(self._generators[node], self.one.numerator)
        if isinstance(node, sp.Add | sp.Mul):
            result, *others = map(self.from_sympy, node.args)
            for other in others:
                result = result + other if isinstance(node, sp.Add) else result * other
            return result
        if isinstance(node, sp.Pow) and node.exp.is_Integer:
            base, power = self.from_sympy(node.base), abs(int(node.exp))
            raised = Quotient(base.numerator**power, base.denominator**power)
            return raised if node.exp > 0 else self.inverse(raised)
        raise BeyondReachError(f"{text_of(node)}: not rational")

    def to_sympy(self, value: Quotient) -> sp.Expr:
        """Return the expression of an element."""
        return self._polynomial(value.numerator) / self._polynomial(value.denominator)

    def in_factors(self, value: Quotient) -> sp.Expr:
        """Return the expression of an element as a product of powers of irreducible polynomials."""
        product = sp.Integer(1)
        for polynomial, turn in ((value.numerator, 1), (value.denominator, -1)):
            number, factors = polynomial.factor()
            product *= sp.Rational(int(number.p), int(number.q)) ** turn
            product *= sp.Mul(*(self._polynomial(factor) ** (turn * int(power)) for factor, power in factors))
        return product

    def _polynomial(self, polynomial: flint.fmpq_mpoly) -> sp.Expr:
        return sp.Add(
            *(
                sp.Rational(int(c.p), int(c.q)) * sp.Mul(*(s**k for s, k in zip(self.symbols, powers, strict=False)))
                for powers, c in polynomial.to_dict().items()
            )
        )
