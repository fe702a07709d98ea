"""Expressions of a statement as a shared graph: reading from data, substitution and differentiation.

Equal expressions are one node. Sums collect equal terms, products their numerical factors, and numbers are folded
exactly. A part that cancels, as x does in x − x, is dropped only if it has a value for all values of the symbols; else
it is kept, times 0. The same holds for the argument of a derivative, and for the point of a substitution. So a node has
a value only where each part of the original expression has one: no divisor is 0, and arguments of logarithms and roots
are in their domains. A branch of a Case or a Piecewise that is not chosen needs no value. No function here recurses on
the depth of a graph, which definitions may make deep.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from operator import attrgetter
from typing import TypeAlias

from .forms import ARITIES, ASSUMPTIONS, MOST_NODES, RELATIONS, may_be_bound, refuse_misplaced, scope_parts
from .nodes import (
    BINDERS,
    FUNCTIONS,
    LARGEST_POWER,
    SCOPES,
    TOTAL,
    Name,
    Node,
    Value,
    bound_in,
    folded,
    free_in,
    order,
    with_parts,
)
from .reading import Data, Effort, Rejected, TooLarge, Unknown, bits_of, items, line, rational, shown, string, work
from .registry import Registry, computed

MOST_NAMES, _MOST_BITS, _MOST_TERMS, _MOST_ORDER, _NODE = 1000, 2**18, 100_000, 20, 400
_MOST_ARGUMENTS = 10 * MOST_NODES
_BINDERS = ("Derivative", *BINDERS)

_serial = attrgetter("serial")
Names: TypeAlias = Mapping[Name, Node]
"""The expressions that replace names."""
MayAssume: TypeAlias = Callable[[str, tuple[str, ...]], bool]


class Terms:
    """The graph of one file; `assumptions` has the assumptions in each symbol's data.

    `abbreviations` are names that will be replaced by expressions, which may have no value. `may_assume` tells whether
    a symbol's assumptions follow from its domain, `is_introduced` whether the statement introduces a name.
    """

    def __init__(
        self,
        effort: Effort,
        registry: Registry,
        abbreviations: Iterable[Name | None],
        may_assume: MayAssume,
        is_introduced: Callable[[Name], bool],
    ) -> None:
        self.effort, self.registry, self.is_introduced = effort, registry, is_introduced
        self.abbreviations, self.may_assume = frozenset(abbreviations), may_assume
        self.assumptions: dict[Name, tuple[str, ...]] = {}
        self._arguments = 0
        self._nodes: dict[tuple[str, tuple[Node, ...], Value], Node] = {}
        self._masks: dict[Name, int] = {}
        self._slopes: dict[Name, dict[Node, Node]] = {}
        self.zero, self.one, self.minus_one = self.number(0), self.number(1), self.number(-1)

    def mask(self, names: Iterable[Name]) -> int:
        """Return the mask of some symbols."""
        names = set(names)
        self.effort.spend(0.2 * len(names))
        return sum(self._masks.get(name, 0) for name in names)

    def names(self, mask: int) -> list[Name]:
        """Return the symbols of a mask."""
        named = list(self._masks)
        self.effort.spend(0.01 * len(named) + 0.3 * mask.bit_count())
        found: list[Name] = []
        while mask:
            found.append(named[(mask & -mask).bit_length() - 1])
            mask &= mask - 1
        return found

    def number(self, value: Fraction | int) -> Node:
        """Return the node of a number. Raises TooLarge if it has too many digits."""
        return self._node("number", (), self._bounded(Fraction(value)))

    @staticmethod
    def _bounded(value: Fraction) -> Fraction:
        if bits_of(value) > _MOST_BITS:
            raise TooLarge("bits of a number", _MOST_BITS)
        return value

    def _sum(self, one: Fraction, other: Fraction) -> Fraction:
        self.effort.spend(work(one, other))
        return self._bounded(one + other)

    def _times(self, one: Fraction, other: Fraction) -> Fraction:
        self.effort.spend(work(one, other))
        return self._bounded(one * other)

    def symbol(self, name: Name) -> Node:
        """Return the node of a symbol. Raises TooLarge if there are too many symbols."""
        if name not in self._masks:
            if len(self._masks) >= MOST_NAMES:
                raise TooLarge("symbols", MOST_NAMES)
            self._masks[name] = 1 << len(self._masks)
        return self._node("symbol", (), name)

    def _node(self, head: str, args: tuple[Node, ...], value: Value = None) -> Node:
        key = (head, args, value)
        node = self._nodes.get(key)
        if node is None:
            self.effort.spend(3 + 0.3 * len(args))
            self.effort.make(_NODE + 16 * len(args) + (bits_of(value) // 4 if isinstance(value, Fraction) else 0))
            self._arguments += len(args)
            if len(self._nodes) >= MOST_NODES or self._arguments > _MOST_ARGUMENTS:
                raise TooLarge("parts of expressions, or ten times as many arguments", MOST_NODES)
            free = self._masks[value] if head == "symbol" else 0  # pyright: ignore[reportArgumentType]
            for argument in args:
                free |= argument.free
            total = self._total(head, args, value)
            node = self._nodes[key] = Node(head, args, value, free, len(self._nodes), total)
            if head in BINDERS:
                inside, symbols, outside = bound_in(node)
                node.free = free_in(inside) & ~free_in(symbols) | free_in(outside)
        return node

    def _total(self, head: str, args: tuple[Node, ...], value: Value) -> bool:
        if head == "symbol":
            return value not in self.abbreviations
        if head not in ("number", "Add", "Mul", "Pow", "exp", "log", *TOTAL) or not all(a.total for a in args):
            return False
        if head == "Pow" and args[1].head == "number" and args[1].number >= 0 and args[1].number.denominator == 1:
            return True
        return head not in ("Pow", "log") or (args[0].head == "number" and args[0].number > 0)

    def add(self, terms: Iterable[Node]) -> Node:
        """Return a sum with equal terms collected; terms that cancel are kept, times 0, if they may have no value."""
        total, parts, terms = Fraction(0), dict[Node, Fraction](), list(terms)
        if sum(len(t.args) for t in terms) > _MOST_TERMS:
            raise TooLarge("terms of a sum", _MOST_TERMS)
        for term in chain.from_iterable(t.args if t.head == "Add" else (t,) for t in terms):
            self.effort.spend(1)
            if term.head == "number":
                total = self._sum(total, term.number)
                continue
            coefficient, rest = Fraction(1), term
            if term.head == "Mul" and term.args[0].head == "number":
                coefficient, rest = term.args[0].number, self.joined("Mul", term.args[1:])
            parts[rest] = self._sum(parts[rest], coefficient) if rest in parts else coefficient
        collected = [self.mul((self.number(c), rest)) for rest, c in parts.items() if c or not rest.total]
        if total or not collected:
            collected.append(self.number(total))
        return self.joined("Add", tuple(sorted(collected, key=_serial)))

    def mul(self, factors: Iterable[Node]) -> Node:
        """Return a product, numerical factor first; inner products are kept.

        In a product with the factor 0, factors that may have no value are kept too.
        """
        coefficient, rest = Fraction(1), list[Node]()
        for factor in factors:
            self.effort.spend(1)
            if factor.head == "number":
                coefficient = self._times(coefficient, factor.number)
            elif factor.head == "Mul" and factor.args[0].head == "number":
                coefficient = self._times(coefficient, factor.args[0].number)
                rest.append(self.joined("Mul", factor.args[1:]))
            else:
                rest.append(factor)
        if not coefficient:
            rest = [factor for factor in rest if not factor.total]
        elif (roots := self._roots_collected(rest)) is not None:
            return self.mul((self.number(coefficient), roots))
        if not rest:
            return self.number(coefficient)
        return self.joined(
            "Mul", (*(() if coefficient == 1 else (self.number(coefficient),)), *sorted(rest, key=_serial))
        )

    def joined(self, head: str, args: tuple[Node, ...]) -> Node:
        """Return a sum or product of collected arguments, at least one, in order and none of the same head."""
        return args[0] if len(args) == 1 else self._node(head, args)

    def _roots_collected(self, factors: Sequence[Node]) -> Node | None:
        """Return a product with √u·√u as u + 0·√u, and the same for other roots; None if no two roots combine."""
        groups: dict[Node, list[Node]] = {}
        for factor in factors:
            if factor.head == "Pow" and factor.args[1].head == "number" and factor.args[1].number.denominator > 1:
                base, exponent = factor.args
                groups.setdefault(exponent if base.head == "number" else base, []).append(factor)
        if not any(len(group) > 1 for group in groups.values()):
            return None
        together = {f for group in groups.values() if len(group) > 1 for f in group}
        alone = [f for f in factors if f not in together]
        lost: list[Node] = []
        for key, group in groups.items():
            if len(group) > 1:
                if key.head == "number" and group[0].args[1] is key:
                    alone.append(self.power(self.mul(f.args[0] for f in group), key))
                else:
                    alone.append(self.power(key, self.add(f.args[1] for f in group)))
                lost += [f for f in group if not f.total]
        return self.add((self.mul(alone), *(self.mul((self.zero, f)) for f in dict.fromkeys(lost))))

    def negative(self, node: Node) -> Node:
        """Return −node."""
        if node.head == "Add":
            return self.add(self.mul((self.minus_one, term)) for term in node.args)
        return self.mul((self.minus_one, node))

    def minus(self, left: Node, right: Node) -> Node:
        """Return left − right."""
        return self.add((left, self.negative(right)))

    def power(self, base: Node, exponent: Node | int) -> Node:
        """Return a power; a power of a number is a number if `folded` returns one."""
        exponent = self.number(exponent) if isinstance(exponent, int) else exponent
        if exponent.head == "number":
            power = exponent.number
            if power == 0:
                return self.add((self.one, self.mul((self.zero, base))))
            if power == 1:
                return base
            # A division by 0 is kept: a piece that is not chosen may contain one.
            known = base.head == "number" and (base.number or power > 0)
            if known and (small := folded(base.number, power)) is not None:
                return self.number(small)
            if power.denominator == 1 and base.head == "Pow" and base.args[1].head == "number":
                inner = base.args[1].number
                if inner.denominator > 1:
                    # √u² is u where √u has a value.
                    return self._where(self.power(base.args[0], self.number(self._times(inner, power))), base)
        return self._node("Pow", (base, exponent))

    def exp(self, argument: Node) -> Node:
        """Return exp; exp of an integer multiple is a power, so that exp(−C) and exp(−2C) share a computation."""
        if argument is self.zero:
            return self.one
        if argument.head == "log":
            return self._where(argument.args[0], argument)
        if argument.head == "Mul" and len(argument.args) == 2 and argument.args[1].head == "log":
            return self._where(self.power(argument.args[1].args[0], argument.args[0]), argument.args[1])
        if argument.head == "Mul" and argument.args[0].head == "number":
            times = argument.args[0].number
            if times.denominator == 1 and 2 <= abs(times) <= LARGEST_POWER:
                unit = self.mul((self.number(1 if times > 0 else -1), *argument.args[1:]))
                return self.power(self._node("exp", (unit,)), int(abs(times)))
        return self._node("exp", (argument,))

    def log(self, argument: Node) -> Node:
        """Return the logarithm."""
        if argument.head == "exp":
            return self._where(argument.args[0], argument)
        return self.zero if argument is self.one else self._node("log", (argument,))

    def _where(self, value: Node, part: Node) -> Node:
        """Return an expression that is `value` where `part` has a value, and has none elsewhere."""
        return value if part.total else self.add((value, self.mul((self.zero, part))))

    def build(self, head: str, args: Sequence[Node]) -> Node:
        """Return a node of a head with arguments. Raises Rejected or Undefined if it has no value at given numbers."""
        match head:
            case "Add":
                return self.add(args)
            case "Mul":
                return self.mul(args)
            case "Pow":
                return self.power(*args)
            case "exp":
                return self.exp(*args)
            case "log":
                return self.log(*args)
            case _:
                primitive = self.registry.primitives.get(head)
                if primitive is not None and primitive.value and all(a.head == "number" for a in args):
                    return self.number(computed(self.effort, primitive, tuple(a.number for a in args))[0])
                return self._node(head, tuple(args), primitive)

    def expression(self, data: Data, where: str) -> Node:
        """Return the node of an expression's data. Raises Rejected for other data, Unknown for unknown heads."""
        node = self._read(data, where)
        if node.head in (*RELATIONS, "Tuple", "Infinity"):
            raise Rejected(f"{where}: {node.head} is no expression")
        return node

    def relation(self, data: Data, where: str) -> Node:
        """Return the node of a relation's data. Raises Rejected and Unknown like `expression`."""
        node = self._read(data, where)
        if node.head not in RELATIONS:
            raise Rejected(f"{where}: {shown(node.head)} is not a relation")
        return node

    def _read(self, data: Data, where: str) -> Node:
        if not (type(data) is list and data and type(head := data[0]) is str):
            raise Rejected(f"{where}: {shown(data)} is not an expression")
        rest = data[1:]
        if head == "Symbol":
            return self._read_symbol(rest, where)
        if head in ("Integer", "Rational"):
            (text,) = items(rest, where, 1)
            value = rational(text, where)
            if (value.denominator == 1) != (head == "Integer"):
                raise Rejected(f"{where}: {shown(text)} is no {head}")
            return self.number(value)
        if head == "Primitive":
            return self._read_primitive(rest, where)
        least, most = ARITIES.get(head, (1, 0))
        if least > most:
            raise Unknown(f"{where}: {shown(head)} is outside what this program checks")
        if not least <= len(rest) <= most:
            raise Rejected(f"{where}: {head} has {len(rest)} arguments")
        args = [self._read(argument, where) for argument in rest]
        return self._checked(head, args, where)

    def _read_primitive(self, rest: list[Data], where: str) -> Node:
        name, arguments = self.registry.primitive_of(rest, where)
        return self.build(name, [self.expression(argument, where) for argument in arguments])

    def _read_symbol(self, rest: list[Data], where: str) -> Node:
        if not rest or len(rest) > 1 + len(ASSUMPTIONS) or not (name := line(rest[0], where)):
            raise Rejected(f"{where}: a symbol without a name, or with assumptions that are repeated")
        assumed = tuple(string(a, where, ASSUMPTIONS) for a in rest[1:])
        if self.assumptions.setdefault(name, assumed) != assumed:
            raise Rejected(f"{where}: two symbols {shown(name)} with different assumptions")
        if not self.may_assume(name, assumed):
            raise Rejected(f"{where}: the symbol {shown(name)} assumes more than the parameter's domain says")
        return self.symbol(name)

    def _checked(self, head: str, args: list[Node], where: str) -> Node:
        inner = [a.head for a in args]
        refuse_misplaced(inner, head, where)
        if head in ("Add", "Mul", "Pow", "exp", "log", *FUNCTIONS):
            return self.build(head, args)
        if head in SCOPES:
            return self._scope(head, args, where)
        match head:
            case "Derivative":
                good = [a.head for a in args[1].args] == ["symbol", "number"]
                good = good and args[1].args[1].number in range(1, _MOST_ORDER + 1)
            case "Subs":
                good = len(args[1].args) == len(args[2].args) == 1
                good = good and args[1].args[0].head == "symbol"
            case "Limit":
                good = inner[1] == inner[3] == "symbol" and args[3].name in ("+", "-", "+-")
                good = good and inner[2] != "Tuple" and not args[2].free & args[1].free
                args = args[:3]
            case "Case":
                good = inner[0] == "symbol"
            case _:
                good = True
        if not good:
            raise Unknown(f"{where}: this {head} is outside what this program checks")
        if head in _BINDERS:
            bound = args[1].args[0] if inner[1] == "Tuple" else args[1]
            self.refuse_beyond(bound, may_be_bound(head, self.assumptions[bound.name]), where)
        return self._node(head, tuple(args))

    def _scope(self, head: str, args: list[Node], where: str) -> Node:
        """Return a sum, a product, a recursion or a Piecewise. Raises Unknown for another form."""
        parts, symbols = scope_parts(head, args, where)
        for place, symbol in enumerate(symbols):
            if symbol.name in self.abbreviations or self.is_introduced(symbol.name):
                raise Rejected(f"{where}: {shown(symbol.name)} is bound there, and introduced by the statement")
            self.refuse_beyond(symbol, may_be_bound(head if place == 0 else "Subs", ()), where)
        return self._node(head, parts)

    def refuse_beyond(self, symbol: Node, allowed: Collection[str], where: str) -> None:
        """Raise Rejected for a symbol that assumes more than is allowed."""
        for assumed in self.assumptions[symbol.name]:
            if assumed not in allowed:
                raise Rejected(
                    f"{where}: the symbol {shown(symbol.name)} is assumed {assumed}, which its domain does not imply"
                )

    def substitute(self, node: Node, values: Names) -> Node:
        """Return the node with symbols replaced, all at once. Raises Rejected if a bound name would be captured."""
        mask = self.mask(values)
        if not node.free & mask:
            return node
        done: dict[Node, Node] = {}
        parts = order(self.effort, [node], lambda n: not n.free & mask or n.head in BINDERS)
        for part in parts:
            if not part.free & mask:
                done[part] = part
            elif part.head == "symbol":
                done[part] = values[part.name]
            elif part.head in BINDERS:
                done[part] = self._substituted_inside(part, values)
            else:
                if part.head == "Derivative" and (clash := self.names(part.args[1].free & self._touched(part, values))):
                    raise Rejected(f"the bound symbol {shown(clash[0])} is used with another meaning")
                done[part] = self.build(part.head, [done.get(a, a) for a in part.args])
        return done[node]

    def _touched(self, part: Node, values: Names) -> int:
        """Return the mask of the names that are replaced in a part, and of the names in their replacements."""
        mask = self.mask(values)
        for name in self.names(part.free & mask):
            mask |= values[name].free
        return mask

    def _substituted_inside(self, part: Node, values: Names) -> Node:
        """Return a node that binds a name with other names replaced; the bound name is kept inside."""
        inside, symbols, outside = bound_in(part)
        bound = free_in(symbols)
        self.effort.spend(3 * len(values))
        others = {name: value for name, value in values.items() if not self.mask([name]) & bound}
        for name in self.names(free_in(inside) & self.mask(others)):
            if clash := self.names(others[name].free & bound):
                raise Rejected(f"the bound symbol {shown(clash[0])} is used with another meaning")
        replaced = [self.substitute(each, others) for each in inside]
        return self.build(part.head, with_parts(part, replaced, [self.substitute(each, values) for each in outside]))

    def carried_out(self, node: Node) -> Node:
        """Return the node with its derivatives and substitutions carried out; limits are kept."""
        done: dict[Node, Node] = {}
        for part in order(self.effort, [node]):
            args = [done[a] for a in part.args]
            if part.head in ("Derivative", "Subs") and any(p.head == "Limit" for p in order(self.effort, args[:1])):
                raise Unknown(f"a Limit inside a {part.head} is outside what this program checks")
            if part.head == "Derivative":
                symbol, times = args[1].args
                value = args[0]
                for _ in range(int(times.number)):
                    value = self.slope(value, symbol.name)
                sides = self._both_sides(args[0], symbol)
                value = self.add((value, *(self.mul((self.zero, needed)) for needed in (args[0], *sides))))
            elif part.head == "Subs":
                point = args[2].args[0]
                value = self.substitute(args[0], {args[1].args[0].name: point})
                value = self.add((value, self.mul((self.zero, point))))
            else:
                value = self.build(part.head, args) if args != list(part.args) else part
            done[part] = value
        return done[node]

    def _both_sides(self, node: Node, symbol: Node) -> Iterator[Node]:
        """Yield log u for each non-integer power u^r with `symbol` in u: a two-sided derivative needs u > 0."""
        for part in order(self.effort, [node]):
            if part.head == "Pow" and part.args[0].free & symbol.free:
                exponent = part.args[1]
                if exponent.head != "number" or exponent.number.denominator > 1:
                    yield self.log(part.args[0])

    def slope(self, node: Node, name: Name) -> Node:
        """Return the derivative in a symbol; each node is differentiated once. Raises Rejected for a Limit."""
        mask, done = self.mask([name]), self._slopes.setdefault(name, {})
        for part in order(self.effort, [node], lambda n: n in done or not n.free & mask):
            if part not in done:
                done[part] = self._slope(part, done) if part.free & mask else self.zero
        return done[node]

    def _slope(self, node: Node, done: Mapping[Node, Node]) -> Node:
        args = node.args
        match node.head:
            case "symbol":
                return self.one
            case "Add":
                return self.add(done[a] for a in args)
            case "Mul":
                self.effort.spend(len(args) ** 2)
                moving = [i for i, a in enumerate(args) if done[a] is not self.zero]
                return self.add(self.mul((*args[:i], done[args[i]], *args[i + 1 :])) for i in moving)
            case "Pow":
                base, exponent = args
                terms: list[Node] = []
                if done[base] is not self.zero:
                    lowered = self.power(base, self.minus(exponent, self.one))
                    terms.append(self.mul((exponent, lowered, done[base])))
                if done[exponent] is not self.zero:
                    terms.append(self.mul((node, self.log(base), done[exponent])))
                return self.add(terms)
            case "exp":
                return self.mul((node, done[args[0]]))
            case "log":
                return self.mul((done[args[0]], self.power(args[0], -1)))
            case "sin" | "cos" | "tan" | "atan" | "sinh" | "cosh" | "tanh":
                return self.mul((self._slope_of(node), done[args[0]]))
            case _:
                raise Rejected(f"{node.head} cannot be differentiated here")

    def _slope_of(self, node: Node) -> Node:
        """Return the derivative of a smooth function in its argument."""
        argument, square = node.args[0], self.power(node, 2)
        match node.head:
            case "sin" | "sinh" | "cosh":
                return self._node({"sin": "cos", "sinh": "cosh", "cosh": "sinh"}[node.head], (argument,))
            case "cos":
                return self.negative(self._node("sin", (argument,)))
            case "atan":
                return self.power(self.add((self.one, self.power(argument, 2))), -1)
            case _:
                return self.add((self.one, square if node.head == "tan" else self.negative(square)))
