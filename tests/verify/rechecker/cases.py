"""Certificates that are accepted, of each kind of proof, by hand and from the library; what makes and changes them."""

import copy
import json
import math
import time
from fractions import Fraction
from functools import cache

import sympy as sp
from flint import arb, ctx

from verify import (
    Dynamics,
    Hypothesis,
    Identity,
    Inequality,
    LeastResidual,
    MatrixIdentity,
    Parameter,
    Reaches,
    Statement,
    StationarySquare,
    Stays,
    load_theorem,
)
from verify.language.expressions import Case, digest, to_data
from verify.provers.cycles import avoids
from verify.rechecker import recheck_text
from verify.rechecker.given import Given
from verify.rechecker.kinds import boxes, runs
from verify.rechecker.reading import Effort

SYMBOLIC = ("wang2024.lemma1", "wang2024.stationary_points", "wang2024.inverse_loss_rate")
EXAMPLE = {"T": "9", "q": "2", "d": "1", "eta": "1/20", "eps": "1/200"}
CYCLING = {"T": "9", "q": "2", "d": "3", "eta": "6", "eps": "1/500"}
RISING = {"T": "9", "q": "2", "d": "1", "eta": "5", "eps": "1/200"}
# The run at EXAMPLE and RISING, by `theorem1.check`; at RISING the loss is above the level again at step 1601.
STEPS, FIRST, LATER = 10287, 102, 1601
x, y, z, n, k, u = (sp.Symbol(name, real=True) for name in "xyznku")
X, Y, N = (Parameter(name, "rational", name) for name in "xyn")
POSITIVE = Parameter("k", "integer", "a whole number", minimum=1)
K, AT_LEAST = sp.Symbol("k", positive=True, integer=True), sp.Symbol("y", positive=True)


def certificate(statement, instance, *clauses, in_scope=True, theorem="user.mine"):
    """Write a certificate; clauses are (outcome, evidence, proof)."""
    data = statement if isinstance(statement, dict) else statement.to_data()
    return {
        "format": "lemmascope-certificate",
        "version": 1,
        "theorem": theorem,
        "statement": data,
        "statement_digest": digest(data),
        "instance": dict(instance),
        "in_scope": in_scope,
        "uses": [["wang2024.lemma1", "0" * 64]],
        "clauses": [
            {"label": clause["label"], "outcome": outcome, "evidence": evidence, "proof": proof}
            for clause, (outcome, evidence, proof) in zip(data["claim"], clauses, strict=True)
        ],
    }


def recheck(made):
    return recheck_text(json.dumps(made).encode())


def given_at(statement, instance):
    return Given(statement if isinstance(statement, dict) else statement.to_data(), dict(instance), Effort())


def _checkpoints(statement, instance, clause, steps, *, bits, last):
    """States of the run at some steps, each a ball eight times as wide as what was computed."""
    given, found = given_at(statement, instance), []
    with ctx.workprec(bits):
        recursion = runs.Recursion(given, given.claim[clause]["dynamics"], "here")
        run = runs.Run(recursion, [], last, bits, "here")
        for step in steps:
            run.follow(step)
            run.state = [arb(s.mid(), 8 * s.rad() + arb(2) ** -bits) for s in run.state]
            found.append([step, [[_fraction(s.mid()), _fraction(s.rad())] for s in run.state]])
    return found


def _fraction(point):
    mantissa, exponent = map(int, point.man_exp())
    return str(Fraction(mantissa) * Fraction(2) ** exponent)


def _cuts(given, clause, proof):
    """A bisection that covers the box, cutting the relatively longest side."""
    with ctx.workprec(proof["bits"]):
        box = boxes.read_box(given, clause, proof, "proof", proof["bits"])
        waiting, cuts = [box.whole], []
        while waiting:
            part = waiting.pop()
            if not box.refusal(part):
                cuts.append(-1)
                continue
            sides = [float((a[1] - a[0]) / (b[1] - b[0])) for a, b in zip(part, box.whole, strict=True)]
            cuts.append(sides.index(max(sides)))
            waiting.extend(reversed(boxes.halves(part, cuts[-1])))
            assert len(cuts) < 2000
    return cuts


def one_clause(clause, *parameters, **more):
    return Statement(parameters, (clause,), **more)


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


HALVING = Dynamics((z,), (sp.Integer(1),), (z / 2,), z)


def within():
    # z_t = 2^(−t) comes down to 1/1000 at t = 10, and 1000 allows that.
    statement = one_clause(Reaches("reached", HALVING, x, within=sp.exp(n)), X, N)
    proof = {"kind": "passage", "bits": 64, "steps": 10, "checkpoints": []}
    return certificate(statement, {"x": "1/1000", "n": "3"}, ("verified", "certified", proof))


def above():
    # Refuted where e^n = 7.38… allows 7 steps only.
    proof = {"kind": "above", "bits": 64, "last": 7, "checkpoints": []}
    statement = one_clause(Reaches("reached", HALVING, x, within=sp.exp(n)), X, N)
    return certificate(statement, {"x": "1/1000", "n": "2"}, ("refuted", "certified", proof))


def before_the_start():
    proof = {"kind": "above", "bits": 64, "last": -1, "checkpoints": []}
    statement = one_clause(Reaches("reached", HALVING, x, within=n), X, N)
    return certificate(statement, {"x": "1/1000", "n": "-1/2"}, ("refuted", "certified", proof))


@cache
def theorem1():
    return load_theorem("wang2024.theorem1")


def _descent(proof, **more):
    coordinates = [{"lower": to_data(c.lower), "upper": to_data(c.upper), "chart": c.chart} for c in proof.coordinates]
    return {"kind": "descent", "metric": [to_data(m) for m in proof.metric], "coordinates": coordinates, **more}


@cache
def _theorem1_proofs():
    data = theorem1().statement.to_data()
    marks = _checkpoints(data, EXAMPLE, 0, (0, 3000, STEPS), bits=128, last=STEPS)
    descent = _descent(theorem1().proofs["stays"], bits=256, cuts=[])
    descent["cuts"] = _cuts(given_at(data, EXAMPLE), data["claim"][1], descent)
    return {"kind": "passage", "bits": 128, "steps": STEPS, "checkpoints": marks}, descent


def trajectory():
    proofs = (("verified", "certified", proof) for proof in copy.deepcopy(_theorem1_proofs()))
    return certificate(theorem1().statement, EXAMPLE, *proofs, theorem="wang2024.theorem1")


def excess():
    data = theorem1().statement.to_data()
    marks = _checkpoints(data, RISING, 1, (50, 700), bits=1024, last=LATER)
    proofs = (
        ("verified", "certified", {"kind": "passage", "bits": 128, "steps": FIRST, "checkpoints": []}),
        (
            "refuted",
            "certified",
            {"kind": "excess", "bits": 1024, "reached_at": FIRST, "above_at": LATER, "checkpoints": marks},
        ),
    )
    return certificate(data, RISING, *proofs, in_scope=False)


@cache
def _cycle():
    values = {name: Fraction(value) for name, value in CYCLING.items()}
    found = avoids(theorem1().statement.clauses[0].dynamics, values["eps"], values, deadline=time.monotonic() + 60)
    proof = {"kind": "cycle", "bits": 192, "entry_bits": found.passage.bits, "period": found.period}
    proof |= {"entered_at": found.entered_at, "centre": [str(c) for c in found.centre], "radius": str(found.radius)}
    return proof | {"axes": [[str(a) for a in row] for row in found.axes], "checkpoints": []}


def cycle():
    proofs = (("refuted", "certified", _cycle()), ("verified", "certified", copy.deepcopy(_cycle())))
    return certificate(theorem1().statement, CYCLING, *proofs, in_scope=False)


def small_descent():
    # L = e^(−z) on z ≥ 0, z' = z + s e^(−z): L'' ≤ 1, so that s = 19/10 < 2 will do.
    dynamics = Dynamics((z,), (sp.Integer(0),), (z + x * sp.exp(-z),), sp.exp(-z))
    level = Parameter("y", "rational", "y", above=0)
    statement = one_clause(Stays("stays", dynamics, reached=y, level=2 * y), X, level)
    coordinate = {"lower": to_data(sp.Integer(0)), "upper": to_data(sp.Integer(1)), "chart": "exponential"}
    proof = {"kind": "descent", "bits": 64, "metric": [to_data(x)], "coordinates": [coordinate], "cuts": [0, -1, -1]}
    return certificate(statement, {"x": "19/10", "y": "1/3"}, ("verified", "certified", proof))


FADING = Dynamics((z, u), (sp.S.Zero, sp.S.One), (z + x * sp.exp(-z), (u + sp.exp(-z)) / 2), u + sp.exp(-z))


def tube():
    # e^z rises by about x a step, and u is soon near e^(−z): 2/(1 + t/100) comes down to 1/4 at about t = 700. A tube
    # of a tenth of e^(−z) to either side, in cells of 1/4; at t = 20, where it begins, z is about log(6/5) = 0.182.
    statement = one_clause(Reaches("reached", FADING, y), X, Y)
    nodes = []
    for i in range(11):
        at = Fraction(1, 8) + Fraction(i, 4)
        middle = Fraction(round(1000 * math.exp(-at)), 1000)
        nodes.append([str(at), str(middle * Fraction(9, 10)), str(middle * Fraction(11, 10))])
    proof = {"kind": "tube", "bits": 128, "start": 20, "slow": 0, "nodes": nodes, "above": 7}
    proof["observable"] = to_data(2 * sp.exp(-z) + (u - sp.exp(-z)))
    proof["checkpoints"] = _checkpoints(statement, {"x": "1/100", "y": "1/4"}, 0, (10,), bits=128, last=20)
    proof["steps"] = ["482", "1139"]
    return certificate(statement, {"x": "1/100", "y": "1/4"}, ("verified", "certified", proof))


def symbolic(name="wang2024.lemma1"):
    """All clauses of a symbolic theorem: what is divided by is T − 1, T − q and q + (T − q)e^(−C)."""
    statement = load_theorem(name).statement
    T, q, C = (next((s for s in statement.symbols() if s.name == name), sp.Symbol(name)) for name in ("T", "q", "C"))
    factors = [{"factor": to_data(T - 1), "shift": None}]
    if "lemma1" not in name:
        factors.append({"factor": to_data(T - q), "shift": 0})
    if C in statement.variables:
        factors.append({"factor": to_data(q + (T - q) * sp.exp(-C)), "shift": 0})
    proofs = [("verified", "proved", {"kind": "identity", "scope": "all", "factors": factors})] * len(statement.clauses)
    example = {key: str(value) for key, value in load_theorem(name).example.items()}
    return certificate(statement, example, *copy.deepcopy(proofs), theorem=name)


def identity():
    # Defined for k >= 1 and n > k: k − n, k + 2 and k are divided by. Half exponents, definitions.
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
    # x^2 = 9 at x = 3 only.
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
    # x² + y² = n and x = y: (1, 1) at n = 2, alone within 1/4 of (9/8, 7/8).
    data = one_clause(Inequality("roots", sp.Lt(0, n)), N).to_data()
    data["claim"] = [
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
    made["statement"]["claim"][0]["radius"] = to_data(sp.Rational(1, 5))
    made["statement_digest"] = digest(made["statement"])
    return made


def positive():
    # (x + k)/(x + 1) >= 1 for k >= 1, x >= 0; strict, where x >= 2k: x/k > 1 since x/k − 1 >= 1.
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
    # x² + k² ≥ 2xk, by a square; x < 3k where x ≤ 2k, as 3k − 2k/(1 + s) has no negative coefficient.
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
    # (x − 2k)² (x + k) ≥ 0, by which of x and 2k is larger; z − z² ≥ 0 on [0, 1]; x² + z² + 1 > x z, by a multiplier.
    size, a = Parameter("x", "rational", "x", above=0), sp.Symbol("x", positive=True)
    share, c = Parameter("z", "rational", "z", minimum=0), sp.Symbol("z", nonnegative=True)
    statement = Statement(
        (size, share, POSITIVE),
        (
            Inequality("order", sp.Ge((a - 2 * K) ** 2 * (a + K), 0, evaluate=False)),
            Inequality("share", sp.Ge(c, c**2)),
            Inequality("multiplied", sp.Gt(a**2 + c**2 + 1, a * c, evaluate=False)),
        ),
        hypotheses=(Hypothesis("share", sp.Le(c, 1)),),
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


LETTERS = {name: sp.Symbol(name, commutative=False) for name in "ABv"}
SHAPES = {LETTERS["A"]: (K, K), LETTERS["B"]: (K, K), LETTERS["v"]: (K, 1)}


def words():
    # (A + sB)ᵀ v = Aᵀv + s Bᵀv, s a variable; the word picks A at its first.
    A, B, v = LETTERS.values()
    word = Parameter("w", "word", "w", words=("A", "B"))
    left = sp.transpose(Case(sp.Symbol("w"), A, B) + u * B) * v
    clause = MatrixIdentity("same", left, sp.transpose(A) * v + u * sp.transpose(B) * v, SHAPES)
    hypothesis = Hypothesis("first", text="the first", varies=word)
    statement = Statement((POSITIVE, word), (clause,), hypotheses=(hypothesis,), variables=(u,))
    return certificate(statement, {"k": "3", "w": "A"}, ("verified", "proved", {"kind": "words"}))


def words_here():
    # h·(1/h)·A = A where h ≠ 0, here at h = 3, by a definition that has no value at 0.
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
    # On [0, 1]: p = 1 − 4s + 10/3 s², the roots (6 ± √6)/10 = 0.355…, 0.845…, the minimum 1/9.
    index = sp.Symbol("i", integer=True, nonnegative=True)
    return one_clause(LeastResidual("least", K, 1 / (index + 1), index, minimum=minimum, **more), POSITIVE)


UNIFORM = ["1", "-4", "10/3"]


def residual():
    proof = {"kind": "residual", "polynomial": UNIFORM, "roots": [["1/3", "2/5"], ["4/5", "9/10"]]}
    return certificate(_least(1 / (K + 1) ** 2), {"k": "2"}, ("verified", "certified", proof))


def residual_refuted():
    # Orthogonal to 1 and s: the Legendre polynomial 1 − 6s + 6s².
    proof = {"kind": "residual", "polynomial": ["1", "-6", "6"], "roots": []}
    return certificate(_least(None, shift=sp.Integer(0)), {"k": "2"}, ("refuted", "certified", proof))


def residual_of_wishart():
    # One factor: a = n/(n + d + 1), the minimum d(d + 1)/(n + d + 1); here n = 3, d = 2.
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


INDEX = sp.Symbol("i", integer=True, nonnegative=True)


def stationary_square(near=None, **more):
    # One layer on [0, 1]: 1 − a + a²/3 is critical at 3/2 alone; b is without effect.
    g, a, b, s = (sp.Symbol(name, real=True) for name in "gabs")
    recursion = Dynamics((g, z), (sp.S.One, sp.S.One), (g * (1 - b * s), z * (1 - a * s * g**2)), z)
    box = {} if near is None else {"near": (near, sp.S.Zero), "radius": sp.Rational(1, 8)}
    return one_clause(
        StationarySquare("critical", K, recursion, (a, b), s, 1 / (INDEX + 1), INDEX, **box, **more), POSITIVE
    )


STATIONARY = {"kind": "stationary", "bits": 128, "centre": ["3/2"], "radius": "1/16"}


def stationary():
    return certificate(stationary_square(), {"k": "1"}, ("verified", "certified", STATIONARY))


def stationary_in_a_box():
    statement = stationary_square(sp.Rational(31, 20), minimum=True)
    return certificate(statement, {"k": "1"}, ("verified", "certified", STATIONARY))


def not_stationary():
    proof = {"kind": "not_stationary", "bits": 128}
    return certificate(stationary_square(sp.Integer(2)), {"k": "1"}, ("refuted", "certified", proof))


def point_of_an_inequality():
    # 2z < z² fails at z = 1/2, by 1/4 − 1; the list is only read.
    listed = Parameter("v", "rationals", "a list", above=0)
    statement = one_clause(Inequality("bound", sp.Lt(2 * z, x * z**2)), X, listed, variables=(z,))
    proof = {"kind": "point", "bits": None, "point": {"z": "1/2"}, "difference": "-3/4"}
    return certificate(statement, {"x": "1", "v": ["1", "1/4"]}, ("refuted", "certified", proof))


ACCEPTED = {
    made.__name__: made
    for made in (
        *(exact, exact_refuted, ball, within, above, before_the_start, trajectory, excess, cycle, small_descent, tube),
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
            in_logarithms,
        ),
        *(words, words_here, matrices, residual, residual_refuted, residual_of_wishart, point_of_an_inequality),
        *(stationary, stationary_in_a_box, not_stationary),
    )
}


def changed(made, path, value):
    """Return a copy with the value at a dotted path replaced (or, where it is `...`, removed)."""
    made = copy.deepcopy(made)
    *parents, last = [int(part) if part.lstrip("-").isdigit() else part for part in path.split(".")]
    inside = made
    for part in parents:
        inside = inside[part]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    if path.startswith("statement."):
        made["statement_digest"] = digest(made["statement"])
    return made


def integer(value):
    return ["Integer", str(value)]
