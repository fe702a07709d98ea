"""Derivations: numbered steps, each checked by SymPy when it is shown."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy as sp

from verify.errors import TheoremError
from verify.language.expressions import has_matrices
from verify.language.heads.scopes import SERIES
from verify.language.labels import refuse_bad_text
from verify.language.noncommutative import monomials
from verify.language.symbolic_zeros import vanishes
from verify.printing import text_of
from verify.shown import Formula, visible


@dataclass(frozen=True)
class Step:
    """One step of a derivation: left = right, and why.

    The check refuses a step whose two sides are written in the same way.

    Parameters
    ----------
    why
        The reason, in a few words.
    left
        The operation to be carried out: a `Derivative`, a `Limit`, a `Sum`, an expression to be simplified.
    right
        Its result.

    Raises
    ------
    TheoremError
        For a reason that is empty, or no text of one line.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Step
    >>> x = sp.Symbol("x")
    >>> Step("differentiate", sp.Derivative(x**2, x), 2 * x).right
    2*x
    """

    why: str
    left: Any
    right: Any

    def __post_init__(self) -> None:
        refuse_bad_text("step", self.why)


@dataclass(frozen=True, repr=False)
class CheckedStep(Formula):
    """A checked step with its number; `left` and `right` are written with the shorthands."""

    number: int
    why: str
    left: Any
    right: Any

    def lines(self) -> tuple[str, str, str]:
        """Return the lines of the step as text: its reason, and the two sides."""
        return f"{self.number}. {self.why}", f"   {text_of(self.left)}", f"     = {text_of(self.right)}"

    def text(self) -> str:
        """Return the step as text."""
        return "\n".join(map(visible, self.lines()))


@dataclass(frozen=True, repr=False)
class Derivation(Formula):
    """Steps from the definitions to the statement's claims, each checked by SymPy when it is shown.

    Parameters
    ----------
    steps
        The steps, in order.
    definitions
        The meanings of names; they are inserted before a step is checked.
    shorthands
        Pairs (name, expression), applied in order: a printed step has the name in place of the expression.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Derivation, Step
    >>> x = sp.Symbol("x")
    >>> derivation = Derivation((Step("expand", (x + 1) ** 2, x**2 + 2 * x + 1),))
    >>> [step.why for step in derivation.checked_steps()]
    ['expand']
    """

    steps: tuple[Step, ...]
    definitions: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    shorthands: tuple[tuple[sp.Expr, sp.Expr], ...] = ()

    def notation(self) -> list[tuple[sp.Expr, sp.Expr]]:
        """Return names with meanings; a shorthand's meaning uses the later shorthands, a definition's uses all."""
        short = [(name, self._shown(value, skip=i + 1)) for i, (name, value) in enumerate(self.shorthands)]
        return [*short, *((name, self._shown(value)) for name, value in self.definitions.items())]

    def checked_steps(self, tell: Callable[[int, int], None] | None = None) -> Iterator[CheckedStep]:
        """Yield each step after checking it. Raises TheoremError at the first step that does not hold.

        `tell(done, total)` is called with the progress, in steps.
        """
        for number, step in enumerate(self.steps, 1):
            check_step(number, step, self._expand)
            if tell:
                tell(number, len(self.steps))
            yield CheckedStep(number, step.why, self._shown(step.left), self._shown(step.right))

    @cached_property
    def holding_steps(self) -> tuple[tuple[CheckedStep, ...], str]:
        """The steps before the first one that does not hold, and its error ("" if all hold); checked once."""
        steps: list[CheckedStep] = []
        try:
            steps.extend(self.checked_steps())
        except TheoremError as error:
            return tuple(steps), str(error)
        return tuple(steps), ""

    def _shown(self, expression: Any, skip: int = 0) -> Any:
        for name, value in self.shorthands[skip:]:
            expression = sp.sympify(expression).subs(value, name)
        return expression

    def _expand(self, expression: sp.Expr) -> sp.Expr:
        for name, value in reversed(list(self.definitions.items())):
            expression = expression.subs(name, value)
        return expression


def check_step(number: int, step: Step, expand: Callable[[sp.Expr], sp.Expr] = lambda expression: expression) -> None:
    """Raise TheoremError unless the step's two sides are written differently and SymPy finds them equal."""
    left, right = sp.sympify(step.left), sp.sympify(step.right)
    if left == right:
        raise TheoremError(f"step {number} ({step.why}): both sides are written the same, so the step shows nothing")
    try:
        holds = isinstance(left, sp.Expr) and _vanishes(expand(left - right))
    except TheoremError as error:
        raise TheoremError(f"step {number} ({step.why}): {error}") from error
    if not holds:
        raise TheoremError(f"step {number} ({step.why}): {text_of(left)} = {text_of(right)} does not hold")


def _vanishes(difference: sp.Expr) -> bool:
    if not has_matrices(difference):
        # A derivation rests on SymPy anyway, so that SymPy may carry out sums and products.
        return vanishes(difference.replace(lambda part: isinstance(part, SERIES), lambda part: part.doit()))
    return not monomials(difference)
