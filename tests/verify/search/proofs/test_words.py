"""A search evaluates claims in words at the instances it tried: a violation is a counterexample, with its instance."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.verify.searched import W, theorem, w
from verify import Evaluation, Hypothesis, InWords, Outcome, Parameter, Trial
from verify.search.explore import explore
from verify.search.limits import PROVE
from verify.search.proofs.words import evaluated

SAID = InWords("words", "w is at most a number that is drawn from [3, 4]")


def trials(instance, random):
    while True:
        yield Trial(3 + random.random() - float(instance["w"]), 1e-12, {"drawn": Fraction(7, 2)})


def never(instance, random):
    yield Trial(1)


def said(evaluated=trials, **more):
    evaluation = Evaluation(evaluated, "w is at most a number of [-9, -8]", trials, draws=10)
    return replace(theorem((W,), SAID, **more), evaluations={"words": evaluation})


def test_a_violation_is_a_counterexample():
    found = explore(said(), {}, max_examples=60, seconds=20)
    assert (found.clause.label, found.clause.outcome, found.stopped) == ("words", Outcome.REFUTED, "found")
    assert found.counterexample["w"] > 3 and (found.refuted, found.certified, found.exit_code) == (1, False, 1)
    assert dict(found.clause.witness) == {**found.counterexample, "drawn": Fraction(7, 2)}
    assert "refuted (simulated)" in str(found) and "not searched" not in str(found)


def test_unviolated_claims_in_words_are_counted_and_make_nothing_clean():
    found = explore(said(never), {}, max_examples=20, seconds=20)
    assert found.evaluated == {"words": found.examples} == found.to_json()["evaluated"] and found.clean == 0
    assert f"in words: words (not violated at {found.examples} instances)" in str(found)
    many = explore(said(never), {}, max_examples=3 * PROVE.instances_in_words, seconds=60)
    assert many.evaluated == {"words": PROVE.instances_in_words} and many.examples > PROVE.instances_in_words


def test_evaluations_in_words_have_their_part_of_the_time(clock):
    def slow(instance, random):
        clock.sleep(0.4)
        yield Trial(1)

    found = explore(said(slow), {}, max_examples=100, seconds=20)
    assert 2 <= found.evaluated["words"] < 20 * PROVE.in_words / 0.4 + 2 and found.seconds < 20


@pytest.mark.parametrize("drop", [True, False])
def test_beyond_the_hypotheses_nothing_is_evaluated(drop):
    # The code of an evaluation may assume the hypotheses.
    of = said()
    low = Hypothesis("low", w <= 3)
    if drop:
        of = replace(of, statement=replace(of.statement, hypotheses=(low,)))
    searched = of if drop else of.variant(replace(of.statement, hypotheses=(low,))).variant(of.statement)
    found = explore(searched, {}, drop="low" if drop else (), max_examples=20)
    assert found.counterexample is None and found.evaluated == {} and "not searched: words" in str(found)


def test_instances_with_a_word_out_of_scope_are_not_evaluated():
    prior, seen = Parameter("prior", "word", "the law of w", words=("normal", "uniform")), set()

    def noted(instance, random):
        seen.add(instance["prior"])
        yield Trial(1)

    of = theorem((W, prior), SAID, Hypothesis("normal", text="w is normal", varies=prior))
    of = replace(of, evaluations={"words": Evaluation(noted, "w is at most a number of [-9, -8]", trials)})
    found = evaluated(of, [SAID], (), seconds=60)
    assert seen == {"normal"} and found.instances["words"] > 10
