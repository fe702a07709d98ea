"""Sharpness of a bound, compared with values by hand, at chosen instances and at instances that a search finds."""

from fractions import Fraction

import pytest
import sympy as sp

import verify
from tests.verify.examples import example_of
from verify import (
    Bound,
    Enclosure,
    Hypothesis,
    Identity,
    Inequality,
    Parameter,
    Source,
    Statement,
    Theorem,
    TheoremError,
)
from verify.search.plans import plan
from verify.search.sharpness import sharpness

n = sp.Symbol("n", integer=True, positive=True)
x, y = sp.symbols("x y", real=True)
N = Parameter("n", "integer", "a size", minimum=1)
X = Parameter("x", "rational", "a size", above=0)
WORD = Parameter("kind", "word", "a word", words=("one", "two"))


def theorem(relation, bound=None, parameters=(N, X), hypotheses=(), clauses=(), **more):
    claim = Inequality("claim", relation)
    statement = Statement(parameters, (claim, *clauses), hypotheses, **more)
    bounds = {} if bound is None else {"claim": bound}
    return Theorem(
        "user.t", "t", Source("t", "derived here"), statement, example=example_of(statement.parameters), bounds=bounds
    )


def at(made, instance, label="claim"):
    """Return the sharpness of a clause whose nearest miss is a given instance."""
    statement = made.statement
    relations = [h.relation for h in statement.hypotheses if h.relation is not None]
    found = plan(statement.parameters, relations, {})
    return sharpness(made, found, {label: instance})


# The claim x ≤ n x is 1/2 ≤ 3/2 at n = 3, x = 1/2.
LOOSE = sp.Le(x, n * x, evaluate=False)
HERE = {"n": 3, "x": Fraction(1, 2)}


def test_both_sides_and_their_ratio():
    (found,) = at(theorem(LOOSE), HERE)
    assert (found.clause, found.instance) == ("claim", HERE)
    assert (found.claimed, found.reached, found.ratio) == (Fraction(3, 2), Fraction(1, 2), Fraction(1, 3))
    assert (found.best_proved, found.free, found.vacuous, found.bites) == (None, None, None, None)
    # The same relation, written the other way round.
    assert at(theorem(sp.Ge(n * x, x, evaluate=False)), HERE) == (found,)


def test_numbers_that_are_not_rational_are_enclosed():
    (found,) = at(theorem(sp.Le(x, n * sp.exp(x))), {"n": 1, "x": Fraction(1)})
    assert found.reached == 1 and isinstance(found.claimed, Enclosure)
    assert found.claimed.lower <= Fraction("2.71828182845904523536028747135266249775724709") <= found.claimed.upper
    assert 0 < found.claimed.upper - found.claimed.lower < Fraction(1, 10**16)
    assert found.ratio.lower <= Fraction("0.36787944117144232159552377016146086744581113") <= found.ratio.upper


@pytest.mark.parametrize(
    ("free", "vacuous", "along", "bites"),
    [
        # n/2 < 5/4 holds up to n = 2, and 3x < 5/4 below x = 5/12.
        (sp.Rational(5, 4), True, "n", "1 <= n <= 2"),
        (sp.Rational(5, 4), True, "x", "0 < x < 5/12"),
        (sp.Integer(2), False, "n", "1 <= n <= 3"),
        # If the two bounds are equal here, the claim is vacuous.
        (sp.Rational(3, 2), True, "n", "1 <= n <= 2"),
        (sp.Rational(1, 2), True, "n", "no value of n"),
        # 3x < 1 + x² holds below (3 − √5)/2 = 0.381966 and above (3 + √5)/2 = 2.618034.
        (1 + x**2, True, "x", "0 < x < 0.381966 or 2.618034 < x"),
        (n * x + 1, False, "n", "1 <= n <= 1000000000000000000"),
        # Neither side depends on the parameter.
        (n * x - 1, True, "x", "no value of x"),
        (n * x + 1, False, "x", "0 < x"),
        (sp.Rational(5, 4), True, None, None),
    ],
)
def test_where_a_bound_bites(free, vacuous, along, bites):
    (found,) = at(theorem(LOOSE, Bound(free=free, along=along)), HERE)
    assert (found.vacuous, found.bites) == (vacuous, bites)
    assert found.free == free.subs({n: 3, x: sp.Rational(1, 2)})


def test_a_bound_bites_nowhere_or_everywhere_where_the_parameter_does_not_matter():
    other = (N, X, Parameter("y", "rational", "another", above=0))
    for free, text in ((sp.Integer(2), "0 < y"), (sp.Integer(1), "no value of y")):
        made = theorem(LOOSE, Bound(free=free, along="y"), parameters=other)
        (found,) = at(made, HERE | {"y": Fraction(1)})
        assert found.bites == text


def test_a_bound_bites_in_scope_only():
    # At x = 1/2, both n/2 < 5/2 and n x ≤ 2 hold for n ≤ 4, for either form of the hypothesis.
    for relation in (sp.Le(n * x, 2), sp.Le(x, 2 / n)):
        made = theorem(LOOSE, Bound(free=sp.Rational(5, 2), along="n"), hypotheses=(Hypothesis("small", relation),))
        (found,) = at(made, HERE)
        assert found.bites == "1 <= n <= 4"
        by_x = theorem(LOOSE, Bound(free=sp.Rational(5, 2), along="x"), hypotheses=(Hypothesis("small", relation),))
        assert at(by_x, HERE)[0].bites == "0 < x <= 2/3"


def test_the_best_proved_bound():
    (found,) = at(theorem(LOOSE, Bound(proved=x * (n + 1) / 2)), HERE)
    assert found.best_proved == 1 and found.free is None
    # The definitions of the statement are substituted.
    (found,) = at(theorem(LOOSE, Bound(proved=y), definitions={y: x * (n + 2)}), HERE)
    assert found.best_proved == Fraction(5, 2)


def test_a_false_bound_given_as_proved_is_an_error():
    with pytest.raises(TheoremError, match="the bound given as proved, x/2, does not hold at n = 3, x = 1/2"):
        at(theorem(LOOSE, Bound(proved=x / 2)), HERE)


def test_clauses_that_bound_nothing_are_skipped():
    clauses = (
        Inequality("equal", sp.Eq(x, x * n / n * 1 + 0 * y, evaluate=False)),
        Identity("same", (x + 1) ** 2, x**2 + 2 * x + 1),
        Inequality("negative", sp.Ge(x, -1, evaluate=False)),
        Inequality("zero", sp.Ge(x, 0, evaluate=False)),
        Inequality("undefined", sp.Ge(1 / (x - sp.Rational(1, 2)), 0)),
        Inequality("other", sp.Le(x, 2 * x, evaluate=False)),
    )
    made = theorem(LOOSE, clauses=clauses)
    found = plan(made.statement.parameters, [], {})
    results = sharpness(made, found, {clause.label: HERE for clause in made.statement.clauses})
    assert [result.clause for result in results] == ["claim", "other"]
    assert sharpness(made, found, {}) == ()


def test_words_decide_which_bound_it_is():
    from verify import Case

    kind = sp.Symbol("kind")
    made = theorem(sp.Le(x, n * x * Case(kind, 1, 2)), parameters=(N, X, WORD))
    ratios = [at(made, HERE | {"kind": word})[0].ratio for word in WORD.words]
    assert ratios == [Fraction(1, 3), Fraction(1, 6)]


def test_a_sharp_bound_is_found_sharp():
    made = theorem(sp.Ge(x + 1 / x, 2), parameters=(X,))
    result = verify.explore(made, max_examples=200)
    (found,) = result.sharpness
    assert result.counterexample is None
    assert found.instance == {"x": 1} and (found.claimed, found.reached, found.ratio) == (2, 2, 1)
    json = result.to_json()["sharpness"][0]
    assert (json["clause"], json["instance"]["x"], json["ratio"], json["bites"]) == ("claim", 1, 1, None)


def test_a_bound_that_loses_a_factor_two_is_found_so():
    made = theorem(sp.Ge(x + 1 / x, 1), parameters=(X,))
    (found,) = verify.explore(made, max_examples=200).sharpness
    assert Fraction(1, 2) - Fraction(1, 10**6) < found.ratio <= Fraction(1, 2)


def test_there_is_none_where_something_was_dropped_or_found():
    hypothesis = Hypothesis("large", sp.Ge(x, 1))
    made = theorem(sp.Ge(x + 1, 2), parameters=(X,), hypotheses=(hypothesis,))
    assert verify.explore(made, max_examples=30).sharpness != ()
    dropped = verify.explore(made, drop=["large"])
    assert dropped.counterexample is not None and dropped.sharpness == ()


@pytest.mark.parametrize(
    ("label", "bound", "message"),
    [
        ("other", Bound(proved=x), "bound other: no clause with this label"),
        ("same", Bound(proved=x), "bound same: no clause with this label is an inequality"),
        ("equal", Bound(proved=x), "bound equal: no clause with this label is an inequality"),
        ("claim", Bound(free=x, along="m"), "bound claim: m is not a parameter"),
        ("claim", Bound(free=x, along="kind"), "bound claim: kind is not a parameter that has a range"),
        ("claim", Bound(proved=x, along="n"), "bound claim: along n, there is no free bound"),
        ("claim", Bound(proved=y), "bound claim uses y, which the statement does not introduce"),
        ("claim", Bound(free=sp.Symbol("m") + 1), "bound claim uses m, which the statement does not introduce"),
        ("claim", Bound(free=0.5 * x), "outside the language"),
        ("claim", Bound(free=sp.asin(x)), "outside the language"),
    ],
)
def test_a_bound_that_does_not_fit_is_refused(label, bound, message):
    clauses = (
        Inequality("claim", LOOSE),
        Identity("same", (x + 1) ** 2, x**2 + 2 * x + 1),
        Inequality("equal", sp.Eq(x, 2)),
    )
    statement = Statement((N, X, WORD), clauses)
    with pytest.raises(TheoremError, match=message):
        Theorem(
            "user.t",
            "t",
            Source("t", "derived here"),
            statement,
            example=example_of(statement.parameters),
            bounds={label: bound},
        )
