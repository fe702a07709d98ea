"""Textbook inequalities are deduced and re-checked, false variants are not; work, not time, limits a search."""

import os
import subprocess
import sys

import pytest

from tests.layout import ROOT
from verify.claims.line import example_of, statement_of
from verify.provers.deduction.proofs import deduction_proof
from verify.provers.deduction.scope import SpentError, Work
from verify.rechecker import Instance

WORK = 20_000
SCHUR = "x*(x - y)*(x - z) + y*(y - x)*(y - z) + z*(z - x)*(z - y)"
ROBINSON = " + ".join(f"{s}**2*({s}**2 - {t}**2)*({s}**2 - {u}**2)" for s, t, u in ("xyz", "yzx", "zxy"))
CIRTOAJE = "3*(x**3*y + y**3*z + z**3*x) <= (x**2 + y**2 + z**2)**2"
TRIANGLE = "x**2*y*(x - y) + y**2*z*(y - z) + z**2*x*(z - x)"
VARIANCE = "p*u**2 + q*v**2 + (1 - p - q)*w**2 - (p*u + q*v + (1 - p - q)*w)**2"
HELLINGER = "((sqrt(p) - sqrt(q))**2 + (sqrt(1 - p) - sqrt(1 - q))**2)"
ENTROPY = "p*log(p/q) + (1 - p)*log((1 - p)/(1 - q))"
NESBITT = "x/(y + z) + y/(z + x) + z/(x + y)"


def slow(line):
    """Return a line for `make audit` only: its search takes more than a second and a half."""
    return pytest.param(line, marks=pytest.mark.audit)


def searched(line, work=WORK):
    """Return the proof that a search finds anew, or None."""
    statement = statement_of(line)
    relation = statement.claims[0].relation
    return deduction_proof.__wrapped__(relation, statement, work, hypotheses=True)


def accepted(line, proof):
    """Return the evidence that the re-checker gives a proof of a line at an instance in scope."""
    statement = statement_of(line)
    instance = {name: str(value) for name, value in example_of(statement).items()}
    stated = {"label": "claim", "outcome": "verified", "evidence": "proved", "proof": proof}
    return Instance(statement.to_data(), instance).verdict(statement.claims[0].to_data(), stated).evidence


@pytest.mark.parametrize(
    "line",
    [
        "2*x*y <= x**2 + y**2",
        "1 + n*x <= (1 + x)**n for x >= -1, integer n >= 0",
        "1 + x <= exp(x)",
        "log(1 + x**2) <= x**2",
        "exp(-s*m) <= d if m >= log(1/d)/s for s > 0, 0 < d < 1, m > 0",
        "N*(1 - s)**m <= d if m >= log(N/d)/s for 0 < s < 1, 0 < d < 1, integer m >= 1, N >= 1",
        "2*exp(-2*n*s**2) <= d if n >= log(2/d)/(2*s**2) for s > 0, 0 < d < 1, integer n >= 1",
        "abs(x) <= abs(a)*r**t along x -> r*x from a for r >= 0",
        "abs(x) <= abs(a)*(1 - eta*m)**t along x -> x - eta*m*x from a if eta*m < 1 for eta > 0, m > 0",
        "y <= f - eta*s/2 if y <= f - eta*s + L*eta**2*s/2, eta*L <= 1 for eta >= 0, s >= 0, L > 0",
        "sqrt(x + y) <= sqrt(x) + sqrt(y) for x >= 0, y >= 0",
        "exp(t) - 1 - t <= t**2/(2*(1 - t/3)) for 0 <= t < 3",
        f"{NESBITT} >= 3/2 for x > 0, y > 0, z > 0",
        f"{SCHUR} >= 0 for x >= 0, y >= 0, z >= 0",
        "n**2 <= 2**n for integer n >= 4",
        "(1 - 1/E)*x <= 1 - exp(-x) for 0 <= x <= 1",
        "x**(n + 1) <= x**n for 0 <= x <= 1, integer n >= 0",
        "log(x) <= sqrt(x) - 1/sqrt(x) for x >= 1",
        "x**2 + y**2 >= 1/2 if x + y == 1",
        "exp(-x - x**2) <= 1 - x for 0 <= x <= 1/2",
        "6*a*b*c*d*e*f <= a**6 + b**6 + c**6 + d**6 + e**6 + f**6",
        "8*x*y <= x**8 + 7*y**(8/7) for x >= 0, y >= 0",
        f"{ROBINSON} >= 0",
        CIRTOAJE,
        f"{TRIANGLE} >= 0 if x < y + z, y < z + x, z < x + y for x > 0, y > 0, z > 0",
        f"{VARIANCE} <= (u**2 + v**2 + w**2)/2 if p + q <= 1 for p >= 0, q >= 0",
        "x*y + (x + y)*(1 - x - y) - 2*x*y*(1 - x - y) <= 7/27 if x + y <= 1 for x >= 0, y >= 0",
        f"{HELLINGER} <= 2*abs(p - q) for 0 <= p <= 1, 0 <= q <= 1",
        f"abs(p - q) <= sqrt(h)*sqrt(1 - h/4) if h == {HELLINGER} for 0 <= p <= 1, 0 <= q <= 1",
        "abs(x - z) <= a + b if abs(x - y) <= a, abs(y - z) <= b",
        "x + y <= 2*M if Max(x, y) <= M",
        "2*m < x + y if m < Min(x, y)",
        "abs(x)/(1 + abs(x)) + abs(y)/(1 + abs(y)) >= abs(x + y)/(1 + abs(x + y))",
        "sqrt(x) <= sqrt(y) if x <= y for x >= 0, y >= 0",
        "x**(1/3) <= y**(1/3) if x <= y for x >= 0, y >= 0",
        "1 + x/2 - x**2/8 <= sqrt(1 + x) for x >= 0",
        "sqrt(1 + x) <= 1 + x/2 for x >= -1",
        "abs(sqrt(x) - sqrt(y)) <= sqrt(abs(x - y)) for x >= 0, y >= 0",
        "Piecewise((x**2/2, abs(x) <= d), (d*(abs(x) - d/2), True)) <= x**2/2 for d > 0",
        slow("abs(sign(x)*Max(abs(x) - l, 0) - sign(y)*Max(abs(y) - l, 0)) <= abs(x - y) for l >= 0"),
        "sqrt(x - 2*sqrt(x - 1)) == abs(sqrt(x - 1) - 1) for x >= 1",
        "sqrt(x + 2*sqrt(x - 1)) + sqrt(x - 2*sqrt(x - 1)) == 2 for 1 <= x <= 2",
        "atan(x) + atan(1/x) == -pi/2 for x < 0",
        "2*atan(x) == atan(2*x/(1 - x**2)) for -1 < x < 1",
        "cos(x) + cos(y) == 2*cos((x + y)/2)*cos((x - y)/2)",
        "sin(2*x) == 2*tan(x)/(1 + tan(x)**2) if cos(x) > 0",
        "Sum(sin(k*x), (k, 1, n))*sin(x/2) == sin(n*x/2)*sin((n + 1)*x/2) for integer n >= 1",
        "sin(x)*sin(y) <= (1 - cos(x + y))/2",
        "floor(x + y) <= floor(x) + floor(y) + 1",
        "floor(x) + floor(x + 1/3) + floor(x + 2/3) == floor(3*x)",
        "ceiling(n/2) == floor((n + 1)/2) for integer n >= 0",
        "floor(floor(x)/2) == floor(x/2)",
        "n < (floor(sqrt(n)) + 1)**2 for integer n >= 0",
        "k*binomial(n, k) == n*binomial(n - 1, k - 1) if k <= n for integer n >= 1, integer k >= 1",
        "Limit(((a**(1/n) + b**(1/n))/2)**n, n, oo) == sqrt(a*b) for a > 0, b > 0",
        "x + 1 <= Limit((1 + x/n)**n, n, oo)",
        "Sum(k*binomial(n, k)*p**k*(1 - p)**(n - k), (k, 0, n)) == n*p for 0 <= p <= 1, integer n >= 1",
        "Sum(binomial(n, k)**2, (k, 0, n)) == binomial(2*n, n) for integer n >= 0",
        "Sum((-1)**k*binomial(n, k), (k, 0, n)) == 0 for integer n >= 1",
        "Sum(n - k, (k, 1, n)) == n*(n - 1)/2 for integer n >= 1",
        "Sum(1/(k*(k + 1)), (k, n, 2*n)) <= 1/n for integer n >= 1",
        # Chains of slopes, with divisions in between, and from a stationary point.
        "3*x/(3 + x**2) <= tanh(x) for x >= 0",
        "3*sin(x) <= x*(2 + cos(x)) for x >= 0",
        "3*x <= 2*sin(x) + tan(x) if x < pi/2 for x >= 0",
        "-0.2785 <= x/(1 + exp(-x))",
        # Functions that are concave between two ends.
        "2*x/pi <= sin(x) if x <= pi/2 for x >= 0",
        # Logarithms, exponentials and roots of both sides, and means.
        slow("exp(2*x/3)/3 + 2*exp(-x/3)/3 <= exp(x**2/8)"),
        "exp(-1/E) <= x**x for x > 0",
        slow("cos(x) <= (sin(x)/x)**3 if x < pi/2 for x > 0"),
        "a*b <= a**p/p + (p - 1)*b**(p/(p - 1))/p for a > 0, b > 0, p > 1",
        "x**t*y**(1 - t) <= t*x + (1 - t)*y for x > 0, y > 0, 0 < t < 1",
        "x**t*y**(1 - t) <= t*x + (1 - t)*y for x > 0, y > 0, 0 <= t <= 1",
        "x*y <= x**p/p + y**q/q if 1/p + 1/q == 1 for p > 1, q > 1, x > 0, y > 0",
        "x**a*y**b*z**c <= a*x + b*y + c*z if a + b + c == 1 for a > 0, b > 0, c > 0, x > 0, y > 0, z > 0",
        # Claims on a box.
        "exp(x)*cos(x) <= 1.56 for 0 <= x <= 1",
        "exp(-x*y)*sin(x + y) <= 1.1 for 0 <= x <= 2, 0 <= y <= 2",
        # Proofs with multiples of equations.
        "3*x + 4*y <= 5 if x**2 + y**2 == 1",
        "x*y*z <= 1/(3*sqrt(3)) if x**2 + y**2 + z**2 == 1",
        "x + y <= 2 if x**3 + y**3 == 2 for x >= 0, y >= 0",
        "3*sin(x) + 4*cos(x) <= 5.01",
        # Tangents of logarithms at one point.
        "a*log(a/b) + c*log(c/d) >= (a + c)*log((a + c)/(b + d)) for a, b, c, d > 0",
        f"p*x + (1 - p)*y <= log(q*exp(x) + (1 - q)*exp(y)) + {ENTROPY} for 0 < p < 1, 0 < q < 1",
        "p*log(p/a) + q*log(q/b) + (1-p-q)*log((1-p-q)/(1-a-b)) >= 0 if p + q < 1, a + b < 1 for p, q, a, b > 0",
        "-p*log(p) - q*log(q) - r*log(r) <= log(3) if p + q + r == 1 for p, q, r > 0",
        "p*log(p/a) + q*log(q/b) + r*log(r/c) >= 0 if p + q + r == 1, a + b + c == 1 for p, q, r, a, b, c > 0",
        "(1 - x/n)**n <= exp(-x) if x <= n for x >= 0, integer n >= 1",
        "Piecewise((log(2), m <= 0), (0, True)) <= log(1 + exp(-m))",
        # Logarithms of both sides.
        "x**(1/x) <= exp(1/E) for x > 0",
        "exp(-l*t + l**2*s**2/2) >= exp(-t**2/(2*s**2)) for s > 0",
        "exp(-n*e**2/(v + b*e)) <= d if n >= (v + b*e)*log(1/d)/e**2 for e, v, b > 0, 0 < d < 1, integer n >= 1",
        "abs(x) - log(2) <= log(cosh(x))",
        "sqrt(T*log(N)/2) <= log(N)/eta + eta*T/8 for N > 1, T, eta > 0",
        # Divisors whose signs the facts show, products with a factor of known sign, and claims that follow at once.
        "abs(1 - 2*s/(L + m)) <= (L - m)/(L + m) for 0 < m <= s, s <= L",
        "Min(r*A, Max(1 - e, Min(r, 1 + e))*A) <= (1 + e)*A for A >= 0, r > 0, 0 < e < 1",
        "tanh(x + 0.044715*x**3) <= 1",
        "a <= c if a < b, b < c",
        "x <= (1 - m/L)**t along x -> (1 - m/L)*x from 1 for m, L > 0",
        # Choices, factorials and binomials.
        "abs(x + y)**3 <= 4*(abs(x)**3 + abs(y)**3)",
        "n*log(n) - n <= log(factorial(n)) for integer n >= 1",
        "binomial(n, 2) <= n**2/2 for integer n >= 0",
    ],
)
def test_a_textbook_inequality_is_deduced(line):
    proof = searched(line)
    assert proof is not None and accepted(line, proof) == "proved"


@pytest.mark.parametrize(
    "line",
    [
        slow("sin(x) <= x - x**3/6 + x**5/120 for x >= 0"),
        slow("4*p*(1 - p)*log(2) <= -p*log(p) - (1 - p)*log(1 - p) for 0 < p < 1"),
        slow("2*(p - q)**2 <= p*log(p/q) + (1 - p)*log((1 - p)/(1 - q)) for 0 < p < 1, 0 < q < 1"),
        "log(exp((a + x)/2) + exp((b + y)/2)) <= (log(exp(a) + exp(b)) + log(exp(x) + exp(y)))/2",
        "(n/k)**k <= binomial(n, k) if k <= n for integer n >= 1, integer k >= 1",
        "binomial(n, k) <= (E*n/k)**k if k <= n for integer n >= 1, integer k >= 1",
        "x**n - y**n <= n*(x - y) if y <= x, x <= 1 for x >= 0, y >= 0, integer n >= 1",
        "0 <= cos(pi/2**n) for integer n >= 1",
        "x == 2*cos(pi/2**(t + 2)) along x -> sqrt(2 + x) from sqrt(2)",
    ],
)
def test_a_harder_one_is_deduced_with_more_work(line):
    proof = searched(line, 2 * WORK)
    assert proof is not None and accepted(line, proof) == "proved"


@pytest.mark.parametrize(
    "line",
    [
        # Strict claims whose sides are equal somewhere.
        "2*x*y < x**2 + y**2",
        "1 + n*x < (1 + x)**n for x >= -1, integer n >= 0",
        "1 + x < exp(x)",
        "log(1 + x**2) < x**2",
        "sqrt(x + y) < sqrt(x) + sqrt(y) for x >= 0, y >= 0",
        "exp(t) - 1 - t < t**2/(2*(1 - t/3)) for 0 <= t < 3",
        f"{SCHUR} > 0 for x >= 0, y >= 0, z >= 0",
        # A constant or a bound that is too strong.
        "1 + n*x <= (1 + x)**n for x >= -3, integer n >= 0",
        "1 + x + x**2/2 <= exp(x)",
        "log(1 + x**2) <= 99*x**2/100",
        "(1 - s)**m <= d if m >= 99*log(1/d)/(100*s) for 0 < s < 1, 0 < d < 1, integer m >= 1",
        "exp(-s*m) <= 99*d/100 if m >= log(1/d)/s for s > 0, 0 < d < 1, m > 0",
        "abs(x) <= abs(a)*(1 - eta*m)**t along x -> x - eta*m*x from a if eta*m < 2 for eta > 0, m > 0",
        "y <= f - 51*eta*s/100 if y <= f - eta*s + L*eta**2*s/2, eta*L <= 1 for eta >= 0, s >= 0, L > 0",
        "exp(t) - 1 - t <= t**2/(2*(1 - t/4)) for 0 <= t < 3",
        f"{NESBITT} >= 151/100 for x > 0, y > 0, z > 0",
        f"{SCHUR} >= 0 for y >= 0, z >= 0",
        "n**2 <= 2**n for integer n >= 3",
        "(1 - 1/E)*x <= 1 - exp(-x) for 0 <= x <= 2",
        "6*a*b*c*d*e*f <= a**6 + b**6 + c**6 + d**6 + e**6 + 99*f**6/100",
        f"{ROBINSON} > 0",
        f"{ROBINSON} >= x**2*y**2*z**2/1000",
        CIRTOAJE.replace("3*(", "3.0001*("),
        f"{TRIANGLE} >= 0 if x < y + z, y < z + x for x > 0, y > 0, z > 0",
        f"{VARIANCE} <= 0.499*(u**2 + v**2 + w**2) if p + q <= 1 for p >= 0, q >= 0",
        f"{VARIANCE} <= (u**2 + v**2 + w**2)/2 if p + q <= 2 for p >= 0, q >= 0",
        "x*y + (x + y)*(1 - x - y) - 2*x*y*(1 - x - y) < 7/27 if x + y <= 1 for x >= 0, y >= 0",
        f"{HELLINGER} <= 1.999*abs(p - q) for 0 <= p <= 1, 0 <= q <= 1",
        f"abs(p - q) <= 0.999*sqrt(h)*sqrt(1 - h/4) if h == {HELLINGER} for 0 <= p <= 1, 0 <= q <= 1",
        "abs(x - z) < a + b if abs(x - y) <= a, abs(y - z) <= b",
        "0 <= x if 1 <= abs(x)",
        "x + y <= 2*M if Min(x, y) <= M",
        "2*m < x + y if m <= Min(x, y)",
        "sqrt(x) < sqrt(y) if x <= y for x >= 0, y >= 0",
        "sqrt(1 + x) < 1 + x/2 for x >= -1",
        "Piecewise((x**2/2, abs(x) <= d), (d*(abs(x) - d/2), True)) <= x**2/3 for d > 0",
        "abs(sign(x)*Max(abs(x) - l, 0) - sign(y)*Max(abs(y) - l, 0)) <= abs(x - y) for l >= -1",
        "atan(x) + atan(1/x) == pi/2 if x > -1",
        "2*atan(x) == atan(2*x/(1 - x**2)) for -1 < x <= 2",
        "sin(2*x) == 2*tan(x)/(1 - tan(x)**2) if cos(x) > 0",
        "sin(x)*sin(y) <= (1 + cos(x + y))/2",
        "floor(x + y) <= floor(x) + floor(y)",
        "floor(x) + floor(x + 1/2) <= floor(2*x) - 1/2",
        "floor(5*x) >= floor(x) + floor(3*x)",
        "floor(floor(x)/2) == floor(x)/2",
        "Sum(k*binomial(n, k)*p**k*(1 - p)**(n - k), (k, 0, n)) == (n + 1)*p for 0 <= p <= 1, integer n >= 1",
        "Sum((-1)**k*binomial(n, k), (k, 0, n)) == 0 for integer n >= 0",
        "Sum(1/(k*(k + 1)), (k, n, 2*n)) <= 1/(2*n) for integer n >= 1",
        "(n/k)**k < binomial(n, k) if k <= n for integer n >= 1, integer k >= 1",
        "binomial(n, k) <= (2*n/k)**k if k <= n for integer n >= 1, integer k >= 1",
        "x**n - y**n <= n*(x - y) if y <= x for x >= 0, y >= 0, integer n >= 1",
        "0 < cos(pi/2**n) for integer n >= 1",
        "x == 2*cos(pi/2**(t + 1)) along x -> sqrt(2 + x) from sqrt(2)",
        "Limit(((a**(1/n) + b**(1/n))/2)**n, n, oo) == (a + b)/2 for a > 0, b > 0",
        "x + 1 < Limit((1 + x/n)**n, n, oo)",
        "sqrt(x + 2*sqrt(x - 1)) + sqrt(x - 2*sqrt(x - 1)) == 2 for 1 <= x <= 3",
        "sin(x) <= x - x**3/6 + x**5/121 for x >= 0",
        "3*sin(x) <= 99*x*(2 + cos(x))/100 for x >= 0",
        "64*x/100 <= sin(x) if x <= pi/2 for x >= 0",
        "-0.2784 <= x/(1 + exp(-x))",
        "x**t*y**(1 - t) <= t*x + (1 - t)*y for x > 0, y > 0, 0 < t < 2",
        "x*y <= x**p/p + y**q/q if 1/p + 1/q == 1/2 for p > 1, q > 1, x > 0, y > 0",
        "exp(x)*cos(x) <= 1.55 for 0 <= x <= 1",
        "3*x + 4*y <= 4.99 if x**2 + y**2 == 1",
        "3*x + 4*y < 5 if x**2 + y**2 == 1",
        "sin(x) + cos(x) <= 1.41",
        "a*log(a/b) + c*log(c/d) > (a + c)*log((a + c)/(b + d)) for a, b, c, d > 0",
        f"{ENTROPY} > 0 for 0 < p < 1, 0 < q < 1",
        "-p*log(p) - q*log(q) - r*log(r) <= log(3) if p + q + r == 2 for p, q, r > 0",
        "(1 - x/n)**n < exp(-x) if x <= n for x >= 0, integer n >= 1",
        "(1 - x/n)**n <= exp(-x) if x <= 3*n for x >= 0, integer n >= 1",
        "x**(1/x) <= exp(1/E) - 1/100 for x > 0",
        "binomial(n, 2) <= n**2/2 - 1/4 for integer n >= 0",
        "log(factorial(n)) <= n*log(n) - 1 for integer n >= 1",
        "Min(r*A, Max(1 - e, Min(r, 1 + e))*A) <= (1 + e)*A for r > 0, 0 < e < 1",
        "abs(1 - 2*s/(L + m)) <= (L - m)/(L + m) for 0 < m <= s, s <= 2*L",
        # The left side has no value at 0.
        "log(x) <= x for x >= 0",
        "0 <= 1/x for x >= 0",
    ],
)
@pytest.mark.parametrize("work", [WORK // 5, pytest.param(WORK, marks=pytest.mark.audit)])
def test_a_false_variant_is_not(line, work):
    assert searched(line, work) is None


def test_hypotheses_are_used_where_they_may_be():
    statement = statement_of("x <= 1 if x == y, y <= 1")
    (claim,) = statement.claims
    assert deduction_proof(claim.relation, statement, WORK, hypotheses=True)["relations"] == [0, 1]
    assert deduction_proof(claim.relation, statement, WORK, hypotheses=False) is None


@pytest.mark.parametrize(
    ("line", "relations"),
    [
        ("x <= 2 if x <= 1, y <= 1", [0]),
        ("x <= 2 if y <= 1, x <= y, z >= 0", [0, 1]),
        ("2*x*y <= x**2 + y**2 if x <= y", []),
        # Here hypotheses are needed for signs.
        ("x*y >= 0 if x >= z, y >= 0, z >= 0", [0, 1, 2]),
        ("sqrt(x)*y <= sqrt(x) if x >= 0, z >= 0, y <= 1", [0, 2]),
    ],
)
def test_hypotheses_that_are_not_needed_are_left_out(line, relations):
    assert searched(line)["relations"] == relations


@pytest.mark.parametrize("line", ["1 + n*x <= (1 + x)**n for x >= -1, integer n >= 0", "1 + x < exp(x)"])
def test_a_search_ends_with_its_work_and_the_same_each_time(line):
    for work in (0, 300, WORK):
        assert searched(line, work) == searched(line, work)
    assert searched(line, 0) is None


def test_a_proof_does_not_depend_on_the_hashes_of_symbols():
    code = (
        "import json; from tests.verify.provers.deduction.test_search import searched;"
        "print(json.dumps(searched('binomial(2*n, n) <= 4**n/sqrt(3*n + 1) for integer n >= 1', 40_000)))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True,
            text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(found) == 1 and "induction" in found.pop()


def test_more_work_than_there_is_is_refused():
    work = Work(10)
    work.spend(10)
    with pytest.raises(SpentError):
        work.spend(1)


def test_long_statements_are_not_searched():
    line = f"0 <= {' + '.join(f'x**{i}' for i in range(1, 40))} for x >= 0"
    assert searched(line) is None


@pytest.mark.parametrize(
    "line",
    [
        # The step has a value only if the state is positive.
        "1 <= x along x -> (x + 1/x)/2 from x0 for x0 >= 1",
        # Several invariants are shown together.
        "y <= x along x -> (x + y)/2 from a, y -> sqrt(x*y) from b if b <= a for a > 0, b > 0",
        "2*x*y + y**2 >= 0 along x -> x + y from 1, y -> x from 1",
        # A state that equals another one a step earlier.
        "x == 2**t along x -> 3*x - 2*y from 1, y -> x from 1/2",
        # A bound that shrinks by a factor.
        "x**2 + y**2 <= (1 - a)**(2*t)*(u**2 + v**2) along x -> x - a*x from u, y -> y - b*y from v"
        " if a <= b for 0 < a < 1, 0 < b < 1",
    ],
)
def test_invariants_are_found(line):
    proof = searched(line)
    assert proof is not None and accepted(line, proof) == "proved"


@pytest.mark.parametrize(
    "line",
    [
        "1 < x along x -> (x + 1/x)/2 from x0 for x0 >= 1",
        "1 <= x along x -> (x + 1/x)/2 from x0 for x0 >= 99/100",
        # The recursion has no value if the start is 0.
        "0 <= x along x -> 1/x from x0 for x0 >= 0",
    ],
)
def test_invariants_that_fail_are_not(line):
    assert searched(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "(n/E)**n <= factorial(n) for integer n >= 1",
        "factorial(n) <= ((n + 1)/2)**n for integer n >= 1",
        "(1 + 1/n)**n <= E for integer n >= 1",
        "E <= (1 + 1/n)**(n + 1) for integer n >= 1",
        slow("Product(1 - k/n, (k, 1, m)) <= exp(-m*(m + 1)/(2*n)) if m < n for integer n >= 1, integer m >= 1"),
        "factorial(k) <= factorial(n) if k <= n for integer n >= 1, integer k >= 1",
        "Sum(x**k, (k, 0, n)) <= 1/(1 - x) for 0 <= x < 1, integer n >= 0",
        "log(n + 1) <= Sum(1/k, (k, 1, n)) for integer n >= 1",
        "(1 - x)**n <= 1 - n*x + n*(n - 1)*x**2/2 for 0 <= x <= 1, integer n >= 0",
        "n <= (1 + sqrt(2/n))**n for integer n >= 1",
        "Product(1 + 1/k**2, (k, 1, n)) <= exp(2 - 1/n) for integer n >= 1",
    ],
)
def test_growth_is_deduced(line):
    proof = searched(line, 2 * WORK)
    assert proof is not None and accepted(line, proof) == "proved"


@pytest.mark.parametrize(
    "line",
    [
        "factorial(n) <= (n/E)**n for integer n >= 1",
        "factorial(n) <= (n/2)**n for integer n >= 5",
        "E <= (1 + 1/n)**n for integer n >= 1",
        slow("n < (1 + sqrt(1/n))**n for integer n >= 1"),
    ],
)
def test_growth_that_is_not_so_is_not_deduced(line):
    assert searched(line) is None
