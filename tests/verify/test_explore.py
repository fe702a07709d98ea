"""The search finds what is false, with the witness that is expected, and nothing in what is true."""

from fractions import Fraction

import pytest
import sympy as sp
from hypothesis.database import InMemoryExampleDatabase

from verify import Hypothesis, Inequality, InputError, Parameter, Source, Statement, Theorem, load_theorem
from verify.explore import explore, simplest_between, simplicity, without

n, x = sp.Symbol("n", integer=True, positive=True), sp.Symbol("x", positive=True)
N = Parameter("n", "integer", "a size", minimum=1)
X = Parameter("x", "rational", "a size", above=0)


def theorem(parameters, relation, *hypotheses):
    statement = Statement(parameters, (Inequality("claim", relation),), hypotheses)
    return Theorem("user.t", "t", Source("t", "derived here"), statement, example={})


def test_an_off_by_one_bound():
    result = explore(theorem((N,), sp.Le(n + 1, 2 * n - 1)), {})
    assert result.counterexample == {"n": 1} and result.clause.label == "claim" and result.exit_code == 1


def test_a_strict_inequality_at_its_boundary():
    result = explore(theorem((N,), sp.Gt(n, 1)), {})
    assert result.counterexample == {"n": 1} and result.clause.margin == 0


def test_a_wrong_constant():
    # x + 1/x ≥ 2, with equality at 1; 2.02 is wrong there.
    result = explore(theorem((X,), sp.Ge(x + 1 / x, sp.Rational(101, 50))), {})
    assert result.counterexample == {"x": 1}


def test_a_dropped_hypothesis():
    bounded = theorem((N,), sp.Le(n, 7), Hypothesis("small", sp.Lt(n, 8)))
    assert explore(bounded, {}, max_examples=200).counterexample is None
    assert explore(bounded, {}, drop=["small"]).counterexample == {"n": 8}


def test_a_claim_that_is_false_at_large_sizes_only():
    found = explore(theorem((N,), sp.Le(n, 10**5)), {}).counterexample
    assert found is not None and found["n"] > 10**5


def test_true_statements_survive():
    result = explore(theorem((X,), sp.Ge(x + 1 / x, 2)), {}, max_examples=300)
    assert result.counterexample is None and result.exit_code == 0
    # Guided to the place of equality.
    assert 0 <= result.smallest_margin < 1e-3


def test_the_step_size_bound_is_not_idle_and_the_witness_repeats():
    theorem1 = load_theorem("wang2024.theorem1")
    small = {"T": 9, "q": 2, "d": 1}
    found = [explore(theorem1, small, drop=["step_size"], seed=3, max_examples=60).counterexample for _ in range(2)]
    assert found[0] == found[1] is not None
    result = theorem1.check(**found[0])
    assert [clause.label for clause in result.clauses if clause.holds is False] == ["stays"]
    # Stable steps have η ≤ 2q = 4 near the end of training.
    assert found[0]["eta"] > Fraction(1, 20)


def test_nothing_is_found_in_scope():
    result = explore(load_theorem("wang2024.theorem1"), {}, max_examples=60)
    assert result.counterexample is None and result.examples >= 20


def test_the_same_search_with_a_database_finds_the_same():
    database = InMemoryExampleDatabase()
    runs = [explore(theorem((N,), sp.Lt(n, 50)), {}, database=database) for _ in range(2)]
    assert runs[0].counterexample == runs[1].counterexample == {"n": 50}


@pytest.mark.parametrize(
    ("label", "message"), [("none_such", "is no hypothesis"), ("one_hot", "structural and no variation is coded")]
)
def test_labels_that_cannot_be_dropped(label, message):
    with pytest.raises(InputError, match=message):
        without(load_theorem("wang2024.theorem1").statement, [label])


@pytest.mark.parametrize("effort", [{"max_examples": 0}, {"seconds": 0}, {"seconds": float("nan")}])
def test_an_empty_effort_is_refused(effort):
    with pytest.raises(InputError, match="must be"):
        explore(theorem((N,), sp.Lt(n, 50)), {}, **effort)


@pytest.mark.parametrize(
    ("low", "high"), [("1/3", "2/5"), ("-7/2", "-10/3"), ("-1", "1"), ("3", "3"), ("31/100", "32/100")]
)
def test_the_simplest_fraction_by_trying_all(low, high):
    low, high = Fraction(low), Fraction(high)
    tried = (Fraction(p, q) for q in range(1, 200) for p in range(-4 * q, 4 * q + 1) if low <= Fraction(p, q) <= high)
    assert simplest_between(low, high).denominator == next(tried).denominator
    assert low <= simplest_between(low, high) <= high


def test_an_empty_interval_has_no_fraction():
    with pytest.raises(InputError, match="low"):
        simplest_between(Fraction(2), Fraction(1))


def test_simplicity_counts_digits_first():
    assert simplicity({"a": 9}) < simplicity({"a": 10}) < simplicity({"a": Fraction(1, 11)})
