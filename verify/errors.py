"""Errors in a user's input (InputError), in a theorem (TheoremError), and in arithmetic."""

import re
import sys
from collections.abc import Iterable

from verify.shown import visible

_MOST_NAMES = 8
"""Maximum number of names that a message lists; if there are more, it shows the first ones and the total number."""


def meant(name: str, known: Iterable[str], what: str = "known:") -> str:
    """Return the known names similar to a name, as a question, followed by the list of known names if it is short.

    `what` begins the list, as in `its parameters are`. If there are many names and none is similar, the first few are
    listed. Case is ignored.
    """
    # The import takes 10 ms, and only errors need it.
    from difflib import get_close_matches

    names = list(known)
    folded = {each.casefold(): each for each in reversed(names)}
    near = [folded[each] for each in get_close_matches(name.casefold(), folded, n=2)]
    question = f"did you mean {' or '.join(near)}?" if near else ""
    if len(names) > _MOST_NAMES:
        return question or f"{what} {', '.join(names[:_MOST_NAMES])}, … ({len(names)} in all)"
    return f"{question} {what} {', '.join(names) or 'none'}".strip()


_COMPARED = "cannot determine truth value of Relational"
_NUMERICAL = re.compile(r"Cannot convert expression to float|no callable \w+ method")
_KEYWORD = re.compile(r"(\w+)(?:\.__init__)?\(\) got an unexpected keyword argument '(\w+)'")
_ARGUMENT = re.compile(r"(\w+)\.__init__\(\) missing \d+ required positional arguments?: (.*)")
_CONTRADICTED = "InconsistentAssumptions"
_IMPORT = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")


def explained(error: BaseException) -> str:
    """Return the meaning and the remedy of an error raised in a theorem file or, if unknown, its class and text."""
    said = str(error)
    if isinstance(error, InputError | TheoremError):
        return said
    if is_contradiction(error):
        # SymPy's own words are a table of assumptions.
        shown = " ".join(said.rpartition("}, ")[2].split())
        return (
            f"the assumptions of an expression contradict each other ({shown}): leave one out, or the part that "
            "SymPy is kept from evaluating, such as a factor 0"
        )
    if _COMPARED in said:
        how = "for a chain such as 1 < x < 2 write a claim or a hypothesis for each comparison"
        return f"Python cannot tell whether {said.rpartition(': ')[2]} is true; {how}"
    if _NUMERICAL.search(said):
        needed = "a symbol stands where a number is needed, as in float(x) or a function of math or NumPy"
        return f"{needed}: write SymPy's, such as sp.exp(x), sp.log(x), sp.sqrt(x)"
    if (found := _KEYWORD.search(said)) and (known := _parameters_of(found[1])):
        return f"{found[1]} has no {found[2]}; {meant(found[2], known, 'it has')}"
    if (found := _ARGUMENT.search(said)) and (known := _parameters_of(found[1])):
        both = "; give both sides, left and right" if "right" in found[2] else ""
        return f"{found[1]}({', '.join(known)}): {found[2].replace(chr(39), '')} missing{both}"
    if found := _IMPORT.search(said):
        return f"{found[2]} has no {found[1]}; {meant(found[1], dir(sys.modules.get(found[2])), 'it has')}"
    return f"{type(error).__name__}: {said}"


def is_contradiction(error: BaseException) -> bool:
    """Whether SymPy raised the error for contradictory assumptions, of a symbol or of an unevaluated expression.

    The error's class is compared by name, so that commands that need no SymPy do not import it.
    """
    return type(error).__name__ == _CONTRADICTED


def _parameters_of(name: str) -> list[str]:
    """Return the parameters of a public class or function; none for any other name."""
    # The import takes 10 ms, and only errors need it.
    from inspect import signature

    public = getattr(sys.modules["verify"], name, None)
    return list(signature(public).parameters) if callable(public) else []


class InputError(ValueError):
    """An invalid input; the message is one line with the name, the value and the requirement.

    Parameters
    ----------
    name
        The parameter, option or file.
    value
        The given value; an empty one is not shown.
    requirement
        The condition that the value must meet.

    Examples
    --------
    >>> from verify import InputError
    >>> print(InputError("T", 0, "must be an integer >= 1"))
    T = 0: must be an integer >= 1
    """

    def __init__(self, name: str, value: object, requirement: str) -> None:
        self.name, self.value, self.requirement = name, value, requirement
        shown = visible(str(value))
        if len(shown) > 60:
            shown = f"{shown[:25]}…{shown[-30:]} ({len(shown)} characters)"
        given = f" = {shown}" if shown else ""
        super().__init__(visible(" ".join(f"{visible(name)}{given}: {requirement}".split())))

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str, str]]:
        return type(self), (self.name, str(self.value), self.requirement)


class TheoremError(ValueError):
    """A theorem that is not well formed, such as an expression outside the language, or a step that does not hold.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Hypothesis, TheoremError
    >>> try:
    ...     Hypothesis("empty")
    ... except TheoremError as error:
    ...     print(error)
    hypothesis empty: needs a relation or a text
    """


class PrimitiveError(TheoremError):
    """A theorem's primitive raised an error that it may not raise, or returned an invalid value."""


class BeyondReachError(TheoremError):
    """An expression that the engine does not evaluate, such as the limit of a function that is not rational."""


class NoInstanceError(TheoremError):
    """No instance that satisfies the hypotheses was found; some may exist."""


class ArithmeticLeftError(TheoremError, TypeError):
    """A number of the engine was converted to a float or an int, or combined with a number of another type."""


class NotExactError(ArithmeticError):
    """An exact rational is needed, and the value is not known to be rational, or has too many digits."""


class UndefinedError(ArithmeticError):
    """An expression has no value at this instance (a division by zero, a logarithm of 0).

    Examples
    --------
    >>> from verify import UndefinedError
    >>> try:
    ...     raise UndefinedError("1/x: division by zero")
    ... except ArithmeticError as error:
    ...     print(error)
    1/x: division by zero
    """


class UndecidedError(ArithmeticError):
    """The enclosures overlap: the comparison cannot be decided at this precision.

    Examples
    --------
    >>> from verify import UndecidedError
    >>> issubclass(UndecidedError, ArithmeticError)
    True
    """


class OutOfTimeError(BaseException):
    """The deadline of a computation has passed; the evaluation of a primitive then raises UndecidedError.

    The error is a BaseException, so that no `except Exception` in a library or in a package's code catches it.
    """
