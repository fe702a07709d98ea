"""Certificates that are made to exhaust the re-checker, and a table of them by name."""

import random
from collections.abc import Callable

from tests.verify.rechecker.bomb_parts import (
    EXACT,
    POSITIVE,
    WORDS,
    Data,
    V,
    W,
    X,
    Y,
    Z,
    add,
    certificate,
    contracting,
    cycle,
    descent,
    fraction,
    in_balls,
    letter,
    mul,
    num,
    parameter,
    passage,
    power,
    recursion,
    relation,
    residual,
    root,
    shown_exactly,
    the_same,
    tube,
    words,
)


def chain(count: int, link: Callable[[Data, int], Data], start: Data = X) -> tuple[Data, list[Data]]:
    """Return the symbol of the last of some definitions, and the definitions; each uses the definition before it."""
    definitions, last = [], start
    for i in range(min(count, 900)):
        definitions.append([["Symbol", f"d{i}"], link(last, i)])
        last = ["Symbol", f"d{i}"]
    return last, definitions


def squared_sums(last: Data, i: int) -> Data:
    return add(power(last, 2), V)


LINKS: dict[str, Callable[[Data, int], Data]] = {
    "doubled": lambda last, i: mul(last, last),
    "summed": lambda last, i: add(last, mul(last, Y)),
    "squared": squared_sums,
    "raised": lambda last, i: power(last, 9999),
    "rooted": lambda last, i: ["Pow", add(last, num(1)), fraction(1, 2)],
    "divided": lambda last, i: add(Y, power(last, -1)),
    "exponential": lambda last, i: ["exp", last],
    "logarithmic": lambda last, i: ["log", add(last, num(i + 2))],
    "derived": lambda last, i: ["Derivative", mul(last, ["exp", mul(X, Y)]), ["Tuple", Y, num(1)]],
    "substituted": lambda last, i: ["Subs", add(last, power(W, 2)), ["Tuple", W], ["Tuple", add(last, V)]],
    "limited": lambda last, i: add(
        Y, ["Limit", add(last, ["Symbol", f"r{i}"]), ["Symbol", f"r{i}"], num(0), ["Symbol", "+"]]
    ),
    "fractional": lambda last, i: add(last, fraction(10**18 + i, 10**17 + 7 * i + 1)),
}


def symbols(count: int) -> list[Data]:
    return [["Symbol", f"s{i}", "real"] for i in range(count)]


def raised_sum(count: int, exponent: int) -> bytes:
    listed = tuple(name for _, name, _ in symbols(count))
    return the_same(power(add(*symbols(count)), exponent), variables=listed)


def raised_slacks(count: int, exponent: int) -> bytes:
    parts = [{"name": f"s{i}", "kind": "rational", "words": [], "minimum": "0", "above": None} for i in range(count)]
    signed = [["Symbol", f"s{i}", "nonnegative", "real"] for i in range(count)]
    values = {f"s{i}": "1" for i in range(count)}
    proof = POSITIVE | {"shifts": dict.fromkeys(values, "0")}
    return certificate(
        relation(power(add(*signed), exponent)),
        proof,
        evidence="proved",
        values=values,
        variables=(),
        parameters=[parameter("x"), *parts],
    )


def halves(count: int) -> Data:
    return add(*[["exp", mul(fraction(1, i + 2), X)] for i in range(count)])


def long_product(count: int) -> Data:
    return ["Derivative", mul(*[add(X, num(i + 1)) for i in range(count)]), ["Tuple", X, num(1)]]


def roots_of(count: int) -> Data:
    """Return a product with two equal roots of each of many sums; the re-checker collects equal roots."""
    kept = [["Pow", add(X, num(i + 1)), fraction(1, 2)] for i in range(count)]
    return mul(*kept, *kept)


def nothing_to_a_power(depth: int, exponent: int = 100) -> Data:
    """Return powers of powers of a sum that cancels, so that no word is too long."""
    last = add(letter("A"), mul(num(-1), letter("A")))
    for _ in range(depth):
        last = power(last, exponent)
    return last


def long_words(count: int, digits: int) -> bytes:
    entry = "7" * digits
    put = {name: [[entry, "1"], ["1", entry]] for name in "AB"}
    proof = {"kind": "matrices", "scalars": {}, "matrices": put, "place": [0, 0], "difference": "1"}
    return words(mul(*[letter("A")] * count), mul(*[letter("B")] * count), proof, "refuted")


def many_clauses(count: int, parameters: int = 0) -> bytes:
    claims = [relation(add(power(X, 2), num(1))) | {"label": f"c{i}"} for i in range(count)]
    exact = EXACT | {"margin": "10"}
    return certificate(claims[0], exact, claims=claims, values={f"p{i}": "1" for i in range(parameters)})


def many_hypotheses(count: int, parameters: int = 0) -> bytes:
    said = {"kind": "parametric", "relation": ["Ge", ["exp", X], num(0)], "text": ""}
    held = [said | {"label": f"h{i}"} for i in range(count)]
    return certificate(
        relation(X), EXACT | {"margin": "3"}, hypotheses=held, values={f"p{i}": "1" for i in range(parameters)}
    )


def many_word_parameters(count: int, each: int) -> bytes:
    """Return a claim about parameters that are words, with a case for each of the many words of each parameter."""
    listed = [f"w{i}" for i in range(each)]
    kinds = [{"name": f"p{i}", "kind": "word", "words": listed, "minimum": None, "above": None} for i in range(count)]
    chosen = [["Case", ["Symbol", f"p{i}"], *map(num, range(each))] for i in range(count)]
    values = {f"p{i}": listed[-1] for i in range(count)}
    margin = EXACT | {"margin": str(count * (each - 1))}
    return certificate(relation(add(*chosen)), margin, parameters=[parameter("x"), *kinds], values=values)


def many_parameters(count: int) -> bytes:
    return certificate(relation(X), EXACT, values={f"p{i}": "1" for i in range(count)})


def turned_words(depth: int, copies: int = 1) -> bytes:
    """Return nested transposes of sums of many long words."""
    last = mul(power(add(letter("A"), letter("B")), 12), *[power(letter("A"), 93)] * 2)
    for _ in range(depth):
        last = ["transpose", last]
    return words(add(*[last] * copies), letter("A"))


def many_substitutions(count: int, names: int) -> bytes:
    """Return many substitutions; many definitions and variables are replaced in each."""
    defined = [[["Symbol", f"d{i}"], add(X, num(i))] for i in range(names)]
    point = ["Tuple", ["Symbol", "d0"]]
    parts = [["Subs", add(W, mul(num(i + 2), Y)), ["Tuple", W], point] for i in range(count)]
    listed = ("y", "w", *(f"s{i}" for i in range(names)))
    return the_same(add(*parts), definitions=defined, variables=listed)


def sparse_limit(terms: int, gap: int, exponent: int) -> bytes:
    """Return a limit of powers whose exponents are far apart, in the limit's variable and in other variables."""
    t, listed = ["Symbol", "t"], [["Symbol", f"s{i}", "real"] for i in range(terms)]
    parts = [mul(power(s, gap * i + 1), *[power(t, 97)] * (gap * i % 50), power(t, i)) for i, s in enumerate(listed)]
    inner = add(power(add(*parts, V), exponent), power(mul(t, add(V, *parts)), exponent))
    left = ["Limit", inner, t, num(0), ["Symbol", "+"]]
    return the_same(left, variables=("v", *(f"s{i}" for i in range(terms))))


def half_negative(count: int, start: Data | None = None) -> bytes:
    """Return a recursion whose step is a sum in which half of the terms are subtracted."""
    parts = [mul(fraction((-1) ** i, i + 2), power(Z, i + 1)) for i in range(count)]
    return passage(recursion([add(*parts)], start=start or fraction(1, 2000)), 0)


def many_choices(clauses: int, cases: int) -> bytes:
    """Return many clauses; for each clause the re-checker looks at the names of many parameters that are words."""
    size = ["Symbol", "n", "integer", "rational", "positive", "nonnegative", "nonzero", "real"]
    claim = {"kind": "matrix_identity", "says": "", "left": letter("A"), "right": letter("A")}
    claims = [claim | {"label": f"c{i}", "shapes": [[letter("A"), size, size]]} for i in range(clauses)]
    unread = [["Symbol", "d"], ["Unread", *[["Case", ["Symbol", f"w{i}"]] for i in range(cases)]]]
    return certificate(claims[0], WORDS, claims=claims, definitions=[unread], values={"n": "2"})


def many_shapes(letters: int, relations: int) -> bytes:
    """Return matrices whose sizes only the last of many relations shows to be at least 1."""
    n = ["Symbol", "n", "integer", "rational", "nonnegative", "real"]
    claim = {"kind": "matrix_identity", "label": "c", "says": "", "left": letter("M0"), "right": letter("M0")}
    claim["shapes"] = [[letter(f"M{i}"), n, n] for i in range(letters)]
    domain = [*[["Ge", add(X, num(1)), num(0)]] * (relations - 1), ["Ge", n, num(1)]]
    listed = [parameter("x"), parameter("n") | {"minimum": "0"}]
    return certificate(claim, WORDS, evidence="proved", parameters=listed, domain=domain, values={"n": "2"})


def many_divisors(count: int, relations: int) -> bytes:
    """Return divisors that cancel, each of which is compared with every relation of the domain."""
    parts = [mul(num(0), power(add(X, num(i + 1)), -1)) for i in range(count)]
    return the_same(add(*parts, X), domain=[["Ge", add(X, num(1)), num(0)]] * relations)


def many_squares(count: int, names: int) -> bytes:
    """Return a proof with many squares; many definitions and variables are replaced in each."""
    defined = [[["Symbol", f"d{i}"], add(X, num(i))] for i in range(names)]
    proof = POSITIVE | {"kind": "squares", "squares": [{"factor": num(1), "root": X}] * count}
    listed = tuple(f"s{i}" for i in range(names))
    return certificate(relation(X), proof, evidence="proved", definitions=defined, variables=listed)


def many_signs(clauses: int, names: int) -> bytes:
    """Return many proofs; for each proof the re-checker looks up the signs of all variables."""
    claims = [relation(num(1)) | {"label": f"c{i}"} for i in range(clauses)]
    listed = tuple(f"s{i}" for i in range(names))
    return certificate(claims[0], POSITIVE, evidence="proved", claims=claims, variables=listed)


def many_lists(count: int, depth: int) -> bytes:
    """Return nested lists among matrices, in which the re-checker looks for letters."""
    inner: Data = [[]] * count
    for _ in range(depth):
        inner = [inner]
    return words(["Mul", letter("A"), inner], letter("A"))


def apart(count: int, digits: int) -> list[str]:
    """Return rationals whose denominators have only small common divisors."""
    source = random.Random(0)
    return [f"1/{''.join(source.choices('123456789', k=digits - 1))}7" for _ in range(count)]


def matrices_apart(size: int, digits: int) -> bytes:
    """Return matrices of rationals whose denominators have only small common divisors."""
    listed = apart(2 * size * size, digits)
    rows = [listed[i : i + size] for i in range(0, len(listed), size)]
    put = {"A": rows[:size], "B": rows[size:]}
    proof = {"kind": "matrices", "scalars": {}, "matrices": put, "place": [0, 0], "difference": "1"}
    values = {"n": str(size)}
    return words(mul(letter("A"), letter("B"), letter("A")), letter("A"), proof, "refuted", values=values)


def quotients_in_exponents(terms: int, divisors: int) -> bytes:
    """Return an exponential of a quotient whose numerator and divisor have many terms."""
    p = ["Symbol", "p", "nonnegative", "real"]
    over = add(*[mul(num(i + 2), power(p, i)) for i in range(1, divisors)], num(1))
    left = ["exp", mul(add(*[power(V, i + 1) for i in range(terms)]), power(over, -1))]
    listed = [parameter("x"), parameter("p") | {"minimum": "0"}]
    return the_same(left, [over], parameters=listed, values={"p": "1"})


def long_ends(count: int, digits: int, terms: int) -> bytes:
    """Return a proof on a box for a sum whose terms contain x; many relations with long numbers give the box's ends."""
    ends = [["Le", mul(num(int("7" * digits) + 2 * i), X), num(10**digits)] for i in range(count)]
    k = ["Symbol", "k", "integer", "rational", "real"]
    total = ["Sum", mul(k, X), ["Tuple", k, num(1), num(terms)]]
    proof = {"kind": "deduction", "relations": [*range(count + 1)]}
    proof["tree"] = {"rule": "box", "bits": 64, "cuts": None}
    return certificate(
        relation(add(num(10**15), mul(num(-1), total)), "Gt"),
        proof,
        evidence="proved",
        domain=[["Ge", X, num(0)], *ends],
        values={"x": "1"},
    )


BOMBS: dict[str, Callable[[], bytes]] = {
    "brackets": lambda: b"[" * 10**6 + b"]" * 10**6,
    "open brackets": lambda: b"[" * (64 * 2**20),
    "closing brackets": lambda: b"]" * (64 * 2**20),
    "objects": lambda: b'{"a":' * 10**6,
    "100 MB": lambda: b'"' + b"a" * 10**8 + b'"',
    "one string": lambda: b'"' + b"a" * (64 * 2**20 - 2) + b'"',
    "quotes": lambda: b'"' * (64 * 2**20),
    "escaped quotes": lambda: b'"' + b'\\"' * (32 * 2**20 - 1),
    "empty lists": lambda: b"[" + b"[]," * (21 * 2**20) + b"1]",
    "many lists": lambda: b"[" + b"[]," * 1_200_000 + b"1]",
    "many strings": lambda: b"[" + b'"ab",' * (12 * 2**20) + b"1]",
    "a long integer": lambda: b"[" + b"9" * (64 * 2**20 - 2) + b"]",
    "a long float": lambda: b"[1." + b"9" * (32 * 2**20) + b"]",
    "many keys": lambda: b"{" + b",".join(b'"%d":1' % i for i in range(10**6)) + b"}",
    "the same key": lambda: b"{" + b",".join([b'"a":1'] * 10**6) + b"}",
    "the last key again": lambda: b"{" + b",".join(b'"%d":1' % (i % 999_999) for i in range(10**6)) + b"}",
    "long numbers": lambda: b"[" + b",".join([b'"' + b"7" * 20000 + b'"'] * 3000) + b"]",
    "a margin of many digits": lambda: certificate(relation(X), EXACT | {"margin": "9" * 10**6}),
    "margins at the limit": lambda: certificate(relation(X), EXACT | {"margin": "9" * 20000}),
    "many parameters": lambda: many_parameters(200_000),
    "many symbols": lambda: shown_exactly(add(*symbols(100_000))),
    "many clauses": lambda: many_clauses(40_000),
    "clauses of many parameters": lambda: many_clauses(10_000, 990),
    "hypotheses of many parameters": lambda: many_hypotheses(10_000, 990),
    "many words of parameters": lambda: many_word_parameters(100, 900),
    "many hypotheses": lambda: many_hypotheses(60_000),
    "a step of 2^(10^12)": lambda: passage(recursion([mul(fraction(1, 2), Z)]), 1, within=power(num(2), 10**12)),
    "a step of 2^(2*10^10)": lambda: passage(recursion([mul(fraction(1, 2), Z)]), 1, within=power(num(2), 2 * 10**10)),
    "400 symbols, cubed": lambda: raised_sum(400, 3),
    "many slacks, cubed": lambda: raised_slacks(150, 3),
    "doubling, exactly": lambda: _chained("doubled", 60, shown_exactly),
    "doubling, in balls": lambda: _chained("doubled", 900, in_balls, bits=8192),
    "doubling polynomials": lambda: _chained("doubled", 60, the_same),
    "doubling sums": lambda: _chained("summed", 900, the_same),
    "squares of sums": lambda: _chained("squared", 40, the_same),
    "a chain of fractions": lambda: _chained("fractional", 900, shown_exactly),
    "a chain of exponentials": lambda: _chained("exponential", 900, shown_exactly),
    "a large power of a sum": lambda: the_same(power(add(X, Y, V, W, num(1)), 10000)),
    "powers of powers": lambda: _chained("raised", 8, the_same),
    "a number in powers of powers": lambda: _chained("raised", 8, the_same, start=add(X, fraction(7**400, 3**500))),
    "powers of numbers": lambda: shown_exactly(power(num(3), 10**18)),
    "powers of numbers in balls": lambda: in_balls(power(num(3), 10**18), 8192),
    "derivatives of derivatives": lambda: _chained("derived", 100, the_same),
    "substitutions in each other": lambda: _chained("substituted", 300, the_same),
    "a derivative of a long product": lambda: the_same(long_product(20_000)),
    "continued fractions": lambda: _chained("divided", 60, the_same),
    "limits in each other": lambda: _chained("limited", 60, the_same),
    "a limit of high powers": lambda: the_same(
        ["Limit", power(add(X, power(V, -1), mul(Y, V)), 100), V, num(0), ["Symbol", "+"]]
    ),
    "halves of exponents": lambda: the_same(halves(300)),
    "many exponentials": lambda: the_same(halves(3000)),
    "roots in pairs": lambda: the_same(roots_of(40_000)),
    "many factors": lambda: the_same(X, [add(X, Y, num(i + 1)) for i in range(2000)]),
    "too many steps": lambda: passage(contracting(1), 2 * 10**7),
    "many steps of many bits": lambda: passage(contracting(1), 10**6, 8192),
    "a wide recursion": lambda: passage(contracting(16), 10**5, 4096),
    "squares without end": lambda: passage(recursion([power(Z, 2)], start=num(3)), 2 * 10**7),
    "squares down to 0": lambda: passage(recursion([power(Z, 2)], add(Z, num(1)), fraction(1, 3)), 2 * 10**7),
    "high powers without end": lambda: passage(recursion([power(Z, 10**18)], start=num(3)), 2 * 10**7),
    "many checkpoints": lambda: passage(contracting(1), 30_000, 64, [[i, [["1/2", "1"]]] for i in range(30_000)]),
    "many cuts": lambda: descent([0] * 50_000 + [-1] * 50_001),
    "deep cuts": lambda: descent([0, -1] * 49_999),
    "a long cycle": lambda: cycle(contracting(1), 1000, 65536, 2 * 10**7),
    "a wide cycle": lambda: cycle(contracting(16), 1000, 65536),
    "many nodes": lambda: tube(contracting(3), 90_000, 8192),
    "many balls of many bits": lambda: in_balls(add(*[power(add(X, num(i + 1)), -1) for i in range(90_000)]), 8192),
    "many exact numbers": lambda: _chained("doubled", 17, shown_exactly, values={"x": "7" * 19_000}),
    "matrices to powers that cancel": lambda: words(nothing_to_a_power(12), num(0)),
    "long words of long numbers": lambda: long_words(200, 19_000),
    "many words": lambda: words(power(add(letter("A"), letter("B")), 60), letter("A")),
    "moments of many bits": lambda: residual(60, power(fraction(7**4000, 3**5000), 1)),
    "many moments": lambda: residual(
        60, power(add(["Symbol", "k", "integer", "rational", "nonnegative", "real"], num(1)), -1), 300
    ),
    "transposes in each other": lambda: turned_words(180),
    "a sum of transposes": lambda: turned_words(1, 36),
    "substitutions of many definitions": lambda: many_substitutions(20_000, 450),
    "a sparse limit": lambda: sparse_limit(40, 7, 100),
    "a limit of long powers": lambda: the_same(
        ["Limit", power(mul(power(V, 90), power(Y, 80)), 100), V, num(0), ["Symbol", "+"]]
    ),
    "a sum half subtracted": lambda: half_negative(49_000),
    "many words that choose": lambda: many_choices(6_000, 400_000),
    "many shapes": lambda: many_shapes(1000, 10_000),
    "many divisors that cancel": lambda: many_divisors(3000, 10_000),
    "many squares": lambda: many_squares(200_000, 480),
    "many signs": lambda: many_signs(10_000, 990),
    "long ends of a box": lambda: long_ends(40, 3000, 90_000),
    "lists with no letter": lambda: many_lists(1_300_000, 190),
    "matrices of many denominators": lambda: matrices_apart(20, 4000),
    "quotients in exponents": lambda: quotients_in_exponents(900, 900),
    "a wide system": lambda: root([add(*[["exp", ["Symbol", f"z{j}", "real"]] for j in range(16)])] * 16, 8192),
}


def _chained(link: str, count: int, made: Callable[..., bytes], start: Data = X, **more: Data) -> bytes:
    last, definitions = chain(count, LINKS[link], start)
    return made(last, definitions=definitions, **more)
