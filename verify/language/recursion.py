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
    """The recursion z' = step(z) from `initial`, and a scalar that is observed along it.

    Enclosures grow by what the written form of `step` repeats: write a contraction as
    `z*(1 - a) + b`, not as `z - (a*z - b)`.
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
