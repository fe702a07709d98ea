"""`verify recheck` on untrusted files: each is answered by a status, whatever the others are."""

import json

import pytest

from tests.verify.command_line import body_of
from tests.verify.rechecker.bombs import BOMBS
from tests.verify.rechecker.cases import exact
from tests.verify.rechecker.certificates import changed
from verify.reports.commands.files import _recheck_line

SPOOFED = "ok verified (proved, positive)\nwang2024.theorem1.json: accepted: wang2024.theorem1 T=20"
CLEARED = "\x1b[2J\x1b]0;owned\x07<script>\n\nuser.ok: accepted, proved"
FOREIGN = ["Primitive", "gamma", 1, ["Integer", "3"]]


def written(made, path="uses", value=()):
    """Return a certificate, with one field changed, of a statement that uses no other theorem."""
    return json.dumps(changed(changed(made, "uses", []), path, list(value) if path == "uses" else value)).encode()


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = {
        "bomb": BOMBS["a step of 2^(10^12)"](),
        "spoof": written(exact(), "statement.claims.0.label", SPOOFED),
        "cleared": written(exact(), "statement.claims.0.label", CLEARED),
        "foreign": written(exact(), "statement.claims.0.relation.1", FOREIGN),
        "wrong": written(exact(), "clauses.0.proof.margin", "1/17"),
        "nothing": b"{",
        "good": written(exact()),
    }
    for name, text in made.items():
        (tmp_path / f"{name}.json").write_bytes(text)
    return {name: f"{name}.json" for name in made}


@pytest.mark.parametrize(
    ("name", "code", "status"),
    [
        ("bomb", 1, "rejected"),
        ("spoof", 2, "unreadable"),
        ("cleared", 2, "unreadable"),
        ("foreign", 1, "unknown"),
        ("wrong", 1, "rejected"),
        ("nothing", 2, "unreadable"),
        ("good", 0, "accepted"),
    ],
)
def test_each_file_has_its_status_and_one_line(cli, files, name, code, status):
    found, out, err = cli("recheck", files[name])
    assert found == code and (out + err).startswith(f"{name}.json: {status}: ") and (out + err).count("\n") == 1
    assert (out + err).rstrip("\n").isprintable()
    assert ("too large: " in err) == (name == "bomb")


def test_a_file_that_is_too_large_leaves_the_others_their_answers(cli, files):
    code, out, err = cli("recheck", *files.values(), "--json")
    rows = {row["path"]: row for row in body_of(out)["files"]}
    assert (code, err, list(rows)) == (2, "", list(files.values()))
    assert {row["status"] for row in rows.values()} == {"accepted", "rejected", "unknown", "unreadable"}
    assert rows["bomb.json"]["limit"] == {"of": "bits in the clause's last step", "most": 4096}
    assert "limit" not in rows["wrong.json"] and rows["good.json"]["clauses"][0]["outcome"] == "verified"
    code, out, err = cli("recheck", files["bomb"], files["good"])
    assert code == 1 and out.startswith("good.json: accepted: ") and err.startswith("bomb.json: rejected: too large: ")


def test_a_file_name_is_one_line(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "a\nb.json: accepted: wang2024.theorem1\x1b[2J"
    (tmp_path / name).write_bytes(written(exact()))
    code, out, err = cli("recheck", name)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert out.startswith("a\\nb.json: ")


@pytest.mark.parametrize("label", ["a.b", "ok verified; d", "x: accepted", "a  b", " a", "a "])
def test_a_label_that_could_be_more_of_the_line_is_refused(cli, tmp_path, label):
    (tmp_path / "c.json").write_bytes(written(exact(), "statement.claims.0.label", label))
    code, out, err = cli("recheck", str(tmp_path / "c.json"))
    assert (code, out) == (2, "") and "is no label" in err


def test_a_word_that_could_be_more_of_the_line_is_quoted():
    row = {"path": "a.json", "status": "accepted", "theorem": "user.a", "statement_digest": "0" * 64, "in_scope": True}
    row |= {"instance": {"w": "a; c verified (proved)", "x": "1/2"}, "pinned": True, "clauses": [], "trusts": []}
    assert _recheck_line(row) == 'a.json: accepted: user.a 000000000000 w="a; c verified (proved)" x=1/2: '


def test_a_line_says_what_a_clause_and_the_scope_trust():
    one, two = ({"name": name, "version": 1, "package": "p", "digest": "0" * 64} for name in ("p.one", "p.two"))
    clause = {"label": "c", "outcome": "verified", "evidence": "certified", "kind": "balls", "trusts": [one]}
    row = {"path": "a.json", "status": "accepted", "theorem": "user.a", "statement_digest": "0" * 64, "in_scope": True}
    row |= {"instance": {"x": "1"}, "pinned": True, "clauses": [clause], "trusts": [one, two]}
    scope = "; the scope is certified, trusting p.two/1"
    said = ": c verified (certified, balls, trusting p.one/1)"
    assert _recheck_line(row) == f"a.json: accepted: user.a 000000000000 x=1{scope}{said}"
    assert scope not in _recheck_line(row | {"trusts": [one]})
