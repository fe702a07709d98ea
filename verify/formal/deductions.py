"""Deductions in Rocq: explicit sums of products of facts, and the rules that add facts or distinguish cases."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from verify.errors import BeyondReachError
from verify.formal.clauses import Clause
from verify.formal.expressions import Data, Need, NotSaidError, parts_of, put
from verify.formal.identities import computed, in_factors, keeps_sign
from verify.formal.known import KNOWN, Signed, bounds_of_numbers, negative, signed
from verify.formal.slacks import Slacks
from verify.language.expressions import from_data
from verify.rechecker.reading import Rejected

_PROPOSITIONS: Mapping[str, str] = {"Gt": "0 < {}", "Ge": "0 <= {}", "Eq": "{} = 0"}
_BY_MULTIPLE: Mapping[str, str] = {"Gt": "positive", "Ge": "nonnegative", "Eq": "zero"}
_OF: Mapping[str, str] = {"Lt": "of_lt", "Gt": "of_lt", "Le": "of_le", "Ge": "of_le", "Eq": "of_eq"}


@dataclass(frozen=True)
class _Scope:
    """The numbered facts that are known at a place in a deduction."""

    clause: Clause
    facts: tuple[Signed, ...] = ()

    def adding(self, fact: Signed) -> "_Scope":
        return replace(self, facts=(*self.facts, fact))

    @property
    def next(self) -> str:
        """The name of the next fact."""
        return f"F_{len(self.facts)}"

    def said(self, fact: Signed) -> str:
        """Return the proposition of a signed expression."""
        return _PROPOSITIONS[fact.sign].format(f"({self.clause.text(fact.of)})")


def by_deduction(clause: Clause, proof: Mapping[str, Any]) -> None:
    """Write a proof of kind `deduction`."""
    clause.begin()
    scope = _Scope(clause)
    for place in proof["relations"]:
        fact = clause.facts[place]
        known = signed(fact.relation)
        # The difference of the sides may be written in another form, which `lra` recognises.
        clause.say(
            f"assert ({scope.next} : {scope.said(known)}) "
            f"by first [exact ({_OF[str(fact.relation[0])]} _ _ {fact.name}) | lra]."
        )
        scope = scope.adding(known)
    tree = proof["tree"]
    for need in clause.leaves():
        shown = keeps_sign(Slacks(clause), clause.node(need.of), need.sign)
        for _ in range(0 if shown else _lemmas_before(clause, need, tree)):
            lines, scope = _lemma(scope, tree)
            clause.say(*lines)
            tree = tree["then"]
        clause.show(shown or [f"{need.sign}."])
        clause.say(*_factors_of(clause, need))
    clause.end()
    clause.say(*_shown(scope, signed(clause.relations[-1]), tree))


def _lemmas_before(clause: Clause, need: Need, tree: Mapping[str, Any]) -> int:
    """Return the number of leading lemmas up to the first about the need's expression; 0 without such a lemma."""
    count, of = 0, from_data(clause.resolved(need.of))
    while tree["rule"] == "lemma":
        count, lemma = count + 1, from_data(clause.resolved(signed(tree["relation"]).of))
        if 0 in (sp.expand(lemma - of), sp.expand(lemma + of)):
            return count
        tree = tree["then"]
    return 0


def _factors_of(clause: Clause, need: Need) -> list[str]:
    """Return the proofs that the factors in the numerator of a nonzero quotient are not 0; divisors need them."""
    try:
        found = in_factors(from_data(clause.resolved(need.of)))
    except BeyondReachError:
        return []
    powers, lines = found.as_powers_dict(), list[str]()
    if need.sign == "nonnegative" or not any(power < 0 and factor.free_symbols for factor, power in powers.items()):
        return []
    for factor, power in powers.items():
        if power > 0 and factor.free_symbols:
            shown, rest = (clause.text(computed(e)) for e in (factor, found / factor))
            whole = clause.text(need.of)
            lines.append(f"assert ({shown} <> 0) by (apply (nonzero_factor ({whole}) _ ({rest})); [equal | nonzero]).")
    return lines


def _shown(scope: _Scope, goal: Signed, tree: Mapping[str, Any]) -> list[str]:
    rule = _RULES.get(str(tree["rule"]))
    if rule is None:
        raise NotSaidError(f"the rule {tree['rule']} is not exported")
    return rule(scope, goal, tree)


def _block(lines: Sequence[str]) -> list[str]:
    return ["{", *(f"  {line}" for line in lines), "}"]


def _by_sum(scope: _Scope, goal: Signed, tree: Mapping[str, Any]) -> list[str]:
    """Prove that a positive multiple of the goal is an explicit sum of products of facts."""
    powers = (part for part in parts_of(scope.clause.resolved(goal.of)) if part[0] == "exp")
    if not tree["terms"] and any(
        not isinstance(from_data(part), sp.exp) and from_data(part[1]).has(sp.log) for part in powers
    ):
        raise NotSaidError("a proof with an exponential of a logarithm that is a power")
    kept, zeros, lines = list[str](), list[str](), list[str]()
    for factor, used, root in tree["terms"]:
        facts = [scope.facts[number] for number in used]
        parts = [f"({scope.clause.text(factor)})", *(f"({scope.clause.text(fact.of)})" for fact in facts)]
        parts += [] if root is None else [f"({scope.clause.text(root)}) ^ 2"]
        lines += _factor(scope, factor, f"P_{len(kept) + len(zeros)}")
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
    shown = _positive(scope, tree["times"])
    return [
        *lines,
        f"assert (T_0 : 0 < {times}).",
        *_block(shown),
        f"refine ({_BY_MULTIPLE[goal.sign]}_by_multiple _ _ ({total}) T_0 _ _); [{equation} | {ending}].",
    ]


def _factor(scope: _Scope, data: Data, name: str) -> list[str]:
    """Return the line that adds 0 < factor to the facts, if the factor contains a sum and its sign needs a proof.

    Without this fact, the tactic `positive` tries to prove each term of a long sum positive, and each term in that
    term. If the factor may be 0, the line does nothing.
    """
    sums = any(part[0] == "Add" for part in parts_of(scope.clause.resolved(data)))
    if not sums or (shown := _positive(scope, data)) == ["positive."]:
        return []
    together = "; ".join(line.removesuffix(".") for line in shown)
    return [f"try assert ({name} : 0 < {scope.clause.text(data)}) by ({together})."]


def _positive(scope: _Scope, data: Data) -> list[str]:
    """Return the proof that an expression is positive.

    The proof is by the signs of symbols, by the parameters' bounds and at most one relation, as a multiple of a fact,
    or by factors.
    """
    clause = scope.clause
    slacks, node = Slacks(clause), clause.node(data)
    try:
        plain = node.head == "number" or slacks.keeps_sign(node)
    except (Rejected, NotSaidError):
        plain = False
    if plain:
        return ["positive."]
    return keeps_sign(slacks, node, "positive") or _by_fact(scope, data) or _by_factors(scope, data)


def _by_fact(scope: _Scope, data: Data) -> list[str] | None:
    """Return the proof that an expression is a positive multiple of a positive fact; None if there is no such fact."""
    clause = scope.clause
    for ratio, fact in _ratios(scope, from_data(clause.resolved(data))):
        try:
            if Slacks(clause).keeps_sign(clause.node(computed(ratio))):
                product = f"({clause.text(computed(ratio))}) * ({clause.text(fact.of)})"
                return [f"apply (positive_as _ ({product})); [equal | positive]."]
        except (Rejected, NotSaidError):
            continue
    return None


def _ratios(scope: _Scope, expression: sp.Expr) -> Iterator[tuple[sp.Expr, Signed]]:
    """Yield the quotient of an expression by each positive fact, with the fact."""
    for fact in scope.facts:
        if fact.sign == "Gt":
            with suppress(BeyondReachError):
                yield in_factors(expression / from_data(scope.clause.resolved(fact.of))), fact


def _by_factors(scope: _Scope, data: Data) -> list[str]:
    """Return the proof, by its factors, that a product of powers of polynomials is positive; else `positive.` only."""
    try:
        found = in_factors(from_data(scope.clause.resolved(data)))
    except BeyondReachError:
        return ["positive."]
    number, shown = sp.Integer(1), list[tuple[str, int]]()
    for factor, power in found.as_powers_dict().items():
        if not factor.free_symbols:
            number *= factor**power
        elif power < 0:
            return ["positive."]
        else:
            # A factor such as w − 1 is negative by the fact 1 − w > 0.
            turn = -1 if any(ratio.is_negative for ratio, _ in _ratios(scope, factor)) else 1
            number *= turn**power
            shown.append((scope.clause.text(computed(sp.expand(turn * factor))), int(power)))
    lines = [f"assert (T_0_{i} : 0 < {text}) by first [positive | lra]." for i, (text, _) in enumerate(shown)]
    product = " * ".join([scope.clause.text(computed(number)), *(f"({text}) ^ {power}" for text, power in shown)])
    return [*lines, f"apply (positive_as _ ({product})); [ring | positive]."]


def _by_lemma(scope: _Scope, goal: Signed, tree: Mapping[str, Any]) -> list[str]:
    """Prove another relation, and add it to the facts."""
    lines, inner = _lemma(scope, tree)
    return [*lines, *_shown(inner, goal, tree["then"])]


def _lemma(scope: _Scope, tree: Mapping[str, Any]) -> tuple[list[str], _Scope]:
    """Return the proof of a lemma, and the facts including the lemma."""
    lemma = signed(tree["relation"])
    shown = _block(_shown(scope, lemma, tree["proof"]))
    return [f"assert ({scope.next} : {scope.said(lemma)}).", *shown], scope.adding(lemma)


def _by_known(scope: _Scope, goal: Signed, tree: Mapping[str, Any]) -> list[str]:
    """Add an instance of a known fact about a function to the facts."""
    if (known := KNOWN.get(str(tree["name"]))) is None:
        raise NotSaidError(f"the known fact {tree['name']} is not exported")
    fact, shown = known(*tree["of"])
    of = [f"({scope.clause.text(each)})" for each in tree["of"]]
    proof = shown.format(" ".join(of), of[0], f"({' :: '.join([*of[1:], 'nil'])})")
    lines = [f"assert ({scope.next} : {scope.said(fact)}).", *_block([proof])]
    return [*lines, *_shown(scope.adding(fact), goal, tree["then"])]


def _by_cases(scope: _Scope, goal: Signed, tree: Mapping[str, Any]) -> list[str]:
    """Distinguish the cases that an expression is > 0, = 0 or < 0, or only the cases >= 0 and < 0."""
    of, name = tree["of"], scope.next
    above = Signed(of, "Ge" if tree["at"] is None else "Gt")
    cases = [("above", above), ("at", Signed(of, "Eq")), ("below", Signed(negative(of), "Gt"))]
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


def _by_contradiction(scope: _Scope, goal: Signed, tree: Mapping[str, Any]) -> list[str]:
    """Prove 0 > 0 from the facts and the negation of the goal; for an equation, from the facts alone."""
    zero = Signed(["Integer", "0"], "Gt")
    if goal.sign == "Eq":
        return ["exfalso; apply (Rlt_irrefl 0).", *_shown(scope, zero, tree["then"])]
    fails = Signed(negative(goal.of), "Ge" if goal.sign == "Gt" else "Gt")
    start = "apply Rnot_le_lt" if goal.sign == "Gt" else "apply Rnot_lt_le"
    name = scope.next
    return [
        f"{start}; intro {name}_; assert ({name} : {scope.said(fails)}) by lra; apply (Rlt_irrefl 0).",
        *_shown(scope.adding(fails), zero, tree["then"]),
    ]


def _by_both(scope: _Scope, goal: Signed, tree: Mapping[str, Any]) -> list[str]:
    """Show that a number x is 0, by x >= 0 and −x >= 0."""
    above, below = Signed(goal.of, "Ge"), Signed(negative(goal.of), "Ge")
    lines = [f"assert (U : {scope.said(above)}).", *_block(_shown(scope, above, tree["above"]))]
    lines += [f"assert (V : {scope.said(below)}).", *_block(_shown(scope, below, tree["below"]))]
    return [*lines, "lra."]


def _by_replacing(scope: _Scope, goal: Signed, tree: Mapping[str, Any]) -> list[str]:
    """Replace a symbol everywhere by an expression that is equal to it by a fact."""
    name, value = str(tree["in"][1]), tree["by"]
    clause, text = scope.clause, scope.clause.texts[name]
    values = {name: clause.resolved(value)}
    facts = tuple(Signed(put(clause.resolved(f.of), values), f.sign) for f in scope.facts)
    inner = replace(scope, facts=facts)
    line = f"assert (E : {text} = {clause.text(value)}) by solved; put E {text}."
    return [line, *_shown(inner, Signed(put(clause.resolved(goal.of), values), goal.sign), tree["then"])]


def _by_value(scope: _Scope, goal: Signed, tree: Mapping[str, Any]) -> list[str]:
    """Prove a goal about a number by bounds of its exponentials, logarithms and roots."""
    return [*bounds_of_numbers(scope.clause, goal.of), "lra."]


_RULES: Mapping[str, Callable[[_Scope, Signed, Mapping[str, Any]], list[str]]] = {
    "sum": _by_sum,
    "lemma": _by_lemma,
    "known": _by_known,
    "cases": _by_cases,
    "contradiction": _by_contradiction,
    "both": _by_both,
    "replace": _by_replacing,
    "number": _by_value,
}
