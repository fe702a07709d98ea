# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false
"""A proof for all parameters as a person would write it: line by line, from its data."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import sympy as sp

from verify.language.expressions import from_data
from verify.language.statement import Statement
from verify.provers.deduction.account.styles import formula, marked as text_of, plain
from verify.provers.deduction.facts import Tree
from verify.provers.deduction.limits import MEANS
from verify.provers.slack_text import KINDS, slack_lines

_RELATIONS = {"Ge": ">=", "Gt": ">", "Eq": "="}
_KNOWN = {
    "exp": "exp(u) >= 1 + u",
    "log": "log(u) <= u - 1",
    "product": "log(u*v) = log(u) + log(v)",
    "monotone": "(u**n - v**n)*(u - v) >= 0",
    "tangent": "v**n >= u**n + n*u**(n - 1)*(v - u)",
    "circle": "sin(u)**2 + cos(u)**2 = 1",
    "sin_sum": "sin(u + v) = sin(u)*cos(v) + cos(u)*sin(v)",
    "cos_sum": "cos(u + v) = cos(u)*cos(v) - sin(u)*sin(v)",
    "sin_above": "sin(u) <= 1",
    "sin_below": "-1 <= sin(u)",
    "cos_above": "cos(u) <= 1",
    "cos_below": "-1 <= cos(u)",
    "sin_positive": "sin(u) > 0 for 0 < u < pi",
    "cos_positive": "cos(u) > 0 for -pi/2 < u < pi/2",
    "sin_nonnegative": "sin(u) >= 0 for 0 <= u <= pi",
    "cos_nonnegative": "cos(u) >= 0 for -pi/2 <= u <= pi/2",
    "atan_above": "atan(u) < pi/2",
    "atan_below": "-pi/2 < atan(u)",
    "floor_above": "floor(u) <= u",
    "floor_below": "u < floor(u) + 1",
    "mean": "n*v <= u_1 + ... + u_n",
    "exp_from": "exp(u) >= exp(v)*(1 + u - v)",
    "log_from": "log(u) <= log(v) + (u - v)/v",
    "rises": "u**n >= v**n",
    "three_terms": "(1 + u)**n >= 1 + n*u + n*(n - 1)*u**2/2",
    "integer": "n*(n - 1) >= 0",
}
_ARGUMENTS = {
    **dict.fromkeys(("monotone", "tangent", "rises"), "uvn"),
    "integer": "n",
    "three_terms": "un",
    "mean": ["v", *(f"u_{i}" for i in range(1, MEANS.parts + 1))],
}
_INDENT = "  "
_NUMBERED = re.compile(r"hypothesis \d+")
"""A default label, which has only the number of a hypothesis: the hypothesis itself says more."""
_RULES: ContextVar[dict[str, str] | None] = ContextVar("rules", default=None)
"""The texts of the rules that are still to be explained; None if nothing is explained."""
Facts = Sequence[str]


def lines_of(
    proof: Tree,
    statement: Statement,
    rules: Mapping[str, str] | None = None,
    above: Any = None,
    conditions: Sequence[Any] = (),
    relation: Any = None,
) -> list[tuple[str, str]]:
    """Return the lines of a proof, each as text and in LaTeX; the facts that it uses are written out in place.

    `rules` has the meaning of each rule by its name. If it is given, every inference is explained: first the facts,
    then each rule before its conclusion, and the terms of each sum. For a proof of kind "falls", `above` is the
    expression that is > 0 above the level. `conditions` are the conditions of an implication. For a proof in slacks,
    of one of the `KINDS`, `relation` is the inequality.
    """
    if proof["kind"] in KINDS:
        lines = slack_lines(proof, relation, statement, explain=rules is not None)
        return [(plain(line), formula(line)) for line in lines]
    facts, listed = _facts(proof, statement, conditions)
    token = _RULES.set(None if rules is None else dict(rules))
    try:
        told = _falling(proof, facts, above) if proof["kind"] == "falls" else _told(proof["tree"], facts, "margin")
        return [(plain(line), formula(line)) for line in [*(listed if rules is not None else ()), *told]]
    finally:
        _RULES.reset(token)


def _facts(proof: Tree, statement: Statement, conditions: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return the facts that a proof begins with, and a line for the meaning of each."""
    relational = [h for h in statement.hypotheses if h.relation is not None]
    known = [*statement.domain, *(h.relation for h in relational), *conditions]
    labels = [*[""] * len(statement.domain), *(h.label for h in relational), *[""] * len(conditions)]
    facts, listed = list[str](), list[str]()
    for place in proof["relations"]:
        written = _bound(place, statement) if isinstance(place, str) else _margin(known[place])
        label = "" if isinstance(place, str) or _NUMBERED.fullmatch(labels[place]) else labels[place]
        facts.append(f"slack({label})" if label else written)
        listed.append(f"fact {len(listed)}: {f'{facts[-1]} = ' if label else ''}{written}")
    return facts, listed


def _falling(proof: Tree, facts: Facts, above: Any) -> Iterator[str]:
    """Yield the lines of a proof that each step above a level lowers the observable by an amount."""
    kept = [_margin(from_data(data)) for data in proof["invariants"]]
    inside = [*facts, *kept, text_of(above)]
    yield f"above the level each step lowers the observable by {_text(proof['amount'])}, which is positive, since"
    yield from _inside(proof["positive"], facts, "it")
    for relation, start, step in zip(proof["invariants"], proof["start"], proof["step"], strict=True):
        yield f"{_text(relation)} at the start:"
        yield from _inside(start, facts, "margin")
        yield "and after a step, if before it:"
        yield from _inside(step, inside, "margin")
    yield "the decrease in a step, minus that amount:"
    yield from _inside(proof["falls"], inside, "margin")


def _margin(relation: Any) -> str:
    left, right = relation.args
    small, large = (right, left) if isinstance(relation, sp.Ge | sp.Gt) else (left, right)
    return text_of(large - small)


def _bound(name: str, statement: Statement) -> str:
    parameter = next(p for p in statement.parameters if p.name == name)
    return text_of(sp.Symbol(name) - sp.sympify(parameter.lower))


def _text(data: Any) -> str:
    return text_of(from_data(data))


def _told(tree: Tree, facts: Facts, goal: str) -> Iterator[str]:
    rule = tree["rule"]
    yield from _explained(tree, facts)
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
    elif rule == "whole":
        yield f"an integer that is > -1 is >= 0: ({goal}) + 1 > 0, since"
        yield from _inside(tree["then"], facts, f"({goal} + 1)")
    elif rule == "contradiction":
        yield "suppose that the goal fails: then -margin is a fact, and a positive sum is 0:"
        yield from _inside(tree["then"], [*facts, "(-margin)"], "0")
    elif rule == "number":
        yield f"{goal}: a positive number"
    elif rule == "box":
        parts = _parts(tree["cuts"])
        yield f"{goal}: positive on {f'each of {parts} parts of ' if parts > 1 else ''}a box, in balls"
    else:
        yield from _branches(tree, facts, goal)


def _explained(tree: Tree, facts: Facts) -> Iterator[str]:
    """Yield the meaning of a rule at its first use, and the reason for each term of a sum, if these are asked for."""
    rules = _RULES.get()
    if rules is None:
        return
    said = rules.pop(tree["rule"], "")
    yield f"[{tree['rule']}]{f' {said}' if said else ''}"
    for factor, places, root in tree["terms"] if tree["rule"] == "sum" else ():
        scale: Any = from_data(factor)
        parts = [] if scale.is_positive and scale.is_number else [f"{text_of(scale)} by the signs in it"]
        parts += [facts[place] for place in places] + ([] if root is None else ["a square"])
        yield f"a term: {', '.join(parts) or text_of(scale)}"


def _branches(tree: Tree, facts: Facts, goal: str) -> Iterator[str]:
    """Yield the lines of a rule that has several parts, each under a heading."""
    if tree["rule"] == "cases":
        of, minus = _text(tree["of"]), text_of(-from_data(tree["of"]))
        above = ">=" if tree["at"] is None else ">"
        for key, relation, fact in (("above", above, of), ("at", "=", of), ("below", "<", minus)):
            if tree[key] is not None:
                yield f"if {of} {relation} 0:"
                yield from _inside(tree[key], [*facts, fact], goal)
    elif tree["rule"] == "both":
        for key, turned in (("above", goal), ("below", f"-({goal})")):
            yield f"{turned} >= 0:"
            yield from _inside(tree[key], facts, turned)
    elif tree["rule"] == "telescope":
        yield from _telescoped(tree, facts, goal)
    elif tree["rule"] in ("induction", "range"):
        yield from _induction(tree, facts, goal)
    elif tree["rule"] == "invariants":
        yield from _invariants(tree, facts, goal)
    else:
        x, new = (text_of(sp.Symbol(tree[key])) for key in ("in", "as"))
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


def _parts(cuts: Any) -> int:
    """Return the number of parts of a box that is cut."""
    return 1 if cuts is None else _parts(cuts[2]) + _parts(cuts[3])


def _induction(tree: Tree, facts: Facts, goal: str) -> Iterator[str]:
    """Yield the lines of an induction, from a start and perhaps to an end."""
    n, start, end = text_of(sp.Symbol(tree["in"])), tree.get("from"), tree.get("to")
    yield f"for the least {n}:" if start is None else f"for {n} = {_text(start)}:"
    yield from _inside(tree["first"], facts, goal)
    yield f"for {n} + 1{'' if end is None else f', up to {_text(end)}'}, if for {n}:"
    known = [f"{n} less its least value" if start is None else f"({n} - ({_text(start)}))"]
    known += [] if end is None else [f"({_text(end)} - {n} - 1)", f"({_text(end)} - {n})"]
    yield from _inside(tree["step"], [*facts, *known, f"[{goal} at {n}]"], f"{goal} at {n} + 1")


def _invariants(tree: Tree, facts: Facts, goal: str) -> Iterator[str]:
    """Yield the lines of relations of a recursion's states that are shown together."""
    states, known = ", ".join(text_of(sp.Symbol(name)) for name in tree["as"]), list(map(from_data, tree["relations"]))
    n = _text(tree["of"][2])
    yield f"of the states {states} after {n} steps, always:"
    for (head, *_), relation in zip(tree["relations"], known, strict=True):
        yield f"{_INDENT}{_margin(relation)} {_RELATIONS[head]} 0"
    for key, head, more in (
        ("first", "at the start", []),
        ("step", f"for {n} + 1, if for {n}", [*map(_margin, known)]),
    ):
        for relation, proof in zip(known, tree[key], strict=True):
            yield f"{head}, {_margin(relation)}:"
            yield from _inside(proof, [*facts, *more], "its margin")
    yield "so:"
    yield from _inside(tree["then"], [*facts, *map(_margin, known)], goal)


def _telescoped(tree: Tree, facts: Facts, goal: str) -> Iterator[str]:
    """Yield the lines of a proof with sums whose terms are differences G(k + 1) − G(k)."""
    k, first, last, primitive = (_text(tree[key]) for key in ("in", "from", "to", "of"))
    parts = [(from_data(share), _text(term)) for share, term in tree["sums"]]
    joined = " + ".join(term if share == 1 else f"({text_of(share)})*({term})" for share, term in parts)
    yield f"with G({k}) = {primitive}, the difference G({k} + 1) - G({k}) is {joined} at {k} from {first} to {last}:"
    yield from _inside(tree["step"], [*facts, f"({k} - ({first}))", f"({last} - {k})"], "what is left")
    yield f"fact {len(facts)}: the sum of these is G({_text(tree['to'])} + 1) - G({first})"
    yield from _told(tree["then"], [*facts, f"[fact {len(facts)}]"], goal)


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
    """Whether a text is a sum, which has a space outside brackets, or begins with a minus."""
    text, depth = plain(text), 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == " " and not depth:
            return True
    return text.startswith("-")
