"""Proofs with multipliers given by the author: each multiplier is checked, and one line names a wrong multiplier."""

import copy
import json

import pytest
import sympy as sp

import verify
from tests.verify.command_line import assert_one_line, body_of
from verify import (
    Hypothesis,
    Identity,
    Inequality,
    InputError,
    Multipliers,
    Parameter,
    Source,
    Statement,
    Theorem,
    TheoremError,
)

DESCENT = "f <= g - e*s**2/2 if f <= g - e*s**2 + L*e**2*s**2/2, e <= 1/L for e > 0, L > 0"
BY = {"hypothesis 1": 1, "hypothesis 2": "L*e*s**2/2"}


def found(line, by, **more):
    result = verify.prove(line, by=by, seconds=4, **more)
    (clause,) = result.clauses
    return result.how(clause), result.detail(clause), result.deductions.get("claim", ())


def test_the_margin_is_the_sum_that_was_given():
    how, _, told = found(DESCENT, BY)
    assert how == "deduction"
    assert told == ("margin = (L*e**2*s**2/2 - e*s**2 - f + g) + L*e*s**2/2*(-e + 1/L)",)


@pytest.mark.parametrize(
    ("line", "by"),
    [
        # A proof of the rest is searched, or the rest is a number.
        (DESCENT, {"hypothesis 1": 1}),
        ("x > y if x >= y + 1", {"hypothesis 1": 1}),
        # A strict hypothesis makes the claim strict.
        ("x > y if x > z, z >= y", {"hypothesis 1": 1, "hypothesis 2": 1}),
        # The multiplier of an equation may have any sign.
        ("x == y if x == z, y == z", {"hypothesis 1": 1, "hypothesis 2": -1}),
        ("x*y <= z if x == z/2 for y <= 2, z > 0", {"hypothesis 1": "-y"}),
        # A sign that the re-checker does not see by itself is proved first.
        ("exp(x)*y >= y + x*y if y >= 0", {"hypothesis 1": "exp(x) - 1 - x"}),
        # A key that is not a label is an expression, which is shown to be at least 0.
        ("x**2 + y**2 >= 2*x*y + z if z <= 0", {"hypothesis 1": 1, "(x - y)**2": 1}),
        ("exp(x) >= 1 + x + z if z <= 0", {"hypothesis 1": 1, "exp(x) - 1 - x": 1}),
    ],
)
def test_rest_after_the_multipliers_is_shown(line, by):
    how, detail, _ = found(line, by)
    assert (how, detail) == ("deduction", "")


@pytest.mark.parametrize(
    ("line", "by", "why"),
    [
        (
            DESCENT,
            BY | {"hypothesis 2": "-L*e*s**2/2"},
            "by: the multiplier of hypothesis 2, -L*e*s**2/2, is not shown",
        ),
        (DESCENT, BY | {"hypothesis 2": "L*e*s**2"}, "by: the rest, L*e**2*s**2/2 - e*s**2/2, is not shown to be >= 0"),
        (DESCENT, {"hypotesis 1": 1}, "by: there is no hypotesis 1; did you mean hypothesis 1"),
        (DESCENT, {"hypothesis 1": "zeta"}, "by: the multiplier of hypothesis 1: column 1: zeta is not introduced"),
        # The rest is 0, but a strict claim needs a positive rest.
        ("x > y if x >= y, x - y >= z for z > 0", {"hypothesis 1": 1}, "by: the rest, 0, is not shown to be > 0"),
        (
            "x >= y if log(x) <= 1, x >= y",
            {"hypothesis 1": 0},
            "by: hypothesis 1 is not shown to have a value",
        ),
        ("log(z) <= z if z >= -1", {"hypothesis 1": 1}, "by: the claim is not shown to have a value"),
    ],
)
def test_a_line_says_which_is_wrong_and_no_other_proof_is_looked_for(line, by, why):
    how, detail, told = found(line, by)
    assert how == "" and told == () and detail.startswith(f"claim is open; {why}") and "\n" not in detail


def test_where_a_sign_fails_in_floats_is_said():
    _, detail, _ = found(DESCENT, BY | {"hypothesis 2": "L*e - 3"})
    assert ": it is not, in float64, at L=" in detail and " f=" not in detail


ETA, ELL, F, G, S = sp.symbols("eta L f g s")


def descent(by, more=()):
    """Return the descent lemma with labels, and two steps."""
    parameters = [Parameter(name, "rational", name, above=0) for name in ("eta", "L")]
    parameters += [Parameter(name, "rational", name) for name in ("f", "g", "s")]
    claim = Inequality("descends", sp.Le(F, G - ETA * S**2 / 2))
    smooth = Hypothesis("smooth", sp.Le(F, G - ETA * S**2 + ELL * ETA**2 * S**2 / 2))
    step = Hypothesis("step", sp.Le(ETA, 1 / ELL))
    steps = (
        Inequality("half", sp.Le(ETA * ELL / 2, sp.Rational(1, 2))),
        Identity("same", (F + G) ** 2, F**2 + 2 * F * G + G**2),
    )
    statement = Statement(tuple(parameters), (claim, *more), (smooth, step), steps=steps)
    example = {"eta": 1, "L": 1, "f": 0, "g": 1, "s": 1}
    return Theorem("user.d", "d", Source("1", "derived here"), statement, example, proofs={"descends": Multipliers(by)})


@pytest.mark.parametrize("by", [{"smooth": 1, "step": ELL * ETA * S**2 / 2}, {"smooth": 1, "half": ETA * S**2}])
def test_a_theorem_has_them_with_its_proofs_and_steps_are_shown_first(by):
    result = verify.prove(descent(by), seconds=20)
    assert {c.label: result.how(c) for c in result.clauses}["descends"] == "deduction"


@pytest.mark.parametrize(
    ("by", "why"),
    [
        ({"same": 1}, "by: same is not a relation"),
        ({"smooth": 1.5}, "by: the multiplier of smooth: "),
        ({"smooth": sp.Symbol("s", positive=True)}, "by: the multiplier of smooth: "),
    ],
)
def test_invalid_multipliers_are_reported(by, why):
    result = verify.prove(descent(by), seconds=3)
    assert why in result.detail(result.clauses[0])


def test_they_are_of_one_claim():
    more = (Inequality("more", sp.Gt(ETA, 0, evaluate=False)),)
    with pytest.raises(InputError, match=r"by: user\.d has 2 claims"):
        verify.prove(descent({"smooth": 1}, more), by={"smooth": 1})
    with pytest.raises(TheoremError, match="by: a mapping"):
        Multipliers({})


def test_out_of_scope_a_hypothesis_is_not_used():
    theorem = verify.claim(DESCENT, by=BY)
    clause = verify.check(theorem, f=9, g=1, e=3, s=1, L=1).clauses[0]
    assert clause.evidence is not verify.Evidence.PROVED


def test_the_command_line_and_a_forged_certificate(cli, tmp_path):
    file = tmp_path / "c.json"
    words = ["--by", "hypothesis 1=1", "--by", "hypothesis 2 = L*e*s**2/2", "--certificate", str(file), "--json"]
    code, out, _ = cli("prove", DESCENT, *words)
    assert (code, body_of(out)["clauses"][0]["kind"]) == (0, "deduction")
    assert cli("recheck", str(file))[0] == 0
    certificate = json.loads(file.read_text())
    for multiplier in (["Integer", "2"], ["Integer", "-1"]):
        forged = copy.deepcopy(certificate)
        forged["clauses"][0]["proof"]["tree"]["terms"][0][0] = multiplier
        file.write_text(json.dumps(forged))
        assert cli("recheck", str(file))[0] == 1
    for wrong in ("hypothesis 1", "=1", "x="):
        assert_one_line(cli("prove", DESCENT, "--by", wrong), "--by", "must be LABEL=MULTIPLIER")
