"""A theorem's recursion at many instances: values by hand, a comparison with the search's runs, and refusals."""

import json
import math

import numpy as np
import pytest
import sympy as sp

import verify
from tests.verify.command_line import assert_one_line, body_of
from verify import Case, Dynamics, Inequality, InputError, Parameter, Reaches
from verify.claims.question import expanded
from verify.evaluation.iteration import scan_trajectory

a, z, rate = sp.Symbol("a", positive=True), sp.Symbol("z", real=True), sp.Symbol("rate", real=True)
A = Parameter("a", "rational", "a size", above=0)
KIND = Parameter("kind", "word", "how it goes on", words=("down", "up"))


@pytest.fixture
def geometric(make_theorem):
    """A theorem about a recursion in z from a; a word chooses whether a step multiplies z by a rate or squares z."""
    step = Case(sp.Symbol("kind"), z * rate, z**2)
    clause = Reaches("small", Dynamics((z,), (a,), (step,), z), sp.Rational(1, 8))
    return make_theorem(clause, parameters=(A, KIND), definitions={rate: sp.Rational(1, 2)})


def test_powers_of_two(geometric):
    found = verify.observe(geometric, [0, 3, 10], {"a": ["1", "2", "3"]})
    assert found.values.tolist() == [[x, x / 8, x / 1024] for x in (1.0, 2.0, 3.0)]
    assert (found.theorem, found.clause, found.steps) == ("user.theorem", "small", (0, 3, 10))
    assert [instance["a"] for instance in found.instances] == [1, 2, 3]
    assert verify.observe(geometric, [1], a=5).values.tolist() == [[2.5]]


def test_a_word_chooses_and_a_run_may_diverge(geometric):
    found = verify.observe(geometric, [1, 20], {"a": ["1/2", "2"]}, kind="up")
    assert found.values[:, 0].tolist() == [0.25, 4.0] and found.values[1, 1] == math.inf
    body = json.loads(json.dumps(found.to_json()))
    assert [row["values"] for row in body["rows"]] == [[0.25, 0.0], [4.0, None]]


def test_a_default_is_a_value(make_theorem):
    twice = Parameter("b", "rational", "a size", above=0, default=2 * a)
    b = sp.Symbol("b", positive=True)
    theorem = make_theorem(Reaches("small", Dynamics((z,), (b,), (z / 2,), z), a), parameters=(A, twice))
    assert verify.observe(theorem, [0, 1], {"a": "1,3"}).values.tolist() == [[2.0, 1.0], [6.0, 3.0]]


def test_observed_values_are_those_that_a_search_follows():
    given = {"T": 20, "q": 2, "d": 3, "eta": "1/2"}
    found = verify.observe("wang2024.theorem1", [0, 7, 400], None, given)
    statement = verify.load_theorem("wang2024.theorem1").statement
    values = {"T": 20, "q": 2, "d": 3, "eta": 0.5}
    run = dict(scan_trajectory(expanded(statement, statement.clauses[0].dynamics), values, 400))
    assert np.allclose(found.values[0], [run[step] for step in (0, 7, 400)], rtol=1e-12)
    assert run[400] < 0.9 * run[0]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (([3, 1], {}, {"a": 1}), "at = .*: must be one or more numbers of steps >= 0, increasing"),
        (([1], {}, {}), "a: missing"),
        (([1], {}, {"a": 0}), "a = 0: must be a number .* > 0"),
        (([1], {}, {"a": 1, "b": 2}), "b = 2: is not a parameter of this theorem; its parameters are a, kind"),
        (([1], {"a": "1:2:3"}, {"a": 1}), "a = 1: is swept by --over, and so cannot be fixed"),
        (([1], {"kind": "down,up"}, {"a": 1}), "kind: is a word that selects the recursion"),
        (([1], {}, {"a": 1, "kind": "sideways"}), "kind = sideways: must be"),
        (([1], {}, {"a": "1e400"}), "has a value that is too large for float64"),
    ],
)
def test_invalid_arguments_are_refused(geometric, arguments, why):
    with pytest.raises(InputError, match=why):
        verify.observe(geometric, *arguments)


def test_a_theorem_without_a_recursion_has_nothing_to_observe(make_theorem):
    with pytest.raises(InputError, match="has no clause about a recursion"):
        verify.observe(make_theorem(Inequality("c", sp.Lt(a, 2)), parameters=(A,)), [1], a=1)


def test_the_command_line(cli):
    sizes = ("T=20", "q=2", "d=3")
    code, out, err = cli("observe", "wang2024.theorem1", *sizes, "--over", "eta=1/2,1", "--at", "0,400")
    assert (code, err, out.count("\n")) == (0, "", 3)
    head, first = "wang2024.theorem1: reached: after 0, 400 steps, in float64, not proved", "   T=20 q=2 d=3 eta=1/2"
    assert out.startswith(f"{head}\n{first}")
    body = body_of(cli("observe", "wang2024.theorem1", *sizes, "eta=1", "--at", "0,400", "--json")[1])
    assert body["steps"] == [0, 400] and body["rows"][0]["instance"]["eta"] == 1
    # At the start the loss is d/(2q).
    assert body["rows"][0]["values"][0] == pytest.approx(3 / 4, rel=1e-15)
    for at in ("", "3,1", "-1", "1.5", "x", "9" * 5000):
        assert_one_line(cli("observe", "wang2024.theorem1", *sizes, "eta=1", "--at", at), "at", "increasing")
