"""Proofs that two expressions are the same rational function, and that no divisor is 0."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from verify.errors import BeyondReachError, UndefinedError
from verify.formal.clauses import Clause
from verify.formal.expressions import Data, Need, NotSaidError, Slope, Terms, put
from verify.formal.slacks import Slacks
from verify.language.expressions import from_data, to_data
from verify.language.rational_functions import QuotientField
from verify.rechecker.nodes import Node
from verify.rechecker.reading import Rejected

_LONG = 200
"""Maximum number of operations of a rational function that is reduced; larger ones may take minutes.

The product of the function's integer exponents may be at most the fourth power of this number.
"""
_SAID: Mapping[str, str] = {"nonzero": "{} <> 0", "positive": "0 < {}", "nonnegative": "0 <= {}"}


def by_field(clause: Clause, proof: Mapping[str, Any]) -> None:
    """Write a proof of kind `identity`."""
    clause.begin()
    for i, entry in enumerate(proof["factors"]):
        factor = clause.text(entry["factor"])
        lines = keeps_sign(Slacks(clause), clause.node(entry["factor"]), "nonzero")
        clause.say(f"assert (F_{i} : {factor} <> 0).", "{", *(f"  {line}" for line in lines or ["nonzero."]), "}")
    for slope in clause.goal.slopes.values():
        if slope.order is None:
            _tends(clause, slope)
        else:
            _differentiated(clause, slope, slope.order)
    for need in clause.leaves():
        lines = keeps_sign(Slacks(clause), clause.node(need.of), need.sign)
        clause.show(lines or [f"{need.sign}."])
    clause.end()
    clause.say("equal.")


def _differentiated(clause: Clause, slope: Slope, order: int) -> None:
    """Write the proof that the body of a derivative has a value around the point, then that the derivative exists."""
    clause.say("eexists; split; [|].", "{")
    if slope.needs:
        needs = list(clause.apart(slope.needs))
        everywhere = _everywhere(clause, slope, needs)
        if everywhere is None:
            clause.say("apply and_then.", "{", *_at_the_point(clause, slope, needs), "near.", "}")
        else:
            clause.say("apply and_then; [apply filter_forall; intro around; apply proj1 with (B := True) |].", "{")
            for lines in everywhere:
                clause.show(lines)
            clause.say("flat; exact I.", "}")
        clause.say("intro L; pose proof (locally_singleton _ _ L) as N; cbv beta in N.")
        clause.say("repeat match goal with N : _ /\\ _ |- _ => destruct N end.")
    if order > 1:
        clause.say("lower_orders.", *["next_order; split; [exists_around |]."] * (order - 1), "last_order.", "}")
    else:
        clause.say("derive.", "}")


def in_factors(expression: sp.Expr) -> sp.Expr:
    """Return a rational expression as a product of powers of irreducible polynomials.

    Raises BeyondReachError for an expression that is not rational, is too long, or divides by 0.
    """
    degree = math.prod(abs(int(part.exp)) for part in expression.atoms(sp.Pow) if part.exp.is_Integer and part.exp != 0)
    if expression.count_ops() > _LONG or degree > _LONG**4:
        raise BeyondReachError(f"it has more than {_LONG} operations, or too high a degree, for lowest terms")
    field = QuotientField(sorted(expression.free_symbols, key=str))
    try:
        return field.in_factors(field.from_sympy(expression))
    except UndefinedError as error:
        raise BeyondReachError(str(error)) from error


def computed(expression: sp.Expr) -> Data:
    """Return the data of a computed expression, whose numbers may be longer than those an author may write."""
    return to_data(expression, written=False)  # pyright: ignore[reportReturnType]


def _tends(clause: Clause, slope: Slope) -> None:
    """Write the proof that a limit from above at 0 exists, for a body equal to a rational function continuous at 0.

    At points x > 0 near 0, each need of the body is shown in turn: by its sign, or as a power of x times a rational
    function that is not 0 at 0.
    """
    if clause.resolved(slope.point) != ["Integer", "0"]:
        raise NotSaidError("the proof of a limit at another point than 0 is not exported")
    if slope.symbol in clause.given.values:
        raise NotSaidError(f"the proof of a limit in {slope.symbol}, which is a parameter, is not exported")
    positive = Slacks(clause, signs={slope.symbol: "positive"}, texts={slope.symbol: "around"})
    written = Terms(positive.texts, inside="Statement.")
    order, rest, limit = _at_0(clause, slope, slope.body)
    if order < 0:
        raise NotSaidError("a limit that is infinite is not exported")
    body = written.term(computed(rest))
    body = f"around ^ {order} * ({body})" if order else body
    value = "0" if order else written.term(computed(limit))
    clause.say(f"exists ({value}); split; [|].", "{", "pose proof (from_above 0) as W.")
    apart = dict[str, str]()
    for need in clause.apart(slope.needs):
        lines = keeps_sign(positive, clause.node(need.of, [slope.symbol]), need.sign)
        if lines is None and need.sign != "nonzero":
            raise NotSaidError("a limit of a root or a logarithm whose sign is not found is not exported")
        if lines is None:
            order, rest, _ = _at_0(clause, slope, need.of)
            _factors_apart(clause, slope, rest, apart)
            power = f"around ^ {order}" if order >= 0 else f"/ around ^ {-order}"
            lines = [f"apply (nonzero_as _ ({power} * ({written.term(computed(rest))}))); [equal | nonzero]."]
        said = _SAID[need.sign].format(written.term(clause.resolved(need.of)))
        clause.say(*_also_above(said, ["above_by W.", *lines]))
    if slope.needs:
        clause.say("apply and_then; [above_by W; repeat split; assumption | intros _].")
    at_0 = "".join(f"assert ({said}) by ({shown}). " for said, shown in apart.items())
    clause.say(f"apply (tends _ (fun around => {body})).")
    clause.say("{ above_by W; equal. }", f"{{ {at_0}derive. }}", f"{{ {at_0}cbv beta; equal. }}", "}")


def _factors_apart(clause: Clause, slope: Slope, product: sp.Expr, apart: dict[str, str]) -> None:
    """Write the proof that the factors of a product, except divisors, are not 0 at points x > 0 near 0.

    `apart` maps the proposition that a factor is not 0 at 0 to its proof. New factors are added to it, and known ones
    are not proved again.
    """
    near, at_0 = ({**clause.texts, slope.symbol: text} for text in ("around", "0"))
    for factor, power in product.as_powers_dict().items():
        data = computed(factor)
        said = f"{Terms(at_0, inside='Statement.').term(data)} <> 0"
        if factor.is_number or int(power) < 0 or said in apart:
            continue
        start = _factored(factor.subs(_symbol(factor, slope), 0))
        apart[said] = f"apply (nonzero_as _ ({Terms(near).term(computed(start))})); [equal | nonzero]"
        near_0 = f"apply right_of, near_apart; [derive | cbv beta; {apart[said]}]."
        clause.say(*_also_above(f"{Terms(near, inside='Statement.').term(data)} <> 0", [near_0]))


def _also_above(said: str, lines: Sequence[str]) -> list[str]:
    """Return the proof that one more proposition holds at points x > 0 near 0."""
    block = [f"assert (V : at_right 0 (fun around => {said})).", "{", *(f"  {line}" for line in lines), "}"]
    return [*block, "apply (filter_and _ _ W) in V; clear W; rename V into W."]


def _at_0(clause: Clause, slope: Slope, data: Data) -> tuple[int, sp.Expr, sp.Expr]:
    """Return a rational expression's power of the limit's symbol, its other factors, and their value at 0."""
    expression = from_data(clause.resolved(data))
    own = _symbol(expression, slope)
    found = _factored(expression)
    order = int(found.as_powers_dict().get(own, 0))
    rest = found / own**order
    return order, rest, _factored(rest.subs(own, 0))


def _factored(expression: sp.Expr) -> sp.Expr:
    """Return `in_factors` of an expression in a limit. Raises NotSaidError in place of BeyondReachError."""
    try:
        return in_factors(expression)
    except BeyondReachError as error:
        raise NotSaidError(f"the proof of a limit is not exported: {error}") from error


def _symbol(expression: sp.Expr, slope: Slope) -> sp.Symbol:
    """Return the limit's symbol as it occurs in an expression."""
    symbols = expression.atoms(sp.Symbol)
    return next((symbol for symbol in symbols if symbol.name == slope.symbol), sp.Symbol(slope.symbol))


def _everywhere(clause: Clause, slope: Slope, needs: list[Need]) -> list[list[str]] | None:
    """Return the proofs of the needs of a body at every number; None if a proof is not found."""
    free = Slacks(clause, signs={slope.symbol: "real"}, texts={slope.symbol: "around"})
    found = [keeps_sign(free, clause.node(need.of, [slope.symbol]), need.sign) for need in needs]
    return [lines for lines in found if lines is not None] if None not in found else None


def _at_the_point(clause: Clause, slope: Slope, needs: list[Need]) -> list[str]:
    """Return the proof that a body has a value at the point."""
    written = list[str]()
    for i, need in enumerate(needs):
        of = put(clause.resolved(need.of), {slope.symbol: clause.resolved(slope.point)})
        said = _SAID[need.sign].format(clause.text(of))
        lines = keeps_sign(Slacks(clause), clause.node(of), need.sign) or [f"{need.sign}."]
        written += [f"assert (N_{i} : {said}).", "{", *(f"  {line}" for line in lines), "}"]
    return written


def keeps_sign(symbols: Slacks, node: Node, sign: str) -> list[str] | None:
    """Return a proof that a node has a sign, by slacks of bounds and at most one relation; None if none is found."""
    if node.head == "number":
        return [f"{sign}."]
    given = symbols.clause.given
    for shift in (None, *range(len(given.domain))):
        slacks, lines = symbols, list[str]()
        try:
            if shift is not None:
                slacks, lines = slacks.with_relation(shift)
            slacks, more = slacks.with_bounds(list(given.values))
            if not slacks.keeps_sign(node):
                continue
            return [*lines, *more, *slacks.leaf(sign, node)]
        except (Rejected, NotSaidError):
            continue
    return None
