"""The standing of a theorem for all parameters, as `prove` reports it, in Python and on the command line."""

import json
from dataclasses import replace

import pytest
import sympy as sp

import verify
from tests.verify.command_line import assert_one_line, body_of
from tests.verify.examples import evaluations
from verify import (
    Dynamics,
    Evaluation,
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    InputError,
    InWords,
    Parameter,
    Reaches,
    Source,
    Statement,
    Theorem,
    Trial,
)
from verify.outcomes import ForAll, standings
from verify.reports.text import prove_text

x = sp.Symbol("x", positive=True)
PROVED = Identity("square", (x + 1) ** 2, x**2 + 2 * x + 1)
# This clause is true for all x > 0, but the provers do not prove it.
OPEN = Inequality("open", sp.Lt(sp.exp(-x), 1, evaluate=False))
FALSE = Inequality("false", sp.Le(x, 10, evaluate=False))
WORDS = InWords("words", "so it is")


def theorem(*claims, steps=(), argument=(), hypotheses=()):
    statement = Statement((Parameter("x", "rational", "x", above=0),), claims, hypotheses, steps=steps)
    more = {"argument": argument, "evaluations": evaluations("words") if WORDS in claims else {}}
    return Theorem("user.t", "t", Source("1", "derived here"), statement, {"x": 1}, **more)


def test_each_clause_is_carried_by_what_it_is():
    argument = (Inference("words", "as it says", ("square",), "application"),)
    result = verify.prove(theorem(WORDS, steps=(PROVED,), argument=argument))
    assert (result.for_all_parameters.text(), result.counterexample, result.exit_code) == (
        "argued in prose (1 inference)",
        None,
        0,
    )
    body = result.to_json()
    rows = {row["label"]: (row["role"], row["for_all_parameters"], row["kind"]) for row in body["clauses"]}
    assert rows == {"words": ("claim", "argued", "argument"), "square": ("step", "proved", "identity")}
    assert body["inferences_argued"] == 1 and json.dumps(body, allow_nan=False)
    assert verify.prove(theorem(PROVED)).for_all_parameters.standing is ForAll.PROVED


def test_a_claim_in_words_that_a_drawn_instance_violates_is_refuted():
    def below(instance, random):
        u = random.uniform(0, 1)
        yield Trial(u + 1 - float(instance["x"]), 1e-12, {"u": u})

    claim = Evaluation(below, "x <= u - 9 for a u in [0, 1]", evaluations("words")["words"].wrong_trials, draws=1)
    argument = (Inference("words", "as it says", ("square",), "application"),)
    made = replace(theorem(WORDS, steps=(PROVED,), argument=argument), evaluations={"words": claim})
    # The claim holds at x = 1, and is violated for x > 2.
    result = verify.prove(made)
    assert (result.exit_code, result.for_all_parameters.standing, result.refuted.label) == (1, ForAll.OPEN, "words")
    assert result.counterexample["x"] > 1 and result.refuted.evidence == "simulated"
    body = result.to_json()
    assert (body["clause"], body["certified"], body["evaluated"]) == ("words", False, None)
    stands = verify.prove(theorem(WORDS, steps=(PROVED,), argument=argument))
    # 200 instances were drawn, some of them twice.
    assert 100 < stands.to_json()["evaluated"]["words"] <= 200
    assert f"evaluated, and not violated: words at {stands.evaluated.instances['words']} instances" in prove_text(
        stands
    )


@pytest.mark.parametrize(
    "changes",
    [{"trials": lambda instance, random: iter(())}, {"wrong_trials": evaluations("words")["words"].trials}],
    ids=["tries nothing", "its wrong variant stands"],
)
def test_an_evaluation_that_shows_nothing_is_none(changes):
    argument = (Inference("words", "as it says", ("square",), "application"),)
    known = replace(evaluations("words")["words"], **changes)
    result = verify.prove(replace(theorem(WORDS, steps=(PROVED,), argument=argument), evaluations={"words": known}))
    assert (result.for_all_parameters.standing, result.exit_code) == (ForAll.STATED, 3)
    assert "nothing evaluates words" in result.for_all_parameters.why


def test_open_claims_are_said_and_a_counterexample_is_looked_for(no_deduction):
    result = verify.prove(theorem(OPEN, WORDS), seconds=3)
    assert (result.for_all_parameters.standing, result.counterexample, result.exit_code) == (ForAll.OPEN, None, 3)
    assert "open is open; words is open" in prove_text(result)
    refuted = verify.prove(theorem(FALSE), seconds=5)
    assert refuted.exit_code == 1 and refuted.counterexample["x"] > 10
    assert "counterexample  x=" in prove_text(refuted) and prove_text(refuted).splitlines()[-1].startswith("refuted")


def test_a_counterexample_of_the_example_is_one():
    at_twenty = Inequality("false", sp.Gt(x, 20, evaluate=False))
    result = verify.prove(theorem(at_twenty), seconds=5)
    assert (result.counterexample, result.exit_code) == ({"x": 1}, 1)


def test_a_claim_that_is_refuted_elsewhere_says_of_the_example_that_it_is_one():
    z = sp.Symbol("z", real=True)
    descent = Dynamics((z,), (sp.Integer(1),), (z * (1 - x),), z**2)
    clause = Reaches("reached", descent, sp.Rational(1, 100))
    result = verify.prove(
        replace(theorem(clause, hypotheses=(Hypothesis("small", sp.Le(x, 3)),)), example={"x": "1/2"})
    )
    (reached,) = result.clauses
    assert result.counterexample is not None and 2 <= result.counterexample["x"] <= 3
    # z_t = 2^-t, so z_4^2 = 1/256 is the first value below 1/100.
    assert result.detail(reached).partition("; ")[2].startswith("at the example: reached at step 4,")


def test_a_claim_out_of_reach_of_any_instance_is_open(no_deduction):
    never = Hypothesis("never", sp.Lt(x, 0, evaluate=False))
    result = verify.prove(theorem(OPEN, hypotheses=(never,)), seconds=3)
    assert (result.for_all_parameters.standing, result.counterexample) == (ForAll.OPEN, None)


def test_an_argued_claim_that_is_refuted_is_not_argued():
    # The claim is true at the example x = 1, and false for x > 2.
    claim = Inequality("false", sp.Le(x, 2, evaluate=False))
    argument = (Inference("false", "as it says", ("square",), "application"),)
    result = verify.prove(theorem(claim, steps=(PROVED,), argument=argument), seconds=10)
    assert (result.for_all_parameters.standing, result.exit_code, result.refuted.label) == (ForAll.OPEN, 1, "false")
    body = result.to_json()
    assert (body["clause"], body["certified"], body["for_all_parameters"]) == ("false", True, "open")
    assert "  false: refuted (certified)" in prove_text(result)
    there = verify.check(theorem(claim, steps=(PROVED,), argument=argument), x=3)
    assert (there.for_all_parameters.standing, standings(there.clauses)["false"].why) == (
        ForAll.OPEN,
        "false is refuted here",
    )
    assert (
        verify.check(theorem(claim, steps=(PROVED,), argument=argument), x=1).for_all_parameters.standing
        is ForAll.ARGUED
    )


def test_an_example_out_of_scope_is_named():
    never = Hypothesis("small", sp.Lt(x, 1, evaluate=False))
    result = verify.prove(theorem(PROVED, hypotheses=(never,)), seconds=3)
    assert result.for_all_parameters.why == "the example is out of scope"


def test_a_step_that_fails_carries_nothing():
    wrong = Inequality("wrong", sp.Gt(x, 20, evaluate=False))
    argument = (Inference("words", "as it says", ("wrong",), "application"),)
    result = verify.prove(theorem(WORDS, steps=(wrong,), argument=argument), seconds=2)
    # The step's failure refutes no claim.
    assert (result.for_all_parameters.text(), result.counterexample) == ("open", None)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_an_empty_effort_is_refused(seconds):
    with pytest.raises(InputError, match=r"seconds = .*: must be a number > 0"):
        verify.prove("wang2024.lemma1", seconds=seconds)


def test_the_command_line(cli, tmp_path):
    file = tmp_path / "c.json"
    code, out, err = cli("prove", "li2024.gradient", "--json", "--certificate", str(file))
    body = body_of(out)
    assert (code, err, body["for_all_parameters"], body["argument"]) == (0, "", "formal", [])
    assert set(body) == {
        *("schema", "version", "theorem", "statement_digest", "clauses", "argument", "beyond", "for_all_parameters"),
        *(
            "inferences_argued",
            "inferences_own",
            "formal",
            "not_formal",
            "detail",
            "counterexample",
            "clause",
            "certified",
            "trusts",
            "seconds",
            "refuted_steps",
            "searched",
            "evaluated",
            "stopped",
        ),
    }
    assert cli("recheck", str(file))[0] == 0
    # The proof of this theorem uses no other theorem.
    inferences = len(verify.load_theorem("ahn2023.theorem5").argument)
    code, out, _ = cli("prove", "ahn2023.theorem5")
    assert (
        code == 0
        and "argument\n  1. residual: " in out
        and out.splitlines()[-1].startswith(
            f"argued in prose ({inferences} inferences), trusting lemmascope.wishart/1, not machine-checked"
        )
    )
    assert_one_line(cli("prove", "nobody.knows"), "nobody.knows", "unknown id")
    assert_one_line(cli("prove", "wang2024.lemma1", "T=3"), "T=3")


@pytest.mark.parametrize(
    ("uses", "standing", "why"),
    [("wang2024.lemma1", "argued", ""), ("nope.theorem", "open", "theorem = nope.theorem: unknown id")],
)
def test_standings_of_inferences_beyond_the_hypotheses_are_shown(uses, standing, why):
    extension = Inference("square", "it is the same", (uses,), "application")
    result = verify.prove(replace(theorem(PROVED), extensions=(extension,)), seconds=3)
    (row,) = result.to_json()["beyond"]
    assert (row["status"], row["label"]) == (standing, "square") and row["detail"].startswith(why)
    told = f"  1. square: it is the same\n      {result.established_extensions[0].text()}"
    # A standing that comes from another theorem holds under that theorem's hypotheses.
    assert f"beyond the hypotheses, under those of the theorems used\n{told}" in prove_text(result)
    assert not why or f"      open: {why}" in prove_text(result)


def _in_steps(step, claim):
    statement = Statement((Parameter("x", "rational", "x", above=0),), (claim,), steps=(step,))
    inference = (Inference(claim.label, "thus", (step.label,), "application"),)
    more = {"argument": inference, "evaluations": evaluations(claim.label) if isinstance(claim, InWords) else {}}
    return Theorem("user.steps", "t", Source("1", "derived here"), statement, {x.name: "1/2"}, **more)


def test_a_step_that_is_refuted_carries_no_claim(no_deduction):
    # The step is true at the example x = 1/2, and false at x = 2.
    step = Inequality("short", sp.Le(x, 1, evaluate=False))
    for claim in (InWords("means", "it is short"), Inequality("means", sp.Le(sp.exp(-x), 1, evaluate=False))):
        result = verify.prove(_in_steps(step, claim), seconds=8)
        assert list(result.refuted_steps) == ["short"] and result.refuted_steps["short"]["x"] > 1
        assert (standings(result.clauses)["means"].standing, result.exit_code) == (ForAll.OPEN, 3)
        assert "short is refuted at x=" in result.for_all_parameters.why and result.to_json()["refuted_steps"] == [
            "short"
        ]


def test_a_step_that_is_proved_carries_its_claim():
    result = verify.prove(
        _in_steps(Inequality("sign", sp.Ge(x**2 + 1, 0, evaluate=False)), InWords("means", "it is positive"))
    )
    assert (result.refuted_steps, result.for_all_parameters.standing, result.exit_code) == ({}, ForAll.ARGUED, 0)


def test_a_check_says_that_a_step_is_refuted_and_its_outcome_stays_that_of_the_claims():
    from verify.reports.text import check_text

    step, claim = Inequality("short", sp.Le(x, 1, evaluate=False)), Inequality("means", sp.Gt(x, 0, evaluate=False))
    made = _in_steps(step, claim)
    refuted, kept = (verify.check(made, x=value) for value in (2, 1))
    assert refuted.outcome is kept.outcome is verify.Outcome.VERIFIED
    assert refuted.refuted_steps == ("short",) and kept.refuted_steps == ()
    assert (
        refuted.to_json()["refuted_steps"] == ["short"]
        and standings(refuted.clauses)["short"].why == "short is refuted here"
    )
    last = [check_text(each).splitlines()[-1] for each in (refuted, kept)]
    assert "; step short refuted at x=2; " in last[0] and last[0].startswith("verified (") and "step" not in last[1]


def test_formal_theorems_are_not_searched(monkeypatch):
    def searched(*_, **__):
        raise AssertionError

    monkeypatch.setattr("verify.search.proving.explore", searched)
    assert verify.prove("wang2024.theorem1").for_all_parameters.standing is ForAll.FORMAL
