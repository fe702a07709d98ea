"""A formal text is read from files that contain only definitions; its digest covers all definitions that it uses."""

import pytest

import verify
from verify.checking.formal.propositions import check_text, sources_of
from verify.errors import TheoremError

POSITIVE = {"Halves.claims.positive": "Halves.proofs.positive_holds"}


def digest_after(halves_package, path, old, new):
    """Return the digest of the text after a change of a file."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return verify.formal_text(halves_package, POSITIVE).digest


def test_a_proposition_with_the_definitions_that_it_rests_on(halves_package):
    found = verify.formal_text(halves_package, POSITIVE, besides=["a sentence"])
    assert found.propositions == (("Halves.claims.positive", "0 < half"),)
    assert found.definitions == ("Halves.definitions.half",)
    assert found.to_data() == {
        "propositions": ["Halves.claims.positive"],
        "text": found.digest,
        "besides": ["a sentence"],
    }


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("definitions", "half : R := 1 / 2", "half : R := 1 / 4", False),
        ("claims", "0 < half", "0 <= half", False),
        ("definitions", "Open Scope R_scope.", "Open Scope nat_scope.", False),
        ("definitions", "third : R := 1 / 3", "third : R := 1 / 9", True),
        ("definitions", "Variables a b : R", "Variables b a : R", True),
        ("definitions", "The definitions.", "Definitions. (* Twice. *)", True),
        ("claims", "half < 1", "half < 2", True),
        ("proofs", "Theorem below", "Lemma below", True),
    ],
)
def test_the_digest_changes_with_what_the_proposition_rests_on(halves_package, halves_folder, file, old, new, same):
    before = verify.formal_text(halves_package, POSITIVE).digest
    assert (digest_after(halves_package, halves_folder / f"{file}.v", old, new) == before) is same


@pytest.mark.parametrize(
    "sentence",
    [
        "Axiom bad : False.",
        "Lemma one : 0 < 1. Proof. Admitted.",
        'Notation "0" := 1.',
        "Parameter half : R.",
        "Coercion f : nat >-> R.",
        "#[local] Definition positive : Prop := True.",
        "Module Inner.",
        "Unset Guard Checking.",
        "Let half := 1.",
        "Hypothesis bad : False.",
        "Local Notation half := 1.",
    ],
)
def test_a_file_that_holds_more_than_definitions_is_refused(halves_package, halves_folder, sentence):
    path = halves_folder / "claims.v"
    path.write_text(f"{path.read_text(encoding='utf-8')}{sentence}\n", encoding="utf-8")
    with pytest.raises(TheoremError, match=r"claims\.v: .* is no definition, and propositions rest on the file"):
        verify.formal_text(halves_package, POSITIVE)


@pytest.mark.parametrize(
    "sentence",
    [
        "Fixpoint even (n : nat) := match n with O => true | S m => odd m end\nwith odd (n : nat) := false.",
        "Inductive left : Prop := one : right -> left with right : Prop := two : right.",
        'Fixpoint add (n m : nat) : nat := n where "n +++ m" := (add n m).',
    ],
)
def test_a_definition_of_several_names_is_refused(halves_package, halves_folder, sentence):
    path = halves_folder / "definitions.v"
    path.write_text(f"{path.read_text(encoding='utf-8')}{sentence}\n", encoding="utf-8")
    with pytest.raises(TheoremError, match=r"definitions\.v: .* is no definition of one name, and propositions rest"):
        verify.formal_text(halves_package, POSITIVE)


def test_a_definition_by_cases_is_read(halves_package, halves_folder):
    path = halves_folder / "definitions.v"
    cases = "half : R := match O with O => 1 / 2 | _ => 1 end"
    path.write_text(path.read_text(encoding="utf-8").replace("half : R := 1 / 2", cases), encoding="utf-8")
    assert verify.formal_text(halves_package, POSITIVE).definitions == ("Halves.definitions.half",)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Halves.claims.none", "there is no Definition none : Prop"),
        ("Halves.definitions.half", "there is no Definition half : Prop"),
        ("Halves.nowhere.positive", "there is no Definition positive : Prop"),
        ("positive", "is not a Rocq name"),
        ("Halves.claims.positive. Axiom bad : False", "is not a Rocq name"),
    ],
)
def test_names_of_no_proposition_are_refused(halves_package, name, said):
    with pytest.raises(TheoremError, match=said):
        verify.formal_text(halves_package, {name: "Halves.proofs.positive_holds"})


def test_a_name_of_a_proof_that_is_none_is_refused(halves_package):
    with pytest.raises(TheoremError, match="is not a Rocq name"):
        verify.formal_text(halves_package, {"Halves.claims.positive": "proofs positive"})


def test_a_package_without_files_is_refused():
    with pytest.raises(TheoremError, match="package = nowhere_at_all"):
        verify.formal_text("nowhere_at_all", POSITIVE)


def test_the_check_names_each_proof_beside_its_proposition(halves_package):
    text = check_text({"c": verify.formal_text(halves_package, POSITIVE)})
    assert text.splitlines() == [
        "Require Halves.claims.",
        "Require Halves.proofs.",
        "Definition claim_0 : Halves.claims.positive := Halves.proofs.positive_holds.",
        "Definition all_claims := (claim_0).",
        "Print Assumptions all_claims.",
    ]
    assert sources_of(halves_package).roots == {"Halves": "halves"}
