"""Margins in slacks: the symbols of an inequality are replaced by the slacks of relations and bounds.

Relations of the domain and hypotheses with a symbol x on one side are used first. For x ≥ a, x becomes a + s; for
x ≤ b with x > 0, x becomes b/(1 + s). Then every parameter with a lower bound becomes its bound plus a slack. All
slacks s are ≥ 0, or > 0 if the relation or the bound is strict.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any, TypeAlias

import sympy as sp

from verify.language.expressions import STRICT
from verify.language.nonvanishing import new_slack, sign_of
from verify.language.statement import Statement
from verify.provers.proof_data import number

Bound: TypeAlias = Fraction | int

_MOST_RELATIONS = 3
"""Maximum number of relations used in a margin, in every order: three of n relations make n (n − 1) (n − 2) margins."""


@dataclass(frozen=True)
class Margin:
    """A margin in slacks.

    Parameters
    ----------
    expression
        The margin, written in slacks.
    meaning
        Each slack in the statement's symbols.
    names
        The name of each slack in a certificate: its relation's place, or its parameter.
    bounds
        The bound of each parameter that is written as its bound plus a slack.
    chosen
        The places in `known` of the relations that were used.
    steps
        The substitutions, one after the other.
    known
        All relations that may be used.
    stated, statement
        The margin in the statement's symbols, and the statement.
    is_bounded
        Whether a slack was written in terms of an upper bound (see `bounded`). A slack's meaning may then have
        a divisor whose sign is not known.
    """

    expression: sp.Expr
    meaning: Mapping[sp.Symbol, sp.Expr]
    names: Mapping[sp.Symbol, str | int]
    bounds: Mapping[str, Bound]
    chosen: tuple[int, ...]
    steps: tuple[Mapping[sp.Symbol, sp.Expr], ...]
    known: Sequence[Any]
    stated: sp.Expr
    statement: Statement
    is_bounded: bool = False

    def data(self) -> dict[str, object]:
        """Return the slacks as a certificate states them."""
        shifts = {name: number(bound) for name, bound in self.bounds.items()}
        return {"shifts": shifts, "relations": list(self.chosen)}

    @property
    def unshifted(self) -> "Margin":
        """The margin in the statement's symbols, which then count as the slacks."""
        return replace(self, expression=self.stated, meaning={}, names={}, bounds={}, chosen=(), steps=())

    @cached_property
    def parts(self) -> tuple[sp.Expr, sp.Expr, list[sp.Symbol]] | None:
        """The numerator, the denominator > 0 and the symbols ≥ 0; None if these signs are not seen."""
        above, below = sp.fraction(sp.together(self.expression))
        symbols = sorted(self.expression.free_symbols, key=str)
        if not _has_value(self.expression) or not above.is_polynomial(*symbols):
            return None
        sign = sign_of(below, symbols)
        return (sign[0] * above, sign[0] * below, symbols) if sign and sign[1] else None  # pyright: ignore[reportReturnType]

    def bounded(self) -> Iterator[tuple[sp.Symbol, int, "Margin | None", "Margin"]]:
        """Yield each slack that a further relation bounds from above, the relation's place, and the two cases' margins.

        In the first case the slack is 0 (None for a slack > 0). In the second case the slack is b/(1 + s), for its
        bound b and a new slack s.
        """
        for i, relation in enumerate(self.known):
            if isinstance(relation, sp.Eq) or i in self.chosen:
                continue
            margin = relation.gts - relation.lts
            for slack in sorted(self.expression.free_symbols & set(self.above), key=str):
                if not sp.diff(margin, self.above[slack]).is_negative:
                    continue
                names = {symbol.name for symbol in margin.free_symbols} - set(self.bounds)
                over = self.over(dict(stated(self.statement, names)))
                left = over.substituted(margin)
                per = -sp.diff(left, slack)
                if slack.is_nonnegative and slack not in per.free_symbols and _is_positive(per) and _has_value(left):
                    top = left.subs(slack, 0) / per
                    new = new_slack(f"s{self.name(slack)}", strict=isinstance(relation, STRICT))
                    meant = top.subs(over.meaning) / over.symbol(slack) - 1  # pyright: ignore[reportCallIssue]
                    inside = over.with_slack(slack, top / (1 + new), {new: meant})
                    yield slack, i, None if slack.is_positive else over.with_slack(slack, sp.S.Zero, {}), inside  # pyright: ignore[reportReturnType]

    @property
    def above(self) -> dict[sp.Symbol, sp.Symbol]:
        """The symbol x for each slack x − a with a lower bound a; a symbol that is no slack maps to itself."""
        replaced = [pair for step in self.steps for pair in step.items()]
        added = {part: symbol for symbol, value in replaced for part in sp.Add.make_args(value) if part in self.meaning}
        return {symbol: symbol for symbol in self.expression.free_symbols if symbol not in self.meaning} | added  # pyright: ignore[reportReturnType]

    def symbol(self, slack: sp.Symbol) -> sp.Expr:
        """Return a slack as an expression in the statement's symbols."""
        return self.meaning.get(slack, slack)

    def name(self, slack: sp.Symbol) -> str | int:
        """Return the name of a slack in a certificate."""
        return self.names.get(slack, slack.name)

    def substituted(self, expression: sp.Expr) -> sp.Expr:
        """Return an expression of the statement's symbols, written in the slacks."""
        for step in self.steps:
            expression = expression.subs(step, simultaneous=True)  # pyright: ignore[reportCallIssue]
        return expression

    def with_slack(self, slack: sp.Symbol, value: sp.Expr, new: Mapping[sp.Symbol, sp.Expr]) -> "Margin":
        """Return the margin with a slack replaced by a value; `new` maps a new slack in the value to its meaning."""
        steps, meaning = (*self.steps, {slack: value}), {**self.meaning, **new}
        names = {**self.names, **dict.fromkeys(new, self.name(slack))}
        left, bounded = self.expression.subs(slack, value), self.is_bounded or bool(new)
        return replace(self, expression=left, meaning=meaning, names=names, steps=steps, is_bounded=bounded)

    def over(self, ends: Mapping[str, Bound]) -> "Margin":
        """Return the margin with more parameters written as their bound plus a slack."""
        slacks = _slacks(self.statement, ends)
        bounds = {symbol: sp.Rational(ends[symbol.name].numerator, ends[symbol.name].denominator) for symbol in slacks}
        substitution = {symbol: bounds[symbol] + slack for symbol, slack in slacks.items()}
        return replace(
            self,
            expression=self.expression.subs(substitution, simultaneous=True),  # pyright: ignore[reportCallIssue]
            meaning={**self.meaning, **{slack: symbol - bounds[symbol] for symbol, slack in slacks.items()}},
            names={**self.names, **{slack: symbol.name for symbol, slack in slacks.items()}},
            bounds={**self.bounds, **ends},
            steps=(*self.steps, substitution),
        )


def margins(margin: sp.Expr, known: Sequence[Any], statement: Statement) -> Iterator[Margin]:
    """Yield the margin, written in the slacks of some relations and of its other parameters' lower bounds.

    An inequality in `known` is used if its larger side, or a positive smaller side, is a symbol of the margin. The
    margin without any relation comes first, then the margins with one relation, and so on.
    """
    usable = [i for i, relation in enumerate(known) if _bounded(relation) is not None]
    for count in range(min(_MOST_RELATIONS, len(usable)) + 1):
        for chosen in permutations(usable, count):
            written = Margin(margin, {}, {}, {}, chosen, (), known, margin, statement)
            for i in chosen:
                symbol, low, high = _bounded(known[i]), known[i].lts, known[i].gts
                if symbol not in written.expression.free_symbols:
                    break
                slack = new_slack(f"s{i}", strict=isinstance(known[i], STRICT))
                value = low + slack if symbol == high else high / (1 + slack)
                written = replace(
                    written,
                    expression=written.expression.subs(symbol, value),  # pyright: ignore[reportCallIssue]
                    meaning={**written.meaning, slack: high - low if symbol == high else high / low - 1},
                    names={**written.names, slack: i},
                    steps=(*written.steps, {symbol: value}),
                )
            else:
                yield written.over(dict(stated(statement, {symbol.name for symbol in written.expression.free_symbols})))  # pyright: ignore[reportAttributeAccessIssue]


def _bounded(relation: Any) -> sp.Symbol | None:
    """Return an inequality's larger side if it is a symbol, or else its smaller side if it is a positive symbol."""
    if isinstance(relation, sp.Eq):
        return None
    if isinstance(relation.gts, sp.Symbol):
        return relation.gts
    return relation.lts if isinstance(relation.lts, sp.Symbol) and relation.lts.is_positive else None


def stated(statement: Statement, names: set[str]) -> list[tuple[str, Bound]]:
    """Return the names and lower bounds of those named parameters that have a lower bound."""
    ends = [(p.name, p.lower) for p in statement.parameters if p.name in names]
    return [(name, end) for name, end in ends if end is not None]


def _slacks(statement: Statement, ends: Mapping[str, Bound]) -> dict[sp.Symbol, sp.Symbol]:
    strict = {p.name for p in statement.parameters if p.minimum is None}
    return {s: new_slack(f"s{s.name}", strict=s.name in strict) for s in statement.symbols() if s.name in ends}


def _has_value(expression: sp.Expr) -> bool:
    """Whether all symbols are ≥ 0 and no divisor vanishes; divisors that cancel count too."""
    symbols = sorted(expression.free_symbols, key=str)
    divisors = [power.base for power in expression.atoms(sp.Pow) if power.exp.is_negative]
    signs = [sign_of(sp.fraction(sp.together(base))[0], symbols) for base in divisors]
    return all(symbol.is_nonnegative for symbol in symbols) and all(sign and sign[1] for sign in signs)


def _is_positive(quotient: sp.Expr) -> bool:
    symbols = sorted(quotient.free_symbols, key=str)
    parts = sp.fraction(sp.together(quotient))
    return all(s.is_nonnegative for s in symbols) and all(is_shown(part, symbols, strict=True) for part in parts)


def is_shown(polynomial: sp.Expr, symbols: Sequence[sp.Symbol], *, strict: bool) -> bool:
    """Whether no coefficient is negative and, if `strict`, some term is never 0."""
    sign = sign_of(polynomial, symbols)
    return sign is not None and sign[0] >= 0 and (sign[1] or not strict)
