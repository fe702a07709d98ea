"""The template of a recursion, and similar recursions: proved, refuted by an invariant, or with a needed hypothesis."""

import json
from fractions import Fraction

import pytest
import sympy as sp

import verify
from verify import Dynamics, Hypothesis, Parameter, Reaches, Source, Statement, Theorem
from verify.outcomes import ForAll
from verify.provers.recursions.states import falling_proof, kept_above

eta, eps = sp.symbols("eta eps", positive=True)
x, y = sp.symbols("x y", real=True)
PARAMETERS = tuple(Parameter(name, "rational", name, above=0) for name in ("eta", "eps"))
WORK = 10_000


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    file = tmp_path_factory.mktemp("new") / "r.py"
    verify.new(str(file), kind="recursion")
    return verify.load_theorem(str(file))


def test_the_template_is_proved_for_all_parameters_in_scope(template):
    result = verify.prove(template, seconds=60)
    assert (result.for_all_parameters.standing, result.exit_code) == (ForAll.PROVED, 0)
    assert [result.how(clause) for clause in result.clauses] == ["falls"]


@pytest.mark.parametrize(("step_size", "period"), [(3, None), (2, 2)])
def test_the_template_is_refuted_beyond_its_hypothesis_by_its_ratio_or_its_cycle(template, clock, step_size, period):
    # The iteration of a run reads the clock after every 1024 steps, and ends when its 24 s are over.
    clock.tick = 0.1
    result = verify.check(template, eta=step_size, eps="1/1000", seconds=30)
    (clause,) = result.clauses
    assert (clause.outcome, clause.evidence) == (verify.Outcome.REFUTED, verify.Evidence.CERTIFIED)
    assert clause.witness.get("period") == period and clause.detail.startswith("never reached: at every step x**2/2")
    assert result.in_scope is False and result.seconds < 20


def test_the_templates_hypothesis_is_needed(template):
    (need,) = verify.necessity(template, seconds=30).hypotheses
    assert (need.label, need.status) == ("small_step", "needed")


def test_clause_proved_for_all_still_reports_its_step(template, tmp_path, cli):
    file = tmp_path / "c.json"
    result = verify.check(template, eta="1/4", eps="1/1000")
    assert (result.clauses[0].evidence, result.clauses[0].values["steps"].lower) == (verify.Evidence.PROVED, 11)
    verify.write_certificate(template, result, str(file))
    assert json.loads(file.read_text())["clauses"][0]["proof"]["kind"] == "falls"
    assert cli("recheck", str(file))[0] == 0


def test_a_reported_step_is_rechecked_beside_a_proof_for_all():
    dynamics = Dynamics((x,), (sp.Integer(1),), ((1 - eta) * x,), x**2 / 2)
    statement = Statement(PARAMETERS, (Reaches("reached", dynamics, eps),), (Hypothesis("small", sp.Lt(eta, 2)),))
    values = {"steps": verify.ClauseValue("reached", "steps")}
    example = {"eta": "1/4", "eps": "1/1000"}
    theorem = Theorem("user.steps", "s", Source("1", "derived here"), statement, example, values=values)
    result = verify.check(theorem, example)
    assert result.clauses[0].evidence is verify.Evidence.PROVED
    assert (result.values["steps"].lower, result.rechecked["steps"]) == (11, True)


def falls(dynamics, *hypotheses, level=eps):
    known = tuple(Hypothesis(f"h{i}", relation) for i, relation in enumerate(hypotheses))
    statement = Statement(PARAMETERS, (Reaches("c", dynamics, level),), known)
    return falling_proof(dynamics, level, statement, WORK, hypotheses=True)


@pytest.mark.parametrize(
    "dynamics",
    [
        # The observable falls by a constant amount, by a ratio in two states, and by decreasing amounts.
        Dynamics((x,), (1 / eta,), (x - eta,), x),
        Dynamics((x, y), (sp.Integer(1), sp.Integer(2)), (x / 2, -y / 2), x**2 + y**2),
        Dynamics((x,), (sp.Integer(1),), (x / (1 + eta * x),), x),
    ],
)
def test_observable_that_falls_by_an_amount_is_proved(dynamics):
    assert falls(dynamics)["kind"] == "falls"


@pytest.mark.parametrize(
    ("dynamics", "level"),
    [
        (Dynamics((x,), (sp.Integer(1),), (x * (1 + eta),), x**2), eps),
        (Dynamics((x,), (sp.Integer(1),), (x / 2,), x), -eps),
        (Dynamics((x,), (sp.Integer(1),), (x / 2,), x), sp.Integer(0)),
        # This recursion needs eta < 2, which is not assumed here.
        (Dynamics((x,), (sp.Integer(1),), ((1 - eta) * x,), x**2), eps),
    ],
)
def test_observable_that_does_not_fall_is_not_proved(dynamics, level):
    assert falls(dynamics, level=level) is None


def test_a_state_that_assumes_more_than_real_has_no_such_proof():
    z = sp.Symbol("z", positive=True)
    assert falls(Dynamics((z,), (sp.Integer(1),), (z / 2,), z)) is None
    assert kept_above(Dynamics((z,), (sp.Integer(1),), (2 * z,), z), Fraction(1, 2), {}, WORK) is None


@pytest.mark.parametrize(
    ("step", "observable", "level"),
    [
        # The observable falls to the level, starts at it, or rises and then falls to it.
        (x / 2, x**2, Fraction(1, 4)),
        (2 * x, x**2, Fraction(1)),
        (x - 1, 5 - (x + 1) ** 2, Fraction(1, 2)),
    ],
)
def test_observable_not_kept_above_the_level_has_no_invariant(step, observable, level):
    assert kept_above(Dynamics((x,), (sp.Integer(1),), (step,), observable), level, {}, WORK) is None


def test_invariant_reports_its_proof_and_its_period():
    found = kept_above(Dynamics((x,), (sp.Integer(1),), ((1 - eta) * x,), x**2), Fraction(1, 2), {"eta": 2}, WORK)
    assert (found.at_start, found.period, found.proof["kind"]) == (1, 2, "kept")
    found = kept_above(Dynamics((x,), (sp.Integer(1),), (1 - 2 * x,), x**2 + 1), Fraction(1, 2), {}, WORK)
    assert found is None or found.period is None


QUADRATIC = Dynamics((x, y), (sp.Integer(1), sp.Integer(1)), (x * (1 - eta), y * (1 - 3 * eta)), (x**2 + 3 * y**2) / 2)


@pytest.mark.parametrize(
    ("step_size", "kept"),
    [
        # The factors of (x, y) in a step: (0, -2); (1/3, -1); (-1, -5); (-3, -11).
        (1, [y**2 - 1 >= 0]),
        (Fraction(2, 3), [y**2 - 1 >= 0]),
        (2, None),
        (4, None),
    ],
)
def test_a_coordinate_that_does_not_shrink_keeps_the_loss_above(step_size, kept):
    found = kept_above(QUADRATIC, Fraction(1, 2), {"eta": step_size}, WORK)
    assert found is not None and found.at_start == 2 and (kept is None or list(found.invariants) == kept)


def test_descent_on_a_quadratic_of_two_curvatures_is_proved_for_all_parameters():
    L, mu = sp.symbols("L mu", positive=True)
    descent = Dynamics(
        (x, y), (sp.Integer(1), sp.Integer(1)), ((1 - eta * L) * x, (1 - eta * mu) * y), (L * x**2 + mu * y**2) / 2
    )
    curvatures = tuple(Parameter(name, "rational", name, above=0) for name in ("L", "mu"))
    ordered = Hypothesis("ordered", sp.Le(mu, L))

    def proved(small):
        hypotheses = (Hypothesis("small", small), ordered)
        return falling_proof(
            descent,
            eps,
            Statement((*PARAMETERS, *curvatures), (Reaches("reached", descent, eps),), hypotheses),
            WORK,
            hypotheses=True,
        )

    # Each step lowers the loss by at least the share ημ (2 − ηL).
    proof = proved(sp.Lt(eta, 2 / L))
    assert proof is not None and proof["kind"] == "falls"
    assert proved(sp.Lt(eta, 3 / L)) is None


def test_coordinates_that_all_shrink_keep_nothing():
    assert kept_above(QUADRATIC, Fraction(1, 100), {"eta": Fraction(1, 3)}, WORK) is None


def test_descent_on_a_quadratic_of_two_coordinates_needs_its_step_size():
    rest = {"hypotheses": (Hypothesis("small", sp.Lt(eta, sp.Rational(2, 3))),)}
    statement = Statement(PARAMETERS, (Reaches("reached", QUADRATIC, eps),), **rest)
    theorem = Theorem("user.t", "t", Source("1", "derived here"), statement, {"eta": "1/4", "eps": "1/1000"})
    (clause,) = verify.check(theorem, eta=1, eps="1/1000", seconds=30).clauses
    assert (clause.outcome, clause.evidence) == (verify.Outcome.REFUTED, verify.Evidence.CERTIFIED)
    assert clause.detail == "never reached: at every step y**2 - 1 >= 0" and clause.rechecked
    (need,) = verify.necessity(theorem, seconds=30).hypotheses
    assert (need.label, need.status) == ("small", "needed")
