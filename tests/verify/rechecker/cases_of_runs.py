"""Accepted certificates of claims about runs: first passages, runs that stay below a level, cycles and tubes."""

import copy
import math
import time
from fractions import Fraction
from functools import cache

import sympy as sp
from flint import arb, ctx

from tests.verify.rechecker.certificates import N, X, Y, certificate, given_at, n, one_clause, u, x, y, z
from verify import Dynamics, Hypothesis, Parameter, Reaches, Stays, load_theorem
from verify.language.expressions import to_data
from verify.provers.recursions.cycles import avoids
from verify.rechecker.kinds import boxes, runs

EXAMPLE = {"T": "9", "q": "2", "d": "1", "eta": "1/20", "eps": "1/200"}
CYCLING = {"T": "9", "q": "2", "d": "3", "eta": "6", "eps": "1/500"}
RISING = {"T": "9", "q": "2", "d": "1", "eta": "5", "eps": "1/200"}
# The run at EXAMPLE reaches the level at step STEPS. The run at RISING reaches it at step FIRST, and its loss is above
# the level again at step LATER.
STEPS, FIRST, LATER = 10287, 102, 1601


def _checkpoints(statement, instance, clause, steps, *, bits, last):
    """Return states of the run at some steps, as balls eight times as wide as the computed balls."""
    given, found = given_at(statement, instance), []
    with ctx.workprec(bits):
        recursion = runs.Recursion(given, given.claims[clause]["dynamics"], "here")
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
    """Return a bisection of the box; each cut is across the side that is longest relative to the whole box's side."""
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


HALVING = Dynamics((z,), (sp.Integer(1),), (z / 2,), z)


def within():
    # z_t = 2^(−t) is at most 1/1000 from t = 10 on, which is within e^3 = 20.1… steps.
    statement = one_clause(Reaches("reached", HALVING, x, within=sp.exp(n)), X, N)
    proof = {"kind": "passage", "bits": 64, "steps": 10, "checkpoints": []}
    return certificate(statement, {"x": "1/1000", "n": "3"}, ("verified", "certified", proof))


def above():
    # The claim is false: the bound e^2 = 7.38… allows only 7 steps, and the run needs 10.
    proof = {"kind": "above", "bits": 64, "last": 7, "checkpoints": []}
    statement = one_clause(Reaches("reached", HALVING, x, within=sp.exp(n)), X, N)
    return certificate(statement, {"x": "1/1000", "n": "2"}, ("refuted", "certified", proof))


def not_before():
    # z_t = 2^(−t) is at most 1/1000 from t = 10 on, and not before e^2 = 7.38….
    statement = one_clause(Reaches("reached", HALVING, x, not_before=sp.exp(n)), X, N)
    proof = {"kind": "passage", "bits": 64, "steps": 10, "checkpoints": []}
    return certificate(statement, {"x": "1/1000", "n": "2"}, ("verified", "certified", proof))


def early():
    # The claim is false: the level is reached before step e^3 = 20.1….
    statement = one_clause(Reaches("reached", HALVING, x, not_before=sp.exp(n)), X, N)
    proof = {"kind": "early", "bits": 64, "at": 20, "checkpoints": []}
    return certificate(statement, {"x": "1/1000", "n": "3"}, ("refuted", "certified", proof))


def before_the_start():
    proof = {"kind": "above", "bits": 64, "last": -1, "checkpoints": []}
    statement = one_clause(Reaches("reached", HALVING, x, within=n), X, N)
    return certificate(statement, {"x": "1/1000", "n": "-1/2"}, ("refuted", "certified", proof))


@cache
def theorem1():
    """Return Theorem 1's statement with its claims, which are about the run, and without its proof steps."""
    statement = load_theorem("wang2024.theorem1").statement
    return statement.alone(*statement.claims)


def _descent(proof, **more):
    coordinates = [{"lower": to_data(c.lower), "upper": to_data(c.upper), "chart": c.chart} for c in proof.coordinates]
    return {"kind": "descent", "metric": [to_data(m) for m in proof.metric], "coordinates": coordinates, **more}


@cache
def _theorem1_proofs():
    data = theorem1().to_data()
    marks = _checkpoints(data, EXAMPLE, 0, (0, 3000, STEPS), bits=128, last=STEPS)
    descent = _descent(load_theorem("wang2024.theorem1").proofs["stays"], bits=256, cuts=[])
    descent["cuts"] = _cuts(given_at(data, EXAMPLE), data["claims"][1], descent)
    return {"kind": "passage", "bits": 128, "steps": STEPS, "checkpoints": marks}, descent


def trajectory():
    proofs = (("verified", "certified", proof) for proof in copy.deepcopy(_theorem1_proofs()))
    return certificate(theorem1(), EXAMPLE, *proofs, theorem="wang2024.theorem1")


def excess():
    data = theorem1().to_data()
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
    found = avoids(theorem1().clauses[0].dynamics, values["eps"], values, deadline=time.monotonic() + 60)
    proof = {"kind": "cycle", "bits": 192, "entry_bits": found.passage.bits, "period": found.period}
    proof |= {"entered_at": found.entered_at, "centre": [str(c) for c in found.centre], "radius": str(found.radius)}
    return proof | {"axes": [[str(a) for a in row] for row in found.axes], "checkpoints": []}


def cycle():
    proofs = (("refuted", "certified", _cycle()), ("verified", "certified", copy.deepcopy(_cycle())))
    return certificate(theorem1(), CYCLING, *proofs, in_scope=False)


def _parabola():
    # Gradient descent on w²/2 from 1 with step size x: each step lowers w²/2 by x (2 − x) w²/2.
    w = sp.Symbol("w", real=True)
    dynamics = Dynamics((w,), (sp.Integer(1),), ((1 - x) * w,), w**2 / 2)
    level, small = Parameter("y", "rational", "y", above=0), Hypothesis("small", sp.Lt(x, 2))
    claim = Reaches("reached", dynamics, y)
    positive = Parameter("x", "rational", "x", above=0)
    return w, one_clause(claim, positive, level, hypotheses=(small,))


def _sum(*terms):
    listed = [[to_data(sp.sympify(factor)), places, None] for factor, places in terms]
    return {"rule": "sum", "times": ["Integer", "1"], "terms": listed}


def falls():
    _, statement = _parabola()
    # The facts are x > 0, y > 0, x < 2, and w²/2 > y.
    proof = {"kind": "falls", "relations": ["x", "y", 0], "amount": to_data(x * (2 - x) * y)}
    proof |= {"positive": _sum((1, [0, 1, 2])), "falls": _sum((1, [0, 2, 3]))}
    proof |= {"invariants": [], "start": [], "step": [], "values": [_sum(), _sum()]}
    return certificate(statement, {"x": "1/2", "y": "1/9"}, ("verified", "proved", proof))


def kept():
    w, statement = _parabola()
    # At x = 3 a step takes w²/2 − 1/2 to 4 (w²/2 − 1/2) + 3/2.
    proof = {"kind": "kept", "invariants": [to_data(sp.Ge(w**2 / 2, sp.Rational(1, 2)))], "values": [_sum(), _sum()]}
    proof |= {"start": [_sum()], "step": [_sum((4, [0]), (sp.Rational(3, 2), []))]}
    proof |= {"above": _sum((1, [0]), (sp.Rational(7, 18), []))}
    return certificate(statement, {"x": "3", "y": "1/9"}, ("refuted", "certified", proof), in_scope=False)


def small_descent():
    # L = e^(−z) on z ≥ 0, with the step z → z + x e^(−z). The second derivative of L is at most 1, so that x = 19/10,
    # which is below 2, is small enough.
    dynamics = Dynamics((z,), (sp.Integer(0),), (z + x * sp.exp(-z),), sp.exp(-z))
    level = Parameter("y", "rational", "y", above=0)
    statement = one_clause(Stays("stays", dynamics, reached=y, level=2 * y), X, level)
    coordinate = {"lower": to_data(sp.Integer(0)), "upper": to_data(sp.Integer(1)), "chart": "exponential"}
    proof = {"kind": "descent", "bits": 64, "metric": [to_data(x)], "coordinates": [coordinate], "cuts": [0, -1, -1]}
    return certificate(statement, {"x": "19/10", "y": "1/3"}, ("verified", "certified", proof))


FADING = Dynamics((z, u), (sp.S.Zero, sp.S.One), (z + x * sp.exp(-z), (u + sp.exp(-z)) / 2), u + sp.exp(-z))


def tube():
    # e^z rises by about x per step, and u is soon near e^(−z). The observable, about 2/(1 + t/100), is 1/4 at t = 700.
    # The tube extends a tenth of e^(−z) to each side, in cells of length 1/4. It begins at t = 20, where z is about
    # log(6/5) = 0.182.
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
