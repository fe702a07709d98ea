"""Attacks on the re-checker: mutants of accepted certificates. `test_exhaustion.py` has the files made to exhaust it.

A mutant is rejected, or it is listed as harmless with the reason: it is another valid proof of the same claim, its
claim is about something else and says so, or the changed name is only copied into the result.
"""

import json

import pytest

from tests.verify.rechecker import cases
from tests.verify.rechecker.attacks import SAME, refuse_mutants, see_changes, verdict
from verify.language.expressions import digest

pytestmark = pytest.mark.audit

# Mutants that may be accepted: certificate, field, and the reason why they are harmless. Any other accepted mutant
# fails the test.
HARMLESS = [
    ("ball|constant", r"clauses\.0\.proof\.margin.*", SAME + ": a wider interval that decides"),
    (
        "within|not_before|early|trajectory|excess",
        r"clauses\.\d\.proof\.checkpoints.*",
        SAME + ": other balls that contain the run",
    ),
    ("early", r"clauses\.0\.proof\.at", SAME + ": another step at or below the level, and too soon"),
    ("excess", r"clauses\.1\.proof\.above_at", SAME + ": another step above the level"),
    ("cycle", r"clauses\.\d\.proof\.(entered_at|period|centre|axes|radius).*", SAME + ": another set that is kept"),
    ("tube", r"clauses\.0\.proof\.(checkpoints|nodes|start|above).*", SAME + ": another tube that contains the run"),
    ("tube", r"clauses\.0\.proof\.steps.*", SAME + ": wider bounds"),
    ("tube", r"clauses\.0\.proof\.observable.*", SAME + ": the same observable, written in another way"),
    ("trajectory|small_descent", r"clauses\.\d\.proof\.cuts.*", SAME + ": another bisection that decides"),
    ("trajectory", r"clauses\.1\.proof\.metric.*", SAME + ": the same metric, its factors in another order"),
    ("trajectory|small_descent", r"clauses\.\d\.proof\.coordinates.*", SAME + ": another box that is kept"),
    ("symbolic|identity|identity_here", r"clauses\.\d+\.proof\.factors.*", SAME + ": other divisors that cover"),
    (
        "point|point_in_balls|point_of_an_inequality",
        r"clauses\.0\.proof\.(point|difference).*",
        SAME + ": another point or interval",
    ),
    ("root", r"clauses\.0\.proof\.(centre|radius).*", SAME + ": another box that contains the root"),
    ("positive", r"clauses\.\d\.proof\.(shifts|relations).*", SAME + ": other slacks that prove it too"),
    ("in_logarithms", r"clauses\.0\.proof\.logarithms", SAME + ": in another order"),
    (
        "in_logarithms",
        r"clauses\.0\.proof\.(logarithms\.\d\.proof|left)\.(shifts|relations).*",
        SAME + ": other slacks that prove it too",
    ),
    ("deductions", r"clauses\.[12]\.proof\.tree\.(step|then)\.terms", SAME + ": the terms of a sum in another order"),
    (
        "deductions",
        r"clauses\.[012]\.proof\.tree\.(value|start|first|then)\.times\.1",
        SAME + ": another multiple of 0",
    ),
    ("falls", r"clauses\.0\.proof\.relations", SAME + ": facts in another order, whose product is the same"),
    ("falls|kept", r"clauses\.0\.proof\.(values|start)\.\d\.times.*", SAME + ": another multiple of 0"),
    (
        "falls|kept",
        r"clauses\.0\.proof\.(positive|falls|above|step\.\d)\.terms(\.\d\.1)?",
        SAME + ": terms of a sum, or facts of a product, in another order",
    ),
    ("squares", r"clauses\.\d\.proof\.(shifts|relations|squares).*", SAME + ": other slacks, or squares, that do"),
    (
        "by_cases",
        r"clauses\.0\.proof\.(shifts|cases\.(slack|times))",
        SAME + ": other slacks, or told apart the other way",
    ),
    ("by_cases", r"clauses\.[12]\.proof\.(shifts|relations|cases).*", SAME + ": other slacks, cases or powers that do"),
    (
        "matrices",
        r"clauses\.0\.proof\.(matrices\..*|place.*)",
        SAME + ": other matrices, or another place, that show it",
    ),
    ("residual|residual_of_wishart", r"clauses\.0\.proof\.roots.*", SAME + ": other intervals around the same roots"),
]


@pytest.mark.parametrize("name", cases.ACCEPTED)
def test_no_mutant_of_a_proof_is_wrongly_accepted(name):
    refuse_mutants(name, cases.ACCEPTED[name](), HARMLESS, cases.ACCEPTED)


@pytest.mark.parametrize("name", cases.ACCEPTED)
def test_no_change_of_a_statement_goes_unseen(name):
    see_changes(name, cases.ACCEPTED[name]())


def test_a_clause_left_out_of_the_statement_has_another_digest():
    made = cases.symbolic()
    made["statement"]["claims"].pop()
    made["clauses"].pop()
    assert verdict(json.dumps(made)) is None
    made["statement_digest"] = digest(made["statement"])
    assert verdict(json.dumps(made)).statement_digest != cases.symbolic()["statement_digest"]
