"""The verdict of a check is written as a certificate that the re-checker accepts."""

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp

import verify
from verify import (
    Case,
    Coordinate,
    Descent,
    Dynamics,
    Hypothesis,
    Identity,
    Inequality,
    InputError,
    IsolatedRoot,
    Parameter,
    Reaches,
    Stays,
    load_theorem,
)
from verify.checking.certificates import certificate, certificate_file, certificate_text, write_certificate
from verify.language.expressions import primitive
from verify.provers.proof_data import number
from verify.rechecker import Rejected, recheck_file, recheck_text

x, z = sp.Symbol("x", positive=True), sp.Symbol("z", real=True)
y = sp.Symbol("y", real=True)
DOWN = Dynamics((z,), (sp.Integer(1),), (z * (1 - x),), z**2 / 2)
# The state starts at 3 and falls by 1 in each step, so its square, the observable, falls to 0 and rises again.
BACK = Dynamics((y,), (sp.Integer(3),), (y - 1,), y**2)
MAP = Dynamics((z,), (sp.Rational(1, 2),), (sp.Rational(16, 5) * z * (1 - z),), z)

CLAUSES = {
    "exact": (Inequality("c", sp.Lt(x, 2)), {"x": 1}, "verified"),
    "exact, refuted": (Inequality("c", sp.Ge(x, 2)), {"x": 1}, "refuted"),
    "ball": (Inequality("c", sp.Lt(sp.exp(x), 3)), {"x": 1}, "verified"),
    "ball, close": (Inequality("c", sp.Lt(sp.sqrt(x), sp.Rational(141422, 100000))), {"x": 2}, "verified"),
    "identity": (Identity("c", sp.exp(x) * (x + 1) ** 2, sp.exp(x) * (x**2 + 2 * x + 1)), {"x": 1}, "verified"),
    "point": (Identity("c", sp.exp(x) * y, sp.exp(x) * y**2), {"x": 1}, "refuted"),
    "passage": (Reaches("c", DOWN, sp.Rational(1, 1000)), {"x": "1/1000"}, "verified"),
    "above": (Reaches("c", DOWN, sp.Rational(1, 10), within=3 / x), {"x": "1/1000"}, "verified"),
    "above, refuted": (Reaches("c", DOWN, sp.Rational(1, 10), within=3 / x / 10), {"x": "1/1000"}, "refuted"),
    "above, never": (Reaches("c", DOWN, sp.Rational(1, 10), within=-x), {"x": "1/1000"}, "refuted"),
    "excess": (Stays("c", BACK, x, x), {"x": 1}, "refuted"),
    "cycle": (Reaches("c", MAP, x), {"x": "2/5"}, "refuted"),
    "cycle, kept": (Stays("c", MAP, x, x), {"x": "1/3"}, "verified"),
    "descent": (Stays("c", DOWN, sp.Rational(1, 10), sp.Rational(1, 10)), {"x": "1/10"}, "verified"),
    "root": (IsolatedRoot("c", (y**2 - x,), (y,), (sp.Rational(7, 5),), sp.Rational(1, 10)), {"x": 2}, "verified"),
    "no_root": (IsolatedRoot("c", (y**2 - x,), (y,), (sp.Rational(7, 5),), sp.Rational(1, 10)), {"x": 3}, "refuted"),
}
PROOF = Descent((x,), (Coordinate(sp.Integer(-1), sp.Integer(1)),))


@pytest.mark.parametrize("name", CLAUSES)
def test_each_kind_is_written_and_accepted(make_theorem, name):
    clause, instance, outcome = CLAUSES[name]
    variables = (y,) if isinstance(clause, Identity) else ()
    parameters = (Parameter("x", "rational", "x", above=0),)
    theorem = make_theorem(clause, parameters=parameters, variables=variables, proofs={"c": PROOF})
    result = verify.check(theorem, **instance)
    found = recheck_text(certificate_text(theorem, result).encode())
    ((label, shown, evidence, kind, trusts),) = found.clauses
    expected = "passage" if name == "above" else name.partition(",")[0]
    assert (label, shown, kind, trusts) == ("c", outcome, expected, ())
    assert evidence == result.clauses[0].evidence
    assert found.statement_digest == theorem.statement.digest


def test_an_instance_with_a_word_and_a_hypothesis(make_theorem):
    word = Parameter("start", "word", "where it starts", words=("zero", "one"))
    start = sp.Symbol("start")
    clause = Inequality("c", sp.Lt(x, Case(start, sp.Integer(2), sp.Integer(1))))
    theorem = make_theorem(
        clause,
        parameters=(Parameter("x", "rational", "x", above=0), word),
        hypotheses=(Hypothesis("from_zero", text="from zero", varies=word), Hypothesis("small", sp.Lt(x, 2))),
    )
    outcomes = {}
    for chosen in word.words:
        found = recheck_text(certificate_text(theorem, verify.check(theorem, x="3/2", start=chosen)).encode())
        outcomes[chosen] = (found.in_scope, found.clauses[0][1], found.instance["start"])
    assert outcomes == {"zero": (True, "verified", "zero"), "one": (False, "refuted", "one")}


LEAST = sp.sqrt(x) * sp.sqrt(y) - 2
WITHOUT_VALUE = [1 / (x - 2), sp.log(x - 5), sp.sqrt(x - 5), sp.exp(x) + 1 / (x - y), (x - 5) ** (1 / x), 1 / LEAST]


@pytest.mark.parametrize("left", WITHOUT_VALUE, ids=str)
@pytest.mark.parametrize("relation", [sp.Lt, sp.Ge, sp.Eq])
def test_a_hypothesis_without_a_value_does_not_hold(make_theorem, left, relation):
    parameters = (Parameter("x", "rational", "x", above=0), Parameter("y", "rational", "y"))
    hypotheses = (Hypothesis("h", relation(left, 7, evaluate=False)),)
    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)), parameters=parameters, hypotheses=hypotheses)
    result = verify.check(theorem, x=2, y=2)
    assert [h.holds for h in result.hypotheses] == [False] and result.in_scope is False
    data = certificate(theorem, result)
    assert recheck_text(json.dumps(data).encode()).in_scope is False
    with pytest.raises(Rejected, match="in_scope"):
        recheck_text(json.dumps(data | {"in_scope": True}).encode())


UNDECIDED = sp.log(x) + sp.log(y) - sp.log(4)


@pytest.mark.parametrize("relation", [sp.Le(UNDECIDED, 0), sp.Lt(UNDECIDED, 0), sp.Eq(UNDECIDED, 0)])
def test_a_hypothesis_that_is_not_decided_leaves_no_certificate(make_theorem, relation):
    # log 2 + log 2 − log 4 is 0, but no ball shows this equality.
    parameters = (Parameter("x", "rational", "x", above=0), Parameter("y", "rational", "y"))
    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)), parameters=parameters, hypotheses=(Hypothesis("h", relation),))
    result = verify.check(theorem, x=2, y=2)
    assert (result.in_scope, result.outcome) == (None, "inconclusive")
    with pytest.raises(InputError, match="h: whether this hypothesis holds is not decided"):
        certificate(theorem, result)
    decided = certificate(theorem, verify.check(theorem, x=2, y=3))
    decided["instance"]["y"], decided["clauses"][0]["proof"]["margin"] = "2", "1"
    for in_scope in (True, False, None):
        with pytest.raises(Rejected, match="undecided at the instance"):
            recheck_text(json.dumps(decided | {"in_scope": in_scope}).encode())


def test_a_hypothesis_that_a_primitive_leaves_open_is_not_decided(make_theorem):
    @primitive(1)
    def larger(arithmetic, p, q):
        return p if p > q else q

    relation = sp.Gt(larger(sp.sqrt(x) * sp.sqrt(y), sp.Integer(2)), 1)
    parameters = (Parameter("x", "rational", "x", above=0), Parameter("y", "rational", "y"))
    hypotheses = (Hypothesis("h", relation),)
    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)), parameters=parameters, hypotheses=hypotheses)
    assert [verify.check(theorem, x=2, y=value).in_scope for value in (2, 3)] == [None, True]


def test_undecided_clause_has_no_certificate(make_theorem):
    clause = Inequality("c", sp.Lt(1 / (x - 1), 1))
    theorem = make_theorem(clause, parameters=(Parameter("x", "rational", "x", above=0),))
    with pytest.raises(InputError, match="c: this clause has no certificate"):
        certificate(theorem, verify.check(theorem, x=1))


def test_a_certificate_is_written_whole_or_not_at_all(make_theorem, tmp_path):
    theorem = make_theorem(CLAUSES["exact"][0], parameters=(Parameter("x", "rational", "x", above=0),))
    result = verify.check(theorem, x=1)
    write_certificate(theorem, result, tmp_path / "c.json")
    assert recheck_file(tmp_path / "c.json").theorem == theorem.id
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]
    with pytest.raises(InputError, match="cannot be written"):
        write_certificate(theorem, result, tmp_path / "none" / "c.json")


def test_a_file_that_can_be_written_is_named_and_what_cannot_is_refused(tmp_path, monkeypatch):
    assert certificate_file(str(tmp_path / "c.json")) == tmp_path / "c.json"
    (tmp_path / "there.json").write_text("")
    assert certificate_file(str(tmp_path / "there.json")) == tmp_path / "there.json"
    for name, why in (
        ("", "must name a file"),
        (" ", "must name a file"),
        (".", "it is a folder"),
        (str(tmp_path), "it is a folder"),
        (os.devnull, "it is none"),
        (str(tmp_path / "none" / "c.json"), "there is no folder"),
        (str(tmp_path / "there.json" / "c.json"), "there is no folder"),
        ("n" * 5000, "cannot be written"),
    ):
        with pytest.raises(InputError, match=rf"--certificate = .*: .*{why}"):
            certificate_file(name)
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written to"):
        certificate_file(str(tmp_path / "c.json"))


def test_a_certificate_that_is_not_written_leaves_nothing(make_theorem, tmp_path, monkeypatch):
    theorem = make_theorem(CLAUSES["exact"][0], parameters=(Parameter("x", "rational", "x", above=0),))
    result = verify.check(theorem, x=1)
    plain, replaced = Path.write_text, Path.replace

    def full(path, text, **options):
        plain(path, text[:9], **options)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match="cannot be written: No space left"):
        write_certificate(theorem, result, tmp_path / "c.json")
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(Path, "write_text", plain)

    def turned(path, target):
        target.mkdir()
        return replaced(path, target)

    monkeypatch.setattr(Path, "replace", turned)
    with pytest.raises(InputError, match="cannot be written"):
        write_certificate(theorem, result, tmp_path / "c.json")
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"] and (tmp_path / "c.json").is_dir()


def test_the_library_ships_certificates_of_its_statements():
    for name in ("wang2024.theorem1", "wang2024.lemma1"):
        theorem = load_theorem(name)
        data = certificate(theorem, verify.check(theorem, **theorem.example))
        assert data["statement_digest"] == theorem.statement.digest
        assert [pair[0] for pair in data["uses"]] == sorted(theorem.proof_uses)
        assert json.loads(json.dumps(data)) == data


@pytest.mark.parametrize(("value", "text"), [(3, "3"), (Fraction(-6, 4), "-3/2"), (Fraction(0), "0")])
def test_numbers_are_canonical(value, text):
    assert number(value) == text


W = Parameter("w", "word", "w", words=("one", "other"))
V = Parameter("v", "word", "v", words=("one", "other"))
w, v = sp.Symbol("w"), sp.Symbol("v")
FIXED = Hypothesis("fixed", text="w is one", varies=W)
SMALL = Hypothesis("small", sp.Lt(x, 5))
SAME = Identity("same", Case(w, (x + 1) ** 2, x), x**2 + 2 * x + 1)
ABOVE = Inequality("above", sp.Gt(Case(w, x, -x), -1, evaluate=False))


@pytest.mark.parametrize(
    ("clauses", "hypotheses", "instance", "evidence"),
    [
        ((SAME, ABOVE), (FIXED, SMALL), {"x": 2}, ("proved", "proved")),
        ((SAME, ABOVE), (SMALL,), {"x": 2, "w": "one"}, ("certified", "certified")),
        ((SAME, ABOVE), (FIXED, SMALL), {"x": 6}, ("certified", "certified")),
        ((SAME,), (FIXED, SMALL), {"x": 6}, ("certified",)),
        (
            (Identity("true", Case(w, x + x * (x + 1), x * (x + 2)), x**2 + 2 * x),),
            (FIXED,),
            {"w": "other"},
            ("certified",),
        ),
        (
            (SAME, Identity("nested", Case(w, Case(v, x * (x + 1), x), x), x**2 + x)),
            (FIXED,),
            {"v": "one"},
            ("proved", "certified"),
        ),
        ((SAME, Identity("v", Case(v, x * (x + 1), x), x**2 + x)), (FIXED,), {"v": "one"}, ("proved", "certified")),
        ((Identity("none", x * (x + 1), x**2 + x),), (SMALL,), {"x": 6, "w": "other"}, ("proved",)),
        (
            (
                Identity("none", x * (x + 1), x**2 + x),
                Inequality("positive", sp.Gt(x + 1, 0, evaluate=False)),
                Inequality("by_it", sp.Lt(x, 6)),
            ),
            (Hypothesis("varied", sp.Lt(x, Case(w, 5, 4))),),
            {"x": 2, "w": "other"},
            ("proved", "proved", "certified"),
        ),
    ],
    ids=[
        "in scope",
        "no hypothesis",
        "out of scope",
        "the same",
        "another word",
        "a free word inside",
        "a free word",
        "no Case",
        "in a hypothesis",
    ],
)
def test_a_word_that_a_hypothesis_fixes_is_for_all_in_scope(make_theorem, clauses, hypotheses, instance, evidence):
    parameters = (Parameter("x", "rational", "x", above=0), W, V)
    theorem = make_theorem(*clauses, parameters=parameters, hypotheses=hypotheses)
    result = verify.check(theorem, **{"x": 1, "v": "one"} | instance)
    assert tuple(c.evidence for c in result.clauses) == evidence
    data = certificate(theorem, result)
    assert tuple(clause.evidence for clause in recheck_text(json.dumps(data).encode()).clauses) == evidence
    # Conversely, the re-checker does not accept evidence that the engine does not claim.
    for clause in data["clauses"]:
        clause["evidence"] = "proved"
        clause["proof"] = {"kind": "identity", "scope": "all", "factors": []}
    if "certified" in evidence and all(isinstance(clause, Identity) for clause in clauses):
        with pytest.raises(Rejected, match="no proof for all parameters"):
            recheck_text(json.dumps(data).encode())
