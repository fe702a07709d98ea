"""A drawn statement at an instance, with the right verdicts; and statements that consist of relations."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from tests.verify.statements.numbers import UnsureError
from tests.verify.statements.trees import Tree, symbol, tree, truth
from tests.verify.statements.writing import faithful, relation_of
from verify import Hypothesis, Inequality, Parameter, Source, Statement, Theorem

SOURCE = Source("drawn", "derived here")
Values = Mapping[str, Any]


@dataclass
class Specimen:
    """A theorem, an instance, and functions that return a clause's truth at an instance; None if it has no value.

    The functions in `values` return the values that a check should report, or None if it must report none.
    `degenerate`: something has no value, or a leading coefficient vanishes. `hard`: the truth is known, but a check
    need not decide it. `others` are further instances, at which clauses that are proved for all parameters are tested.
    `refused`: the instance is outside the domain.
    """

    category: str
    kind: str
    theorem: Theorem
    instance: dict[str, Any]
    clauses: dict[str, Callable[[Values], bool | None]]
    hypotheses: dict[str, Callable[[Values], bool]] = field(default_factory=dict)
    values: dict[str, Callable[[Values], Any]] = field(default_factory=dict)
    degenerate: bool = False
    hard: bool = False
    others: tuple[dict[str, Any], ...] = ()
    refused: bool = False

    def in_scope(self, instance: Values) -> bool:
        """Whether all hypotheses hold at an instance."""
        return all(holds(instance) for holds in self.hypotheses.values())


@dataclass(frozen=True)
class Claim:
    """A relation between two trees; with `equal` the sides are equal by construction wherever both have a value."""

    left: Tree
    relation: str
    right: Tree
    equal: bool = False

    def truth(self, values: Values, definitions: Mapping[str, Tree] | None = None) -> bool | None:
        """Return whether the claim holds; None if a side has no value."""
        return truth(self.left, self.relation, self.right, values, definitions, equal=self.equal)


def theorem_of(statement: Statement, values: Mapping[str, Any] | None = None, **more: Any) -> Theorem:
    """Return a theorem that consists of the statement alone."""
    # Like a variant, a drawn statement may have hypotheses that no clause depends on.
    return Theorem("user.drawn", "drawn", SOURCE, statement, {}, values or {}, is_variant=True, **more)


def written_claim(
    claim: Claim, symbols: Mapping[str, sp.Symbol], points: Any, definitions: Any = None, words: Any = None
) -> Any:
    """Return a claim as an unevaluated SymPy relation whose sides have the values of the trees."""
    sides = [faithful(side, symbols, points, definitions, words) for side in (claim.left, claim.right)]
    return relation_of(sides[0], claim.relation, sides[1])


def symbols_of(trees: Any, assumed: Mapping[str, dict[str, bool]] | None = None) -> dict[str, sp.Symbol]:
    """Return a SymPy symbol for each name in some trees."""
    names = frozenset().union(*(node.names() for node in trees))
    labels = {node.label if node.op in ("limit", "subs") else node.label[0] for node in _binders(trees)}
    known = _bound(trees) | dict(assumed or {})
    return {name: sp.Symbol(name, **known.get(name, {})) for name in sorted({*names, *labels, *known})}


def _bound(trees: Any) -> dict[str, dict[str, bool]]:
    """Return the assumptions on the symbols that sums, products and recursions bind: integers, and real states."""
    found: dict[str, dict[str, bool]] = {}
    for node in trees:
        found |= _bound(node.parts)
        if node.op in ("Sum", "Product"):
            found[node.label] = {"integer": True}
        elif node.op == "Iterate":
            _, counter, *states = node.label
            found |= {name: {"real": True} for name in states} | {counter: {"integer": True, "nonnegative": True}}
    return found


def _binders(trees: Any) -> list[Tree]:
    found = []
    for node in trees:
        found += [node] if node.op in ("limit", "subs", "derivative", "case") else []
        found += _binders(node.parts)
    return found


def statement_at(
    draw: random.Random,
    category: str,
    kind: str,
    instance: dict[str, Any],
    claims: list[Claim],
    *,
    definitions: dict[str, Tree] | None = None,
    hypotheses: list[Claim] | None = None,
    domain: list[Claim] | None = None,
    words: dict[str, tuple[str, ...]] | None = None,
    parameters: dict[str, Parameter] | None = None,
    reported: Mapping[str, Any] | None = None,
    expected: Mapping[str, Callable[[Values], Any]] | None = None,
    structural: tuple[str, ...] = (),
    degenerate: bool = False,
    hard: bool = False,
) -> Specimen:
    """Return a statement of relations at an instance; the trees decide its truth."""
    definitions, words = definitions or {}, words or {}
    hypotheses, domain = hypotheses or [], domain or []
    relations = [*claims, *hypotheses, *domain]
    trees = [*(side for c in relations for side in (c.left, c.right)), *definitions.values()]
    names = [name for name in instance if name not in words]
    made = dict.fromkeys(names, None) | (parameters or {})
    listed = {n: p or Parameter(n, "rational", n) for n, p in made.items()}
    listed |= {n: Parameter(n, "word", n, words=w) for n, w in words.items()}
    assumed = {n: {"real": True} for n in names if listed[n].kind == "rational" and draw.random() < 0.5}
    assumed |= {n: {"integer": True} for n in names if listed[n].kind == "integer"}
    symbols = symbols_of([*trees, *map(symbol, [*instance, *definitions])], assumed)
    others = tuple(_other(draw, instance, listed) for _ in range(4))
    # A search tries simple numbers with any words, so SymPy's expressions must have the trees' values there too.
    numbers = [(n, Fraction(x)) for n in names if listed[n].kind != "rationals" for x in (0, 1, -1)]
    chosen = [dict(zip(words, some, strict=True)) for some in product(*words.values())]
    points = [instance, *others, *({**instance, **some, n: x} for some in chosen for n, x in numbers)]
    put: dict[Any, Any] = {}
    for name, node in definitions.items():
        put[symbols[name]] = faithful(node, symbols, points, definitions, words)
    clauses, truths = [], {}
    for i, claim in enumerate(claims):
        clauses.append(Inequality(f"c{i}", written_claim(claim, symbols, points, definitions, words)))
        truths[f"c{i}"] = lambda values, c=claim: c.truth(values, definitions)
    kept, holds = [], {}
    for i, claim in enumerate(hypotheses):
        kept.append(Hypothesis(f"h{i}", written_claim(claim, symbols, points, None, words)))
        holds[f"h{i}"] = lambda values, c=claim: c.truth(values) is True
    for word in structural:
        kept.append(Hypothesis(f"as {word}", text=f"{word} is as in the paper", varies=listed[word]))
        holds[f"as {word}"] = lambda values, w=word: values[w] == words[w][0]
    bounds = tuple(written_claim(c, symbols, points) for c in domain)
    statement = Statement(tuple(listed.values()), tuple(clauses), tuple(kept), bounds, (), put)
    found = [t(instance) for t in truths.values()]
    missing = None in found or any(c.truth(instance) is None for c in hypotheses)
    values = {name: value(symbols) if callable(value) else value for name, value in (reported or {}).items()}
    others = tuple(o for o in others if all(_holds(c, o) for c in domain))
    return Specimen(
        category,
        kind,
        theorem_of(statement, values),
        instance,
        truths,
        holds,
        dict(expected or {}),
        degenerate or missing,
        hard,
        others,
        any(c.truth(instance) is not True for c in domain),
    )


def _holds(claim: Claim, values: Values) -> bool:
    try:
        return claim.truth(values) is True
    except UnsureError:
        return False


def _other(draw: random.Random, instance: Values, listed: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return another instance, with each value in its parameter's range; 0 and integers are likely."""
    other: dict[str, Any] = {}
    for name, parameter in listed.items():
        if parameter.words:
            other[name] = draw.choice(parameter.words)
        elif parameter.kind == "rationals":
            other[name] = instance[name]
        else:
            drawn = [instance[name], Fraction(0), Fraction(1), small(draw), small(draw)]
            wanted = [x for x in drawn if x in parameter and (parameter.kind != "integer" or x.denominator == 1)]
            other[name] = draw.choice(wanted)
    return other


def small(draw: random.Random, *, zero: bool = True) -> Fraction:
    """Return a small number, often an integer."""
    while True:
        x = Fraction(draw.randint(-4, 4), draw.choice((1, 1, 1, 2, 3)))
        if x or zero:
            return x


def a_number(draw: random.Random, *, zero: bool = True) -> Tree:
    """Return a small number as a tree."""
    return tree(small(draw, zero=zero))
