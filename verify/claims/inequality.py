# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""A clause that is an inequality, or an equation, of the parameters."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import sympy as sp

from verify.budget import look_at_the_clock, proof_work
from verify.claims.question import Proof, ProofForAll, Question
from verify.errors import BeyondReachError, OutOfTimeError, UndecidedError, UndefinedError
from verify.evaluation.values import (
    evaluate_rising,
    holds,
    scan_values,
    sign_of,
    symbols_by_name,
    with_proposed_limits,
)
from verify.language.expressions import difference, refuse_no_relation, to_data
from verify.language.parameters import Instance
from verify.language.statement import Statement
from verify.language.symbolic_zeros import spread_points
from verify.outcomes import ClauseResult, Enclosure
from verify.printing import text_of
from verify.provers.proof_data import margin_proof, point_proof

_DETAILS = {
    "constant": "numbers alone, for all parameters",
    "deduction": "deduced, for all parameters",
    "squares": "a square and no negative coefficient over the bounds, for all parameters",
    "cases": "squares and no negative coefficient, in cases, for all parameters",
    "logarithms": "bounds of logarithms, for all parameters",
}
"""Details of proofs for all parameters, by the kind of the proof."""
_POSITIVE = "no negative coefficient over the bounds, for all parameters"
"""The detail of proofs of kind "positive"."""
_TOO_LATE = "the time for a proof for all parameters ran out"


@dataclass(frozen=True)
class Inequality:
    """A clause: a relation (<, <=, >, >=, =) between two expressions of the parameters.

    Parameters
    ----------
    label
        The clause's name.
    relation
        The relation, unevaluated.
    says
        The clause in words, which is printed in place of the relation.

    Raises
    ------
    TheoremError
        If `relation` is no relation between expressions.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Inequality
    >>> x = sp.Symbol("x", positive=True)
    >>> Inequality("mean", sp.Ge(x + 1 / x, 2)).text
    'x + 1/x >= 2'
    """

    quantifies: ClassVar = True
    uses_matrices: ClassVar = False
    rests_on_hypotheses: ClassVar = True

    label: str
    relation: sp.core.relational.Relational
    says: str = ""

    def __post_init__(self) -> None:
        refuse_no_relation(f"clause {self.label}", self.relation)

    @property
    def text(self) -> str:
        """The clause in words or symbols."""
        return self.says or text_of(self.relation)

    def expressions(self) -> Iterator[sp.Basic]:
        """Yield both sides."""
        yield from self.relation.args

    def bound_names(self) -> set[str]:
        """Return the empty set: the clause binds no names."""
        return set()

    def to_data(self) -> Mapping[str, object]:
        """Return the data that the digest covers."""
        return {"kind": "inequality", "label": self.label, "says": self.says, "relation": to_data(self.relation)}

    def evaluate(self, question: Question) -> ClauseResult:
        """Decide the sign of the margin: exactly if it is rational, else in balls of rising precision."""
        quantified = sorted(set(self._symbols(question.statement)) - set(question.instance))
        if quantified:
            return self._for_all(question, quantified)
        try:
            holds, margin, bits = self.decided(question.statement, question.instance)
        except (UndefinedError, UndecidedError) as error:
            return self._at_all_or(question, ClauseResult.undecided(self, str(error)))
        except BeyondReachError as error:
            return self._at_all_or(question, ClauseResult.undecided(self, f"not evaluated here: {error}"))
        if holds is None:
            why = f"the sign of the margin is undecided at {bits} bits"
            return self._at_all_or(question, ClauseResult.undecided(self, why, margin=margin, bits=bits))
        proof = margin_proof(margin, bits)
        if not holds:
            return ClauseResult.refuted(self, proof, margin=margin, witness=dict(question.instance), bits=bits)
        try:
            shown, doubt = question.proof_for_all()
        except OutOfTimeError:
            # The margin decides at the instance.
            return ClauseResult.verified(self, proof, margin=margin, detail=_TOO_LATE, bits=bits)
        return ClauseResult.verified(self, shown or proof, margin=margin, detail=_detail(shown) or doubt, bits=bits)

    def _at_all_or(self, question: Question, undecided: ClauseResult) -> ClauseResult:
        """Return the clause as verified if it has a proof for all parameters, else the result `undecided`."""
        try:
            shown, _ = question.proof_for_all()
        except OutOfTimeError:
            shown = None
        return undecided if shown is None else ClauseResult.verified(self, shown, detail=_detail(shown))

    def _symbols(self, statement: Statement) -> dict[str, sp.Symbol]:
        """Return the symbols of both sides by name, also of a relation that SymPy would evaluate to true."""
        return symbols_by_name(sp.Tuple(*statement.expand(self.relation).args))

    def decided(self, statement: Statement, values: Instance) -> tuple[bool | None, Fraction | Enclosure, int | None]:
        """Return whether the relation holds at some values (None if undecided), the margin, and the bits needed."""
        margin, bits = evaluate_rising(with_proposed_limits(self._margin(statement), values), values, sign=True)
        if isinstance(self.relation, sp.Eq):
            sign = sign_of(margin)
            return None if sign is None else sign == 0, margin, bits
        return holds(self.relation, margin), margin, bits

    def _margin(self, statement: Statement) -> sp.Expr:
        """Return larger − smaller side (right − left for an equation), with a value only where both have one."""
        return difference(statement.expand(self.relation))

    def prove(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return a proof by bounds, squares and cases, or None."""
        from verify.provers.inequalities import positive_proof

        return positive_proof(self.relation, statement, hypotheses=hypotheses)

    def prove_otherwise(self, statement: Statement, *, hypotheses: bool) -> Proof | None:
        """Return a deduction, or None."""
        from verify.provers.deduction.proofs import deduction_proof

        return deduction_proof(self.relation, statement, proof_work(), hypotheses=hypotheses)

    def _for_all(self, question: Question, quantified: list[str]) -> ClauseResult:
        """Decide an inequality for all values of some variables: a proof for all parameters, or a point against it."""
        shown, doubt = question.proof_for_all()
        if shown is not None:
            return ClauseResult.verified(self, shown, detail=_detail(shown))
        variables = self._symbols(question.statement)
        for named in self._points(question, [variables[name] for name in quantified]):
            try:
                holds, margin, bits = self.decided(question.statement, {**question.instance, **named})
            except (UndefinedError, UndecidedError):
                continue
            if holds is False:
                proof, witness = point_proof(named, margin, bits), {**question.instance, **named}
                why = "the margin at a point"
                return ClauseResult.refuted(self, proof, margin=margin, detail=why, witness=witness, bits=bits)
        why = f"no proof was found for all values of {', '.join(quantified)}" + (f": {doubt}" if doubt else "")
        return ClauseResult.undecided(self, why)

    def _points(self, question: Question, variables: list[sp.Symbol]) -> Iterator[Mapping[str, Fraction]]:
        """Yield values of variables: the question's points, spread points and, if it has none, points of a search."""
        from verify.evaluation.numerical.suspects import points_against

        yield from question.points or ()
        for point in spread_points(variables):
            yield {symbol.name: Fraction(int(value.p), int(value.q)) for symbol, value in point.items()}
        if question.points is None:
            yield from points_against(question.statement, self, question.instance, look_at_the_clock)

    def scan(self, statement: Statement, instance: Instance) -> float:
        """Return the smallest relative margin, margin/(|left| + |right|), at some values of the variables."""
        sides = statement.expand(self.relation).args
        variables = [symbol for name, symbol in symbols_by_name(sp.Tuple(*sides)).items() if name not in instance]
        points = spread_points(variables) if variables else [{}]
        named = ({symbol.name: float(value) for symbol, value in point.items()} for point in points)
        return min(self._relative(scan_values(sides, {**instance, **values})) for values in named)

    def _relative(self, sides: tuple[float, ...]) -> float:
        left, right = sides
        size = abs(left) + abs(right) or 1.0
        if isinstance(self.relation, sp.Eq):
            return -abs(right - left) / size
        upward = isinstance(self.relation, sp.StrictGreaterThan | sp.GreaterThan)
        return (left - right if upward else right - left) / size


def _detail(shown: ProofForAll | None) -> str:
    """Return the detail of a proof for all parameters; "" if there is none."""
    if shown is None:
        return ""
    # A subclass may return anything as a proof; if it is no proof, the result is refused later.
    kind = shown.get("kind") if isinstance(shown, Mapping) else ""  # pyright: ignore[reportUnnecessaryIsInstance]
    return _DETAILS.get(str(kind), _POSITIVE)
