"""A statement for each head of the language, and instances at which the engine and the re-checker are compared.

Each claim is EXPRESSION >= 0, so its margin is the value of the expression.
"""

from fractions import Fraction

STATEMENTS = {
    "abs": "abs(x - y) - abs(x) >= 0",
    "sign": "y + sign(x) >= 0",
    "Max": "Max(x, y, x*y) - x >= 0",
    "Min": "Min(x, y, x*y) - x >= 0",
    "floor": "floor(3*x) + floor(-y) >= 0",
    "ceiling": "ceiling(3*x) + ceiling(-y) >= 0",
    "factorial": "factorial(n) - x*factorial(m) >= 0 for integer n >= 0, integer m >= 0",
    "binomial": "binomial(n, m) - x >= 0 for integer n >= 0, integer m >= 0",
    "sin": "sin(x) - y >= 0",
    "cos": "cos(3*x) - y >= 0",
    "tan": "tan(x) - y >= 0",
    "atan": "atan(x) - y >= 0",
    "sinh": "sinh(x) - y >= 0",
    "cosh": "cosh(x) - y >= 0",
    "tanh": "tanh(x) - y >= 0",
    "pi": "pi*x - 3*y >= 0",
    "Sum": "Sum(x**k/k, (k, 1, n)) - y >= 0 for integer n >= -2",
    "Product": "Product(1 + x/k**2, (k, 2, n)) - y >= 0 for integer n >= -2",
    "Piecewise": "Piecewise((x, x < y), (1/(x - y), x > y), (7, True)) >= 0",
    "sum inside": "Sum(Product(x + j, (j, 1, k))/k, (k, 1, n)) >= 0 for integer n >= 0",
    "sum of sums": "Sum(Sum(j*k + x, (j, k - 1, m)), (k, 1, n)) >= 0 for integer n >= 0, integer m >= 0",
    "sum of pieces": "Sum(Piecewise((1/k, k > x), (y, True)), (k, 0, n)) >= 0 for integer n >= 0, x >= 0",
    "sum to a root": "Sum(k*y, (k, 1, floor(sqrt(n)))) - x >= 0 for integer n >= 0",
    "power": "y**n - x >= 0 for integer n >= 0",
    "real power": "y**(1/3) - x >= 0 for y >= 0",
    "along": "x - y*t along x -> x/2 + y*t from a, y -> -x/3 from 1",
    "along sines": "x - y along x -> sin(x) + abs(y)/2 from a, y -> Max(x, y)/3 from a",
    # The threshold 10/7 is equal to no state, because balls cannot decide x < 10/7 at x = 10/7.
    "along pieces": "x along x -> Piecewise((2*x, x < 10/7), (x/3, True)) from a**2",
}
STATEMENTS |= {name: text.replace(" along", " >= 0 along") for name, text in STATEMENTS.items() if " along" in text}
INTEGERS = ("n", "m", "t")


def instances(parameters, generator, count):
    """Yield `count` instances with small numbers, many of which are 0, integers or equal."""
    numbers = [Fraction(p, q) for p in range(-7, 8) for q in (1, 1, 2, 5)]
    for _ in range(count):
        instance = {}
        for parameter in parameters:
            inside = [value for value in [*range(-3, 8), *numbers] if value in parameter]
            instance[parameter.name] = parameter.parse(generator.choice(inside))
        yield instance
