"""Inequalities proved for all parameters: the margin is written in slacks ≥ 0, and its coefficients show its sign.

A logarithm with a rational coefficient is bounded first, by 0 or by its tangent at 1. Then these forms of proof are
tried, the cheap ones first, each with several choices of the relations whose slacks are used:

1. The margin has no negative coefficient.
2. The margin minus one square, times a factor ≥ 0, has no negative coefficient.
3. The margin times a power of 1 plus the sum of the slacks has no negative coefficient.
4. The margin minus several squares has no negative coefficient.
5. In each of several cases the margin has no negative coefficient.

Last, a slack with an upper bound b from another relation is written as b/(1 + s) with a new slack s. The margin's
coefficients then are Bernstein coefficients. A re-check does not search: it checks that the cases are complete and that
the coefficients have the right sign.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import comb, lcm, prod

import sympy as sp

from verify.budget import proof_work
from verify.errors import UndefinedError
from verify.evaluation.values import evaluate_rising, holds
from verify.language.expressions import STRICT, to_data
from verify.language.heads.scopes import BINDERS
from verify.language.nonvanishing import factored
from verify.language.statement import Statement
from verify.outcomes import Enclosure
from verify.printing import text_of
from verify.provers.orthant_cases import Orthant, Powers, Spent, Work
from verify.provers.proof_data import Proof, margin_proof
from verify.provers.slack_variables import Margin, is_shown, margins

_MOST_OPERATIONS = 200
"""Maximum number of operations of a margin; for a longer margin only the signs of the coefficients are checked."""
_MOST_EXPANDED = 20_000
"""Maximum number of terms of an expanded long margin; with more, no proof is sought, because expanding takes long."""
_MOST_CHOSEN = 1
"""Maximum number of relations, besides bounds, whose slacks are used when squares and cases are sought."""
_MOST_SEARCHED = 4
"""Maximum number of margins for which several squares and cases are sought; those with the fewest relations come first.

The margin as stated may be tried in addition.
"""
_MOST_TERMS = 40
"""Maximum number of terms of a numerator when squares and cases are sought: squares may have 20 monomials in all."""
_MOST_VARIABLES = 6
"""Maximum number of variables of a numerator when squares and cases are sought: splits are tried for all pairs."""
_MOST_BOUNDED = 2
"""Maximum number of slacks that are written in terms of their upper bounds, one after another."""
_BOUND = 1000
"""Work counted for writing one slack in terms of its bound."""
_SQUARES = 3000
"""Work counted for a semidefinite program: the budget of 12 000 allows at most three programs."""
_LOGARITHM = sp.Dummy(real=True)


def positive_proof(relation: sp.core.relational.Relational, statement: Statement, *, hypotheses: bool) -> Proof | None:
    """Return the proof of a relation for all parameters, or None; if `hypotheses`, it may assume the hypotheses.

    A proof is data for a certificate. Its kind is "constant", "positive", "squares", "cases", "logarithms" or
    "deduction".
    """
    if (shown := in_slacks(relation, statement, hypotheses=hypotheses)) is not None:
        return shown
    # Imported here because it loads NumPy and SciPy.
    from verify.provers.deduction.proofs import deduction_proof

    return deduction_proof(relation, statement, proof_work(), hypotheses=hypotheses)


@cache
def in_slacks(relation: sp.core.relational.Relational, statement: Statement, *, hypotheses: bool) -> Proof | None:
    """Return the proof of an inequality, of any kind except "deduction", or None."""
    if isinstance(relation, sp.Eq):
        return None
    difference, strict = statement.expand(relation.gts) - statement.expand(relation.lts), isinstance(relation, STRICT)  # pyright: ignore[reportAttributeAccessIssue, reportOperatorIssue]
    sides = statement.expand(sp.Tuple(relation.lts, relation.gts))  # pyright: ignore[reportAttributeAccessIssue]
    if not sides.free_symbols and (shown := _of_numbers(relation, *sides.args)) is not None:
        return shown
    long = difference.count_ops() > _MOST_OPERATIONS
    if long and (difference.has(sp.log) or max(map(_most_terms, sp.fraction(difference))) > _MOST_EXPANDED):
        return None
    if difference.has(sp.log):
        return _by_logarithms(difference, statement, strict=strict, hypotheses=hypotheses)
    if not all(each.is_rational_function(*each.free_symbols) for each in (difference, *sides.args)):  # pyright: ignore[reportAttributeAccessIssue]
        return None
    known = [*statement.domain]
    if hypotheses:
        known += [h.relation for h in statement.hypotheses if h.relation is not None]
    few = []
    for margin in filter(lambda each: not _has_unsigned_part(each, sides), margins(difference, known, statement)):
        if margin.parts is not None and is_shown(margin.parts[0], margin.parts[2], strict=strict):
            return {"kind": "positive", **margin.data()}
        if len(margin.chosen) <= _MOST_CHOSEN and not long:
            few.append(margin)
    return _by_squares_and_cases(few, strict=strict)


def _has_unsigned_part(margin: Margin, sides: sp.Tuple) -> bool:
    """Whether the sides, written in slacks, have a symbol that may be negative, even if it cancels in the margin.

    The re-checker reads the sides, and would reject a proof of their difference.
    """
    if all(symbol.is_nonnegative for symbol in sides.free_symbols):
        return False
    return not all(s.is_nonnegative for side in sides.args for s in margin.substituted(side).free_symbols)


def _by_squares_and_cases(few: Sequence[Margin], *, strict: bool) -> Proof | None:
    """Return a proof of one of the margins, by a square or by cases with squares; None if none is found."""
    for margin in few:
        if (square := _square(margin, strict=strict)) is not None:
            return {"kind": "squares", **margin.data(), "squares": [square]}
    # Some forms of proof need a homogeneous margin. After shifts by bounds other than 0, try the unshifted one too.
    few = [*few[:_MOST_SEARCHED], *(margin.unshifted for margin in few[:1] if any(margin.bounds.values()))]
    for depth in range(_MOST_BOUNDED + 1):
        work = Work()
        for margin in few:
            try:
                searched = _searched(margin, strict, work if depth else Work(), depth)
            except Spent:
                continue
            if searched is not None:
                return _stated(*searched)
    return None


def _of_numbers(relation: sp.core.relational.Relational, small: sp.Expr, large: sp.Expr) -> Proof | None:
    """Return the proof of an inequality between numbers, not all rational, by a ball around its margin, or None."""
    try:
        margin, bits = evaluate_rising(large - small, {}, sign=True)
    except UndefinedError:
        return None
    if not isinstance(margin, Enclosure) or not holds(relation, margin):
        return None
    return {**margin_proof(margin, bits), "kind": "constant"}


def _most_terms(expression: sp.Basic) -> int:
    """Return an upper bound on the number of terms of the expanded expression."""
    if expression.is_Add:
        return sum(map(_most_terms, expression.args))
    if expression.is_Mul:
        return prod(map(_most_terms, expression.args))
    if expression.is_Pow and expression.args[1].is_Integer:
        power = abs(int(expression.args[1]))  # pyright: ignore[reportArgumentType]
        return comb(_most_terms(expression.args[0]) + power - 1, power)
    return 1


def _by_logarithms(margin: sp.Expr, statement: Statement, *, strict: bool, hypotheses: bool) -> Proof | None:
    """Return a proof that bounds each logarithm by log u ≥ 0, for u ≥ 1, or by log u ≤ u − 1; None if not found.

    Each logarithm has to occur linearly, with a rational coefficient; the margin may contain none of the `BINDERS`.
    """
    if margin.has(*BINDERS):
        return None
    used = []
    for logarithm in sorted(margin.atoms(sp.log), key=text_of):
        argument, factor = logarithm.args[0], sp.diff(margin.subs(logarithm, _LOGARITHM), _LOGARITHM)
        if not factor.is_Rational or factor == 0:
            return None
        known = sp.Ge(argument, 1, evaluate=False) if factor > 0 else sp.Gt(argument, 0, evaluate=False)
        if (proof := in_slacks(known, statement, hypotheses=hypotheses)) is None or proof["kind"] == "constant":
            return None
        used.append({"of": to_data(argument), "proof": proof})
        margin = margin.subs(logarithm, 0 if factor > 0 else argument - 1)
    left = (sp.Gt if strict else sp.Ge)(margin, 0, evaluate=False)
    proof = None if margin.has(sp.log) else in_slacks(left, statement, hypotheses=hypotheses)
    if proof is None or proof["kind"] == "constant":
        return None
    return {"kind": "logarithms", "logarithms": used, "left": proof}


def _stated(margin: Margin, tree: Proof) -> Proof:
    """Return a proof of kind "cases", or "squares" for a tree of one leaf with squares and no multipliers."""
    if tree.get("squares") and not tree["multipliers"]:
        return {"kind": "squares", **margin.data(), "squares": tree["squares"]}
    return {"kind": "cases", **margin.data(), "cases": tree}


def _searched(margin: Margin, strict: bool, work: Work, depth: int) -> tuple[Margin, Proof] | None:
    """Return the margin with all bounds that are used, and a tree of cases; None if no tree is found.

    At most `depth` slacks are written in terms of their upper bounds.
    """
    orthant = _orthant(margin, strict, work)
    if orthant is not None and (tree := _leaf(margin, orthant) or orthant.tree()) is not None:
        return margin, tree
    if not depth:
        return None
    for slack, place, nought, inside in margin.bounded():
        work.spend(_BOUND)
        parts = [None if part is None else _searched(part, strict, work, depth - 1) for part in (inside, nought)]
        if parts[0] is None or (nought is not None and parts[1] is None):
            continue
        bounds = {name: bound for part in parts if part is not None for name, bound in part[0].bounds.items()}
        name = margin.name(slack)
        tree = {"slack": name, "relation": place, "then": parts[0][1]}
        if parts[1] is not None:
            tree = {"slack": name, "at": "0", "times": None, "below": parts[1][1], "above": tree}
        # If a parameter is shifted by its bound in one part only, it does not occur in the other part.
        return replace(margin, bounds=bounds), tree
    return None


def _orthant(margin: Margin, strict: bool, work: Work) -> Orthant | None:
    """Return a positive multiple of the margin's numerator with integer coefficients.

    Return None if the margin has no `parts`, or if its numerator has too many terms or variables, or an irrational
    coefficient.
    """
    if margin.parts is None:
        return None
    above, _, symbols = margin.parts
    terms = sp.Poly(above, *symbols).terms() if symbols else [((), above)]
    if len(symbols) > _MOST_VARIABLES or len(terms) > _MOST_TERMS or not all(c.is_Rational for _, c in terms):
        return None
    common = lcm(*(int(c.q) for _, c in terms))  # pyright: ignore[reportAttributeAccessIssue]
    signs = tuple(bool(symbol.is_positive) for symbol in symbols)
    names = tuple(margin.name(symbol) for symbol in symbols)
    return Orthant({powers: int(c * common) for powers, c in terms if c}, names, signs, strict, work)


def _leaf(margin: Margin, orthant: Orthant) -> Proof | None:
    """Return a proof of the sign without cases; None if none is found."""
    if not orthant.may_be_shown():
        return orthant.multiplied() if orthant.is_shown() else None
    zeros = orthant.zeros()
    if zeros is None:
        return None
    if (leaf := orthant.multiplied()) is not None:
        return leaf
    if margin.is_bounded:
        return None
    orthant.work.spend(_SQUARES)
    # Imported here because it loads NumPy, which most inequalities do not need.
    from verify.provers.sums_of_squares import squares_in

    if (squares := squares_in(orthant.terms, zeros)) is None:
        return None
    above, below, symbols = margin.parts  # type: ignore[misc]
    left, stated = above, []
    scale = sp.Poly(above, *symbols).LC() / orthant.terms[sp.Poly(above, *symbols).LM().exponents]
    for square in squares:
        factor = scale * _expression({powers: c * square.factor for powers, c in square.weight.items()}, symbols)
        root = _expression(square.root, symbols)
        left -= factor * root**2
        stated.append(_in_symbols(margin, factor / below, root))
    return {"multipliers": [], "squares": stated} if is_shown(left, symbols, strict=orthant.strict) else None


def _expression(terms: Mapping[Powers, Fraction], symbols: list[sp.Symbol]) -> sp.Expr:
    """Return a polynomial {powers: coefficient} in some symbols."""
    monomials = ((sp.Mul(*(s**k for s, k in zip(symbols, powers, strict=True))), c) for powers, c in terms.items())
    return sp.Add(*(sp.Rational(c.numerator, c.denominator) * monomial for monomial, c in monomials))


def _in_symbols(margin: Margin, factor: sp.Expr, root: sp.Expr) -> Proof:
    """Return a square as a certificate states it, in the statement's symbols."""
    parts = {"factor": factor, "root": root}
    return {name: to_data(sp.together(part.subs(margin.meaning)), written=False) for name, part in parts.items()}  # pyright: ignore[reportCallIssue]


def _square(margin: Margin, *, strict: bool) -> Proof | None:
    """Return a factor ≥ 0 and a root such that margin − factor · root² is shown ≥ 0, or > 0 if `strict`; or None."""
    if margin.parts is None or not margin.parts[2]:
        return None
    above, below, symbols = margin.parts
    polynomial = sp.Poly(above, *symbols)
    if not all(coefficient.is_Rational for coefficient in polynomial.coeffs()):
        return None
    for factor, root in _candidates(polynomial):
        left, divisor = sp.fraction(sp.together(above - factor * root**2))
        (top, below_factor), (_, below_root) = (sp.fraction(sp.together(part)) for part in (factor, root))
        # The divisors of the square have to be nonzero too, even if they cancel in the rest.
        if (
            is_shown(top, symbols, strict=False)
            and is_shown(left, symbols, strict=strict)
            and all(is_shown(part, symbols, strict=True) for part in (divisor, below_factor, below_root))
        ):
            return _in_symbols(margin, factor / below, root)
    return None


def _candidates(polynomial: sp.Poly) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """Yield factors and roots of squares that a polynomial may contain.

    The candidates are the product of the polynomial's square factors and, for each symbol, the square completed in it.
    """
    if len(polynomial.terms()) > _MOST_TERMS:
        return
    rest, factors = factored(polynomial.as_expr())
    root = sp.Integer(1)
    for factor, times in factors:
        root *= factor ** (times // 2)
        rest *= factor ** (times % 2)
    if root != 1:
        yield rest, root
    for symbol in polynomial.gens:
        one = sp.Poly(polynomial.as_expr(), symbol)
        linear, square = (one.coeff_monomial(symbol**k) for k in (1, 2))
        if square != 0 and linear != 0:
            yield square, symbol + linear / (2 * square)
