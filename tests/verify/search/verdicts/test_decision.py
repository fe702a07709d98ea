"""A search decides a clause at an instance as a check does; a clause that holds for all parameters is proved."""

import time

import pytest
import sympy as sp

from tests.verify.searched import N, W, X, n, theorem, w, x, z
from verify import Dynamics, Hypothesis, Outcome, Reaches
from verify.errors import OutOfTimeError
from verify.evaluation.iteration import INTERRUPTED, Passage
from verify.search.verdicts.decision import Judge


def judge(claim, *hypotheses, **more):
    made = theorem((N, W, X), claim, *hypotheses, **more)
    return Judge(made, made.statement)


def in_time(seconds=600):
    return time.monotonic() + seconds


positive = sp.Symbol("v", positive=True)
HERE = {"n": 2, "w": 3, "x": 1}


def test_a_clause_is_decided_as_a_check_decides_it():
    assert judge(sp.Ge(w, 3, evaluate=False)).decide("claim", HERE, in_time()).outcome is Outcome.VERIFIED
    refuted = judge(sp.Gt(w, 3, evaluate=False)).decide("claim", HERE, in_time())
    assert refuted.outcome is Outcome.REFUTED and refuted.rechecked and refuted.margin == 0


def test_an_instance_that_breaks_a_hypothesis_refutes_nothing():
    refuted = judge(sp.Gt(n, 2, evaluate=False), Hypothesis("small", sp.Le(n, 1)))
    result = refuted.decide("claim", HERE, in_time())
    assert result.outcome is Outcome.OUT_OF_SCOPE and result.detail == "breaks small"


def test_a_clause_that_takes_too_long_is_undecided(clock):
    slow = Dynamics((z,), (sp.Integer(1),), (z * (1 - sp.Rational(1, 10**9)),), z)
    # The run reads the clock after every 1024 steps.
    began, clock.tick = clock.now, 0.001
    result = judge(Reaches("claim", slow, sp.Rational(1, 2))).decide("claim", HERE, in_time(0.3))
    assert result.outcome is Outcome.INCONCLUSIVE and clock.now - began < 0.4


def test_an_interrupt_goes_through(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("verify.claims.inequality.Inequality.evaluate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        judge(sp.Ge(w, 3, evaluate=False)).decide("claim", HERE, in_time())


@pytest.mark.parametrize("verb", ["decide", "prove"])
def test_an_interrupt_goes_through_where_the_time_ends_after_it(monkeypatch, verb):
    def late(_, __, question):
        question.runs["a run"] = Passage(reached=False, step=1, observable=None, state=(), bits=64, why=INTERRUPTED)
        raise OutOfTimeError("the time ran out")

    monkeypatch.setattr("verify.checking.decide.Decider.clause", late)
    with pytest.raises(KeyboardInterrupt):
        getattr(judge(sp.Ge(n * x, 0, evaluate=False)), verb)("claim", HERE, in_time())


@pytest.mark.parametrize(
    ("claim", "proved"),
    [
        (sp.Ge(n * x, 0, evaluate=False), True),
        (sp.Ge(n * positive + x, x, evaluate=False), True),
        (sp.Ge(n * positive, x, evaluate=False), False),
        # This clause holds only under the hypothesis.
        (sp.Le(n, 5, evaluate=False), True),
        (sp.Le(n, 4, evaluate=False), False),
    ],
)
def test_true_clauses_alone_are_proved_for_all_parameters(claim, proved):
    judged = judge(claim, Hypothesis("small", sp.Le(n, 5)), variables=(positive,))
    assert judged.prove("claim", HERE, in_time()) is proved
    assert judged.proved == {((), "claim"): proved}


def test_a_proof_is_looked_for_once_and_accepted_by_the_rechecker_alone(monkeypatch):
    judged, asked = judge(sp.Ge(w**2, 0, evaluate=False)), []

    def forged(*_, **__):
        asked.append(1)
        return {"kind": "forged"}

    monkeypatch.setattr("verify.claims.inequality.Inequality.prove", forged)
    monkeypatch.setattr("verify.claims.inequality.Inequality.prove_otherwise", lambda *_, **__: None)
    assert not judged.prove("claim", HERE, in_time())
    assert not judged.prove("claim", HERE, in_time()) and asked == [1]


def test_a_refused_proof_is_followed_by_one_by_another_way(monkeypatch):
    monkeypatch.setattr("verify.claims.inequality.Inequality.prove", lambda *_, **__: {"kind": "forged"})
    assert judge(sp.Ge(w**2, 0, evaluate=False)).prove("claim", HERE, in_time())
    assert not judge(sp.Ge(w, 7, evaluate=False)).prove("claim", HERE, in_time())
