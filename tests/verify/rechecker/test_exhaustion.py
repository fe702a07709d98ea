# ruff: noqa: T201 -- the seconds are what is asked of an audit
"""Files made to exhaust the re-checker: each is answered within about a minute and a gigabyte."""

import json
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.audit

BOMBS = {
    "brackets": "b'[' * 10**6 + b']' * 10**6",
    "open brackets": "b'[' * (64 * 2**20)",
    "closing brackets": "b']' * (64 * 2**20)",
    "objects": "b'{\"a\":' * 10**6",
    "100 MB": "b'\"' + b'a' * 10**8 + b'\"'",
    "one string": "b'\"' + b'a' * (64 * 2**20 - 2) + b'\"'",
    "quotes": "b'\"' * (64 * 2**20)",
    "escaped quotes": "b'\"' + b'\\\\\"' * (32 * 2**20 - 1)",
    "empty lists": "b'[' + b'[],' * (21 * 2**20) + b'1]'",
    "many lists": "b'[' + b'[],' * 1_200_000 + b'1]'",
    "many strings": "b'[' + b'\"ab\",' * (12 * 2**20) + b'1]'",
    "a long integer": "b'[' + b'9' * (64 * 2**20 - 2) + b']'",
    "a long float": "b'[1.' + b'9' * (32 * 2**20) + b']'",
    "many keys": "b'{' + b','.join(b'\"%d\":1' % i for i in range(10**6)) + b'}'",
    "the same key": "b'{' + b','.join([b'\"a\":1'] * 10**6) + b'}'",
    "long numbers": "b'[' + b','.join([b'\"' + b'7' * 20000 + b'\"'] * 3000) + b']'",
    "a margin of many digits": "text(exact('9' * 10**6))",
    "margins at the limit": "text(exact('9' * 20000))",
    "many parameters": "text(parameters(200_000))",
    "many symbols": "text(symbols(100_000))",
    "doubling, exactly": "text(inequality('exact', doubling('Mul', 60), '0'))",
    "doubling, in balls": "text(inequality('ball', doubling('Mul', 4000), ['1', '2'], 8192))",
    "doubling polynomials": "text(identity(doubling('Mul', 60, 'x')))",
    "doubling sums": "text(identity(doubling('Add', 5000, 'x')))",
    "squares of sums": "text(identity(squares(40)))",
    "a large power of a sum": "text(identity(power(add('x', 'y', 'v', 'w', '1'), 10000)))",
    "powers of powers": "text(identity(nested_powers(8)))",
    "powers of numbers": "text(inequality('exact', power(num(3), 10**18), '0'))",
    "powers of numbers in balls": "text(inequality('ball', power(num(3), 10**18), ['1', '2'], 8192))",
    "towers of exponentials": "text(inequality('ball', tower(150), ['1', '2'], 64))",
    "derivatives of derivatives": "text(identity(derivatives(9, 20)))",
    "a derivative of a long product": "text(identity(long_product(20_000)))",
    "continued fractions": "text(identity(fractions(150)))",
    "a limit of high powers": "text(identity(limit(100)))",
    "nested limits": "text(identity(nested_limits(60)))",
    "halves of exponents": "text(identity(halves(300)))",
    "many factors": "text(identity(['Symbol', 'x', 'real'], 2000))",
    "too many steps": "text(passage(2 * 10**7, 64))",
    "many steps of many bits": "text(passage(10**6, 8192))",
    "a wide recursion": "text(passage(10**5, 4096, 16))",
    "many checkpoints": "text(passage(30_000, 64, marks=True))",
    "many cuts": "text(descent([0] * 50_000 + [-1] * 50_001))",
    "deep cuts": "text(descent([0, -1] * 49_999))",
    "a long cycle": "text(cycle(2 * 10**7, 65536))",
    "many balls of many bits": "text(inequality('ball', wide(90_000), ['1', '2'], 8192))",
    "many exact numbers": "text(inequality('exact', doubling('Mul', 17), '0', values=big))",
    "a wide cycle": "text(cycle(10, 65536, 16))",
    "a deep definition": "text(inequality('exact', chain(3000), '0'))",
}

BUILDERS = """
import hashlib, json, resource, sys, time
LIMIT = 1536 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
resource.setrlimit(resource.RLIMIT_CPU, (150, 160))
from verify.rechecker import Rejected, Unreadable, recheck_text

sys.set_int_max_str_digits(0)
num = lambda v: ["Integer", str(v)]
S = lambda n: num(n) if n.isdigit() else ["Symbol", n, "real"]
add = lambda *a: ["Add", *map(S, a)]
power = lambda b, e: ["Pow", b, num(e)]
P = lambda n: {"name": n, "kind": "rational", "words": [], "minimum": None, "above": None}
definitions = []

def doubling(head, count, start="x"):
    last = S(start)
    for i in range(count):
        name = ["Symbol", f"d{i % 900}_{i // 900}"] if count < 900 else None
        if name is None:
            powers = ["Add", *[power(S(start), k + 1) for k in range(count)]]
            return ["Mul", *[S(start) for _ in range(count)]] if head == "Mul" else powers
        definitions.append([name, [head, last, last] if head == "Mul" else ["Add", last, ["Mul", last, S("y")]]])
        last = name
    return last

big = "7" * 19_000

def wide(count):
    return ["Add", *[power(add("x", str(i + 1)), -1) for i in range(count)]]

def squares(count):
    last = add("x", "y", "1")
    for i in range(count):
        definitions.append([["Symbol", f"d{i}"], ["Add", power(last, 2), S("v")]])
        last = ["Symbol", f"d{i}"]
    return last

def chain(count):
    last = S("x")
    for i in range(min(count, 900)):
        definitions.append([["Symbol", f"d{i}"], ["exp", last]])
        last = ["Symbol", f"d{i}"]
    return last

def nested_powers(count):
    last = S("x")
    for _ in range(count):
        last = power(last, 9999)
    return last

def tower(count):
    last = num(2)
    for _ in range(count):
        last = ["exp", last]
    return last

def derivatives(count, order):
    last = ["Mul", ["exp", ["Mul", S("x"), S("y")]], power(add("x", "y", "v"), -3), ["log", S("x")]]
    for name in ("x", "y") * count:
        last = ["Derivative", last, ["Tuple", S(name), num(order)]]
    return last

def long_product(count):
    return ["Derivative", ["Mul", *[add("x", str(i + 1)) for i in range(count)]], ["Tuple", S("x"), num(1)]]

def fractions(count):
    last = S("x")
    for i in range(min(count, 60)):
        last = ["Add", S("y"), power(last, -1)]
    return last

def limit(p):
    inside = power(["Add", S("x"), power(S("r"), -1), ["Mul", S("y"), S("r")]], p)
    return ["Limit", inside, S("r"), num(0), ["Symbol", "+"]]

def nested_limits(count):
    last = S("x")
    for i in range(count):
        last = ["Add", S("y"), ["Limit", ["Add", last, S(f"r{i}x")], S(f"r{i}x"), num(0), ["Symbol", "+"]]]
    return last

def halves(count):
    return ["Add", *[["exp", ["Mul", ["Rational", f"1/{i + 2}"], S("x")]] for i in range(count)]]

def make(claim, clauses, names=("x",), variables=("y", "v", "w"), values=None):
    statement = {"parameters": [P(n) for n in names], "variables": [S(v) for v in variables], "domain": [],
                 "hypotheses": [], "definitions": list(definitions), "claims": claim, "steps": []}
    canonical = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    return {"format": "lemmascope-certificate", "version": 1, "theorem": "x", "statement": statement,
            "statement_digest": hashlib.sha256(canonical).hexdigest(),
            "instance": {n: values or "3" for n in names}, "in_scope": True, "uses": [], "clauses": clauses}

text = lambda made: json.dumps(made).encode()
stated = lambda proof, outcome="verified", evidence="certified": [
    {"label": "c", "outcome": outcome, "evidence": evidence, "proof": proof}]

def inequality(kind, left, margin, bits=None, values=None):
    claim = [{"kind": "inequality", "label": "c", "says": "", "relation": ["Lt", num(0), left]}]
    proof = {"kind": kind, "margin": margin} | ({} if bits is None else {"bits": bits})
    return make(claim, stated(proof), values=values)

exact = lambda margin: inequality("exact", S("x"), margin)

def identity(left, factors=0):
    claim = [{"kind": "identity", "label": "c", "says": "", "left": left, "right": num(0)}]
    listed = [{"factor": add("x", "y", str(i + 1)), "shift": None} for i in range(factors)]
    return make(claim, stated({"kind": "identity", "scope": "all", "factors": listed}, "verified", "proved"))

def parameters(count):
    return make([], [], [f"p{i}" for i in range(count)])

def symbols(count):
    return inequality("exact", ["Add", *[["Symbol", f"s{i}"] for i in range(count)]], "1")

def dynamics(size=1):
    state = [["Symbol", f"z{i}"] for i in range(size)]
    step = [["Add", ["exp", ["Mul", num(-1), z]], *[["Mul", ["Rational", "1/16"], s] for s in state]] for z in state]
    return {"state": state, "initial": [num(1)] * size, "step": step, "observable": state[0]}

def passage(steps, bits, size=1, marks=False):
    claim = [{"kind": "reaches", "label": "c", "says": "", "level": ["Rational", "1/1000"], "within": None,
              "dynamics": dynamics(size)}]
    checkpoints = [[i, [["1/2", "1"]]] for i in range(steps)] if marks else []
    return make(claim, stated({"kind": "passage", "bits": bits, "steps": steps, "checkpoints": checkpoints}))

def descent(cuts):
    z = ["Symbol", "z"]
    flow = {"state": [z], "initial": [num(1)], "step": [["Mul", ["Rational", "1/2"], z]],
            "observable": ["Mul", ["Rational", "1/2"], power(z, 2)]}
    claim = [{"kind": "stays", "label": "c", "says": "", "reached": num(1), "level": num(1), "dynamics": flow}]
    proof = {"kind": "descent", "bits": 8192, "metric": [["Rational", "1/2"]], "cuts": cuts,
             "coordinates": [{"lower": num(0), "upper": num(1), "chart": "identity"}]}
    return make(claim, stated(proof))

def cycle(entered, bits, size=1):
    claim = [{"kind": "reaches", "label": "c", "says": "", "level": ["Rational", "1/1000"], "within": None,
              "dynamics": dynamics(size)}]
    axes = [[str(int(i == j)) for j in range(size)] for i in range(size)]
    proof = {"kind": "cycle", "bits": bits, "entry_bits": bits, "period": 1000, "entered_at": entered,
             "centre": ["1"] * size, "axes": axes, "radius": "1", "checkpoints": []}
    return make(claim, stated(proof, "refuted"))

made = eval(sys.argv[1])  # the bomb, from the list beside this source
definitions.clear()
started = time.process_time()
try:
    found = recheck_text(made)
    verdict = "accepted"
except (Rejected, Unreadable) as error:
    verdict = str(error)
print(json.dumps({
    "verdict": verdict, "seconds": time.process_time() - started,
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""


@pytest.mark.parametrize("name", BOMBS)
def test_no_file_takes_more_than_about_a_minute_and_a_gigabyte(name):
    code = textwrap.dedent(BUILDERS)
    done = subprocess.run(
        [sys.executable, "-c", code, BOMBS[name]], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    print(f"\n{name}: {found['seconds']:.1f} s, {found['megabytes']:.0f} MB: {found['verdict']}")
    assert found["seconds"] < 90 and found["megabytes"] < 1200
    assert found["verdict"] != "accepted" or name in ("many cuts", "long numbers"), found
