"""Recursions: the cost of a long run, and the first passage, which agrees with the engine's."""

import time
from fractions import Fraction

import pytest

from tests.verify.rechecker.cases_of_runs import EXAMPLE, STEPS, theorem1
from tests.verify.rechecker.certificates import certificate, integer, recheck
from verify.evaluation.iteration import first_passage
from verify.rechecker import Accepted


def recheck_a_long_run():
    # The loss at T = 200 is still far above this level after 300 000 steps.
    instance = {"T": "200", "q": "3", "d": "5", "eta": "1/500", "eps": "1/1000000000"}
    data = theorem1().to_data()
    data["claims"] = [data["claims"][0] | {"within": integer(300_000)}]
    assert theorem1().to_data() != data
    proof = {"kind": "above", "bits": 128, "last": 300_000, "checkpoints": []}
    return recheck(certificate(data, instance, ("refuted", "certified", proof)))


def test_a_long_run_is_within_the_work_of_a_file():
    assert isinstance(recheck_a_long_run(), Accepted)


@pytest.mark.audit
def test_a_long_run_is_checked_in_seconds():
    started = time.monotonic()
    recheck_a_long_run()
    # On an idle machine the re-check takes 1.9 s; a file may cost a minute.
    assert time.monotonic() - started < 5.7


def test_the_passage_of_the_example_is_that_of_the_engine():
    values = {name: Fraction(value) for name, value in EXAMPLE.items()}
    dynamics = theorem1().clauses[0].dynamics
    assert first_passage(dynamics, values["eps"], values, deadline=time.monotonic() + 60).step == STEPS
