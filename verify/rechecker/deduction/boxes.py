"""A value on a box: it is positive in a ball on each part, or each half, and so on."""

from collections.abc import Mapping
from fractions import Fraction

from flint import ctx

from ..fields import Boxes, Ends, evaluate
from ..nodes import Name, Node
from ..reading import Data, Rejected, items, rational, shown, string
from .facts import Scope


def positive_on(scope: Scope, node: Node, box: Mapping[Name, Ends], cuts: Data, bits: int, where: str) -> None:
    """See that a value is > 0 on a box, whose further symbols are between numbers that facts give.

    The cuts are null, or a symbol, a number between its ends, and the cuts of the parts below and above that number.
    """
    if cuts is None:
        with ctx.workprec(bits):
            field = Boxes(scope.given.effort, bits, lambda symbol: _ends(scope, symbol, box))
            if not evaluate(scope.given.terms, [node], field)[0] > 0:
                raise Rejected(f"{where}: it is not shown to be positive")
        return
    name, at, below, above = items(cuts, where, 4)
    symbol = scope.given.terms.symbol(string(name, f"{where}[0]"))
    (low, high), middle = _ends(scope, symbol, box), rational(at, f"{where}[1]")
    if not low < middle < high:
        raise Rejected(f"{where}[1]: {shown(at)} is not between the ends of {shown(name)}")
    scope.given.effort.spend(20)
    positive_on(scope, node, {**box, symbol.name: (low, middle)}, below, bits, f"{where}[2]")
    positive_on(scope, node, {**box, symbol.name: (middle, high)}, above, bits, f"{where}[3]")


def _ends(scope: Scope, symbol: Node, box: Mapping[Name, Ends]) -> tuple[Fraction, Fraction]:
    return box[symbol.name] if symbol.name in box else scope.field.ends(symbol)
