"""Kinds of clause: the methods of each, and a kind from outside `verify` that works wherever the shipped kinds do."""

import json
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
import sympy as sp

import verify
from tests.verify.claims.within import Within
from tests.verify.command_line import body_of
from verify import Hypothesis, Implication, Inequality, IsolatedRoot, Parameter, TheoremError
from verify.checking.doors import with_doors
from verify.rechecker.clauses import CLAUSES, IN_WORDS, KINDS

x = sp.Symbol("x", positive=True)
X = (Parameter("x", "rational", "a number", above=0),)
# 1/(x + 1) is within 1/2 of 0 for x ≥ 1, with equality at x = 1, and within 2/5 for x ≥ 3/2.
SMALL = Within("small", 1 / (x + 1), sp.Integer(0), sp.Rational(1, 2))
LARGE = Hypothesis("large", sp.Ge(x, 1))


@pytest.fixture
def shares(make_theorem):
    """Return a function that makes the theorem that 1/(x + 1) is within a tolerance of 0 for x ≥ 1."""
    return lambda tolerance="1/2": make_theorem(
        replace(SMALL, tolerance=sp.Rational(tolerance)), parameters=X, hypotheses=(LARGE,)
    )


def test_the_digest_covers_the_lowered_clause(shares):
    statement = shares().statement
    assert replace(statement, claims=(SMALL.lowered,)).digest == statement.digest
    assert shares("1/3").statement.digest != statement.digest


def test_a_clause_from_outside_is_proved_checked_and_refuted(shares):
    proved = verify.check(shares(), x=2).clauses[0]
    assert (proved.claim, proved.evidence, proved.rechecked) == ("|1/(x + 1) - (0)| <= 1/2", "proved", True)
    assert proved.margin == Fraction(1, 4) - Fraction(1, 9)
    held, failed = (verify.check(shares("2/5"), x=x).clauses[0] for x in (2, "5/4"))
    assert (held.outcome, held.evidence) == ("verified", "certified")
    assert (failed.outcome, failed.evidence) == ("refuted", "certified")
    assert failed.margin == Fraction(4, 25) - Fraction(16, 81)


def test_a_search_finds_its_counterexample_and_how_sharp_it_is(shares):
    found = verify.explore(shares("2/5"), max_examples=300, seconds=20)
    assert found.certified and found.clause.label == "small"
    assert 1 <= found.counterexample["x"] < Fraction(3, 2)
    true = verify.explore(shares(), max_examples=300, seconds=20)
    # At x = 1 both sides are equal, so their ratio is 1.
    assert true.counterexample is None and true.sharpness[0].ratio == 1


def test_a_sweep_reads_it_in_floats_and_exactly(shares):
    for certify, evidence in ((False, "computed"), (True, "certified")):
        rows = [row for _, row in verify.sweep(shares("2/5"), {"x": ["5/4", 2, 3]}, certify=certify).rows()]
        assert [row["claim"] for row in rows] == ["refuted", "verified", "verified"]
        assert [row["evidence"] for row in rows] == ["certified", evidence, evidence]


FILE = """
from tests.verify.claims.within import Within

THEOREM = theorem_of(Within("mean", (x + 3) / 2, 2, Fraction(1, 2)))
"""


def test_its_certificate_text_and_json(theorem_file, cli, tmp_path):
    name, certificate = theorem_file(FILE) + ":THEOREM", str(tmp_path / "c.json")
    code, out, _ = cli("check", name, "x=3/2", "--certificate", certificate)
    assert code == 0 and "|x/2 + 3/2 - (2)| <= 1/2" in out
    assert cli("recheck", certificate)[0] == 0
    (clause,) = json.loads((tmp_path / "c.json").read_text())["statement"]["claims"]
    assert (clause["kind"], clause["says"]) == ("inequality", "|x/2 + 3/2 - (2)| <= 1/2")
    (shown,) = body_of(cli("check", name, "x=3", "--json")[1])["clauses"]
    assert (shown["claim"], shown["holds"], shown["rechecked"]) == ("|x/2 + 3/2 - (2)| <= 1/2", False, True)
    assert shown["margin"] == "-3/4"


@dataclass(frozen=True)
class Unlowered(Within):
    """The same kind of clause, with data that the re-checker does not know."""

    relation = None  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def to_data(self):
        return super().to_data() | {"kind": "within"}


def test_a_clause_that_does_not_lower_is_computed_at_most(make_theorem):
    clause = Unlowered("small", 1 / (x + 1), sp.Integer(0), sp.Rational(1, 2))
    theorem = make_theorem(clause, parameters=X, hypotheses=(LARGE,))
    for at, outcome in ((2, "verified"), ("1/2", "out_of_scope")):
        result = verify.check(theorem, x=at)
        assert (result.outcome, result.clauses[0].evidence, result.clauses[0].rechecked) == (outcome, "computed", False)
        assert "'within' is not a kind of clause that this program knows" in result.clauses[0].unchecked
    found = verify.explore(replace(theorem, statement=replace(theorem.statement, hypotheses=())), seconds=20)
    assert found.counterexample is not None and not found.certified


def test_a_relation_is_the_one_of_the_data(make_theorem):
    class Other(Within):
        relation = sp.Le(x, 2)  # pyright: ignore[reportIncompatibleMethodOverride]

    with pytest.raises(TheoremError, match="clause small: its relation is not the one of its data"):
        make_theorem(Other("small", x, 1, sp.Integer(1)), parameters=X)


def test_its_text_is_what_its_data_say(make_theorem):
    class Other(Within):
        @property
        def text(self):
            return "x <= 0"

        @property
        def lowered(self):
            return Inequality("small", sp.Le(x, 1))

    with pytest.raises(TheoremError, match="clause small: its text 'x <= 0' is not what its data say, 'x <= 1'"):
        make_theorem(Other("small", x, 1, sp.Integer(1)), parameters=X)


def test_its_own_proof_is_asked_for_and_what_is_none_is_an_error(make_theorem, monkeypatch):
    theorem = make_theorem(SMALL, parameters=X, hypotheses=(LARGE,))
    asked = []
    monkeypatch.setattr(Within, "prove", lambda *_, **given: asked.append(given))
    assert verify.check(theorem, x=2).clauses[0].evidence == "certified" and asked == [{"hypotheses": True}]
    monkeypatch.setattr(Within, "prove", lambda *_, **__: "of course")
    with pytest.raises(TheoremError, match="clause small: its proof is a str, not a mapping"):
        verify.check(theorem, x=2)


def test_an_exception_in_a_scan_is_an_error_of_the_file(make_theorem, monkeypatch):
    theorem = make_theorem(SMALL, parameters=X, hypotheses=(LARGE,))
    monkeypatch.setattr(Within, "scan", lambda *_: {}["x"])
    with pytest.raises(TheoremError, match="clause small: KeyError: 'x'"):
        verify.explore(theorem, max_examples=5)


def test_a_class_that_lacks_a_part_is_no_clause(make_theorem):
    class Bare:
        label = text = "bare"
        relation = None

    lacks = "quantifies, uses_matrices, rests_on_hypotheses, expressions, bound_names, to_data, evaluate, prove, scan"
    with pytest.raises(TheoremError, match=f"Bare, where a clause is needed, such as .*: it has no {lacks}$"):
        make_theorem(Bare())


def test_the_engine_and_the_re_checker_know_the_same_kinds():
    library = [clause for name in verify.ids("theorem") for clause in verify.load_theorem(name).statement.clauses]
    root = IsolatedRoot("root", (x - 1,), (sp.Symbol("z"),), (sp.Integer(1),), sp.Integer(1))
    follows = Implication("follows", (x > 2,), x > 1)
    shipped = (*library, root, follows)
    kinds = {(clause.to_data()["kind"], type(clause).__module__.startswith("verify.")) for clause in shipped}
    assert {kind for kind, shipped in kinds if shipped} == CLAUSES.keys()
    assert {kind for kind, _ in kinds} == with_doors()[0].clauses.keys()


def test_each_kind_of_proof_is_for_a_kind_of_clause():
    assert {kind for proof in KINDS.values() for kind in proof.shows} | {IN_WORDS} == CLAUSES.keys()
    # A proof for all parameters can only verify a clause.
    assert {o for proof in KINDS.values() if proof.for_all for shown in proof.shows.values() for o in shown} == {
        "verified"
    }
