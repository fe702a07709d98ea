# ruff: noqa: D102 -- the methods of a field are documented once, in `Field`
"""Functions, sums, products and recursions as quotients of polynomials, with atoms for values that are no quotients.

A sum up to L + c, for an integer c, is an atom, the sum up to L, plus c terms; products, factorials and the states of a
recursion are similar. An expression that may have no value is refused: each term of a sum is computed at a new symbol
between the ends. A recursion's step must have a value at every state, or earlier results must show that its states have
values after any number of steps.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import factorial
from typing import Self, TypeAlias

from ..functions import exactly, scope_value
from ..nodes import Bound, Node, bound_in, free_in
from ..polynomials import Quotient, Quotients, Sign
from ..reading import Rejected, TooLarge

_MOST_MORE = 20
"""Maximum number of terms of a sum, a product, a factorial or a recursion beyond an atom."""
_SQUARES = {0: 0, 2: 1, 3: 2, 4: 3, 6: 4}
"""The values of 4 sin²(k π/12) that are integers, by k from 0 to 6."""
EvaluateIn: TypeAlias = Callable[["FunctionAtoms", Sequence[Node], Mapping[Node, Quotient]], list[Quotient]]


def _serials(*nodes: Sequence[Node]) -> tuple[int, ...]:
    return tuple(part.serial for parts in nodes for part in parts)


def recursion_of(node: Node) -> Bound:
    """Return a recursion without its number of steps: the step, the symbols it binds, the start."""
    inside, symbols, outside = bound_in(node)
    return Bound(inside, symbols, outside[2:])


def free_in_recursion(recursion: Bound) -> int:
    """Return the mask of the symbols that a recursion depends on."""
    return free_in(recursion.inside) & ~free_in(recursion.symbols) | free_in(recursion.outside)


class FunctionAtoms(Quotients):
    """A field of quotients; its subclass defines how signs are shown."""

    whole: dict[int, int]
    """The places of integers ≥ 0, and their least values."""
    defined: frozenset[Bound]
    """Recursions whose states are shown to have a value after any number of steps."""

    def is_positive(self, value: Quotient) -> bool:
        raise NotImplementedError

    def is_nonnegative(self, value: Quotient) -> bool:
        raise NotImplementedError

    def is_known_zero(self, value: Quotient) -> bool:
        raise NotImplementedError

    def is_count(self, monomial: int) -> bool:
        """Whether a monomial is a product of integers ≥ 0."""
        raise NotImplementedError

    def is_whole(self, value: Quotient) -> bool:
        """Whether a value is an integer ≥ 0, by the least values of the integers in it."""
        raise NotImplementedError

    def know(self, value: Quotient, *, strict: bool) -> None:
        raise NotImplementedError

    def real_power(self, base: Quotient, power: Quotient | Fraction) -> Quotient:
        raise NotImplementedError

    def parts(self, base: Quotient) -> list[tuple[Quotient, int]]:
        raise NotImplementedError

    def raised(self, value: Quotient, power: int) -> Quotient:
        raise NotImplementedError

    def copied(self) -> Self:
        raise NotImplementedError

    def minus(self, left: Quotient, right: Quotient) -> Quotient:
        """Return left − right."""
        return self.plus(left, self.times(self.number(Fraction(-1)), right))

    def opaque(self, kind: str, values: Sequence[Quotient], more: tuple[int, ...] = (), sign: Sign = "real") -> int:
        """Return the place of an atom for a function of some values."""
        self.effort.spend(3 + 0.3 * sum(len(value.numerator) for value in values))
        keys = tuple((tuple(sorted(v.numerator.items())), v.number, v.factors) for v in values)
        place = self.place_of(("function", kind, keys, more), sign)
        if sign == "positive" or self.signs[place] == "real":
            self.signs[place] = sign
        return place

    def new_place(self) -> int:
        """Return the place of a real number about which nothing is known."""
        return self.place_of(("symbol", ("new", len(self.signs))), "real")

    def side(self, value: Quotient) -> int:
        """Return 1 or −1 for a value that is shown to be ≥ 0, or ≤ 0, else 0."""
        if self.is_known_zero(value) or self.is_nonnegative(value):
            return 1
        return -1 if self.is_nonnegative(self.minus(self.number(Fraction(0)), value)) else 0

    def integer(self, value: Quotient) -> int:
        if value.number > 1 or value.factors or set(value.numerator) - {0}:
            raise Rejected("an integer that is no number")
        return value.numerator.get(0, 0)

    def sign(self, value: Quotient) -> int | None:
        if self.is_known_zero(value):
            return 0
        if self.is_positive(value):
            return 1
        return -1 if self.is_positive(self.minus(self.number(Fraction(0)), value)) else None

    def function(self, head: str, args: Sequence[Quotient]) -> Quotient:
        match head:
            case "sinh" | "cosh" | "tanh":
                return self._hyperbolic(head, args[0])
            case "Abs":
                return self._absolute(args[0])
            case "sign" if (known := self.sign(args[0])) is not None:
                return self.number(Fraction(known))
            case "Max" | "Min":
                return self._extreme(head, args)
            case "factorial":
                return self._factorial(args[0])
            case "binomial":
                return self._binomial(*args)
            case "tan":
                return self.times(self.function("sin", args), self.inverse(self.function("cos", args)))
            case "ceiling":
                return self._turned(self.function("floor", [self._turned(args[0])]))
            case _:
                return self._of_one(head, args)

    def _absolute(self, value: Quotient) -> Quotient:
        """Return |u|: u or −u if the sign is shown, else a product over the factors of u, or an atom."""
        if turn := self.side(value):
            return self.times(self.number(Fraction(turn)), value)
        parts, result = self.parts(value), self.number(Fraction(1))
        if len(parts) == 1 or any(power < 0 and not self.side(part) for part, power in parts):
            return self._of_one("Abs", [value])
        for part, power in parts:
            result = self.times(result, self.raised(part if power % 2 == 0 else self._absolute(part), power))
        return result

    def _of_one(self, head: str, args: Sequence[Quotient]) -> Quotient:
        """Return an atom for a function of u or −u, or the value at 0, at some multiples of π, or of atan 1."""
        if head in ("sin", "cos", "atan", "floor") and not args[0].numerator:
            return self.number(exactly(head, [Fraction(0)]))
        if head in ("sin", "cos") and (known := self._at_twelfth(head, args[0])) is not None:
            return known
        if head == "atan" and args[0] == self.number(Fraction(1)):
            return self.times(self.number(Fraction(1, 4)), self.function("pi", []))
        if head in ("Abs", "sin", "cos", "atan") and args[0].numerator[max(args[0].numerator)] < 0:
            value = self._of_one(head, [self._turned(args[0])])
            return self._turned(value) if head in ("sin", "atan") else value
        sign: Sign = "positive" if head == "pi" else "nonnegative" if head == "Abs" else "real"
        return self.of_atom(self.opaque(head, args, sign=sign))

    def _at_twelfth(self, head: str, value: Quotient) -> Quotient | None:
        """Return the sine or the cosine of a multiple of π/4 or π/6, ±√m/2 for m from 0 to 4; else None."""
        (pi,) = self.function("pi", []).numerator
        twelfths = Fraction(12 * value.numerator.get(pi, 0), value.number)
        if set(value.numerator) - {pi} or value.factors or twelfths.denominator > 1:
            return None
        half_turns, k = divmod(int(twelfths) + (6 if head == "cos" else 0), 12)
        square = _SQUARES.get(min(k, 12 - k))
        if not square:
            return None if square is None else self.number(Fraction(0))
        root = self.real_power(self.number(Fraction(square)), Fraction(1, 2))
        return self.times(self.number(Fraction(-1 if half_turns % 2 else 1, 2)), root)

    def _turned(self, value: Quotient) -> Quotient:
        return self.times(self.number(Fraction(-1)), value)

    def _hyperbolic(self, head: str, argument: Quotient) -> Quotient:
        rises = self.exp(argument)
        falls, half = self.inverse(rises), self.number(Fraction(1, 2))
        cosh, sinh = self.times(half, self.plus(rises, falls)), self.times(half, self.minus(rises, falls))
        if head == "tanh":
            above, below = self.minus(self.times(rises, rises), self.number(Fraction(1))), self.times(rises, rises)
            return self.times(above, self.inverse(self.plus(below, self.number(Fraction(1)))))
        return cosh if head == "cosh" else sinh

    def _extreme(self, head: str, args: Sequence[Quotient]) -> Quotient:
        """Return a maximum or minimum, by comparing two values at a time; an atom if a comparison is not decided."""
        found, *others = args
        for other in others:
            turn = self.side(self.minus(found, other)) * (1 if head == "Max" else -1)
            if not turn:
                return self.of_atom(self.opaque(head, args))
            found = found if turn > 0 else other
        return found

    def apart(self, value: Quotient) -> tuple[Quotient, int]:
        """Return an integer value without its constant term, and the constant.

        Raises Rejected unless the value is a sum of integer multiples of products of integers ≥ 0.
        """
        if value.number > 1 or value.factors or not all(map(self.is_count, value.numerator)):
            raise Rejected("a value that is not shown to be an integer")
        constant = value.numerator.get(0, 0)
        if abs(constant) > _MOST_MORE and set(value.numerator) - {0}:
            raise TooLarge("terms beyond an atom", _MOST_MORE)
        return Quotient({key: c for key, c in value.numerator.items() if key}, 1, ()), constant

    def _plus(self, value: Quotient, constant: int) -> Quotient:
        return self.plus(value, self.number(Fraction(constant)))

    def _is_count(self, value: Quotient) -> bool:
        return self.is_nonnegative(value) or self.is_whole(value)

    def _refuse_negative(self, value: Quotient) -> None:
        if not self._is_count(value):
            raise Rejected("a number of terms, or of steps, is not shown to be >= 0")

    def _factorial(self, value: Quotient) -> Quotient:
        base, more = self.apart(value)
        if not base.numerator:
            return self.number(exactly("factorial", [Fraction(more)]))
        if more > 0 and not self._is_count(base):
            # In (n − k + 1)!, n − k may be −1.
            base, more = value, 0
        self._refuse_negative(value if more < 0 else base)
        product = self.of_atom(self.opaque("factorial", [base], sign="positive"))
        for i in (*range(1, more + 1), *range(-more)):
            factor = self._plus(base, i if more > 0 else -i)
            # The factor is larger than a value that is shown to be ≥ 0 here.
            self.know(factor, strict=True)
            product = self.times(product, factor if more > 0 else self.inverse(factor))
        return product

    def _binomial(self, n: Quotient, k: Quotient) -> Quotient:
        """Return n!/(k! (n − k)!) or, for a small number k, n (n − 1) … (n − k + 1)/k!, which is 0 for n < k."""
        count = k.numerator.get(0, 0)
        if set(k.numerator) - {0} or k.number > 1 or k.factors or not 0 <= count <= _MOST_MORE:
            below = self.times(self._factorial(k), self._factorial(self.minus(n, k)))
            return self.times(self._factorial(n), self.inverse(below))
        self.apart(n)
        self._refuse_negative(n)
        product = self.number(Fraction(1, factorial(count)))
        for i in range(count):
            product = self.times(product, self._plus(n, -i))
        return product

    def scope(self, node: Node, evaluate: EvaluateIn, symbols: Mapping[Node, Quotient]) -> Quotient:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the value of a Piecewise, a sum, a product or a recursion."""
        if node.head == "Piecewise":
            return scope_value(node, self, partial(evaluate, self))
        inside, names, outside = bound_in(node)
        # The inside may have symbols that are bound outside of this node, and have values.
        mask = free_in(inside) & ~free_in(names)
        parts = sorted((part for part in symbols if part.free & mask), key=lambda part: part.serial)
        bound = [part for part in parts if symbols[part] != self.symbol(part)]
        free, marks = [symbols[part] for part in bound], tuple(part.serial for part in bound)
        last = evaluate(self, [outside[1]], {})[0]
        base, more = self.apart(last)
        if not base.numerator:
            return scope_value(node, self, partial(evaluate, self))
        if node.head == "Iterate":
            recursion = recursion_of(node)
            mask = free_in_recursion(recursion)
            bound = [part for part in symbols if part.free & mask and symbols[part] != self.symbol(part)]
            if bound or recursion not in self.defined:
                self._refuse_undefined(node, evaluate)
            return self._iterated(node, evaluate, (free, marks), base, more)
        (first,) = evaluate(self, outside[:1], {})
        self.apart(first)
        lowest = self.minus(self._plus(base, 1 + min(more, 0)), first)
        self._refuse_negative(lowest)
        self._defined(inside, names[0], (first, self._plus(base, max(more, 0))), evaluate)
        total = self.of_atom(self.opaque(node.head, [first, base, *free], (*_serials(inside, names), *marks)))
        join = self.plus if node.head == "Sum" else self.times
        for i in range(1, more + 1):
            total = join(total, *evaluate(self, inside, {names[0]: self._plus(base, i)}))
        for i in range(-more):
            (term,) = evaluate(self, inside, {names[0]: self._plus(base, -i)})
            total = join(total, self._turned(term) if node.head == "Sum" else self.inverse(term))
        return total

    def _defined(
        self, inside: Sequence[Node], symbol: Node, ends: tuple[Quotient, Quotient], evaluate: EvaluateIn
    ) -> None:
        """Check that each term of a sum has a value. Raises Rejected if that is not shown."""
        inner = self.copied()
        place = inner.new_place()
        inner.whole[place] = 0
        term = inner.of_atom(place)
        inner.know(inner.minus(term, ends[0]), strict=False)
        inner.know(inner.minus(ends[1], term), strict=False)
        if inner.is_nonnegative(inner.minus(ends[0], inner.number(Fraction(1)))):
            inner.know(term, strict=True)
        elif inner.is_nonnegative(ends[0]):
            inner.know(term, strict=False)
        evaluate(inner, inside, {symbol: term})

    def _refuse_undefined(self, node: Node, evaluate: EvaluateIn) -> None:
        """Raise Rejected if a recursion's step is not shown to have a value at every state."""
        inside, symbols, _ = bound_in(node)
        inner = self.copied()
        count, *states = (inner.new_place() for _ in symbols)
        inner.whole[count], inner.signs[count] = 0, "nonnegative"
        evaluate(inner, inside, dict(zip(symbols, map(inner.of_atom, (count, *states)), strict=True)))

    def _iterated(
        self,
        node: Node,
        evaluate: EvaluateIn,
        free: tuple[Sequence[Quotient], tuple[int, ...]],
        base: Quotient,
        more: int,
    ) -> Quotient:
        inside, symbols, (place, _, *start) = bound_in(node)
        if more < 0:
            raise Rejected("a recursion whose number of steps is not shown to be >= 0")
        self._refuse_negative(base)
        names = (*_serials(inside, symbols), *free[1])
        key = [base, *evaluate(self, start, {}), *free[0]]
        states = [self.of_atom(self.opaque("Iterate", key, (i, *names))) for i in range(len(start))]
        for i in range(more):
            states = evaluate(self, inside, dict(zip(symbols, [self._plus(base, i), *states], strict=True)))
        return states[int(place.number)]
