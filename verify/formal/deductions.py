"""Deductions: explicit sums of products of facts, and the rules that add facts or tell cases apart."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from verify.formal.clauses import Clause
from verify.formal.expressions import Data, NotSaidError, sides

_SIGNS: Mapping[str, str] = {"Lt": "Gt", "Gt": "Gt", "Le": "Ge", "Ge": "Ge", "Eq": "Eq"}
_PROPOSITIONS: Mapping[str, str] = {"Gt": "0 < {}", "Ge": "0 <= {}", "Eq": "{} = 0"}
_BY_MULTIPLE: Mapping[str, str] = {"Gt": "positive", "Ge": "nonnegative", "Eq": "zero"}
_OF: Mapping[str, str] = {"Lt": "of_lt", "Gt": "of_lt", "Le": "of_le", "Ge": "of_le", "Eq": "of_eq"}


class _Signed(NamedTuple):
    """An expression, and that it is >= 0, > 0 or 0."""

    of: Data
    sign: str


@dataclass(frozen=True)
class _Scope:
    """The facts at a place of a deduction, by number."""

    clause: Clause
    facts: tuple[_Signed, ...] = ()

    def adding(self, fact: _Signed) -> "_Scope":
        return replace(self, facts=(*self.facts, fact))

    @property
    def next(self) -> str:
        """The name of the fact that comes next."""
        return f"F_{len(self.facts)}"

    def said(self, fact: _Signed) -> str:
        """Return the proposition of a signed expression."""
        return _PROPOSITIONS[fact.sign].format(f"({self.clause.text(fact.of)})")


def by_deduction(clause: Clause, proof: Mapping[str, Any]) -> None:
    """Write a proof of kind `deduction`."""
    if clause.goal.slopes:
        raise NotSaidError("a deduction of what has a derivative")
    clause.begin()
    scope = _Scope(clause)
    for place in proof["relations"]:
        fact = clause.facts[place]
        signed = _signed(fact.relation)
        clause.say(
            f"assert ({scope.next} : {scope.said(signed)}) by exact ({_OF[str(fact.relation[0])]} _ _ {fact.name})."
        )
        scope = scope.adding(signed)
    for need in clause.leaves():
        clause.show([f"{need.sign}."])
    clause.end()
    clause.say(*_shown(scope, _signed(clause.relations[-1]), proof["tree"]))


def _signed(relation: Data) -> _Signed:
    left, right = sides(relation)
    low, high = (right, left) if relation[0] in ("Gt", "Ge") else (left, right)
    return _Signed(["Add", high, ["Mul", ["Integer", "-1"], low]], _SIGNS[str(relation[0])])


def _negative(data: Data) -> Data:
    return ["Mul", ["Integer", "-1"], data]


def _shown(scope: _Scope, goal: _Signed, tree: Mapping[str, Any]) -> list[str]:
    rule = _RULES.get(str(tree["rule"]))
    if rule is None:
        raise NotSaidError(f"the rule {tree['rule']} is not exported")
    return rule(scope, goal, tree)


def _block(lines: Sequence[str]) -> list[str]:
    return ["{", *(f"  {line}" for line in lines), "}"]


def _by_sum(scope: _Scope, goal: _Signed, tree: Mapping[str, Any]) -> list[str]:
    """A multiple of the goal is an explicit sum of products."""
    kept, zeros, lines = list[str](), list[str](), list[str]()
    for factor, used, root in tree["terms"]:
        facts = [scope.facts[number] for number in used]
        parts = [f"({scope.clause.text(factor)})", *(f"({scope.clause.text(fact.of)})" for fact in facts)]
        parts += [] if root is None else [f"({scope.clause.text(root)}) ^ 2"]
        product = " * ".join(parts)
        equation = next((number for number in used if scope.facts[number].sign == "Eq"), None)
        if equation is None:
            kept.append(product)
        else:
            lines.append(f"assert (Z_{len(zeros)} : {product} = 0) by (rewrite F_{equation}; ring).")
            zeros.append(product)
    total, times = " + ".join(kept) or "0", scope.clause.text(tree["times"])
    left = " + ".join([total, *zeros])
    equation = "equal"
    if zeros:
        rewritten = "; ".join(f"rewrite Z_{i}" for i in range(len(zeros)))
        equation = f"transitivity ({left}); [equal | {rewritten}; ring]"
    ending = {"Gt": "positive", "Ge": "nonnegative", "Eq": "reflexivity"}[goal.sign]
    return [
        *lines,
        f"apply ({_BY_MULTIPLE[goal.sign]}_by_multiple ({times}) _ ({total})); [positive | {equation} | {ending}].",
    ]


def _by_lemma(scope: _Scope, goal: _Signed, tree: Mapping[str, Any]) -> list[str]:
    """Another relation, with a proof, is a fact."""
    lemma = _signed(tree["relation"])
    shown = _block(_shown(scope, lemma, tree["proof"]))
    return [f"assert ({scope.next} : {scope.said(lemma)}).", *shown, *_shown(scope.adding(lemma), goal, tree["then"])]


def _by_known(scope: _Scope, goal: _Signed, tree: Mapping[str, Any]) -> list[str]:
    """An instance of what is known of a function is a fact."""
    if (known := _KNOWN.get(str(tree["name"]))) is None:
        raise NotSaidError(f"the known fact {tree['name']} is not exported")
    fact, shown = known(*tree["of"])
    arguments = " ".join(f"({scope.clause.text(each)})" for each in tree["of"])
    lines = [f"assert ({scope.next} : {scope.said(fact)}).", *_block([shown.format(arguments)])]
    return [*lines, *_shown(scope.adding(fact), goal, tree["then"])]


def _by_cases(scope: _Scope, goal: _Signed, tree: Mapping[str, Any]) -> list[str]:
    """An expression is > 0, 0 or < 0; without the middle case, >= 0 or < 0."""
    of, name = tree["of"], scope.next
    above = _Signed(of, "Ge" if tree["at"] is None else "Gt")
    cases = [("above", above), ("at", _Signed(of, "Eq")), ("below", _Signed(_negative(of), "Gt"))]
    text = scope.clause.text(of)
    split = f"destruct (Rle_lt_dec 0 ({text})) as [{name}_ | {name}_]."
    if tree["at"] is not None:
        split = f"destruct (Rtotal_order 0 ({text})) as [{name}_ | [{name}_ | {name}_]]."
    lines = [split]
    for key, fact in cases:
        if tree[key] is not None:
            inner = _shown(scope.adding(fact), goal, tree[key])
            lines += _block([f"assert ({name} : {scope.said(fact)}) by lra.", *inner])
    return lines


def _by_contradiction(scope: _Scope, goal: _Signed, tree: Mapping[str, Any]) -> list[str]:
    """That the goal fails shows that 0 > 0."""
    zero = _Signed(["Integer", "0"], "Gt")
    if goal.sign == "Eq":
        return ["exfalso; apply (Rlt_irrefl 0).", *_shown(scope, zero, tree["then"])]
    fails = _Signed(_negative(goal.of), "Ge" if goal.sign == "Gt" else "Gt")
    start = "apply Rnot_le_lt" if goal.sign == "Gt" else "apply Rnot_lt_le"
    name = scope.next
    return [
        f"{start}; intro {name}_; assert ({name} : {scope.said(fails)}) by lra; apply (Rlt_irrefl 0).",
        *_shown(scope.adding(fails), zero, tree["then"]),
    ]


def _by_both(scope: _Scope, goal: _Signed, tree: Mapping[str, Any]) -> list[str]:
    """Show that a number is 0: it is >= 0, and so is its negative."""
    above, below = _Signed(goal.of, "Ge"), _Signed(_negative(goal.of), "Ge")
    lines = [f"assert (U : {scope.said(above)}).", *_block(_shown(scope, above, tree["above"]))]
    lines += [f"assert (V : {scope.said(below)}).", *_block(_shown(scope, below, tree["below"]))]
    return [*lines, "lra."]


def _by_replacing(scope: _Scope, goal: _Signed, tree: Mapping[str, Any]) -> list[str]:
    """A fact says that a symbol is an expression, which is put for it everywhere."""
    name, value = str(tree["in"][1]), tree["by"]
    clause, text = scope.clause, scope.clause.texts[name]
    values = {name: clause.resolved(value)}
    facts = tuple(_Signed(_put(clause.resolved(f.of), values), f.sign) for f in scope.facts)
    inner = replace(scope, facts=facts)
    line = f"assert (E : {text} = {clause.text(value)}) by lra; subst {text}."
    return [line, *_shown(inner, _Signed(_put(clause.resolved(goal.of), values), goal.sign), tree["then"])]


def _put(data: Data, values: Mapping[str, Data]) -> Data:
    if data[0] == "Symbol":
        return values.get(str(data[1]), data)
    return [data[0], *(part if isinstance(part, str) else _put(part, values) for part in data[1:])]


_RULES: Mapping[str, Callable[[_Scope, _Signed, Mapping[str, Any]], list[str]]] = {
    "sum": _by_sum,
    "lemma": _by_lemma,
    "known": _by_known,
    "cases": _by_cases,
    "contradiction": _by_contradiction,
    "both": _by_both,
    "replace": _by_replacing,
}


def _exponential(u: Data) -> tuple[_Signed, str]:
    """e^u >= 1 + u."""
    low = ["Add", ["Integer", "1"], u]
    return _Signed(["Add", ["exp", u], _negative(low)], "Ge"), "pose proof (exp_ineq1_le {0}); lra."


def _logarithm(u: Data) -> tuple[_Signed, str]:
    """Log u <= u - 1 for u > 0."""
    low = ["Add", ["Integer", "1"], ["log", u]]
    shown = "assert (P : 0 < {0}) by positive; pose proof (exp_ineq1_le (ln {0})) as Q; rewrite (exp_ln _ P) in Q; lra."
    return _Signed(["Add", u, _negative(low)], "Ge"), shown


def _circle(u: Data) -> tuple[_Signed, str]:
    """(sin u)^2 + (cos u)^2 = 1."""
    squares = [["Pow", [head, u], ["Integer", "2"]] for head in ("sin", "cos")]
    shown = "pose proof (sin2_cos2 {0}) as Q; unfold Rsqr in Q; lra."
    return _Signed(["Add", *squares, ["Integer", "-1"]], "Eq"), shown


def _product(u: Data, v: Data) -> tuple[_Signed, str]:
    """Log(uv) = log u + log v for u, v > 0."""
    total = ["Add", ["log", ["Mul", u, v]], _negative(["log", u]), _negative(["log", v])]
    return _Signed(total, "Eq"), "rewrite ln_mult by positive; ring."


def _bounded(head: str, turn: int, u: Data) -> tuple[_Signed, str]:
    """1 − t f(u) >= 0, for f the sine or the cosine; t = 1 above, and −1 below."""
    fact = _Signed(["Add", ["Integer", "1"], ["Mul", ["Integer", str(-turn)], [head, u]]], "Ge")
    return fact, f"pose proof ({head.upper()}_bound {{0}}); lra."


def _of_a_sum(head: str, u: Data, v: Data) -> tuple[_Signed, str]:
    """Sin(u + v) = sin u cos v + cos u sin v, and cos(u + v) = cos u cos v − sin u sin v."""
    pairs = (("sin", "cos"), ("cos", "sin")) if head == "sin" else (("cos", "cos"), ("sin", "sin"))
    first, second = (["Mul", [f, u], [g, v]] for f, g in pairs)
    rest = [_negative(first), _negative(second) if head == "sin" else second]
    return _Signed(["Add", [head, ["Add", u, v]], *rest], "Eq"), f"rewrite {head}_plus; ring."


def _floor(turn: int, u: Data) -> tuple[_Signed, str]:
    """U − ⌊u⌋ >= 0 above, and ⌊u⌋ + 1 − u > 0 below."""
    above = ["Add", u, _negative(["floor", u])]
    fact = _Signed(above, "Ge") if turn > 0 else _Signed(["Add", ["Integer", "1"], _negative(above)], "Gt")
    return fact, "unfold Statement.whole_part; pose proof (base_Int_part {0}); lra."


_ENDS: Mapping[str, int] = {"above": 1, "below": -1}
_KNOWN: Mapping[str, Callable[..., tuple[_Signed, str]]] = {
    "exp": _exponential,
    "log": _logarithm,
    "circle": _circle,
    "product": _product,
    **{f"{head}_sum": partial(_of_a_sum, head) for head in ("sin", "cos")},
    **{f"{head}_{end}": partial(_bounded, head, turn) for head in ("sin", "cos") for end, turn in _ENDS.items()},
    **{f"floor_{end}": partial(_floor, turn) for end, turn in _ENDS.items()},
}
"""The known facts of each function, and their proofs, in which {0} stands for the arguments."""
