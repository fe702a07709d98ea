"""Rocq proves that exported canaries are false, which fails if the translation omits conditions."""

from fractions import Fraction

import pytest

import verify
from tests.layout import ROOT
from tests.theorems.test_library import COSTLY
from tests.verify.formal.refutations import Refuted, refutations
from verify import ids, load_theorem
from verify.checking.standing import shipped_proofs
from verify.formal.export import plain
from verify.formal.kernel.compiling import compiled
from verify.formal.kernel.running import AXIOMS

FEWER = {
    **dict.fromkeys(("ahn2023.least_point_curvature", "ahn2023.lemma1", "ahn2023.lemma4", "ahn2023.lemma5"), 0),
    **dict.fromkeys(("ahn2023.lemma6", "ahn2023.printed_layers", "ahn2023.proportional_limit", "ahn2023.theorem3"), 0),
    **dict.fromkeys(("wang2024.dimension_lower_bound", "wang2024.length_bound", "wang2024.theorem1"), 0),
    **dict.fromkeys(("ahn2023.theorem4", "wang2024.inverse_loss_rate", "wang2024.length_generalization"), 1),
    **dict.fromkeys(("wang2024.separation", "wang2024.theorem2", "wang2024.two_selected"), 1),
    "ahn2023.token_layers_between": 2,
    **dict.fromkeys(("ahn2023.label_attention", "ahn2023.two_layers_of_tokens", "wang2024.lemma2"), 4),
    **dict.fromkeys(("ahn2023.theorem2", "wang2024.one_hot_steps"), 5),
}
"""The recorded number of canaries with an exported negation, for theorems in which not all canaries have one."""
MACHINE = ("PrimInt63.", "Uint63.", "Sint63.", "PrimFloat.", "FloatAxioms.", "CarryType.", "Int63.", "Int63Axioms.")
"""Modules of machine arithmetic, which Interval uses to compare numbers with exponentials."""


def refuted(theorem):
    """Return the refutations of the canaries for which a search finds a counterexample."""
    for canary in theorem.canaries:
        found = verify.explore(theorem.variant(canary.statement), max_examples=200, seconds=300)
        assert found.clause is not None and found.clause.label == canary.clause
        proof = found.clause.proof
        ends = proof.get("difference") or "0"
        difference = Fraction(ends if isinstance(ends, str) else ends[0])
        instance = {name: plain(value) for name, value in found.counterexample.items()}
        proved = shipped_proofs(theorem).get(canary.clause)
        true = (theorem.statement, proved) if proved is not None else None
        yield Refuted(canary.statement, canary.clause, instance, proof.get("point", {}), difference, true)


@pytest.mark.formal
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.audit) if each in COSTLY else each for each in ids("theorem")]
)
def test_rocq_proves_that_canaries_are_false(name, tmp_path):
    found = list(refuted(load_theorem(name)))
    made = refutations(f"lemmascope, for Rocq: canaries of {name}", found)
    assert len(found) - len(made.left_out) == FEWER.get(name, len(found)), made.left_out
    for file, text in made.files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    found = compiled(tmp_path)
    assert found.accepted or found.axioms, found.refused
    assert all(axiom.startswith(MACHINE) for axiom in found.axioms - AXIOMS)


def test_the_page_has_the_numbers_of_canaries_that_rocq_refutes():
    names = [name for name in ids("theorem", "theorems") if name not in COSTLY]
    canaries = {name: len(load_theorem(name).canaries) for name in names}
    negated = sum(FEWER.get(name, count) for name, count in canaries.items())
    page = (ROOT / "docs/howto/rocq.md").read_text(encoding="utf-8")
    assert f"{negated} of the {sum(canaries.values())} canaries" in " ".join(page.split())
