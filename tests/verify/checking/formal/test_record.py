"""A record of Rocq's acceptance counts only while the statement and the files are unchanged."""

import json
from dataclasses import replace

import pytest
import sympy as sp

import verify
from verify.checking.formal import record
from verify.checking.formal.record import NOTHING, recorded, typed_digest, write
from verify.checking.standing import established
from verify.outcomes import ForAll

x = sp.Symbol("x", real=True)
SENTENCES = ("the first sentence", "the second sentence")


@pytest.fixture
def theorem(halves_package, monkeypatch):
    """Return a theorem with two claims in a package with `.v` files: `typed` has a formal text, `exported` has none."""
    monkeypatch.setattr(record, "package_of", lambda name: halves_package)
    claims = tuple(verify.Inequality(label, sp.Ge(x**2 + 1, x)) for label in ("typed", "exported"))
    statement = verify.Statement((verify.Parameter("x", "rational", "a number"),), claims)
    text = verify.formal_text(
        halves_package, {"Halves.claims.positive": "Halves.proofs.positive_holds"}, besides=SENTENCES
    )
    source = verify.Source("1", "derived here")
    return verify.Theorem("user.halves", "halves", source, replace(statement, formal={"typed": text}), {"x": 1})


def entry_of(theorem, **changed):
    return {
        "statement_digest": theorem.statement.digest,
        "rocq": "8.16.1",
        "typed": {"claims": ["typed"], "files": typed_digest(theorem)},
        "exported": {"clauses": ["exported"], "files": "0" * 64},
    } | changed


def test_theorem_without_a_record_is_not_formal(theorem):
    assert recorded(theorem) is NOTHING


def test_recorded_theorem_is_formal_and_said_to_be_recorded(theorem):
    write({theorem.id: entry_of(theorem)})
    clauses, for_all = established(theorem, {})
    assert {label: known.standing for label, known in clauses.items()} == dict.fromkeys(clauses, ForAll.FORMAL)
    assert clauses["exported"].text() == "formal (statement exported), as recorded with Rocq 8.16.1"
    said = "formal (statement typed, 1 definition; 2 sentences in prose), as recorded with Rocq 8.16.1"
    assert clauses["typed"].text() == said
    assert for_all.text() == said.replace("(", "(statement exported; ")
    assert for_all.formal_to_json() == {
        "stated": ["statement exported", "statement typed, 1 definition"],
        "by": ["as recorded with Rocq 8.16.1"],
        "besides": [*SENTENCES],
    }


def test_claims_that_are_formal_do_not_make_the_theorem_so(theorem):
    write({theorem.id: entry_of(theorem, exported={"clauses": [], "files": ""})})
    clauses, for_all = established(theorem, {"exported": ()})
    assert (clauses["typed"].standing, for_all.standing) == (ForAll.FORMAL, ForAll.PROVED)
    assert for_all.formal_to_json() is None and for_all.text() == "proved"


def test_a_claim_that_is_refuted_is_not_formal(theorem):
    write({theorem.id: entry_of(theorem)})
    clauses, for_all = established(theorem, {}, {"typed": "at x=1"})
    assert (clauses["typed"].standing, for_all.standing) == (ForAll.OPEN, ForAll.OPEN)


@pytest.mark.parametrize("file", ["definitions", "claims", "proofs"])
def test_a_record_of_other_files_is_not_believed(theorem, halves_folder, file):
    write({theorem.id: entry_of(theorem)})
    path = halves_folder / f"{file}.v"
    path.write_text(f"{path.read_text(encoding='utf-8')}\n", encoding="utf-8")
    found = recorded(theorem)
    assert (found.clauses, found.not_formal) == ({}, "the record is older than the files that it compiled")
    assert established(theorem, {})[1].standing is ForAll.OPEN


def test_a_record_of_another_proof_is_not_believed(theorem):
    write({theorem.id: entry_of(theorem)})
    text = theorem.statement.formal["typed"]
    other = replace(theorem.statement, formal={"typed": replace(text, proofs=("Halves.proofs.below_holds",))})
    assert other.digest == theorem.statement.digest
    assert "older than the files" in recorded(replace(theorem, statement=other)).not_formal


def test_a_record_of_another_statement_is_not_believed(theorem):
    write({theorem.id: entry_of(theorem)})
    changed = replace(theorem.statement, claims=theorem.statement.claims[::-1])
    found = recorded(replace(theorem, statement=changed))
    assert (found.clauses, found.not_formal) == ({}, "the record is older than the statement")


def test_a_formal_text_is_part_of_the_digest(theorem):
    without = replace(theorem.statement, formal={})
    assert "formal" not in without.to_data() and without.digest != theorem.statement.digest
    assert theorem.statement.alone(*theorem.statement.claims).digest == without.digest


def test_a_formal_text_of_no_claim_is_refused(theorem):
    text = theorem.statement.formal["typed"]
    with pytest.raises(verify.TheoremError, match="formal: there is no clause type"):
        replace(theorem, statement=replace(theorem.statement, formal={"type": text}))


@pytest.mark.parametrize("broken", [{"typed": {}}, {"exported": None}, {"rocq": None, "typed": {"claims": ["none"]}}])
def test_a_record_that_is_not_read_is_not_believed(theorem, broken):
    write({theorem.id: entry_of(theorem, **broken)})
    found = recorded(theorem)
    assert not found.clauses and found.not_formal.startswith("the record is not read: ")


@pytest.mark.parametrize("text", ["no JSON", "[]"])
def test_a_file_that_is_no_record_is_not_believed(theorem, halves_package, tmp_path, text):
    (tmp_path / halves_package / "formal.json").write_text(text)
    assert "formal.json" in recorded(theorem).not_formal


def test_other_entries_are_kept(theorem, halves_package, tmp_path):
    write({"user.other": {"kept": True}})
    write({theorem.id: entry_of(theorem)})
    kept = json.loads((tmp_path / halves_package / "formal.json").read_text(encoding="utf-8"))
    assert list(kept) == [theorem.id, "user.other"] and kept["user.other"] == {"kept": True}


def test_prove_shows_the_formal_text_the_sentences_in_prose_and_a_record_that_is_not_believed(theorem, halves_folder):
    write({theorem.id: entry_of(theorem)})
    found = verify.prove(theorem, seconds=2)
    lines = [line.strip() for line in str(found).splitlines()]
    assert "Halves.claims.positive: 0 < half" in lines
    assert "\nformal (statement exported; statement typed, 1 definition; 2 sentences in prose)" in str(found)
    assert [line for line in lines if line.startswith("in prose: ")] == [f"in prose: {each}" for each in SENTENCES]
    body = {clause["label"]: clause for clause in found.to_json()["clauses"]}
    assert body["typed"]["kind"] == "rocq" and body["typed"]["propositions"] == {"Halves.claims.positive": "0 < half"}
    assert body["exported"]["formal"]["stated"] == ["statement exported"] and body["exported"]["propositions"] == {}
    path = halves_folder / "proofs.v"
    path.write_text(path.read_text(encoding="utf-8").replace("lra", "nra"), encoding="utf-8")
    again = verify.prove(theorem, seconds=2)
    assert "not formal: the record is older than the files that it compiled" in str(again).splitlines()
    assert again.for_all_parameters.standing is ForAll.PROVED and again.to_json()["not_formal"]


def test_the_claims_that_are_formal_are_named_where_not_all_are(theorem):
    write({theorem.id: entry_of(theorem, exported={"clauses": [], "files": ""})})
    assert "proved; formal: typed" in str(verify.prove(theorem, seconds=2)).splitlines()[-1]
