"""The data of expressions, clauses and proofs for files that are made to exhaust the re-checker."""

import hashlib
import json
from fractions import Fraction
from typing import Any

Data = Any
EXACT = {"kind": "exact", "margin": "1"}
POSITIVE = {"kind": "positive", "shifts": {}, "relations": []}
WORDS = {"kind": "words"}
X, Y, V, W = (["Symbol", name, "real"] for name in "xyvw")


def num(value: int) -> Data:
    return ["Integer", str(value)]


def fraction(p: int, q: int) -> Data:
    value = Fraction(p, q)
    return num(p // q) if value.denominator == 1 else ["Rational", f"{value.numerator}/{value.denominator}"]


def add(*parts: Data) -> Data:
    return ["Add", *parts] if len(parts) > 1 else parts[0]


def mul(*parts: Data) -> Data:
    return ["Mul", *parts] if len(parts) > 1 else parts[0]


def power(base: Data, exponent: int) -> Data:
    return ["Pow", base, num(exponent)]


def letter(name: str) -> Data:
    return ["Symbol", name, "noncommutative"]


def relation(left: Data, head: str = "Ge") -> Data:
    return {"kind": "inequality", "label": "c", "says": "", "relation": [head, left, num(0)]}


def identity(left: Data, right: Data | None = None) -> Data:
    return {"kind": "identity", "label": "c", "says": "", "left": left, "right": right or num(0)}


def recursion(step: list[Data], observable: Data | None = None, start: Data | None = None) -> Data:
    state = [["Symbol", f"z{i}"] for i in range(len(step))]
    initial = [start or num(1)] * len(step)
    return {"state": state, "initial": initial, "step": step, "observable": observable or state[0]}


Z = ["Symbol", "z0"]


def reaches(flow: Data, level: Data | None = None, within: Data | None = None) -> Data:
    base = {"kind": "reaches", "label": "c", "says": "", "within": within, "dynamics": flow}
    return base | {"level": level or fraction(1, 1000)}


def certificate(
    claim: Data,
    proof: Data,
    *,
    evidence: str = "certified",
    outcome: str = "verified",
    definitions: list[Data] | None = None,
    variables: tuple[str, ...] = ("y", "v", "w"),
    values: dict[str, str] | None = None,
    trusts: tuple[Data, ...] = (),
    **more: Data,
) -> bytes:
    """Return a file with one claim; its parameters are x, which is rational, and the names in `values`."""
    values = {"x": "3"} | (values or {})
    statement = {
        "parameters": [parameter(name) for name in values],
        "variables": [["Symbol", name, "real"] for name in variables],
        "domain": [],
        "hypotheses": [],
        "definitions": definitions or [],
        "claims": [claim],
        "steps": [],
        **more,
    }
    text = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    stated = {"outcome": outcome, "evidence": evidence, "proof": proof}
    return json.dumps(
        {
            "format": "lemmascope-certificate",
            "version": 3,
            "theorem": "user.bomb",
            "statement": statement,
            "statement_digest": hashlib.sha256(text).hexdigest(),
            "instance": values,
            "in_scope": True,
            "uses": [],
            "trusts": list(trusts),
            "clauses": [stated | {"label": claim["label"]} for claim in statement["claims"]],
        }
    ).encode()


def parameter(name: str) -> Data:
    whole = {"name": name, "words": [], "above": None}
    return whole | ({"kind": "integer", "minimum": "1"} if name == "n" else {"kind": "rational", "minimum": None})


def shown_exactly(left: Data, **more: Data) -> bytes:
    return certificate(relation(left), EXACT, **more)


def in_balls(left: Data, bits: int = 64, **more: Data) -> bytes:
    return certificate(relation(left), {"kind": "ball", "bits": bits, "margin": ["1", "2"]}, **more)


def the_same(left: Data, factors: list[Data] | None = None, **more: Data) -> bytes:
    listed = [{"factor": factor, "shift": None} for factor in factors or []]
    proof = {"kind": "identity", "scope": "all", "factors": listed}
    return certificate(identity(left), proof, evidence="proved", **more)


def not_negative(left: Data, **more: Data) -> bytes:
    return certificate(relation(left), POSITIVE, evidence="proved", **more)


def words(left: Data, right: Data, proof: Data = WORDS, outcome: str = "verified", **more: Data) -> bytes:
    size = ["Symbol", "n", "integer", "rational", "positive", "nonnegative", "nonzero", "real"]
    claim = {"kind": "matrix_identity", "label": "c", "says": "", "left": left, "right": right}
    claim["shapes"] = [[letter(name), size, size] for name in "AB"]
    evidence = "proved" if proof is WORDS else "certified"
    values = {"n": "2"} | more.pop("values", {})
    return certificate(claim, proof, evidence=evidence, outcome=outcome, values=values, **more)


def passage(flow: Data, steps: int, bits: int = 64, checkpoints: list[Data] | None = None, **more: Data) -> bytes:
    proof = {"kind": "passage", "bits": bits, "steps": steps, "checkpoints": checkpoints or []}
    return certificate(reaches(flow, **more), proof)


def residual(factors: int, moment: Data, digits: int = 10) -> bytes:
    k = ["Symbol", "k", "integer", "rational", "nonnegative", "real"]
    claim = {"kind": "residual", "label": "c", "says": "", "factors": num(factors), "moment": moment, "index": k}
    polynomial = ["1", *[f"{'7' * digits}/{'3' * (digits - 1)}1" for _ in range(factors)]]
    proof = {"kind": "residual", "polynomial": polynomial, "roots": []}
    return certificate(claim | {"shift": num(1), "scale": num(1)}, proof)


def root(equations: list[Data], bits: int, radius: str = "1") -> bytes:
    unknowns = [["Symbol", f"z{i}", "real"] for i in range(len(equations))]
    claim = {"kind": "root", "label": "c", "says": "", "equations": equations, "unknowns": unknowns}
    claim |= {"centre": [num(1)] * len(equations), "radius": num(1)}
    return certificate(claim, {"kind": "root", "bits": bits, "centre": ["1"] * len(equations), "radius": radius})


def descent(cuts: list[int], bits: int = 8192) -> bytes:
    flow = recursion([mul(fraction(1, 2), Z)], mul(fraction(1, 2), power(Z, 2)))
    claim = {"kind": "stays", "label": "c", "says": "", "reached": num(1), "level": num(1), "dynamics": flow}
    proof = {"kind": "descent", "bits": bits, "metric": [fraction(1, 2)], "cuts": cuts}
    return certificate(claim, proof | {"coordinates": [{"lower": num(0), "upper": num(1), "chart": "identity"}]})


def cycle(flow: Data, period: int, bits: int, entered: int = 0) -> bytes:
    size = len(flow["state"])
    axes = [[str(int(i == j)) for j in range(size)] for i in range(size)]
    proof = {"kind": "cycle", "bits": bits, "entry_bits": bits, "period": period, "entered_at": entered, "axes": axes}
    proof |= {"centre": ["1"] * size, "radius": "1", "checkpoints": []}
    return certificate(reaches(flow), proof, outcome="refuted")


def tube(flow: Data, nodes: int, bits: int) -> bytes:
    listed = [[str(i), *["0", "1"] * (len(flow["state"]) - 1)] for i in range(nodes)]
    proof = {"kind": "tube", "bits": bits, "checkpoints": [], "start": 0, "slow": 0, "observable": flow["observable"]}
    return certificate(reaches(flow), proof | {"nodes": listed, "above": 0, "steps": ["1", "9" * 20]})


def contracting(size: int) -> Data:
    state = [["Symbol", f"z{i}"] for i in range(size)]
    return recursion([add(["exp", mul(num(-1), z)], *[mul(fraction(1, 16), s) for s in state]) for z in state])
