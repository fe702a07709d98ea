"""The re-checker's enclosures of attention with sign encodings, compared with enumeration, and used in statements."""

import itertools
import json
from fractions import Fraction
from functools import cache

import flint
import numpy as np
import pytest

from tests.verify.rechecker.certificates import trusts_of
from theorems.sparse_token_selection.rechecked import RECHECKS
from verify.checking.doors import door
from verify.language.expressions import digest
from verify.rechecker import Rejected, recheck_text
from verify.rechecker.balls import high, low
from verify.rechecker.reading import Effort
from verify.rechecker.registry import computed

SIZES = [(3, 1, 3), (3, 2, 4), (4, 2, 3), (4, 3, 3), (4, 4, 3), (5, 3, 2), (6, 4, 2), (2, 1, 6)]
GAINS = [(4, 3, 3, 0), (5, 3, 2, 0), (3, 1, 3, 1), (4, 2, 3, 1), (4, 3, 3, 1), (6, 4, 2, 1)]
# The largest width of G's enclosure relative to 1 − G, at sizes with so few dimensions that it may exceed 0.65.
WIDEST = {(3, 1, 3, 1): 0.9}


@cache
def products(T, q, D):
    """Return v_i = e_i·u and |u|² at all sign configurations, where u is the sum of the selected encodings e_i."""
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=T * D))).reshape(-1, T, D) / np.sqrt(D)
    u = signs[:, :q].sum(axis=1)
    return np.einsum("ntd,nd->nt", signs, u), (u**2).sum(axis=1)


def enumerated(T, q, D, query, C):
    """Return P and R, means over all sign configurations."""
    v, square = products(T, q, D)
    logits = C * np.column_stack([v, square] if query else [v])
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = (weights / weights.sum(axis=1, keepdims=True))[:, :T]
    return p[:, :q].sum(axis=1).mean(), (p**2).sum(axis=1).mean()


def largest(T, q, D, query):
    """Return the largest G = P²/(qR) on a fine grid of C up to 200, where G is close to its limit."""
    found = (enumerated(T, q, D, query, C) for C in np.concatenate([np.linspace(0, 12, 241), [20, 40, 80, 200]]))
    return max(P**2 / (q * R) for P, R in found)


def value(name, *arguments, effort=1e12):
    lower, upper = computed(Effort(effort), RECHECKS.primitives[f"{name}/1"], tuple(map(Fraction, arguments)))
    assert lower <= upper
    return lower, upper


@pytest.mark.parametrize("query", [0, 1])
@pytest.mark.parametrize("sizes", SIZES)
def test_means(sizes, query):
    for C in (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2)):
        for name, exact in zip(("selected", "squared"), enumerated(*sizes, query, float(C)), strict=True):
            lower, upper = value(f"{name}_attention", *sizes, C, query)
            # The means are summed in double precision over at most 2^12 configurations.
            assert float(lower) - 1e-12 <= exact <= float(upper) + 1e-12
            assert float(upper - lower) <= (1e-12 if C == 0 else 5e-3 if C <= 1 else 0.1)
    # At C = 40 the enclosures are wide, but contain the means.
    for name, exact in zip(("selected", "squared"), enumerated(*sizes, query, 40.0), strict=True):
        lower, upper = value(f"{name}_attention", *sizes, 40, query)
        assert float(lower) - 1e-12 <= exact <= float(upper) + 1e-12


def test_means_where_one_token_is_all():
    assert value("selected_attention", 1, 1, 3, 2, 0) == (1, 1)
    lower, upper = value("selected_attention", 1, 1, 3, 2, 1)
    assert lower <= Fraction(1, 2) <= upper
    assert upper - lower < Fraction(1, 2**30)


@pytest.mark.parametrize("sizes", GAINS)
def test_gain(sizes):
    lower, upper = value("attention_gain", *sizes)
    found = largest(*sizes)
    # A grid point is within 1/40, half a step, of the best C. So the grid's maximum is below the supremum by at most
    # the change of G over this distance.
    assert float(lower) <= found + 1e-3
    assert found <= float(upper) + 1e-12
    assert float(upper - lower) <= WIDEST.get(sizes, 0.65) * float(1 - lower)


def test_gain_where_it_is_sharp():
    lower, upper = value("attention_gain", 20, 4, 60, 0)
    assert upper < 1
    assert (upper - lower) / (1 - lower) <= Fraction(1, 100)
    assert value("attention_gain", 5, 5, 2, 1) == (1, 1)


@pytest.mark.parametrize(("T", "q", "D"), [(5, 1, 2), (3, 1, 4), (3, 2, 4), (4, 2, 3), (6, 2, 2)])
def test_gain_in_closed_form(T, q, D):
    lower, upper = value("attention_gain", T, q, D, 0)
    v, _ = products(T, q, D)
    equal = (v > v.max(axis=1, keepdims=True) - 1e-9).sum(axis=1)
    assert float(lower) - 1e-12 <= (q / equal).mean() <= float(upper) + 1e-12
    assert upper - lower < Fraction(1, 2**100)
    # At C = 1000 attention is as sharp as in the limit.
    P, R = enumerated(T, q, D, 0, 1000.0)
    assert abs(P**2 / (q * R) - float(lower)) < 1e-9


def test_closed_form_where_it_is_not_summed():
    # At 256 dimensions G is summed, and at 257 it is enclosed by moments: 1 − G is about (3/4)^D (T − 2)/3.
    (summed, same), (lower, upper) = (value("attention_gain", 50, 2, D, 0) for D in (256, 257))
    assert same - summed < Fraction(1, 2**500)
    for end in (lower, upper):
        assert abs((1 - end) / (1 - summed) - Fraction(3, 4)) < Fraction(1, 10**15)
    assert lower < upper < 1


@pytest.mark.parametrize(("T", "q", "d", "eps"), [(6, 2, 3, "1/50"), (5, 1, 2, "1/100"), (40, 2, 1, "1/9")])
def test_least_dimension_in_closed_form(T, q, d, eps):
    (first, last), eps = value("least_encoding_dimension", T, q, d, eps, 0), Fraction(eps)
    assert first == last
    floors = [Fraction(d, 2 * q) * (1 - value("attention_gain", T, q, D, 0)[0]) for D in (first, max(1, first - 1))]
    assert floors[0] <= eps
    assert first == 1 or floors[1] > eps


def test_least_dimension():
    # The losses d/(2q)(1 − sup G) at two and at three dimensions are enumerated; the level is their mean.
    floors = [(1 - largest(4, 3, D, 0)) / 6 for D in (2, 3)]
    first, last = value("least_encoding_dimension", 4, 3, 1, Fraction(sum(floors) / 2), 0)
    assert floors[0] > floors[1]
    assert first <= 3 <= last
    assert value("least_encoding_dimension", 4, 4, 1, 0, 0) == (1, 1)
    assert value("least_encoding_dimension", 9, 3, 2, 1, 1) == (1, 1)


REFUSED = [
    ("selected_attention", (3, 4, 2, 1, 0), "1 ≤ q ≤ T"),
    ("selected_attention", (3, 0, 2, 1, 0), "1 ≤ q ≤ T"),
    ("squared_attention", (3, 2, 0, 1, 0), "D ≥ 1"),
    ("squared_attention", (3, 2, 4, -1, 0), "C that is not"),
    ("selected_attention", (3, 2, 4, 10**5, 0), "C that is not"),
    ("selected_attention", (3, 2, 4, 1, 2), "query"),
    ("attention_gain", (3, 2, 4, Fraction(1, 2)), "query"),
    ("attention_gain", (Fraction(7, 2), 2, 4, 0), "integers"),
    ("attention_gain", (10**7, 2, 4, 0), "above"),
    ("attention_gain", (9, 2, 10**7, 0), "above"),
    ("attention_gain", (100, 65, 4, 0), "above"),
    ("least_encoding_dimension", (9, 2, 0, 1, 0), "d > 0"),
    ("least_encoding_dimension", (9, 2, 1, -1, 0), "eps ≥ 0"),
    ("least_encoding_dimension", (9, 2, 1, 0, 0), "no dimension"),
]


@pytest.mark.parametrize(("name", "arguments", "why"), REFUSED)
def test_refused(name, arguments, why):
    with pytest.raises(Rejected, match=why):
        value(name, *arguments)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (flint.arb(3) ** 10**18, "too large or too small"),
        (flint.arb(3) ** -(10**18), "too large or too small"),
        (1 / flint.arb(0), "not finite"),
    ],
)
def test_ends_that_cannot_be_written_down_are_refused(value, why):
    for end in (low, high):
        with pytest.raises(Rejected, match=why):
            end(value)
    assert low(flint.arb(3) ** -1000) < Fraction(1, 3**1000) < high(flint.arb(3) ** -1000)


def test_effort_is_spent_each_time():
    arguments, left = ("selected_attention", 7, 3, 9, "3/2", 1), []
    for _ in range(2):
        effort = Effort()
        computed(effort, RECHECKS.primitives["selected_attention/1"], tuple(map(Fraction, arguments[1:])))
        left.append(effort.left)
    assert left[0] == left[1] < Effort().left - 1000
    with pytest.raises(Rejected, match="microseconds of work"):
        value(*arguments, effort=1000)
    with pytest.raises(Rejected, match="microseconds of work"):
        value("attention_gain", 50, 9, 40, 1, effort=1e5)


def _symbol(name):
    return ["Symbol", name, "integer", "positive"] if name in "TqD" else ["Symbol", name, "positive"]


def _certificate(relation, instance, margin, outcome="verified"):
    whole = {"kind": "integer", "words": [], "minimum": "1", "above": None}
    parameters = [{"name": name, **whole} for name in "TqD"]
    parameters.append({"name": "eps", "kind": "rational", "words": [], "minimum": None, "above": "0"})
    clause = {"kind": "inequality", "label": "floor", "says": "the floor is small", "relation": relation}
    statement = {
        "parameters": parameters,
        "variables": [],
        "domain": [],
        "hypotheses": [],
        "definitions": [],
        "claims": [clause],
        "steps": [],
    }
    kind = {"kind": "exact", "margin": margin} if isinstance(margin, str) else None
    proof = kind or {"kind": "ball", "bits": 128, "margin": list(margin)}
    stated = {"label": "floor", "outcome": outcome, "evidence": "certified", "proof": proof}
    return {
        "format": "lemmascope-certificate",
        "version": 3,
        "theorem": "user.mine",
        "statement": statement,
        "statement_digest": digest(statement),
        "instance": instance,
        "in_scope": True,
        "uses": [],
        "trusts": trusts_of(statement),
        "clauses": [stated],
    }


def _floor(query="0"):
    """Return the relation (1 − sup G)/2 ≤ eps as data."""
    gain = ["Primitive", "attention_gain", 1, *map(_symbol, "TqD"), ["Integer", query]]
    less = ["Add", ["Integer", "1"], ["Mul", ["Integer", "-1"], gain]]
    return ["Le", ["Mul", ["Rational", "1/2"], less], _symbol("eps")]


def _rechecked(*arguments, **more):
    return recheck_text(json.dumps(_certificate(*arguments, **more)).encode(), door=door)


def test_statement():
    # For T = 4, q = 2 and D = 3, sup G has the closed form that `test_gain_in_closed_form` checks.
    instance, gain = {"T": "4", "q": "2", "D": "3", "eps": "1/4"}, value("attention_gain", 4, 2, 3, 0)[0]
    margin = Fraction(1, 4) - (1 - gain) / 2
    assert margin > Fraction(1, 100)
    # A wider interval is accepted, and so is an interval that the recomputed ball only meets.
    for around in ((margin / 2, margin * 2), (margin - Fraction(1, 10**60), margin + Fraction(1, 10**60))):
        assert _rechecked(_floor(), instance, tuple(map(str, around))).clauses[0][1] == "verified"
    with pytest.raises(Rejected, match="does not meet"):
        _rechecked(_floor(), instance, (str(margin * 2), str(margin * 3)))
    with pytest.raises(Rejected, match="does not decide"):
        _rechecked(_floor(), instance, ("-1", "1"))


def test_wrong_statement():
    instance, gain = {"T": "4", "q": "2", "D": "3", "eps": "1/50"}, value("attention_gain", 4, 2, 3, 0)[0]
    margin = Fraction(1, 50) - (1 - gain) / 2
    assert margin < 0
    with pytest.raises(Rejected, match="does not meet"):
        _rechecked(_floor(), instance, ("1/1000", "1"))
    with pytest.raises(Rejected, match="gives another outcome"):
        _rechecked(_floor(), instance, (str(margin * 2), str(margin / 2)))
    refuted = _rechecked(_floor(), instance, (str(margin * 2), str(margin / 2)), outcome="refuted")
    assert refuted.clauses[0][1] == "refuted"


def test_two_enclosures_decide_alike():
    # With attention to the query, the enclosure has a positive width. No file can decide a level inside it.
    lower, upper = value("attention_gain", 12, 3, 20, 1)
    inside = (2 - lower - upper) / 4
    instance = {"T": "12", "q": "3", "D": "20", "eps": str(inside)}
    assert lower < upper < 1
    for margin, outcome in ((("0", "1/9"), "verified"), (("-1/9", "-1/10000000"), "refuted")):
        with pytest.raises(Rejected, match="does not decide"):
            _rechecked(_floor("1"), instance, margin, outcome=outcome)
    outside = (1 - lower) / 2 + Fraction(1, 10**4)
    instance["eps"] = str(outside)
    # The stated interval meets the recomputed interval without containing it.
    stated = (str(outside - (1 - lower) / 2), str(outside - (1 - lower) / 2 + (upper - lower) / 4))
    assert _rechecked(_floor("1"), instance, stated).clauses[0][1] == "verified"


def test_exactly_known():
    # If all tokens are selected, the supremum is 1.
    instance = {"T": "3", "q": "3", "D": "2", "eps": "1/4"}
    assert _rechecked(_floor(), instance, "1/4").clauses[0][3] == "exact"
    with pytest.raises(Rejected, match="is not larger minus smaller"):
        _rechecked(_floor(), {"T": "4", "q": "2", "D": "3", "eps": "1/4"}, "1/9")


def test_arguments_are_rational():
    relation = _floor()
    relation[1][2][2][2][5] = ["Pow", ["Integer", "2"], ["Rational", "1/2"]]
    with pytest.raises(Rejected, match="no exact rational"):
        _rechecked(relation, {"T": "4", "q": "2", "D": "3", "eps": "1/4"}, ("0", "1"))
    relation[1][2][2][2][5:] = []
    with pytest.raises(Rejected, match="arguments"):
        _rechecked(relation, {"T": "4", "q": "2", "D": "3", "eps": "1/4"}, ("0", "1"))
