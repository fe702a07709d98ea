"""Identities and positive margins: words, divisors, symbols of known sign."""

import json

import pytest
import sympy as sp

from tests.verify.rechecker.cases import exact
from tests.verify.rechecker.certificates import POSITIVE, K, X, certificate, one_clause, recheck, u, x, y, z
from verify import Identity, Inequality, Parameter, Statement
from verify.language.expressions import Case, digest, to_data
from verify.rechecker import Rejected, recheck_text


def test_a_clause_that_a_word_decides_is_not_proved_for_all():
    # The claim is true at the first word and false at the other word.
    word, name = Parameter("w", "word", "w", words=("one", "other")), sp.Symbol("w")
    clause = Identity("same", Case(name, (K + 1) ** 2, K), K**2 + 2 * K + 1)
    statement = Statement((POSITIVE, word), (clause,))
    for scope, evidence in (("all", "proved"), ("instance", "certified")):
        proof = {"kind": "identity", "scope": scope, "factors": []}
        made = certificate(statement, {"k": "1", "w": "one"}, ("verified", evidence, proof))
        if scope == "all":
            with pytest.raises(Rejected, match="no proof for all parameters"):
                recheck_text(json.dumps(made).encode())
        else:
            recheck_text(json.dumps(made).encode())


def test_a_domain_that_a_word_decides_proves_nothing_for_all():
    # x·(log x)' = 1 if x > 0. For the first word the domain x ≥ 1 implies x > 0; for the other word x ≥ −1 does not.
    # The engine refuses a domain that a word decides.
    word, name = Parameter("w", "word", "w", words=("one", "other")), sp.Symbol("w")
    clause = Identity("slope", x * sp.Derivative(sp.log(x), x), sp.Integer(1))
    for least, accepted in ((sp.Integer(1), True), (Case(name, 1, -1), False)):
        made = certificate(
            Statement((X, word), (clause,), domain=(sp.Ge(x, 1),)),
            {"x": "2", "w": "one"},
            (
                "verified",
                "proved",
                {"kind": "identity", "scope": "all", "factors": [{"factor": to_data(x), "shift": 0}]},
            ),
        )
        made["statement"]["domain"] = [to_data(sp.Ge(x, least, evaluate=False))]
        made["statement_digest"] = digest(made["statement"])
        if accepted:
            recheck_text(json.dumps(made).encode())
        else:
            with pytest.raises(Rejected, match="no proof for all parameters"):
                recheck_text(json.dumps(made).encode())


def test_a_positive_margin_needs_divisors_of_one_sign_and_symbols_of_known_sign():
    v = sp.Symbol("v", nonzero=True)
    statement = one_clause(Inequality("bound", sp.Lt(0, 1 / v)), POSITIVE, variables=(v,))
    proof = {"kind": "positive", "shifts": {"k": "1"}, "relations": []}
    with pytest.raises(Rejected, match="not all positive"):
        recheck(certificate(statement, {"k": "1"}, ("verified", "proved", proof)))
    statement = one_clause(Inequality("bound", sp.Le(0, 1 / (x - 2) ** 2)), X)
    with pytest.raises(Rejected, match="not shown to have one sign"):
        recheck(certificate(statement, {"x": "3"}, ("verified", "proved", proof | {"shifts": {}})))


_ONE_AND_EXP = ["Add", ["Integer", "1"], ["exp", ["Symbol", "z", "real"]]]


@pytest.mark.parametrize(
    ("left", "right", "factors", "accepted"),
    [
        (["Mul", to_data(x), ["Pow", to_data(x), ["Integer", "-1"]]], sp.Integer(1), [], False),
        (["Mul", to_data(x), ["Pow", to_data(x), ["Integer", "-1"]]], sp.Integer(1), [to_data(x)], False),
        (["Mul", to_data(sp.exp(z)), to_data(sp.exp(-z))], sp.Integer(1), [], True),
        (["Mul", to_data(sp.exp(z)), to_data(sp.exp(u))], sp.exp(z + u), [], True),
        (["Mul", to_data(sp.exp(z)), to_data(sp.exp(u))], sp.exp(z - u), [], False),
        (["Pow", _ONE_AND_EXP, ["Integer", "-1"]], sp.exp(-z) / (1 + sp.exp(-z)), [], False),
        (["Pow", _ONE_AND_EXP, ["Integer", "-1"]], sp.exp(-z) / (1 + sp.exp(-z)), [_ONE_AND_EXP], True),
    ],
)
def test_only_exponentials_and_positive_symbols_are_divided_by_unlisted(left, right, factors, accepted):
    data = one_clause(Identity("same", y, z), X, variables=(y, z, u)).to_data()
    data["claims"][0] |= {"left": left, "right": to_data(right)}
    listed = [{"factor": factor, "shift": None} for factor in factors]
    proof = {"kind": "identity", "scope": "all", "factors": listed}
    made = certificate(data, {"x": "1"}, ("verified", "proved", proof))
    if accepted:
        assert recheck(made)
    else:
        with pytest.raises(Rejected, match=r"no listed factor|keep one sign|not the same"):
            recheck(made)


def in_words(**stated):
    data = {
        "kind": "in_words",
        "label": "said",
        "says": "so it is",
    }
    shown = {"label": "said", "outcome": "inconclusive", "evidence": None, "proof": None} | stated
    made = exact()
    made["statement"]["claims"].append(data)
    made["clauses"].append(shown)
    made["statement_digest"] = digest(made["statement"])
    return made


def test_claims_in_words_are_carried_through_and_never_shown():
    accepted = recheck(in_words())
    assert accepted.claims[-1] == ("said", "inconclusive", None, "in_words", ())
    proof = {"kind": "exact", "margin": "1"}
    for stated in (
        {"outcome": "verified"},
        {"outcome": "verified", "evidence": "proved", "proof": proof},
        {"outcome": "verified", "evidence": "certified", "proof": proof},
        {"proof": proof},
        {"evidence": "proved"},
    ):
        with pytest.raises(Rejected, match="a clause in words must be inconclusive, without evidence or proof"):
            recheck(in_words(**stated))


def test_a_claim_that_is_not_in_words_is_not_left_out():
    made = exact()
    made["clauses"][0] |= {"outcome": "inconclusive", "evidence": None, "proof": None}
    with pytest.raises(Rejected, match="evidence"):
        recheck(made)


def test_a_step_that_is_called_a_claim_is_another_statement():
    made = in_words()
    step = made["statement"]["claims"].pop(0)
    made["statement"]["steps"] = [step]
    made["clauses"] = made["clauses"][::-1]
    with pytest.raises(Rejected, match="is not the digest of the statement"):
        recheck(made)
    made["statement_digest"] = digest(made["statement"])
    accepted = recheck(made)
    assert [clause.label for clause in accepted.steps] == [step["label"]]
    shown = json.loads(json.dumps(accepted.to_json()))
    assert [row["role"] for row in shown["clauses"]] == ["claim", "step"]


def test_a_claim_in_words_is_no_step_and_says_something():
    made = in_words()
    step = made["statement"]["claims"].pop()
    made["statement"]["steps"] = [step]
    made["statement_digest"] = digest(made["statement"])
    with pytest.raises(Rejected, match="a step needs a proof, and cannot be in words"):
        recheck(made)
    blank = in_words()
    blank["statement"]["claims"][-1]["says"] = " "
    blank["statement_digest"] = digest(blank["statement"])
    with pytest.raises(Rejected, match="says: is empty"):
        recheck(blank)


def test_a_hypothesis_and_a_clause_of_one_label_are_refused():
    made = exact()
    label = made["statement"]["claims"][0]["label"]
    hypothesis = {"label": label, "kind": "structural", "relation": None, "text": "so it is"}
    made["statement"]["hypotheses"].append(hypothesis)
    made["statement_digest"] = digest(made["statement"])
    with pytest.raises(Rejected, match="two hypotheses or clauses of one label"):
        recheck(made)
