"""The evidence graph: no theorem has a better standing than the weakest theorem that its proof uses, at any depth."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp

import verify
from tests.verify.examples import evaluations
from verify import (
    Case,
    Identity,
    Inequality,
    Inference,
    InputError,
    InWords,
    Outcome,
    Parameter,
    Source,
    Statement,
    Theorem,
    load_theorem,
)
from verify.checking import standing as module
from verify.checking.certificates import accepted_file, certificate_text
from verify.checking.standing import (
    Standing,
    established_by_extension,
    rechecked,
    shipped_path,
    shipped_proofs,
    standing,
)
from verify.outcomes import Established, Evidence, ForAll
from verify.rechecker import Rejected, Shown, recheck_file, recheck_text

x = sp.Symbol("x", positive=True)
X = (Parameter("x", "rational", "x", above=0),)
PROVED = Identity("i", (x + 1) ** 2, x**2 + 2 * x + 1)
CERTIFIED = Inequality("c", sp.Lt(x, 2))


def theorem(name, clause, *uses):
    return Theorem(name, name, Source("1", "derived here"), Statement(X, (clause,)), {"x": 1}, proof_uses=uses)


class Shelf:
    """Theorems that use one another, and their certificates."""

    def __init__(self, *theorems):
        self.theorems = {t.id: t for t in theorems}
        self.certificates = {t.id: recheck_text(self.written(t)) for t in theorems}

    def written(self, t):
        digests = [[name, self.theorems[name].statement.digest] for name in sorted(t.proof_uses)]
        alone = replace(t, proof_uses=(), argument=()) if t.proof_uses else t
        text = certificate_text(alone, verify.check(alone, x=1))
        pairs = ",".join(f'["{name}","{digest}"]' for name, digest in digests)
        return text.replace('"uses":[]', f'"uses":[{pairs}]').encode()

    def standing_of(self, name):
        return standing(self.theorems[name], certificate=self.certificates.__getitem__, load=self.theorems.__getitem__)


@pytest.fixture
def shelf():
    return Shelf(
        theorem("u.leaf", PROVED),
        theorem("u.middle", Identity("i", (x - 1) ** 2, x**2 - 2 * x + 1), "u.leaf"),
        theorem("u.top", CERTIFIED, "u.middle"),
        theorem("u.apart", Identity("i", x * (x + 1), x**2 + x)),
    )


def for_all(shelf, name):
    return shelf.standing_of(name).for_all_parameters.standing


def test_a_theorem_is_known_by_its_weakest_claim_and_what_it_uses(shelf):
    proved = Established(ForAll.PROVED, theorem="u.leaf")
    assert shelf.standing_of("u.leaf") == Standing("u.leaf", {"i": proved}, proved, Evidence.PROVED)
    assert for_all(shelf, "u.middle") is ForAll.PROVED
    # The claim is certified only at its example, so it is open for all parameters.
    top = shelf.standing_of("u.top")
    assert (top.evidence, top.for_all_parameters) == (
        Evidence.CERTIFIED,
        Established(ForAll.OPEN, why="c is open", theorem="u.top"),
    )


def test_a_weaker_leaf_lowers_everything_above_it(shelf):
    weaker = replace(shelf.certificates["u.leaf"], claims=(Shown("i", "verified", "certified", "identity"),))
    shelf.certificates["u.leaf"] = weaker
    middle = shelf.standing_of("u.middle")
    assert (middle.evidence, middle.clauses["i"].standing, middle.for_all_parameters.standing) == (
        Evidence.PROVED,
        ForAll.PROVED,
        ForAll.OPEN,
    )
    assert for_all(shelf, "u.apart") is ForAll.PROVED


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (lambda c: "no certificate is shipped", "no certificate is shipped"),
        (lambda c: replace(c, statement_digest="0" * 64), "another statement"),
        (lambda c: replace(c, in_scope=False), "does not verify"),
        (lambda c: replace(c, claims=(Shown("i", "refuted", "certified", "point"),)), "does not verify"),
    ],
    ids=["missing", "another statement", "out of scope", "refuted"],
)
def test_a_broken_leaf_breaks_everything_above_it(shelf, broken, why):
    shelf.certificates["u.leaf"] = broken(shelf.certificates["u.leaf"])
    for name in ("u.leaf", "u.middle", "u.top"):
        established = shelf.standing_of(name).for_all_parameters
        assert established.standing is ForAll.OPEN and why in established.why
    assert shelf.standing_of("u.leaf").evidence is None
    # The theorem `u.middle` keeps its own evidence at its example.
    assert shelf.standing_of("u.middle").evidence is Evidence.PROVED
    assert for_all(shelf, "u.apart") is ForAll.PROVED


def test_a_changed_statement_of_a_leaf_breaks_what_was_made_with_the_old_one(shelf):
    changed = theorem("u.leaf", Identity("i", (x + 2) ** 2, x**2 + 4 * x + 4))
    shelf.theorems["u.leaf"] = changed
    shelf.certificates["u.leaf"] = recheck_text(shelf.written(changed))
    assert for_all(shelf, "u.leaf") is ForAll.PROVED
    assert "another statement of u.leaf" in shelf.standing_of("u.middle").why
    assert for_all(shelf, "u.top") is ForAll.OPEN


def test_proofs_that_use_each_other_prove_nothing(shelf):
    one, other = theorem("u.one", PROVED, "u.other"), theorem("u.other", PROVED, "u.one")
    circle = Shelf(theorem("u.one", PROVED), theorem("u.other", PROVED))
    circle.theorems = {"u.one": one, "u.other": other}
    circle.certificates = {t.id: recheck_text(circle.written(t)) for t in (one, other)}
    assert for_all(circle, "u.one") is for_all(circle, "u.other") is ForAll.OPEN
    assert "proof uses itself" in circle.standing_of("u.one").for_all_parameters.why


def test_each_theorem_below_is_looked_at_once():
    # Sixty diamonds on top of each other: there are 2^60 paths from the top to the leaf.
    chain = [theorem("u.0", PROVED)]
    for level in range(1, 61):
        left, right = (theorem(f"u.{level}{side}", PROVED, chain[-1].id) for side in "ab")
        chain += [left, right, theorem(f"u.{level}", PROVED, left.id, right.id)]
    shelf, asked = Shelf(chain[0]), []
    accepted = shelf.certificates["u.0"]
    by_id = {t.id: t for t in chain}

    def certificate(name):
        asked.append(name)
        uses = tuple((used, by_id[used].statement.digest) for used in by_id[name].proof_uses)
        return replace(accepted, theorem=name, uses=uses)

    found = standing(chain[-1], certificate=certificate, load=by_id.__getitem__)
    assert found.for_all_parameters == Established(ForAll.PROVED, theorem=chain[-1].id) and sorted(asked) == sorted(
        by_id
    )


def test_a_changed_file_is_read_again(monkeypatch, tmp_path):
    path = tmp_path / "c.json"
    monkeypatch.setattr("verify.checking.standing.shipped_path", lambda name: path)
    assert rechecked("u.leaf") == "no certificate is shipped"
    leaf = theorem("u.leaf", PROVED)
    path.write_text(certificate_text(leaf, verify.check(leaf, x=1)))
    first = rechecked("u.leaf")
    assert first.instance == {"x": "1"} and rechecked("u.leaf") is first
    path.write_text(certificate_text(leaf, verify.check(leaf, x=10)))
    assert rechecked("u.leaf").instance == {"x": "10"}
    os.utime(path, (1, 1))
    assert rechecked("u.leaf") == rechecked("u.leaf")
    path.write_text("no certificate")
    assert "not accepted" in rechecked("u.leaf")


def test_a_check_says_what_its_proof_uses(monkeypatch):
    steps = load_theorem("wang2024.one_hot_steps")
    sound = verify.check(steps, **steps.example)
    assert (sound.outcome, sound.for_all_parameters.standing) == (Outcome.VERIFIED, ForAll.ARGUED)
    assert sound.rests_on["wang2024.one_hot_descent"].standing is ForAll.ARGUED
    monkeypatch.setattr("verify.checking.standing.rechecked", lambda _: "broken")
    broken = verify.check(steps, **steps.example)
    # The verdict at the instance does not rest on the broken theorem; the standing for all parameters does.
    assert (broken.outcome, broken.evidence) == (Outcome.VERIFIED, Evidence.CERTIFIED)
    assert broken.for_all_parameters.standing is ForAll.OPEN and "broken" in broken.for_all_parameters.why
    body = broken.to_json()
    assert (body["outcome"], body["for_all_parameters"]) == ("verified", "open")


def test_where_a_package_ships_its_certificates():
    path = shipped_path("wang2024.lemma1")
    assert path.parts[-3:] == ("theorems", "certificates", "wang2024.lemma1.json") and path.is_file()
    with pytest.raises(InputError, match="unknown id"):
        shipped_path("nobody.knows")


SHIPS = "wang2024.stationary_points"


def test_unreadable_certificates_ship_no_proof(monkeypatch, tmp_path):
    (tmp_path / "broken.json").write_text('{"clauses": [{"label"')
    for name in ("broken.json", "absent.json"):
        monkeypatch.setattr("verify.checking.standing.shipped_path", lambda _, name=name: tmp_path / name)
        assert shipped_proofs(load_theorem(SHIPS)) == {}
    assert shipped_proofs(theorem("u.unknown", PROVED)) == {}


def _beyond(statement, *uses, monkeypatch, label="i", other=PROVED):
    """Return the standing of a claim that an extension infers from `uses`; `other` is the claim of `user.other`."""
    shelf = Shelf(theorem("user.other", other))
    monkeypatch.setattr(module, "load_theorem", shelf.theorems.__getitem__)
    monkeypatch.setattr(module, "rechecked", shelf.certificates.__getitem__)
    extension = Inference(label, "it is the same", uses, "application")
    return established_by_extension(
        Theorem("user.own", "t", Source("1", "derived here"), statement, {"x": 1}), extension
    )


def test_the_same_claim_of_another_theorem_stands_as_it_does_there(monkeypatch):
    renamed = replace(PROVED, label="square", says="a square")
    found = _beyond(Statement(X, (renamed,)), "user.other:i", monkeypatch=monkeypatch, label="square")
    assert (found.standing, found.inferences, found.theorem) == (ForAll.PROVED, frozenset(), "user.own")


@pytest.mark.parametrize(
    ("statement", "uses"),
    [
        (Statement(X, (replace(PROVED, right=x * (x + 2) + 1),)), ("user.other:i",)),
        (Statement((replace(X[0], kind="integer", above=None, minimum=1),), (PROVED,)), ("user.other:i",)),
        (Statement(X, (PROVED,)), ("user.other",)),
        (Statement(X, (PROVED,), definitions={sp.Symbol("y"): x**2 + 1}), ("user.other:i",)),
        (Statement((replace(X[0], above=None, minimum=1),), (PROVED,)), ("user.other:i",)),
    ],
)
def test_another_claim_than_that_of_the_other_theorem_is_argued(statement, uses, monkeypatch):
    found = _beyond(statement, *uses, monkeypatch=monkeypatch)
    assert (found.standing, found.inferences) == (ForAll.ARGUED, {"user.own:extension:i"})


EXAMPLE = {"x": 1, "w": "one"}
WORD = Parameter("w", "word", "", words=("one", "two"))
CHOSEN = Inequality("i", sp.Ge((x + 1) ** 2, Case(sp.Symbol("w"), 2 * x, (x + 1) ** 2 + 1), evaluate=False))


@pytest.mark.parametrize(
    ("here", "there", "same"),
    [
        (Statement((*X, WORD), (CHOSEN,)), Statement((*X, WORD), (CHOSEN,)), True),
        # The claim is true only for a parameter's first word, which is "two" in `here` and "one" in `there`.
        (Statement((*X, replace(WORD, words=("two", "one"))), (CHOSEN,)), Statement((*X, WORD), (CHOSEN,)), False),
        (Statement(X, (PROVED,), domain=(sp.Ge(x, 1),)), Statement(X, (PROVED,)), True),
        (Statement(X, (PROVED,)), Statement(X, (PROVED,), domain=(sp.Ge(x, 1),)), False),
    ],
)
def test_the_same_data_on_a_larger_domain_or_with_other_words_is_another_claim(here, there, same, monkeypatch):
    own, other = (
        Theorem(
            f"user.{name}",
            "t",
            Source("1", "derived here"),
            statement,
            {p.name: EXAMPLE[p.name] for p in statement.parameters},
        )
        for name, statement in (("own", here), ("other", there))
    )
    monkeypatch.setattr(module, "load_theorem", {"user.other": other}.__getitem__)
    assert module._is_same_claim(own, "i", "user.other:i") is same


def test_a_larger_step_size_is_as_formal_as_the_theorem_that_has_it():
    theorem1 = load_theorem("wang2024.theorem1")
    found = {e.uses[0].removeprefix("wang2024."): established_by_extension(theorem1, e) for e in theorem1.extensions}
    argued = [name for name, each in found.items() if each.standing is ForAll.ARGUED]
    assert argued == ["one_hot_descent:reached"]
    assert {each.standing for name, each in found.items() if name not in argued} == {ForAll.FORMAL}


@pytest.mark.parametrize(("used", "known"), [("u.leaf:w", ForAll.ARGUED), ("u.leaf:i", ForAll.OPEN)])
def test_an_argument_rests_on_another_theorems_claims_and_on_no_step_of_it(used, known):
    def words(name, uses, *steps, proof_uses=()):
        claims, argument = (InWords("w", "all is well"),), (Inference("w", "so it is", uses, "application"),)
        statement = Statement(X, claims=claims, steps=steps)
        more = {"proof_uses": proof_uses, "argument": argument, "evaluations": evaluations("w")}
        return Theorem(name, name, Source("1", "derived here"), statement, {"x": 1}, **more)

    shelf = Shelf(words("u.leaf", ("i",), PROVED), words("u.top", (used,), proof_uses=("u.leaf",)))
    established = shelf.standing_of("u.top").for_all_parameters
    assert established.standing is known
    assert ("is no claim" in established.why) is (known is ForAll.OPEN)


@pytest.fixture
def counted(monkeypatch, tmp_path, memory):
    """Return the path of a certificate, and a list with one element for each call of the re-checker."""
    leaf, asked = theorem("u.leaf", PROVED), []
    path = tmp_path / "u.leaf.json"
    path.write_text(certificate_text(leaf, verify.check(leaf, x=1)))

    def recheck(text, door):
        asked.append(1)
        return recheck_text(text, door=door)

    monkeypatch.setattr("verify.checking.certificates.recheck_text", recheck)
    return path, asked


def test_an_accepted_certificate_is_remembered(counted):
    path, asked = counted
    first = accepted_file(path)
    again = accepted_file(path)
    assert (again, repr(again)) == (first, repr(first)) and len(asked) == 1
    assert isinstance(again.claims[0], Shown) and again.claims[0].evidence == "proved"


def test_a_changed_byte_is_re_checked(counted):
    path, asked = counted
    accepted_file(path)
    path.write_text(path.read_text().replace('"scope":"all"', '"scope":"alt"'))
    with pytest.raises(Rejected):
        accepted_file(path)
    with pytest.raises(Rejected):
        accepted_file(path)
    assert len(asked) == 3


def test_another_re_checker_is_asked_anew(counted, monkeypatch):
    path, asked = counted
    accepted_file(path)
    monkeypatch.setattr("verify.checking.certificates._RECHECKER", "another")
    accepted_file(path)
    assert len(asked) == 2


def test_a_corrupted_memory_is_ignored(counted, memory):
    path, asked = counted
    accepted_file(path)
    (file,) = memory.rglob("*.json")
    said = file.read_text()
    for broken in (said.replace("proved", "formal"), said[:-20], ""):
        file.write_text(broken)
        assert accepted_file(path).claims[0].evidence == "proved"
    assert len(asked) == 4 and file.read_text() == said


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(counted, memory):
    path, asked = counted
    memory.mkdir(mode=0o500)
    assert accepted_file(path) == accepted_file(path) and len(asked) == 2
    memory.chmod(0o700)


def test_where_nothing_can_be_written(counted, monkeypatch):
    path, asked = counted

    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr("verify.files.whole", refuse)
    assert accepted_file(path) == accepted_file(path) and len(asked) == 2


def test_shipped_certificates_are_remembered_as_they_are_found(memory):
    path = shipped_path("ahn2023.lemma1")
    assert accepted_file(path) == accepted_file(path) == recheck_file(path)
    assert len(list(memory.rglob("*.json"))) == 1


def test_in_another_folder_a_certificate_is_remembered_too(counted, tmp_path, monkeypatch):
    path, asked = counted
    accepted_file(path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    copied = Path(shutil.copy(path, "renamed.json"))
    assert accepted_file(copied) == accepted_file(path) and len(asked) == 1


def test_no_file_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="none"):
        accepted_file(tmp_path / "none.json")
