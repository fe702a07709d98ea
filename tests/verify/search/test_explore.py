"""The search refutes false claims, with the expected witness, and no true claim."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations

import pytest
import sympy as sp

import verify
from tests.verify.searched import (
    AT_LEAST_ONE,
    NOISE,
    STRUCTURAL,
    K,
    M,
    N,
    W,
    X,
    Y,
    k,
    m,
    n,
    noise,
    theorem,
    v,
    w,
    without_the_clock,
    x,
    y,
    z,
)
from verify import (
    Case,
    Dynamics,
    Hypothesis,
    InputError,
    InWords,
    Outcome,
    Parameter,
    Reaches,
    Stays,
    load_theorem,
)
from verify.evaluation.instances import simplicity
from verify.search import explore as module
from verify.search.narrowing import without
from verify.search.verdicts.state import scan

# The number of examples ends each search, even on a slow machine; a test of the time limit uses its own clock.
explore = partial(module.explore, seconds=600)

# False statements, each with its simplest witness.
FALSE = {
    "off by one": (theorem((N,), sp.Le(n + 1, 2 * n - 1)), {"n": 1}),
    "strict at its boundary": (theorem((N,), sp.Gt(n, 1, evaluate=False)), {"n": 1}),
    "strict at a closed end": (theorem((AT_LEAST_ONE,), sp.Gt(x, 1, evaluate=False)), {"x": 1}),
    # x + 1/x ≥ 2, with equality at x = 1, where the bound 2.02 fails.
    "a constant wrong by 1 %": (theorem((X,), sp.Ge(x + 1 / x, sp.Rational(101, 50))), {"x": 1}),
    # (x + y)² ≥ 4xy, with equality at x = y.
    "in two parameters": (theorem((X, Y), sp.Ge((x + y) ** 2, sp.Rational(101, 25) * x * y)), {"x": 1, "y": 1}),
    # Equality holds at x = 3y/2: (2x − 3y)² = 4x² − 12xy + 9y².
    "off the diagonal": (theorem((X, Y), sp.Gt(4 * x**2 + 9 * y**2, 12 * x * y)), {"x": 3, "y": 2}),
    "at one integer": (theorem((N,), sp.Gt((n - 7) ** 2, 0)), {"n": 7}),
    "at one negative integer": (theorem((K,), sp.Gt((k + 3) ** 2, 0)), {"k": -3}),
    "at one number": (theorem((W,), sp.Gt((w - 3) ** 2, 0)), {"w": 3}),
    "at one negative number": (theorem((W,), sp.Gt((w + 2) ** 2, 0)), {"w": -2}),
    "at large sizes": (theorem((N,), sp.Le(n, 10**5)), {"n": 10**5 + 1}),
    "below a negative size": (theorem((K,), sp.Ge(k, -(10**5))), {"k": -(10**5) - 1}),
    "with a relation that is not affine": (
        theorem((N,), sp.Le(n, 6), Hypothesis("area", sp.Le(n**2, 50))),
        {"n": 7},
    ),
    "in both parts of a union": (
        theorem((K,), sp.Gt(k, 0), Hypothesis("far", sp.Ge(k**2, 30)), Hypothesis("near", sp.Le(k**2, 40))),
        {"k": -6},
    ),
    "where a hypothesis is an equation": (
        theorem((N, M), sp.Le(n, 40), Hypothesis("square", sp.Eq(n, m**2))),
        {"n": 49, "m": 7},
    ),
    # 3^5 = 243, 3^6 = 729.
    "with a power of a parameter": (theorem((N,), sp.Lt(3**n, 500)), {"n": 6}),
}


@pytest.mark.parametrize("what", FALSE)
@pytest.mark.parametrize("seed", [0, 1])
def test_false_claims_are_refuted_with_the_simplest_witness(what, seed):
    false, witness = FALSE[what]
    result = explore(false, {}, seed=seed)
    assert result.counterexample == witness
    assert (result.stopped, result.exit_code, result.clause.label) == ("found", 1, "claim")
    assert result.clause.outcome is Outcome.REFUTED and result.sharpness == ()
    assert 1 <= result.needed <= result.examples and result.refuted == 1
    assert result.clean + result.refuted + result.undecided + result.without_value == result.examples
    # A check finds the counterexample again.
    assert [clause.holds for clause in verify.check(false, **result.counterexample).clauses] == [False]


def test_the_margin_of_the_witness_is_exact():
    result = explore(theorem((N,), sp.Gt(n, 1, evaluate=False)), {})
    assert result.clause.margin == 0 and result.smallest_margin == 0


def test_a_claim_that_is_false_at_extreme_ratios_only():
    sizes = explore(theorem((N, M), sp.Le(n, 10**5 * m)), {}).counterexample
    assert sizes == {"n": 10**5 + 1, "m": 1}
    for left, right in ((x, y), (y, x)):
        ratio = explore(theorem((X, Y), sp.Le(left, 10**5 * right)), {}).counterexample
        assert 10**5 < ratio[left.name] / ratio[right.name]
        # The counterexample is at least as simple as 1 and 1/100001.
        assert simplicity(ratio) <= simplicity({"x": 1, "y": Fraction(1, 10**5 + 1)})


@pytest.mark.parametrize(
    ("at", "draws", "seeds"),
    [
        (1234, 400, 2),
        pytest.param(1234, 400, 5, marks=pytest.mark.audit),
        pytest.param(12_345, 1000, 5, marks=pytest.mark.audit),
    ],
)
def test_the_margin_leads_to_a_single_integer(at, draws, seeds):
    single = theorem((N,), sp.Ge((n - at) ** 2, 1))
    results = [explore(single, {}, seed=seed, max_examples=draws) for seed in range(seeds)]
    assert all(result.counterexample == {"n": at} for result in results)
    assert max(result.needed for result in results) < 60
    # Without guidance the integer is not found in as many instances.
    blind = [explore(single, {}, seed=seed, guided=False, max_examples=draws) for seed in range(seeds)]
    assert all(result.needed is None for result in blind)


def test_a_parametric_hypothesis_is_needed():
    bounded = theorem((N,), sp.Le(n, 7), Hypothesis("small", sp.Lt(n, 8)))
    kept = explore(bounded, {}, max_examples=200)
    assert (kept.counterexample, kept.dropped, kept.stopped) == (None, (), "examples")
    dropped = explore(bounded, {}, drop=["small"])
    assert dropped.counterexample == {"n": 8} and dropped.dropped == ("small",)
    # The digest is that of the whole statement.
    assert dropped.statement_digest == bounded.statement.digest


def test_only_what_is_dropped_is_left_out():
    both = theorem((N, M), sp.Lt(n * m, 50), Hypothesis("n_small", sp.Le(n, 7)), Hypothesis("m_small", sp.Le(m, 7)))
    assert explore(both, {}, max_examples=200).counterexample is None
    found = explore(both, {}, drop=["n_small"]).counterexample
    assert found["m"] <= 7 and found["n"] * found["m"] >= 50
    wide = explore(both, {}, drop=["n_small", "m_small"], seed=1)
    assert wide.counterexample is not None and wide.dropped == ("n_small", "m_small")


VARIED = theorem((N, NOISE), sp.Le(n * Case(noise, 1, 3), 2 * n), STRUCTURAL)


def test_a_structural_hypothesis_is_needed():
    kept = explore(VARIED, {}, max_examples=100)
    assert kept.counterexample is None and kept.nearest["noise"] == "gaussian"
    dropped = explore(VARIED, {}, drop=["gaussian_noise"])
    assert dropped.counterexample == {"n": 1, "noise": "uniform"}
    # The instance can be checked as it is: the hypothesis fails there.
    result = verify.check(VARIED, **dropped.counterexample)
    assert not result.in_scope and result.clauses[0].outcome is Outcome.REFUTED


def test_the_papers_word_stands_where_none_is_given():
    assert verify.check(VARIED, n=1).outcome is Outcome.VERIFIED
    assert explore(VARIED, {"noise": "gaussian"}, max_examples=20).counterexample is None
    with pytest.raises(InputError, match=r"noise = uniform: breaks gaussian_noise.*--drop gaussian_noise"):
        explore(VARIED, {"noise": "uniform"})
    with pytest.raises(InputError, match="must be one of gaussian, uniform"):
        explore(VARIED, {"noise": "cauchy"})
    assert explore(VARIED, {"noise": "uniform"}, drop=["gaussian_noise"]).counterexample == {"n": 1, "noise": "uniform"}
    held = explore(VARIED, {"noise": "gaussian"}, drop=["gaussian_noise"], max_examples=50)
    assert held.counterexample is None and held.nearest["noise"] == "gaussian"


def test_given_values_stay():
    pair = theorem((N, M), sp.Le(n * m, 100))
    for given, found in (
        ({"n": 3}, {"n": 3, "m": 34}),
        ({"m": "7"}, {"n": 15, "m": 7}),
        ({"n": 200}, {"n": 200, "m": 1}),
    ):
        assert explore(pair, given).counterexample == found
    assert explore(pair, {"n": 3, "m": 34}).counterexample == {"n": 3, "m": 34}
    assert explore(pair, {"n": 3, "m": 33}).counterexample is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 0}, "n = 0: must be an integer >= 1"),
        ({"p": 1}, "p = 1: is not a parameter"),
        ({"n": 9}, r"n = 9: breaks small: n < 8 \(--drop small leaves it out\)"),
        ({"n": 3, "m": 2}, "must satisfy n <= m"),
    ],
)
def test_given_values_that_do_not_fit_are_refused(given, message):
    bounded = theorem((N, M), sp.Le(n, 9), Hypothesis("small", sp.Lt(n, 8)), domain=(sp.Le(n, m),))
    with pytest.raises(InputError, match=message):
        explore(bounded, given)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("none_such", "is not a hypothesis of this theorem; can be dropped: subset_of_two, "),
        ("one_hot", "structural and cannot be varied; can be dropped: subset_of_two"),
    ],
)
def test_labels_that_cannot_be_dropped(label, message):
    with pytest.raises(InputError, match=message):
        without(load_theorem("wang2024.theorem1").statement, [label])


def test_a_statement_without_a_hypothesis_keeps_all_else():
    statement = load_theorem("wang2024.theorem1").statement
    left = without(statement, ["step_size", "accuracy"])
    labels = [h.label for h in statement.hypotheses]
    assert [h.label for h in left.hypotheses] == [label for label in labels if label not in ("step_size", "accuracy")]
    assert replace(left, hypotheses=statement.hypotheses) == statement
    assert without(statement, []) == statement


@pytest.mark.parametrize("effort", [{"max_examples": 0}, {"seconds": 0}, {"seconds": -1}, {"seconds": float("nan")}])
def test_an_empty_effort_is_refused(effort):
    with pytest.raises(InputError, match="must be"):
        explore(theorem((N,), sp.Lt(n, 50)), {}, **effort)


def test_true_statements_survive():
    result = explore(theorem((X,), sp.Ge(x + 1 / x, 2)), {}, max_examples=300)
    assert result.counterexample is None and result.exit_code == 0
    # The margin guides the search to the point of equality.
    assert 0 <= result.smallest_margin < 1e-9 and result.nearest == {"x": 1}


def test_a_margin_that_rounding_makes_negative_is_no_counterexample():
    # (x + y)² and x² + 2xy + y² are equal, but in float64 the left side is often smaller by a rounding error.
    equal = theorem((X, Y), sp.Ge((x + y) ** 2, sp.Add(x**2, 2 * x * y, y**2)))
    result = explore(equal, {}, max_examples=200)
    assert result.counterexample is None and (result.clean, result.undecided) == (result.examples, 0)


def test_instances_that_no_arithmetic_decides_are_counted():
    # √w·√v > √(wv) never holds, but if the roots are irrational, no number of bits shows that it fails.
    v = sp.Symbol("v", real=True)
    parameters = tuple(Parameter(name, "rational", "a size", above=0) for name in "wv")
    equal = theorem(parameters, sp.Gt(sp.sqrt(w) * sp.sqrt(v), sp.sqrt(w * v)))
    result = explore(equal, {"w": 2, "v": 5}, max_examples=5)
    assert (result.counterexample, result.undecided, result.exit_code) == (None, 1, 3)
    assert explore(equal, {"w": 4}, max_examples=5).counterexample == {"w": 4, "v": 1}


def test_steps_that_the_certificate_proves_are_not_searched():
    theorem = load_theorem("li2024.opposite_moves")
    claims, steps = ([clause.label for clause in part] for part in (theorem.statement.claims, theorem.statement.steps))
    found = explore(theorem, {}, max_examples=3)
    assert (list(found.looked_at), list(found.settled)) == (claims, steps) and found.clean > 0
    # A false step is searched, although the certificate proves the step with the same label.
    step = replace(theorem.statement.steps[0], left=theorem.statement.steps[0].left + 1)
    planted = theorem.variant(replace(theorem.statement, steps=(step, *theorem.statement.steps[1:])))
    found = explore(planted, {}, max_examples=3)
    assert (found.clause.label, list(found.looked_at)) == (step.label, [*claims, step.label])
    assert list(found.settled) == steps[1:]
    # If a hypothesis is dropped, only claims are searched.
    found = explore(theorem, {}, drop="data_norm", max_examples=3)
    assert (list(found.looked_at), found.settled) == (claims, ())


def test_nothing_is_found_in_scope(clock):
    theorem1, planning = load_theorem("wang2024.theorem1"), clock.tick

    # A run has thousands of steps in balls, and reads the clock after every 1024 steps. Before the first instance the
    # search reads the clock thousands of times in a moment.
    def look_longer(_):
        clock.tick = 0.005

    whole = explore(theorem1, {}, max_examples=30, seconds=2, progress=look_longer)
    assert whole.counterexample is None and whole.examples > 5
    clock.tick = planning
    example = {"T": 9, "q": 2, "d": 1, "eta": Fraction(1, 20), "eps": Fraction(1, 200)}
    one = explore(theorem1, example, max_examples=1)
    assert (one.counterexample, one.clean, one.examples) == (None, 1, 1)


def test_the_step_size_bound_is_not_idle():
    theorem1 = load_theorem("wang2024.theorem1")
    small = {"T": 9, "q": 2, "d": 1}
    found = explore(theorem1, small, drop=["step_size"], seed=3, max_examples=60).counterexample
    assert found is not None
    assert False in [clause.holds for clause in verify.check(theorem1, **found).clauses]
    # Stable steps have η ≤ 2q = 4 near the end of training.
    assert found["eta"] > Fraction(1, 20)


@pytest.mark.parametrize("seed", [0, 1, 7])
@pytest.mark.parametrize("what", ["found", "not found"])
def test_the_same_seed_gives_the_same_result(seed, what):
    relation = sp.Le(n * m, 10**4) if what == "found" else sp.Ge(n * m, 1, evaluate=False)
    runs = [without_the_clock(explore(theorem((N, M), relation), {}, seed=seed, max_examples=150)) for _ in range(2)]
    assert runs[0] == runs[1] and runs[0]["seed"] == seed
    assert (runs[0]["counterexample"] is not None) == (what == "found")


@pytest.mark.parametrize("guided", [True, False])
def test_another_seed_draws_other_instances(monkeypatch, guided):
    seen = []

    def watched(clause, statement, instance):
        seen[-1].append(instance["x"])
        return scan(clause, statement, instance)

    monkeypatch.setattr("verify.search.verdicts.state.scan", watched)
    for seed in range(3):
        seen.append([])
        explore(theorem((X,), sp.Ge(x, 0, evaluate=False)), {}, seed=seed, max_examples=60, guided=guided)
    assert all(len(set(some)) > 10 for some in seen)
    assert not any(set(one) == set(other) for one, other in combinations(seen, 2))


def test_levels_of_any_sign():
    falling = Dynamics((z,), (sp.Integer(5),), (z - 1,), z)
    for level in (3, 0, -2):
        late = theorem((N,), Reaches("claim", falling, sp.Integer(level), within=n))
        assert explore(late, {}).counterexample == {"n": 1}, level
        in_time = theorem((N,), Reaches("claim", falling, sp.Integer(level), within=n + 6))
        assert explore(in_time, {}, max_examples=50).counterexample is None, level
    # The observable is (t − 3)² − 3: 6, 1, −2, −3, −2, 1, 6, …
    back = Dynamics((z,), (sp.Integer(-3),), (z + 1,), z**2 - 3)
    for level in (2, 0, -2):
        up_again = theorem((N,), Stays("claim", back, sp.Integer(level), sp.Integer(level)))
        assert explore(up_again, {}).counterexample == {"n": 1}, level


def test_a_run_that_settles_above_the_level_is_found():
    # x' = r x (1 − x) from 1/2 settles at 1 − 1/r for 1 < r < 3, which is above the level 9/20 for r > 20/11.
    r = sp.Symbol("x", positive=True)
    logistic = Dynamics((z,), (sp.Rational(1, 2),), (r * z * (1 - z),), z)
    below = theorem((X,), Reaches("claim", logistic, sp.Rational(9, 20)), Hypothesis("stable", sp.Lt(x, 3)))
    result = explore(below, {})
    assert result.counterexample is not None and 1 - 1 / result.counterexample["x"] > Fraction(9, 20)
    assert "never reached" in result.clause.detail


def test_a_recursion_that_leaves_the_reals_is_no_error():
    leaving = Dynamics((z,), (sp.Integer(2),), ((z - 3) ** x,), z)
    result = explore(theorem((X,), Reaches("claim", leaving, sp.Integer(1), within=sp.Integer(5))), {}, max_examples=30)
    assert result.counterexample is None


def test_a_power_of_a_negative_number_is_no_error():
    # The simplest real w^y below −5 have w = −2 and an odd y ≥ 3.
    result = explore(theorem((W, Y), sp.Gt(w**y, -5)), {})
    assert result.counterexample is not None
    assert result.counterexample["w"] ** int(result.counterexample["y"]) <= -5


def test_a_claim_without_a_value_is_no_counterexample():
    result = explore(theorem((W,), sp.Gt(1 / w**2, 0, evaluate=False)), {}, max_examples=60)
    assert result.counterexample is None and result.exit_code == 0
    # 0 is the only point at which the claim has no value.
    assert (result.clean, result.without_value, result.undecided) == (result.examples - 1, 1, 0)
    root = explore(theorem((W,), sp.Ge(sp.sqrt(w), 0, evaluate=False)), {}, max_examples=60)
    assert root.counterexample is None and min(root.clean, root.without_value) > 5 and root.undecided == 0


NOWHERE = sp.Add(1, sp.Mul(0, sp.log(-1 - w**2, evaluate=False), evaluate=False), evaluate=False)
POSITIVE = sp.Symbol("z", positive=True)
FOREVER = Dynamics((POSITIVE,), (sp.Integer(2),), (POSITIVE,), POSITIVE)


@pytest.mark.parametrize(
    ("clause", "variables", "found"),
    [
        (sp.Ge(NOWHERE, 0, evaluate=False), (), "without_value"),
        (InWords("claim", "something"), (), "undecided"),
        # No number of steps shows that the run stays at 2, and no fact is deduced about a state assumed to be positive.
        (Reaches("claim", FOREVER, sp.Integer(1)), (), "undecided"),
        # Balls do not show that √2 + √3 = √(5 + 2√6).
        (sp.Le(sp.sqrt(2) + sp.sqrt(3), sp.sqrt(5 + 2 * sp.sqrt(6)), evaluate=False), (), "undecided"),
        # The claim is false only near v = √2, closer than any float.
        (sp.Ge(10**36 * (v - sp.sqrt(2)) ** 2, 1, evaluate=False), (v,), "undecided"),
    ],
    ids=["undefined", "in words", "never reached", "equal roots", "for all values"],
)
def test_instances_without_a_verdict_are_not_clean(clock, clause, variables, found):
    # A run that does not end reads the clock after every 1024 steps.
    clock.tick = 0.002
    result = explore(theorem((W,), clause, variables=variables), {}, max_examples=6, seconds=5)
    assert result.counterexample is None and result.smallest_margin is None and result.examples >= 2
    assert (result.clean, getattr(result, found), result.exit_code) == (0, result.examples, 3)
    why = "at every instance a clause has no value" if found == "without_value" else "no instance is clean"
    assert result.to_json()["detail"] == result.headline == f"undecided: {why}"
    assert replace(result, examples=result.examples + 1).headline == "undecided: no instance is clean"


def test_a_run_that_stays_above_the_level_is_a_counterexample():
    stays = Dynamics((z,), (sp.Integer(2),), (z,), z)
    result = explore(theorem((W,), Reaches("claim", stays, sp.Integer(1))), {}, max_examples=20)
    assert result.counterexample is not None and result.certified


def test_where_fewer_than_a_tenth_are_clean_nothing_is_said(no_deduction):
    # Both sides are equal, which exact arithmetic shows only if all roots are rational.
    x = sp.Symbol("x", positive=True)
    under = [x + 2, x + 3, x + 7]
    products = sum(2 * sp.sqrt(a * b) for a, b in combinations(under, 2))
    equal = sp.Le(sum(map(sp.sqrt, under)), sp.sqrt(3 * x + 12 + products), evaluate=False)
    made = theorem((Parameter("x", "rational", "x", above=0),), equal)
    result = explore(made, {}, max_examples=60)
    assert result.counterexample is None and result.exit_code == 3 and result.headline.startswith("undecided: ")
    few = replace(result, examples=40, clean=3, undecided=37, not_reached=0)
    assert (few.exit_code, few.headline) == (3, "undecided: 3 of 40 instances are clean, fewer than a tenth")
    assert replace(few, clean=4, undecided=36).exit_code == 0


@pytest.mark.parametrize(
    ("stopped", "why"),
    [("seconds", " in time"), ("examples", " in the time for verdicts"), ("found", ""), ("interrupted", "")],
)
def test_unreached_instances_count_neither_way_and_say_why(stopped, why):
    result = explore(theorem((W,), sp.Ge(w**2, 0, evaluate=False)), {}, max_examples=20)
    late = replace(result, examples=40, clean=3, undecided=37, not_reached=10, stopped=stopped)
    assert (late.exit_code, late.verdicts) == (0, f"3 clean, 27 undecided, 10 not reached{why}")


def test_a_search_that_ends_before_its_time_does_not_say_that_the_time_was_over(clock):
    # The loss falls by a part in 10^9 per step, so each verdict takes longer than the search. No fact is deduced about
    # a state that is assumed to be positive.
    slow = Dynamics((POSITIVE,), (1 + sp.exp(w),), (POSITIVE * (1 - sp.Rational(1, 10**9)),), POSITIVE)

    def look_longer(count):
        # After the last example verdicts are computed; their runs read the clock after every 1024 steps.
        if count == 20:
            clock.tick = 0.01

    made = theorem((W,), Reaches("claim", slow, sp.Rational(1, 2)))
    result = explore(made, {}, max_examples=20, seconds=30, progress=look_longer)
    assert result.stopped == "examples" and result.seconds < 15 and result.not_reached > 0
    assert f"{result.not_reached} not reached in the time for verdicts" in str(result)


def test_a_claim_proved_for_all_values_of_a_variable_is_clean():
    positive = sp.Symbol("v", positive=True)
    made = theorem((X,), sp.Ge(positive * x, 0, evaluate=False), variables=(positive,))
    result = explore(made, {}, max_examples=20)
    assert (result.clean, result.exit_code) == (result.examples, 0) and result.examples > 10


def test_a_claim_in_words_is_left_aside_where_another_is_evaluated():
    made = theorem((W,), InWords("words", "something"))
    both = replace(made, statement=replace(made.statement, claims=(*made.statement.claims, *SQUARE.statement.claims)))
    result = explore(both, {}, max_examples=20)
    assert (result.clean, result.looked_at, result.in_words) == (result.examples, ("claim",), ("words",))
    # A step is not a claim: its truth makes no instance clean.
    step = replace(made, statement=replace(made.statement, steps=SQUARE.statement.claims))
    stepped = explore(step, {}, max_examples=20)
    assert (stepped.clean, stepped.exit_code) == (0, 3)
    # No verdict ran out of time.
    assert (stepped.not_reached, stepped.verdicts) == (0, f"{stepped.examples} undecided")


SQUARE = theorem((W,), sp.Ge(w**2, 0, evaluate=False))


def test_a_margin_that_is_lost_in_rounding_is_decided_and_refuted():
    # In float64 9 + 10^-40 is 9, so both margins are 0.
    lost = {"w": 3, "x": Fraction(1, 10**40)}
    true = explore(theorem((W, X), sp.Gt(w**2 + x, w**2, evaluate=False)), lost)
    assert (true.clean, true.examples, true.smallest_margin) == (1, 1, 0.0)
    false = explore(theorem((W, X), sp.Ge(w**2, w**2 + x, evaluate=False)), lost)
    assert (false.refuted, false.clause.margin, false.certified) == (1, -lost["x"], True)


def test_a_claim_without_a_value_in_floats_is_decided_all_the_same():
    # e^(w^2) is beyond float64 at w = 100, and not below 2.
    huge = lambda relation: explore(theorem((W,), relation), {"w": 100})  # noqa: E731
    assert huge(sp.Ge(sp.exp(w**2), 2, evaluate=False)).clean == 1
    found = huge(sp.Le(sp.exp(w**2), 2, evaluate=False))
    assert (found.counterexample, found.refuted, found.stopped) == ({"w": 100}, 1, "found")


def test_hypotheses_that_nothing_satisfies_are_an_error():
    from verify import TheoremError

    nothing = theorem((N,), sp.Lt(n, 5), Hypothesis("one", sp.Gt(n, 3)), Hypothesis("two", sp.Lt(n, 3)))
    with pytest.raises(TheoremError, match="no instance was found"):
        explore(nothing, {})


def test_a_claim_false_nearly_everywhere_falls_at_the_first_instance():
    # At the simplest instances the claim holds.
    identity = theorem((N, M), sp.Eq((n + m) ** 3, n**3 + m**3 + 3 * n * m * (n + m) + (n - 1) * (m - 1) * (n - m)))
    guided, unguided = ([explore(identity, {}, seed=seed, guided=way) for seed in range(9)] for way in (True, False))
    assert [result.needed for result in guided] == [1] * 9
    assert max(result.needed for result in unguided) > 1
