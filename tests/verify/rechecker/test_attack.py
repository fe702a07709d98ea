# ruff: noqa: T201 -- the counts are what is asked of an audit
"""Attacks on the re-checker: mutants of accepted certificates, and files made to exhaust it.

A mutant is rejected, or it is listed as harmless with the reason: a different proof of the same
claim that holds too, a claim about something else that says so, or a name that is carried through.
"""

import copy
import json
import re
import subprocess
import sys
import textwrap
from collections import Counter
from fractions import Fraction

import pytest

from tests.verify.rechecker import cases
from verify.language.expressions import digest
from verify.rechecker import KINDS, Rejected, Unreadable, recheck_text

pytestmark = pytest.mark.audit

HUGE = "9" * 100_000
NO_NUMBERS = (
    "1e5",
    "1.5",
    "NaN",
    "Infinity",
    "",
    " 1",
    "1 ",
    "+1",
    "01",
    "-0",
    "1/0",
    "0/1",
    "1/1",
    "2/4",
    "1/-2",
    "１",
)
NO_VALUES = (True, False, None, [], {}, 1.5, float("nan"), float("inf"), -float("inf"), "x")
WORDS = ("verified", "refuted", "proved", "certified", "all", "instance", "identity", "exponential", *KINDS)

# What may be accepted: certificate, field, and why that is no harm. A mutant outside this list fails.
CARRIED = "a name that is carried through; the statement is named by its digest"
SAME = "another proof of the same claim, which holds too"
ELSEWHERE = "the claim at another instance, which the result names, and where all is computed again"
HARMLESS = [
    ("*", r"theorem", CARRIED),
    ("*", r"uses.*", CARRIED),
    ("*", r"clauses\.\d\.proof\.(entry_)?bits", SAME + ": other bits decide as well"),
    ("ball|constant", r"clauses\.0\.proof\.margin.*", SAME + ": a wider interval that decides"),
    (
        "within|not_before|early|trajectory|excess",
        r"clauses\.\d\.proof\.checkpoints.*",
        SAME + ": other balls that hold the run",
    ),
    ("early", r"clauses\.0\.proof\.at", SAME + ": another step at or below the level, and too soon"),
    ("excess", r"clauses\.1\.proof\.above_at", SAME + ": another step above the level"),
    ("cycle", r"clauses\.\d\.proof\.(entered_at|period|centre|axes|radius).*", SAME + ": another set that is kept"),
    ("tube", r"clauses\.0\.proof\.(checkpoints|nodes|start|above).*", SAME + ": another tube that the run is in"),
    ("tube", r"clauses\.0\.proof\.steps.*", SAME + ": wider bounds"),
    ("tube", r"clauses\.0\.proof\.observable.*", SAME + ": the same observable, written in another way"),
    ("trajectory|small_descent", r"clauses\.\d\.proof\.cuts.*", SAME + ": another bisection that decides"),
    ("trajectory", r"clauses\.1\.proof\.metric.*", SAME + ": the same metric, its factors in another order"),
    ("trajectory|small_descent", r"clauses\.\d\.proof\.coordinates.*", SAME + ": another box that is kept"),
    ("symbolic|identity|identity_here", r"clauses\.\d+\.proof\.factors.*", SAME + ": other divisors that cover"),
    (
        "point|point_in_balls|point_of_an_inequality",
        r"clauses\.0\.proof\.(point|difference).*",
        SAME + ": another point or interval",
    ),
    ("root", r"clauses\.0\.proof\.(centre|radius).*", SAME + ": another box that holds the root"),
    (
        "stationary|stationary_in_a_box",
        r"clauses\.0\.proof\.(centre|radius).*",
        SAME + ": another box that holds the point",
    ),
    ("positive", r"clauses\.\d\.proof\.(shifts|relations).*", SAME + ": other slacks that do"),
    ("in_logarithms", r"clauses\.0\.proof\.logarithms", SAME + ": in another order"),
    (
        "in_logarithms",
        r"clauses\.0\.proof\.(logarithms\.\d\.proof|left)\.(shifts|relations).*",
        SAME + ": other slacks that do",
    ),
    ("squares", r"clauses\.\d\.proof\.(shifts|relations|squares).*", SAME + ": other slacks, or squares, that do"),
    (
        "by_cases",
        r"clauses\.0\.proof\.(shifts|cases\.(slack|times))",
        SAME + ": other slacks, or told apart the other way",
    ),
    ("by_cases", r"clauses\.[12]\.proof\.(shifts|relations|cases).*", SAME + ": other slacks, cases or powers that do"),
    (
        "matrices",
        r"clauses\.0\.proof\.(matrices\..*|place.*)",
        SAME + ": other matrices, or another place, that show it",
    ),
    ("residual|residual_of_wishart", r"clauses\.0\.proof\.roots.*", SAME + ": other intervals around the same roots"),
    ("*", r"instance\.\w+(\.\d+)?", ELSEWHERE),
]


def _paths(value, path=()):
    """All paths below a value; of long lists the first, the second and the last entries, of many clauses one.

    Of a symbol or a number in an expression only its name or value: the list that it is loses and repeats the others.
    """
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _paths(value[key], (*path, key))
    elif isinstance(value, list):
        places = {3} if path == ("clauses",) and len(value) > 4 else {0, 1, len(value) - 1}
        places = {1} if value[:1] in (["Symbol"], ["Integer"], ["Rational"]) else places
        for i in sorted(places & set(range(len(value)))):
            yield from _paths(value[i], (*path, i))


def _at(made, path):
    for part in path:
        made = made[part]
    return made


def _replacements(value):
    """Values to put in the place of one."""
    yield from (other for other in _others(value) if other != value or type(other) is not type(value))


def _others(value):
    yield from NO_VALUES
    if isinstance(value, bool):
        yield from (not value, int(value), str(value).lower())
    elif isinstance(value, int):
        yield from (value + 1, value - 1, 2 * value, -value, 0, 10**9, 10**17, 10**30, str(value), [value])
    elif isinstance(value, str):
        yield from (*NO_NUMBERS, HUGE, f"1/{HUGE}", value + " ", value + "\n", value.upper(), 1)
        # In the place of a word of the format any other of its words; elsewhere one word is as good as another.
        yield from WORDS if value in WORDS else WORDS[:2]
        if re.fullmatch(r"-?\d+(/\d+)?", value):
            x = Fraction(value)
            moved = [x + 1, x - 1, 2 * x, x / 2, -x, x + Fraction(1, 10**40), x - Fraction(1, 10**40)]
            yield from (str(y) for y in moved if y != x)
            if x:
                yield from (str(1 / x), f"{2 * x.numerator}/{2 * x.denominator}")
        if re.fullmatch(r"[0-9a-f]{64}", value):
            yield from ("0" * 64, value[::-1], value[:-1], value.upper())
    elif isinstance(value, list):
        yield [value]
        yield value * 2
        for i in sorted({0, 1, len(value) // 2, len(value) - 1} & set(range(len(value)))):
            yield value[:i] + value[i + 1 :]
            yield [*value[:i], value[i], *value[i:]]
        if value[::-1] != value:
            yield value[::-1]
        if len(value) > 1 and value[0] != value[1]:
            yield [value[1], value[0], *value[2:]]
    elif isinstance(value, dict):
        yield value | {"extra": 1}
        for key in value:
            yield {k: v for k, v in value.items() if k != key}


def _mutants(made):
    """Yield (field, text): every single-field mutation outside the statement, and repeated keys."""
    proofs = [clause["proof"] for clause in made["clauses"][:2]]
    twice = proofs[0]["kind"] == "cycle" and proofs[0] == proofs[-1]
    for path in _paths({key: value for key, value in made.items() if key != "statement"}):
        if twice and path[:3] == ("clauses", 1, "proof"):
            # The same proof as of the first clause, mutated there.
            continue
        original = _at(made, path)
        name = ".".join(map(str, path))
        for value in _replacements(original):
            if not path:
                yield name, json.dumps(value)
                continue
            mutant = copy.deepcopy({k: v for k, v in made.items() if k != "statement"})
            _at(mutant, path[:-1])[path[-1]] = value
            yield name, json.dumps(mutant | {"statement": made["statement"]})
        if isinstance(original, dict) and original:
            mutant = copy.deepcopy(made)
            inside = _at(mutant, path)
            first = next(iter(inside))
            inside["@repeated"] = inside[first]
            yield name, json.dumps(mutant).replace('"@repeated"', json.dumps(first))
    for label, outcome in (("verified", "refuted"), ("refuted", "verified")):
        text = json.dumps(made)
        if f'"{label}"' in text:
            yield "all outcomes", text.replace(f'"{label}"', f'"{outcome}"')
    for kind in KINDS:
        for i, clause in enumerate(made["clauses"][:2]):
            if clause["proof"]["kind"] != kind:
                for other in cases.ACCEPTED.values():
                    proofs = [c["proof"] for c in other()["clauses"] if c["proof"]["kind"] == kind]
                    if proofs:
                        mutant = copy.deepcopy(made)
                        mutant["clauses"][i]["proof"] = proofs[0]
                        yield f"proof of kind {kind}", json.dumps(mutant)
                        break


def _verdict(text):
    try:
        return recheck_text(text.encode())
    except (Rejected, Unreadable) as error:
        why = str(error)
    assert "\n" not in why and len(why) < 500
    return None


def _allowed(name, field):
    return next((why for names, path, why in HARMLESS if _named(names, name) and re.fullmatch(path, field)), None)


def _named(names, name):
    return names == "*" or name in names.split("|")


@pytest.mark.parametrize("name", cases.ACCEPTED)
def test_no_mutant_of_a_proof_is_wrongly_accepted(name):
    made = cases.ACCEPTED[name]()
    original = _verdict(json.dumps(made))
    tried, harmless = Counter(), Counter()
    for field, text in _mutants(made):
        tried[re.sub(r"\.\d+", "", field) or "the whole"] += 1
        found = _verdict(text)
        if found is None:
            continue
        why = _allowed(name, field)
        assert why, f"{field} was changed and accepted: {text[-3000:]}"
        harmless[f"{field}: {why}"] += 1
        # Whatever was changed, the claim is the same, or the result says what else it is about.
        same = (found.statement_digest, found.clauses) == (original.statement_digest, original.clauses)
        assert same and (found.instance == original.instance or field.startswith("instance."))
    kinds = sorted({c["proof"]["kind"] for c in made["clauses"]})
    print(f"\n{name} ({', '.join(kinds)}): {sum(tried.values())} mutants, none wrongly accepted; harmless:")
    for line, count in sorted(harmless.items()):
        print(f"    {count:3} {line}")
    assert sum(tried.values()) > 300


@pytest.mark.parametrize("name", cases.ACCEPTED)
def test_no_change_of_a_statement_goes_unseen(name):
    made = cases.ACCEPTED[name]()
    original = made["statement_digest"]
    tried = others = 0
    paths = list(_paths(made["statement"]))
    for path in paths[:: max(1, len(paths) // 60)]:
        values = list(_replacements(_at(made["statement"], path)))
        for value in values[:: max(1, len(values) // 8)]:
            mutant = copy.deepcopy(made)
            if path:
                _at(mutant["statement"], path[:-1])[path[-1]] = value
            else:
                mutant["statement"] = value
            tried += 1
            assert _verdict(json.dumps(mutant)) is None, path
            # With its digest it may be a certificate of another statement, which the digest tells.
            try:
                mutant["statement_digest"] = digest(mutant["statement"])
            except ValueError:
                continue
            tried += 1
            found = _verdict(json.dumps(mutant))
            if found is not None and mutant["statement"] != made["statement"]:
                assert found.statement_digest != original
                others += 1
    print(f"\n{name}: {tried} changes of the statement, none unseen; {others} consistent certificates of others")


def test_a_clause_left_out_of_the_statement_has_another_digest():
    made = cases.symbolic()
    made["statement"]["claims"].pop()
    made["clauses"].pop()
    assert _verdict(json.dumps(made)) is None
    made["statement_digest"] = digest(made["statement"])
    assert _verdict(json.dumps(made)).statement_digest != cases.symbolic()["statement_digest"]


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
