"""The re-checker on tubes: each forged tube is rejected, with a message that names the field."""

from fractions import Fraction

import pytest
import sympy as sp

from tests.verify.rechecker.cases_of_runs import tube
from tests.verify.rechecker.certificates import changed, integer, recheck
from verify.language.expressions import to_data
from verify.rechecker import Rejected

PROOF = "clauses.0.proof"
z, u = sp.symbols("z u", real=True)


def nodes():
    return tube()["clauses"][0]["proof"]["nodes"]


def with_nodes(change):
    listed = nodes()
    change(listed)
    return listed


def moved(place, edge, by):
    return with_nodes(lambda listed: listed[place].__setitem__(edge, str(Fraction(listed[place][edge]) + by)))


FORGED = [
    ("nodes", moved(4, 1, Fraction(1, 20)), "not kept|crosses this node"),
    ("nodes", moved(4, 2, Fraction(-1, 20)), "not kept|crosses this node"),
    ("nodes", moved(4, 2, Fraction(-1)), r"nodes\[4\]: an upper edge is below"),
    ("nodes", moved(0, 1, Fraction(1, 10)), "not between the edges|not kept"),
    ("nodes", moved(0, 0, Fraction(1, 10)), "not between the first two nodes"),
    ("nodes", moved(3, 0, Fraction(-3, 10)), r"nodes\[3\]: the nodes do not lie in one direction"),
    ("nodes", with_nodes(lambda listed: listed.pop(5)), "not kept|crosses this node"),
    ("nodes", with_nodes(lambda listed: listed.pop()), "not at or below the level in the last cell|above"),
    ("nodes", with_nodes(lambda listed: listed.pop(0)), "not between the first two nodes"),
    ("nodes", with_nodes(lambda listed: listed.reverse()), "not between the first two nodes"),
    ("nodes", with_nodes(lambda listed: listed.insert(3, listed.pop(4))), "do not lie in one direction"),
    ("nodes", with_nodes(lambda listed: listed[2].append("1")), r"nodes\[2\]: has 4 entries, not 3"),
    ("nodes", with_nodes(lambda listed: listed[2].__setitem__(1, "0.5")), "not a rational number"),
    ("nodes", nodes()[:1], "not a list of 2 to 100000 nodes"),
    ("nodes", {}, "is not a list"),
    # The new cell from 9/8 to 9/8 + 1/1000 is shorter than a step.
    (
        "nodes",
        with_nodes(lambda listed: listed.insert(5, [str(Fraction(listed[4][0]) + Fraction(1, 1000)), *listed[4][1:]])),
        "may be longer than the cell|not kept|crosses this node",
    ),
    ("steps", ["483", "1139"], "not shown to be within these steps"),
    ("steps", ["482", "1138"], "not shown to be within these steps"),
    ("steps", ["700", "700"], "not shown to be within these steps"),
    ("steps", ["1139", "482"], "not a first and a last whole number"),
    ("steps", ["965/2", "1139"], "not a first and a last whole number"),
    ("steps", [476, 1147], "not a rational number"),
    ("above", 8, "not above the level from node 7 on"),
    ("above", 10, "not an integer from 0 to 9"),
    ("above", 6, "not shown to be within these steps"),
    ("start", 0, "not between the first two nodes|not an integer"),
    ("start", 60, "not between the first two nodes|not shown"),
    ("start", 900, "not above the level at step"),
    ("start", -1, "not an integer"),
    ("slow", 1, "not between the first two nodes|not kept|not shown"),
    ("slow", 2, "not an integer from 0 to 1"),
    ("observable", to_data(u + sp.exp(-z) / 2), "observable: is not shown to be the recursion's"),
    ("observable", to_data(sp.exp(-z)), "observable: is not shown to be the recursion's"),
    ("checkpoints", [[10, [["1", "1/1024"], ["1", "1/1024"]]]], "not inside the stated balls"),
    ("bits", 63, "not an integer from 64"),
]


@pytest.mark.parametrize(("field", "value", "why"), FORGED, ids=[f"{f}-{i}" for i, (f, *_) in enumerate(FORGED)])
def test_a_forged_tube_is_rejected(field, value, why):
    with pytest.raises(Rejected, match=why):
        recheck(changed(tube(), f"{PROOF}.{field}", value))


def test_a_tube_is_accepted_also_with_wider_bounds_on_its_steps():
    for steps in (["482", "1139"], ["0", "1000000000000000000000"]):
        found = recheck(changed(tube(), f"{PROOF}.steps", steps))
        assert found.clauses == (("reached", "verified", "certified", "tube", ()),)


def test_a_last_step_later_than_the_clause_allows_is_rejected():
    made = changed(tube(), "statement.claims.0.within", integer(1139))
    assert recheck(made).clauses[0][1] == "verified"
    with pytest.raises(Rejected, match="the last one is later than the clause allows"):
        recheck(changed(made, "statement.claims.0.within", integer(1138)))


def test_a_first_step_earlier_than_the_clause_allows_is_rejected():
    made = tube()
    made["statement"]["claims"][0]["not_before"] = integer(482)
    made = changed(made, "statement.claims.0.within", integer(1139))
    assert recheck(made).clauses[0][1] == "verified"
    with pytest.raises(Rejected, match="the first one is earlier than the clause allows"):
        recheck(changed(made, "statement.claims.0.not_before", integer(483)))


@pytest.mark.parametrize(
    ("bound", "refuted", "undecided", "untrue"),
    [("not_before", 1140, 1139, ["482", "1138"]), ("within", 481, 482, ["483", "1139"])],
)
def test_a_tube_refutes_a_clause_that_allows_none_of_its_steps(bound, refuted, undecided, untrue):
    claim = tube()["statement"]["claims"][0] | {bound: integer(refuted)}
    made = changed(changed(tube(), "statement.claims.0", claim), "clauses.0.outcome", "refuted")
    assert recheck(made).clauses == (("reached", "refuted", "certified", "tube", ()),)
    for path, value, why in (
        ("clauses.0.outcome", "verified", "the check gives another outcome"),
        # The clause allows some of these steps.
        (f"{PROOF}.steps", ["481", "1140"], "than the clause allows"),
        # The tube does not show such narrow bounds.
        (f"{PROOF}.steps", untrue, "not shown to be within these steps"),
        (f"statement.claims.0.{bound}", integer(undecided), "than the clause allows"),
    ):
        with pytest.raises(Rejected, match=why):
            recheck(changed(made, path, value))


def test_a_tube_does_not_refute_a_clause_without_a_bound_on_steps():
    with pytest.raises(Rejected, match="the check gives another outcome"):
        recheck(changed(tube(), "clauses.0.outcome", "refuted"))


def test_a_tube_proves_no_clause_of_another_kind():
    claim = tube()["statement"]["claims"][0]
    stays = {key: claim[key] for key in ("label", "says", "level", "dynamics")}
    with pytest.raises(Rejected, match="tube does not prove"):
        recheck(changed(tube(), "statement.claims.0", stays | {"kind": "stays", "reached": claim["level"]}))


@pytest.mark.parametrize(
    ("statement", "value", "why"),
    [
        # z falls.
        ("dynamics.step.0", to_data(z - sp.exp(-z) / 100), "not between|observable|above"),
        # z stays as it is.
        ("dynamics.step.0", to_data(z), "not between the first two nodes|move on"),
        # u moves away from e^(−z).
        ("dynamics.step.1", to_data(2 * u - sp.exp(-z)), "not kept|not between"),
        # A step takes u from one side of e^(−z) to the other: u' − e^(−z) = −(u − e^(−z))/2.
        ("dynamics.step.1", to_data((3 * sp.exp(-z) - u) / 2), "not kept|crosses this node"),
        ("dynamics.observable", to_data(u), "observable: is not shown"),
        ("level", ["Rational", "1/10"], "not at or below the level"),
        ("level", ["Rational", "1/2"], "not above the level"),
    ],
)
def test_a_tube_does_not_prove_a_changed_clause(statement, value, why):
    made = changed(tube(), f"{PROOF}.checkpoints", [])
    with pytest.raises(Rejected, match=why):
        recheck(changed(made, f"statement.claims.0.{statement}", value))


def test_an_observable_with_a_pole_in_a_cell_is_rejected():
    # The clause's observable has a removable pole in the tube; its other form, in the proof, has none.
    one = sp.Mul(sp.exp(z) - 4, sp.Pow(sp.exp(z) - 4, -1), evaluate=False)
    pole = sp.Mul(u + sp.exp(-z), one, evaluate=False)
    made = changed(tube(), "statement.claims.0.dynamics.observable", to_data(pole))
    with pytest.raises(Rejected, match="is not enclosed from this node"):
        recheck(made)


@pytest.mark.parametrize("steps", [["482", "1" + "0" * 5000], ["-1", "2000"]])
def test_steps_that_no_run_takes_are_rejected_with_a_short_message(steps):
    made = changed(tube(), "statement.claims.0.within", integer(1139))
    with pytest.raises(Rejected, match=r"steps: ") as found:
        recheck(changed(made, f"{PROOF}.steps", steps))
    assert len(str(found.value)) < 300
