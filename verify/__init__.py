"""Verify theorems of machine-learning theory: statements as data, checked, derived and certified.

The public names are loaded when they are first used, so that importing the package is light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.claims import Identity as Identity
    from verify.claims import Inequality as Inequality
    from verify.comparisons import Comparison as Comparison
    from verify.comparisons import ComparisonResult as ComparisonResult
    from verify.comparisons import Prediction as Prediction
    from verify.comparisons import Verdict as Verdict
    from verify.comparisons import agreement as agreement
    from verify.comparisons import all_of as all_of
    from verify.comparisons import chance as chance
    from verify.comparisons import over_drawn as over_drawn
    from verify.comparisons import over_instances as over_instances
    from verify.comparisons import student_bound as student_bound
    from verify.crossings import Crossing as Crossing
    from verify.crossings import in_full as in_full
    from verify.derivation import Derivation as Derivation
    from verify.derivation import Step as Step
    from verify.descent import Coordinate as Coordinate
    from verify.descent import Descent as Descent
    from verify.dynamics import Dynamics as Dynamics
    from verify.errors import InputError as InputError
    from verify.errors import TheoremError as TheoremError
    from verify.experiments import Experiment as Experiment
    from verify.experiments import ExperimentResult as ExperimentResult
    from verify.experiments import Setting as Setting
    from verify.findings import Finding as Finding
    from verify.findings import Premise as Premise
    from verify.findings import Reproduction as Reproduction
    from verify.findings import findings_text as findings_text
    from verify.language import Case as Case
    from verify.language import enclosed as enclosed
    from verify.language import primitive as primitive
    from verify.matrices import MatrixIdentity as MatrixIdentity
    from verify.matrices import matrix as matrix
    from verify.measurements import Curve as Curve
    from verify.measurements import HeatMap as HeatMap
    from verify.measurements import Measurement as Measurement
    from verify.measurements import Predicted as Predicted
    from verify.outcomes import Enclosure as Enclosure
    from verify.outcomes import Evidence as Evidence
    from verify.outcomes import Outcome as Outcome
    from verify.parameters import Parameter as Parameter
    from verify.recursions import observe as observe
    from verify.registry import comparison_ids as comparison_ids
    from verify.registry import experiment_ids as experiment_ids
    from verify.registry import finding_ids as finding_ids
    from verify.registry import load_comparison as load_comparison
    from verify.registry import load_experiment as load_experiment
    from verify.registry import load_finding as load_finding
    from verify.registry import load_prediction as load_prediction
    from verify.registry import load_theorem as load_theorem
    from verify.registry import prediction_ids as prediction_ids
    from verify.registry import theorem_ids as theorem_ids
    from verify.residuals import LeastResidual as LeastResidual
    from verify.roots import IsolatedRoot as IsolatedRoot
    from verify.running import Running as Running
    from verify.sources import Paper as Paper
    from verify.sources import Source as Source
    from verify.statement import Hypothesis as Hypothesis
    from verify.statement import Statement as Statement
    from verify.stationary import StationarySquare as StationarySquare
    from verify.store import Store as Store
    from verify.theorem import Bound as Bound
    from verify.theorem import Canary as Canary
    from verify.theorem import Theorem as Theorem
    from verify.trajectories import Reaches as Reaches
    from verify.trajectories import Stays as Stays
    from verify.tube_cells import Tube as Tube
    from verify.values import ClauseValue as ClauseValue
    from verify.values import ValueLargest as ValueLargest
    from verify.values import ValueLeast as ValueLeast
    from verify.values import ValueOver as ValueOver
    from verify.values import ValueWhere as ValueWhere

_HOMES = {
    "claims": ("Identity", "Inequality"),
    "comparisons": (
        "Comparison",
        "ComparisonResult",
        "Prediction",
        "Verdict",
        "agreement",
        "all_of",
        "chance",
        "over_drawn",
        "over_instances",
        "student_bound",
    ),
    "crossings": ("Crossing", "in_full"),
    "derivation": ("Derivation", "Step"),
    "descent": ("Coordinate", "Descent"),
    "dynamics": ("Dynamics",),
    "errors": ("InputError", "TheoremError"),
    "experiments": ("Experiment", "ExperimentResult", "Setting"),
    "findings": ("Finding", "Premise", "Reproduction", "findings_text"),
    "language": ("Case", "enclosed", "primitive"),
    "measurements": ("Curve", "HeatMap", "Measurement", "Predicted"),
    "matrices": ("MatrixIdentity", "matrix"),
    "outcomes": ("Enclosure", "Evidence", "Outcome"),
    "parameters": ("Parameter",),
    "recursions": ("observe",),
    "registry": (
        "comparison_ids",
        "experiment_ids",
        "finding_ids",
        "load_comparison",
        "load_experiment",
        "load_finding",
        "load_prediction",
        "load_theorem",
        "prediction_ids",
        "theorem_ids",
    ),
    "residuals": ("LeastResidual",),
    "roots": ("IsolatedRoot",),
    "sources": ("Paper", "Source"),
    "running": ("Running",),
    "statement": ("Hypothesis", "Statement"),
    "stationary": ("StationarySquare",),
    "store": ("Store",),
    "theorem": ("Bound", "Canary", "Theorem"),
    "trajectories": ("Reaches", "Stays"),
    "tube_cells": ("Tube",),
    "values": ("ClauseValue", "ValueLargest", "ValueLeast", "ValueOver", "ValueWhere"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'verify' has no attribute {name!r}")
    return getattr(import_module(f"verify.{_MODULE_OF[name]}"), name)
