"""Matrix words: nothing is shown of matrices that do not fit, or of which there are none, even if they cancel."""

import pytest

from tests.verify.rechecker.cases import words
from tests.verify.rechecker.certificates import certificate, integer, recheck
from verify.rechecker import Rejected

A, B, C, Q = (["Symbol", name, "noncommutative"] for name in "ABCQ")
X, N = ["Symbol", "x", "real"], ["Symbol", "n", "integer", "rational", "real"]
SQUARE = [[A, N, N], [B, N, N], [C, N, integer(1)], [Q, N, N]]
WORDS = ("verified", "proved", {"kind": "words"})


def half(data):
    return ["Mul", ["Rational", "1/2"], data]


def product(*factors):
    return ["Mul", *factors]


def claimed(left, right, shapes=SQUARE, *, minimum="1", hypotheses=(), n="2", proof=WORDS):
    """A certificate of a matrix identity in n (integer) and x (rational), in JSON alone."""
    claim = {"kind": "matrix_identity", "label": "c", "says": "", "shapes": shapes, "left": left, "right": right}
    parameters = [
        {"name": "x", "kind": "rational", "words": [], "minimum": "0", "above": None},
        {"name": "n", "kind": "integer", "words": [], "minimum": minimum, "above": None},
    ]
    held = [
        {"label": f"h{i}", "kind": "parametric", "relation": relation, "text": ""}
        for i, relation in enumerate(hypotheses)
    ]
    data = {
        "parameters": parameters,
        "variables": [],
        "domain": [],
        "hypotheses": held,
        "definitions": [],
        "claims": [claim],
        "steps": [],
    }
    return certificate(data, {"x": "3", "n": n}, proof)


def sized(rows, columns):
    """A identity of one letter, A + A = 2A, of that many rows and columns."""
    return claimed(["Add", A, A], product(integer(2), A), [[A, rows, columns]])


def cancelled(*letters):
    """Q and a product that cancels."""
    return ["Add", product(*letters), product(integer(-1), *letters), Q]


ACCEPTED = {
    "square": claimed(product(A, B), product(A, B)),
    "cancels, and fits": claimed(cancelled(A, B), Q),
    "a number among square ones": claimed(product(["Add", A, integer(1)], B), ["Add", product(A, B), B]),
    "a side 0": claimed(["Add", A, product(integer(-1), A)], integer(0)),
    "polynomials": claimed(
        product(A, B),
        product(A, B),
        [[A, ["Add", product(N, N), N], N], [B, N, ["Add", product(integer(2), N), integer(-1)]]],
    ),
    "a written product of lengths": claimed(
        product(A, B),
        product(A, B),
        [[A, N, ["Add", product(N, N), N]], [B, product(N, ["Add", N, integer(1)]), N]],
    ),
    "by a hypothesis": claimed(
        ["Add", A, A],
        product(integer(2), A),
        [[A, ["Add", N, integer(-1)], integer(1)]],
        hypotheses=[["Ge", N, integer(2)]],
    ),
}
FORGED = {
    "a product that cancels": (claimed(cancelled(C, C), Q), "do not fit"),
    "a product in a product": (claimed(product(cancelled(C, C), A), product(Q, A)), "do not fit"),
    "a transpose": (claimed(cancelled(A, ["transpose", C]), Q), "do not fit"),
    "a power": (claimed(["Add", ["Pow", C, integer(2)], product(integer(-1), C, C), Q], Q), "do not fit"),
    "times 0": (claimed(["Add", product(integer(0), C, A), Q], Q), "do not fit"),
    "a sum": (claimed(["Add", C, product(integer(-1), C), Q], Q), "different shapes"),
    "a number in a sum": (claimed(["Add", C, integer(1), integer(-1)], C), "different shapes"),
    "both sides": (
        claimed(["Add", A, product(integer(-1), A)], ["Add", C, product(integer(-1), C)]),
        "different shapes",
    ),
    "a half": (sized(["Rational", "1/2"], integer(1)), "integer coefficients"),
    "n/2": (sized(half(N), N), "integer coefficients"),
    "a rational parameter": (sized(X, X), "integer coefficients"),
    "1/0": (sized(["Pow", integer(0), integer(-1)], N), "integer coefficients"),
    "1/n": (sized(["Pow", N, integer(-1)], N), "integer coefficients"),
    "log(-1)": (sized(["log", integer(-1)], N), "integer coefficients"),
    "exp(n)": (sized(["exp", N], N), "integer coefficients"),
    "-3": (sized(integer(-3), N), "at least 1"),
    "0": (sized(integer(0), N), "at least 1"),
    "n - 1": (sized(["Add", N, integer(-1)], N), "at least 1"),
    "n with no minimum": (claimed(["Add", A, A], product(integer(2), A), minimum=None), "at least 1"),
    "n from 0": (claimed(["Add", A, A], product(integer(2), A), minimum="0"), "at least 1"),
    "a hypothesis of another": (
        claimed(["Add", A, A], product(integer(2), A), minimum=None, hypotheses=[["Ge", X, integer(2)]]),
        "at least 1",
    ),
    "a hypothesis that fails here": (
        claimed(["Add", A, A], product(integer(2), A), minimum=None, hypotheses=[["Ge", N, integer(1)]], n="-1")
        | {"in_scope": False},
        "less than 1",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_fits_is_accepted(name):
    assert recheck(ACCEPTED[name]).clauses[0].evidence == "proved"


@pytest.mark.parametrize("name", FORGED)
def test_what_does_not_fit_is_rejected(name):
    made, why = FORGED[name]
    with pytest.raises(Rejected, match=why):
        recheck(made)


@pytest.mark.parametrize("name", ["a product that cancels", "a half", "-3"])
def test_at_the_instance_alone_it_is_no_better(name):
    made, why = FORGED[name]
    made = made | {"clauses": [made["clauses"][0] | {"evidence": "certified", "proof": {"kind": "words_here"}}]}
    with pytest.raises(Rejected, match=why):
        recheck(made)


def _parts(data):
    yield data
    for part in data:
        if isinstance(part, list):
            yield from _parts(part)


def test_each_word_of_a_case_fits():
    made = words()
    case = next(part for part in _parts(made["statement"]["claims"][0]["left"]) if part[0] == "Case")
    case[3] = ["Symbol", "v", "noncommutative"]
    with pytest.raises(Rejected, match="a Case of matrices of different shapes"):
        recheck(certificate(made["statement"], made["instance"], WORDS))
    case[3] = integer(0)
    assert recheck(certificate(made["statement"], made["instance"], WORDS)).clauses[0].evidence == "proved"


def test_a_number_among_matrices_has_its_places():
    # A + 1 is no A + 2: at every A, by −1 on the diagonal.
    put = {"A": [["0", "0"], ["0", "0"]]}
    proof = {"kind": "matrices", "scalars": {}, "matrices": put, "place": [1, 1], "difference": "-1"}
    made = claimed(["Add", A, integer(1)], ["Add", A, integer(2)], [[A, N, N]], proof=("refuted", "certified", proof))
    assert recheck(made).clauses[0].outcome == "refuted"
    beside = made | {"clauses": [made["clauses"][0] | {"proof": proof | {"place": [0, 1]}}]}
    with pytest.raises(Rejected, match="is not left minus right"):
        recheck(beside)
