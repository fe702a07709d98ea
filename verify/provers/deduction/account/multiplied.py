# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false, reportReturnType=false
"""A deduction with given multipliers: margin = Σ multiplier · slack + rest; a search proves the signs not yet seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from verify.errors import InputError, TheoremError, meant
from verify.language.lines.expressions import Part, expression
from verify.language.statement import Statement
from verify.printing import text_of
from verify.provers.deduction.account.record import Record
from verify.provers.deduction.atoms import NoAtomError
from verify.provers.deduction.facts import Goal, Relation, Tree, data_of, stated
from verify.provers.deduction.limits import SEARCH
from verify.provers.deduction.proofs import as_goal
from verify.provers.deduction.scope import Scope, SpentError
from verify.provers.deduction.search import Search
from verify.provers.proof_data import Proof

_ONE = ["Integer", "1"]
_SIGNS = {"Ge": ">= 0", "Gt": "> 0", "Eq": "0"}


@dataclass(frozen=True)
class _Term:
    """A multiplier, the slack that it multiplies, the relation's name, and the relation's place as a fact.

    The place is None for a relation that is shown first.
    """

    name: str
    multiplier: sp.Expr
    slack: Goal
    place: int | None


def multiplied_proof(
    relation: Any, statement: Statement, by: Mapping[str, Any], work: int, *, hypotheses: bool
) -> Proof:
    """Return the proof of an inequality or equation by multipliers, of kind "deduction"; `Multipliers` explains `by`.

    Raises
    ------
    TheoremError
        If a name or a multiplier cannot be used, a part is not shown, or the work is spent; the message is one line.
    """
    search = Search(statement, work)
    known = [*statement.domain, *(h.relation for h in statement.hypotheses if hypotheses and h.relation is not None)]
    try:
        goals = enumerate(map(_goal(statement), known))
        scope, relations = search.begun({i: (goal.expression, goal.relation) for i, goal in goals})
        reader = _Reader(statement, relations, hypotheses)
        terms = [reader.term(str(name), multiplier) for name, multiplier in by.items()]
        tree = _Combined(search, _goal(statement)(relation)).tree(scope, terms)
    except SpentError:
        raise TheoremError(f"by: the work was spent: {work} columns") from None
    return {"kind": "deduction", "relations": relations, "tree": tree}


def _goal(statement: Statement) -> Any:
    return lambda relation: as_goal(statement, relation)


@dataclass(frozen=True)
class _Reader:
    """Reads names and multipliers; `relations` lists the bounds and relations that are facts."""

    statement: Statement
    relations: Sequence[int | str]
    hypotheses: bool

    def term(self, name: str, multiplier: Any) -> _Term:
        value = self._expression(f"the multiplier of {name}", multiplier)
        relational = [h for h in self.statement.hypotheses if h.relation is not None]
        labels = [h.label for h in self.statement.hypotheses]
        if name in labels:
            place = next((i for i, h in enumerate(relational) if h.label == name), None)
            return _Term(name, value, *self._hypothesis(name, relational, place))
        clauses = {clause.label: clause for clause in self.statement.clauses}
        if name in clauses:
            if clauses[name].relation is None:
                raise TheoremError(f"by: {name} is not a relation")
            return _Term(name, value, as_goal(self.statement, clauses[name].relation), None)
        try:
            return _Term(name, value, Goal(self._expression(name, name), "Ge"), None)
        except TheoremError:
            raise TheoremError(f"by: there is no {name}; {meant(name, [*labels, *clauses])}") from None

    def _hypothesis(self, name: str, relational: Sequence[Any], number: int | None) -> tuple[Goal, int]:
        if number is None:
            raise TheoremError(f"by: {name} is not a relation")
        if not self.hypotheses:
            raise TheoremError(f"by: {name} may not be used where the instance is out of scope")
        place = len(self.statement.domain) + number
        if place not in self.relations:
            raise TheoremError(f"by: {name} is not shown to have a value")
        return as_goal(self.statement, relational[number].relation), self.relations.index(place)

    @property
    def _symbols(self) -> Mapping[str, sp.Symbol]:
        return {symbol.name: symbol for symbol in sorted(self.statement.symbols(), key=lambda s: s.name)}

    def _expression(self, what: str, value: Any) -> sp.Expr:
        """Return a given value as an expression in the statement's symbols, with the definitions substituted."""
        try:
            if isinstance(value, str):
                read = expression(Part(value, value, 1), self._symbols)
            else:
                read = sp.sympify(value, strict=True)
                self.statement.refuse_other_symbols(read)
                data_of(read)
        except (InputError, TheoremError, sp.SympifyError) as error:
            why = error.requirement if isinstance(error, InputError) else error
            raise TheoremError(f"by: {what}: {why}") from None
        return self.statement.expand(read)


@dataclass(frozen=True)
class _Combined:
    """Puts the proof together: the lemmas that it needs, then one sum."""

    search: Search
    goal: Goal

    def tree(self, scope: Scope, terms: Sequence[_Term]) -> Tree:
        """Return the proof. Raises TheoremError, which names the part that is not shown."""
        shown = self.search.with_values(
            scope, self.goal.expression, SEARCH.depth, lambda inner: self._sum(inner, terms)
        )
        if shown is None:
            raise TheoremError("by: the claim is not shown to have a value")
        return shown

    def _sum(self, scope: Scope, terms: Sequence[_Term]) -> Tree:
        lemmas, parts, left, strict = list[tuple[Goal, Tree]](), list[Any](), self.goal.expression, False
        for term in terms:
            places, root = ([] if term.place is None else [term.place]), _root(term)
            if term.place is None and root is None:
                places = [scope.count]
                scope = self._lemma(scope, lemmas, term.slack, f"{term.name} is not shown")
            if term.slack.relation != "Eq":
                scope, positive = self._signed(scope, lemmas, term)
                strict |= positive and term.slack.strict
            parts.append([data_of(term.multiplier), places, None if root is None else data_of(root)])
            left -= term.multiplier * term.slack.expression
        rest = sp.cancel(sp.together(sp.expand(left)))
        relation: Relation = "Eq" if self.goal.relation == "Eq" else "Gt" if self.goal.strict and not strict else "Ge"
        if relation != "Eq" and self.search.is_seen(scope, rest, "positive" if relation == "Gt" else "nonnegative"):
            parts += [] if rest == 0 else [[data_of(rest), [], None]]
        elif rest != 0 or relation == "Gt":
            parts.append([_ONE, [scope.count], None])
            self._lemma(scope, lemmas, Goal(rest, relation), f"the rest, {text_of(rest)}, is not shown")
        tree: Tree = {"rule": "sum", "times": _ONE, "terms": parts}
        for lemma, proof in reversed(lemmas):
            tree = {"rule": "lemma", "relation": stated(lemma), "proof": proof, "then": tree}
        return tree

    def _signed(self, scope: Scope, lemmas: list[tuple[Goal, Tree]], term: _Term) -> tuple[Scope, bool]:
        """Return the scope in which a multiplier is seen to be ≥ 0, and whether it is seen to be > 0."""
        if self.search.is_seen(scope, term.multiplier, "positive"):
            return scope, True
        if self.goal.strict and term.slack.strict and (proof := self._shown(scope, Goal(term.multiplier, "Gt"))[0]):
            return self._with(scope, lemmas, Goal(term.multiplier, "Gt"), proof), True
        if not self.search.is_seen(scope, term.multiplier, "nonnegative"):
            what = f"the multiplier of {term.name}, {text_of(term.multiplier)}, is not shown"
            scope = self._lemma(scope, lemmas, Goal(term.multiplier, "Ge"), what)
        return scope, False

    def _shown(self, scope: Scope, goal: Goal) -> tuple[Tree | None, Record]:
        """Return a proof of a goal, or None, and the record of the search for it."""
        record = self.search.work.record = Record()
        return self.search.prove(scope, goal, SEARCH.depth), record

    def _lemma(self, scope: Scope, lemmas: list[tuple[Goal, Tree]], goal: Goal, what: str) -> Scope:
        proof, record = self._shown(scope, goal)
        if proof is None:
            names = {symbol.name for symbol in goal.expression.free_symbols}
            at = " ".join(f"{name}={value:.6g}" for name, value in record.fails_at.items() if name in names)
            raise TheoremError(
                f"by: {what} to be {_SIGNS[goal.relation]}{f': it is not, in float64, at {at}' if at else ''}"
            )
        return self._with(scope, lemmas, goal, proof)

    def _with(self, scope: Scope, lemmas: list[tuple[Goal, Tree]], goal: Goal, proof: Tree) -> Scope:
        """Return the scope with a lemma as a fact; if the search cannot use the lemma, its number is skipped."""
        lemmas.append((goal, proof))
        try:
            self.search.atoms.prepare(goal.expression)
            return scope.with_fact(goal.expression, goal.relation) or scope.skipped()
        except NoAtomError:
            return scope.skipped()


def _root(term: _Term) -> sp.Expr | None:
    """Return r if a term's slack is an even power r², and the term has no place as a fact; else None."""
    of = term.slack.expression
    if term.place is not None or not of.is_Pow or not of.exp.is_Integer or of.exp % 2 or of.exp < 0:
        return None
    return of.base ** (of.exp // 2)
