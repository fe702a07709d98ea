"""Compilation of expressions of the language to straight-line programs that run in any of the engine's arithmetics."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

import sympy as sp

from verify.errors import TheoremError, UndefinedError
from verify.evaluation.arithmetic import Arithmetic, Raw
from verify.evaluation.functions import FUNCTIONS, function_of
from verify.evaluation.guarded_numbers import call_primitive, call_scan
from verify.language.definedness import Provided, needs, provided, rebuilt
from verify.language.expressions import HEADS, PRIMITIVES, Magnitude, to_data
from verify.language.heads.scopes import SCOPES, SERIES, Iterate, outermost
from verify.language.symbolic_zeros import carry_out, share_exponentials
from verify.printing import text_of

_FUNCTIONS = ("exp", "log", "sqrt", "power")


@dataclass(frozen=True)
class Program:
    """Expressions compiled once, to be bound to an arithmetic.

    `prelude` runs once, when the program is bound, on the first inputs; `fixed` is their number. `source` runs at each
    call, on the other inputs; `free` is their number. Both consist of the engine's own names (`x0`, `k1`, `v2`, …) and
    of names of primitives, which were checked to be identifiers. `constants` has exact rationals by name.
    """

    prelude: str
    source: str
    fixed: int
    free: int
    constants: tuple[tuple[str, sp.Rational], ...]
    primitives: tuple[str, ...]
    heads: tuple[str, ...]

    def bind(self, arithmetic: Arithmetic[Raw], fixed: Sequence[Raw] = ()) -> Callable[..., tuple[Raw, ...]]:
        """Return the function of the free inputs at values of the fixed ones, all in raw numbers of the arithmetic.

        `bind` and the function raise the arithmetic's error where an expression has no value: ZeroDivisionError,
        UndefinedError, or NotExactError.
        """
        assert len(fixed) == self.fixed
        names = {name: getattr(arithmetic, name) for name in _FUNCTIONS}
        names["raised"] = getattr(arithmetic, "raised", pow)
        names |= {name: arithmetic.rational(int(value.p), int(value.q)) for name, value in self.constants}
        names |= {f"x{i}": value for i, value in enumerate(fixed)}
        names |= {f"head_{name}": function_of(name, arithmetic) for name in self.heads}
        for name in self.primitives:
            made = PRIMITIVES[name]
            called = call_scan(name, made.scan) if made.scan else call_primitive(made.evaluate, arithmetic)
            names[f"primitive_{name}"] = called
        arguments = ", ".join(f"x{i}" for i in range(self.fixed, self.fixed + self.free))
        # Our own source; see the class.
        exec(_code(f"{self.prelude}\ndef program({arguments}):\n{self.source}"), names)  # noqa: S102
        return names["program"]


@lru_cache(maxsize=4096)
def _code(source: str) -> CodeType:
    """Return compiled source, cached because a search binds one program at thousands of instances."""
    return compile(source, "<program>", "exec")


def compile_program(
    expressions: Sequence[sp.Basic],
    inputs: Sequence[sp.Symbol],
    fixed: Sequence[sp.Symbol] = (),
    *,
    share: bool = True,
) -> Program:
    """Compile expressions of the language over `fixed` and `inputs`; other free symbols raise TheoremError.

    Raises UndefinedError for a division by the number 0, and for a root of a negative number. A part that depends on
    the fixed inputs alone is computed once, when the program is bound, except inside sums, products, recursions,
    Piecewise and shared exponentials. With `share`, exponentials whose exponents differ by a rational factor are powers
    of one number: if exp(u) occurs, exp(-u) becomes 1/exp(u), although exp(u) is beyond float64 at u = 710.
    """
    carried_out, scopes = _without_scopes([_carried_out(sp.sympify(e)) for e in expressions])
    evaluated, exponentials = share_exponentials(carried_out) if share else (carried_out, {})
    hoisted: dict[sp.Expr, sp.Symbol] = {}
    reduced = [_hoist(expression, set(fixed), hoisted) for expression in evaluated]
    writer = _Writer({symbol: f"x{i}" for i, symbol in enumerate((*fixed, *inputs))})
    writer.run({symbol: expression for expression, symbol in hoisted.items()})
    prelude, writer.lines = "\n".join(writer.lines), []
    writer.run(scopes)
    writer.run(exponentials)
    try:
        shared, results = sp.cse(reduced, order="none")
    except ZeroDivisionError:
        # SymPy computes numbers when it compares terms.
        raise UndefinedError("there is a division by zero") from None
    writer.run(dict(shared))
    returned = "".join(f"{writer.write(result)}, " for result in results)
    source = "\n".join(f"    {line}" for line in [*writer.lines, f"return ({returned})"])
    constants = tuple((name, value) for value, name in writer.constants.items())
    used = tuple(sorted(writer.primitives)), tuple(sorted(writer.heads))
    return Program(prelude, source, len(fixed), len(inputs), constants, *used)


def _carried_out(expression: sp.Basic) -> sp.Basic:
    """Carry out derivatives and limits; the result has no value where a needed part of the expression has none."""
    done, divisors = carry_out(rebuilt(expression))
    return provided(done, [part for divisor in divisors for part in needs(1 / divisor)])


def _without_scopes(expressions: Sequence[sp.Basic]) -> tuple[list[sp.Basic], dict[sp.Symbol, sp.Basic]]:
    """Return expressions with symbols for sums, products, recursions and Piecewises, and the symbols' meanings.

    The inside of such a part is computed separately: it shares no intermediate result with the outside.
    """
    symbols: dict[sp.Basic, sp.Symbol] = {}

    def replaced(node: sp.Basic) -> sp.Basic:
        if isinstance(node, SCOPES):
            return symbols.setdefault(node, sp.Dummy(real=True))
        if not node.has(*SCOPES):
            return node
        return node.func(*map(replaced, node.args))

    return [replaced(expression) for expression in expressions], {symbol: node for node, symbol in symbols.items()}


def _hoist(expression: sp.Basic, fixed: set[sp.Symbol], hoisted: dict[sp.Expr, sp.Symbol]) -> sp.Basic:
    """Replace parts with fixed symbols only, and groups of such terms or factors, by new symbols."""
    if not fixed or not expression.args or not expression.free_symbols & fixed:
        return expression
    if expression.free_symbols <= fixed:
        return hoisted.setdefault(expression, sp.Dummy())  # type: ignore[arg-type]
    groups = [argument for argument in expression.args if argument.free_symbols <= fixed]
    arguments = [_hoist(argument, fixed, hoisted) for argument in expression.args if argument not in groups]
    if isinstance(expression, sp.Add | sp.Mul) and groups:
        return expression.func(_hoist(expression.func(*groups), fixed, hoisted), *arguments)
    return expression.func(*(_hoist(argument, fixed, hoisted) for argument in expression.args))


def _not_evaluated(node: sp.Basic) -> TheoremError:
    return TheoremError(f"{text_of(node)}: {node.func.__name__} cannot be evaluated")


class _Writer:
    def __init__(self, names: dict[sp.Basic, str]) -> None:
        self.names = names
        self.lines: list[str] = []
        self.constants: dict[sp.Rational, str] = {}
        self.primitives: set[str] = set()
        self.heads: set[str] = set()
        self.variables = 0

    def run(self, assignments: dict[sp.Symbol, sp.Basic]) -> None:
        for symbol, expression in assignments.items():
            text = self.write(expression)
            self.names[symbol] = f"v{self.variables}"
            self.lines.append(f"v{self.variables} = {text}")
            self.variables += 1

    def write(self, node: sp.Basic) -> str:
        if isinstance(node, sp.Atom):
            return self._atom(node)
        match node:
            case sp.Add():
                return self._sum(node)
            case sp.Mul():
                return self._product(node)
            case sp.exp() | sp.log():
                return f"{node.func.__name__}({self.write(node.args[0])})"
            case sp.Pow():
                return self._power(node)
            case sp.Abs() | Magnitude():
                return f"abs({self.write(node.args[0])})"
            case Provided():
                return self._provided(node)
            case _:
                return self._scope(node) if isinstance(node, SCOPES) else self._applied(node)

    def _applied(self, node: sp.Basic) -> str:
        name = node.func.__name__
        if name in FUNCTIONS and isinstance(node, HEADS[name]):
            return self._headed(name, *map(self.write, node.args))
        if name in PRIMITIVES and isinstance(node, PRIMITIVES[name].head):
            self.primitives.add(name)
            return f"primitive_{name}({', '.join(self.write(argument) for argument in node.args)})"
        raise _not_evaluated(node)

    def _atom(self, node: sp.Atom) -> str:
        match node:
            case sp.Rational():
                return self.constants.setdefault(node, f"k{len(self.constants)}")
            case sp.Symbol():
                if node not in self.names:
                    raise TheoremError(f"{node}: a symbol without a value")
                return self.names[node]
            case sp.pi:
                return self._headed("pi")
            case sp.core.numbers.Exp1():
                return f"exp({self.write(sp.Integer(1))})"
            case sp.zoo | sp.nan | sp.oo | sp.S.NegativeInfinity:
                raise UndefinedError("there is a division by zero")
            case sp.core.numbers.ImaginaryUnit():
                raise UndefinedError("there is a root of a negative number")
        raise _not_evaluated(node)

    def _provided(self, node: Provided) -> str:
        # In each arithmetic, 0 times a part without a value has no value either.
        value, *needed = map(self.write, node.args)
        nought = self.write(sp.Integer(0))
        return f"({' + '.join([value, *(f'{nought}*{part}' for part in needed)])})"

    def _headed(self, name: str, *arguments: str) -> str:
        self.heads.add(name)
        return f"head_{name}({', '.join(arguments)})"

    def _scope(self, node: Any) -> str:
        name = node.func.__name__
        if isinstance(node, SERIES):
            terms, (symbol, *ends) = outermost(node)
            return self._headed(name, self._function([symbol], [terms], "{}"), *map(self.write, ends))
        if isinstance(node, Iterate):
            place, count, bound, start, step = node.args
            states = "".join(f"{self.write(each)}, " for each in start)  # pyright: ignore[reportGeneralTypeIssues]
            return self._headed(name, str(place), self.write(count), f"({states})", self._function(bound, step))
        *cases, (last, _) = node.args
        return self._headed(name, *(self._piece(*case) for case in cases), f"lambda: {self.write(last)}")

    def _piece(self, value: sp.Basic, condition: sp.Basic) -> str:
        relation = to_data(condition)[0]
        left, right = map(self.write, condition.args)
        return f"(({relation!r}, lambda: ({left}, {right})), lambda: {self.write(value)})"

    def _function(self, bound: Iterable[sp.Basic], values: Iterable[sp.Basic], form: str = "({}, )") -> str:
        """Return the source of a function of bound symbols."""
        outside, bound = dict(self.names), list(bound)
        for symbol in bound:
            self.variables += 1
            self.names[symbol] = f"b{self.variables}"
        written = ", ".join(map(self.write, values))
        text = f"lambda {', '.join(self.names[symbol] for symbol in bound)}: {form.format(written)}"
        self.names = outside
        return text

    def _sum(self, node: sp.Add) -> str:
        # Positive terms come first, so that a line begins with a negation only if all terms are negative.
        terms = sorted(node.args, key=lambda term: term.could_extract_minus_sign())
        text = self.write(terms[0])
        for term in terms[1:]:
            minus = term.could_extract_minus_sign()
            text += f" - {self.write(-term)}" if minus else f" + {self.write(term)}"
        return f"({text})"

    def _product(self, node: sp.Mul) -> str:
        coefficient, rest = node.as_coeff_Mul()
        if coefficient.is_negative:
            return f"(-{self.write(-node)})"
        above, below = ([] if coefficient == 1 else [self.write(coefficient)]), []
        for factor in sp.Mul.make_args(rest):
            if isinstance(factor, sp.Pow) and isinstance(factor.exp, sp.Rational) and factor.exp < 0:
                below.append(self.write(1 / factor))
            else:
                above.append(self.write(factor))
        top = "*".join(above) or self.write(sp.Integer(1))
        return f"({top}/({'*'.join(below)}))" if below else f"({top})"

    def _power(self, node: sp.Pow) -> str:
        base, exponent = node.args
        if isinstance(exponent, sp.Rational) and exponent < 0:
            return f"({self.write(sp.Integer(1))}/{self.write(1 / node)})"
        if isinstance(exponent, sp.Integer):
            return self._whole_power(self.write(base), int(exponent))
        if isinstance(exponent, sp.Rational) and exponent.q == 2:
            root = f"sqrt({self.write(base)})"
            return root if exponent.p == 1 else self._whole_power(root, int(exponent.p))
        return f"power({self.write(base)}, {self.write(exponent)})"

    def _whole_power(self, base: str, exponent: int) -> str:
        return f"raised({base}, {exponent})"
