"""Values of an expression at an instance: exact or in balls of rising precision, and in float64 for a search."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import sympy as sp
from sympy.core.relational import Relational

from verify.errors import BeyondReachError, NotExactError, OutOfTimeError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation.arithmetic import FIRST_BITS, LAST_BITS, Exact, Float64, balls, enclosure_of_ball, exact_fraction
from verify.evaluation.guarded_numbers import call_enclosed
from verify.evaluation.programs import Program, compile_program
from verify.language.definedness import rebuilt, substituted, taken_apart
from verify.language.expressions import STRICT, enclosed_applications
from verify.language.parameters import Value
from verify.language.symbolic_zeros import differentiate, limits_at
from verify.outcomes import Enclosure
from verify.printing import text_of

if TYPE_CHECKING:
    # This import loads NumPy.
    from verify.evaluation.running_errors import Estimate, Estimates

Values: TypeAlias = Mapping[str, Value | Enclosure]
"""An instance's values by name; they may include enclosures of numbers that belong to the instance."""


def evaluate_rising(
    expression: sp.Basic, instance: Values, *, digits: int = 0, sign: bool = False
) -> tuple[Fraction | Enclosure, int | None]:
    """Return an expression's exact value, or an enclosure, and the number of bits (None for an exact value).

    The precision of balls rises until the enclosure has `digits` digits and, with `sign`, decides the sign. The
    enclosure at 4096 bits is returned in any case. Raises UndefinedError if the expression, or a part of its written
    form, has no value, and UndecidedError if a comparison in it stays undecided or a primitive runs out of time.
    """
    expression, instance = _with_enclosures(_with_limits(_rewritten(sp.sympify(expression)), instance), instance)
    expression, needed = taken_apart(expression)
    for part in needed:
        evaluate_rising(part, instance)
    if (ends := _affine_ends(expression, instance)) is not None:
        return ends, FIRST_BITS
    names, program = _program(expression)
    if missing := [name for name in names if name not in instance]:
        raise TheoremError(f"{missing[0]} has no value here: a bound variable, or one that only an identity may have")
    values = [instance[name] for name in names]
    try:
        return _exact_value(program, values), None
    except NotExactError:
        pass
    except ZeroDivisionError:
        raise UndefinedError(f"{text_of(expression)}: division by zero") from None
    return _value_in_balls(expression, program, values, digits, sign=sign)


def _exact_value(program: Program, values: Sequence[Value | Enclosure]) -> Fraction:
    """Return a program's exact value. Raises NotExactError if it has none."""
    exact = Exact()
    arguments = [exact.number(value) for value in values]
    (raw,) = program.bind(exact)(*arguments)
    return exact_fraction(exact.checked(raw))


def _value_in_balls(
    expression: sp.Basic, program: Program, values: Sequence[Value | Enclosure], digits: int, *, sign: bool
) -> tuple[Enclosure, int]:
    """Return an enclosure, as `evaluate_rising` does, and the number of bits."""
    bits = max(FIRST_BITS, 4 * digits)
    while True:
        is_last = 2 * bits > LAST_BITS
        with balls(bits) as ball:
            try:
                (raw,) = program.bind(ball)(*map(ball.number, values))
                good = raw.is_finite() and raw.rel_accuracy_bits() >= 3.33 * digits
                if is_last and not raw.is_finite():
                    raise UndefinedError(f"{text_of(expression)}: no finite value")
                if is_last or (good and (not sign or raw > 0 or raw < 0)):
                    return enclosure_of_ball(raw), bits
            except UndecidedError:
                # A primitive compared balls that overlap.
                if is_last:
                    raise
        bits *= 2


def is_positive_in_balls(expression: sp.Basic, values: Values) -> bool:
    """Whether an expression is positive in balls of `FIRST_BITS`, for all values between the ends of enclosures.

    The function does not check whether parts that cancel have values.
    """
    names, program = _program(taken_apart(_rewritten(expression))[0])
    try:
        with balls(FIRST_BITS) as ball:
            (raw,) = program.bind(ball)(*(ball.number(values[name]) for name in names))
            return bool(raw > 0)
    except (UndefinedError, UndecidedError, ZeroDivisionError):
        return False


@lru_cache(maxsize=2**12)
def _rewritten(expression: sp.Basic) -> sp.Basic:
    return differentiate(rebuilt(expression))


def exact_values(symbols: Iterable[sp.Symbol], instance: Values) -> dict[sp.Symbol, sp.Rational]:
    """Return the rational values of the symbols that have one in an instance."""
    values = ((symbol, instance.get(symbol.name)) for symbol in symbols)
    return {s: sp.Rational(v.numerator, v.denominator) for s, v in values if isinstance(v, int | Fraction)}  # pyright: ignore[reportReturnType]


def _with_limits(expression: sp.Basic, instance: Values) -> sp.Basic:
    """Return the expression with its limits evaluated. Raises BeyondReachError if a function is not rational."""
    if not expression.has(sp.Limit):
        return expression
    return limits_at(expression, exact_values(expression.free_symbols, instance))


def with_proposed_limits(expression: sp.Basic, instance: Values) -> sp.Basic:
    """Return the expression with its limits evaluated, by SymPy if the function is not rational.

    SymPy's value may be wrong. A verdict that rests on it counts only if the re-checker finds the limit itself.
    """
    if not expression.has(sp.Limit):
        return expression
    return limits_at(_rewritten(expression), exact_values(expression.free_symbols, instance), proposed=True)


def _with_enclosures(expression: sp.Basic, instance: Values) -> tuple[sp.Basic, Values]:
    """Return the expression with symbols for the values of enclosed primitives, and the instance with these values."""
    values = dict(instance)
    substitution: dict[sp.Basic, sp.Basic] = {}
    for node, primitive in enclosed_applications(expression):
        arguments = [evaluate_rising(argument, instance)[0] for argument in node.args]
        if not all(isinstance(argument, Fraction) for argument in arguments):
            raise UndefinedError(f"{text_of(node)}: its arguments must be rational")
        symbol = sp.Symbol(f"{primitive.name} {len(substitution)}")
        try:
            values[symbol.name] = call_enclosed(primitive.name, primitive.evaluate, *arguments)
        except OutOfTimeError as error:
            raise UndecidedError(f"{primitive.name}: {error}") from None
        substitution[node] = symbol
    return (substituted(expression, substitution), values) if substitution else (expression, instance)


def _affine_ends(expression: sp.Basic, instance: Values) -> Enclosure | None:
    """Return exact ends of a rational expression that is affine in its only enclosed symbol; None for any other."""
    enclosures = [(s, e) for s in expression.free_symbols if isinstance(e := instance.get(str(s)), Enclosure)]
    if len(enclosures) != 1 or not expression.is_Add | expression.is_Mul | expression.is_Symbol:  # type: ignore[attr-defined]
        return None
    ((symbol, enclosed),) = enclosures
    if enclosed.lower is None or enclosed.upper is None or sp.diff(expression, symbol).has(symbol):
        return None
    ends = []
    for end in (enclosed.lower, enclosed.upper):
        value, _ = evaluate_rising(expression, {**instance, str(symbol): Fraction(end)})
        if not isinstance(value, Fraction):
            return None
        ends.append(value)
    return Enclosure(min(ends), max(ends))


def holds(relation: Relational, slack: Fraction | Enclosure) -> bool | None:
    """Return whether a relation with a slack (at most 0 for an equation) holds; None if the slack does not decide."""
    low, high = (slack, slack) if isinstance(slack, Fraction) else (slack.lower, slack.upper)
    strict = isinstance(relation, STRICT)
    if low is not None and (low > 0 or (low == 0 and not strict)):
        return True
    return False if high is not None and (high < 0 or (high == 0 and strict)) else None


@lru_cache(maxsize=2**12)
def _program(expression: sp.Basic) -> tuple[tuple[str, ...], Program]:
    names = symbols_by_name(expression)
    return tuple(names), compile_program([expression], tuple(names.values()))


def symbols_by_name(expression: sp.Basic) -> dict[str, sp.Symbol]:
    """Return an expression's free symbols by name, in the names' order."""
    return {symbol.name: symbol for symbol in sorted(expression.free_symbols, key=str)}  # type: ignore[attr-defined]


def sign_of(value: Fraction | Enclosure) -> int | None:
    """Return the sign of a value; None if the enclosure does not decide the sign."""
    if isinstance(value, Fraction):
        return (value > 0) - (value < 0)
    assert value.lower is not None and value.upper is not None
    return 1 if value.lower > 0 else -1 if value.upper < 0 else 0 if value.lower == value.upper == 0 else None


@lru_cache(maxsize=2**12)
def _scan_program(expressions: tuple[sp.Expr, ...]) -> tuple[tuple[str, ...], Program]:
    names = symbols_by_name(sp.Tuple(*expressions))
    return tuple(names), compile_program(expressions, tuple(names.values()))


@lru_cache(maxsize=2**12)
def _scan_function(expressions: tuple[sp.Expr, ...]) -> tuple[tuple[str, ...], Callable[..., tuple[float, ...]]]:
    names, program = _scan_program(expressions)
    return names, program.bind(Float64())


def scan_values(expressions: tuple[sp.Expr, ...], values: Mapping[str, Value]) -> tuple[float, ...]:
    """Return expressions' values in float64, for a search; `values` must have a number for each of their symbols.

    Raises an ArithmeticError or a ValueError if an expression has no value. A power of a negative number may be
    complex.
    """
    names, program = _scan_function(expressions)
    return program(*(float(values[name]) for name in names))


def estimated_values(expressions: tuple[sp.Expr, ...], instances: Sequence[Values]) -> "tuple[Estimate, ...]":
    """Return expressions' values at many instances, as arrays in float64 with running bounds of their errors.

    A value is NaN if it is undefined, or if a number in the expression is beyond float64. All values are NaN if an
    expression has a primitive.
    """
    import numpy as np

    from verify.evaluation.running_errors import Estimate, Estimates

    nothing = Estimate(np.full(len(instances), np.nan), np.zeros(len(instances)))
    try:
        names, program = _scan_program(expressions)
    except (UndefinedError, BeyondReachError):
        # An expression has no value anywhere, such as 1/log 1, or it has a limit that is not rational.
        return (nothing,) * len(expressions)
    if program.primitives:
        return (nothing,) * len(expressions)
    arithmetic = Estimates()

    def inputs(name: str) -> Estimate:
        made = [_estimated(arithmetic, instance[name]) for instance in instances]
        return Estimate(np.array([one.value for one in made]), np.array([one.error for one in made]))

    with np.errstate(all="ignore"):
        try:
            parts = program.bind(arithmetic)(*map(inputs, names))
        except (UndefinedError, ArithmeticError):
            # A constant is beyond float64, or has no value.
            return (nothing,) * len(expressions)
        return tuple(Estimate(*(np.broadcast_to(each, len(instances)) for each in (p.value, p.error))) for p in parts)


def _estimated(arithmetic: "Estimates", number: Value | Enclosure) -> "Estimate":
    assert isinstance(number, int | Fraction)
    try:
        return arithmetic.number(number)
    except UndefinedError:
        return arithmetic.beyond()
