"""Length generalisation: certified, and a layer that has learnt one draw beside the best for fresh draws."""

from paper_checks.wang2024 import length_generalisation
from verify import Measurement, Outcome, load_theorem


def test_length_generalisation_is_certified(ledger):
    theorem = load_theorem("wang2024.length_generalization")
    ledger.check(theorem, **theorem.example)


def test_length_generalisation_against_one_learnt_draw(ledger):
    ledger.compare(length_generalisation.one_draw_does_not_generalise)


def test_what_one_draw_costs_is_told_from_nothing():
    low, high = Measurement(0.01, 1e-4, 1000), Measurement(0.5, 1e-3, 1000)
    assert length_generalisation.one_draw(0.1, 0.2, low, high).outcome is Outcome.VERIFIED
    assert length_generalisation.one_draw(0.1, 0.2, high, high).outcome is Outcome.REFUTED
    assert length_generalisation.one_draw(0.1, 0.2, low, low).outcome is Outcome.REFUTED
    assert length_generalisation.one_draw(0.1, 0.2, low, Measurement(0.21, 0.1, 1000)).outcome is Outcome.INCONCLUSIVE
