"""Reported values: the least sufficient value of a parameter, the largest of some expressions, and malformed values."""

import json
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, strategies as st

from verify import Inequality, Parameter, Source, Statement, Theorem, TheoremError, ValueLargest, ValueLeast, primitive
from verify.checking.check import check
from verify.reports.text import check_text

n, k = sp.symbols("n k", integer=True, nonnegative=True)
x = sp.Symbol("x", positive=True)
N, K = (Parameter(name, "integer", "a number", minimum=0) for name in "nk")
X = Parameter("x", "rational", "a level", above=0)
CLAUSE = Inequality("c", sp.Ge(n, 0, evaluate=False))


@pytest.fixture
def checked(make_theorem):
    """Return a function that checks a theorem that reports the least n at which all expressions are at most a level."""

    def find(*expressions, level=x, lowest=0, highest=k, **instance):
        value = ValueLeast(expressions, "n", *map(sp.sympify, (level, lowest, highest)))
        theorem = make_theorem(CLAUSE, parameters=(N, K, X), values={"least": value})
        return check(theorem, {"n": 3, "k": 10, "x": 1, **instance})

    return find


@pytest.fixture
def least(checked):
    """Return a function that finds the least n at which all expressions are at most a level."""

    def find(*expressions, **more):
        found = checked(*expressions, **more)
        assert found.without == {}
        return found.values["least"]

    return find


@pytest.fixture
def missing(checked):
    """Return a function that finds the reason why there is no n at which all expressions are at most a level."""

    def find(*expressions, **more):
        found = checked(*expressions, **more)
        assert found.values == {"least": None} and found.detail.endswith(f"; least: {found.without['least']}")
        return found.without["least"]

    return find


@pytest.mark.parametrize(
    ("k", "x", "expected"),
    [
        (10, 5, 5),
        (10, "9/2", 6),
        (10, "11/2", 5),
        # In these cases the least value is the lower end, the upper end, and the only integer of the range.
        (10, 10, 0),
        (10, "1/100", 10),
        (0, 1, 0),
    ],
)
def test_the_least_value_by_hand(least, k, x, expected):
    found = least(k - n, k=k, x=x)
    assert found == expected and type(found) is int


LINES = st.lists(st.tuples(st.integers(-20, 40), st.integers(0, 3)), min_size=1, max_size=5)


@given(LINES, st.integers(0, 30), st.integers(0, 5))
def test_the_least_value_is_that_of_a_plain_search(lines, level, lowest):
    falling = tuple(sp.sympify(start - slope * n) for start, slope in lines)
    value = ValueLeast(falling, "n", sp.Integer(level), sp.Integer(lowest), sp.Integer(40))
    source, statement = Source("1", "derived here"), Statement((N,), (CLAUSE,))
    values = {"least": value, "largest": ValueLargest(falling)}
    found = check(Theorem("user.falls", "a title", source, statement, {"n": lowest}, values), {"n": lowest}).values
    assert found["largest"] == max(start - slope * lowest for start, slope in lines)
    enough = (i for i in range(lowest, 41) if all(start - slope * i <= level for start, slope in lines))
    assert found["least"] == next(enough, None)


def test_the_value_of_the_instance_does_not_count(least):
    assert {least(k - n, n=i, x=4) for i in (0, 6, 1000)} == {6}


def test_there_is_none_where_no_value_is_enough(missing):
    assert missing(k - n, level=-x) == "no integer from 0 to 10 is enough"
    assert missing(k - n, lowest=5, highest=4) == "no integer from 5 to 4 is enough"
    # 1/n has no value at n = 0, so n = 0 does not suffice.
    assert missing(1 / n, lowest=0, highest=0) == "no integer from 0 to 0 is enough"


def test_ends_that_are_no_integers_are_those_inside(least, missing):
    assert least(-n, level=0, lowest=sp.Rational(1, 2), highest=k) == 1
    assert missing(k - n, level=0, highest=k - sp.Rational(1, 2)) == "no integer from 0 to 9 is enough"
    assert missing(k - n, lowest=sp.sqrt(2), highest=k) == "sqrt(2): a rational value is needed here"


def test_irrational_values_are_compared_in_balls(least, missing):
    # e^(−n) <= 1/1000 from n = 7 on, and e^0 = 1 exactly. Balls never decide the sign of log 6 − log 2 − log 3 = 0.
    assert least(sp.exp(-n), level=sp.Rational(1, 1000)) == 7
    assert least(sp.exp(-n), level=1) == 0
    undecided = sp.log((n + 2) * (n + 3)) - sp.log(n + 2) - sp.log(n + 3)
    assert missing(undecided, level=0).endswith("the sign is undecided at n = 0")


def test_a_primitive_that_never_decides_is_named(missing):
    @primitive(1)
    def larger(arithmetic, p, q):
        return p if p > q else q

    assert missing(larger(sp.sqrt(n) * sp.sqrt(k), k)).endswith("the sign is undecided at n = 10")


def test_time_that_runs_out_is_named(make_theorem):
    value = ValueLeast((sp.exp(-n),), "n", x, sp.Integer(0), k)
    theorem = make_theorem(CLAUSE, parameters=(N, K, X), values={"least": value})
    found = check(theorem, {"n": 3, "k": 10, "x": 1}, seconds=1e-9)
    assert found.values == {"least": None} and found.without == {"least": "the time ran out"}


def test_the_least_value_is_so_where_the_expressions_rise_and_fall(least, missing):
    cubic = (n - 3) * (n - 7) * (40 - n)
    # The cubic is positive below 3 and between 7 and 40, and at most 0 elsewhere.
    assert least(cubic, level=0, lowest=0, highest=50) == 3
    assert least(cubic, level=0, lowest=8, highest=50) == 40 and least(cubic, level=0, lowest=5, highest=6) == 5
    assert missing(cubic, level=0, lowest=8, highest=39) == "no integer from 8 to 39 is enough"
    # 1/(n − 4) has no value at 4, and is at most 0 before it.
    assert least(1 / (n - 4), level=0) == 0 and least(1 / (n - 4), level=0, lowest=3, highest=9) == 3
    assert missing(1 / (n - 4), level=0, lowest=4, highest=9) == "no integer from 4 to 9 is enough"
    assert least(n * (n - 9) + 8, k - n, level=5) == 5
    # e^n (n − 6)² is 36 at n = 0, e⁵ at n = 5 and 0 at n = 6; the search tries one integer after the other.
    assert least(sp.exp(n) * (n - 6) ** 2, level=4) == 6
    assert least(sp.exp(n) * (n - 6) ** 2, level=40) == 0


def test_a_long_range_without_roots_is_not_gone_through_to_its_end(missing):
    assert "no other is tried" in missing(sp.exp(n) - sp.exp(-n) + 3, lowest=0, highest=10**7, level=-1)


def test_large_ranges_cost_nothing(least):
    # Trying the integers one by one would take too long.
    assert least(10**17 / (n + 1), k=10**18, x="1/10") == 10**18 - 1
    assert least(sp.Integer(10) ** 30 / (n + 1), highest=k**2, k=10**18, x="1/7") == 7 * 10**30 - 1


def test_json_has_an_integer_or_null(make_theorem):
    values = {
        "some": ValueLeast((k - n,), "n", x, sp.Integer(0), k),
        "none": ValueLeast((n,), "n", -x, sp.Integer(0), k),
    }
    theorem = make_theorem(CLAUSE, parameters=(N, K, X), values=values)
    found = check(theorem, {"n": 3, "k": 10, "x": "1/2"})
    data = json.loads(json.dumps(found.to_json()))
    assert data["values"]["some"] == 10 and data["values"]["none"] is None
    assert data["detail"].endswith("; none: no integer from 0 to 10 is enough")
    assert "\n  none = none: no integer from 0 to 10 is enough\n" in check_text(found)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (ValueLeast((k - n,), "m", x, sp.Integer(0), k), "value least: m is not a parameter of kind integer"),
        (ValueLeast((k - x,), "x", x, sp.Integer(0), k), "value least: x is not a parameter of kind integer"),
        (ValueLeast((k - n,), "n", n, sp.Integer(0), k), "n uses n, of which the least value is asked for"),
        (ValueLeast((k - n,), "n", x, sp.Integer(0), n + k), "k . n uses n, of which"),
        (ValueLargest((k, sp.asin(n))), "outside the language"),
        (ValueLeast((k - 0.1 * n,), "n", x, sp.Integer(0), k), "float"),
        (ValueLeast((k - n,), "n", sp.Float("0.1"), sp.Integer(0), k), "float"),
        (ValueLeast((k - n,), "n", x, sp.Integer(0), sp.asin(k)), "outside the language"),
    ],
)
def test_malformed_values_are_refused(make_theorem, value, message):
    with pytest.raises(TheoremError, match=message):
        make_theorem(CLAUSE, parameters=(N, K, X), values={"least": value})


def test_a_symbol_without_a_value_is_an_error(least):
    with pytest.raises(TheoremError, match="free has no value here"):
        least(k - n + sp.Symbol("free"))


def test_the_largest_is_exact_or_null(make_theorem):
    values = {
        "one": ValueLargest((x - n,)),
        "three": ValueLargest((n - x, x, n / 2)),
        "none": ValueLargest((sp.sqrt(x), n)),
    }
    theorem = make_theorem(CLAUSE, parameters=(N, K, X), values=values)
    found = check(theorem, {"n": 3, "k": 0, "x": "1/2"}).values
    assert found == {"one": Fraction(-5, 2), "three": Fraction(5, 2), "none": None}
