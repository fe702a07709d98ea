# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false
"""A statement in a line of text, with its clauses, and an instance in scope."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import sympy as sp

from verify.claims.inequality import Inequality
from verify.errors import InputError, TheoremError, UndecidedError, UndefinedError
from verify.evaluation.instances import check_domain, evaluate_hypothesis
from verify.evaluation.values import evaluate_rising, symbols_by_name
from verify.language.clause_data import Hypothesis
from verify.language.definedness import substituted
from verify.language.lines.statements import read_line
from verify.language.parameters import Parameter, Value
from verify.language.statement import Statement

_TRIED = 4000
"""Maximum number of instances that are tried to find one in scope."""
_FIRST = tuple(map(Fraction, (1, 2, "1/2", 3, "1/4", 5, "1/10", 10, 0, -1, "-1/2", -2, 100, "1/100")))
"""Values that are tried for a parameter, in this order. If its domain has a lower end a or an upper end b, the values
a + v and b − v are also tried for each v in the list."""


def statement_of(line: str) -> Statement:
    """Return the statement of a line. Raises InputError for a line that is not understood."""
    try:
        said = read_line(line)
        labels = ["claim"] if len(said.claims) == 1 else [f"claim {i}" for i in range(1, 1 + len(said.claims))]
        return Statement(
            said.parameters,
            tuple(map(Inequality, labels, said.claims)),
            tuple(Hypothesis(f"hypothesis {i}", relation) for i, relation in enumerate(said.hypotheses, 1)),
            definitions=said.states,
        )
    except TheoremError as error:
        raise InputError("statement", line, str(error)) from None


def defined(statement: Statement) -> Statement | None:
    """Return the statement with a definition in place of a real parameter that a hypothesis equates with a value.

    The relations of the parameter's domain become hypotheses. A hypothesis without symbols after the substitution is
    left out if it holds. The result is None if such a hypothesis is not shown to hold, or if no hypothesis is an
    equation for such a parameter.
    """
    for hypothesis in statement.hypotheses:
        for symbol, value in _sides(statement, hypothesis.relation):
            parameter = next(each for each in statement.parameters if each.name == symbol.name)
            name = sp.Symbol(symbol.name, real=True)
            lower = [(sp.Ge, parameter.minimum), (sp.Gt, parameter.above)]
            least = [head(symbol, sp.Rational(end), evaluate=False) for head, end in lower if end is not None]
            ends = (*least, *(each for each in statement.domain if symbol in each.free_symbols))
            inside = [Hypothesis(f"domain {i} of {symbol}", each) for i, each in enumerate(ends, 1)]
            # The equation fails if the value does not exist.
            exists = Hypothesis(hypothesis.label, sp.Eq(value, value, evaluate=False), f"{symbol} has a value")
            others = [exists if each is hypothesis else each for each in (*inside, *statement.hypotheses)]
            others = [replace(each, relation=_put(each.relation, symbol, value)) for each in others]
            alone = [each for each in others if not sp.sympify(each.relation).free_symbols]
            if not all(evaluate_hypothesis(each, {}).holds for each in alone):
                return None
            return Statement(
                tuple(each for each in statement.parameters if each is not parameter),
                tuple(replace(each, relation=_put(each.relation, symbol, name)) for each in statement.claims),
                tuple(each for each in others if each not in alone),
                tuple(each for each in statement.domain if symbol not in each.free_symbols),
                definitions={name: value, **{s: e.xreplace({symbol: name}) for s, e in statement.definitions.items()}},
            )
    return None


def _sides(statement: Statement, relation: Any) -> Iterator[tuple[Any, sp.Basic]]:
    """Yield (parameter, other side) for each side of an equation that is a real parameter not in the other side."""
    real = {parameter.name for parameter in statement.parameters if parameter.kind == "rational"}
    sides: list[Any] = list(relation.args) if isinstance(relation, sp.Eq) else []
    for symbol, value in (sides, sides[::-1]) if sides else ():
        if symbol.is_Symbol and symbol.name in real and symbol not in value.free_symbols:
            yield symbol, value


def _put(relation: Any, symbol: sp.Symbol, value: sp.Basic) -> Any:
    return relation.func(*(substituted(side, {symbol: value}) for side in relation.args), evaluate=False)


def example_of(statement: Statement) -> dict[str, Value] | None:
    """Return an instance in scope with small numbers, or None if none was found."""
    for instance in islice(map(partial(_completed, statement), _instances(statement)), _TRIED):
        try:
            check_domain(statement, instance)
            if all(evaluate_hypothesis(each, instance).holds for each in statement.hypotheses):
                return instance
        except (InputError, UndefinedError, UndecidedError):
            continue
    return None


def _equations(statement: Statement) -> dict[str, sp.Basic]:
    """Return the parameters that the hypotheses' equations determine, each with its expression.

    An equation determines the symbol on its left or, without one, the last parameter in which it is affine.
    """
    found: dict[str, sp.Basic] = {}
    for relation in (each.relation for each in statement.hypotheses if isinstance(each.relation, sp.Eq)):
        if relation.lhs.is_Symbol:
            found[str(relation.lhs)] = relation.rhs
            continue
        difference, symbols = sp.Add(relation.lhs, sp.Mul(-1, relation.rhs)), symbols_by_name(relation)
        for name in reversed([each.name for each in statement.parameters if each.name in symbols.keys() - found]):
            slope = difference.diff(symbols[name])
            if slope.is_zero is not True and not slope.has(symbols[name]):
                found[name] = sp.Mul(-1, difference.xreplace({symbols[name]: sp.Integer(0)}), sp.Pow(slope, -1))
                break
    return found


def _completed(statement: Statement, instance: dict[str, Value]) -> dict[str, Value]:
    """Return the instance with the values that the hypotheses' equations set, if exact and in the domain."""
    completed = dict(instance)
    for parameter in statement.parameters:
        with suppress(UndefinedError, UndecidedError, InputError, KeyError):
            value, _ = evaluate_rising(_equations(statement)[parameter.name], completed)
            completed[parameter.name] = parameter.parse(value)
    return completed


def _instances(statement: Statement) -> Iterator[dict[str, Value]]:
    """Yield instances, sorted by the sum of the indices of their values in the lists of values.

    A parameter that an equation determines has only the first value of its list.
    """
    values = {parameter.name: _values(parameter) for parameter in statement.parameters}
    values |= {name: values[name][:1] for name in _equations(statement)}
    longest = sum(len(each) - 1 for each in values.values())
    for total in range(longest + 1):
        for places in _sums(total, [len(each) - 1 for each in values.values()]):
            yield {name: each[place] for (name, each), place in zip(values.items(), places, strict=True)}


def _sums(total: int, most: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the tuples of integers >= 0 with sum `total`, each entry at most the entry of `most` at its place."""
    if not most:
        if not total:
            yield ()
        return
    for first in range(max(0, total - sum(most[1:])), min(total, most[0]) + 1):
        for rest in _sums(total - first, most[1:]):
            yield (first, *rest)


def _values(parameter: Parameter) -> list[Value]:
    least = parameter.lower
    shifted = [Fraction(least) + value for value in _FIRST] if least is not None else []
    shifted += [Fraction(parameter.upper) - value for value in _FIRST] if parameter.upper is not None else []
    tried = dict.fromkeys([*_FIRST, *shifted])
    return [parameter.parse(value) for value in tried if value in parameter]
