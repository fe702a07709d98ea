"""A root must satisfy the assumptions that its symbol declares."""

import pytest
import sympy as sp

from tests.verify.rechecker.cases import root
from tests.verify.rechecker.certificates import certificate, integer, recheck
from verify.language.expressions import to_data
from verify.rechecker import Rejected


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
    equation = ["Add", ["Mul", integer(2), unknown], integer(-2 * centre)]
    parts = {"equations": [equation], "unknowns": [unknown], "centre": [integer(centre)], "radius": to_data(width)}
    data["claims"][0] |= parts
    proof = {"kind": "root", "bits": 128, "centre": [str(centre)], "radius": "1/1000"}
    made = certificate(data, {"n": "2"}, ("verified", "certified", proof))
    if accepted:
        assert recheck(made)
    else:
        with pytest.raises(Rejected, match=r"assumptions exclude|are real"):
            recheck(made)
