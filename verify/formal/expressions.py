"""Expressions of a statement's data as terms over the reals, each with the conditions for it to have a value.

Rocq's functions are total: 1/0 and ln(−1) are numbers there. Therefore a term comes with its needs, for example that a
divisor is not 0. A relation is exported as the conjunction of its needs and the relation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from verify.errors import TheoremError

Data: TypeAlias = Sequence["Data | str"]
Sign = Literal["nonzero", "positive", "nonnegative", "defined", "chosen", "other"]
MOST_ORDER = 20
"""Maximum order of a derivative that the re-checker reads."""
RELATIONS: Mapping[str, str] = {"Eq": "=", "Lt": "<", "Le": "<=", "Gt": ">", "Ge": ">="}
_SUM, _PRODUCT, _PREFIX, _POWER, _CALL, _ATOM = range(6)
_FUNCTIONS: Mapping[str, str] = {
    **{name: name for name in ("exp", "sin", "cos", "atan", "sinh", "cosh", "tanh")},
    "Abs": "Rabs",
    "sign": "sgn",
    "floor": "whole_part",
}
_ENDS: Mapping[str, str] = {"Max": "Rmax", "Min": "Rmin"}
OWN: Mapping[str, str] = {
    "sgn": "Definition sgn (x : R) : R := if Rlt_dec 0 x then 1 else if Rlt_dec x 0 then - 1 else 0.",
    "whole_part": "Definition whole_part (x : R) : R := IZR (Int_part x).",
    "real_power": (
        "Definition real_power (x y : R) : R :=\n"
        "  if Req_EM_T y (IZR (Int_part y)) then powerRZ x (Int_part y)\n"
        "  else if Req_EM_T x 0 then 0 else Rpower x y.\n"
        "Definition real_power_defined (x y : R) : Prop :=\n"
        "  0 < x \\/ (x = 0 /\\ 0 <= y) \\/ (x < 0 /\\ y = IZR (Int_part y))."
    ),
}
"""Definitions in Rocq of functions that its library lacks, by name."""


class NotSaidError(TheoremError):
    """An expression or a clause is not exported; the message says why."""


def conjunction(parts: Sequence[str]) -> str:
    """Return the conjunction of some propositions."""
    return " /\\ ".join(parts) or "True"


class Need(NamedTuple):
    """A condition for an expression to have a value: the sign of another expression, as data and as a proposition."""

    sign: Sign
    of: Data
    text: str


class Slope(NamedTuple):
    """A derivative or a limit of a body in a symbol at a point; `said` are propositions about the variable `name`.

    With an order, `name` is the derivative, and the body and its derivatives of lower order have values around the
    point. Without an order, `name` is the limit from above, and the body has values near the point and above it.
    """

    name: str
    body: Data
    symbol: str
    point: Data
    order: int | None
    needs: tuple[Need, ...]
    said: tuple[str, ...]


class _Written(NamedTuple):
    text: str
    level: int

    def at(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"


@dataclass
class Terms:
    """Writes expressions; `symbols` are the terms of real numbers, `integers` those of integers, by name.

    `definitions` has, by name, the call of a definition and the call of the proposition that it has a value. `words`
    has, by name, the variable of a word parameter and the constructors of its words. `bind` returns the variable of a
    bound symbol. `inside` is the prefix for the functions in `OWN`. Conditions are collected in `needs`, derivatives
    and limits in `slopes`, and the used functions of `OWN` in `used`.
    """

    symbols: Mapping[str, str]
    integers: Mapping[str, str] = field(default_factory=dict[str, str])
    definitions: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    words: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict[str, tuple[str, Sequence[str]]])
    bind: Callable[[str], str] = str
    inside: str = ""
    needs: dict[str, Need] = field(default_factory=dict[str, Need])
    slopes: dict[str, Slope] = field(default_factory=dict[str, Slope])
    used: set[str] = field(default_factory=set[str])

    def term(self, data: Data) -> str:
        """Return the term of an expression. Raises NotSaidError for a form that is not exported."""
        return self._written(data).at(_SUM)

    def relation(self, data: Data) -> str:
        """Return the proposition of a relation, without its needs."""
        left, right = (self.term(side) for side in sides(data))
        return f"{left} {RELATIONS[str(data[0])]} {right}"

    def holds(self, data: Data) -> str:
        """Return the proposition that a relation is defined and holds, and that its derivatives and limits exist.

        The needs, derivatives and limits of the relation are collected.
        """
        inner = self.inner()
        relation = inner.relation(data)
        self.needs |= inner.needs
        self.slopes |= inner.slopes
        said = conjunction([*inner.needs, relation])
        for slope in reversed(inner.slopes.values()):
            said = f"exists {slope.name} : R, ({conjunction(slope.said)}) /\\ ({said})"
        return said

    def inner(self) -> "Terms":
        """Return a writer like this one that collects its own needs, derivatives and limits."""
        return replace(self, needs={}, slopes={})

    def _need(self, sign: Sign, of: Data, text: str) -> None:
        self.needs.setdefault(text, Need(sign, of, text))

    def _written(self, data: Data) -> _Written:
        head, rest = str(data[0]), data[1:]
        match head:
            case "Symbol":
                return self._symbol(str(rest[0]))
            case "Integer" | "Rational":
                return _number(Fraction(str(rest[0])))
            case "Add":
                return self._sum(rest)
            case "Mul":
                return self._product(rest)
            case "Pow":
                return self._power(*_two(rest))
            case "Case":
                return self._case(rest)
            case "pi":
                return _Written("PI", _ATOM)
            case "Derivative" | "Limit" | "Subs":
                return self._binding(head, *map(_data, rest))
            case _:
                return self._function(head, rest)

    def _symbol(self, name: str) -> _Written:
        if name in self.definitions:
            call, defined = self.definitions[name]
            if defined:
                self._need("defined", ["Symbol", name], defined)
            return _Written(call, _CALL if " " in call else _ATOM)
        if name not in self.symbols:
            raise NotSaidError(f"{name} is no number")
        text = self.symbols[name]
        return _Written(text, _CALL if " " in text else _ATOM)

    def _binding(self, head: str, body: Data, *rest: Data) -> _Written:
        """Return a derivative, a limit, or an expression at a point."""
        if head == "Limit":
            return self._limit(body, *rest)
        if head == "Subs":
            symbols, points = rest
            return self._at_point(body, symbols[1:], points[1:])
        symbol, times = _only(rest)
        return self._derivative(body, symbol, symbol, times)

    def _at_point(self, body: Data, symbols: Data, points: Data) -> _Written:
        """Return an expression at a point of one symbol; the expression may be a derivative in that symbol."""
        if len(symbols) > 1:
            raise NotSaidError("Subs of several symbols is not exported")
        symbol, point = _data(symbols[0]), _data(points[0])
        if body[0] == "Derivative" and _only(body[2:])[0] == symbol:
            return self._derivative(_data(body[1]), symbol, point, _only(body[2:])[1])
        if _bound_in(body) & (_symbols_in(symbol) | _symbols_in(point)):
            raise NotSaidError("Subs of a symbol that is bound in the expression is not exported")
        self._refuse_defined_of(str(symbol[1]), body)
        return self._written(put(body, {str(symbol[1]): point}))

    def _derivative(self, body: Data, symbol: Data, point: Data, times: Data) -> _Written:
        """Return a variable for the derivative of a body in a symbol at a point."""
        name = str(symbol[1])
        order = int(str(times[1])) if times[0] == "Integer" else 0
        if not 1 <= order <= MOST_ORDER or name in self.integers:
            raise NotSaidError(
                f"a derivative of another order than 1 to {MOST_ORDER}, or in an integer, is not exported"
            )
        variable, at = self.bind(name), self._written(point).at(_ATOM)
        needs, function = self._function_of(name, variable, body)
        around = [conjunction([*needs])] if needs else []
        around += [f"ex_derive_n {function} {lower}%nat {variable}" for lower in range(1, order)]
        said = [f"locally {at} (fun {variable} : R => {each})" for each in around]
        key = f"is_derive {function} {at}" if order == 1 else f"is_derive_n {function} {order}%nat {at}"
        called = f"slope_{len(self.slopes)}"
        slope = Slope(called, body, name, point, order, tuple(needs.values()), (*said, f"{key} {called}"))
        return self._such_that(key, slope)

    def _limit(self, body: Data, symbol: Data, point: Data, side: Data) -> _Written:
        """Return a variable for the limit of a body as a symbol tends to a point from above."""
        name, at = str(symbol[1]), self._written(point).at(_ATOM)
        if str(side[1]) != "+" or name in self.integers:
            raise NotSaidError("a limit other than from above, or in an integer, is not exported")
        variable = self.bind(name)
        needs, function = self._function_of(name, variable, body)
        key, called = f"filterlim {function} (at_right {at})", f"limit_{len(self.slopes)}"
        said = [f"at_right {at} (fun {variable} : R => {conjunction([*needs])})"] if needs else []
        said.append(f"{key} (locally {called})")
        return self._such_that(key, Slope(called, body, name, point, None, tuple(needs.values()), tuple(said)))

    def _function_of(self, name: str, variable: str, body: Data) -> tuple[dict[str, Need], str]:
        """Return the needs of a body, and the body as a function of a symbol."""
        inner = replace(self.inner(), symbols={**self.symbols, name: variable})
        function = f"(fun {variable} : R => {inner.term(body)})"
        self._refuse_defined_of(name, body)
        if inner.slopes:
            raise NotSaidError("a derivative or a limit inside another one is not exported")
        return inner.needs, function

    def _refuse_defined_of(self, name: str, body: Data) -> None:
        """Raise NotSaidError if a definition in a body depends on a symbol that is bound around the body."""
        outer = self.integers.get(name) or self.symbols.get(name)
        for each in _symbols_in(body) & self.definitions.keys():
            if outer in self.definitions[each][0].split():
                raise NotSaidError(f"a definition that takes {name}, which is bound around it, is not exported")

    def _such_that(self, key: str, slope: Slope) -> _Written:
        """Return the variable of a derivative or a limit; equal ones share a variable."""
        return _Written(self.slopes.setdefault(key, slope).name, _ATOM)

    def _function(self, head: str, rest: Data) -> _Written:
        if head in _ENDS:
            texts = [self._written(_data(part)).at(_ATOM) for part in rest]
            call = texts[-1]
            for text in reversed(texts[:-1]):
                call = f"{_ENDS[head]} {text} {call if call == texts[-1] else f'({call})'}"
            return _Written(call, _CALL)
        if head not in (*_FUNCTIONS, "log", "tan", "ceiling"):
            raise NotSaidError(f"{head} is not exported")
        argument = self._written(_data(rest[0]))
        if head == "log":
            self._need("positive", _data(rest[0]), f"0 < {argument.at(_SUM)}")
        if head == "tan":
            self._need("nonzero", ["cos", rest[0]], f"cos {argument.at(_ATOM)} <> 0")
        if head == "ceiling":
            self.used.add("whole_part")
            return _Written(f"- {self.inside}whole_part (- {argument.at(_PREFIX)})", _PREFIX)
        name = {"log": "ln", "tan": "tan"}.get(head) or _FUNCTIONS[head]
        self.used |= {name} & set(OWN)
        name = f"{self.inside}{name}" if name in OWN else name
        return _Written(f"{name} {argument.at(_ATOM)}", _CALL)

    def _sum(self, parts: Data) -> _Written:
        text = ""
        for part in map(_data, parts):
            sign, rest = negated(part)
            written = self._written(rest).at(_PRODUCT)
            text += (f" {sign} " if text else "- " if sign == "-" else "") + written
        return _Written(text, _SUM)

    def _product(self, parts: Data) -> _Written:
        sign, rest = negated(["Mul", *parts])
        if sign == "-":
            return _Written(f"- {self._written(rest).at(_PREFIX)}", _PREFIX)
        text = ""
        for part in map(_data, parts):
            below = inverse(part)
            if below is not None:
                written = self._divisor(below).at(_POWER)
                text += f" / {written}" if text else f"/ {written}"
            else:
                text += (" * " if text else "") + self._written(part).at(_POWER if text else _PRODUCT)
        return _Written(text, _PRODUCT)

    def _divisor(self, below: Data) -> _Written:
        """Return a divisor, and note its need: the base of an integer power is not 0, the base of a root is > 0."""
        base, power = _two(below[1:]) if below[0] == "Pow" else (below, ["Integer", "1"])
        if power[0] not in ("Integer", "Rational") or Fraction(str(power[1])) <= 0:
            base, power = below, ["Integer", "1"]
        if power[0] == "Integer":
            inner = self._written(base)
            self._need("nonzero", base, f"{inner.at(_SUM)} <> 0")
            return inner if power[1] == "1" else _Written(f"{inner.at(_CALL)} ^ {power[1]}", _POWER)
        inner = self._written(base)
        self._need("positive", base, f"0 < {inner.at(_SUM)}")
        return self._root(inner, Fraction(str(power[1])))

    def _power(self, base: Data, power: Data) -> _Written:
        below = inverse(["Pow", base, power])
        if below is not None:
            return _Written(f"/ {self._divisor(below).at(_POWER)}", _PREFIX)
        if power[0] == "Integer":
            return _Written(f"{self._written(base).at(_CALL)} ^ {power[1]}", _POWER)
        inner = self._written(base)
        if power[0] == "Rational":
            self._need("nonnegative", base, f"0 <= {inner.at(_SUM)}")
            return self._root(inner, Fraction(str(power[1])))
        whole = self._integer(power)
        if whole is not None:
            self._need("other", power, f"({inner.at(_SUM)} <> 0 \\/ (0 <= {whole})%Z)")
            return _Written(f"powerRZ {inner.at(_ATOM)} ({whole})", _CALL)
        exponent = self._written(power)
        self.used.add("real_power")
        self._need("other", power, f"{self.inside}real_power_defined {inner.at(_ATOM)} {exponent.at(_ATOM)}")
        return _Written(f"{self.inside}real_power {inner.at(_ATOM)} {exponent.at(_ATOM)}", _CALL)

    def _root(self, inner: _Written, power: Fraction) -> _Written:
        if power.denominator == 2:
            root = _Written(f"sqrt {inner.at(_ATOM)}", _CALL)
            return root if power == Fraction(1, 2) else _Written(f"{root.text} ^ {power.numerator}", _POWER)
        self.used.add("real_power")
        return _Written(f"{self.inside}real_power {inner.at(_ATOM)} ({power.numerator} / {power.denominator})", _CALL)

    def _integer(self, data: Data) -> str | None:
        """Return the integer term of sums and products of integers; None for any other expression."""
        match data[0]:
            case "Integer":
                return f"({data[1]})"
            case "Symbol":
                return self.integers.get(str(data[1]))
            case "Add" | "Mul":
                parts = [self._integer(_data(part)) for part in data[1:]]
                joined = (" + " if data[0] == "Add" else " * ").join(part or "" for part in parts)
                return None if None in parts else f"({joined})"
            case _:
                return None

    def _case(self, rest: Data) -> _Written:
        text, words = self.words[str(_data(rest[0])[1])]
        choices, needs = list[str](), list[str]()
        for word, choice in zip(words, rest[1:], strict=True):
            inner = self.inner()
            choices.append(f"| {word} => {inner.term(_data(choice))}")
            needs.append(f"| {word} => {conjunction([*inner.needs])}")
            if inner.slopes:
                raise NotSaidError("a derivative or a limit that a word chooses is not exported")
        if any(not need.endswith("=> True") for need in needs):
            said = f"match {text} with {' '.join(needs)} end"
            self._need("chosen", ["Case", *rest], said)
        return _Written(f"match {text} with {' '.join(choices)} end", _ATOM)


def _number(value: Fraction) -> _Written:
    above, below = abs(value.numerator), value.denominator
    text = str(above) if below == 1 else f"{above} / {below}"
    if value < 0:
        return _Written(f"- ({text})" if below > 1 else f"- {text}", _PREFIX)
    return _Written(text, _ATOM if below == 1 else _PRODUCT)


def negated(data: Data) -> tuple[str, Data]:
    """Return the sign of a summand, `+` or `-`, and the summand without it; a negative factor gives its sign."""
    if data[0] in ("Integer", "Rational") and str(data[1]).startswith("-"):
        return "-", [str(data[0]), str(data[1])[1:]]
    if data[0] == "Mul":
        for i, part in enumerate(data[1:], 1):
            sign, rest = negated(part) if part[0] in ("Integer", "Rational") else ("+", _data(part))
            if sign == "-":
                parts = [*data[1:i], *([] if rest == ["Integer", "1"] else [rest]), *data[i + 1 :]]
                return "-", _data(parts[0]) if len(parts) == 1 else ["Mul", *parts]
    return "+", data


def _only(pairs: Data) -> tuple[Data, Data]:
    """Return the symbol and the order of a derivative; NotSaidError for several symbols."""
    if len(pairs) != 1:
        raise NotSaidError("a derivative in several symbols is not exported")
    return _two(_data(pairs[0])[1:])


def inverse(data: Data) -> Data | None:
    """Return the reciprocal of a power with a negative rational exponent; None for any other expression."""
    if data[0] != "Pow" or _data(data[2])[0] not in ("Integer", "Rational"):
        return None
    head, text = str(data[2][0]), str(data[2][1])
    if not text.startswith("-"):
        return None
    return _data(data[1]) if text == "-1" else ["Pow", data[1], [head, text[1:]]]


def sides(relation: Data) -> tuple[Data, Data]:
    """Return the left and the right side of a relation."""
    return _two(relation[1:])


def put(data: Data, values: Mapping[str, Data]) -> Data:
    """Return an expression with symbols replaced by other expressions."""
    if data[0] == "Symbol":
        return values.get(str(data[1]), data)
    return [data[0], *(part if isinstance(part, str) else put(part, values) for part in data[1:])]


def _bound_in(data: Data) -> set[str]:
    """Return the names of the symbols that are bound somewhere in an expression."""
    bound = set[str]()
    for part in parts_of(data):
        if part[0] in ("Derivative", "Limit", "Subs"):
            bound |= _symbols_in(["Tuple", *part[2:]])
    return bound


def _symbols_in(data: Data) -> set[str]:
    return {str(part[1]) for part in parts_of(data) if part[0] == "Symbol"}


def parts_of(data: Data) -> Iterator[Data]:
    """Yield an expression and all its parts, each function before its arguments."""
    yield data
    for part in data[1:]:
        # The data of a primitive include a version, which is a number.
        if isinstance(part, list | tuple):
            yield from parts_of(part)


def _two(data: Data) -> tuple[Data, Data]:
    first, second = data
    return _data(first), _data(second)


def _data(part: "Data | str") -> Data:
    assert not isinstance(part, str)
    return part
