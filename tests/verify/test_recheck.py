"""The re-checker: each kind of proof accepted, and rejected with the field named; what it imports; what it costs."""

import contextlib
import copy
import json
import random
import subprocess
import sys
import time
from fractions import Fraction
from functools import cache

import pytest
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
    Stays,
    load_theorem,
)
from verify.cycles import avoids
from verify.dynamics import first_passage
from verify.language import Case, digest, to_data
from verify.recheck import KINDS, Accepted, Rejected, Unreadable, boxes, recheck_file, recheck_text, refusals, runs
from verify.recheck.fields import Balls, Exact, evaluate
from verify.recheck.given import Given
from verify.recheck.polynomials import Quotients, admit_all
from verify.recheck.reading import Effort

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


def _given(statement, instance):
    return Given(statement if isinstance(statement, dict) else statement.to_data(), dict(instance), Effort())


def _checkpoints(statement, instance, clause, steps, *, bits, last):
    """States of the run at some steps, each a ball eight times as wide as what was computed."""
    given, found = _given(statement, instance), []
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


def _one(clause, *parameters, **more):
    return Statement(parameters, (clause,), **more)


def exact():
    return certificate(
        _one(Inequality("bound", sp.Le(x**2, y)), X, Y),
        {"x": "2/3", "y": "1/2"},
        ("verified", "certified", {"kind": "exact", "margin": "1/18"}),
    )


def exact_refuted():
    statement = _one(Inequality("bound", sp.Gt(x**2, y)), X, Y, hypotheses=(Hypothesis("small", sp.Lt(x, sp.sqrt(y))),))
    proof = {"kind": "exact", "margin": "-1/18"}
    return certificate(statement, {"x": "2/3", "y": "1/2"}, ("refuted", "certified", proof))


def ball():
    # e − 5/2 = 0.21828…
    statement = _one(Inequality("bound", sp.Lt(sp.Rational(5, 2), sp.exp(x))), X)
    proof = {"kind": "ball", "bits": 128, "margin": ["5457/25000", "2729/12500"]}
    return certificate(statement, {"x": "1"}, ("verified", "certified", proof))


HALVING = Dynamics((z,), (sp.Integer(1),), (z / 2,), z)


def within():
    # z_t = 2^(−t) comes down to 1/1000 at t = 10, and 1000 allows that.
    statement = _one(Reaches("reached", HALVING, x, within=sp.exp(n)), X, N)
    proof = {"kind": "passage", "bits": 64, "steps": 10, "checkpoints": []}
    return certificate(statement, {"x": "1/1000", "n": "3"}, ("verified", "certified", proof))


def above():
    # Refuted where e^n = 7.38… allows 7 steps only.
    proof = {"kind": "above", "bits": 64, "last": 7, "checkpoints": []}
    statement = _one(Reaches("reached", HALVING, x, within=sp.exp(n)), X, N)
    return certificate(statement, {"x": "1/1000", "n": "2"}, ("refuted", "certified", proof))


def before_the_start():
    proof = {"kind": "above", "bits": 64, "last": -1, "checkpoints": []}
    statement = _one(Reaches("reached", HALVING, x, within=n), X, N)
    return certificate(statement, {"x": "1/1000", "n": "-1/2"}, ("refuted", "certified", proof))


@cache
def _theorem1():
    return load_theorem("wang2024.theorem1")


def _descent(proof, **more):
    coordinates = [{"lower": to_data(c.lower), "upper": to_data(c.upper), "chart": c.chart} for c in proof.coordinates]
    return {"kind": "descent", "metric": [to_data(m) for m in proof.metric], "coordinates": coordinates, **more}


@cache
def _theorem1_proofs():
    data = _theorem1().statement.to_data()
    marks = _checkpoints(data, EXAMPLE, 0, (0, 3000, STEPS), bits=128, last=STEPS)
    descent = _descent(_theorem1().proofs["stays"], bits=256, cuts=[])
    descent["cuts"] = _cuts(_given(data, EXAMPLE), data["claim"][1], descent)
    return {"kind": "passage", "bits": 128, "steps": STEPS, "checkpoints": marks}, descent


def trajectory():
    proofs = (("verified", "certified", proof) for proof in copy.deepcopy(_theorem1_proofs()))
    return certificate(_theorem1().statement, EXAMPLE, *proofs, theorem="wang2024.theorem1")


def excess():
    data = _theorem1().statement.to_data()
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
    found = avoids(_theorem1().statement.clauses[0].dynamics, values["eps"], values, deadline=time.monotonic() + 60)
    proof = {"kind": "cycle", "bits": 192, "entry_bits": found.passage.bits, "period": found.period}
    proof |= {"entered_at": found.entered_at, "centre": [str(c) for c in found.centre], "radius": str(found.radius)}
    return proof | {"axes": [[str(a) for a in row] for row in found.axes], "checkpoints": []}


def cycle():
    proofs = (("refuted", "certified", _cycle()), ("verified", "certified", copy.deepcopy(_cycle())))
    return certificate(_theorem1().statement, CYCLING, *proofs, in_scope=False)


def small_descent():
    # L = e^(−z) on z ≥ 0, z' = z + s e^(−z): L'' ≤ 1, so that s = 19/10 < 2 will do.
    dynamics = Dynamics((z,), (sp.Integer(0),), (z + x * sp.exp(-z),), sp.exp(-z))
    statement = _one(Stays("stays", dynamics, reached=y, level=2 * y), X, Parameter("y", "rational", "y", above=0))
    coordinate = {"lower": to_data(sp.Integer(0)), "upper": to_data(sp.Integer(1)), "chart": "exponential"}
    proof = {"kind": "descent", "bits": 64, "metric": [to_data(x)], "coordinates": [coordinate], "cuts": [0, -1, -1]}
    return certificate(statement, {"x": "19/10", "y": "1/3"}, ("verified", "certified", proof))


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


def test_what_a_word_decides_is_not_proved_for_all():
    # True at the first word and false at the other.
    word, name = Parameter("w", "word", "w", words=("one", "other")), sp.Symbol("w")
    clause = Identity("same", Case(name, (K + 1) ** 2, K), K**2 + 2 * K + 1)
    statement = Statement((POSITIVE, word), (clause,))
    for scope, evidence in (("all", "proved"), ("instance", "certified")):
        proof = {"kind": "identity", "scope": scope, "factors": []}
        made = certificate(statement, {"k": "1", "w": "one"}, ("verified", evidence, proof))
        if scope == "all":
            with pytest.raises(Rejected, match="not shown for all"):
                recheck_text(json.dumps(made).encode())
        else:
            recheck_text(json.dumps(made).encode())


def identity_here():
    # x^2 = 9 at x = 3 only.
    v = AT_LEAST
    statement = _one(Identity("same", x**2 * v / (v**2 + x), 9 * v / (v**2 + 3)), X, variables=(v,))
    proof = {"kind": "identity", "scope": "instance", "factors": [{"factor": to_data(v**2 + 3), "shift": None}]}
    return certificate(statement, {"x": "3"}, ("verified", "certified", proof))


def point():
    statement = _one(Identity("same", sp.Limit((x + y) ** 2 / x - y**2 / x, x, 0), 3 * y), Y, variables=())
    proof = {"kind": "point", "bits": None, "point": {}, "difference": "-5"}
    return certificate(statement, {"y": "5"}, ("refuted", "certified", proof))


def point_in_balls():
    # e^(y − k) − 1 at y = 1/2, k = 1: e^(−1/2) − 1 = −0.3934…
    statement = _one(Identity("same", sp.exp(AT_LEAST) * sp.exp(-K), sp.Integer(1)), POSITIVE, variables=(AT_LEAST,))
    proof = {"kind": "point", "bits": 128, "point": {"y": "1/2"}, "difference": ["-787/2000", "-1967/5000"]}
    return certificate(statement, {"k": "1"}, ("refuted", "certified", proof))


def root():
    # x² + y² = n and x = y: (1, 1) at n = 2, alone within 1/4 of (9/8, 7/8).
    data = _one(Inequality("roots", sp.Lt(0, n)), N).to_data()
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


def matrices():
    # AB − uBA at u = 2 for A = [[1, 2], [0, 1]], B = [[0, 1], [1, 0]]: AB = [[2, 1], [1, 0]], BA = [[0, 1], [1, 2]].
    A, B, _ = LETTERS.values()
    statement = _one(MatrixIdentity("same", A * B, u * B * A, SHAPES), POSITIVE, variables=(u,))
    put = {"A": [["1", "2"], ["0", "1"]], "B": [["0", "1"], ["1", "0"]], "v": [["0"], ["0"]]}
    proof = {"kind": "matrices", "scalars": {"u": "2"}, "matrices": put, "place": [1, 1], "difference": "-4"}
    return certificate(statement, {"k": "2"}, ("refuted", "certified", proof))


def _least(minimum, **more):
    # On [0, 1]: p = 1 − 4s + 10/3 s², the roots (6 ± √6)/10 = 0.355…, 0.845…, the minimum 1/9.
    index = sp.Symbol("i", integer=True, nonnegative=True)
    return _one(LeastResidual("least", K, 1 / (index + 1), index, minimum=minimum, **more), POSITIVE)


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
    return certificate(_one(clause, POSITIVE), {"k": "2"}, ("verified", "certified", proof))


def point_of_an_inequality():
    # 2z < z² fails at z = 1/2, by 1/4 − 1; the list is only read.
    listed = Parameter("v", "rationals", "a list", above=0)
    statement = _one(Inequality("bound", sp.Lt(2 * z, x * z**2)), X, listed, variables=(z,))
    proof = {"kind": "point", "bits": None, "point": {"z": "1/2"}, "difference": "-3/4"}
    return certificate(statement, {"x": "1", "v": ["1", "1/4"]}, ("refuted", "certified", proof))


ACCEPTED = {
    made.__name__: made
    for made in (
        *(exact, exact_refuted, ball, within, above, before_the_start, trajectory, excess, cycle, small_descent),
        *(symbolic, identity, identity_here, point, point_in_balls, root, no_root, positive),
        *(words, matrices, residual, residual_refuted, residual_of_wishart, point_of_an_inequality),
    )
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_proved_is_accepted(name):
    made = ACCEPTED[name]()
    found = recheck(made)
    assert isinstance(found, Accepted) and found.statement_digest == made["statement_digest"]
    assert found.instance == made["instance"] and found.in_scope == made["in_scope"]
    stated = [(c["label"], c["outcome"], c["evidence"], c["proof"]["kind"]) for c in made["clauses"]]
    assert list(found.clauses) == stated and found.uses == (("wang2024.lemma1", "0" * 64),)


def test_every_kind_is_accepted_somewhere():
    assert {c["proof"]["kind"] for made in ACCEPTED.values() for c in made()["clauses"]} == set(KINDS)


def test_the_symbolic_theorems_are_proved_again_in_seconds():
    started = time.monotonic()
    clauses = [clause for name in SYMBOLIC for clause in recheck(symbolic(name)).clauses]
    assert len(clauses) == 25 and {evidence for _, _, evidence, _ in clauses} == {"proved"}
    # About a second on the machine that this was written on.
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("name", SYMBOLIC)
def test_no_canary_of_a_symbolic_theorem_is_proved(name):
    theorem = load_theorem(name)
    for canary in theorem.canaries:
        made = symbolic(name)
        data = canary.statement.to_data()
        made |= {"statement": data, "statement_digest": digest(data)}
        with pytest.raises(Rejected, match="not the same rational function"):
            recheck(made)


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


PROOF = "clauses.0.proof"
OTHER = "clauses.1.proof"


def _integer(value):
    return ["Integer", str(value)]


_ROOT_Y = ["Symbol", "y", "real"]
REJECTED = [
    ("exact", f"{PROOF}.margin", "1/17", "margin: is not larger minus smaller"),
    ("exact", f"{PROOF}.margin", "2/36", "not in lowest terms"),
    ("exact", f"{PROOF}.margin", 1, "not a rational number"),
    ("exact", "clauses.0.outcome", "refuted", "the margin says otherwise"),
    ("exact", "clauses.0.evidence", "proved", "evidence: proved is not what"),
    ("exact", "instance.y", "1/3", "margin: is not"),
    ("exact", "instance.x", "0.5", "not a rational number"),
    ("exact", f"{PROOF}.kind", "identity", "is missing|missing|not known"),
    ("exact", "statement.claim.0.relation.0", "Eq", "the margin says otherwise"),
    ("exact_refuted", f"{PROOF}.margin", "1/18", "margin: is not"),
    ("exact_refuted", "in_scope", False, "in_scope: false is not what the hypotheses say"),
    ("exact_refuted", "clauses.0.outcome", "verified", "the margin says otherwise"),
    ("exact_refuted", "statement.claim.0.relation", ["Gt", ["exp", ["Symbol", "x", "real"]], _integer(3)], "rational"),
    ("exact_refuted", "instance.x", "1", "in_scope"),
    ("ball", f"{PROOF}.margin", ["21829/100000", "2729/12500"], "does not contain the ball"),
    ("ball", f"{PROOF}.margin", ["-1", "1"], "does not decide"),
    ("ball", f"{PROOF}.margin", ["1", "0"], "wrong order"),
    ("ball", f"{PROOF}.bits", 63, "not an integer from 64 to 8192"),
    ("ball", f"{PROOF}.bits", 10**6, "not an integer from 64 to 8192"),
    ("ball", "clauses.0.outcome", "refuted", "the margin says otherwise"),
    ("ball", "statement.claim.0.relation.1", ["Primitive", "gamma", 1, _integer(3)], "is not known to this program"),
    ("within", f"{PROOF}.steps", 9, "not at or below the level at step 9"),
    ("within", f"{PROOF}.steps", 11, "not above the level at step 10"),
    ("within", f"{PROOF}.steps", 21, "later than the clause allows"),
    ("within", "instance.n", "2", "later than the clause allows"),
    ("within", f"{PROOF}.checkpoints", [[3, [["1/8", "0"]]], [3, [["1/8", "0"]]]], "not an integer from 4 to 10"),
    ("within", f"{PROOF}.checkpoints", [[3, [["1/7", "1"]]]], "not dyadic"),
    ("within", f"{PROOF}.checkpoints", [[3, [["1/4", "1/16"]]]], "not inside the stated balls"),
    ("within", f"{PROOF}.checkpoints", [[3, [["1/8", "1/4"]]]], "not above the level"),
    ("within", "clauses.0.outcome", "refuted", "passage does not prove"),
    ("within", "statement.claim.0.dynamics.state", [["Symbol", "x", "real"]], "new symbols"),
    ("above", f"{PROOF}.last", 6, "is not the last step that the clause allows"),
    ("above", f"{PROOF}.last", 8, "is not the last step that the clause allows"),
    ("above", f"{PROOF}.last", -1, "is not the last step that the clause allows"),
    ("above", "instance.x", "1/100", "not above the level at step 7"),
    ("above", "statement.claim.0.within", None, "is not the last step"),
    ("above", "clauses.0.outcome", "verified", "above does not prove"),
    ("before_the_start", f"{PROOF}.last", 0, "is not the last step"),
    ("before_the_start", "instance.n", "1/2", "is not the last step"),
    ("before_the_start", f"{PROOF}.checkpoints", [[0, [["1", "0"]]]], "from 0 to -1"),
    ("trajectory", f"{PROOF}.steps", STEPS - 1, "checkpoints|not at or below"),
    ("trajectory", f"{PROOF}.checkpoints.1.1.0.1", "0", "not inside the stated balls"),
    ("trajectory", f"{PROOF}.checkpoints.1.0", 3001, "not inside the stated balls"),
    ("trajectory", f"{OTHER}.cuts", [-1], "on this part"),
    ("trajectory", f"{OTHER}.cuts", [], "ends before the box is covered"),
    ("trajectory", f"{OTHER}.cuts.0", 2, "not an integer from -1 to 1"),
    ("trajectory", f"{OTHER}.metric.0", _integer(1), "not the scaled gradient step"),
    ("trajectory", f"{OTHER}.coordinates.0.upper", _integer(1), "stay in the box"),
    ("trajectory", f"{OTHER}.coordinates.0.lower", ["Rational", "1/2"], "initial point is not in the box"),
    ("trajectory", f"{OTHER}.coordinates.1.chart", "identity", "stay in the box"),
    ("trajectory", f"{OTHER}.coordinates.0.chart", "exponential", "outside exponentials|other than by"),
    ("trajectory", "statement.claim.1.level", ["Rational", "1/300"], "above the level that is kept"),
    ("trajectory", "instance.eta", "1/2", None),
    ("excess", f"{OTHER}.reached_at", FIRST - 1, "not at or below"),
    ("excess", f"{OTHER}.reached_at", FIRST + 1, "not above the level at step 102"),
    ("excess", f"{OTHER}.above_at", LATER - 1, "not above the level at step 1600"),
    ("excess", f"{OTHER}.above_at", FIRST - 1, "not an integer from 102"),
    ("excess", f"{OTHER}.bits", 64, "unbounded|not above|not inside"),
    ("excess", "clauses.1.outcome", "verified", "excess does not prove"),
    ("excess", "in_scope", True, "in_scope"),
    ("cycle", f"{PROOF}.entry_bits", 64, "unbounded|not above"),
    ("cycle", f"{PROOF}.entered_at", 10, "not inside the set"),
    ("cycle", f"{PROOF}.period", 1, "not above the level on an image|not mapped into itself"),
    ("cycle", f"{PROOF}.centre.0", "1", "not inside the set"),
    ("cycle", f"{PROOF}.radius", "0", "radius: is not positive"),
    ("cycle", f"{PROOF}.radius", "1", "on an image of the set|not mapped"),
    ("cycle", f"{PROOF}.axes", [["1", "1"], ["1", "1"]], "invertible"),
    ("cycle", f"{OTHER}.radius", "1/1000000000", "not inside the set"),
    ("cycle", "statement.claim.0.within", _integer(10**6), "with a last step"),
    ("small_descent", f"{PROOF}.cuts", [0, -1, -1, -1], "goes on after the box is covered"),
    ("small_descent", f"{PROOF}.cuts", [0, -1], "ends before"),
    ("small_descent", "instance.x", "21/10", "scaled Hessian is not at most 2"),
    ("small_descent", "instance.x", "-1/10", "metric is not positive"),
    ("small_descent", f"{PROOF}.coordinates.0.upper", ["Rational", "1/2"], "initial point is not in the box"),
    ("small_descent", f"{PROOF}.coordinates.0.lower", ["Rational", "1/2"], "stay in the box"),
    ("small_descent", f"{PROOF}.coordinates.0.lower", _integer(-1), "exponential coordinate is negative"),
    ("small_descent", "statement.claim.0.dynamics.step.0", ["Symbol", "z", "real"], "scaled gradient step"),
    ("symbolic", f"{PROOF}.factors", [], "no listed factor covers"),
    ("symbolic", f"{PROOF}.factors.1.shift", None, "not shown to keep one sign"),
    ("symbolic", f"{PROOF}.factors.1.factor", _integer(2), "is a constant"),
    ("symbolic", "clauses.0.evidence", "certified", "evidence"),
    ("symbolic", "statement.domain", [], "not an integer from 0 to -1"),
    ("symbolic", "statement.parameters.0.minimum", "1", "keep one sign"),
    ("symbolic", "clauses", [], "has 0 entries, not 10"),
    ("words", "instance.w", "B", "in_scope"),
    ("words", "clauses.0.evidence", "certified", "evidence"),
    ("words", "clauses.0.outcome", "refuted", "words does not prove"),
    ("words", "statement.hypotheses", [], "not shown for all"),
    ("words", "statement.claim.0.right", ["Symbol", "v", "noncommutative"], "not the same words"),
    ("words", "statement.claim.0.shapes.1", ..., "shape of 'B' is not given"),
    ("words", "statement.claim.0.shapes.0.1", ["Integer", "3"], "do not fit"),
    ("words", "statement.claim.0.left.0", "Add", "different shapes"),
    ("words", "statement.variables", [], "not introduced"),
    ("words", "statement.claim.0.shapes.2.2", None, "is not an expression"),
    ("matrices", f"{PROOF}.difference", "4", "is not left minus right"),
    ("matrices", f"{PROOF}.place", [0, 1], "is not left minus right"),
    ("matrices", f"{PROOF}.place", [2, 0], "outside the matrices"),
    ("matrices", f"{PROOF}.scalars", {}, "'u' has no value"),
    ("matrices", f"{PROOF}.scalars.u", "3", "is not left minus right"),
    ("matrices", f"{PROOF}.matrices.A.1.0", "2", "is not left minus right"),
    ("matrices", f"{PROOF}.matrices.A.0", ["1"], "has 1 entries, not 2"),
    ("matrices", f"{PROOF}.matrices.B", ..., "B: missing"),
    ("matrices", "instance.k", "3", "has 2 entries, not 3"),
    ("residual", f"{PROOF}.polynomial.1", "-3", "not orthogonal"),
    ("residual", f"{PROOF}.polynomial.0", "2", "is not 1 at 0"),
    ("residual", f"{PROOF}.polynomial", ["1"], "not orthogonal"),
    ("residual", f"{PROOF}.roots.0", ["2/5", "1/2"], "not shown to hold a root"),
    ("residual", f"{PROOF}.roots.0", ["-1", "2/5"], "root other than 0"),
    ("residual", f"{PROOF}.roots.1", ["1/3", "2/5"], "out of order"),
    ("residual", f"{PROOF}.roots", [["1/3", "2/5"]], "has 1 intervals, not 2"),
    ("residual", "instance.k", "3", "not orthogonal"),
    ("residual", "clauses.0.outcome", "refuted", "says otherwise"),
    ("residual", "statement.claim.0.minimum", ["Rational", "1/8"], "are not asked for"),
    ("residual", "statement.claim.0.scale", ["Integer", "2"], "not orthogonal"),
    ("residual_refuted", "clauses.0.outcome", "verified", "says otherwise"),
    ("residual_refuted", f"{PROOF}.polynomial", UNIFORM, "not orthogonal"),
    ("residual_refuted", "statement.claim.0.shift", ["Integer", "1"], "not orthogonal"),
    ("residual_refuted", f"{PROOF}.roots", [["1/3", "2/5"]], "are not asked for"),
    ("residual_of_wishart", "statement.claim.0.moment.1", "wishart", "is not known"),
    ("residual_of_wishart", "statement.claim.0.moment.2", 2, "is not known"),
    ("residual_of_wishart", "statement.claim.0.moment", _integer(0), "does not determine"),
    (
        "residual_of_wishart",
        "statement.claim.0.moment",
        to_data(-(sp.Integer(2) ** sp.Symbol("i", integer=True, nonnegative=True))),
        "enough points",
    ),
    ("residual_of_wishart", "instance.k", "1", "not orthogonal"),
    ("point_of_an_inequality", f"{PROOF}.point.z", "3", "not the difference"),
    ("point_of_an_inequality", f"{PROOF}.point", {}, "has no value"),
    ("point_of_an_inequality", f"{PROOF}.difference", "3/4", "not the difference"),
    ("point_of_an_inequality", "instance.v", ["1", "0"], "outside the parameter's domain"),
    ("point_of_an_inequality", "instance.v", "1", "is not a list"),
    ("identity", f"{PROOF}.factors.0.shift", None, "not shown to keep one sign"),
    ("identity", f"{PROOF}.factors.1", ..., "no listed factor covers"),
    ("identity", f"{PROOF}.scope", "instance", "evidence"),
    ("identity", "instance.w", "third", "is not 'one' or 'other'"),
    ("identity", "instance.n", "1/2", "breaks domain"),
    ("identity", "statement.claim.0.right", _integer(1), "not the same rational function"),
    ("identity_here", f"{PROOF}.scope", "all", "evidence"),
    ("identity_here", "instance.x", "2", "not the same|no listed factor"),
    ("identity_here", f"{PROOF}.factors", [], "no listed factor covers"),
    ("identity_here", f"{PROOF}.factors.0.factor", to_data(AT_LEAST - 3), "keep one sign"),
    ("identity_here", f"{PROOF}.factors.0.shift", 0, "not an integer from 0 to -1"),
    ("point", f"{PROOF}.difference", "-4", "not the difference"),
    ("point", f"{PROOF}.difference", "0", "not the difference"),
    ("point", f"{PROOF}.point", {"x": "1"}, "not known"),
    ("point", "clauses.0.outcome", "verified", "point does not prove"),
    ("point", "instance.y", "0", "not the difference"),
    ("point", "statement.claim.0.left.3", ["Infinity"], "infinite"),
    ("point_in_balls", f"{PROOF}.point.y", "-1/2", "is not .*positive"),
    ("point_in_balls", f"{PROOF}.point", {}, "'y' has no value here"),
    ("point_in_balls", f"{PROOF}.difference", ["-1", "1"], "refutes nothing"),
    ("point_in_balls", f"{PROOF}.difference", ["1/10", "1/5"], "does not contain the ball"),
    ("point_in_balls", f"{PROOF}.bits", None, "not a rational number"),
    ("root", f"{PROOF}.centre", ["11/10", "1"], "a root in the stated box is not shown"),
    ("root", f"{PROOF}.radius", "1/2", "not inside the clause's box"),
    ("root", f"{PROOF}.radius", "-1/1000", "not inside the clause's box"),
    ("root", f"{PROOF}.centre", ["1"], "has 1 entries, not 2"),
    ("root", "instance.n", "3", "a root in the stated box is not shown"),
    ("root", "statement.claim.0.radius", _integer(3), "two roots in the clause's box are not excluded"),
    ("root", "statement.claim.0.unknowns.0", ["Symbol", "n", "real"], "new symbols"),
    ("root", "clauses.0.outcome", "refuted", "root does not prove"),
    ("root", "statement.claim.0.unknowns.0", ["Symbol", "x", "integer", "rational", "real"], "are real, and at most"),
    ("root", "statement.claim.0.unknowns.1", ["Symbol", "y", "nonpositive", "real"], "are real, and at most"),
    ("no_root", "instance.n", "2", "not shown to hold no root"),
    ("no_root", "statement.claim.0.radius", _integer(1), "not shown to hold no root"),
    ("no_root", "clauses.0.outcome", "verified", "no_root does not prove"),
    ("no_root", "clauses.0.evidence", "proved", "evidence"),
    ("no_root", "statement.claim.0.equations.1", ["Add", _ROOT_Y, ["Mul", _integer(-1), _ROOT_Y]], "invertible"),
    ("no_root", "statement.claim.0.equations.1", ["Pow", ["Add", _ROOT_Y, _integer(-1)], _integer(-1)], "unbounded"),
    ("no_root", f"{PROOF}.bits", 10**6, "not an integer from 64"),
    ("positive", f"{PROOF}.shifts.k", "2", "is not the parameter's bound"),
    ("positive", f"{PROOF}.shifts", {}, "not all positive"),
    ("positive", f"{OTHER}.relations", [], "not all positive"),
    ("positive", f"{OTHER}.relations", [0, 0], "listed twice"),
    ("positive", f"{OTHER}.relations", [1], "not an integer from 0 to 0"),
    ("positive", "clauses.0.evidence", "certified", "evidence"),
    ("positive", "statement.hypotheses.0.relation.2", ["Mul", _integer(2), _integer(3)], "not all positive"),
]


@pytest.mark.parametrize(("name", "path", "value", "why"), REJECTED)
def test_what_is_not_proved_is_rejected(name, path, value, why):
    with pytest.raises(Rejected, match=why) as caught:
        recheck(changed(ACCEPTED[name](), path, value))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_every_kind_is_rejected_in_five_ways():
    kinds = {name: [c["proof"]["kind"] for c in made()["clauses"]] for name, made in ACCEPTED.items()}
    counts = dict.fromkeys(KINDS, 0)
    for name, path, *_ in REJECTED:
        counts[kinds[name][1 if path.startswith(("clauses.1", "statement.claim.1")) else 0]] += 1
    assert min(counts.values()) >= 5, counts


def _everywhere(value, put):
    """All data that differ from a value by one symbol x, each replaced by `put`."""
    if value == ["Symbol", "x", "real"]:
        yield put
    elif isinstance(value, list | dict):
        for key in range(len(value)) if isinstance(value, list) else value:
            for other in _everywhere(value[key], put):
                made = copy.copy(value)
                made[key] = other
                yield made


def test_no_symbol_of_a_parameter_assumes_more_than_its_domain_wherever_it_occurs_first():
    data = _one(Inequality("bound", sp.Lt(x**2, 5)), X).to_data()
    one = {"kind": "identity", "label": "same", "says": "", "left": _integer(1), "right": _integer(1)}
    exact = {"kind": "exact", "margin": "1"}
    factor = {"kind": "identity", "scope": "all", "factors": [{"factor": ["Symbol", "x", "real"], "shift": None}]}
    tried = 0
    for put in (["Symbol", "x", "positive"], ["Symbol", "x", "integer", "real"], ["Symbol", "x", "nonzero"]):
        for claim in _everywhere(data["claim"], put):
            made = certificate(data | {"claim": claim}, {"x": "-2"}, ("verified", "certified", exact))
            with pytest.raises(Rejected, match="assumes more than the parameter's domain"):
                recheck(made)
            tried += 1
        for proof in _everywhere(factor, put):
            made = certificate(data | {"claim": [one]}, {"x": "-2"}, ("verified", "proved", proof))
            with pytest.raises(Rejected, match="assumes more than the parameter's domain"):
                recheck(made)
            tried += 1
    assert tried == 6


def test_an_instance_out_of_scope_may_use_no_hypothesis():
    made = changed(changed(positive(), "instance.x", "3"), "in_scope", False)
    with pytest.raises(Rejected, match="out of scope"):
        recheck(made)


def test_a_positive_margin_needs_divisors_of_one_sign_and_symbols_of_known_sign():
    v = sp.Symbol("v", nonzero=True)
    statement = _one(Inequality("bound", sp.Lt(0, 1 / v)), POSITIVE, variables=(v,))
    proof = {"kind": "positive", "shifts": {"k": "1"}, "relations": []}
    with pytest.raises(Rejected, match="not all positive"):
        recheck(certificate(statement, {"k": "1"}, ("verified", "proved", proof)))
    statement = _one(Inequality("bound", sp.Le(0, 1 / (x - 2) ** 2)), X)
    with pytest.raises(Rejected, match="not shown to have one sign"):
        recheck(certificate(statement, {"x": "3"}, ("verified", "proved", proof | {"shifts": {}})))


@pytest.mark.parametrize(
    ("assumed", "centre", "accepted"),
    [
        ([], 1, True),
        (["real"], 0, True),
        (["nonnegative", "nonzero", "positive", "real"], 2, True),
        (["nonnegative", "nonzero", "positive", "real"], 1, False),
        (["nonnegative", "nonzero", "positive", "real"], -2, False),
        (["nonnegative", "real"], 1, True),
        (["nonnegative", "real"], 0, False),
        (["nonzero", "real"], -2, True),
        (["nonzero", "real"], 1, False),
        (["negative", "nonpositive", "nonzero", "real"], -2, False),
    ],
)
@pytest.mark.parametrize("width", [sp.Integer(1), sp.exp(0, evaluate=False)])
def test_a_root_is_what_its_symbol_is_assumed_to_be(assumed, centre, accepted, width):
    data = root()["statement"]
    unknown = ["Symbol", "x", *assumed]
    equation = ["Add", ["Mul", _integer(2), unknown], _integer(-2 * centre)]
    parts = {"equations": [equation], "unknowns": [unknown], "centre": [_integer(centre)], "radius": to_data(width)}
    data["claim"][0] |= parts
    proof = {"kind": "root", "bits": 128, "centre": [str(centre)], "radius": "1/1000"}
    made = certificate(data, {"n": "2"}, ("verified", "certified", proof))
    if accepted:
        assert recheck(made)
    else:
        with pytest.raises(Rejected, match=r"assumptions exclude|are real"):
            recheck(made)


def test_a_definition_is_not_put_into_a_derivative_that_binds_what_it_uses():
    # d(y²)/du with y := u is 0 for y held fixed and 2u along it: the two readings are not guessed between.
    clause = Identity("same", sp.Derivative(y**2, u), sp.Integer(0))
    statement = _one(clause, X, variables=(u,), definitions={y: u})
    proof = {"kind": "identity", "scope": "all", "factors": []}
    with pytest.raises(Rejected, match="bound symbol 'u'"):
        recheck(certificate(statement, {"x": "1"}, ("verified", "proved", proof)))


@pytest.mark.parametrize("expression", [sp.Derivative(y * u, y), sp.Subs(y * u, y, x), sp.Limit(y * u, y, 0)])
@pytest.mark.parametrize("value", [u, u**2, x + 1, sp.Integer(1)])
def test_a_definition_is_no_variable(expression, value):
    # d(yu)/dy is u for any y, as are its meanings with something put in for y: nothing else is accepted.
    meanings = {sp.Derivative: u, sp.Subs: x * u, sp.Limit: sp.Integer(0)}
    data = _one(Identity("same", x, u), X, variables=(u,), definitions={y: value}).to_data()
    proof = {"kind": "identity", "scope": "all", "factors": []}
    for right in (u, x * u, 0 * u, 2 * u, 3 * u**2, u**2, x**2, x):
        data["claim"][0] |= {"left": to_data(expression), "right": to_data(right)}
        made = certificate(data, {"x": "3"}, ("verified", "proved", proof))
        if meanings[type(expression)] != right or isinstance(expression, sp.Derivative):
            with pytest.raises(Rejected, match=r"bound symbol|not the same"):
                recheck(made)
        else:
            with contextlib.suppress(Rejected):
                recheck(made)


def test_a_long_run_is_checked_in_seconds():
    # 300 000 steps at T = 200, at which the loss is still far above this level.
    instance = {"T": "200", "q": "3", "d": "5", "eta": "1/500", "eps": "1/1000000000"}
    statement = replaced = _theorem1().statement
    data = statement.to_data()
    data["claim"] = [data["claim"][0] | {"within": _integer(300_000)}]
    assert replaced.to_data() != data
    proof = {"kind": "above", "bits": 128, "last": 300_000, "checkpoints": []}
    started = time.monotonic()
    recheck(certificate(data, instance, ("refuted", "certified", proof)))
    # Some 6 s on the machine that this was written on, alone; a file may cost a minute.
    assert time.monotonic() - started < 40


def test_files_are_read_and_a_missing_one_is_an_error_of_the_system(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(exact()))
    assert recheck_file(path).theorem == "user.mine"
    with pytest.raises(FileNotFoundError):
        recheck_file(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "no lemmascope-certificate"),
        (b"{}", "no lemmascope-certificate"),
        (b"null", "no lemmascope-certificate"),
        (b"\xff{}", "not UTF-8"),
        (b'{"format": "\\ud800"}', "not UTF-8"),
        (b'{"a": 1, "a": 1}', "'a' is repeated"),
        (b'{"a": 1.0}', "not an integer"),
        (b'{"a": 1e5}', "not an integer"),
        (b'{"a": NaN}', "not an integer"),
        (b'{"a": -Infinity}', "not an integer"),
        (b'{"a": -0}', "0 without a sign"),
        (b'{"a": ' + b"9" * 19 + b"}", "large numbers are written as strings"),
        (b"[" * 201 + b"]" * 201, "nested more than 200 deep"),
        (b'{"format": "lemmascope-certificate"}', "version: null"),
        (b'{"format": "lemmascope-certificate", "version": true}', "version: true"),
        (b'{"format": "lemmascope-certificate", "version": 2}', "version: 2"),
    ],
)
def test_what_is_no_certificate_is_unreadable(text, why):
    with pytest.raises(Unreadable, match=why):
        recheck_text(text)


def test_some_clauses_are_checked_by_themselves():
    made = positive()
    made["statement"]["claim"].append({"kind": "anything", "label": "other"})
    data, instance, (weak, strict) = made["statement"], made["instance"], made["clauses"]
    assert refusals(data, instance, [strict, weak]) == refusals(data, instance, []) == {}
    wrong = strict | {"proof": strict["proof"] | {"relations": []}}
    assert list(refusals(data, instance, [wrong, weak])) == ["strict"]
    assert "not all positive" in refusals(data, instance, [wrong])["strict"]
    assert set(refusals(data, {"x": "-1", "k": "2"}, [weak, strict])) == {"weak", "strict"}
    deep = weak
    for _ in range(100_000):
        deep = {"label": "weak", "proof": deep}
    assert list(refusals(data, instance, [deep])) == ["weak"]
    for claim in ([[]], [None], [5], [{}], [], {}):
        assert list(refusals(data | {"claim": claim}, instance, [weak])) == ["weak"]
    for name in data:
        for other in WRONG:
            assert set(refusals(data | {name: other}, instance, [weak])) <= {"weak"}


WRONG = (None, [], {}, 0, "", [[]], True)
_QUICK = ("exact_refuted", "within", "small_descent", "point", "root", "words", "residual")
_LONG = ("trajectory", "excess", "cycle", "symbolic")


def _put(value, path, new):
    if not path:
        return new
    made = value.copy()
    made[path[0]] = _put(value[path[0]], path[1:], new)
    return made


def _paths(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _paths(value[key], (*path, key))


@pytest.mark.parametrize(
    "name",
    [name if name in _QUICK else pytest.param(name, marks=pytest.mark.audit) for name in ACCEPTED if name not in _LONG],
)
def test_a_value_of_the_wrong_type_anywhere_is_no_crash(name):
    made = ACCEPTED[name]()
    for path in _paths(made):
        for shape in WRONG:
            other = _put(made, path, shape)
            if path[:1] == ("statement",):
                other["statement_digest"] = digest(other["statement"])
            with contextlib.suppress(Rejected, Unreadable):
                recheck(other)


@pytest.mark.parametrize("part", ["claim", "hypotheses", "definitions", "domain", "variables", "parameters"])
@pytest.mark.parametrize("shape", [*WRONG[2:], [None], [5], [{}], ["x"], [["x"]], [[[], []]], [{"kind": []}], 1.5])
def test_what_is_no_part_of_a_statement_is_rejected(part, shape):
    made = exact()
    made["statement"][part] = shape
    made["statement_digest"] = digest(made["statement"]) if shape != 1.5 else "0" * 64
    with pytest.raises((Rejected, Unreadable)):
        recheck(made)


def test_strings_with_brackets_and_quotes_are_not_nested():
    made = exact()
    made["statement"]["claim"][0]["says"] = '"[{\\' * 300
    made["statement_digest"] = digest(made["statement"])
    assert recheck(made).in_scope


def test_the_checker_imports_nothing_of_the_engine():
    code = (
        "import sys, verify.recheck\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in "
        "('sympy', 'numpy', 'scipy', 'mpmath', 'theorems', 'numerics', 'hypothesis')]\n"
        "ours = [m for m in sys.modules if m.startswith('verify') and not m.startswith('verify.recheck')]\n"
        "print(bad, ours)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[] ['verify']"


def test_the_passage_of_the_example_is_that_of_the_engine():
    values = {name: Fraction(value) for name, value in EXAMPLE.items()}
    dynamics = _theorem1().statement.clauses[0].dynamics
    assert first_passage(dynamics, values["eps"], values, deadline=time.monotonic() + 60).step == STEPS


A, B = sp.symbols("x y", positive=True)
FREE = tuple(Parameter(name, "rational", name, above=0) for name in "xy")


def _random(draw, depth, *, rational):
    """A random expression of x and y, positive at positive points, so that logarithms and divisions are defined."""
    if depth == 0:
        return draw.choice([A, B, sp.Integer(draw.randint(1, 5)), sp.Rational(draw.randint(1, 9), draw.randint(2, 9))])
    parts = [_random(draw, depth - 1, rational=rational) for _ in range(draw.randint(2, 3))]
    choices = [sp.Add(*parts), sp.Mul(*parts), parts[0] / parts[1], parts[0] ** draw.choice([-2, -1, 2, 3])]
    if not rational:
        choices += [sp.exp(-parts[0] / 9), sp.log(1 + parts[0]), sp.sqrt(parts[0]), (1 + parts[0]) ** (parts[1] / 9)]
    return draw.choice(choices)


def _enclosures(found, reference):
    """Whether a ball contains a number known to 60 digits, and is no wider than 2^-60 of it."""
    value = arb(str(reference))
    slack = abs(value) * arb(10) ** -50 + arb(10) ** -50
    return abs(found - value) <= slack and found.rad() <= abs(value) * arb(2) ** -60 + arb(2) ** -60


def test_values_and_derivatives_are_those_of_another_program():
    # SymPy's derivative and its values to 60 digits; both ways of computing (graph, straight line) at 256 bits.
    draw = random.Random(7)
    for _ in range(150):
        expression = _random(draw, 3, rational=False)
        at = {s: sp.Rational(draw.randint(1, 30), draw.randint(1, 12)) for s in (A, B)}
        given = _given(_one(Inequality("bound", sp.Lt(A, B)), *FREE), {"x": str(at[A]), "y": str(at[B])})
        node = given.terms.expression(to_data(expression), "here")
        nodes = [node, given.terms.slope(node, "x"), given.terms.slope(given.terms.slope(node, "x"), "y")]
        wanted = [expression, sp.diff(expression, A), sp.diff(expression, A, B)]
        with ctx.workprec(256):
            inputs = [given.terms.symbol(name) for name in ("x", "y")]
            point = [given.number(symbol, 256) for symbol in inputs]
            straight = runs.Program(given, nodes, inputs, 256)(*point)
            graph = [given.number(n, 256) for n in nodes]
            for reference, one, other in zip(wanted, straight, graph, strict=True):
                number = sp.N(reference.subs(at), 60)
                assert _enclosures(one, number) and _enclosures(other, number), expression


def test_intervals_hold_all_values_on_a_box():
    draw = random.Random(11)
    for _ in range(60):
        expression = _random(draw, 3, rational=False)
        given = _given(_one(Inequality("bound", sp.Lt(A, B)), *FREE), {"x": "1", "y": "1"})
        node = given.terms.expression(to_data(expression), "here")
        symbols = [given.terms.symbol(name) for name in ("x", "y")]
        ends = [sorted(Fraction(draw.randint(1, 64), 16) for _ in range(2)) for _ in symbols]
        with ctx.workprec(128):
            box = {
                s: tuple(arb(e.numerator) / e.denominator for e in side) for s, side in zip(symbols, ends, strict=True)
            }
            ((low, high),) = evaluate(given.terms, [node], boxes.Intervals(Effort(), 128), box)
            for _ in range(10):
                point = [a + (b - a) * Fraction(draw.randint(0, 8), 8) for a, b in ends]
                values = {s: arb(p.numerator) / p.denominator for s, p in zip(symbols, point, strict=True)}
                (value,) = evaluate(given.terms, [node], Balls(Effort(), 128), values)
                assert not value < low and not value > high, expression


def test_rational_functions_vanish_exactly_when_they_do():
    draw = random.Random(13)
    for _ in range(60):
        expression = _random(draw, 3, rational=True)
        forms = [sp.together(sp.expand(expression)), sp.together(expression), sp.expand(expression)]
        other = draw.choice(forms)
        for wrong in (sp.Integer(0), A / 10**6, sp.exp(B)):
            given = _given(_one(Inequality("bound", sp.Lt(A, B)), *FREE), {"x": "2/3", "y": "5/7"})
            nodes = [given.terms.expression(to_data(e), "here") for e in (expression, other, wrong)]
            field = Quotients(given.effort, given.sign_of, admit_all, {})
            left, right, more = evaluate(given.terms, nodes, field)
            difference = field.plus(field.plus(left, field.times(right, field.number(Fraction(-1)))), more)
            assert field.is_zero(difference) == (wrong == 0)
            exact = [given.number(node, None) for node in nodes[:2]]
            assert exact[0] == exact[1] == Fraction(str(expression.subs({A: sp.Rational(2, 3), B: sp.Rational(5, 7)})))


_ONE_AND_EXP = ["Add", ["Integer", "1"], ["exp", ["Symbol", "z", "real"]]]


@pytest.mark.parametrize(
    ("left", "right", "factors", "accepted"),
    [
        (["Mul", to_data(x), ["Pow", to_data(x), ["Integer", "-1"]]], sp.Integer(1), [], False),
        (["Mul", to_data(x), ["Pow", to_data(x), ["Integer", "-1"]]], sp.Integer(1), [to_data(x)], False),
        (["Mul", to_data(sp.exp(z)), to_data(sp.exp(-z))], sp.Integer(1), [], True),
        (["Mul", to_data(sp.exp(z)), to_data(sp.exp(u))], sp.exp(z + u), [], True),
        (["Mul", to_data(sp.exp(z)), to_data(sp.exp(u))], sp.exp(z - u), [], False),
        (["Pow", _ONE_AND_EXP, ["Integer", "-1"]], sp.exp(-z) / (1 + sp.exp(-z)), [], False),
        (["Pow", _ONE_AND_EXP, ["Integer", "-1"]], sp.exp(-z) / (1 + sp.exp(-z)), [_ONE_AND_EXP], True),
    ],
)
def test_only_exponentials_and_positive_symbols_are_divided_by_unlisted(left, right, factors, accepted):
    data = _one(Identity("same", y, z), X, variables=(y, z, u)).to_data()
    data["claim"][0] |= {"left": left, "right": to_data(right)}
    listed = [{"factor": factor, "shift": None} for factor in factors]
    proof = {"kind": "identity", "scope": "all", "factors": listed}
    made = certificate(data, {"x": "1"}, ("verified", "proved", proof))
    if accepted:
        assert recheck(made)
    else:
        with pytest.raises(Rejected, match=r"no listed factor|keep one sign|not the same"):
            recheck(made)


def test_limits_are_exact_and_one_sided_or_infinite_ones_are_not_guessed():
    cases = [
        (sp.Limit((1 + u) ** 3 / u - 1 / u, u, 0), 3, True),
        (sp.Limit((2 * u**2 + u) / (3 * u**2 - 1), u, sp.oo), sp.Rational(2, 3), True),
        (sp.Limit((u**2 - 4) / (u - 2), u, 2), 4, True),
        (sp.Limit(u / (u + 1), u, 0), 0, True),
        (sp.Limit((1 + u) ** 3 / u - 1 / u, u, 0), 2, False),
        (sp.Limit(1 / u, u, 0), 0, False),
        (sp.Limit(sp.exp(u) / u, u, 0), 0, False),
    ]
    for limit, value, holds in cases:
        data = _one(Identity("same", y, z), X, variables=(y, z)).to_data()
        data["claim"][0] |= {"left": to_data(limit), "right": to_data(sp.sympify(value))}
        proof = {"kind": "identity", "scope": "all", "factors": []}
        made = certificate(data, {"x": "1"}, ("verified", "proved", proof))
        if holds:
            assert recheck(made)
        else:
            with pytest.raises(Rejected):
                recheck(made)


_U, _X, _M = ["Symbol", "u", "real"], ["Symbol", "x", "real"], ["Symbol", "m"]
_LESS = ["Add", _X, _integer(-1)]
_PARTIAL = {"divisor": ["Pow", _LESS, _integer(-1)], "log": ["log", _LESS], "root": ["Pow", _LESS, ["Rational", "1/2"]]}
# Each is 0 where the part p has a value, which it has for x > 1; definitions: m is p.
_VANISHING = {
    "difference": lambda p: ["Add", p, ["Mul", _integer(-1), p]],
    "times 0": lambda p: ["Mul", _integer(0), p],
    "times 0, in steps": lambda p: ["Mul", ["Add", _U, ["Mul", _integer(-1), _U]], ["exp", p]],
    "power 0": lambda p: ["Add", ["Pow", p, _integer(0)], _integer(-1)],
    "definition": lambda p: ["Add", _M, ["Mul", _integer(-1), _M]],
    "definition, inside": lambda p: ["Add", ["exp", _M], ["Mul", _integer(-1), ["exp", _M]]],
    "derivative": lambda p: ["Derivative", p, ["Tuple", _U, _integer(1)]],
    "derivative of a sum": lambda p: ["Add", ["Derivative", ["Add", _U, p], ["Tuple", _U, _integer(1)]], _integer(-1)],
    "substitution": lambda p: ["Subs", _integer(0), ["Tuple", ["Symbol", "v"]], ["Tuple", p]],
    "difference, substituted": lambda p: [
        *("Subs", ["Add", ["Symbol", "m"], ["Mul", _integer(-1), ["Symbol", "m"]]]),
        *(["Tuple", ["Symbol", "m"]], ["Tuple", p]),
    ],
    "limit": lambda p: ["Limit", _integer(0), ["Symbol", "v"], p, ["Symbol", "+"]],
}


def _vanishing(how, what, minimum=None):
    """A statement about an expression that is 0 where it has a value."""
    p = _PARTIAL[what]
    parameters = (Parameter("x", "rational", "x", minimum=minimum), Parameter("u", "rational", "u"))
    data = _one(Inequality("c", sp.Lt(x, 1)), *parameters).to_data() | {"definitions": [[_M, p]]}
    return data, _VANISHING[how](p)


@pytest.mark.parametrize("what", _PARTIAL)
@pytest.mark.parametrize("how", _VANISHING)
def test_what_cancels_has_a_value_at_the_instance(how, what):
    data, left = _vanishing(how, what)
    data["claim"][0]["relation"] = ["Lt", left, _integer(1)]
    proofs = {"kind": "exact", "margin": "1"}, {"kind": "ball", "bits": 64, "margin": ["1/2", "2"]}
    bad = {"divisor": ["1"], "log": ["1", "0"], "root": ["0"]}[what]
    for proof in proofs[how == "limit" and what != "divisor" :]:
        assert recheck(certificate(data, {"x": "3", "u": "1"}, ("verified", "certified", proof)))
        for value in bad:
            with pytest.raises(Rejected):
                recheck(certificate(data, {"x": value, "u": "1"}, ("verified", "certified", proof)))


@pytest.mark.parametrize("what", _PARTIAL)
@pytest.mark.parametrize("how", _VANISHING)
def test_what_cancels_in_an_identity_has_a_value_for_all(how, what):
    # Inside a limit only what is listed may be divided by.
    listed = [{"factor": _LESS, "shift": None}] if how == "limit" else []
    for minimum in (2, None, 1):
        proof = {"kind": "identity", "scope": "all", "factors": listed}
        data, left = _vanishing(how, what, minimum)
        data["claim"] = [{"kind": "identity", "label": "c", "says": "", "left": left, "right": _integer(0)}]
        made = certificate(data, {"x": "3", "u": "1"}, ("verified", "proved", proof))
        if minimum == 2 and (how, what) not in [("limit", "log"), ("limit", "root")]:
            assert recheck(made)
        else:
            with pytest.raises(Rejected):
                recheck(made)


def _plain(data, values):
    """The value of an expression, computed as it is written; ZeroDivisionError where it has none."""
    head, *args = data
    if head in ("Integer", "Rational"):
        return Fraction(args[0])
    if head == "Symbol":
        return values[args[0]]
    found = [_plain(argument, values) for argument in args]
    return found[0] ** int(found[1]) if head == "Pow" else sum(found) if head == "Add" else found[0] * found[1]


def _written(draw, depth):
    if depth == 0:
        return draw.choice([_X, _U, _integer(0), _integer(1), _integer(-1), ["Rational", "1/2"]])
    head = draw.choice(["Add", "Add", "Mul", "Mul", "Pow"])
    first = _written(draw, depth - 1)
    second = _integer(draw.choice([-2, -1, 0, 2])) if head == "Pow" else draw.choice([first, _written(draw, depth - 1)])
    return [head, first, second]


def test_an_expression_has_a_value_exactly_where_it_has_one_as_it_is_written():
    draw, undefined = random.Random(17), 0
    for _ in range(3000):
        data = _written(draw, draw.randint(1, 5))
        values = {name: Fraction(draw.randint(-1, 1)) for name in ("x", "u")}
        given = _given(
            _one(Inequality("c", sp.Lt(x, u)), X, Parameter("u", "rational", "u")),
            {name: str(value) for name, value in values.items()},
        )
        try:
            wanted = _plain(data, values)
        except ZeroDivisionError:
            undefined += 1
            with pytest.raises(Rejected):
                given.number(given.expression(data, "here"), None)
        else:
            assert given.number(given.expression(data, "here"), None) == wanted
    assert 300 < undefined < 2000


def test_a_power_is_not_rational_by_rounding():
    given = _given(_one(Inequality("bound", sp.Lt(0, x)), X, Y), {"x": "2", "y": "4/9"})
    half = given.terms.expression(to_data(sp.sqrt(y)), "here")
    assert given.number(half, None) == Fraction(2, 3)
    with pytest.raises(Rejected, match="not known to be rational"):
        given.number(given.terms.expression(to_data(sp.sqrt(x)), "here"), None)
    assert Exact(Effort()).real_power(Fraction(4, 9), Fraction(-3, 2)) == Fraction(27, 8)
