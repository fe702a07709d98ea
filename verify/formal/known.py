"""Known facts of functions with their proofs, and bounds of exponentials, logarithms and roots of numbers."""

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from verify.formal.clauses import Clause
from verify.formal.expressions import Data, NotSaidError, parts_of, sides
from verify.rechecker.nodes import Node

_SIGNS: Mapping[str, str] = {"Lt": "Gt", "Gt": "Gt", "Le": "Ge", "Ge": "Ge", "Eq": "Eq"}
_ONE, _HALF = ["Integer", "1"], ["Rational", "1/2"]
_DOUBLED, _DIGITS = 40, 10**9


class Signed(NamedTuple):
    """An expression, and its sign: `Ge` for >= 0, `Gt` for > 0, `Eq` for 0."""

    of: Data
    sign: str


def signed(relation: Data) -> Signed:
    """Return a relation as the sign of the difference of its sides."""
    left, right = sides(relation)
    low, high = (right, left) if relation[0] in ("Gt", "Ge") else (left, right)
    return Signed(["Add", high, ["Mul", ["Integer", "-1"], low]], _SIGNS[str(relation[0])])


def negative(data: Data) -> Data:
    """Return the negative of an expression."""
    return ["Mul", ["Integer", "-1"], data]


def by_constant(clause: Clause, proof: Mapping[str, Any]) -> None:
    """Write a proof of kind `constant`."""
    del proof
    clause.begin()
    for need in clause.leaves():
        clause.show([f"{need.sign}."])
    relation = clause.relations[-1]
    clause.say("flat.", *bounds_of_numbers(clause, relation), "lra.")


def bounds_of_numbers(clause: Clause, data: Data) -> list[str]:
    """Return the lines that bound each exponential, logarithm and square root of a number in an expression."""
    lines = list[str]()
    for head, argument, value in _numbers_in(clause, data):
        text = clause.text(argument)
        if head == "exp":
            lines.append(_of_exponential("exp_bounds", text, value))
        elif head == "sqrt":
            low, high = (_text(x) for x in _around_root(value))
            lines.append(f"destruct (root_between ({text}) ({low}) ({high})) as [? ?]; [lra .. |].")
        else:
            lines += (_of_exponential(f"ln_{end} ({text})", _text(x), x) for end, x in _around_log(value))
    return list(dict.fromkeys(lines))


def _numbers_in(clause: Clause, data: Data) -> Iterator[tuple[str, Data, Fraction]]:
    for part in parts_of(clause.resolved(data)):
        root = part[0] == "Pow" and part[2] == _HALF
        if root or part[0] in ("exp", "log"):
            argument, head = part[1], "sqrt" if root else str(part[0])
            assert not isinstance(argument, str)
            node: Node = clause.node(argument)
            if node.head != "number" or (root and node.number < 0) or (head == "log" and node.number <= 0):
                raise NotSaidError(f"the {head} of an expression that is not a rational number")
            yield head, argument, node.number


def _of_exponential(tactic: str, text: str, x: Fraction) -> str:
    return f"{tactic} ({text}) ({x.numerator})%Z {x.denominator}%Z {_DOUBLED}%nat."


def bounds_of_logarithm(square: Fraction) -> str:
    """Return the tactic that bounds, in the goal, the logarithm of the positive number with a given square."""
    ends = " ".join(f"({_text(x)}) ({x.numerator})%Z {x.denominator}%Z" for _, x in _around_log(square))
    return f"ln_of_squared ({_text(square)}) {ends} {_DOUBLED}%nat"


def _text(x: Fraction) -> str:
    return f"{x.numerator} / {x.denominator}" if x >= 0 else f"- ({-x.numerator} / {x.denominator})"


def _around_log(value: Fraction) -> list[tuple[str, Fraction]]:
    """Return rational numbers a little below and above a logarithm, for the tactics `ln_above` and `ln_below`."""
    near = round((math.log(value.numerator) - math.log(value.denominator)) * _DIGITS)
    return [("above", Fraction(near - 2, _DIGITS)), ("below", Fraction(near + 2, _DIGITS))]


def _around_root(value: Fraction) -> tuple[Fraction, Fraction]:
    """Return two rational numbers close to the square root: one at most the root, the other above it."""
    near = math.isqrt(math.floor(value * _DIGITS**2))
    return Fraction(near, _DIGITS), Fraction(near + 1, _DIGITS)


def _exponential(u: Data) -> tuple[Signed, str]:
    """e^u >= 1 + u."""
    low = ["Add", ["Integer", "1"], u]
    return Signed(["Add", ["exp", u], negative(low)], "Ge"), "pose proof (exp_ineq1_le {0}); lra."


def _logarithm(u: Data) -> tuple[Signed, str]:
    """The logarithm: log u <= u - 1 for u > 0."""
    low = ["Add", ["Integer", "1"], ["log", u]]
    shown = "assert (P : 0 < {0}) by positive; pose proof (exp_ineq1_le (ln {0})) as Q; rewrite (exp_ln _ P) in Q; lra."
    return Signed(["Add", u, negative(low)], "Ge"), shown


def _circle(u: Data) -> tuple[Signed, str]:
    """(sin u)^2 + (cos u)^2 = 1."""
    squares = [["Pow", [head, u], ["Integer", "2"]] for head in ("sin", "cos")]
    shown = "pose proof (sin2_cos2 {0}) as Q; unfold Rsqr in Q; lra."
    return Signed(["Add", *squares, ["Integer", "-1"]], "Eq"), shown


def _product(u: Data, v: Data) -> tuple[Signed, str]:
    """The product: log(uv) = log u + log v for u, v > 0."""
    total = ["Add", ["log", ["Mul", u, v]], negative(["log", u]), negative(["log", v])]
    return Signed(total, "Eq"), "unfold Rdiv; rewrite ln_mult by positive; ring."


def _bounded(head: str, turn: int, u: Data) -> tuple[Signed, str]:
    """1 − t f(u) >= 0 for f the sine or the cosine, with t = 1 for the bound from above and t = −1 from below."""
    fact = Signed(["Add", ["Integer", "1"], ["Mul", ["Integer", str(-turn)], [head, u]]], "Ge")
    return fact, f"pose proof ({head.upper()}_bound {{0}}); lra."


def _of_a_sum(head: str, u: Data, v: Data) -> tuple[Signed, str]:
    """The sum: sin(u + v) = sin u cos v + cos u sin v, and cos(u + v) = cos u cos v − sin u sin v."""
    pairs = (("sin", "cos"), ("cos", "sin")) if head == "sin" else (("cos", "cos"), ("sin", "sin"))
    first, second = (["Mul", [f, u], [g, v]] for f, g in pairs)
    rest = [negative(first), negative(second) if head == "sin" else second]
    return Signed(["Add", [head, ["Add", u, v]], *rest], "Eq"), f"rewrite {head}_plus; ring."


def _floor(turn: int, u: Data) -> tuple[Signed, str]:
    """The floor: u − ⌊u⌋ >= 0 bounds it from above, and ⌊u⌋ + 1 − u > 0 from below."""
    above = ["Add", u, negative(["floor", u])]
    fact = Signed(above, "Ge") if turn > 0 else Signed(["Add", ["Integer", "1"], negative(above)], "Gt")
    return fact, "unfold Statement.whole_part; pose proof (base_Int_part {0}); lra."


def _exponential_from(u: Data, v: Data) -> tuple[Signed, str]:
    """e^u >= e^v (1 + u - v)."""
    tangent = ["Mul", ["exp", v], ["Add", _ONE, u, negative(v)]]
    return Signed(["Add", ["exp", u], negative(tangent)], "Ge"), "pose proof (exp_above_tangent {0}); lra."


def _logarithm_from(u: Data, v: Data) -> tuple[Signed, str]:
    """The logarithm from v: log u <= log v + (u - v)/v for u, v > 0."""
    quotient = ["Mul", ["Add", u, negative(v)], ["Pow", v, ["Integer", "-1"]]]
    total = ["Add", ["log", v], negative(["log", u]), quotient]
    return Signed(total, "Ge"), "pose proof (ln_below_tangent {0} ltac:(positive) ltac:(positive)); lra."


def _mean(*values: Data) -> tuple[Signed, str]:
    """Σ u_i >= n v for n values u_i >= 0 whose product is at least v^n."""
    v, *parts = values
    count = ["Integer", str(-len(parts))]
    return Signed(["Add", ["Mul", count, v], *parts], "Ge"), "by_mean {1} {2}."


def _arctangent(turn: int, u: Data) -> tuple[Signed, str]:
    """π/2 - t atan u > 0, with t = 1 for the bound from above and t = -1 from below."""
    half, value = ["Mul", ["Rational", "1/2"], ["pi"]], ["Mul", ["Integer", str(-turn)], ["atan", u]]
    return Signed(["Add", half, value], "Gt"), "pose proof (atan_bound {0}); lra."


_ENDS: Mapping[str, int] = {"above": 1, "below": -1}
KNOWN: Mapping[str, Callable[..., tuple[Signed, str]]] = {
    "exp": _exponential,
    "log": _logarithm,
    "circle": _circle,
    "product": _product,
    **{f"{head}_sum": partial(_of_a_sum, head) for head in ("sin", "cos")},
    **{f"{head}_{end}": partial(_bounded, head, turn) for head in ("sin", "cos") for end, turn in _ENDS.items()},
    **{f"floor_{end}": partial(_floor, turn) for end, turn in _ENDS.items()},
    **{f"atan_{end}": partial(_arctangent, turn) for end, turn in _ENDS.items()},
    "exp_from": _exponential_from,
    "log_from": _logarithm_from,
    "mean": _mean,
}
"""The known facts, by name, with their proofs: {0} stands for the arguments, {1} for the first, {2} for the rest."""
