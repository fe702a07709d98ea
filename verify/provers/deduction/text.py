# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false
"""A deduction as a person would write it: line by line, from the data of its proof."""

from collections.abc import Iterator, Sequence
from typing import Any

import sympy as sp

from verify.language.expressions import from_data
from verify.language.statement import Statement
from verify.printing import text_of
from verify.provers.deduction.facts import Tree
from verify.provers.deduction.limits import MEANS

_RELATIONS = {"Ge": ">=", "Gt": ">", "Eq": "="}
_KNOWN = {
    "exp": "exp(u) >= 1 + u",
    "log": "log(u) <= u - 1",
    "product": "log(u*v) = log(u) + log(v)",
    "monotone": "(u**n - v**n)*(u - v) >= 0",
    "tangent": "v**n >= u**n + n*u**(n - 1)*(v - u)",
    "circle": "sin(u)**2 + cos(u)**2 = 1",
    "sin_above": "sin(u) <= 1",
    "sin_below": "-1 <= sin(u)",
    "cos_above": "cos(u) <= 1",
    "cos_below": "-1 <= cos(u)",
    "floor_above": "floor(u) <= u",
    "floor_below": "u < floor(u) + 1",
    "mean": "n*v <= u_1 + ... + u_n",
}
_ARGUMENTS = {"monotone": "uvn", "tangent": "uvn", "mean": ["v", *(f"u_{i}" for i in range(1, MEANS.parts + 1))]}
_INDENT = "  "
Facts = Sequence[str]


def lines_of(proof: Tree, statement: Statement) -> list[str]:
    """Return the lines of a deduction's proof; the facts that it uses are written out where they are."""
    known = [*statement.domain, *(h.relation for h in statement.hypotheses if h.relation is not None)]
    facts = [
        _bound(place, statement) if isinstance(place, str) else _margin(known[place]) for place in proof["relations"]
    ]
    return list(_told(proof["tree"], facts, "margin"))


def _margin(relation: Any) -> str:
    left, right = relation.args
    small, large = (right, left) if isinstance(relation, sp.Ge | sp.Gt) else (left, right)
    return text_of(large - small)


def _bound(name: str, statement: Statement) -> str:
    parameter = next(p for p in statement.parameters if p.name == name)
    least = parameter.minimum if parameter.minimum is not None else parameter.above
    return text_of(sp.Symbol(name) - sp.sympify(least))


def _text(data: Any) -> str:
    return text_of(from_data(data))


def _told(tree: Tree, facts: Facts, goal: str) -> Iterator[str]:
    rule = tree["rule"]
    if rule == "sum":
        yield _sum(tree, facts, goal)
    elif rule == "lemma":
        yield f"{_text(tree['relation'])}, since"
        yield from _inside(tree["proof"], facts, "its margin")
        yield from _told(tree["then"], [*facts, _margin(from_data(tree["relation"]))], goal)
    elif rule == "known":
        names = _ARGUMENTS.get(tree["name"], "uv")
        at = ", ".join(f"{name} = {_text(data)}" for name, data in zip(names, tree["of"], strict=False))
        yield f"fact {len(facts)}: {_KNOWN[tree['name']]} for {at}"
        yield from _told(tree["then"], [*facts, f"[fact {len(facts)}]"], goal)
    elif rule == "replace":
        yield f"with {_text(tree['in'])} = {_text(tree['by'])}:"
        yield from _inside(tree["then"], facts, goal)
    elif rule == "contradiction":
        yield "if it fails, its negative (-margin) is a fact, and a positive sum is 0:"
        yield from _inside(tree["then"], [*facts, "(-margin)"], "0")
    elif rule == "number":
        yield f"{goal}: a positive number"
    else:
        yield from _branches(tree, facts, goal)


def _branches(tree: Tree, facts: Facts, goal: str) -> Iterator[str]:
    """Yield the lines of a rule that has several parts, each under its head."""
    if tree["rule"] == "cases":
        of, minus = _text(tree["of"]), text_of(-from_data(tree["of"]))
        above = ">=" if tree["at"] is None else ">"
        for key, relation, fact in (("above", above, of), ("at", "=", of), ("below", "<", minus)):
            if tree[key] is not None:
                yield f"if {of} {relation} 0:"
                yield from _inside(tree[key], [*facts, fact], goal)
    elif tree["rule"] == "induction":
        n = tree["in"]
        yield f"for the least {n}:"
        yield from _inside(tree["first"], facts, goal)
        yield f"for {n} + 1, if for {n}:"
        yield from _inside(
            tree["step"], [*facts, f"{n} less its least value", f"[{goal} at {n}]"], f"{goal} at {n} + 1"
        )
    else:
        x, new = tree["in"], tree["as"]
        ends = [tree["from"], tree["to"]] if tree["rule"] == "concave" else [tree["from"]]
        for key, end in zip(("start", "end"), ends, strict=False):
            yield f"at {x} = {_text(end)}:"
            yield from _inside(tree[key], facts, goal)
        word, key = ("minus the second slope", "curve") if tree["rule"] == "concave" else ("the slope", "slope")
        yield f"{word} at {new}, between {' and '.join([*map(_text, ends), *([x] if len(ends) == 1 else [])])}:"
        first, last = (
            f"({new} - ({_text(ends[0])}))",
            f"({x} - {new})" if len(ends) == 1 else f"(({_text(ends[1])}) - {new})",
        )
        turned = [f"-{first}", f"-{last}"] if tree.get("side") == "below" else [first, last]
        yield from _inside(tree[key], [*facts, *turned], word)


def _inside(tree: Tree, facts: Facts, goal: str) -> Iterator[str]:
    for line in _told(tree, facts, goal):
        yield _INDENT + line


def _sum(tree: Tree, facts: Facts, goal: str) -> str:
    parts = []
    for factor, places, root in tree["terms"]:
        multiplied = [f"({facts[place]})" if _is_sum(facts[place]) else facts[place] for place in places]
        multiplied += [] if root is None else [f"({_text(root)})**2"]
        scale: Any = from_data(factor)
        shown = [] if scale == 1 and multiplied else [f"({text_of(scale)})" if scale.is_Add else text_of(scale)]
        parts.append("*".join([*shown, *multiplied]))
    times = from_data(tree["times"])
    left = goal if times == 1 else f"({text_of(times)})*({goal})"
    return f"{left} = {' + '.join(parts) or '0'}"


def _is_sum(text: str) -> bool:
    return (" " in text or text.startswith("-")) and not text.startswith(("[", "("))
