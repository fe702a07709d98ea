"""Functions, sums, products and recursions in deductions: accepted where they have values, refused elsewhere."""

import pytest
import sympy as sp

from tests.verify.rechecker.deduction.trees import (
    NOTHING,
    cases,
    data,
    fact,
    induction,
    known,
    total,
    verdict as plain_verdict,
)
from verify.claims.line import statement_of

x, y, n = *sp.symbols("x y", real=True), sp.Symbol("n", integer=True, nonnegative=True)


def restated(tree, symbols):
    """Return a tree in which each symbol has the assumptions of the statement's symbol with the same name."""
    if isinstance(tree, dict):
        return {key: restated(part, symbols) for key, part in tree.items()}
    if isinstance(tree, list) and tree[:1] == ["Symbol"]:
        return symbols.get(tree[1], tree)
    return [restated(part, symbols) for part in tree] if isinstance(tree, list) else tree


def of_the_line(line, tree):
    """Return a tree with the symbols of a line."""
    return restated(tree, {symbol.name: data(symbol) for symbol in statement_of(line).symbols()})


def verdict(line, tree, relations=(), **instance):
    """Return the verdict on a deduction of a line, whose tree has the line's symbols."""
    return plain_verdict(line, of_the_line(line, tree), relations, **instance)


ACCEPTED = {
    # S(n + 1) = S(n) + (n + 1), and S(0) has no term.
    "a sum": ("Sum(k, (k, 1, n)) == n*(n + 1)/2 for integer n >= 0", induction(total((1, [1]))), {"n": 3}),
    "a sum to an end beyond": (
        "Sum(k, (k, 1, n + 1)) - Sum(k, (k, 1, n)) == n + 1 for integer n >= 0",
        NOTHING,
        {"n": 3},
    ),
    "a product": (
        "Product(k/(k + 1), (k, 1, n)) == 1/(n + 1) for integer n >= 0",
        induction(total(((n + 1) / (n + 2), [1]))),
        {"n": 2},
    ),
    "a factorial": ("factorial(n + 2) == (n + 2)*(n + 1)*factorial(n) for integer n >= 0", NOTHING, {"n": 2}),
    "a factorial below": ("factorial(n) == n*factorial(n - 1) for integer n >= 1", NOTHING, {"n": 2}),
    "a binomial of few": ("binomial(n, 2) == n*(n - 1)/2 for integer n >= 0", NOTHING, {"n": 1}),
    "a binomial": ("binomial(n + 2, n) == (n + 1)*(n + 2)/2 for integer n >= 0", NOTHING, {"n": 2}),
    "a recursion": ("x == 3*t along x -> x + 3 from 0", induction(total((1, [1])), symbol="t"), {"t": 2}),
    "a recursion that counts": (
        "2*x == t*(t - 1) along x -> x + t from 0",
        induction(total((1, [1])), symbol="t"),
        {"t": 2},
    ),
    "an absolute value": ("x <= abs(x)", cases(x, NOTHING, total((2, [0]))), {"x": -1}),
    "the factors of an absolute value": (
        "abs(x*y**2 - x) == abs(x)*(1 - y**2) if y**2 < 1",
        NOTHING,
        {"x": -1, "y": 0},
        [0],
    ),
    "the divisors of an absolute value": ("abs(x/(1 + y**2)) == abs(x)/(1 + y**2)", NOTHING, {"x": -1, "y": 2}),
    "a maximum": ("x <= Max(x, 0)", cases(x, NOTHING, total((1, [0]))), {"x": -1}),
    "a sign": (
        "abs(x) == x*sign(x)",
        cases(x, NOTHING, NOTHING, at=total((-1, [0]))),
        {"x": -1},
    ),
    "hyperbolic functions": ("cosh(x)**2 - sinh(x)**2 == 1", NOTHING, {"x": 1}),
    "a sine": ("sin(x)**2 <= 1", known("circle", x, then=total((-1, [0]), (sp.cos(x) ** 2, []))), {"x": 1}),
    "a cosine": ("cos(x) <= 1", fact("cos_above", x), {"x": 1}),
    "a floor": ("floor(x) <= x", fact("floor_above", x), {"x": 1}),
    "a tangent of exp": ("exp(y)*(1 + x - y) <= exp(x)", fact("exp_from", x, y), {"x": 1, "y": 2}),
    "a tangent of log": (
        "log(x) <= log(y) + x/y - 1 for x > 0, y > 0",
        fact("log_from", x, y),
        {"x": 1, "y": 2},
    ),
    "a power that rises": ("1 <= (1 + x)**n for x >= 0, integer n >= 0", fact("rises", 1 + x, 1, n), {"x": 1, "n": 2}),
    "three terms": (
        "1 + n*x + n*(n - 1)*x**2/2 <= (1 + x)**n for x >= 0, integer n >= 0",
        fact("three_terms", x, n),
        {"x": 1, "n": 2},
    ),
    "an integer": ("n <= n**2 for integer n >= 0", fact("integer", n), {"n": 2}),
    "an integer of any sign": ("n - 3 <= (n - 3)**2 for integer n >= 0", fact("integer", n - 3), {"n": 2}),
    "an exponent with a whole part": ("exp(n/(n + 1)) == E*exp(-1/(n + 1)) for integer n >= 0", NOTHING, {"n": 2}),
    "a power of a product": (
        "(6*(n + 1)*exp(n))**n == 6**n*(n + 1)**n*exp(n**2) for integer n >= 0",
        NOTHING,
        {"n": 2},
    ),
    "a power of a quotient": ("((n + 1)/n)**n*n**n == (n + 1)**n for integer n >= 1", NOTHING, {"n": 2}),
    "an exponent that is a power": ("x**(2**(n + 1)) == (x**(2**n))**2 for integer n >= 0", NOTHING, {"n": 2, "x": -2}),
    "a floor above": ("x - 1 < floor(x)", fact("floor_below", x), {"x": 1}),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_functions_are_accepted(name):
    line, tree, instance, *relations = ACCEPTED[name]
    found = verdict(line, tree, *relations, **instance)
    assert (found.evidence, found.why) == ("proved", "")


REFUSED = {
    # Each claim is false, has no value somewhere, or is not shown by this tree.
    "a wrong sum": ("Sum(k, (k, 1, n)) == n*(n + 2)/2 for integer n >= 0", induction(total((1, [1]))), {"n": 0}),
    "a term without a value": (
        "Sum(1/(k - 3), (k, 1, n)) == Sum(1/(k - 3), (k, 1, n)) for integer n >= 1",
        NOTHING,
        {"n": 1},
    ),
    "a term that is divided by 0 at first": (
        "Sum(1/k, (k, 0, n)) == Sum(1/k, (k, 0, n)) for integer n >= 0",
        NOTHING,
        {"n": 1},
    ),
    "a logarithm of a term": (
        "Sum(log(k - 1), (k, 1, n)) == Sum(log(k - 1), (k, 1, n)) for integer n >= 1",
        NOTHING,
        {"n": 1},
    ),
    # If n + 1 < 5, both sums are empty, and their difference is not the term n + 1.
    "a sum before its first term": (
        "Sum(k, (k, 5, n + 1)) == Sum(k, (k, 5, n)) + n + 1 for integer n >= 0",
        NOTHING,
        {"n": 1},
    ),
    "a sum to no integer": ("Sum(1, (k, 1, x)) <= x for x >= 1", NOTHING, {"x": 1}),
    "a sum up to a negative number": (
        "Sum(1, (k, 0, n)) == n + 1 for integer n >= -3",
        induction(total((1, [1]))),
        {"n": 0},
    ),
    "a factorial of a negative number": ("factorial(n - 2) == factorial(n - 2) for integer n >= 1", NOTHING, {"n": 3}),
    "a factorial of no integer": ("factorial(x) == factorial(x) for x >= 1", NOTHING, {"x": 3}),
    "a binomial beyond": ("binomial(n, k) >= 1 for integer n >= 0, integer k >= 0", NOTHING, {"n": 3, "k": 1}),
    "a binomial of a real number": ("binomial(x, 2) == x*(x - 1)/2 for x >= 0", NOTHING, {"x": 3}),
    "a binomial of a negative number": ("binomial(n, 2) == n*(n - 1)/2 for integer n >= -3", NOTHING, {"n": 3}),
    "a step without a value": ("x == x along x -> 1/x from 1", NOTHING, {"t": 1}),
    "fewer steps than none": ("x == 3*t along x -> x + 3 from 1", induction(total((1, [1])), symbol="t"), {"t": 2}),
    "an absolute value of any sign": ("abs(x) == x", NOTHING, {"x": 1}),
    "a factor of any sign in an absolute value": ("abs(x*y**2 - x) == abs(x)*(1 - y**2)", NOTHING, {"x": 1, "y": 0}),
    "a divisor of any sign in an absolute value": ("abs(x/y) == abs(x)/y if y**2 > 1", NOTHING, {"x": 1, "y": 2}),
    "a maximum of any two": ("Max(x, y) == x", NOTHING, {"x": 1, "y": 0}),
    "a sign at 0": ("sign(x) == 1 for x >= 0", NOTHING, {"x": 1}),
    "pieces": ("Piecewise((1, x < 0), (2, True)) == 2", NOTHING, {"x": 1}),
    "a tangent": ("tan(x) == tan(x)", NOTHING, {"x": 1}),
    "a floor as the identity": ("floor(x) == x", NOTHING, {"x": 1}),
    "a tangent of log at 0": ("log(x) <= x - 1 for x >= 0", fact("log_from", x, 1), {"x": 1}),
    "a tangent of log from 0": ("0 <= x for x >= 0", fact("log_from", 1, x), {"x": 1}),
    "a tangent of exp as a strict one": ("1 + x < exp(x)", fact("exp_from", x, 0), {"x": 1}),
    "a power that falls": ("1 <= (1 - x)**n for x >= 0, integer n >= 0", fact("rises", 1 - x, 1, n), {"x": 0, "n": 1}),
    "a power of what may be negative": (
        "x**n <= 1 for x <= 1, integer n >= 0",
        fact("rises", 1, x, n),
        {"x": 0, "n": 1},
    ),
    "a power of no integer": ("1 <= (1 + x)**y for x >= 0, y >= 0", fact("rises", 1 + x, 1, y), {"x": 0, "y": 1}),
    "a power of an integer that may be negative": (
        "1 <= (1 + x)**(n - 1) for x >= 0, integer n >= 0",
        fact("rises", 1 + x, 1, n - 1),
        {"x": 0, "n": 1},
    ),
    "three terms below": (
        "1 - n*x + n*(n - 1)*x**2/2 <= (1 - x)**n for x >= 0, integer n >= 0",
        fact("three_terms", -x, n),
        {"x": 0, "n": 2},
    ),
    "three terms with no integer": (
        "1 + y*x + y*(y - 1)*x**2/2 <= (1 + x)**y for x >= 0, y >= 0",
        fact("three_terms", x, y),
        {"x": 1, "y": 2},
    ),
    "no integer": ("x <= x**2", fact("integer", x), {"x": 2}),
    "half an integer": ("n/2 <= n**2/4 for integer n >= 0", fact("integer", n / 2), {"n": 2}),
    "another whole part": ("exp(n/(n + 1)) == exp(-1/(n + 1)) for integer n >= 0", NOTHING, {"n": 2}),
    "a power of a negative number": ("(-x)**n == x**n for integer n >= 0", NOTHING, {"n": 1, "x": 1}),
    "a power of a sum": ("(2 + 2*x)**n == 2**n + 2**n*x**n for integer n >= 0", NOTHING, {"n": 1, "x": 1}),
    "an exponent that is a power of a half": ("x**(2**(-n)) == x for integer n >= 0", NOTHING, {"n": 0, "x": -1}),
    "an exponent that may be 0": ("x**(y**n) == x*x**(y**n - 1) for integer n >= 0", NOTHING, {"n": 0, "x": 1, "y": 0}),
    "a slope of a floor": (
        "floor(x) <= x for x >= 0",
        {
            "rule": "slope",
            "in": "x",
            "as": "t",
            "from": data(0),
            "side": "above",
            "strict": "start",
            "value": NOTHING,
            "start": NOTHING,
            "slope": NOTHING,
        },
        {"x": 1},
    ),
}


WHY = {
    "a wrong sum": "the sum is not",
    "a term without a value": "sign of a divisor",
    "a term that is divided by 0 at first": "sign of a divisor",
    "a logarithm of a term": "the argument of a log",
    "a sum before its first term": "a number of terms",
    "a sum to no integer": "to be an integer",
    "a sum up to a negative number": "the sum is not",
    "a factorial of a negative number": "a number of terms",
    "a factorial of no integer": "to be an integer",
    "a binomial beyond": "a number of terms",
    "a binomial of a real number": "to be an integer",
    "a binomial of a negative number": "to be an integer",
    "a step without a value": "sign of a divisor",
    "fewer steps than none": "the sum is not",
    "an absolute value of any sign": "the sum is not",
    "a factor of any sign in an absolute value": "the sum is not",
    "a divisor of any sign in an absolute value": "sign of a divisor",
    "a maximum of any two": "the sum is not",
    "a sign at 0": "the sum is not",
    "pieces": "which of some pieces",
    "a tangent": "sign of a divisor",
    "a floor as the identity": "the sum is not",
    "a tangent of log at 0": "the argument of a log",
    "a tangent of log from 0": "the argument of a log",
    "a tangent of exp as a strict one": "do not show the sign",
    "a power that falls": "a base is not shown",
    "a power of what may be negative": "a base is not shown",
    "a power of no integer": "an exponent is not shown",
    "a power of an integer that may be negative": "an exponent is not shown",
    "three terms below": "a base is not shown",
    "three terms with no integer": "an exponent is not shown",
    "no integer": "to be an integer",
    "half an integer": "to be an integer",
    "another whole part": "the sum is not",
    "a power of a negative number": "the sum is not",
    "a power of a sum": "the sum is not",
    "an exponent that is a power of a half": "the argument of a log",
    "an exponent that may be 0": "the argument of a log",
    "a slope of a floor": "cannot be differentiated",
}


@pytest.mark.parametrize("name", REFUSED)
def test_functions_without_a_value_or_a_proof_are_refused(name):
    line, tree, instance = REFUSED[name]
    found = verdict(line, tree, **instance)
    assert found.evidence is None and WHY[name] in found.why


def test_each_refusal_has_its_reason():
    assert WHY.keys() == REFUSED.keys()


def test_a_bound_symbol_is_its_own_in_a_sum_of_sums():
    # The inner index j begins at 1, and 1/(j − 3) has no value at j = 3, although the outer k is at least 5.
    line = "Sum(Sum(1/(j - 3), (j, 1, k)), (k, 5, n)) == Sum(Sum(1/(j - 3), (j, 1, k)), (k, 5, n)) for integer n >= 5"
    assert verdict(line, NOTHING, ["n"], n=6).evidence is None
    inside = "Sum(Sum(1/j, (j, 1, k)), (k, 5, n)) == Sum(Sum(1/j, (j, 1, k)), (k, 5, n)) for integer n >= 5"
    assert verdict(inside, NOTHING, ["n"], n=6).evidence == "proved"


def test_a_sum_in_a_sum_depends_on_the_outer_symbol():
    # If the inner sum were the same atom for each k, the terms at n + 1 and n + 2 would be equal.
    line = "Sum(Sum(j, (j, 1, k)), (k, 1, n + 2)) - Sum(Sum(j, (j, 1, k)), (k, 1, n)) == {} for integer n >= 0"
    wrong = line.format("2*Sum(j, (j, 1, n + 1))")
    right = line.format("2*Sum(j, (j, 1, n + 1)) + n + 2")
    assert verdict(wrong, NOTHING, n=1).evidence is None
    assert verdict(right, NOTHING, n=1).evidence == "proved"


def test_a_fact_shows_the_sign_of_what_an_exponential_is_multiplied_by():
    proof = total((1 / (3 - x), []))
    found = verdict("0 < 1/(3 - x) if 0 < 3*exp(x) - x*exp(x)", proof, [0], x=1)
    assert (found.evidence, found.why) == ("proved", "")
    # y may be negative, and the second hypothesis may hold with equality.
    for line in ("0 < 1/(3 - x) if 0 < 3*y - x*y", "0 < 1/(3 - x) if 0 <= 3*exp(x) - x*exp(x)"):
        found = verdict(line, proof, [0], x=1, **({"y": 1} if "y" in line else {}))
        assert found.evidence is None and "sign of a divisor" in found.why
