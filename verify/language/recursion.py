# SymPy says little of its types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportArgumentType=false
"""Recursions as data."""

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from verify.errors import TheoremError
from verify.language.expressions import to_data


@dataclass(frozen=True)
class Dynamics:
    """A recursion z' = step(z), and a scalar that is observed along it.

    Enclosures grow with what the written form of `step` repeats: write a contraction as `z*(1 - a) + b`, not as
    `z - (a*z - b)`.

    Parameters
    ----------
    state
        The symbols of the state.
    initial
        The state before the first step, in terms of the parameters.
    step
        The next state, in terms of the state and the parameters.
    observable
        The scalar that clauses such as `Reaches` are about.

    Raises
    ------
    TheoremError
        Where the state, its start and its step are not of one length.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify import Dynamics
    >>> z, eta = sp.symbols("z eta", positive=True)
    >>> Dynamics((z,), (sp.Integer(1),), (z * (1 - eta),), z**2).observable
    z**2
    """

    state: tuple[sp.Symbol, ...]
    initial: tuple[sp.Expr, ...]
    step: tuple[sp.Expr, ...]
    observable: sp.Expr

    def __post_init__(self) -> None:
        if not len(self.state) == len(self.initial) == len(self.step):
            raise TheoremError("a recursion needs one initial value and one step for each state variable")

    def to_data(self) -> Mapping[str, object]:
        """Return what the digest covers."""
        lists = {"state": self.state, "initial": self.initial, "step": self.step}
        return {name: [to_data(item) for item in items] for name, items in lists.items()} | {
            "observable": to_data(self.observable)
        }
