"""Inequalities that are proved for all parameters, and similar ones that are not."""

import json

import pytest
import sympy as sp

import verify
from verify import Case, Evidence, Hypothesis, Inequality, Outcome, Parameter, Statement
from verify.checking.certificates import certificate_text
from verify.outcomes import ForAll
from verify.provers.inequalities import positive_proof
from verify.rechecker import recheck_text

x, y, v = sp.symbols("x y v", positive=True)
m = sp.Symbol("m", nonnegative=True)
n = sp.Symbol("n", integer=True, positive=True)
w = sp.Symbol("w")
PARAMETERS = {
    "x": Parameter("x", "rational", "x", above=0),
    "y": Parameter("y", "rational", "y", above=0),
    "m": Parameter("m", "rational", "m", minimum=0),
    "n": Parameter("n", "integer", "n", minimum=1),
    "w": Parameter("w", "word", "w", words=("one", "two")),
}
SMALLER = (Hypothesis("smaller", sp.Le(x, 2 * y)),)
AT_MOST_ONE = (Hypothesis("one", sp.Le(m, 1)),)
Y_AT_MOST_ONE = Hypothesis("other", sp.Le(y, 1))
BETWEEN = (Hypothesis("least", sp.Ge(x, 1)), Hypothesis("most", sp.Le(x, 3)))
LARGER = (Hypothesis("larger", sp.Gt(x, y)),)


def gt(left, right):
    return sp.Gt(left, right, evaluate=False)


@pytest.fixture
def evidence(make_theorem):
    """Return a function that checks an inequality, has the certificate re-checked, and returns outcome and evidence."""

    def run(relation, *, hypotheses=(), variables=(), **instance):
        parameters = tuple(PARAMETERS[name] for name in instance)
        clause = Inequality("c", relation)
        theorem = make_theorem(clause, parameters=parameters, hypotheses=hypotheses, variables=variables)
        result = verify.check(theorem, **instance)
        if result.clauses[0].outcome is not Outcome.INCONCLUSIVE:
            found = recheck_text(certificate_text(theorem, result).encode())
            assert found.clauses[0][2] == result.clauses[0].evidence
        return result.clauses[0].outcome, result.clauses[0].evidence

    return run


@pytest.mark.parametrize(
    ("relation", "instance", "hypotheses"),
    [
        (gt(x + 1 / x, 0), {"x": 2}, ()),
        (sp.Ge(n**2, n, evaluate=False), {"n": 3}, ()),
        (gt(n**2, n - 1), {"n": 1}, ()),
        (gt(x**2, x * y), {"x": 3, "y": 1}, LARGER),
        # These claims follow from log x ≤ x − 1 and log n ≥ 0.
        (gt(x, sp.log(x)), {"x": 2}, ()),
        (gt(x**2 + 3 * sp.log(n), sp.log(x / 2) / 5), {"x": 2, "n": 3}, ()),
        (sp.Ge(sp.log(x), 0, evaluate=False), {"x": 2}, (Hypothesis("least", sp.Ge(x, 1)),)),
        # x is bounded from above: x = 2y/(1 + s) with s ≥ 0.
        (gt(3 * y, x), {"x": 1, "y": 1}, SMALLER),
        (sp.Ge(4 * y**2, x**2, evaluate=False), {"x": 1, "y": 1}, SMALLER),
        # The margin contains a square: (x − 1)²/x, (x − y)², 13 (x − 7/26)², (2x − 1)² (x + 4).
        (sp.Ge(x + 1 / x, 2, evaluate=False), {"x": 3}, ()),
        (gt(x**2 + y**2 + 1, 2 * x * y), {"x": 3, "y": 1}, ()),
        (gt(x**3 + 13 * x**2 + 1, 7 * x), {"x": 3}, ()),
        (sp.Ge(sp.Rational(4, 27), x / (1 + x) ** 3, evaluate=False), {"x": 3}, ()),
    ],
    ids=str,
)
def test_no_negative_coefficient_is_a_proof(evidence, relation, instance, hypotheses):
    assert evidence(relation, hypotheses=hypotheses, **instance) == (Outcome.VERIFIED, Evidence.PROVED)


@pytest.mark.parametrize(
    ("relation", "instance"),
    [
        # An irrational coefficient, also of a square; a logarithm times a factor that is not a number.
        (gt(sp.sqrt(2) * x, -(x**2)), {"x": 1}),
        (sp.Ge(x**2 + y**2, sp.sqrt(2) * x * y, evaluate=False), {"x": 1, "y": 1}),
        (gt(x * y, y * sp.log(x)), {"x": 2, "y": 1}),
    ],
    ids=str,
)
def test_inequalities_that_coefficients_do_not_show_are_deduced(evidence, relation, instance):
    assert evidence(relation, **instance) == (Outcome.VERIFIED, Evidence.PROVED)


@pytest.mark.parametrize(
    ("relation", "instance", "hypotheses"),
    [
        # The claim is true only for integers.
        (sp.Ge(n**2, 3 * n - 2, evaluate=False), {"n": 3}, ()),
        # Strict claims with equality at x = y = 1, and at an end of the range; a claim false between 1 and 1001/1000.
        (gt(x**2 * y + x * y**2 + 1, 3 * x * y), {"x": 3, "y": 1}, ()),
        (gt(m, m**2), {"m": "1/2"}, AT_MOST_ONE),
        (sp.Ge((1000 * x - 1000) * (1000 * x - 1001), 0, evaluate=False), {"x": 3}, ()),
        # Equality at x = 1: the square does not prove the strict claim.
        (gt(x + 1 / x, 2), {"x": 3}, ()),
        # x ≤ 2y gives no lower bound on x.
        (gt(x, y / 2), {"x": 1, "y": 1}, SMALLER),
        # The left side is undefined at m = 2, where the divisor cancels.
        (gt(x * (m - 2) / (2 * m - 4) + x, 0), {"x": 1, "m": 1}, ()),
        # The claim is true at the first word, and false at the second.
        (gt(Case(w, x, -x), 0), {"x": 2, "w": "one"}, ()),
        # x >= y allows x = y, where both sides are equal.
        (gt(x**2, x * y), {"x": 3, "y": 1}, (Hypothesis("larger", sp.Ge(x, y)),)),
        # The claim is true at this instance, but not for all parameters.
        (gt(x, 1), {"x": 2}, ()),
        (gt(sp.log(x), -5), {"x": 2}, ()),
        # A square of a logarithm.
        (gt(x**2 + 1, sp.log(x) ** 2), {"x": 2}, ()),
    ],
    ids=str,
)
def test_inequalities_not_shown_for_all_are_certified_only(evidence, relation, instance, hypotheses):
    assert evidence(relation, hypotheses=hypotheses, **instance) == (Outcome.VERIFIED, Evidence.CERTIFIED)


@pytest.mark.parametrize(
    ("relation", "instance", "hypotheses", "form"),
    [
        # (x² − 1)² + (xy − 1)².
        (sp.Ge(x**4 - 2 * x**2 + x**2 * y**2 - 2 * x * y + 2, 0, evaluate=False), {"x": 3, "y": 2}, (), "squares"),
        (sp.Ge(x**4 * y**2 + x**2 * y**4 + 1, 3 * x**2 * y**2, evaluate=False), {"x": 3, "y": 2}, (), "squares"),
        # The root of a square is not used if it has a divisor that may be 0.
        (
            sp.Ge(4 * m**2 * x**2 + m + 10, 12 * m * x, evaluate=False),
            {"m": 1, "x": 3},
            (),
            "squares",
        ),
        # The proof does not use n's lower bound.
        (sp.Ge(n**3 + x**3 + y**3, 3 * n * x * y, evaluate=False), {"n": 3, "x": 3, "y": 2}, (), "squares"),
        # Squares with coefficients that are not simple.
        (gt(x**3 + y**3 + m + sp.Rational(1, 2), x * y), {"x": 3, "y": 2, "m": 0}, (), "squares"),
        (gt(x**3 + y**3 + 3, x * y), {"x": 3, "y": 2}, (), "multipliers"),
        (sp.Ge(x**2 * y + x * y**2 + 1, 3 * x * y, evaluate=False), {"x": 3, "y": 2}, (), "at"),
        (gt(m**2 * y + m * y**2 + sp.Rational(11, 10), 3 * m * y), {"m": 3, "y": 2}, (), "at"),
        # On [0, 1]; below a bound in other symbols, with ≤ and with <; two variables on [0, 1]; between two bounds.
        (sp.Ge(m, m**2, evaluate=False), {"m": "1/2"}, AT_MOST_ONE, "relation"),
        (gt(x * (y + 1), x**2), {"x": 1, "y": 1}, (Hypothesis("less", sp.Le(x, y)),), ""),
        (gt(x * (2 - x * (1 + y)), 0), {"x": "1/2", "y": 1}, (Hypothesis("less", sp.Lt(x * (1 + y), 2)),), "relation"),
        (sp.Ge(1 + m * y, m + y, evaluate=False), {"m": "1/2", "y": 1}, (*AT_MOST_ONE, Y_AT_MOST_ONE), "relation"),
        (sp.Ge((x - 1) * (3 - x), 0, evaluate=False), {"x": 2}, BETWEEN, "relation"),
    ],
    ids=str,
)
def test_other_forms_are_proofs_too(evidence, relation, instance, hypotheses, form):
    assert evidence(relation, hypotheses=hypotheses, **instance) == (Outcome.VERIFIED, Evidence.PROVED)
    statement = Statement(
        tuple(PARAMETERS[name] for name in instance), (Inequality("c", relation),), hypotheses=hypotheses
    )
    assert f'"{form}' in json.dumps(positive_proof(relation, statement, hypotheses=True))


def test_of_a_long_margin_the_signs_of_its_coefficients_are_looked_at(evidence):
    # A polynomial of degree k in n and m has (k + 1)(k + 2)/2 terms; in n − 1 ≥ 0 and m no coefficient is negative.
    terms = [n**i * m**j for i in range(20) for j in range(20 - i)]
    assert evidence(gt(sum(terms), 1 - m), n=2, m=1) == (Outcome.VERIFIED, Evidence.PROVED)
    # These margins are positive too. The proof of the first needs a square, which is not searched for; the second has
    # too many terms to expand.
    for margin in ((n - m) ** 2 * sum(terms) + 1, (1 + n + m) ** 200 + sum(terms)):
        assert evidence(gt(margin, 0), n=2, m=1) == (Outcome.VERIFIED, Evidence.CERTIFIED)


def test_a_variable_is_decided_by_a_proof_alone(evidence):
    assert evidence(gt(x + v, 0), variables=(v,), x=1) == (Outcome.VERIFIED, Evidence.PROVED)
    assert evidence(gt(x + 1, v), variables=(v,), x=1) == (Outcome.REFUTED, Evidence.CERTIFIED)
    # log 6 − log 2 − log 3 is 0, but the form of this expression does not show it.
    zero = sp.log(6) - sp.log(2) - sp.log(3)
    assert evidence(gt(zero * v, 0), variables=(v,), x=1) == (Outcome.INCONCLUSIVE, None)


def test_inequalities_of_numbers_are_proved_for_all_parameters(evidence):
    # √e = 1.648…
    root = sp.exp(sp.Rational(1, 2))
    assert evidence(sp.Le(root, sp.Rational(5, 3), evaluate=False), x=1) == (Outcome.VERIFIED, Evidence.PROVED)
    assert evidence(sp.Le(root, sp.Rational(8, 5), evaluate=False), x=1) == (Outcome.REFUTED, Evidence.CERTIFIED)
    # A transcendental number beside a logarithm prevents the proof; the instance is certified.
    assert evidence(gt(sp.log(x) + root, 1), x=1) == (Outcome.VERIFIED, Evidence.CERTIFIED)
    # With a parameter in the exponential the claim is certified only at the instance.
    assert evidence(sp.Le(sp.exp(x), 3, evaluate=False), x=1) == (Outcome.VERIFIED, Evidence.CERTIFIED)


def test_out_of_scope_a_hypothesis_proves_nothing(evidence):
    assert evidence(gt(x**2, x * y), hypotheses=LARGER, x=1, y=2) == (Outcome.REFUTED, Evidence.CERTIFIED)


def test_a_definition_may_be_one_of_the_numbers(make_theorem):
    one = sp.Symbol("one")
    clause = Inequality("c", sp.Ge(sp.exp(sp.Rational(1, 2)) + one, 2, evaluate=False))
    theorem = make_theorem(clause, parameters=(PARAMETERS["x"],), definitions={one: sp.Integer(1)})
    result = verify.check(theorem, x=1)
    assert result.evidence is Evidence.PROVED
    assert recheck_text(certificate_text(theorem, result).encode()).clauses[0][3] == "constant"


def test_a_definition_that_makes_the_relation_evident_hides_no_variable(make_theorem):
    total = sp.Symbol("total", real=True)
    clause = Inequality("c", gt(total * x, 0))
    theorem = make_theorem(clause, parameters=(PARAMETERS["x"],), variables=(v,), definitions={total: x + v})
    result = verify.check(theorem, x=1)
    assert (result.outcome, result.evidence) == (Outcome.VERIFIED, Evidence.PROVED)


@pytest.mark.parametrize(
    "sign", ["if 0 < eta, eta <= 1/mu, mu > 0", "if 0 < eta <= 1/mu, 0 < mu", "if eta <= 1/mu for eta > 0, mu > 0"]
)
def test_a_divisor_that_cancels_needs_a_sign_too(sign):
    # In slacks η = (1/μ)/(1 + s), so ημ = 1/(1 + s) has no μ, but the certificate still divides by μ.
    result = verify.prove(f"(1 - eta*mu)**2 <= 1 - eta*mu {sign}")
    assert result.for_all_parameters.standing is ForAll.PROVED and not result.detail(result.clauses[0])


@pytest.mark.parametrize(
    "line",
    [
        "x <= x",
        "y - x >= y - x for x <= 3",
        "x <= x + p for p >= 0",
        "sqrt(x*y) <= sqrt(x)*sqrt(y) for x >= 0, y >= 0",
        "abs(a*r**n) <= abs(a)*r**n for r > 0, integer n >= 0",
    ],
)
def test_parts_that_cancel_are_those_of_an_accepted_proof(line):
    # For a proof in slacks the re-checker needs the sign of each symbol of the sides, even of a symbol that cancels.
    assert verify.prove(line).for_all_parameters.standing is ForAll.PROVED
