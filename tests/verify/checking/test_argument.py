"""Arguments: the premises that an inference may use, and the standing of the claims that are argued."""

from dataclasses import replace

import pytest
import sympy as sp

import verify
from tests.verify.examples import evaluations
from theorems import rules
from verify import (
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    InWords,
    Parameter,
    Rule,
    Source,
    Statement,
    Theorem,
    TheoremError,
)
from verify.checking.argument import RULES
from verify.checking.standing import argued_without, established, standing
from verify.outcomes import ForAll, Outcome
from verify.reports.text import explore_text

x = sp.Symbol("x", positive=True)
STEP = Identity("square", (x + 1) ** 2, x**2 + 2 * x + 1)
OTHER = Identity("cube", (x + 1) * x**2, x**3 + x**2)
CLAIM = InWords("claim", "the sky is blue")
AT_LEAST = Hypothesis("at_least", sp.Ge(x, 1))


def theorem(*argument, steps=(STEP,), claims=(CLAIM,), uses=()):
    parameters = (Parameter("x", "rational", "x", above=0),)
    statement = Statement(parameters, claims, (AT_LEAST,), steps=steps)
    more = {"argument": argument, "proof_uses": uses, "evaluations": evaluations("claim") if CLAIM in claims else {}}
    return Theorem("u.t", "t", Source("1", "derived here"), statement, {"x": 2}, **more)


def inference(label, *uses, rule="application"):
    return Inference(label, f"it follows: {label}", uses, rule)


SOUND = (inference("between", "square", "at_least"), inference("claim", "between"))


def test_a_claim_is_argued_from_steps_that_are_proved():
    made = theorem(*SOUND)
    clauses, for_all = established(made, {"square": ()})
    assert (clauses["claim"].standing, for_all.inferences) == (ForAll.ARGUED, {"u.t:between", "u.t:claim"})
    clauses, for_all = established(made, {})
    assert (for_all.standing, for_all.why) == (ForAll.OPEN, "square is open")


def test_a_claim_in_words_that_nothing_evaluates_is_stated():
    made = replace(theorem(*SOUND), evaluations={})
    clauses, for_all = established(made, {"square": ()})
    assert (clauses["claim"].standing, for_all.text()) == (ForAll.STATED, "stated")
    assert (for_all.why, for_all.standing.is_shown) == ("nothing evaluates claim", False)
    # The standing of a claim that is derived from this claim is "stated" too.
    claims = (CLAIM, OTHER)
    both = replace(theorem(*SOUND, inference("cube", "claim"), claims=claims), evaluations={})
    assert established(both, {"square": ()})[0]["cube"].standing is ForAll.STATED
    assert verify.prove(made).exit_code == 3 and verify.check(made, x=2).outcome is Outcome.INCONCLUSIVE


def test_a_claim_that_is_proved_by_itself_needs_no_argument():
    made = theorem(inference("cube", "square"), claims=(OTHER,))
    assert established(made, {"cube": (), "square": ()})[1].standing is ForAll.PROVED
    assert established(made, {"square": ()})[1].standing is ForAll.ARGUED


def test_a_hypothesis_that_no_inference_uses_is_not_needed():
    made = theorem(*SOUND)
    assert argued_without(made, "at_least", {"square": ()}) is None
    without = theorem(inference("between", "square"), inference("claim", "between"))
    assert argued_without(without, "at_least", {"square": ()}).text() == "argued in prose (2 inferences)"
    assert argued_without(without, "at_least", {}) is None


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ((inference("claim", "square", "nobody"),), "uses nobody, which is no step, hypothesis, claim or earlier"),
        ((inference("claim", "later", "square"), inference("later", "square")), "uses later, which is no step"),
        ((inference("claim", "claim", "square"),), "uses the claim claim before it is concluded"),
        ((inference("claim", "at_least"),), "step square: no inference uses it"),
        ((inference("idle", "square"), inference("claim", "square")), "inference idle: no other uses it"),
        ((inference("square", "square"), inference("claim", "square")), "inference square: the label is taken"),
        ((inference("claim", "square"), inference("claim", "square")), "inference claim: the label is taken"),
        ((inference("claim", "square", "v.other"),), "proof_uses does not have v.other"),
    ],
)
def test_an_argument_that_does_not_hang_together_is_refused(argument, why):
    with pytest.raises(TheoremError, match=why):
        theorem(*argument)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"label": " "}, "has no label"),
        ({"says": ""}, "has no sentence"),
        ({"rule": "magic"}, "'magic' is not a known rule; known: application, case distinction, "),
        ({"uses": ("square", "square")}, "uses something twice"),
        ({"uses": "square"}, "`uses` a tuple of labels"),
        ({"says": 3}, "the label and the sentence must be text"),
        ({"rule": 3}, "its rule is a int, not a name or a Rule"),
    ],
)
def test_a_bad_inference_is_refused(parts, why):
    with pytest.raises(TheoremError, match=why):
        replace(inference("claim", "square"), **parts)


def test_listed_theorem_that_no_inference_uses_is_refused():
    with pytest.raises(TheoremError, match=r"proof_uses: wang2024\.lemma1 is used by no inference"):
        theorem(*SOUND, uses=("wang2024.lemma1",))


def test_a_hypothesis_and_a_clause_have_two_labels():
    with pytest.raises(TheoremError, match="label of a hypothesis and a clause square: named twice"):
        replace(theorem().statement, hypotheses=(replace(AT_LEAST, label="square"),))


def test_a_rule_of_ones_own_is_shown_with_its_reference():
    own = Rule("own", "it is so", "Nobody 1900", "analysis")
    result = verify.prove(theorem(inference("claim", "square", rule=own)))
    (row,) = result.to_json()["argument"]
    assert (row["rule"], row["kind"], row["reference"]) == ("own", "analysis", "Nobody 1900")
    assert (row["from"], row["status"]) == (["square"], "argued")


def test_a_rule_of_an_unknown_kind_is_refused():
    with pytest.raises(TheoremError, match="rule own: kind is 'algebra', not one of definition, case, analysis, "):
        Rule("own", "it is so", "Nobody 1900", "algebra")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("name", ["substitution", "Identity", "EXPANSION", " expansion "])
def test_a_rule_that_names_algebra_is_refused(name):
    with pytest.raises(
        TheoremError, match="names algebra, which belongs in a step of the statement, where it is proved"
    ):
        Rule(name, "it is so", "elementary", "analysis")
    assert Rule(f"{name.strip()} of polynomials", "it is so", "elementary", "analysis").kind == "analysis"


def test_a_search_names_the_claims_that_it_does_not_search():
    result = verify.explore(replace(theorem(*SOUND), evaluations={}), max_examples=3)
    assert result.counterexample is None and result.to_json()["in_words"] == ["claim"]
    assert "in words, and not searched: claim" in explore_text(result)


def test_a_step_is_searched_unless_a_hypothesis_is_dropped():
    wrong = Inequality("small", sp.Le(x, 3, evaluate=False))
    made = theorem(inference("claim", "small"), steps=(wrong,))
    found = verify.explore(made, max_examples=50)
    assert found.clause.label == "small" and found.clause.role == "step"
    assert verify.explore(made, drop=["at_least"], max_examples=50).counterexample is None


def test_a_sentence_is_no_step_and_says_something():
    with pytest.raises(TheoremError, match="step claim: a step must be provable"):
        theorem(steps=(STEP, CLAIM), claims=(OTHER,))
    with pytest.raises(TheoremError, match="clause claim: has no text"):
        InWords("claim", " ")


def test_a_variant_has_no_argument():
    made = theorem(*SOUND)
    assert made.variant(made.statement).argument == ()


def test_which_is_claim_and_which_is_step_is_part_of_the_digest():
    made = theorem(*SOUND, claims=(CLAIM, OTHER)).statement
    weaker = replace(made, claims=(CLAIM,), steps=(*made.steps, OTHER))
    assert weaker.digest != made.digest and [made.role("cube"), weaker.role("cube")] == ["claim", "step"]


LIBRARY = verify.ids("theorem")


@pytest.mark.parametrize("name", LIBRARY)
def test_claims_used_of_another_theorem_are_among_its_claims(name):
    for used in (used for inference in verify.load_theorem(name).argument for used in inference.uses):
        other, _, label = used.partition(":")
        if "." in other:
            labels = {claim.label for claim in verify.load_theorem(other).statement.claims}
            assert not label or label in labels, used


@pytest.mark.parametrize("name", LIBRARY)
def test_no_step_of_the_library_is_left_unused(name):
    # Other unused parts are refused when a theorem is made.
    made = verify.load_theorem(name)
    assert not made.statement.steps or made.argument


def test_each_rule_is_used_in_the_library():
    used = {inference.rule for name in LIBRARY for inference in verify.load_theorem(name).argument}
    of_the_papers = {rule for rule in vars(rules).values() if isinstance(rule, Rule)}
    assert used == {*RULES, *of_the_papers} and not {rule.name for rule in of_the_papers} & set(RULES)


def _led_to_claims(theorem):
    """Return the labels of the inferences that claims rest on; a claim that is proved by itself rests on none."""
    argument, known = {inference.label: inference for inference in theorem.argument}, standing(theorem).clauses
    claims = [claim.label for claim in theorem.statement.claims]
    left, found = [label for label in claims if known[label].standing is ForAll.ARGUED], set()
    while left:
        label = left.pop()
        found.add(label)
        left += [used for used in argument[label].uses if used in argument and used not in found]
    return found


def test_the_inferences_of_the_library_are_counted(ledger):
    """The number of inferences, which the ledger shows, should fall over time."""
    theorems = [verify.load_theorem(name) for name in LIBRARY]
    argued = [theorem for theorem in theorems if standing(theorem).for_all_parameters.standing is ForAll.ARGUED]
    for theorem in argued:
        assert standing(theorem).for_all_parameters.own == len(_led_to_claims(theorem)), theorem.id
    # In these theorems some inferences lead only to a claim that is proved by itself, or that is formal.
    by_itself = ["ahn2023.theorem4", "wang2024.one_hot_descent"]
    assert [t.id for t in argued if len(_led_to_claims(t)) < len(t.argument)] == by_itself
    total = sum(standing(theorem).for_all_parameters.own for theorem in theorems)
    assert f"; argued inferences: {total}; trusting a package" in ledger.standings()
