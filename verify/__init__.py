"""Verify theorems of machine-learning theory: statements as data, checked, derived and certified.

The public names are loaded when they are first used, so that importing the package is light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.claims import Identity as Identity
    from verify.claims import Inequality as Inequality
    from verify.derivation import Derivation as Derivation
    from verify.derivation import Step as Step
    from verify.descent import Coordinate as Coordinate
    from verify.descent import Descent as Descent
    from verify.dynamics import Dynamics as Dynamics
    from verify.errors import InputError as InputError
    from verify.errors import TheoremError as TheoremError
    from verify.language import Case as Case
    from verify.language import primitive as primitive
    from verify.outcomes import Enclosure as Enclosure
    from verify.outcomes import Evidence as Evidence
    from verify.outcomes import Outcome as Outcome
    from verify.parameters import Parameter as Parameter
    from verify.registry import load_theorem as load_theorem
    from verify.registry import theorem_ids as theorem_ids
    from verify.statement import Bound as Bound
    from verify.statement import Canary as Canary
    from verify.statement import ClauseValue as ClauseValue
    from verify.statement import Hypothesis as Hypothesis
    from verify.statement import Paper as Paper
    from verify.statement import Source as Source
    from verify.statement import Statement as Statement
    from verify.statement import Theorem as Theorem
    from verify.statement import ValueWhere as ValueWhere
    from verify.trajectories import Reaches as Reaches
    from verify.trajectories import Stays as Stays

_HOMES = {
    "claims": ("Identity", "Inequality"),
    "derivation": ("Derivation", "Step"),
    "descent": ("Coordinate", "Descent"),
    "dynamics": ("Dynamics",),
    "errors": ("InputError", "TheoremError"),
    "language": ("Case", "primitive"),
    "outcomes": ("Enclosure", "Evidence", "Outcome"),
    "parameters": ("Parameter",),
    "registry": ("load_theorem", "theorem_ids"),
    "statement": (
        "Bound",
        "Canary",
        "ClauseValue",
        "Hypothesis",
        "Paper",
        "Source",
        "Statement",
        "Theorem",
        "ValueWhere",
    ),
    "trajectories": ("Reaches", "Stays"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'verify' has no attribute {name!r}")
    return getattr(import_module(f"verify.{_MODULE_OF[name]}"), name)
