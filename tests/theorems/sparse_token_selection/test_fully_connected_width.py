"""The smallest loss, compared with an exact enumeration of subsets and eigenvalues by hand; the command line."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

import verify
from tests.theorems.evaluated import evaluated
from theorems.sparse_token_selection.fully_connected_width import fcn_width
from verify import Evidence, Outcome
from verify.reports.command_line import run

SIZES = [(T, q, d) for T in range(2, 6) for q in range(1, T + 1) for d in (1, 2)]


def second_moment(T, q):
    """Return the exact mean of 1_y 1_yᵀ/q² over all q-subsets y."""
    subsets = list(combinations(range(T), q))
    share = Fraction(1, len(subsets) * q * q)
    return [[share * sum(i in y and j in y for y in subsets) for j in range(T)] for i in range(T)]


def losses_by_hand(T, q, d):
    """Return half the sum of the Td − m smallest eigenvalues for m = 0 … Td, after checking the eigenvectors."""
    moment = second_moment(T, q)
    # The T eigenvectors 1 and e_1 − e_j span the whole space.
    first, rest = Fraction(1, T), Fraction(T - q, q * T * (T - 1))
    assert [sum(row) for row in moment] == [first] * T
    for j in range(1, T):
        image = [row[0] - row[j] for row in moment]
        assert image == [rest * ((i == 0) - (i == j)) for i in range(T)]
    eigenvalues = sorted([first] * d + [rest] * d * (T - 1))
    return [sum(eigenvalues[: T * d - m], Fraction(0)) / 2 for m in range(T * d + 1)]


WITHOUT_TRIALS = replace(fcn_width, evaluations={})
"""The theorem without the trials of its claims in words, which are not needed for its values."""


def values(**instance):
    return verify.check(WITHOUT_TRIALS, **{"eps": 1, **instance}).values


@pytest.mark.parametrize(("T", "q", "d"), SIZES)
def test_half_the_sum_of_the_smallest_eigenvalues(T, q, d):
    for m, expected in enumerate(losses_by_hand(T, q, d)):
        found = values(T=T, q=q, d=d, m=m)["loss_lower_bound"]
        assert found == expected and isinstance(found, Fraction)


@pytest.mark.parametrize(("T", "q", "d"), [(2, 1, 1), (3, 2, 2), (4, 4, 2), (5, 2, 3)])
@pytest.mark.parametrize("eps", ["1/100", "1/12", "1/4", "1/3", "1/2", 2])
def test_the_width_is_that_of_a_plain_search(T, q, d, eps):
    least = next(m for m, loss in enumerate(losses_by_hand(T, q, d)) if loss <= Fraction(eps))
    assert values(T=T, q=q, d=d, m=0, eps=eps)["width_lower_bound"] == least


def test_by_hand_at_the_papers_sizes():
    # For T = 200, q = 3, d = 5 the loss is (1000 − 500)·197/(2·3·200·199), and the width follows from
    # 1000 − m <= 2·3·200·199/(10·197) = 121.2….
    found = values(T=200, q=3, d=5, m=500, eps="1/10")
    assert found == {"loss_lower_bound": Fraction(500 * 197, 6 * 200 * 199), "width_lower_bound": 1000 - 121}
    # Without measurements the loss is half the target's variance d/q. With Td measurements it is 0.
    assert values(T=200, q=3, d=5, m=0)["loss_lower_bound"] == Fraction(5, 6)
    assert values(T=200, q=3, d=5, m=1000)["loss_lower_bound"] == 0
    # The best single measurement is one component of the sum of all tokens, which removes the variance 1/T.
    assert values(T=200, q=3, d=5, m=1)["loss_lower_bound"] == Fraction(5, 6) - Fraction(1, 400)


@pytest.mark.parametrize("T", [10, 1000, 10**6, 10**15])
def test_a_share_of_the_trivial_loss_takes_a_share_of_all_units(T):
    q, d = 3, 5
    width = values(T=T, q=q, d=d, m=0, eps=Fraction(d, 4 * q))["width_lower_bound"]
    # For half of the loss d/(2q) the width is Td (1 − (T−1)/(2(T−q))), rounded up.
    assert width == math.ceil(T * d * (1 - Fraction(T - 1, 2 * (T - q))))


def test_with_all_tokens_selected_the_sums_are_all_that_counts():
    assert [values(T=3, q=3, d=2, m=m)["loss_lower_bound"] for m in range(7)] == [
        Fraction(1, 3),
        Fraction(1, 6),
        *[0] * 5,
    ]


def test_with_one_token_selected_all_measurements_are_alike():
    losses = [values(T=4, q=1, d=2, m=m)["loss_lower_bound"] for m in range(9)]
    assert losses == [1 - Fraction(m, 8) for m in range(9)]


@pytest.mark.parametrize("sizes", [{"T": 10**6, "q": 3, "d": 5}, {"T": 10**15, "q": 10**7, "d": 10**3}])
def test_large_sizes_cost_no_more(sizes):
    # A check evaluates one expression about 70 times. One evaluation per token would take too long.
    result = verify.check(fcn_width, **sizes, m=10**6, eps="1/1000000")
    assert {(clause.outcome, clause.evidence) for clause in evaluated(result)} == {(Outcome.VERIFIED, Evidence.PROVED)}
    # Trials of the claims in words would need m measurements. At these sizes they report that they decide nothing.
    said = {clause.label: clause.outcome for clause in result.clauses if clause.label in ("smallest", "nets")}
    assert said == dict.fromkeys(("smallest", "nets"), Outcome.INCONCLUSIVE)


def test_the_command_line_gives_exact_rationals(capsys):
    assert run(["check", "wang2024.fcn_width", "T=200", "q=3", "d=5", "m=500", "eps=1/10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["values"]["loss_lower_bound"] == "985/2388" and found["values"]["width_lower_bound"] == 879
    assert (found["evidence"], found["for_all_parameters"]) == ("simulated", "argued")
    evidence = {clause["label"]: clause["evidence"] for clause in found["clauses"]}
    assert (evidence.pop("smallest"), evidence.pop("nets")) == ("simulated", "simulated")
    assert set(evidence.values()) == {"proved"}


def test_a_wrong_formula_for_few_measurements_is_refuted_at_few_and_one_for_many_at_many():
    for canary in fcn_width.canaries:
        found = verify.explore(fcn_width.variant(canary.statement), max_examples=50).counterexample
        m, d = found["m"], found["d"]
        assert {"few": m < d, "many": m >= d}.get(canary.clause, True)
    assert {canary.clause for canary in fcn_width.canaries} == {"few", "many", "above_few", "above_many"}


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ("m=1001", "verify: m = 1001: must satisfy m <= T*d (here T = 200, d = 5)"),
        ("m=-1", "verify: m = -1: must be an integer >= 0"),
        ("m=1/2", "verify: m = 1/2: must be an integer >= 0"),
        ("q=201", "verify: q = 201: must satisfy q <= T (here T = 200)"),
        ("q=0", "verify: q = 0: must be an integer >= 1"),
        ("T=1", "verify: T = 1: must be an integer >= 2"),
        ("eps=0", "verify: eps = 0: must be a number (such as 3, 0.25, 1e-3 or 1/500) > 0"),
    ],
)
def test_bad_input_is_one_line(capsys, changed, line):
    given = {"T": "200", "q": "3", "d": "5", "m": "500", "eps": "1/10"} | dict([changed.split("=")])
    assert run(["check", "wang2024.fcn_width", *(f"{name}={value}" for name, value in given.items())]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.strip() == line
