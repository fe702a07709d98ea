"""The proof that a value is positive on a box: a ball shows it on the box, or on each part of a subdivision."""

from collections.abc import Mapping

from flint import ctx

from ..fields import Boxes, Ends, evaluate
from ..nodes import Name, Node
from ..reading import Data, Rejected, items, rational, shown, string
from .facts import Scope


class Box:
    """The value of a node on boxes; a symbol without ends in a box is between the numbers that facts give."""

    def __init__(self, scope: Scope, node: Node, bits: int) -> None:
        self.scope, self.node, self.bits = scope, node, bits
        self.known: dict[Name, Ends] = {}

    def _ends(self, symbol: Node, box: Mapping[Name, Ends]) -> Ends:
        if symbol.name in box:
            return box[symbol.name]
        if symbol.name not in self.known:
            self.known[symbol.name] = self.scope.field.ends(symbol)
        return self.known[symbol.name]

    def refuse_negative(self, box: Mapping[Name, Ends], cuts: Data, where: str) -> None:
        """Raise Rejected if the value is not shown to be > 0 on a box.

        The cuts are null, or a list: a symbol, a number between its ends, and the cuts of the parts below and above
        this number.
        """
        given = self.scope.given
        given.effort.spend(20)
        if cuts is None:
            with ctx.workprec(self.bits):
                field = Boxes(given.effort, self.bits, lambda symbol: self._ends(symbol, box))
                if not evaluate(given.terms, [self.node], field)[0] > 0:
                    raise Rejected(f"{where}: it is not shown to be positive")
            return
        name, at, below, above = items(cuts, where, 4)
        symbol = given.terms.symbol(string(name, f"{where}[0]"))
        (low, high), middle = self._ends(symbol, box), rational(at, f"{where}[1]")
        if not low < middle < high:
            raise Rejected(f"{where}[1]: {shown(at)} is not between the ends of {shown(name)}")
        self.refuse_negative({**box, symbol.name: (low, middle)}, below, f"{where}[2]")
        self.refuse_negative({**box, symbol.name: (middle, high)}, above, f"{where}[3]")
