"""Isolated roots: Krawczyk's test proves that a box has exactly one root, proves that it has none, or is undecided."""

import pytest
import sympy as sp

import verify
from verify import Evidence, IsolatedRoot, Outcome, TheoremError
from verify.language.parameters import Parameter

x, y = sp.symbols("x y", real=True)
a = sp.Symbol("a", positive=True)
A = (Parameter("a", "rational", "a", above=0),)
R = sp.Rational


@pytest.fixture
def check(make_theorem):
    def run(clause, **instance):
        return verify.check(make_theorem(clause, parameters=A), **instance).clauses[0]

    return run


def root_of_a(centre, radius):
    return IsolatedRoot("root", (x**2 - a,), (x,), (centre,), radius)


def test_a_square_root_is_isolated_and_narrowed(check):
    result = check(root_of_a(R(7, 5), R(1, 10)), a=2)
    assert (result.outcome, result.evidence) == (Outcome.VERIFIED, Evidence.CERTIFIED)
    found = result.values["x"]
    # The exact squares of the enclosure's ends show that it contains √2.
    assert found.lower**2 < 2 < found.upper**2 and found.upper - found.lower < R(1, 10**30)


@pytest.mark.parametrize("centre", [R(13, 10), R(-7, 5) / 2, R(3)])
def test_a_box_without_a_root_is_refuted(check, centre):
    result = check(root_of_a(centre, R(1, 20)), a=2)
    assert result.outcome is Outcome.REFUTED and result.witness


def test_two_unknowns_and_transcendental_equations(check):
    # Near (1, 1), the circle meets the diagonal at x = y = √(a/2); the root of e^x = a is log a.
    circle = IsolatedRoot("r", (x**2 + y**2 - a, x - y), (x, y), (sp.Integer(1), sp.Integer(1)), R(1, 10))
    assert check(circle, a=2).outcome is Outcome.VERIFIED
    assert check(circle, a=3).outcome is Outcome.REFUTED
    log = IsolatedRoot("r", (sp.exp(x) - a,), (x,), (R(7, 10),), R(1, 20))
    assert check(log, a=2).outcome is Outcome.VERIFIED


@pytest.mark.parametrize(
    ("equation", "centre", "radius"),
    [((x - 1) ** 2, 1, R(1, 10)), (x**2 - a, 0, sp.Integer(3)), (x**3 - x, 0, sp.Integer(2)), (x - a, 2, -a)],
    ids=["double", "two roots", "three roots", "negative radius"],
)
def test_a_box_without_one_simple_root_is_never_verified(check, equation, centre, radius):
    clause = IsolatedRoot("r", (equation,), (x,), (sp.Integer(centre),), radius)
    assert check(clause, a=2).outcome is not Outcome.VERIFIED


def test_a_root_on_the_edge_is_not_verified(check):
    # |1 − 9/10| = 1/10 exactly: the root is on the boundary of the box, and the test needs the interior.
    assert check(root_of_a(R(9, 10), R(1, 10)), a=1).outcome is Outcome.INCONCLUSIVE


def test_a_root_is_what_its_symbol_assumes(check):
    # The root is the centre, and all points within 1 of it must satisfy the assumption.
    wanted = {"positive": {2}, "nonnegative": {2, 1}, "nonzero": {2, -2}, "real": {2, -2, 1, 0}}
    for assumption, centres in wanted.items():
        s = sp.Symbol("s", **{assumption: True})
        for c in (2, -2, 1, 0):
            result = check(IsolatedRoot("r", (s - c,), (s,), (sp.Integer(c),), sp.Integer(1)), a=1)
            assert result.outcome is (Outcome.VERIFIED if c in centres else Outcome.INCONCLUSIVE)
        none = check(IsolatedRoot("r", (s - 9,), (s,), (sp.Integer(2),), sp.Integer(1)), a=1)
        assert (none.outcome, none.proof["kind"]) == (Outcome.REFUTED, "no_root")


def test_outside_of_what_is_assumed_no_root_is_missed(check):
    # SymPy simplifies √(s²) − 3 to s − 3 for a positive s. Without this assumption the box's centre, −3, is a root.
    s = sp.Symbol("s", positive=True)
    result = check(IsolatedRoot("r", (sp.sqrt(s**2) - 3,), (s,), (sp.Integer(-3),), sp.Integer(1)), a=1)
    assert result.outcome is Outcome.INCONCLUSIVE and "the assumptions of s exclude" in result.detail


@pytest.mark.parametrize("assumption", ["negative", "nonpositive", "integer", "even", "odd", "rational"])
def test_an_unknown_assumed_negative_or_rational_is_refused(assumption):
    s = sp.Symbol("s", **{assumption: True})
    with pytest.raises(TheoremError, match=r"clause r: the unknown s is assumed to be .*; a root is a real number"):
        IsolatedRoot("r", (s**2 - a,), (s,), (sp.Integer(1),), R(1, 10))


def test_a_scan_sees_how_far_the_root_is(make_theorem):
    clause = root_of_a(R(7, 5), R(1, 10))
    statement = make_theorem(clause, parameters=A).statement
    assert clause.scan(statement, {"a": 2}) == pytest.approx(1 - (2**0.5 - 1.4) * 10)
    assert clause.scan(statement, {"a": 4}) < 0
    assert root_of_a(sp.Integer(0), R(1, 10)).scan(statement, {"a": 4}) == -1


def test_the_data_and_the_words():
    one, other = root_of_a(R(7, 5), R(1, 10)), root_of_a(R(7, 5), R(1, 20))
    assert one.to_data() != other.to_data() and one.to_data()["kind"] == "root"
    assert one.bound_names() == {"x"} and "exactly one root" in one.text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"centre": ()}, "one equation and one centre"),
        ({"equations": (x, y)}, "one equation and one centre"),
        ({"centre": (x + 1,)}, "uses the unknown x"),
        ({"radius": x}, "uses the unknown x"),
    ],
)
def test_malformed_clauses_are_refused(changes, message):
    given = {"equations": (x**2 - a,), "unknowns": (x,), "centre": (sp.Integer(1),), "radius": a} | changes
    with pytest.raises(TheoremError, match=message):
        IsolatedRoot("r", **given)
