"""The options of a search: the hypotheses that are left out, and the values that stay fixed."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from verify.budget import ended
from verify.checking.standing import settled_steps
from verify.checking.theorem import Theorem
from verify.errors import InputError, NoInstanceError, OutOfTimeError, meant
from verify.evaluation.instances import check_domain, evaluate_hypothesis
from verify.evaluation.values import symbols_by_name
from verify.language.parameters import Value, parse_instance
from verify.language.statement import Hypothesis, Statement


def without(statement: Statement, labels: Sequence[str]) -> Statement:
    """Return the statement without some of its hypotheses. Raises InputError for a label that cannot be dropped."""
    known = {hypothesis.label: hypothesis for hypothesis in statement.hypotheses}
    droppable = [label for label, hypothesis in known.items() if _droppable(hypothesis)]
    for label in labels:
        if label not in known:
            nearest = meant(label, droppable, "can be dropped:")
            raise InputError("--drop", label, f"is not a hypothesis of this theorem; {nearest}")
        if not _droppable(known[label]):
            others = ", ".join(droppable) or "none"
            raise InputError("--drop", label, f"is structural and cannot be varied; can be dropped: {others}")
    kept = tuple(hypothesis for hypothesis in statement.hypotheses if hypothesis.label not in labels)
    return replace(statement, hypotheses=kept)


def searched(theorem: Theorem, dropped: Sequence[str], settled: Collection[str]) -> Statement:
    """Return the statement to search, without the dropped hypotheses and without the settled steps.

    If a hypothesis is dropped, all steps are left out: a step of a proof may need a hypothesis that no claim needs.
    Raises InputError as `without` does.
    """
    weaker = without(theorem.statement, dropped)
    left_out = {step.label for step in weaker.steps if dropped or step.label in settled}
    return weaker.with_clauses(lambda clause: None if clause.label in left_out else clause) if left_out else weaker


def settled_in_time(theorem: Theorem, seconds: float) -> frozenset[str]:
    """Return the steps that need no search; none if the certificate is not re-checked within `seconds`."""
    try:
        return ended(time.monotonic() + seconds, settled_steps, theorem)
    except OutOfTimeError:
        return frozenset()


def _droppable(hypothesis: Hypothesis) -> bool:
    return hypothesis.relation is not None or hypothesis.varies is not None


@contextmanager
def told_to_drop(statement: Statement, given: Mapping[str, object]) -> Iterator[None]:
    """Add to the text of a NoInstanceError the options `--drop` for the hypotheses about the given values."""
    try:
        yield
    except NoInstanceError as error:
        relations = {h.label: h.relation for h in statement.hypotheses if h.relation is not None}
        about = [f"--drop {h}" for h, r in relations.items() if given.keys() & symbols_by_name(r).keys()]
        more = f"; to leave a hypothesis out: {' or '.join(about)}" if about else ""
        raise NoInstanceError(f"{error}{more}") from None


def fixed_values(statement: Statement, given: Mapping[str, object]) -> dict[str, Value]:
    """Return the values that stay fixed: the given ones, and the words that the kept hypotheses fix.

    Raises InputError for a value that cannot be parsed or is outside the domain, and for values that violate a
    hypothesis about them alone.
    """
    fixed = parse_instance(statement.parameters, given, partial=True)
    check_domain(statement, fixed)
    for kept in statement.hypotheses:
        if kept.varies is not None:
            fixed = {kept.varies.name: kept.varies.words[0], **fixed}
    words = {parameter.name: parameter.words[0] for parameter in statement.parameters if parameter.words}
    for kept, specialised in zip(statement.hypotheses, statement.specialised(words | fixed).hypotheses, strict=True):
        waits = kept.relation is not None and not symbols_by_name(kept.relation).keys() <= fixed.keys()
        if not waits and evaluate_hypothesis(specialised, fixed).holds is False:
            values = ", ".join(f"{name} = {value}" for name, value in fixed.items())
            raise InputError(values, "", f"breaks {kept.label}: {kept.statement} (--drop {kept.label} leaves it out)")
    return fixed
