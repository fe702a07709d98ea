"""Rocq proves that each canary is false, of what is exported: a translation that says too little would fail here."""

from fractions import Fraction

import pytest

import verify
from verify import ids, load_theorem
from verify.formal.export import plain
from verify.formal.kernel.compiling import compiled
from verify.formal.kernel.running import AXIOMS
from verify.formal.refutations import Refuted, refutations

# A search or a comparison of numbers takes minutes.
COSTLY = (
    *("wang2024.dimension_lower_bound", "wang2024.length_bound", "wang2024.length_generalization"),
    *("wang2024.one_hot_descent", "wang2024.one_hot_larger_steps", "wang2024.one_hot_steps"),
    *("wang2024.separation", "wang2024.theorem2"),
)
NOT_EXPORTED = ("is not exported", "are not exported", "it is in words", "a derivative")
MACHINE = ("PrimInt63.", "Uint63.", "Sint63.", "PrimFloat.", "FloatAxioms.", "CarryType.", "Int63.", "Int63Axioms.")
"""Modules of machine arithmetic, by which Interval compares numbers with exponentials."""


def refuted(theorem):
    """Return the refutation of each canary that a search finds."""
    for canary in theorem.canaries:
        found = verify.explore(theorem.variant(canary.statement), max_examples=200, seconds=300)
        proof = found.clause.proof
        ends = proof.get("difference") or "0"
        difference = Fraction(ends if isinstance(ends, str) else ends[0])
        instance = {name: plain(value) for name, value in found.counterexample.items()}
        yield Refuted(canary.statement, canary.clause, instance, proof.get("point", {}), difference)


@pytest.mark.formal
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.audit) if each in COSTLY else each for each in ids("theorem")]
)
def test_rocq_proves_that_canaries_are_false(name, tmp_path):
    made = refutations(f"lemmascope, for Rocq: canaries of {name}", list(refuted(load_theorem(name))))
    assert all(any(part in why for part in NOT_EXPORTED) for why in made.left_out.values()), made.left_out
    for file, text in made.files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    found = compiled(tmp_path)
    assert found.accepted or found.axioms, found.refused
    assert all(axiom.startswith(MACHINE) for axiom in found.axioms - AXIOMS)
