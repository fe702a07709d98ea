"""The check of `gaussian_moment`: accepted certificates, certificates with one change, and attacks."""

import json

import pytest
import sympy as sp

from tests.theorems.wishart.gaussian_cases import CASES, A, X, d, f, g, n, stated, step, t, v, x
from tests.verify.rechecker import cases
from tests.verify.rechecker.attacks import refuse_mutants, see_changes
from tests.verify.rechecker.certificates import certificate, changed, integer, recheck
from verify.language.expressions import to_data
from verify.rechecker import Rejected, TooLarge, Unknown, recheck_text

CLAIM = "statement.claims.0"


def made(name):
    return certificate(stated(CASES[name]), {"d": "2", "n": "3"}, ("verified", "proved", {"kind": "by_parts"}))


def right(name, change):
    return name, f"{CLAIM}.right", to_data(change(CASES[name].right)), "is not the right side"


ACCEPTED = {name: (lambda name=name: made(name)) for name in CASES}
REJECTED = [
    # Right sides that are off by 1/n, lack a term, or have a wrong size.
    *(right(name, lambda value: value + 1 / n) for name in CASES),
    *(right(name, lambda value: value - value.args[-1]) for name in CASES),
    right("two words", lambda value: value.subs(d, d + 1)),
    right("not square", lambda value: value.subs(n, n + 1)),
    # Wrong laws: a missing covariance, a given letter instead of a normal one, or dependence.
    ("covariance", f"{CLAIM}.normal.0.1", None, "is not the right side"),
    ("covariance", f"{CLAIM}.normal.0.1", to_data(X), "size is not the number of rows"),
    ("two normal letters", f"{CLAIM}.normal.1", ..., "is not the right side"),
    ("two normal letters", f"{CLAIM}.normal.1.0", to_data(X), "is named twice"),
    ("two normal letters", f"{CLAIM}.normal.1.0", to_data(A), "is no matrix of the clause"),
    # Wrong matrices and traces.
    ("covariance", f"{CLAIM}.symmetric", [], "is not the right side"),
    ("two words", f"{CLAIM}.symmetric", [to_data(A)], "named once"),
    ("two words", f"{CLAIM}.symmetric", [to_data(X)], "cannot be given as symmetric"),
    ("two words", f"{CLAIM}.traces.0", ..., "is not the right side"),
    ("two words", f"{CLAIM}.traces.0.1", integer(0), "is not the right side"),
    ("two words", f"{CLAIM}.traces.0.0", to_data(A * A), "named once"),
    ("two words", f"{CLAIM}.traces.0.0", to_data(2 * A), "named once"),
    ("two words", f"{CLAIM}.traces.0.0", to_data(X * t(X)), "named once"),
    ("two words", f"{CLAIM}.random.0.1", to_data(X), "is not square"),
    ("two words", f"{CLAIM}.random.0.1", to_data(X * A), "do not fit"),
    ("two words", f"{CLAIM}.random.0.1", integer(1), "has no matrix"),
    ("two words", f"{CLAIM}.random.0.0", to_data(d), "no symbol that is new"),
    ("two words", f"{CLAIM}.right", to_data(f), "is not introduced"),
    ("two words", f"{CLAIM}.left", to_data(1 / f), "a division by what"),
    ("two words", f"{CLAIM}.left", ["exp", to_data(f)], "no part of a polynomial"),
    # A derivative in a symbol, or its value, would be wrong if a trace that depends on it were treated as a constant.
    ("two words", f"{CLAIM}.left", to_data(sp.Derivative(f, n)), "no part of a polynomial"),
    ("two words", f"{CLAIM}.left", to_data(sp.Subs(f, n, 2)), "no part of a polynomial"),
    ("two words", f"{CLAIM}.left", to_data(f + n * sp.Derivative(g, d)), "no part of a polynomial"),
    ("two words", f"{CLAIM}.shapes.0.1", integer(0), "is a positive integer"),
    ("two words", f"{CLAIM}.shapes.0.1", ["Rational", "1/2"], "is a positive integer"),
    ("two words", f"{CLAIM}.shapes.1.1", to_data(n), "do not fit"),
    ("two words", f"{CLAIM}.shapes.1", ..., "is no matrix of the clause"),
    # Step functions: a power, a step times an odd function, two steps of one column, one step's column as another's v.
    ("a step", f"{CLAIM}.left", to_data(f * step**2 * g), "has a power"),
    ("a step", f"{CLAIM}.random.0.1", to_data(t(x) * v), "an odd function"),
    ("a step", f"{CLAIM}.steps.1.1", to_data(x), "a normal column of its own"),
    ("a step", f"{CLAIM}.steps.1.1", to_data(v), "a normal column of its own"),
    ("a step", f"{CLAIM}.steps.1.2", to_data(x), "is in the v of one"),
    ("a step", f"{CLAIM}.steps.1.2", to_data(A), "of its shape"),
    ("a step", f"{CLAIM}.steps.0.0", to_data(f), "is named twice"),
    ("a step", "clauses.0.outcome", "refuted", "does not prove"),
]


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_clause_trusts_the_door_and_is_unknown_to_the_core(name):
    (shown,) = recheck(made(name)).clauses
    assert shown.evidence == "proved" and [str(each) for each in shown.trusts] == ["lemmascope.wishart/1"]
    with pytest.raises(Unknown, match=r"lemmascope\.wishart is beyond the core"):
        recheck_text(json.dumps(made(name)).encode())


@pytest.mark.parametrize(("name", "path", "value", "why"), REJECTED)
def test_changed_certificates_are_rejected(name, path, value, why):
    with pytest.raises(Rejected, match=why) as caught:
        recheck(changed(made(name), path, value))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_a_high_power_is_rejected_with_the_limit():
    with pytest.raises(TooLarge, match=r"too large: more than \d+ letters"):
        recheck(changed(made("two words"), f"{CLAIM}.left", to_data(f**100)))


@pytest.mark.audit
@pytest.mark.parametrize("name", ACCEPTED)
def test_no_mutant_is_wrongly_accepted(name):
    refuse_mutants(name, made(name), [], cases.ACCEPTED | ACCEPTED)


@pytest.mark.audit
@pytest.mark.parametrize("name", ACCEPTED)
def test_no_change_of_a_statement_goes_unseen(name):
    see_changes(name, made(name))
