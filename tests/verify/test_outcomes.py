"""Outcomes, evidence and the text of numbers; decimals are compared with Python's decimal module."""

import json
import re
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from verify.outcomes import (
    CheckResult,
    ClauseResult,
    Enclosure,
    Established,
    Evidence,
    ForAll,
    HypothesisResult,
    Outcome,
    as_float,
    decimal_text,
    json_number,
    json_numbers,
    number_text,
    short_text,
    times_text,
)
from verify.outcomes.numbers import digit_count, is_shortened

FRACTIONS = st.fractions() | st.builds(
    lambda m, e: Fraction(m) * Fraction(10) ** e, st.integers(), st.integers(-40, 40)
)


def test_exit_codes_are_those_of_the_contract():
    codes = {outcome.value: outcome.exit_code for outcome in Outcome}
    assert codes == {"verified": 0, "refuted": 1, "inconclusive": 3, "out_of_scope": 4}


def test_evidence_is_ordered_from_proved_to_simulated():
    order = [Evidence.PROVED, Evidence.CERTIFIED, Evidence.COMPUTED, Evidence.SIMULATED]
    for i, strong in enumerate(order):
        for weak in order[i:]:
            assert Evidence.weakest([strong, weak]) is Evidence.weakest([weak, strong]) is weak


def test_the_midpoint_of_an_enclosure_needs_both_ends():
    assert Enclosure(1, 2).midpoint == Fraction(3, 2)
    assert Enclosure(None, 2).midpoint is None is Enclosure(1, None).midpoint


@given(FRACTIONS, st.integers(1, 30), st.booleans())
def test_decimal_text_is_rounded_outwards_to_the_digits(value, digits, up):
    text = decimal_text(value, digits, up=up)
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR, Emax=10**6, Emin=-(10**6))
    expected = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    assert Fraction(text) == Fraction(expected)


@pytest.mark.parametrize(
    ("value", "digits", "down", "up"),
    [
        (Fraction(1, 3), 3, "3.33e-1", "3.34e-1"),
        (Fraction(-1, 3), 3, "-3.34e-1", "-3.33e-1"),
        (Fraction(0), 3, "0", "0"),
        (Fraction(5), 3, "5", "5"),
        (Fraction(9999, 1000), 2, "9.9", "1e1"),
        (Fraction(12345), 2, "1.2e4", "1.3e4"),
        (Fraction(1, 8), 1, "1e-1", "2e-1"),
    ],
)
def test_decimal_text_is_written_plainly(value, digits, down, up):
    assert decimal_text(value, digits, up=False) == down and decimal_text(value, digits, up=True) == up


@given(FRACTIONS, FRACTIONS)
def test_the_ends_of_an_enclosure_in_json_still_enclose_it(first, second):
    low, high = sorted((first, second))
    written = json_number(Enclosure(low, high), 5)
    ends = [Fraction(end) for end in (written["lower"], written["upper"])]
    assert ends[0] <= low and high <= ends[1]
    # With 5 digits, each end moves by less than one unit of the fifth digit.
    assert low - ends[0] <= abs(low) / 10**4 and ends[1] - high <= abs(high) / 10**4


@pytest.mark.parametrize(
    ("value", "written", "as_a_float"),
    [
        (3, 3, 3.0),
        (10**30, 10**30, 1e30),
        (Fraction(4, 2), 2, 2.0),
        (Fraction(-499, 500), "-499/500", -0.998),
        (Enclosure(2, 2), {"lower": 2, "upper": 2}, 2.0),
        (Enclosure(1, None), {"lower": 1, "upper": None}, None),
        (Enclosure(Fraction(1, 4), Fraction(1, 2)), {"lower": "2.5e-1", "upper": "5e-1"}, 0.375),
        (Fraction(10**400), 10**400, None),
    ],
)
def test_numbers_have_the_form_of_the_contract_and_a_float_beside(value, written, as_a_float):
    body = json_numbers({"n": value})
    assert body == {"n": written, "n_float": as_a_float}
    assert json.loads(json.dumps(body, allow_nan=False)) == body


@pytest.mark.parametrize("value", ["word", None, True])
def test_values_that_are_no_numbers_have_no_float_beside(value):
    assert json_numbers({"n": value}) == {"n": value}


def test_a_list_has_a_list_beside_it():
    # The contract's `eigenvalues`, `a` and `preconditioner` are lists of numbers.
    body = json_numbers({"a": [Fraction(1, 4), 2]})
    assert body == {"a": ["1/4", 2], "a_float": [0.25, 2.0]}


@pytest.mark.parametrize(
    "value",
    [Fraction(1, 10**5000), Fraction(10**5000), 10**5000, Enclosure(Fraction(1, 2**20000), Fraction(3, 2**20000))],
    ids=["small", "large", "integer", "enclosure"],
)
def test_numbers_of_thousands_of_digits_are_written(value):
    # By default, Python converts no integer of more than 4300 digits to text. Longer ones occur: x**20 at x = 1e-400
    # has 8000 digits, and exp(-x) at x = 10^6 has an enclosure with the denominator 2^1442695.
    json.dumps(json_numbers({"n": value}))
    assert number_text(value)


def test_a_float_is_the_nearest_or_none():
    assert as_float(Fraction(1, 3)) == 1 / 3 and as_float(Enclosure(0, 1)) == 0.5
    assert as_float(Fraction(10**400)) is None is as_float(Enclosure(None, 1))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 3), "1/3"),
        (7, "7"),
        ("word", "word"),
        (Enclosure(5, 5), "5"),
        (Enclosure(Fraction(1, 3), Fraction(2, 3)), "between 3.33e-1 and 6.67e-1"),
        (Enclosure(4, None), "between 4 and ∞"),
        (Enclosure(None, None), "between -∞ and ∞"),
    ],
)
def test_numbers_for_people(value, text):
    assert number_text(value, 3) == text


def test_the_error_of_a_margin_is_half_its_width():
    def result(margin):
        return ClauseResult(label="c", claim="claim", outcome=Outcome.VERIFIED, margin=margin)

    assert result(Fraction(3)).error == 0 and result(None).error is None
    assert result(Enclosure(1, 2)).error == Fraction(1, 2)
    assert result(Enclosure(1, None)).error is None


@pytest.mark.parametrize(
    ("outcome", "holds"),
    [(Outcome.VERIFIED, True), (Outcome.REFUTED, False), (Outcome.INCONCLUSIVE, None)],
)
def test_a_clause_holds_or_not_or_is_undecided(outcome, holds):
    assert ClauseResult(label="c", claim="claim", outcome=outcome).holds is holds


HYPOTHESIS = {"label": "h", "kind": "parametric", "statement": "x < 1"}


@pytest.mark.parametrize(("holds", "status"), [(True, "holds"), (False, "fails"), (None, "needs")])
def test_the_status_of_a_hypothesis(holds, status):
    assert HypothesisResult(**HYPOTHESIS, holds=holds).status == status


def _result(*clauses, holds=True):
    hypotheses = (HypothesisResult(**HYPOTHESIS, holds=holds, slack=Fraction(1, 2), detail="why"),)
    found = [
        ClauseResult(
            label=f"c{i}",
            claim="claim",
            outcome=outcome,
            evidence=evidence,
            margin=Fraction(1),
            detail=f"d{i}",
            bits=bits,
        )
        for i, (outcome, evidence, bits) in enumerate(clauses)
    ]
    return CheckResult(
        theorem="id",
        statement_digest="digest",
        instance={"x": Fraction(1, 2)},
        hypotheses=hypotheses,
        clauses=tuple(found),
        values={"v": 3},
        seed=5,
        seconds=0.12345,
    )


V, R, U = Outcome.VERIFIED, Outcome.REFUTED, Outcome.INCONCLUSIVE
PROVED, CERTIFIED, COMPUTED = Evidence.PROVED, Evidence.CERTIFIED, Evidence.COMPUTED


@pytest.mark.parametrize(
    ("clauses", "outcome", "evidence"),
    [
        ([(V, PROVED, None)], V, PROVED),
        ([(V, PROVED, None), (V, CERTIFIED, 128)], V, CERTIFIED),
        ([(V, PROVED, None), (V, COMPUTED, 128), (V, CERTIFIED, 128)], V, COMPUTED),
        ([(V, PROVED, None), (R, CERTIFIED, 128)], R, CERTIFIED),
        ([(R, CERTIFIED, 64), (U, None, None)], R, CERTIFIED),
        ([(V, PROVED, None), (U, None, 4096)], U, None),
        # If a clause is called verified without evidence, the headline has no evidence.
        ([(V, PROVED, None), (V, None, None)], V, None),
    ],
)
def test_the_headline_is_the_weakest_clause(clauses, outcome, evidence):
    inside, outside = _result(*clauses), _result(*clauses, holds=False)
    assert (inside.outcome, inside.evidence) == (outcome, evidence)
    assert (outside.outcome, outside.claim_outcome, outside.in_scope) == (Outcome.OUT_OF_SCOPE, outcome, False)
    assert inside.bits == max((bits for *_, bits in clauses if bits), default=None)


def test_a_step_has_no_say_in_the_headline():
    result = _result((V, PROVED, None), (R, CERTIFIED, None), (U, None, None))
    first, *others = result.clauses
    with_steps = replace(result, clauses=(first, *(replace(other, role="step") for other in others)))
    assert (result.outcome, with_steps.outcome, with_steps.evidence) == (R, V, PROVED)
    assert [clause["role"] for clause in with_steps.to_json()["clauses"]] == ["claim", "step", "step"]


def test_assumed_hypotheses_count_as_holding_but_are_not_reported_so():
    assumed = HypothesisResult(**HYPOTHESIS, holds=True, assumed=True)
    result = replace(_result((V, PROVED, None)), hypotheses=(assumed,))
    (row,) = result.to_json()["hypotheses"]
    assert (result.in_scope, assumed.status, row["status"], row["holds"]) == (True, "assumed", "assumed", None)


def test_standing_of_several_parts_is_the_weakest_with_all_inferences():
    one, other = (
        Established(ForAll.ARGUED, frozenset({"t:a", "t:b"})),
        Established(ForAll.ARGUED, frozenset({"t:b", "u:c"})),
    )
    both = Established.by_all([one, other, Established(ForAll.PROVED)])
    assert (both.standing, sorted(both.inferences), both.text()) == (
        ForAll.ARGUED,
        ["t:a", "t:b", "u:c"],
        "argued in prose (3 inferences)",
    )
    missing = Established.by_all(
        [both, Established(ForAll.OPEN, why="c is open"), Established(ForAll.OPEN, why="c is open")]
    )
    assert (missing.standing, missing.why, missing.text()) == (ForAll.OPEN, "c is open", "open")
    assert Established.by_all([]) == Established(ForAll.PROVED)


def test_a_hypothesis_that_is_not_decided_is_not_in_scope():
    assert _result((V, PROVED, None), holds=None).in_scope is None


def test_the_detail_says_what_fails_or_what_was_found():
    clauses = [(V, PROVED, None), (V, PROVED, None)]
    assert _result(*clauses).detail == "c0: d0; c1: d1"
    assert _result(*clauses, holds=False).detail == "h: x < 1 does not hold why"
    missing = {"v": "no integer is enough"}
    assert replace(_result(*clauses), without=missing).detail == "c0: d0; c1: d1; v: no integer is enough"
    outside = replace(_result(holds=False), without=missing)
    assert outside.detail == "h: x < 1 does not hold why; v: no integer is enough"
    assert replace(outside, hypotheses=()).detail == "v: no integer is enough"


def test_the_json_of_a_check_has_the_fields_of_the_contract():
    body = _result((V, CERTIFIED, 128)).to_json()
    assert list(body) == [
        "theorem", "statement_digest", "instance", "hypotheses", "in_scope", "clauses", "outcome", "evidence",
        "trusts", "refuted_steps",
        "for_all_parameters", "for_all_trusts", "inferences_argued", "inferences_own", "values", "values_rechecked",
        "value_trusts", "detail", "bits", "seed", "seconds",
    ]  # fmt: skip
    assert body["instance"] == {"x": "1/2", "x_float": 0.5} and body["values"] == {"v": 3, "v_float": 3.0}
    assert body["hypotheses"] == [
        {
            "label": "h",
            "kind": "parametric",
            "statement": "x < 1",
            "status": "holds",
            "holds": True,
            "slack": "1/2",
            "slack_float": 0.5,
        }
    ]
    (clause,) = body["clauses"]
    assert {
        "label",
        "role",
        "claim",
        "holds",
        "for_all_parameters",
        "margin",
        "margin_float",
        "error",
        "error_float",
        "evidence",
        "rechecked",
    } <= set(clause)
    assert (body["outcome"], body["evidence"], body["bits"], body["seed"]) == ("verified", "certified", 128, 5)
    json.dumps(body, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 3), "1/3"),
        (Fraction(10**9 - 1, 10**9), "999999999/1000000000"),
        (Fraction(10**12 - 1, 10**12), "about 0.9999999999"),
        (-(10**30), "about -1e30"),
        (10**4000, "about 1e4000"),
        (True, "True"),
        (None, "none"),
        ("word", "word"),
    ],
)
def test_an_exact_number_is_short_in_text(value, text):
    assert short_text(value) == text


@pytest.mark.parametrize(
    ("margin", "text"),
    [
        (Fraction(1, 3), "1/3"),
        (Enclosure(0, 1), "between 0 and 1"),
        (Enclosure(0, None), "at least 0 (no upper bound known)"),
        (Enclosure(None, Fraction(-1, 3)), "at most -0.3333333333 (no lower bound known)"),
        (Enclosure(Fraction(-1, 3), None), "at least -0.3333333334 (no upper bound known)"),
        (Enclosure(None, None), "not known on either side"),
    ],
)
def test_a_margin_that_is_not_known_on_a_side_says_so(margin, text):
    assert short_text(margin) == text


@pytest.mark.parametrize(
    ("enclosure", "text"),
    [
        (Enclosure(Fraction("0.422408533928"), Fraction("0.422408533929")), "0.4224085339 ± 1e-10"),
        (Enclosure(Fraction("1.602805373e-8"), Fraction("1.602805374e-8")), "1.602805374e-8 ± 1e-17"),
        (Enclosure(Fraction("0.0891426"), Fraction("0.0896407")), "0.08939 ± 0.00026"),
        (Enclosure(Fraction("-1.7144"), Fraction("-1.7140")), "-1.71420 ± 0.00020"),
        (Enclosure(Fraction("99.999"), Fraction("100.001")), "100.0000 ± 0.0010"),
        (Enclosure(0, Fraction("1.4049e-13")), "between 0 and 1.41e-13"),
        (Enclosure(Fraction(-1, 3), Fraction(1, 7)), "between -0.334 and 0.143"),
        (Enclosure(24812386531650, 24936695278388), "between 24812386531650 and 24936695278388"),
        ((Enclosure(1, 2), Fraction(1, 3)), "between 1 and 2, 1/3"),
        ({"a": Enclosure(1, 1), "b": (2, 3)}, "a = 1; b = 2,3"),
        ([{"a": 10**30}], "\n    a = about 1e30"),
    ],
)
def test_an_enclosure_is_shown_to_the_digits_that_it_decides(enclosure, text):
    assert short_text(enclosure) == text


@given(FRACTIONS, FRACTIONS, st.integers(3, 20))
def test_an_enclosure_that_is_shown_is_one_still_and_no_loose_one(one, other, digits):
    low, up = sorted((one, other))
    ends = [Fraction(word) for word in re.findall(r"-?\d[\d.]*(?:e-?\d+)?", short_text(Enclosure(low, up), digits))]
    text = short_text(Enclosure(low, up), digits)
    if "/" in text or "about" in text:
        assert low == up
        return
    shown = (ends[0] - ends[1], ends[0] + ends[1]) if "±" in text else (ends[0], ends[-1])
    assert shown[0] <= low <= up <= shown[1]
    size = max(abs(low), abs(up))
    assert shown[1] - shown[0] <= (up - low) * Fraction(12, 10) + 4 * size * Fraction(10) ** (
        1 - min(digits, 3 + 17 * ("±" in text))
    )


def test_shortened_numbers_are_recognised():
    long = Fraction(10**12 - 1, 10**12)
    assert is_shortened(long) and is_shortened([1, long]) and is_shortened({"a": [long]})
    assert not any(map(is_shortened, (Fraction(1, 3), True, "about 1", None, [1, 2], Enclosure(0, 1))))


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (Fraction(80, 3), "26.7"),
        (Fraction(24_000), "24 000"),
        (Fraction(21, 20), "1.05"),
        (Fraction(999_999), "999 999"),
        (Fraction(9_999_999, 10), "1e6"),
        (Fraction(320_000_000), "3.2e8"),
        (Fraction(1_239_999_999), "1.24e9"),
        (Fraction(10**400), "1e400"),
    ],
)
def test_a_ratio_in_three_digits(ratio, text):
    assert times_text(ratio) == text


@given(st.integers(0, 10**40) | st.builds(lambda k, less: 10**k - less, st.integers(0, 4000), st.integers(0, 1)))
def test_digits_are_counted_without_writing_them_out(size):
    assert digit_count(size) == len(str(size)) and digit_count(10**10_000 + size) == 10_001


def test_points_are_written_for_people_and_as_json():
    point = {"a": [Fraction(1, 2), None], "loss": 3, "local_minimum": True}
    assert json_numbers({"points": [point]}) == {
        "points": [{"a": ["1/2", None], "a_float": [0.5, None], "loss": 3, "loss_float": 3.0, "local_minimum": True}]
    }
    assert "a = 1/2,none; loss = 3; local_minimum = True" in number_text([point])
