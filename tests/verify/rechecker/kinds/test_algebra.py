"""The proofs `words` and `words_here` of matrix identities: wrong shapes are rejected, even in terms that cancel.

Shapes are wrong if they do not match, or if a number of rows or columns is not shown to be an integer of at least 1.
"""

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
    """Return a certificate of a matrix identity, with an integer parameter n and a rational parameter x."""
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
    """Return a certificate of A + A = 2A, for a matrix A with these numbers of rows and columns."""
    return claimed(["Add", A, A], product(integer(2), A), [[A, rows, columns]])


def cancelled(*letters):
    """Return the sum P − P + Q for the product P of some letters."""
    return ["Add", product(*letters), product(integer(-1), *letters), Q]


ACCEPTED = {
    "a product of square matrices": claimed(product(A, B), product(A, B)),
    "matching shapes in a product that cancels": claimed(cancelled(A, B), Q),
    "a number added to a square matrix": claimed(product(["Add", A, integer(1)], B), ["Add", product(A, B), B]),
    "0 as one side": claimed(["Add", A, product(integer(-1), A)], integer(0)),
    "polynomials as numbers of rows and columns": claimed(
        product(A, B),
        product(A, B),
        [[A, ["Add", product(N, N), N], N], [B, N, ["Add", product(integer(2), N), integer(-1)]]],
    ),
    "n**2 + n columns times n(n + 1) rows": claimed(
        product(A, B),
        product(A, B),
        [[A, N, ["Add", product(N, N), N]], [B, product(N, ["Add", N, integer(1)]), N]],
    ),
    "n - 1 rows, by the hypothesis n >= 2": claimed(
        ["Add", A, A],
        product(integer(2), A),
        [[A, ["Add", N, integer(-1)], integer(1)]],
        hypotheses=[["Ge", N, integer(2)]],
    ),
}
FORGED = {
    "a product that cancels": (claimed(cancelled(C, C), Q), "do not fit"),
    "a product that cancels in a factor": (claimed(product(cancelled(C, C), A), product(Q, A)), "do not fit"),
    "a product with a transpose that cancels": (claimed(cancelled(A, ["transpose", C]), Q), "do not fit"),
    "a power that cancels": (claimed(["Add", ["Pow", C, integer(2)], product(integer(-1), C, C), Q], Q), "do not fit"),
    "a product times 0": (claimed(["Add", product(integer(0), C, A), Q], Q), "do not fit"),
    "a sum that cancels": (claimed(["Add", C, product(integer(-1), C), Q], Q), "different shapes"),
    "a number that cancels in a sum": (claimed(["Add", C, integer(1), integer(-1)], C), "different shapes"),
    "sides of different shapes": (
        claimed(["Add", A, product(integer(-1), A)], ["Add", C, product(integer(-1), C)]),
        "different shapes",
    ),
    "1/2 rows": (sized(["Rational", "1/2"], integer(1)), "integer coefficients"),
    "n/2 rows": (sized(half(N), N), "integer coefficients"),
    "x rows for a rational x": (sized(X, X), "integer coefficients"),
    "1/0 rows": (sized(["Pow", integer(0), integer(-1)], N), "integer coefficients"),
    "1/n rows": (sized(["Pow", N, integer(-1)], N), "integer coefficients"),
    "log(-1) rows": (sized(["log", integer(-1)], N), "integer coefficients"),
    "exp(n) rows": (sized(["exp", N], N), "integer coefficients"),
    "-3 rows": (sized(integer(-3), N), "at least 1"),
    "0 rows": (sized(integer(0), N), "at least 1"),
    "n - 1 rows for n >= 1": (sized(["Add", N, integer(-1)], N), "at least 1"),
    "n rows for any integer n": (claimed(["Add", A, A], product(integer(2), A), minimum=None), "at least 1"),
    "n rows for n >= 0": (claimed(["Add", A, A], product(integer(2), A), minimum="0"), "at least 1"),
    "n rows with a hypothesis about x alone": (
        claimed(["Add", A, A], product(integer(2), A), minimum=None, hypotheses=[["Ge", X, integer(2)]]),
        "at least 1",
    ),
    "n rows at n = -1, where n >= 1 is supposed": (
        claimed(["Add", A, A], product(integer(2), A), minimum=None, hypotheses=[["Ge", N, integer(1)]], n="-1")
        | {"in_scope": False},
        "less than 1",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_matching_shapes_are_accepted(name):
    assert recheck(ACCEPTED[name]).clauses[0].evidence == "proved"


@pytest.mark.parametrize("name", FORGED)
def test_wrong_shapes_are_rejected(name):
    made, why = FORGED[name]
    with pytest.raises(Rejected, match=why):
        recheck(made)


@pytest.mark.parametrize("name", ["a product that cancels", "1/2 rows", "-3 rows"])
def test_wrong_shapes_are_rejected_by_proofs_at_the_instance_too(name):
    made, why = FORGED[name]
    made = made | {"clauses": [made["clauses"][0] | {"evidence": "certified", "proof": {"kind": "words_here"}}]}
    with pytest.raises(Rejected, match=why):
        recheck(made)


def _parts(data):
    yield data
    for part in data:
        if isinstance(part, list):
            yield from _parts(part)


def test_all_words_of_a_case_have_the_same_shape():
    made = words()
    case = next(part for part in _parts(made["statement"]["claims"][0]["left"]) if part[0] == "Case")
    case[3] = ["Symbol", "v", "noncommutative"]
    with pytest.raises(Rejected, match="a Case of matrices of different shapes"):
        recheck(certificate(made["statement"], made["instance"], WORDS))
    case[3] = integer(0)
    assert recheck(certificate(made["statement"], made["instance"], WORDS)).clauses[0].evidence == "proved"


def test_a_number_in_a_sum_of_matrices_is_a_multiple_of_the_identity():
    # For every A, (A + 1) − (A + 2) is −1 on the diagonal and 0 off the diagonal.
    put = {"A": [["0", "0"], ["0", "0"]]}
    proof = {"kind": "matrices", "scalars": {}, "matrices": put, "place": [1, 1], "difference": "-1"}
    made = claimed(["Add", A, integer(1)], ["Add", A, integer(2)], [[A, N, N]], proof=("refuted", "certified", proof))
    assert recheck(made).clauses[0].outcome == "refuted"
    beside = made | {"clauses": [made["clauses"][0] | {"proof": proof | {"place": [0, 1]}}]}
    with pytest.raises(Rejected, match="is not left minus right"):
        recheck(beside)
