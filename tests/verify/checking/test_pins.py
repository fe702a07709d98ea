"""A certificate is rejected if the id of its theorem is pinned to another statement."""

import json

import pytest

from tests.verify.command_line import body_of
from verify.checking.doors import door
from verify.checking.registry import ids
from verify.checking.standing import pins, shipped_path
from verify.checking.theorem import load_theorem
from verify.rechecker import Rejected, recheck_text

SHIPPED = "wang2024.lemma2"


@pytest.fixture
def named():
    """Return a function that returns the text of a shipped certificate with changed fields."""

    def make(**changed):
        return json.dumps(json.loads(shipped_path(SHIPPED).read_text()) | changed).encode()

    return make


def test_every_installed_theorem_is_pinned():
    assert pins() == {name: load_theorem(name).statement.digest for name in ids("theorem")}


def test_a_pinned_id_belongs_to_its_statement(named):
    assert recheck_text(named(), pins(), door=door).pinned is True
    assert recheck_text(named(), door=door).pinned is False
    other = named(theorem="wang2024.theorem1")
    with pytest.raises(Rejected, match=r"theorem: wang2024\.theorem1 is another statement, of digest"):
        recheck_text(other, pins(), door=door)
    mine = recheck_text(named(theorem="user.lemma"), pins(), door=door)
    assert (mine.theorem, mine.pinned) == ("user.lemma", False)


def test_theorems_that_a_proof_uses_are_pinned_too(named):
    used = [["wang2024.lemma1", "0" * 64]]
    assert recheck_text(named(uses=used), door=door).uses == (("wang2024.lemma1", "0" * 64),)
    with pytest.raises(Rejected, match=r"uses: wang2024\.lemma1 is another statement"):
        recheck_text(named(uses=used), pins(), door=door)
    assert recheck_text(named(uses=[["user.lemma", "0" * 64]]), pins(), door=door).pinned


def test_the_command_line_says_what_is_pinned(cli, named, tmp_path):
    files = {name: tmp_path / f"{name}.json" for name in ("right", "other", "mine")}
    for name, theorem in (("right", SHIPPED), ("other", "wang2024.theorem1"), ("mine", "user.lemma")):
        files[name].write_bytes(named(theorem=theorem))
    code, out, err = cli("recheck", str(files["right"]))
    assert code == 0 and "pins" not in out and err == ""
    code, out, err = cli("recheck", str(files["other"]))
    assert code == 1 and out == "" and "rejected: theorem: wang2024.theorem1 is another statement" in err
    code, out, _ = cli("recheck", str(files["mine"]))
    assert code == 0 and "no package here pins a statement by this id" in out
    code, out, _ = cli("recheck", str(files["mine"]), str(files["right"]), "--json")
    assert [row["pinned"] for row in body_of(out)["files"]] == [False, True]
