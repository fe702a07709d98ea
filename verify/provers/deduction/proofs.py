# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""The proof of a relation by a deduction, from the bounds of the domain and the hypotheses that it needs.

The search ends when a proof is found, nothing is left to try, or its work is spent. If the time ends before, the search
raises OutOfTimeError.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import sympy as sp

from verify.language.definedness import taken_apart
from verify.language.expressions import STRICT
from verify.language.limits import proposed_limit
from verify.language.statement import Statement
from verify.language.symbolic_zeros import outermost_limits
from verify.printing import text_of
from verify.provers.deduction.account.record import Record, new_record
from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.facts import Goal, Relation, places_in
from verify.provers.deduction.limits import SEARCH
from verify.provers.deduction.scope import SpentError
from verify.provers.deduction.search import Search
from verify.provers.proof_data import Proof


@cache
def deduction_proof(
    relation: sp.core.relational.Relational,
    statement: Statement,
    work: int,
    conditions: tuple[sp.core.relational.Relational, ...] = (),
    *,
    hypotheses: bool,
) -> Proof | None:
    """Return the proof of a relation for all parameters, of kind "deduction", or None; cached.

    `work` is the maximum total number of columns of the linear programs. The domain and the `conditions` are assumed,
    and the hypotheses too if `hypotheses` is set.
    """
    parametric = [h.relation for h in statement.hypotheses if h.relation is not None]
    known, first = [*statement.domain, *parametric, *conditions], len(statement.domain)
    unused = () if hypotheses else range(first, first + len(parametric))
    margin = _without_limits(_margin(statement, relation))
    if margin is None:
        return None
    goal = Goal(margin, _sign_of(relation))
    margins = {i: (_margin(statement, each), _sign_of(each)) for i, each in enumerate(known) if i not in unused}
    about = _about(margin, [expression for expression, _ in margins.values()])
    facts = {i: fact for i, fact in margins.items() if fact[0].free_symbols & about}
    record = new_record((relation, statement, work, *((conditions,) if conditions else ()), hypotheses), work)
    if (count := margin.count_ops()) > SEARCH.operations or _is_long(margin):
        record.refuse(count, SEARCH.operations)
        return None
    short = _shortest(facts, SEARCH.operations - count)
    record.left_out = tuple(text_of(known[i]) for i in facts if i not in short)
    facts = short
    proof, used = _found(statement, work, goal, facts, record)
    record.unused = tuple(text_of(known[i]) for i in facts if i not in used)
    if proof is None:
        return None
    # Hypotheses that no sum uses are left out, all or one by one, if a proof is found without them.
    named = {proof["relations"][place] for place in places_in(proof["tree"]) if place < len(proof["relations"])}
    spare = [i for i in facts if i not in named and i >= first]
    for without in [spare, *([i] for i in spare if len(spare) > 1)]:
        fewer = {i: fact for i, fact in facts.items() if i not in without}
        if without and (found := _found(statement, record.spent, goal, fewer, Record(record.spent))[0]) is not None:
            proof, facts = found, fewer
            if without is spare:
                break
    return proof


def _about(goal: sp.Expr, facts: Sequence[sp.Expr]) -> set[sp.Symbol]:
    """Return the symbols of a goal, and those that facts connect with them: facts about other symbols do not help."""
    about = goal.free_symbols
    while more := [fact for fact in facts if fact.free_symbols & about and not fact.free_symbols <= about]:
        about = about.union(*(fact.free_symbols for fact in more))
    return about


def _shortest(facts: Mapping[int, tuple[sp.Expr, Relation]], most: int) -> dict[int, tuple[sp.Expr, Relation]]:
    """Return the shortest facts that together have at most `most` operations, except facts with long numbers."""
    left, kept = most, set[int]()
    for i in sorted(facts, key=lambda i: facts[i][0].count_ops()):
        left -= facts[i][0].count_ops()
        if left >= 0 and not _is_long(facts[i][0]):
            kept.add(i)
    return {i: fact for i, fact in facts.items() if i in kept}


def _found(
    statement: Statement, work: int, goal: Goal, facts: Mapping[int, tuple[sp.Expr, Relation]], record: Record
) -> tuple[Proof | None, list[int | str]]:
    """Return a proof from facts, or None, and the names of the bounds and the places of the facts that it may use."""
    search, relations = Search(statement, work), list[int | str]()
    search.work.record = record
    try:
        about = _about(goal.expression, [expression for expression, _ in facts.values()])
        scope, relations = search.begun(facts, about)
        record.know(scope, goal)
        tree = search.replaced(scope, goal)
    except (SpentError, NoAtomError) as error:
        record.end("work" if isinstance(error, SpentError) else "tried", search.work.left)
        return None, relations
    except (ArithmeticError, ValueError, TypeError, sp.PolynomialError):
        # SymPy raises these on parts without a real value: 1/log(1), a root of a negative number.
        record.end("tried", search.work.left)
        return None, relations
    record.end("tried" if tree is None else "proved", search.work.left)
    return None if tree is None else {"kind": "deduction", "relations": relations, "tree": tree}, relations


def as_goal(statement: Statement, relation: Any) -> Goal:
    """Return a relation as a goal: the sign of the larger side minus the smaller side, definitions substituted."""
    return Goal(_margin(statement, relation), _sign_of(relation))


def _margin(statement: Statement, relation: Any) -> sp.Expr:
    # The re-check sees by itself whether parts that cancel have values.
    sides = [taken_apart(statement.expand(side))[0] for side in relation.args]
    small, large = reversed(sides) if isinstance(relation, sp.Ge | sp.Gt) else sides
    return large - small


def _without_limits(expression: sp.Expr) -> sp.Expr | None:
    """Return an expression with its limits replaced by proposed values; None if a limit has no proposed value."""
    if not expression.has(sp.Limit) or expression.count_ops() > SEARCH.operations:
        return expression
    limits = {node: proposed_limit(*node.args[:3]) for node in outermost_limits(expression)}
    return None if None in limits.values() else expression.xreplace(limits)


def _is_long(expression: sp.Expr) -> bool:
    """Whether an expression has a number of very many digits, or a very high power."""
    numbers = [n for e in expression.atoms(sp.Rational) for n in (e.p, e.q)]
    powers = [abs(p.exp) for p in expression.atoms(sp.Pow) if p.exp.is_Integer]
    return max(map(int.bit_length, map(int, numbers)), default=0) > SEARCH.bits or max(powers, default=0) > SEARCH.power


def _sign_of(relation: Any) -> Relation:
    return "Eq" if isinstance(relation, sp.Eq) else "Gt" if isinstance(relation, STRICT) else "Ge"
