"""What symbols may assume that have no declared domain, and what shows that their values are so."""

from collections.abc import Collection

from .nodes import Name, Node, order
from .reading import Effort

ASSUMPTIONS = (
    *("integer", "even", "odd", "rational", "positive", "negative", "nonnegative", "nonpositive", "nonzero", "real"),
)
REAL = frozenset({"real"})
"""What a symbol may assume that has no domain, such as a bound one."""
INTEGRAL = REAL | {"integer", "rational"}
POSITIVE = REAL | {"positive", "nonnegative", "nonzero"}
NATURAL = INTEGRAL | {"nonnegative"}
_ON_A_SIDE = POSITIVE | {"negative", "nonpositive"}


def may_be_bound(head: str, assumed: Collection[str]) -> Collection[str]:
    """Return what a bound symbol may assume: real; where is differentiated, both sides of a point have to be so.

    That of a sum or a product is an integer, and a recursion's counter one that is not negative.
    """
    if head in ("Sum", "Product", "Iterate"):
        return NATURAL if head == "Iterate" else INTEGRAL
    if head != "Derivative":
        return REAL
    return _ON_A_SIDE if "positive" in assumed or "negative" in assumed else REAL | {"nonzero"}


def is_integral(effort: Effort, node: Node, integers: Collection[Name]) -> bool:
    """Whether a node is a polynomial with integer coefficients in symbols of some names."""
    for part in order(effort, [node]):
        match part.head:
            case "number":
                good = part.number.denominator == 1
            case "symbol":
                good = part.name in integers
            case "Pow":
                power = part.args[1]
                good = power.head == "number" and power.number > 0
            case _:
                good = part.head in ("Add", "Mul")
        if not good:
            return False
    return True


def is_positive(effort: Effort, node: Node, positives: Collection[Name]) -> bool:
    """Whether a node is made of positive numbers, symbols of some names and exp, by sums, products and powers."""
    waiting, seen = [node], set[Node]()
    while waiting:
        if (part := waiting.pop()) in seen:
            continue
        seen.add(part)
        effort.spend(1 + len(part.args))
        match part.head:
            case "number" if part.number > 0:
                continue
            case "symbol" if part.name in positives:
                continue
            case "Add" | "Mul":
                waiting.extend(part.args)
            case "Pow":
                waiting.append(part.args[0])
            case "exp":
                continue
            case _:
                return False
    return True
