"""Attacks on deductions: mutants of the accepted proofs in the tables, which use every rule.

By default, one in `MUTANT` mutants of one proof for each rule is tried; the audit tries all mutants of all proofs.
"""

import pytest

from tests.verify.rechecker import cases
from tests.verify.rechecker.attacks import SAME, refuse_mutants, rules_of, see_changes
from tests.verify.rechecker.cases_of_deductions import DEDUCED
from verify.rechecker.kinds.deductions import RULES

MUTANT = 29
QUICK = {
    "sum": "deductions:by_equation",
    "lemma": "deductions:by_lemma",
    "known": "deductions:by_exponential",
    "replace": "deductions:by_replacing",
    "cases": "deductions:by_three_cases",
    "contradiction": "deductions:by_contradiction",
    "number": "deductions:by_number",
    "box": "boxes:two halves",
    "both": "identities:a root by two inequalities",
    "whole": "integers:a symbol",
    "slope": "deductions:by_slope",
    "concave": "deductions:by_concavity",
    "induction": "deductions:by_induction",
    "range": "ranges:to_an_end",
    "invariants": "recursions:by_positivity",
    "telescope": "telescoping:an end that is no number",
}
"""One proof for each rule."""
_BINOMIALS = "telescoping:the binomial theorem|telescoping:the binomial theorem by a sum that is shorter"
_BOXES = "|".join(name for name in DEDUCED if name.startswith("boxes:"))
_TREE = r"clauses\.0\.proof\.tree(\.\w+)*\."
HARMLESS = [
    ("*", r"clauses\.0\.proof\.relations", SAME + ": facts in another order or twice, of which no other is used"),
    ("*", _TREE + r"terms", SAME + ": terms in another order, or a sum of 0 twice"),
    ("*", _TREE + r"terms\.\d\.1", SAME + ": the facts of a product in another order"),
    ("*", _TREE + r"times\.1", SAME + ": another multiple of 0"),
    ("deductions:by_slope_below", _TREE + "as", SAME + ": another name of the point, which the proof does not use"),
    ("deductions:by_number", _TREE + "bits", SAME + ": other bits decide as well"),
    (_BOXES, _TREE + r"(bits|cuts(\.\d+)*)", SAME + ": other bits, or other cuts, decide as well"),
    ("boxes:the nearest ends", r"clauses\.0\.proof\.relations\.[23]", SAME + ": an end that is not the nearest"),
    ("deductions:by_three_cases", _TREE + "at", SAME + ": two cases do"),
    (
        "deductions:by_product|deductions:by_monotone|identities:a cosine of a difference",
        _TREE + "of",
        SAME + ": the fact is the same with its arguments exchanged",
    ),
    ("recursions:by_several", _TREE + r"of\.1\.1", SAME + ": another state of the same recursion"),
    ("integers:floors", _TREE + r"of\.0(\.\d)*", SAME + ": a fact that the sum does not use is about something else"),
    (_BINOMIALS, _TREE + "sums", SAME + ": the sums in another order"),
    (_BINOMIALS, _TREE + r"to\.1\.1", SAME + ": one term more or less"),
]


@pytest.mark.parametrize("rule", QUICK)
def test_some_mutants_of_a_rule_are_refused(rule):
    refuse_mutants(QUICK[rule], DEDUCED[QUICK[rule]](), HARMLESS, {}, MUTANT)


def test_every_field_of_every_rule_is_changed_in_some_mutant():
    changed = {field for name in QUICK.values() for field in rules_of(DEDUCED[name]())}
    assert changed == {(rule, key) for rule, (keys, _) in RULES.items() for key in keys.split()}


# A number has only the field `bits`, and a box has `bits` and `cuts`; with other values of these fields the proofs are
# valid too.
@pytest.mark.parametrize("rule", [rule for rule in QUICK if rule not in ("number", "box")])
def test_a_rule_that_accepts_all_is_noticed(rule, monkeypatch):
    monkeypatch.setitem(RULES, rule, (RULES[rule][0], lambda *_: None))
    with pytest.raises(AssertionError, match=r"clauses\.0\.proof\.tree\S* was changed and accepted"):
        refuse_mutants(QUICK[rule], DEDUCED[QUICK[rule]](), HARMLESS, {}, MUTANT)


@pytest.mark.audit
@pytest.mark.parametrize("name", DEDUCED)
def test_no_mutant_of_a_deduction_is_wrongly_accepted(name):
    refuse_mutants(name, DEDUCED[name](), HARMLESS, cases.ACCEPTED)


@pytest.mark.audit
@pytest.mark.parametrize("name", DEDUCED)
def test_no_change_of_a_deduced_statement_goes_unseen(name):
    see_changes(name, DEDUCED[name]())
