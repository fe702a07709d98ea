"""How a search is narrowed: to a statement without some of its hypotheses, and to values that stay fixed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from verify.errors import InputError, meant
from verify.evaluation.instances import check_domain, evaluate_hypothesis
from verify.language.parameters import Value, parse_instance
from verify.language.statement import Hypothesis, Statement


def without(statement: Statement, labels: Sequence[str]) -> Statement:
    """Return the statement without some of its hypotheses. Raises InputError for a label that cannot be dropped."""
    known = {hypothesis.label: hypothesis for hypothesis in statement.hypotheses}
    droppable = ", ".join(label for label, hypothesis in known.items() if _droppable(hypothesis)) or "none"
    for label in labels:
        if label not in known:
            raise InputError("--drop", label, f"is not a hypothesis of this theorem; {meant(label, known, 'it has')}")
        if not _droppable(known[label]):
            raise InputError("--drop", label, f"is structural and cannot be varied; can be dropped: {droppable}")
    kept = tuple(hypothesis for hypothesis in statement.hypotheses if hypothesis.label not in labels)
    return replace(statement, hypotheses=kept)


def _droppable(hypothesis: Hypothesis) -> bool:
    return hypothesis.relation is not None or hypothesis.varies is not None


def fixed_values(statement: Statement, given: Mapping[str, object]) -> dict[str, Value]:
    """Return the values that stay fixed: the given ones, and the paper's words where a kept hypothesis fixes them.

    Raises InputError for a value that is not understood, is outside the domain, or breaks a hypothesis by itself.
    """
    fixed = parse_instance(statement.parameters, given, partial=True)
    check_domain(statement, fixed)
    for kept in statement.hypotheses:
        if kept.varies is not None:
            fixed = {kept.varies.name: kept.varies.words[0], **fixed}
    words = {parameter.name: parameter.words[0] for parameter in statement.parameters if parameter.words}
    for kept, specialised in zip(statement.hypotheses, statement.specialised(words | fixed).hypotheses, strict=True):
        waits = kept.relation is not None and not {s.name for s in kept.relation.free_symbols} <= set(fixed)  # type: ignore[attr-defined]
        if not waits and evaluate_hypothesis(specialised, fixed).holds is False:
            values = ", ".join(f"{name} = {value}" for name, value in fixed.items())
            raise InputError(values, "", f"breaks {kept.label}: {kept.statement} (--drop {kept.label} leaves it out)")
    return fixed
