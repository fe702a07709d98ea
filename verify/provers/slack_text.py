# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false
"""A proof in slacks as a person would write it: the slacks, then the margin in slacks, without negative coefficients.

A symbol whose lower bound is 0 is its own slack. Each line `margin = …` is an equation in the symbols that the lines
above define.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import sympy as sp

from verify.language.expressions import STRICT, from_data, to_data
from verify.language.nonvanishing import sign_of
from verify.language.statement import Statement
from verify.outcomes import Enclosure, short_text
from verify.provers.deduction.account.styles import marked
from verify.provers.proof_data import Proof, rational

KINDS = ("constant", "positive", "squares", "cases", "logarithms")
"""The kinds of proof in slacks."""
_MEANS = {
    "constant": "The margin is the same for all parameters, and positive in a ball.",
    "positive": "In slacks, which are >= 0, the margin has no negative coefficient.",
    "squares": "The margin is a sum of factors times squares, and of a rest; in slacks, which are >= 0, neither the "
    "factors nor the rest have a negative coefficient.",
    "cases": "In each case the margin, or a multiple of it, has no negative coefficient in slacks, which are >= 0.",
    "logarithms": "Each logarithm is bounded; the margin with the bounds in place of the logarithms is the rest.",
}
_INDENT = "  "
_MOST_OPERATIONS = 200
"""Maximum number of operations of a margin that is written out in slacks: a longer one may have thousands of terms."""
_MOST_TERMS = 30
"""Maximum number of terms of a sum that is written out when no explanation is asked for."""
_DIGITS = 10


def slack_lines(proof: Proof, relation: Any, statement: Statement, *, explain: bool) -> Iterator[str]:
    """Yield the lines of an inequality's proof, whose kind is one of the KINDS; each expression in them is `marked`.

    If `explain` is set, the kind's meaning comes first, and no case is left out.
    """
    kind, margin = str(proof["kind"]), statement.expand(relation.gts) - statement.expand(relation.lts)
    if explain:
        yield f"[{kind}] {_MEANS[kind]}"
    if kind == "constant":
        ball = Enclosure(*map(rational, proof["margin"]))
        yield f"margin = {short_text(ball, _DIGITS)}, at {proof['bits']} bits"
    elif kind == "logarithms":
        yield from _by_logarithms(proof, margin, statement, explain=explain)
    else:
        yield from _shown(proof, margin, statement, "margin", explain=explain)


def _by_logarithms(proof: Proof, margin: Any, statement: Statement, *, explain: bool) -> Iterator[str]:
    """Yield the bound of each logarithm, then the lines of the margin with these bounds substituted."""
    for entry in proof["logarithms"]:
        logarithm = next(each for each in margin.atoms(sp.log) if to_data(each.args[0]) == entry["of"])
        argument, value = logarithm.args[0], sp.Dummy()
        rises = sp.diff(margin.subs(logarithm, value), value).is_positive
        known, bound, least = ("log(u) >= 0", 0, 1) if rises else ("log(u) <= u - 1", argument - 1, 0)
        yield f"{known} for u = {marked(argument)}, which is {'>= 1' if rises else '> 0'}"
        if explain:
            goal = "u - 1" if rises else "u"
            yield from _inside(_shown(entry["proof"], argument - least, statement, goal, explain=True))
        margin = margin.subs(logarithm, bound)
    yield "margin >= the rest, with these bounds for the logarithms:"
    yield from _inside(_shown(proof["left"], margin, statement, "the rest", explain=explain))


def _inside(lines: Iterator[str]) -> Iterator[str]:
    return (_INDENT + line for line in lines)


def _shown(proof: Proof, margin: Any, statement: Statement, goal: str, *, explain: bool) -> Iterator[str]:
    """Yield the lines of a proof of kind "positive", "squares" or "cases" that a margin has its sign."""
    tree = proof.get("cases") or {"multipliers": [], "squares": proof.get("squares", [])}
    cases = _leaves(tree)
    if margin.count_ops() > _MOST_OPERATIONS:
        yield f"{goal}: too long to be written out; in slacks it has no negative coefficient"
    elif cases > 1 and not explain:
        yield f"{goal}: no negative coefficient in slacks, in each of {cases} cases; --explain has them"
    else:
        begun = _Slacks(statement, margin, goal, None if explain else _MOST_TERMS, _fresh(statement, margin))
        slacks, lines = begun.over(proof["relations"], proof["shifts"])
        yield from lines
        yield from slacks.told(tree)


def _leaves(tree: Proof) -> int:
    """Return the number of cases."""
    return sum(_leaves(tree[key]) for key in ("below", "above", "then") if key in tree) or 1


def _fresh(statement: Statement, margin: Any) -> Iterator[str]:
    """Return names for slacks that the statement does not use."""
    names = {symbol.name for symbol in (*statement.symbols(), *margin.free_symbols)}
    return (name for name in (f"s_{i}" for i in count(1)) if name not in names)


@dataclass(frozen=True)
class _Slacks:
    """A margin, and its symbols in slacks.

    Parameters
    ----------
    statement, margin, goal
        The statement, the margin in its symbols, and the words for the margin.
    most
        The maximum number of terms of a sum that is written out; None for any number.
    fresh
        Names of further slacks.
    names
        The symbol of each slack by its name in the proof; a symbol of the statement has its own name.
    steps
        The substitutions, one after the other.
    """

    statement: Statement
    margin: Any
    goal: str
    most: int | None
    fresh: Iterator[str]
    names: Mapping[str | int, Any] = field(default_factory=dict[str | int, Any])
    steps: tuple[Mapping[Any, Any], ...] = ()

    def over(self, places: Sequence[int], bounds: Mapping[str, str]) -> tuple["_Slacks", list[str]]:
        """Return the margin in the slacks of some relations and of some parameters' bounds, and the lines for them.

        A symbol that is >= 0, or > 0, is its own slack.
        """
        slacks, lines = self, list[str]()
        for i, place in enumerate(places):
            low, high = self._sides(place)
            others = {
                symbol for other in places[i + 1 :] for side in self._sides(other) for symbol in side.free_symbols
            }
            if high.is_Symbol and low == 0 and high not in others and high.name not in bounds:
                slacks = replace(slacks, names={**slacks.names, place: high})
                continue
            new = self._new(strict=isinstance(self._known(place), STRICT))
            step = {high: low + new} if high.is_Symbol else {low: high / (1 + new)}
            slacks = slacks.extended(place, new, step)
            lines.append(f"with {_is(step, new)}:")
        shifts = dict[Any, Any]()
        for symbol in sorted(self._symbols.values(), key=str):
            if rational(bounds.get(symbol.name, "0")):
                strict = next(each.minimum is None for each in self.statement.parameters if each.name == symbol.name)
                new = self._new(strict=strict)
                step = {symbol: sp.Rational(bounds[symbol.name]) + new}
                slacks, shifts = slacks.extended(symbol.name, new, {}), {**shifts, **step}
                lines.append(f"with {_is(step, new)}:")
        return replace(slacks, steps=(*slacks.steps, shifts)), lines

    def told(self, tree: Proof) -> Iterator[str]:
        """Yield the lines of a tree of cases."""
        if "at" in tree:
            yield from self._told_apart(tree)
        elif "relation" in tree:
            # The relation's margin is h - c*x; so x = h/c/(1 + s).
            x, relation = self._slack(tree["slack"]), self._known(tree["relation"])
            low, high = self._sides(tree["relation"])
            left, new = self._written(high - low), self._new(strict=isinstance(relation, STRICT))
            top = sp.cancel(sp.together(-left.subs(x, 0) / sp.diff(left, x)))
            step = {x: top / (1 + new)}
            yield f"with {_is(step, new)}, since {marked(relation)}:"
            yield from self.extended(tree["slack"], new, step).told(tree["then"])
        else:
            yield self._ending(tree)

    def _told_apart(self, tree: Proof) -> Iterator[str]:
        """Yield the lines of the two cases for a slack x: x = 0 and x > 0, or x < t and x >= t for some t."""
        x, at = self._slack(tree["slack"]), sp.Rational(tree["at"])
        if not at:
            zero = replace(self, steps=(*self.steps, {x: sp.S.Zero}))
            yield f"if {marked(x)} = 0:"
            yield from _inside(zero.told(tree["below"]))
            yield f"if {marked(x)} > 0:"
            yield from _inside(self.told(tree["above"]))
            return
        top = at if tree["times"] is None else at * self._slack(tree["times"])
        for key, relation, strict in (("below", "<", True), ("above", ">=", False)):
            new = self._new(strict=strict)
            step = {x: top / (1 + new) if strict else top + new}
            yield f"if {marked(x)} {relation} {marked(top)}, with {_is(step, new)}:"
            yield from _inside(self.extended(tree["slack"], new, step).told(tree[key]))

    def _ending(self, leaf: Proof) -> str:
        """Return the line that writes a margin, or a multiple of it, as squares times factors plus a rest."""
        left, squares, times = self.margin, list[str](), sp.S.One
        for square in leaf["squares"]:
            factor, root = from_data(square["factor"]), from_data(square["root"])
            left -= factor * root**2
            scale = self._summed(self._written(factor))
            squares.append(f"{'' if factor == 1 else f'{scale}*'}({marked(root)})**2")
        for multiplier in leaf["multipliers"]:
            times *= (1 + sp.Add(*map(self._slack, multiplier["over"]))) ** multiplier["power"]
        rest = self._summed(self._written(left) * times, alone=times != 1 or not squares)
        if times == 1:
            return f"{self.goal} = {' + '.join([*squares, *([rest] if rest else [])])}"
        return f"({marked(times)})*({' - '.join([self.goal, *squares])}) = {rest}"

    def _summed(self, expression: Any, *, alone: bool = False) -> str:
        """Return the text of a quotient without negative coefficients; "" for 0 unless it stands `alone`.

        A sum has parentheses unless it stands alone.
        """
        above, below = sp.fraction(sp.together(expression))
        symbols = sorted(above.free_symbols | below.free_symbols, key=str) or [sp.Dummy()]
        sign = sign_of(below, symbols)
        above, below = (above, below) if sign is None or sign[0] > 0 else (-above, -below)
        terms = sp.Poly(above, *symbols)
        if terms.is_zero:
            return "0" if alone else ""
        if self.most is not None and len(terms.terms()) > self.most:
            long = f"[{len(terms.terms())} terms with coefficients > 0]"
            return long if below == 1 else f"{long}/({marked(below)})"
        found = terms.as_expr() / below
        return marked(found) if alone or not found.is_Add else f"({marked(found)})"

    def _slack(self, name: str | int) -> Any:
        return self.names[name] if name in self.names else self._symbols[str(name)]

    @property
    def _symbols(self) -> Mapping[str, Any]:
        return {symbol.name: symbol for symbol in (*self.statement.symbols(), *self.margin.free_symbols)}

    def _known(self, place: int) -> Any:
        hypotheses = (each.relation for each in self.statement.hypotheses if each.relation is not None)
        return [*self.statement.domain, *hypotheses][place]

    def _sides(self, place: int) -> tuple[Any, Any]:
        """Return the smaller and the larger side of a relation."""
        relation = self._known(place)
        return self.statement.expand(relation.lts), self.statement.expand(relation.gts)

    def _written(self, expression: Any) -> Any:
        """Return an expression in the slacks."""
        for step in self.steps:
            expression = expression.subs(step, simultaneous=True)
        return expression

    def _new(self, *, strict: bool) -> Any:
        return sp.Symbol(next(self.fresh), positive=True) if strict else sp.Symbol(next(self.fresh), nonnegative=True)

    def extended(self, name: str | int, new: Any, step: Mapping[Any, Any]) -> "_Slacks":
        """Return the margin after a further substitution; `new` is the symbol of a slack."""
        return replace(self, names={**self.names, name: new}, steps=(*self.steps, step))


def _is(step: Mapping[Any, Any], new: Any) -> str:
    """Return a symbol's value in a new slack, and the slack's sign, as text."""
    ((symbol, value),) = step.items()
    return f"{marked(symbol)} = {marked(value)}, {marked(new)} {'>' if new.is_positive else '>='} 0"
