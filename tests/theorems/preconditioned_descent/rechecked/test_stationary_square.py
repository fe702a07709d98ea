"""The check of `stationary`: certificates that are accepted, each changed in one place, and attacked."""

import json
import sys

import pytest
import sympy as sp

from tests.theorems.preconditioned_descent.rechecked.stationary_bombs import BOMBS
from tests.verify.rechecker import cases
from tests.verify.rechecker.attacks import SAME, refuse_mutants, see_changes
from tests.verify.rechecker.certificates import (
    POSITIVE,
    K,
    certificate,
    changed,
    integer,
    one_clause,
    recheck,
    recheck_bytes,
    respelled,
    z,
)
from tests.verify.rechecker.fuzz import answers
from theorems.preconditioned_descent.stationary_square.clause import StationarySquare
from verify import Dynamics
from verify.language.expressions import to_data
from verify.rechecker import Rejected, TooLarge, Unknown, reading, recheck_text

PROOF = "clauses.0.proof"
INDEX, T = sp.Symbol("i", integer=True, nonnegative=True), sp.Symbol("t", real=True)
LIMIT = to_data(sp.Limit(T / (T + 1), T, sp.oo))
STATIONARY = {"kind": "stationary", "bits": 128, "centre": ["3/2"], "radius": "1/16"}


def square(near=None, **more):
    # One layer on [0, 1]: 1 − a + a²/3 is critical at 3/2 alone; b is without effect.
    g, a, b, s = (sp.Symbol(name, real=True) for name in "gabs")
    recursion = Dynamics((g, z), (sp.S.One, sp.S.One), (g * (1 - b * s), z * (1 - a * s * g**2)), z)
    box = {} if near is None else {"near": (near, sp.S.Zero), "radius": sp.Rational(1, 8)}
    return one_clause(
        StationarySquare("critical", K, recursion, (a, b), s, 1 / (INDEX + 1), INDEX, **box, **more), POSITIVE
    )


def stationary():
    return certificate(square(), {"k": "1"}, ("verified", "certified", STATIONARY))


def stationary_in_a_box():
    statement = square(sp.Rational(31, 20), minimum=True)
    return certificate(statement, {"k": "1"}, ("verified", "certified", STATIONARY))


def not_stationary():
    proof = {"kind": "not_stationary", "bits": 128}
    return certificate(square(sp.Integer(2)), {"k": "1"}, ("refuted", "certified", proof))


ACCEPTED = {made.__name__: made for made in (stationary, stationary_in_a_box, not_stationary)}
REJECTED = [
    ("stationary", f"{PROOF}.centre.0", "14/10", "lowest terms"),
    ("stationary", f"{PROOF}.centre.0", "7/5", "is not shown"),
    ("stationary", f"{PROOF}.centre", ["3/2", "0"], "has 2 entries, not 1"),
    ("stationary", f"{PROOF}.radius", "0", "not positive"),
    ("stationary", f"{PROOF}.radius", "-1/16", "not positive"),
    ("stationary", f"{PROOF}.bits", 2, "is not an integer from"),
    ("stationary", "instance.k", "2", "has 1 entries, not 3"),
    ("stationary", "clauses.0.outcome", "refuted", "does not prove"),
    ("stationary", "clauses.0.evidence", "proved", "evidence"),
    ("stationary", "clauses.0.proof", {"kind": "not_stationary", "bits": 128}, "does not prove"),
    ("stationary", "statement.claims.0.minimum", 1, "minimum is true or false"),
    ("stationary", "statement.claims.0.layers", integer(31), "from 1 to 30"),
    ("stationary", "statement.claims.0.variable", ["Symbol", "a", "real"], "each once"),
    ("stationary", "statement.claims.0.variable", ["Symbol", "k", "integer", "positive"], "no symbol that is new"),
    ("stationary", "statement.claims.0.moment", integer(0), "no measure of more than 0 points"),
    ("stationary", "statement.claims.0.dynamics.step.1", ["Symbol", "g", "real"], "depends on no unknown"),
    ("stationary", "statement.claims.0.dynamics.step.1", ["exp", ["Symbol", "a", "real"]], "no polynomial"),
    ("stationary", "statement.claims.0.dynamics.observable", ["Symbol", "s", "real"], "is not introduced"),
    ("stationary", "statement.claims.0.moment", integer(1), "no measure of more than 1 points"),
    ("stationary_in_a_box", "statement.claims.0.radius", ["Rational", "1/10"], "not inside the clause's box"),
    ("stationary_in_a_box", "statement.claims.0.radius", ..., "go together"),
    ("stationary_in_a_box", "statement.claims.0.near.0", integer(2), "not inside the clause's box"),
    ("stationary_in_a_box", "statement.claims.0.moment", to_data(-1 / (INDEX + 1)), "no measure"),
    ("not_stationary", "statement.claims.0.near.0", ["Rational", "8/5"], "nothing keeps"),
    ("not_stationary", "statement.claims.0.radius", integer(1), "nothing keeps"),
    ("not_stationary", "statement.claims.0.radius", integer(0), "not positive"),
    ("not_stationary", f"{PROOF}.bits", 10**6, "is not an integer from"),
    ("not_stationary", "clauses.0.outcome", "verified", "does not prove"),
    ("stationary", "statement.claims.0.dynamics.step.0", LIMIT, "a limit is outside"),
    ("not_stationary", "statement.claims.0.dynamics.step.0", LIMIT, "a limit is outside"),
]
HARMLESS = [
    (
        "stationary|stationary_in_a_box",
        r"clauses\.0\.proof\.(centre|radius).*",
        SAME + ": another box that holds the point",
    ),
]


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_clause_trusts_the_door_and_is_unknown_to_the_core(name):
    made = ACCEPTED[name]()
    (shown,) = recheck(made).clauses
    assert shown.evidence == "certified" and [str(each) for each in shown.trusts] == ["lemmascope.layers/1"]
    with pytest.raises(Unknown, match=r"lemmascope\.layers is beyond the core"):
        recheck_text(json.dumps(made).encode())
    with pytest.raises(Unknown, match="'stationary' is not a kind of clause that this program knows"):
        recheck(made | {"trusts": []})


@pytest.mark.parametrize(("name", "path", "value", "why"), REJECTED)
def test_changed_certificates_are_rejected(name, path, value, why):
    with pytest.raises(Rejected, match=why) as caught:
        recheck(changed(ACCEPTED[name](), path, value))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("assumed", ["negative", "nonzero", "even"])
def test_a_state_is_real_and_no_more(assumed):
    made = stationary()
    (state, *_) = made["statement"]["claims"][0]["dynamics"]["state"]
    with pytest.raises(Rejected, match=f"is assumed {assumed}, which its domain does not imply"):
        recheck(respelled(made, repr(state), repr([*state[:2], assumed])))


def test_many_layers_are_rejected_with_the_limit():
    with pytest.raises(TooLarge, match=r"^too large: .*more than \d+ ") as caught:
        recheck_bytes(BOMBS["many layers"]())
    assert caught.value.limited == "products of terms"


@pytest.mark.audit
@pytest.mark.parametrize("name", ACCEPTED)
def test_no_mutant_is_wrongly_accepted(name):
    refuse_mutants(name, ACCEPTED[name](), HARMLESS, cases.ACCEPTED | ACCEPTED)


@pytest.mark.audit
@pytest.mark.parametrize("name", ACCEPTED)
def test_no_change_of_a_statement_goes_unseen(name):
    see_changes(name, ACCEPTED[name]())


@pytest.mark.audit
@pytest.mark.skipif(sys.platform == "win32", reason="a process's addresses are limited by POSIX alone")
def test_every_file_is_answered_in_a_process_of_15_gigabytes():
    module = "tests.theorems.preconditioned_descent.rechecked.stationary_bombs"
    rows, largest = answers(module, "--named", "--count", "40")
    assert len(rows) == len(BOMBS) + 40 and largest["made"] < 1.5 * reading.MOST_MADE
