"""Accepted certificates for each kind of proof, made by hand or from the library."""

import copy

import sympy as sp

from tests.verify.rechecker.cases_of_runs import (
    above,
    before_the_start,
    cycle,
    early,
    excess,
    falls,
    kept,
    not_before,
    small_descent,
    trajectory,
    tube,
    within,
)
from tests.verify.rechecker.certificates import AT_LEAST, POSITIVE, K, N, X, Y, certificate, n, one_clause, u, x, y, z
from verify import (
    Hypothesis,
    Identity,
    Inequality,
    LeastResidual,
    MatrixIdentity,
    Parameter,
    Statement,
    load_theorem,
)
from verify.language.expressions import Case, digest, to_data

SYMBOLIC = ("wang2024.lemma1", "wang2024.stationary_points", "wang2024.inverse_loss_rate")


def exact():
    return certificate(
        one_clause(Inequality("bound", sp.Le(x**2, y)), X, Y),
        {"x": "2/3", "y": "1/2"},
        ("verified", "certified", {"kind": "exact", "margin": "1/18"}),
    )


def exact_refuted():
    small = Hypothesis("small", sp.Lt(x, sp.sqrt(y)))
    statement = one_clause(Inequality("bound", sp.Gt(x**2, y)), X, Y, hypotheses=(small,))
    proof = {"kind": "exact", "margin": "-1/18"}
    return certificate(statement, {"x": "2/3", "y": "1/2"}, ("refuted", "certified", proof))


def ball():
    # e − 5/2 = 0.21828…
    statement = one_clause(Inequality("bound", sp.Lt(sp.Rational(5, 2), sp.exp(x))), X)
    proof = {"kind": "ball", "bits": 128, "margin": ["5457/25000", "2729/12500"]}
    return certificate(statement, {"x": "1"}, ("verified", "certified", proof))


def identities(statement):
    """Return the statement with its identities as claims, and without its other clauses."""
    return statement.alone(*(clause for clause in statement.clauses if isinstance(clause, Identity)))


def symbolic(name="wang2024.lemma1"):
    """Return a certificate of a theorem's identities.

    The certificate may list the divisors T − 1, T − q, q + (T − q) w and q + (T − q) w² with w = e^(−C), T − q + qr²,
    1 + r, 1 + b.
    """
    statement = identities(load_theorem(name).statement)
    T, q, C = (next((s for s in statement.symbols() if s.name == name), sp.Symbol(name)) for name in ("T", "q", "C"))
    factors = [{"factor": to_data(T - 1), "shift": None}]
    if "lemma1" not in name:
        factors.append({"factor": to_data(T - q), "shift": 0})
    if C in statement.variables:
        factors.append({"factor": to_data(q + (T - q) * sp.exp(-C)), "shift": 0})
    named = {symbol.name: symbol for symbol in statement.variables}
    for w in (named[name] for name in ("w", "w_next") if name in named):
        factors += [{"factor": to_data(q + (T - q) * w**power), "shift": 0} for power in (1, 2)]
    if "w" in named:
        r = named["r"]
        factors += [{"factor": to_data(T - q + q * r**2), "shift": 0}]
        factors += [{"factor": to_data(1 + each), "shift": None} for each in (r, named["b"])]
    proofs = [("verified", "proved", {"kind": "identity", "scope": "all", "factors": factors})] * len(statement.clauses)
    example = {key: str(value) for key, value in load_theorem(name).example.items()}
    return certificate(statement, example, *copy.deepcopy(proofs), theorem=name)


def identity():
    # The sides are defined for k >= 1 and n > k; the divisors are k − n, k + 2 and k. Some exponents are halves.
    word = Parameter("w", "word", "w", words=("one", "other"))
    root = sp.exp(z / 2) + sp.exp(-z / 2)
    big = Parameter("n", "rational", "n", above=0)
    m = sp.Symbol("n", positive=True)
    left = sp.Derivative(u**2, u) * K / (K - m) / (K + 2) * root**2 / K
    right = 2 * u * (sp.exp(z) + 2 + sp.exp(-z)) / ((K - m) * (K + 2))
    statement = Statement(
        (POSITIVE, big, word),
        (Identity("same", left, right),),
        domain=(sp.Gt(m, K),),
        variables=(z, u, x),
        definitions={y: K**2},
    )
    factors = [{"factor": to_data(K - m), "shift": 0}, {"factor": to_data(y / K + 2), "shift": None}]
    proof = {"kind": "identity", "scope": "all", "factors": factors}
    return certificate(statement, {"k": "1", "n": "3/2", "w": "one"}, ("verified", "proved", proof))


def identity_here():
    # The sides are equal only at x = 3.
    v = AT_LEAST
    statement = one_clause(Identity("same", x**2 * v / (v**2 + x), 9 * v / (v**2 + 3)), X, variables=(v,))
    proof = {"kind": "identity", "scope": "instance", "factors": [{"factor": to_data(v**2 + 3), "shift": None}]}
    return certificate(statement, {"x": "3"}, ("verified", "certified", proof))


def point():
    statement = one_clause(Identity("same", sp.Limit((x + y) ** 2 / x - y**2 / x, x, 0), 3 * y), Y, variables=())
    proof = {"kind": "point", "bits": None, "point": {}, "difference": "-5"}
    return certificate(statement, {"y": "5"}, ("refuted", "certified", proof))


def point_in_balls():
    # e^(y − k) − 1 at y = 1/2, k = 1: e^(−1/2) − 1 = −0.3934…
    clause = Identity("same", sp.exp(AT_LEAST) * sp.exp(-K), sp.Integer(1))
    statement = one_clause(clause, POSITIVE, variables=(AT_LEAST,))
    proof = {"kind": "point", "bits": 128, "point": {"y": "1/2"}, "difference": ["-787/2000", "-1967/5000"]}
    return certificate(statement, {"k": "1"}, ("refuted", "certified", proof))


def root():
    # At n = 2, the only root of x² + y² = n and x = y within 1/4 of (9/8, 7/8) is (1, 1).
    data = one_clause(Inequality("roots", sp.Lt(0, n)), N).to_data()
    data["claims"] = [
        {
            "kind": "root",
            "label": "roots",
            "says": "",
            "equations": [to_data(x**2 + y**2 - n), to_data(x - y)],
            "unknowns": [to_data(x), to_data(y)],
            "centre": [to_data(sp.Rational(9, 8)), to_data(sp.Rational(7, 8))],
            "radius": to_data(sp.Rational(1, 4)),
        }
    ]
    proof = {"kind": "root", "bits": 128, "centre": ["1", "1"], "radius": "1/1000"}
    return certificate(data, {"n": "2"}, ("verified", "certified", proof))


def no_root():
    # x² + y² = 3 has no root with x = y near (1, 1).
    made = root()
    made["instance"], made["clauses"][0]["outcome"] = {"n": "3"}, "refuted"
    made["clauses"][0]["proof"] = {"kind": "no_root", "bits": 128}
    made["statement"]["claims"][0]["radius"] = to_data(sp.Rational(1, 5))
    made["statement_digest"] = digest(made["statement"])
    return made


def positive():
    # (x + k)/(x + 1) >= 1 for k >= 1, x >= 0; the strict claim x/k > 1 if x >= 2k, because x/k − 1 >= 1.
    size = Parameter("x", "rational", "x", minimum=0)
    a = sp.Symbol("x", nonnegative=True)
    statement = Statement(
        (size, POSITIVE),
        (Inequality("weak", sp.Ge((a + K) / (a + 1), 1)), Inequality("strict", sp.Lt(1, a / K))),
        hypotheses=(Hypothesis("large", sp.Ge(a, 2 * K)), Hypothesis("gaussian", text="x is Gaussian")),
    )
    proofs = (
        ("verified", "proved", {"kind": "positive", "shifts": {"x": "0", "k": "1"}, "relations": []}),
        ("verified", "proved", {"kind": "positive", "shifts": {"k": "1"}, "relations": [0]}),
    )
    return certificate(statement, {"x": "7", "k": "2"}, *proofs)


def squares():
    # x² + k² ≥ 2xk, by a square; x < 3k if x ≤ 2k, because 3k − 2k/(1 + s) has no negative coefficient.
    size, a = Parameter("x", "rational", "x", above=0), sp.Symbol("x", positive=True)
    statement = Statement(
        (size, POSITIVE),
        (Inequality("mean", sp.Ge(a**2 + K**2, 2 * a * K)), Inequality("below", sp.Lt(a, 3 * K))),
        hypotheses=(Hypothesis("small", sp.Le(a, 2 * K)),),
    )
    square = {"factor": to_data(sp.Integer(1)), "root": to_data(a - K)}
    proofs = (
        ("verified", "proved", {"kind": "squares", "shifts": {}, "relations": [], "squares": [square]}),
        ("verified", "proved", {"kind": "positive", "shifts": {"k": "1"}, "relations": [0]}),
    )
    return certificate(statement, {"x": "3", "k": "2"}, *proofs)


def by_cases():
    # (x − 2k)² (x + k) ≥ 0, by cases x ≤ 2k and x ≥ 2k; z − z² ≥ 0 on [0, 1]; x² + z² + 1 > x z, by a multiplier.
    size, a = Parameter("x", "rational", "x", above=0), sp.Symbol("x", positive=True)
    share, c = Parameter("z", "rational", "z", minimum=0), sp.Symbol("z", nonnegative=True)
    statement = Statement(
        (size, share, POSITIVE),
        (
            Inequality("order", sp.Ge((a - 2 * K) ** 2 * (a + K), 0, evaluate=False)),
            Inequality("share", sp.Ge(c, c**2)),
            Inequality("multiplied", sp.Gt(a**2 + c**2 + 1, a * c, evaluate=False)),
        ),
        hypotheses=(Hypothesis("at_most_one", sp.Le(c, 1)),),
    )
    leaf = {"multipliers": [], "squares": []}
    order = {"slack": "x", "at": "2", "times": "k", "below": leaf, "above": leaf}
    bounded = {"slack": "z", "relation": 0, "then": leaf}
    whole = {"slack": "z", "at": "0", "times": None, "below": leaf, "above": bounded}
    multiplied = {"multipliers": [{"over": ["x", "z"], "power": 2}], "squares": []}
    proofs = (
        ("verified", "proved", {"kind": "cases", "shifts": {"x": "0"}, "relations": [], "cases": order}),
        ("verified", "proved", {"kind": "cases", "shifts": {"z": "0"}, "relations": [], "cases": whole}),
        ("verified", "proved", {"kind": "cases", "shifts": {"x": "0", "z": "0"}, "relations": [], "cases": multiplied}),
    )
    return certificate(statement, {"x": "3", "z": "1/2", "k": "2"}, *proofs)


def in_logarithms():
    # log x ≤ x − 1 and log k ≥ 0 make log x < x + 2 log k hold.
    size, a = Parameter("x", "rational", "x", above=0), sp.Symbol("x", positive=True)
    clause = Inequality("c", sp.Lt(sp.log(a), a + 2 * sp.log(K)))
    used = [
        {"of": to_data(a), "proof": {"kind": "positive", "shifts": {"x": "0"}, "relations": []}},
        {"of": to_data(K), "proof": {"kind": "positive", "shifts": {"k": "1"}, "relations": []}},
    ]
    left = {"kind": "positive", "shifts": {}, "relations": []}
    proof = {"kind": "logarithms", "logarithms": used, "left": left}
    return certificate(Statement((size, POSITIVE), (clause,)), {"x": "3", "k": "2"}, ("verified", "proved", proof))


def deductions():
    # x − log(1 + x) is 0 at 0, and its slope is t/(1 + t). (1 + x)^(k + 1) − 1 − (k + 1)x is (1 + x) times the same
    # expression for k, plus kx². If a = √(x + k) − √x − √k > 0, then 0 = a² + 2a(√x + √k) + 2√x√k > 0, which is false.
    size, a = Parameter("x", "rational", "x", minimum=0), sp.Symbol("x", nonnegative=True)
    t, roots, both = sp.Symbol("t", real=True), sp.sqrt(a) + sp.sqrt(K), 2 * sp.sqrt(a) * sp.sqrt(K)
    power, whole = sp.Pow(1 + a, K), sp.sqrt(a + K)
    clauses = (
        Inequality("slope", sp.Le(sp.log(1 + a), a)),
        Inequality("induction", sp.Ge(power, 1 + K * a)),
        Inequality("contradiction", sp.Le(whole, roots)),
    )
    slope = _sum([to_data(sp.Integer(1)), [0], None], times=1 + t)
    ends = {"in": "x", "as": "t", "from": to_data(sp.Integer(0)), "side": "above", "strict": "start"}
    step = _sum([to_data(1 + a), [1], None], [to_data(K), [], to_data(a)])
    squares = _sum([to_data(sp.Integer(1)), [0, 0], None], [to_data(2 * roots), [0], None], [to_data(both), [], None])
    trees = (
        {"rule": "slope", **ends, "value": _sum(), "start": _sum(), "slope": slope},
        {"rule": "induction", "in": "k", "first": _sum(), "step": step},
        {"rule": "contradiction", "then": squares},
    )
    proofs = [("verified", "proved", {"kind": "deduction", "relations": [], "tree": tree}) for tree in trees]
    return certificate(Statement((size, POSITIVE), clauses), {"x": "3", "k": "2"}, *proofs)


def _sum(*terms, times=sp.S.One):
    return {"rule": "sum", "times": to_data(times), "terms": list(terms)}


def constant():
    # √e = 1.648… < 2.
    clause = Inequality("c", sp.Lt(sp.exp(sp.Rational(1, 2)), 2, evaluate=False))
    proof = {"kind": "constant", "bits": 128, "margin": ["7/20", "9/25"]}
    return certificate(Statement((POSITIVE,), (clause,)), {"k": "2"}, ("verified", "proved", proof))


LETTERS = {name: sp.Symbol(name, commutative=False) for name in "ABv"}
SHAPES = {LETTERS["A"]: (K, K), LETTERS["B"]: (K, K), LETTERS["v"]: (K, 1)}


def words():
    # (A + uB)ᵀ v = Aᵀv + u Bᵀv for a variable u; the first word chooses A.
    A, B, v = LETTERS.values()
    word = Parameter("w", "word", "w", words=("A", "B"))
    left = sp.transpose(Case(sp.Symbol("w"), A, B) + u * B) * v
    clause = MatrixIdentity("same", left, sp.transpose(A) * v + u * sp.transpose(B) * v, SHAPES)
    hypothesis = Hypothesis("first", text="the first", varies=word)
    statement = Statement((POSITIVE, word), (clause,), hypotheses=(hypothesis,), variables=(u,))
    return certificate(statement, {"k": "3", "w": "A"}, ("verified", "proved", {"kind": "words"}))


def words_here():
    # h·(1/h)·A = A for h ≠ 0, here at h = 3; 1/h is a definition that has no value at 0.
    A, B, v = LETTERS.values()
    h, inverse = sp.Symbol("h", real=True), sp.Symbol("inverse")
    clause = MatrixIdentity("same", inverse * h * A * v + u * B * v, A * v + u * B * v, SHAPES)
    parameters = (POSITIVE, Parameter("h", "rational", "h"))
    statement = Statement(parameters, (clause,), variables=(u,), definitions={inverse: 1 / h})
    return certificate(statement, {"k": "2", "h": "3"}, ("verified", "certified", {"kind": "words_here"}))


def matrices():
    # AB − uBA at u = 2 for A = [[1, 2], [0, 1]], B = [[0, 1], [1, 0]]: AB = [[2, 1], [1, 0]], BA = [[0, 1], [1, 2]].
    A, B, _ = LETTERS.values()
    statement = one_clause(MatrixIdentity("same", A * B, u * B * A, SHAPES), POSITIVE, variables=(u,))
    put = {"A": [["1", "2"], ["0", "1"]], "B": [["0", "1"], ["1", "0"]], "v": [["0"], ["0"]]}
    proof = {"kind": "matrices", "scalars": {"u": "2"}, "matrices": put, "place": [1, 1], "difference": "-4"}
    return certificate(statement, {"k": "2"}, ("refuted", "certified", proof))


def _least(minimum, **more):
    # On [0, 1], p = 1 − 4s + 10/3 s² has the roots (6 ± √6)/10 = 0.355…, 0.845…, and the minimum is 1/9.
    index = sp.Symbol("i", integer=True, nonnegative=True)
    return one_clause(LeastResidual("least", K, 1 / (index + 1), index, minimum=minimum, **more), POSITIVE)


UNIFORM = ["1", "-4", "10/3"]


def residual():
    proof = {"kind": "residual", "polynomial": UNIFORM, "roots": [["1/3", "2/5"], ["4/5", "9/10"]]}
    return certificate(_least(1 / (K + 1) ** 2), {"k": "2"}, ("verified", "certified", proof))


def residual_refuted():
    # The Legendre polynomial 1 − 6s + 6s² is orthogonal to 1 and s.
    proof = {"kind": "residual", "polynomial": ["1", "-6", "6"], "roots": []}
    return certificate(_least(None, shift=sp.Integer(0)), {"k": "2"}, ("refuted", "certified", proof))


def residual_of_wishart():
    # With one factor, a = n/(n + d + 1) and the minimum is d(d + 1)/(n + d + 1); here n = 3, d = 2.
    index = sp.Symbol("i", integer=True, nonnegative=True)
    moment = (
        load_theorem("ahn2023.theorem3")
        .statement.clauses[0]
        .moment.xreplace(
            {sp.Symbol("n", integer=True, positive=True): sp.Integer(3), sp.Symbol("d", integer=True, positive=True): K}
        )
    )
    (old,) = moment.free_symbols - {K}
    clause = LeastResidual("least", sp.S.One, moment.xreplace({old: index}), index, minimum=sp.Integer(1))
    proof = {"kind": "residual", "polynomial": ["1", "-1/2"], "roots": [["2", "2"]]}
    return certificate(one_clause(clause, POSITIVE), {"k": "2"}, ("verified", "certified", proof))


def point_of_an_inequality():
    # 2z < z² fails at z = 1/2, where the margin is 1/4 − 1. The list v is read, but not used.
    listed = Parameter("v", "rationals", "a list", above=0)
    statement = one_clause(Inequality("bound", sp.Lt(2 * z, x * z**2)), X, listed, variables=(z,))
    proof = {"kind": "point", "bits": None, "point": {"z": "1/2"}, "difference": "-3/4"}
    return certificate(statement, {"x": "1", "v": ["1", "1/4"]}, ("refuted", "certified", proof))


ACCEPTED = {
    made.__name__: made
    for made in (
        *(exact, exact_refuted, ball, within, not_before, early, above, before_the_start),
        *(trajectory, excess, cycle, falls, kept, small_descent, tube),
        *(
            symbolic,
            identity,
            identity_here,
            point,
            point_in_balls,
            root,
            no_root,
            positive,
            squares,
            by_cases,
            constant,
            in_logarithms,
            deductions,
        ),
        *(words, words_here, matrices, residual, residual_refuted, residual_of_wishart, point_of_an_inequality),
    )
}
