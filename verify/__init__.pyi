"""The public names, each once, with the module that it is in: `__init__.py` reads them here."""

# The verbs, the same as on the command line.
from verify.reports.verbs.theorems import check as check
from verify.reports.verbs.theorems import conditions as conditions
from verify.reports.verbs.theorems import derive as derive
from verify.reports.verbs.theorems import explore as explore
from verify.reports.verbs.files import export as export
from verify.reports.verbs.theorems import list_experiments as list_experiments
from verify.reports.verbs.theorems import list_language as list_language
from verify.reports.verbs.theorems import list_theorems as list_theorems
from verify.reports.verbs.theorems import necessity as necessity
from verify.reports.verbs.files import new as new
from verify.reports.verbs.runs import observe as observe
from verify.reports.verbs.files import pin as pin
from verify.reports.verbs.theorems import prove as prove
from verify.reports.verbs.files import recheck as recheck
from verify.reports.verbs.files import report as report
from verify.reports.verbs.theorems import show as show
from verify.reports.verbs.runs import simulate as simulate
from verify.reports.verbs.runs import sweep as sweep
from verify.checking.certificates import write_certificate as write_certificate

# A theorem, and what it is written in.
from verify.checking.argument import Inference as Inference
from verify.checking.argument import Rule as Rule
from verify.checking.derivation import Derivation as Derivation
from verify.checking.formal.propositions import formal_text as formal_text
from verify.checking.derivation import Step as Step
from verify.checking.reported_values import ClauseValue as ClauseValue
from verify.checking.reported_values import ValueLargest as ValueLargest
from verify.checking.reported_values import ValueLeast as ValueLeast
from verify.checking.reported_values import ValueOver as ValueOver
from verify.checking.reported_values import ValueWhere as ValueWhere
from verify.checking.sources import Paper as Paper
from verify.checking.sources import Source as Source
from verify.checking.theorem import Bound as Bound
from verify.checking.theorem import Canary as Canary
from verify.checking.theorem import Theorem as Theorem
from verify.checking.theorem import claim as claim
from verify.language.clause_data import Dynamics as Dynamics
from verify.language.clause_data import FormalText as FormalText
from verify.language.expressions import Case as Case
from verify.language.expressions import enclosed as enclosed
from verify.language.expressions import primitive as primitive
from verify.language.heads.scopes import Iterate as Iterate
from verify.language.lines.statements import relation as relation
from verify.language.parameters import Parameter as Parameter
from verify.language.clause_data import Hypothesis as Hypothesis
from verify.language.statement import Statement as Statement

# Kinds of clause, and the data of their proofs.
from verify.claims.identity import Identity as Identity
from verify.claims.implication import Implication as Implication
from verify.claims.in_words import Evaluation as Evaluation
from verify.claims.in_words import InWords as InWords
from verify.claims.in_words import Trial as Trial
from verify.claims.inequality import Inequality as Inequality
from verify.claims.first_passage import Reaches as Reaches
from verify.claims.first_passage import Stays as Stays
from verify.claims.isolated_root import IsolatedRoot as IsolatedRoot
from verify.claims.least_residual import LeastResidual as LeastResidual
from verify.claims.matrix_identity import MatrixIdentity as MatrixIdentity
from verify.language.noncommutative import matrix as matrix
from verify.provers.descent_lemma import Coordinate as Coordinate
from verify.provers.descent_lemma import Descent as Descent
from verify.provers.multipliers import Multipliers as Multipliers
from verify.provers.tube_cells import Tube as Tube

# Outcomes and errors, and what a kind of clause of your own is written with.
from verify.claims.question import Clause as Clause
from verify.claims.question import Question as Question
from verify.language.expressions import to_data as to_data
from verify.errors import InputError as InputError
from verify.errors import TheoremError as TheoremError
from verify.errors import UndecidedError as UndecidedError
from verify.errors import UndefinedError as UndefinedError
from verify.outcomes import ClauseResult as ClauseResult
from verify.outcomes.numbers import Enclosure as Enclosure
from verify.outcomes import Established as Established
from verify.outcomes import Evidence as Evidence
from verify.outcomes import ForAll as ForAll
from verify.outcomes import Outcome as Outcome

# Simulations, and how theory is held against them.
from verify.reports.draws import load_profile as load_profile
from verify.runs.checkpoints import Running as Running
from verify.runs.comparisons import Comparison as Comparison
from verify.runs.comparisons import ComparisonResult as ComparisonResult
from verify.runs.comparisons import Prediction as Prediction
from verify.runs.verdicts import Verdict as Verdict
from verify.runs.verdicts import agreement as agreement
from verify.runs.verdicts import all_of as all_of
from verify.runs.verdicts import chance as chance
from verify.runs.comparisons import load_comparison as load_comparison
from verify.runs.comparisons import load_prediction as load_prediction
from verify.runs.verdicts import over_drawn as over_drawn
from verify.runs.verdicts import over_instances as over_instances
from verify.runs.verdicts import student_bound as student_bound
from verify.runs.crossings import Crossing as Crossing
from verify.runs.crossings import in_full as in_full
from verify.runs.sweeps.diagram import Diagram as Diagram
from verify.runs.experiments import Experiment as Experiment
from verify.runs.experiments import ExperimentResult as ExperimentResult
from verify.runs.experiments import Setting as Setting
from verify.runs.experiments import load_experiment as load_experiment
from verify.runs.measurements import Curve as Curve
from verify.runs.measurements import HeatMap as HeatMap
from verify.runs.measurements import Measurement as Measurement
from verify.runs.measurements import Predicted as Predicted
from verify.runs.store import Store as Store

# What is installed, by id, and findings.
from verify.checking.registry import ids as ids
from verify.checking.theorem import load_theorem as load_theorem
from verify.reports.findings import Finding as Finding
from verify.reports.findings import Premise as Premise
from verify.reports.findings import Weight as Weight
from verify.reports.reproduction import Reproduction as Reproduction
from verify.reports.reproduction import reproduce as reproduce
from verify.reports.findings import findings_pages as findings_pages
from verify.reports.findings import load_finding as load_finding

__version__: str
