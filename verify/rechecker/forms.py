"""The forms of expressions in a file: the number, kinds and places of arguments, and the assumptions of symbols."""

from collections.abc import Collection, Sequence

from .nodes import ONE_ARGUMENT, SERIES, Name, Node, order
from .reading import Effort, Rejected, Unknown

ASSUMPTIONS = (
    *("integer", "even", "odd", "rational", "positive", "negative", "nonnegative", "nonpositive", "nonzero", "real"),
)
REAL = frozenset({"real"})
"""The assumptions that a symbol without a domain may have, such as a bound one."""
INTEGRAL = REAL | {"integer", "rational"}
POSITIVE = REAL | {"positive", "nonnegative", "nonzero"}
NATURAL = INTEGRAL | {"nonnegative"}
_ON_A_SIDE = POSITIVE | {"negative", "nonpositive"}

RELATIONS = ("Eq", "Lt", "Le", "Gt", "Ge")
MOST_NODES = 300_000
ARITIES = (
    dict.fromkeys(("Add", "Mul", "Case", "Max", "Min"), (2, MOST_NODES))
    | dict.fromkeys(("Pow", "Derivative", "binomial", *SERIES, *RELATIONS), (2, 2))
    | dict.fromkeys(("exp", "log", *ONE_ARGUMENT), (1, 1))
    | {"Subs": (3, 3), "Limit": (4, 4), "Tuple": (1, MOST_NODES), "Infinity": (0, 0), "pi": (0, 0)}
    | {"Iterate": (5, 5), "Piecewise": (3, MOST_NODES)}
)
"""The minimum and the maximum number of arguments of each head."""
_TUPLES = {"Derivative": (1,), "Subs": (1, 2), "Sum": (1,), "Product": (1,), "Iterate": (2, 3, 4)}
"""The places of lists among a head's arguments."""


def refuse_misplaced(kinds: Sequence[str], head: str, where: str) -> None:
    """Raise Rejected if a head has an argument that does not belong in its place; `kinds` are the arguments' heads."""
    if head == "Piecewise" and len(kinds) % 2 == 0:
        raise Rejected(f"{where}: a Piecewise of {len(kinds)} parts has no last piece")
    for place, kind in enumerate(kinds):
        if not _belongs(kind, head, place, len(kinds)):
            raise Rejected(f"{where}: {kind} does not belong inside {head}")


def _belongs(kind: str, head: str, place: int, count: int) -> bool:
    """Whether an argument with head `kind` belongs in a place of `head`; few take lists, relations or infinity."""
    condition = head == "Piecewise" and place % 2 == 1 and place < count - 1
    if kind in RELATIONS or condition:
        return condition and kind in RELATIONS
    if kind == "Tuple" or place in _TUPLES.get(head, ()):
        return kind == "Tuple" and place in _TUPLES.get(head, ())
    return kind != "Infinity" or (head == "Limit" and place == 2)


def scope_parts(head: str, args: Sequence[Node], where: str) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Return the parts of a sum, a product, a recursion or a Piecewise in one tuple, and the symbols that it binds.

    Raises Unknown for another form.
    """
    if head == "Piecewise":
        return tuple(args), ()
    if head == "Iterate":
        place, count, bound, start, step = args
        symbols, size = bound.args, len(start.args)
        good = len(symbols) - 1 == size == len(step.args) and place.head == "number" and place.number in range(size)
        parts = (place, count, *symbols, *start.args, *step.args)
    else:
        terms, limits = args
        good, parts, symbols = len(limits.args) == 3, (terms, *limits.args), limits.args[:1]
    if not good or any(symbol.head != "symbol" for symbol in symbols) or len(set(symbols)) < len(symbols):
        raise Unknown(f"{where}: this {head} is outside what this program checks")
    return parts, symbols


def may_be_bound(head: str, assumed: Collection[str]) -> Collection[str]:
    """Return the assumptions that a bound symbol may have; for a derivative, they must hold on both sides of a point.

    The symbol of a sum or a product may be an integer, and a recursion's counter an integer ≥ 0.
    """
    if head in ("Sum", "Product", "Iterate"):
        return NATURAL if head == "Iterate" else INTEGRAL
    if head != "Derivative":
        return REAL
    return _ON_A_SIDE if "positive" in assumed or "negative" in assumed else REAL | {"nonzero"}


def is_integral(effort: Effort, node: Node, integers: Collection[Name]) -> bool:
    """Whether a node is a polynomial with integer coefficients in symbols named in `integers`."""
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
    """Whether a node is built of positive numbers, symbols in `positives` and exp, by sums, products and powers."""
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
