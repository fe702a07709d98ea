"""Proofs by deduction: each rule proves a small statement; with one field changed the certificate is rejected."""

import pytest
import sympy as sp

from tests.verify.rechecker.certificates import certificate, changed, recheck
from verify import Hypothesis, Inequality, Parameter, Statement
from verify.language.expressions import to_data
from verify.rechecker import Rejected

x, y = sp.symbols("x y", real=True)
m, q, p = sp.Symbol("m", nonnegative=True), sp.Symbol("q", nonnegative=True), sp.Symbol("p", positive=True)
n, k = sp.Symbol("n", integer=True, positive=True), sp.Symbol("k", integer=True, nonnegative=True)
t = sp.Symbol("t", real=True)
PARAMETERS = (
    *(Parameter(name, "rational", name) for name in "xy"),
    *(Parameter(name, "rational", name, minimum=0) for name in "mq"),
    Parameter("p", "rational", "p", above=0),
    Parameter("n", "integer", "n", minimum=1),
    Parameter("k", "integer", "k", minimum=0),
)
INSTANCE = {"x": "1", "y": "0", "m": "1/2", "q": "1/4", "p": "1/3", "n": "2", "k": "1"}
TREE = "clauses.0.proof.tree"


def ge(larger, smaller=0):
    return sp.Ge(larger, smaller, evaluate=False)


def gt(larger, smaller=0):
    return sp.Gt(larger, smaller, evaluate=False)


def eq(left, right):
    return sp.Eq(left, right, evaluate=False)


def deduced(relation, tree, *hypotheses, relations=None, statement=None, instance=None):
    """Return a certificate that a tree of rules proves an inequality.

    Its facts are all hypotheses, in order, unless `relations` lists others.
    """
    statement = statement or Statement(
        PARAMETERS,
        (Inequality("c", relation),),
        hypotheses=tuple(Hypothesis(f"h{i}", each) for i, each in enumerate(hypotheses)),
    )
    relations = list(range(len(hypotheses))) if relations is None else relations
    proof = {"kind": "deduction", "relations": relations, "tree": tree}
    return certificate(statement, instance or INSTANCE, ("verified", "proved", proof))


def data(expression):
    return to_data(sp.sympify(expression), written=False)


def total(*terms, times=1):
    """Return the rule `sum`. Each term is a factor, the indices of its facts, and a root or None."""
    listed = [[data(factor), list(facts), None if root is None else data(root)] for factor, facts, root in terms]
    return {"rule": "sum", "times": data(times), "terms": listed}


NOTHING = total()


def lemma(relation, proof, then):
    return {"rule": "lemma", "relation": data(relation), "proof": proof, "then": then}


def known(name, *of, then):
    return {"rule": "known", "name": name, "of": [data(each) for each in of], "then": then}


def told_apart(of, above, below, at=None):
    return {"rule": "cases", "of": data(of), "above": above, "at": at, "below": below}


def along(symbol, slope, *, start=0, side="above", strict="start", value=NOTHING, at_start=NOTHING, name="t"):
    ends = {"in": symbol, "as": name, "from": data(start), "side": side}
    return {"rule": "slope", **ends, "strict": strict, "value": value, "start": at_start, "slope": slope}


def between(symbol, low, high, curve, *, value=NOTHING, start=NOTHING, end=NOTHING):
    ends = {"in": symbol, "as": "t", "from": data(low), "to": data(high)}
    return {"rule": "concave", **ends, "value": value, "curve": curve, "start": start, "end": end}


def induction(name, first, step):
    return {"rule": "induction", "in": name, "first": first, "step": step}


def by_square():
    # x² + y² − 2xy = (x − y)².
    return deduced(ge(x**2 + y**2, 2 * x * y), total((1, (), x - y)))


def by_facts():
    # (x − y) p > 0 where x > y.
    return deduced(gt(x * p, y * p), total((p, (0,), None)), gt(x, y))


def by_equation():
    # x² − 1 = −(x + 1) (1 − x), and 1 − x = 0 by the fact.
    return deduced(ge(x**2, 1), total((-(x + 1), (0,), None)), eq(x, 1))


def by_lemma():
    # x² − x + 1 = (x − 1/2)² + 3/4 > 0, so that 1/(x² − x + 1) has a value and is positive.
    shown = total((1, (), x - sp.Rational(1, 2)), (sp.Rational(3, 4), (), None))
    return deduced(gt(1 / (x**2 - x + 1)), lemma(gt(x**2 - x + 1), shown, total((1, (), None), times=x**2 - x + 1)))


def by_exponential():
    return deduced(ge(sp.exp(x), 1 + x), known("exp", x, then=total((1, (0,), None))))


def by_logarithm():
    return deduced(ge(p, 1 + sp.log(p)), known("log", p, then=total((1, (0,), None))))


def by_product():
    relation = ge(sp.log(1 + m + p), sp.log(1 + m) + sp.log((1 + m + p) / (1 + m)))
    return deduced(relation, known("product", 1 + m, (1 + m + p) / (1 + m), then=total((1, (0,), None))))


def by_power():
    # p^n is exp(n log p).
    return deduced(ge(p**n, 1 + n * sp.log(p)), known("exp", n * sp.log(p), then=total((1, [0], None))))


def by_monotone():
    # (m^k − q^k)(m − q) ≥ 0.
    return deduced(ge(m**k, q**k), known("monotone", m, q, k, then=total((1, (1,), None), times=m - q)), gt(m, q))


def by_tangent():
    return deduced(ge(m**n, 1 + n * (m - 1)), known("tangent", 1, m, n, then=total((1, (0,), None))))


def by_mean():
    # The product of the four terms is (xy)^4.
    of = x * y, x**4, y**4, 1, 1
    return deduced(ge(x**4 + y**4 + 2, 4 * x * y), known("mean", *of, then=total((1, (0,), None))))


def by_mean_of_facts():
    # The facts are x ≥ 0, 2 − x ≥ 0 and x (2 − x) ≥ y².
    tree = known("mean", y, x, 2 - x, then=total((1, (3,), None)))
    return deduced(ge(2, 2 * y), tree, ge(x), ge(2, x), ge(2 * x - x**2, y**2))


def by_replacing():
    # (y + 1)² − 1 = y² + 2y.
    then = total((1, (), y), (2, (1,), None))
    tree = {"rule": "replace", "in": data(x), "by": data(y + 1), "fact": 0, "then": then}
    return deduced(ge(x**2, 1), tree, eq(x, y + 1), ge(y))


def by_cases():
    # For x ≥ 0, e^x ≥ 1 + x gives x (e^x − 1) ≥ x². For x < 0, e^(−x) ≥ 1 − x gives x (e^x − 1) ≥ x² e^x.
    above = known("exp", x, then=total((1, (0, 1), None), (1, (), x)))
    below = known("exp", -x, then=total((sp.exp(x), (0, 1), None), (sp.exp(x), (), x)))
    return deduced(ge(x * sp.exp(x), x), told_apart(x, above, below))


def by_three_cases():
    made = by_cases()
    return changed(made, f"{TREE}.at", total((sp.exp(x) - 1, (0,), None)))


def by_contradiction():
    # Let a = √(m + q), b = √m, c = √q. If f = a − b − c > 0, then 0 < f² + 2f(b + c) + 2bc = a² − b² − c² = 0.
    b, c = sp.sqrt(m), sp.sqrt(q)
    then = total((1, (0, 0), None), (2 * (b + c), (0,), None), (2 * b * c, (), None))
    return deduced(ge(b + c, sp.sqrt(m + q)), {"rule": "contradiction", "then": then})


def by_contradiction_of_facts():
    # For x < 0 the facts contradict each other: −x + (x − 1) + 1 = 0. There 1/(x + y) is not shown to have a value.
    # For x ≥ 0, x + y = (x − 1) + (y − 1) + 2 > 0.
    absurd = {"rule": "contradiction", "then": total((1, (2,), None), (1, (0,), None), (1, (), None))}
    positive = total((1, (0,), None), (1, (1,), None), (2, (), None))
    above = lemma(gt(x + y), positive, total((1, (), None), times=x + y))
    return deduced(ge(1 / (x + y)), told_apart(x, above, absurd), ge(x, 1), ge(y, 1), instance=INSTANCE | {"y": "1"})


def by_number():
    return deduced(gt(3, sp.E), {"rule": "number", "bits": 64})


def by_slope():
    # m − log(1 + m) is 0 at m = 0, and its slope at m = t is t/(1 + t).
    return deduced(ge(m, sp.log(1 + m)), along("m", total((1, (0,), None), times=1 + t)))


def by_strict_slope():
    return deduced(gt(p, sp.log(1 + p)), along("p", total((1, (0,), None), times=1 + t), strict="slope"))


def by_slope_below():
    # x³ − 3x is 2 at x = −1, and its slope at t < −1 is 3t² − 3 = 3f² + 6f > 0 with f = −1 − t > 0.
    slope = total((3, (1, 1), None), (6, (1,), None))
    tree = along("x", slope, start=-1, side="below")
    return deduced(ge(2, x**3 - 3 * x), tree, ge(-1, x), instance=INSTANCE | {"x": "-2"})


def by_concavity():
    # 1 − e^(−m) − (1 − 1/e) m is 0 at m = 0 and at m = 1; its second derivative at t is −e^(−t).
    relation = ge(1 - sp.exp(-m), (1 - sp.exp(-1)) * m)
    return deduced(relation, between("m", 0, 1, total((sp.exp(-t), (), None))), ge(1, m))


def by_induction():
    # (1 + m)^(k + 1) − 1 − (k + 1) m = (1 + m) ((1 + m)^k − 1 − k m) + k m².
    step = total((1 + m, (1,), None), (k, (), m))
    return deduced(ge((1 + m) ** k, 1 + k * m), induction("k", NOTHING, step))


ACCEPTED = {
    made.__name__: made
    for made in (
        *(by_square, by_facts, by_equation, by_lemma, by_exponential, by_logarithm, by_product, by_power, by_monotone),
        *(by_mean, by_mean_of_facts, by_contradiction_of_facts),
        *(by_tangent, by_replacing, by_cases, by_three_cases, by_contradiction, by_number, by_slope, by_strict_slope),
        *(by_slope_below, by_concavity, by_induction),
    )
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_each_rule_proves_a_textbook_statement(name):
    assert recheck(ACCEPTED[name]()).clauses[0][1:] == ("verified", "proved", "deduction", ())


_CLAIM, _HYPOTHESIS = "statement.claims.0.relation", "statement.hypotheses.0.relation"
NOT_THE_SUM, NO_SIGN = "the sum is not what is to be shown", "do not show the sign"
REJECTED = [
    ("by_square", f"{TREE}.terms.0.0", data(-1), "not shown to be at least 0"),
    ("by_square", f"{TREE}.terms.0.0", data(2), NOT_THE_SUM),
    ("by_square", f"{TREE}.terms.0.2", data(x + y), NOT_THE_SUM),
    ("by_square", f"{TREE}.terms", [], NOT_THE_SUM),
    ("by_square", f"{TREE}.times", data(0), "times: is not shown to be positive"),
    ("by_square", f"{TREE}.times", data(x), "times: is not shown to be positive"),
    ("by_square", f"{TREE}.terms.0.1", [0], "not an integer from 0 to -1"),
    ("by_square", f"{_CLAIM}.0", "Gt", NO_SIGN),
    ("by_square", f"{_CLAIM}.0", "Eq", NOT_THE_SUM),
    ("by_square", f"{TREE}.rule", "squares", "rule"),
    ("by_square", f"{TREE}.more", data(1), "not known"),
    ("by_facts", f"{_HYPOTHESIS}.0", "Ge", NO_SIGN),
    ("by_facts", f"{TREE}.terms.0.0", data(y), "not shown to be at least 0"),
    ("by_facts", "clauses.0.proof.relations", [], "not an integer from 0 to -1"),
    ("by_facts", "clauses.0.proof.relations", [1], "not an integer from 0 to 0"),
    ("by_facts", "clauses.0.proof.relations", ["x"], "no parameter with a bound"),
    ("by_facts", "clauses.0.proof.relations", ["z"], "no parameter with a bound"),
    ("by_facts", "instance.y", "2", "out of scope|in_scope"),
    ("by_equation", f"{_HYPOTHESIS}.0", "Ge", "not shown to be at least 0"),
    ("by_equation", f"{_CLAIM}.0", "Gt", NO_SIGN),
    ("by_lemma", f"{TREE}.proof.terms.1.0", data(1), NOT_THE_SUM),
    ("by_lemma", f"{TREE}.relation.0", "Ge", "times: is not shown to be positive"),
    ("by_lemma", f"{TREE}.relation", data(ge(x**2 - x)), NOT_THE_SUM),
    ("by_lemma", f"{TREE}.relation", data(x), "is not a relation"),
    ("by_exponential", f"{TREE}.of.0", data(2 * x), NOT_THE_SUM),
    ("by_exponential", f"{TREE}.of", [data(x), data(x)], "has 2 entries, not 1"),
    ("by_exponential", f"{TREE}.name", "cosh", "name"),
    ("by_exponential", f"{_CLAIM}.0", "Gt", NO_SIGN),
    ("by_logarithm", f"{TREE}.of.0", data(x), "the argument of a log is not shown to be positive"),
    ("by_logarithm", f"{TREE}.of.0", data(m), "the argument of a log is not shown to be positive"),
    ("by_logarithm", f"{_CLAIM}.2", data(sp.log(p) + 2), NOT_THE_SUM),
    ("by_product", f"{TREE}.of.0", data(x), "the argument of a log is not shown"),
    ("by_product", f"{TREE}.of.1", data(p), NOT_THE_SUM),
    ("by_power", f"{TREE}.of.0", data(n * sp.log(m)), "the argument of a log is not shown"),
    ("by_power", f"{TREE}.of.0", data(k * sp.log(p)), NOT_THE_SUM),
    ("by_power", f"{TREE}.of.0", data(q * sp.log(p)), NOT_THE_SUM),
    ("by_monotone", f"{TREE}.of.2", data(x), "not shown to be an integer >= 0"),
    ("by_monotone", f"{TREE}.of.2", data(k - 1), "not shown to be an integer >= 0"),
    ("by_monotone", f"{TREE}.of.2", data(n - k), "not shown to be an integer >= 0"),
    ("by_monotone", f"{TREE}.of.2", data(k / 2), "not shown to be an integer >= 0"),
    ("by_monotone", f"{TREE}.of.0", data(x), "a base is not shown to be >= 0"),
    ("by_monotone", f"{_HYPOTHESIS}.0", "Ge", "times: is not shown to be positive"),
    ("by_tangent", f"{TREE}.of.2", data(k), "not shown to be an integer >= 0"),
    ("by_tangent", f"{TREE}.of.1", data(x), "a base is not shown to be >= 0"),
    ("by_tangent", f"{TREE}.of.0", data(-1), "a base is not shown to be >= 0"),
    ("by_mean", f"{TREE}.of.1", data(x**3), "a base is not shown to be >= 0"),
    ("by_mean", f"{TREE}.of.0", data(2 * x * y), "a base is not shown to be >= 0"),
    ("by_mean", f"{TREE}.of.0", data(-x * y), NOT_THE_SUM),
    ("by_mean", f"{TREE}.of", [data(x * y), data(x**4), data(y**4), data(1)], "a base is not shown to be >= 0"),
    ("by_mean", f"{TREE}.of.3", data(0), "a base is not shown to be >= 0"),
    ("by_mean", f"{TREE}.of.3", data(2), NOT_THE_SUM),
    ("by_mean", f"{TREE}.of.3", data(1 / x), "the sign of a divisor is not shown"),
    ("by_mean", f"{TREE}.of", [data(x * y)], "a mean of nothing"),
    ("by_mean", f"{TREE}.of", [], "a mean of nothing"),
    ("by_mean", f"{_CLAIM}.0", "Gt", NO_SIGN),
    ("by_mean", f"{_CLAIM}.0", "Eq", NOT_THE_SUM),
    ("by_mean_of_facts", "clauses.0.proof.relations", [1, 2], "a base is not shown to be >= 0"),
    ("by_mean_of_facts", "clauses.0.proof.relations", [0, 1], "a base is not shown to be >= 0"),
    ("by_mean_of_facts", f"{_CLAIM}.0", "Gt", NO_SIGN),
    ("by_replacing", f"{_HYPOTHESIS}.0", "Ge", "no equation for a symbol"),
    ("by_replacing", f"{TREE}.by", data(y + 2), "the fact is not this equation"),
    ("by_replacing", f"{TREE}.by", data(2 * x - y - 1), "no equation for a symbol"),
    ("by_replacing", f"{TREE}.in", data(2 * x), "no equation for a symbol"),
    ("by_replacing", f"{TREE}.fact", 1, "no equation for a symbol"),
    ("by_replacing", f"{TREE}.then.terms.1.1", [0], NOT_THE_SUM),
    ("by_cases", f"{TREE}.of", data(-x), NOT_THE_SUM),
    ("by_cases", f"{TREE}.above", total((1, (), x)), NOT_THE_SUM),
    ("by_cases", f"{TREE}.below", NOTHING, NOT_THE_SUM),
    ("by_cases", f"{TREE}.of", data(1 / x), "the sign of a divisor is not shown"),
    ("by_three_cases", f"{TREE}.at", NOTHING, NOT_THE_SUM),
    ("by_three_cases", f"{TREE}.at.terms.0.1", [1], "not an integer from 0 to 0"),
    ("by_contradiction", f"{TREE}.then.terms.0.1", [0], NOT_THE_SUM),
    ("by_contradiction", f"{TREE}.then", NOTHING, NO_SIGN),
    ("by_contradiction", f"{_CLAIM}.0", "Gt", NO_SIGN),
    ("by_contradiction", f"{_CLAIM}.0", "Eq", "is not an integer from 0 to -1"),
    ("by_contradiction_of_facts", f"{TREE}.below.then.terms.0.1", [3], "fact 3 does not hold here"),
    ("by_contradiction_of_facts", f"{TREE}.below.then.terms.2", [data(0), [], None], NOT_THE_SUM),
    ("by_contradiction_of_facts", f"{TREE}.above", {"rule": "contradiction", "then": NOTHING}, NO_SIGN),
    ("by_contradiction_of_facts", "clauses.0.proof.relations", [1, 1], NOT_THE_SUM),
    ("by_contradiction_of_facts", f"{_HYPOTHESIS}", data(ge(x, 0)), NOT_THE_SUM),
    ("by_number", f"{_CLAIM}.1", data(2), "the number is not shown to be positive"),
    ("by_number", f"{_CLAIM}.1", data(x), "has no value here"),
    ("by_number", f"{TREE}.bits", 8, "bits"),
    ("by_number", f"{_CLAIM}.0", "Eq", "does not show an equation"),
    ("by_slope", f"{TREE}.side", "below", "not shown to be on that side of the start"),
    ("by_slope", f"{TREE}.from", data(1), "not shown to be on that side of the start"),
    ("by_slope", f"{TREE}.from", data(-1), "the argument of a log is not shown"),
    ("by_slope", f"{TREE}.from", data(m), "the start depends on"),
    ("by_slope", f"{TREE}.slope.terms.0.1", [1], NOT_THE_SUM),
    ("by_slope", f"{TREE}.as", "x", "no symbol that is new"),
    ("by_slope", f"{TREE}.as", "t u", "no symbol that is new"),
    ("by_slope", f"{TREE}.in", "t", "is no symbol here"),
    ("by_slope", f"{_CLAIM}.0", "Gt", NO_SIGN),
    ("by_slope", f"{_CLAIM}.0", "Eq", NOT_THE_SUM),
    ("by_slope", f"{_CLAIM}.2", data(sp.log(1 + m) + 1), NOT_THE_SUM),
    ("by_strict_slope", f"{TREE}.strict", "start", NO_SIGN),
    ("by_strict_slope", f"{TREE}.strict", "end", "strict"),
    ("by_strict_slope", f"{TREE}.in", "x", "not shown to be on that side of the start"),
    ("by_slope_below", f"{TREE}.side", "above", "not shown to be on that side of the start"),
    ("by_slope_below", "clauses.0.proof.relations", [], "not shown to be on that side of the start"),
    ("by_concavity", f"{TREE}.curve", NOTHING, NOT_THE_SUM),
    ("by_concavity", f"{TREE}.to", data(2), NOT_THE_SUM),
    ("by_concavity", f"{TREE}.to", data(m), "the ends depend on"),
    ("by_concavity", f"{TREE}.from", data(1), "a base is not shown to be >= 0"),
    ("by_concavity", "clauses.0.proof.relations", [], "a base is not shown to be >= 0"),
    ("by_concavity", f"{_CLAIM}.0", "Gt", NO_SIGN),
    ("by_concavity", f"{_CLAIM}.0", "Eq", "does not show an equation"),
    ("by_induction", f"{TREE}.in", "m", "in"),
    ("by_induction", f"{TREE}.in", "n", NOT_THE_SUM),
    ("by_induction", f"{TREE}.first", total((1, (), None)), NOT_THE_SUM),
    ("by_induction", f"{TREE}.step.terms.0.0", data(1), NOT_THE_SUM),
    ("by_induction", f"{TREE}.step.terms.1.0", data(-k), "not shown to be at least 0"),
    ("by_induction", "statement.parameters.6.minimum", None, "."),
    ("by_induction", f"{_CLAIM}.0", "Gt", NO_SIGN),
]


@pytest.mark.parametrize(("name", "path", "value", "why"), REJECTED)
def test_a_certificate_with_one_changed_field_is_rejected(name, path, value, why):
    with pytest.raises(Rejected, match=why):
        recheck(changed(ACCEPTED[name](), path, value))


def test_replacing_the_point_of_a_segment_is_rejected():
    # In the case t = 0 the proof substitutes 0 for t: (t²)^t is 1 at t = 0, but this does not show its values near 0.
    rewritten = {"rule": "replace", "in": data(t), "by": data(0), "fact": 2, "then": NOTHING}
    value = told_apart(t, NOTHING, NOTHING, at=rewritten)
    power = sp.Pow(sp.Pow(m, 2, evaluate=False), m, evaluate=False)
    with pytest.raises(Rejected, match="`replace` is not allowed on a segment"):
        recheck(deduced(ge(power), along("m", NOTHING, value=value)))


WITHOUT_VALUE = {
    "a divisor that is 0 at 0": (
        ge(sp.Mul(m, sp.Pow(m, -1, evaluate=False), evaluate=False)),
        NOTHING,
        "the sign of a divisor",
    ),
    "a logarithm at 0": (ge(sp.Mul(0, sp.log(m), evaluate=False)), NOTHING, "the argument of a log is not shown"),
    "a root of a negative number": (
        ge(sp.Pow(sp.sqrt(x), 2, evaluate=False), x),
        NOTHING,
        "the argument of a root is not shown",
    ),
    "0 to a negative power": (ge(m ** (-k)), total((m ** (-k), (), None)), "a number of terms"),
    "a real power of 0": (ge(m**p), NOTHING, "the argument of a log is not shown"),
    "a power of a negative number": (ge(x ** (k / 2)), NOTHING, "the argument of a log is not shown"),
    "an infinite limit": (ge(sp.Limit(x / t, t, 0) ** 2), NOTHING, "a limit is infinite"),
}


@pytest.mark.parametrize("name", WITHOUT_VALUE)
def test_an_expression_without_a_value_somewhere_is_rejected(name):
    relation, tree, why = WITHOUT_VALUE[name]
    with pytest.raises(Rejected, match=why):
        recheck(deduced(relation, tree))


def test_a_limit_inside_a_sum_or_product_depends_on_the_index():
    j, h = sp.Symbol("j", integer=True), sp.Symbol("h", real=True)
    limit, at = sp.Limit(j + h, h, 0, "+-"), sp.Limit(h**2, h, j, "+-")
    for term, value in ((limit, 2), (at, 4)):
        two = sp.Sum(term, (j, 2, 2))
        assert recheck(deduced(ge(two, value), NOTHING)).clauses[0][2] == "proved"
        # Each limit is 1 at j = 1, and more at j = 2.
        for left, right in ((sp.Sum(term, (j, 1, 1)), two), (two, value + 1), (sp.Product(term, (j, 1, 1)), two)):
            with pytest.raises(Rejected, match="the sum is not what is to be shown"):
                recheck(deduced(ge(left, right), NOTHING))


def test_a_factor_is_shown_to_be_at_least_0_by_division_by_facts():
    def shown(relation, factor, *facts):
        return recheck(deduced(relation, total((factor, (), None)), *facts, instance=INSTANCE | {"x": "-1", "y": "-1"}))

    both = (sp.Le(x, 0, evaluate=False), sp.Le(y, 0, evaluate=False))
    for factor in (x * y, y * x**2001, -x * y**2, -(x**3)):
        assert shown(ge(factor), factor, *both).clauses[0][2] == "proved"
    # At x = 0 the product is 0, and not positive.
    with pytest.raises(Rejected, match="do not show the sign"):
        shown(gt(x * y), x * y, both[0], sp.Lt(y, 0, evaluate=False))
    for factor in (-x * y, x, -x * y**3, x**2 * y):
        with pytest.raises(Rejected, match="not shown to be at least 0"):
            shown(ge(factor), factor, *both)
