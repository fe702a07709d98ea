"""A second reader of one-line statements, which uses no part of `verify`: values are fractions or have 60 digits.

A violation at a drawn instance is confirmed with 1500 digits.

A draw takes each parameter from its domain. A parameter with two bounds is uniform. Otherwise let m be log-uniform from
1/1000 to 1000: x > a and x >= a are drawn as a + m, x < b and x <= b as b - m, and an unbounded x as m with a random
sign. An integer n >= a is a - 1 plus the integer part of a log-uniform number from 1 to 1000. A hypothesis
SYMBOL == EXPRESSION gives the symbol its value.
"""

import ast
import functools
import math
import operator
import re
from dataclasses import dataclass, field
from fractions import Fraction

import mpmath

DIGITS = 60
STEPS = 20  # the last step of a recursion that is evaluated at a drawn instance
STEPS_OF_FRACTIONS = 12  # the last step that is computed in fractions; the fractions of later steps are too long
FAR = 10**20  # the point at which the expression of a limit is evaluated
_FORM = re.compile(r"(.+?)(?: along (.+?))?(?: if (.+?))?(?: for (.+))?")
_DOMAIN = re.compile(r"(integer )?(?:(\S+) (<=?) )?([A-Za-z]\w*)(?: (real|<=?|>=?)(?: (\S+))?)?")


class NotExactError(Exception):
    """The value of a power is not rational."""


class _Rewritten(ast.NodeTransformer):
    """Rewrite numbers and powers as function calls, and bodies of sums, products, limits and cases as functions."""

    def visit_Constant(self, node):
        return _call("number", ast.Constant(repr(node.value)))

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return _call("power", node.left, node.right) if isinstance(node.op, ast.Pow) else node

    def visit_Call(self, node):
        self.generic_visit(node)
        if node.func.id in ("Sum", "Product"):
            body, bounds = node.args
            node.args = [_function(body, bounds.elts[0].id), *bounds.elts[1:]]
        elif node.func.id == "Limit":
            node.args = [_function(node.args[0], node.args[1].id)]
        elif node.func.id == "Piecewise":
            node.args = [_case(*case.elts) for case in node.args]
        return node


def _case(value, condition):
    is_last = isinstance(condition, ast.Call)  # The condition True has become number("True").
    return ast.Tuple([_function(value), ast.Constant(True) if is_last else condition], ast.Load())


def _call(name, *arguments):
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _function(body, *names):
    parameters = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return ast.Lambda(parameters, body)


def split(text):
    """Return the parts of a text between the commas outside parentheses."""
    parts = [""]
    for character in text:
        if character == "," and parts[-1].count("(") == parts[-1].count(")"):
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=="}


def _relations(text):
    """Yield the relations of a text as left side, sign and right side."""
    node = ast.parse(text, mode="eval").body
    for chain in node.values if isinstance(node, ast.BoolOp) else [node]:
        terms = [chain.left, *chain.comparators]
        for left, sign, right in zip(terms, chain.ops, terms[1:], strict=False):
            yield ast.unparse(left), _SIGNS[type(sign)], ast.unparse(right)


def _expression(text):
    """Return code that evaluates an expression, given the names of an arithmetic and the values of symbols."""
    rewritten = _Rewritten().visit(ast.parse(text, mode="eval"))
    return compile(ast.fix_missing_locations(rewritten), "statement", "eval")


@dataclass(frozen=True)
class Domain:
    """The domain of a symbol; an end is None, or a pair of a number and whether this number is excluded."""

    name: str
    integer: bool = False
    low: tuple | None = None
    high: tuple | None = None

    @classmethod
    def read(cls, text):
        integer, low, strict, name, sign, end = _DOMAIN.fullmatch(text).groups()
        lower = (Fraction(low), strict == "<") if low else None
        upper = None
        if sign in ("<", "<="):
            upper = (Fraction(end), sign == "<")
        elif sign in (">", ">="):
            lower = (Fraction(end), sign == ">")
        return cls(name, bool(integer), lower, upper)

    def __contains__(self, value):
        above = self.low is None or value > self.low[0] or (value == self.low[0] and not self.low[1])
        below = self.high is None or value < self.high[0] or (value == self.high[0] and not self.high[1])
        return above and below and (not self.integer or value == int(value))

    def draw(self, generator):
        """Return a random number of the domain, a float or an integer."""
        if self.integer:
            low = int(self.low[0])
            return generator.randint(low, int(self.high[0])) if self.high else low - 1 + int(1000 ** generator.random())
        if self.low and self.high:
            return generator.uniform(float(self.low[0]), float(self.high[0]))
        magnitude = 10 ** generator.uniform(-3, 3)
        if self.low or self.high:
            return float(self.low[0]) + magnitude if self.low else float(self.high[0]) - magnitude
        return magnitude * generator.choice((1, -1))


@dataclass(frozen=True)
class Statement:
    """A parsed one-line statement."""

    text: str
    claim: list
    hypotheses: list
    recursions: dict
    domains: list
    given: dict = field(default_factory=dict)
    """The symbols to which a hypothesis gives a value, each with the code of its value."""

    @classmethod
    def read(cls, text):
        claim, along, hypotheses, domains = _FORM.fullmatch(text).groups()
        recursions = dict(re.fullmatch(r"(\w+) -> (.+)", part).groups() for part in split(along)) if along else {}
        given = [part for part in split(hypotheses or "") if part]
        relations = [relation for part in given for relation in _relations(part)]
        stated = [Domain.read(part) for part in split(domains or "") if part]
        sources = [claim, *given, *(text for each in recursions.values() for text in each.split(" from "))]
        symbols = {name for source in sources for name in _free(ast.parse(source, mode="eval").body)}
        known = {*CONSTANTS, *recursions, *(domain.name for domain in stated), *(["t"] if along else [])}
        return cls(
            text,
            [(_expression(left), sign, _expression(right)) for left, sign, right in _relations(claim)],
            [(_expression(left), sign, _expression(right)) for left, sign, right in relations],
            {name: tuple(map(_expression, rule.split(" from "))) for name, rule in recursions.items()},
            [*stated, *map(Domain, sorted(symbols - known))],
            {left: _expression(right) for left, sign, right in relations if sign == "==" and left.isidentifier()},
        )

    def draw(self, generator):
        """Return an instance of floats and integers inside the domains; the hypotheses may fail there."""
        return {domain.name: domain.draw(generator) for domain in self.domains if domain.name not in self.given}

    def values(self, instance, arithmetic):
        """Return an arithmetic extended by an instance's numbers and by the values that hypotheses give to symbols."""
        numbers = {name: arithmetic["number"](value) for name, value in instance.items()}
        for name, rule in self.given.items():
            numbers.setdefault(name, eval(rule, arithmetic | numbers))
        return arithmetic | numbers

    def in_scope(self, values):
        """Return whether the hypotheses hold at the given values; the domains are not checked."""
        return not any(_fails(relation, values, weak=True) for relation in self.hypotheses)

    def violations(self, values, steps):
        """Yield those of the given steps at which the claim fails; without a recursion the only step is 0."""
        state = {name: eval(start, values) for name, (_, start) in self.recursions.items()}
        for step in range(steps[-1] + 1 if self.recursions else 1):
            here = values | state
            if self.recursions:
                here["t"] = values["number"](step)
            if step in steps and any(_fails(relation, here, weak=False) for relation in self.claim):
                yield step
            state = {name: eval(rule, here) for name, (rule, _) in self.recursions.items()}

    def violated(self, instance):
        """Return whether the claim fails at a drawn instance, computed to many digits; None out of scope."""
        values = self.values(instance, HIGH)
        if not self.in_scope(values):
            return None
        step = next(self.violations(values, range(STEPS + 1)), None)
        return step is not None and list(self.violations(self.values(instance, HIGHER), [step])) == [step]

    def refuted_by(self, witness, step):
        """Return whether rational values are in scope and violate the claim at a step; exact if possible."""
        domains = {domain.name: domain for domain in self.domains}
        if set(witness) != set(domains) or not all(witness[name] in domain for name, domain in domains.items()):
            return False
        for arithmetic in (EXACT, HIGH) if step <= STEPS_OF_FRACTIONS else (HIGH,):
            try:
                values = self.values(witness, arithmetic)
                return self.in_scope(values) and list(self.violations(values, [step])) == [step]
            except (NameError, NotExactError):
                continue
        raise AssertionError(self.text)


def _free(node):
    """Return the names of the free symbols of an expression."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Call):
        inside = set().union(*map(_free, node.args))
        if node.func.id in ("Sum", "Product", "Limit"):
            bound = node.args[1].elts[0] if node.func.id != "Limit" else node.args[1]
            inside -= {bound.id}
        return inside
    return set().union(*map(_free, ast.iter_child_nodes(node)))


def _fails(relation, values, *, weak):
    """Return whether a relation fails by more than rounding; at equality `<` and `>` fail if exact or `weak`.

    Hypotheses are `weak`: at equality up to rounding a strict hypothesis fails, whereas a strict claim does not.
    """
    left, sign, right = eval(relation[0], values), relation[1], eval(relation[2], values)
    exact = isinstance(left, Fraction)
    near = not exact and abs(left - right) <= values["rounding"](relation) * max(abs(left), abs(right))
    difference = 0 if near else left - right
    if sign == "==":
        return difference != 0
    difference = difference if sign in ("<", "<=") else -difference
    return difference > 0 or (difference == 0 and len(sign) == 1 and (weak or exact))


def _rounding(relation):
    return mpmath.mpf("1e-8" if "Limit" in relation[0].co_names + relation[2].co_names else "1e-30")


def _exact_power(base, exponent):
    if exponent.denominator != 1:
        raise NotExactError
    return base**exponent


def _sum(function, low, high):
    return sum((function(low + index) for index in range(int(high - low) + 1)), low * 0)


def _product(function, low, high):
    return math.prod((function(low + index) for index in range(int(high - low) + 1)), start=low * 0 + 1)


def _piecewise(*cases):
    return next(value() for value, condition in cases if condition)


def _sign(value):
    return (value > 0) - (value < 0) + value * 0


CONSTANTS = ("pi", "E", "oo")
_BOTH = {"abs": abs, "Max": max, "Min": min, "sign": _sign, "Sum": _sum, "Product": _product, "Piecewise": _piecewise}
EXACT = _BOTH | {
    "number": functools.cache(Fraction),
    "power": _exact_power,
    "floor": lambda x: Fraction(math.floor(x)),
    "factorial": lambda n: Fraction(math.factorial(int(n))),
    "binomial": lambda n, k: Fraction(math.comb(int(n), int(k))),
}


def _high(digits):
    """Return the arithmetic of floating-point numbers with the given number of digits."""
    context = mpmath.mp.clone()
    context.dps = digits
    names = ("sqrt", "exp", "log", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "floor")
    functions = {name: getattr(context, name) for name in names}

    @functools.lru_cache(maxsize=1000)
    def number(value):
        exact = Fraction(value)
        return context.mpf(exact.numerator) / exact.denominator

    return (
        _BOTH
        | functions
        | {
            "number": number,
            "power": operator.pow,
            "E": +context.e,
            "pi": +context.pi,
            "factorial": lambda n: context.mpf(math.factorial(int(n))),
            "binomial": lambda n, k: context.mpf(math.comb(int(n), int(k))),
            "Limit": lambda function: function(context.mpf(FAR)),
            "rounding": _rounding,
        }
    )


HIGH = _high(DIGITS)
HIGHER = _high(25 * DIGITS)
