"""Summaries: a theorem with the standing of each claim, and an experiment with its settings."""

import shlex
from dataclasses import dataclass

from verify.checking.formal.record import recorded
from verify.checking.registry import ids, kind_of
from verify.checking.standing import Standing, standing
from verify.checking.theorem import Theorem
from verify.errors import InputError
from verify.language.clause_data import Dynamics
from verify.outcomes import Formal, formal_claims, how_sure, json_numbers
from verify.printing import text_of
from verify.reports.verbs.given import loaded_theorem
from verify.runs.experiments import Experiment, load_experiment
from verify.shown import Shown


@dataclass(frozen=True, repr=False)
class TheoremSummary(Shown):
    """A theorem with its standing, based on its certificate, its argument, and the record of Rocq's acceptance.

    Parameters
    ----------
    theorem
        The theorem.
    standing
        The standing of each claim for all parameters, and the evidence at the example.
    not_formal
        The reason why the record of Rocq's acceptance does not count, or why Rocq refused a part; else empty.
    reference
        The theorem's name on the command line; empty if it has none.

    Examples
    --------
    >>> import verify
    >>> verify.show("wang2024.lemma1").theorem.id
    'wang2024.lemma1'
    """

    theorem: Theorem
    standing: Standing
    not_formal: str = ""
    reference: str = ""

    @property
    def recursions(self) -> list[tuple[Dynamics, tuple[str, ...]]]:
        """The recursions that claims are about, each with the labels of its claims."""
        found = dict[Dynamics, tuple[str, ...]]()
        for claim in self.theorem.statement.claims:
            if (dynamics := getattr(claim, "dynamics", None)) is not None:
                found[dynamics] = (*found.get(dynamics, ()), claim.label)
        return list(found.items())

    @property
    def known(self) -> str:
        """The standing of the claims for all parameters, and the evidence at the example."""
        known = self.standing
        why = known.why if kind_of(self.theorem.id) == "theorem" else "a search for a proof is `verify prove`"
        why = f" ({why})" if known.why else ""
        at = f"; at its example: {how_sure(known.evidence, known.trusts)}" if known.evidence else ""
        formal = formal_claims(known.clauses, (claim.label for claim in self.theorem.statement.claims))
        formal += f"; not formal: {self.not_formal}" if self.not_formal else ""
        return f"for all parameters: {known.for_all_parameters.text()}{formal}{why}{at}"

    @property
    def prose(self) -> list[str]:
        """The sentences in prose by which formal claims follow from their formal texts."""
        return [f"in prose: {sentence}" for sentence in Formal.prose(self.standing.for_all_parameters.formal)]

    def to_json(self) -> dict[str, object]:
        """Return the object of `verify show THEOREM --json`, without `schema` and `version`."""
        theorem, statement, known = self.theorem, self.theorem.statement, self.standing
        return {
            "theorem": theorem.id,
            "title": theorem.title,
            "paper": theorem.source.paper.key if theorem.source.paper else None,
            "source": str(theorem.source),
            "statement_digest": statement.digest,
            "parameters": [{"name": p.name, "domain": p.domain, "meaning": p.meaning} for p in statement.parameters],
            "domain": [text_of(relation) for relation in statement.domain],
            "definitions": [
                {"name": text_of(name), "definition": text_of(value)} for name, value in statement.definitions.items()
            ],
            "recursions": [
                {
                    "claims": list(labels),
                    "state": [
                        {"name": text_of(name), "start": text_of(start), "next": text_of(after)}
                        for name, start, after in zip(each.state, each.initial, each.step, strict=True)
                    ],
                    "observable": text_of(each.observable),
                    "observable_name": each.name,
                }
                for each, labels in self.recursions
            ],
            "hypotheses": [{"label": h.label, "kind": h.kind, "statement": h.statement} for h in statement.hypotheses],
            "claims": [
                {
                    "label": claim.label,
                    "claim": claim.text,
                    "for_all_parameters": known.clauses[claim.label].standing,
                    "trusts": [trust._asdict() for trust in sorted(known.clauses[claim.label].trusts)],
                }
                for claim in statement.claims
            ],
            "steps": [{"label": step.label, "claim": step.text} for step in statement.steps],
            "uses": list(theorem.proof_uses),
            "example": json_numbers(dict(theorem.example)),
            "for_all_parameters": known.for_all_parameters.standing,
            "formal": known.for_all_parameters.formal_to_json(),
            "not_formal": self.not_formal,
            "inferences_argued": len(known.for_all_parameters.inferences),
            "inferences_own": known.for_all_parameters.own,
            "best_instance_evidence": known.evidence,
            "why": known.why,
        }


@dataclass(frozen=True, repr=False)
class ExperimentSummary(Shown):
    """An experiment, shown with its settings.

    Parameters
    ----------
    experiment
        The experiment.

    Examples
    --------
    >>> import verify
    >>> verify.show("wang2024.figure1").experiment.settings[1].full
    200
    """

    experiment: Experiment

    def to_json(self) -> dict[str, object]:
        """Return the object of `verify show EXPERIMENT --json`, without `schema` and `version`."""
        experiment = self.experiment
        rows = [
            {
                "name": setting.parameter.name,
                "domain": setting.parameter.domain,
                "meaning": setting.parameter.meaning,
                **json_numbers({"quick": setting.quick, "full": setting.full}),
            }
            for setting in experiment.settings
        ]
        paper = experiment.source.paper.key if experiment.source.paper else None
        about = {"experiment": experiment.id, "title": experiment.title, "paper": paper}
        return {**about, "source": str(experiment.source), "settings": rows}


def summary_of(name: Theorem | str) -> TheoremSummary | ExperimentSummary:
    """Return the summary of a theorem or of an experiment. Raises InputError for an unknown id."""
    if isinstance(name, str) and kind_of(name) == "experiment":
        return ExperimentSummary(load_experiment(name))
    theorem = loaded_theorem(name)
    reference = shlex.quote(name) if isinstance(name, str) else ""
    return TheoremSummary(theorem, standing(theorem), recorded(theorem).not_formal, reference)


def experiment_summaries(paper: str | None = None) -> list[ExperimentSummary]:
    """Return the summaries of all experiments, or of a paper's, sorted by id. Raises InputError if there are none."""
    every = ids("experiment")
    known = sorted({name.split(".")[0] for name in every})
    if paper is not None and paper not in known:
        raise InputError("--paper", paper, f"has no experiments here; they are of {', '.join(known)}")
    return [ExperimentSummary(load_experiment(name)) for name in every if paper in (None, name.split(".")[0])]
