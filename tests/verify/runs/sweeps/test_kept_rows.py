"""Rows of a store are believed if they fit; other rows are computed anew, and on request some rows are rechecked."""

import json
import math
import re
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import verify
from tests.verify.command_line import assert_one_line, body_of
from verify import InputError, load_theorem
from verify.evaluation.instances import parse
from verify.runs.sweeps.float_rows import Scans
from verify.runs.sweeps.kept_rows import differences, fits
from verify.runs.sweeps.rows import Effort, checked_row

BODY = """
statement = Statement(
    PARAMETERS, (Inequality("c", sp.Lt(x, 5)), Inequality("e", sp.Lt(sp.exp(x), 99))), (Hypothesis("h", sp.Le(x, 8)),)
)
mine = Theorem("user.mine", "a title", Source("1", "derived here"), statement, {"x": 1}, {"third": sp.exp(x) / 3})
"""


@pytest.fixture
def mine(theorem_file):
    return load_theorem(theorem_file(BODY))


def rows_of(path):
    with closing(sqlite3.connect(path)) as connection:
        return {k: json.loads(b) for k, b in connection.execute("SELECT digest, body FROM results ORDER BY digest")}


def change(path, digest, text):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE results SET body = ? WHERE digest = ?", (text, digest))


@pytest.mark.parametrize("x", [1, "7/2", 5, 6, 9])
def test_a_row_fits_its_instance(mine, x):
    point = {"x": parse(mine.statement, {"x": x})["x"]}
    row = json.loads(json.dumps(checked_row(mine, point, Effort(10.0, 0))))
    assert fits(mine, point, row) and list(differences(row, row)) == []
    assert not fits(mine, {"x": 2}, row)


def _inner(row, name, value):
    return {**row, "clauses": [{**row["clauses"][0], name: value}, *row["clauses"][1:]]}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda row: {},
        lambda row: {n: v for n, v in row.items() if n != "seconds"},
        lambda row: {**row, "more": 1},
        lambda row: {**row, "evidence": "god"},
        lambda row: {**row, "evidence": "simulated"},
        lambda row: {**row, "evidence": ["proved"]},
        lambda row: {**row, "evidence": "proved"},
        lambda row: {**row, "outcome": "true"},
        lambda row: {**row, "outcome": "refuted"},
        lambda row: {**row, "outcome": None},
        lambda row: {**row, "claim": "out_of_scope"},
        lambda row: {**row, "claim": "refuted"},
        lambda row: {**row, "in_scope": 1},
        lambda row: {**row, "in_scope": False},
        lambda row: {**row, "instance": {"x": 2, "x_float": 2.0}},
        lambda row: {**row, "instance": {**row["instance"], "y": 2}},
        lambda row: {**row, "values": {}},
        lambda row: {**row, "values": [1]},
        lambda row: {**row, "values": {"third": math.inf}},
        lambda row: {**row, "seconds": "1"},
        lambda row: {**row, "seconds": -1},
        lambda row: {**row, "detail": None},
        lambda row: {**row, "clauses": row["clauses"][:1]},
        lambda row: {**row, "clauses": row["clauses"][::-1]},
        lambda row: {**row, "clauses": {}},
        lambda row: _inner(row, "label", "other"),
        lambda row: _inner(row, "more", 1),
        lambda row: _inner(row, "holds", None),
        lambda row: _inner(row, "holds", "yes"),
        lambda row: _inner(row, "evidence", None),
        lambda row: _inner(row, "evidence", "god"),
        lambda row: _inner(row, "margin", "much"),
        lambda row: _inner(row, "margin", {"lower": 1}),
        lambda row: _inner(row, "witness", None),
        lambda row: _inner(row, "rechecked", False),
        lambda row: _inner(row, "unchecked", None),
        lambda row: _inner(row, "error_float", "0"),
        lambda row: {**row, "trusts": None},
        lambda row: {**_inner(row, "trusts", ["p.a"]), "trusts": ["p.a"]},
        lambda row: {**_inner(row, "trusts", ["p.a/0"]), "trusts": ["p.a/0"]},
        lambda row: {**_inner(row, "trusts", ["p.b/1", "p.a/1"]), "trusts": ["p.a/1", "p.b/1"]},
        lambda row: _inner(row, "trusts", ["p.a/1"]),
        lambda row: {**row, "evidence": "computed", "trusts": ["p.a/1"]},
        lambda row: (
            {**_inner(_inner(row, "evidence", "computed"), "rechecked", False), "evidence": "computed"}
            | {"trusts": ["p.a/1"]}
        ),
    ],
)
def test_spoilt_rows_do_not_fit_the_instance(mine, spoil):
    row = json.loads(json.dumps(checked_row(mine, {"x": 1}, Effort(10.0, 0))))
    assert fits(mine, {"x": 1}, row) and not fits(mine, {"x": 1}, spoil(row))


def test_a_row_may_trust_for_a_clause_and_more_for_its_scope(mine):
    row = json.loads(json.dumps(checked_row(mine, {"x": 1}, Effort(10.0, 0))))
    assert fits(mine, {"x": 1}, {**_inner(row, "trusts", ["p.a/1"]), "trusts": ["p.a/1"]})
    assert fits(mine, {"x": 1}, {**_inner(row, "trusts", ["p.a/1"]), "trusts": ["p.a/1", "p.b/2"]})
    assert fits(mine, {"x": 1}, {**row, "trusts": ["p.b/2"]})


def test_rows_of_points_outside_the_domain_fit(make_theorem):
    import sympy as sp

    from verify import Inequality, Parameter

    x = sp.Symbol("x", positive=True)
    whole = Parameter("x", "rational", "x", above=0)
    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)), parameters=(whole,), domain=(sp.Le(x, 2),))
    row = checked_row(theorem, {"x": 3}, Effort(10.0, 0))
    assert row["outcome"] is None and fits(theorem, {"x": 3}, row)
    assert not any(fits(theorem, {"x": 3}, row | wrong) for wrong in ({"error": ""}, {"claim": "verified"}))


def test_a_difference_is_named(mine):
    row = json.loads(json.dumps(checked_row(mine, {"x": 1}, Effort(10.0, 0))))
    other = {**_inner(row, "holds", False), "claim": "refuted", "seconds": 99}
    assert [(name, after) for name, _, after in differences(row, other)] == [
        ("claim", "refuted"),
        ("holds", {"c": False, "e": True}),
    ]
    near, far = ({**row, "values": {"third": None, "third_float": value}} for value in (1.0, 1.0 + 1e-12))
    assert list(differences(near, far)) == [] and list(differences(near, {**row, "values": {"third": 1}}))


SPOILED = ("[]", "{", '{"evidence": "god"}', "god")


@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_that_do_not_fit_are_computed_anew_and_replaced(mine, tmp_path, jobs):
    over = {"x": "1/2:4:8"}
    first = verify.sweep(mine, over, store=tmp_path / "s", certify=True)
    before = rows_of(tmp_path / "s")
    (one, two, three, four, five, *_), plain = list(before), list(before.values())
    for digest, text in zip((one, two), ("{", "[]"), strict=True):
        change(tmp_path / "s", digest, text)
    change(tmp_path / "s", three, json.dumps({**plain[2], "evidence": "god"}))
    change(tmp_path / "s", four, json.dumps({n: v for n, v in plain[3].items() if n != "values"}))
    change(tmp_path / "s", five, json.dumps({**plain[4], "instance": plain[5]["instance"]}))
    again = verify.sweep(mine, over, store=tmp_path / "s", jobs=jobs, certify=True)
    assert (again.served, again.replaced, again.done, again.counts) == (3, 5, 8, first.counts)
    timeless = [{d: {**row, "seconds": 0} for d, row in rows.items()} for rows in (before, rows_of(tmp_path / "s"))]
    assert timeless[0] == timeless[1]
    last = verify.sweep(mine, over, store=tmp_path / "s", certify=True)
    assert (last.served, last.replaced, last.to_json()["replaced"]) == (8, 0, 0)


def test_a_row_that_is_spoiled_afterwards_is_not_shown(mine, tmp_path):
    result = verify.sweep(mine, {"x": "1/2:4:8"}, store=tmp_path / "s", certify=True)
    digest, row = next(iter(rows_of(tmp_path / "s").items()))
    change(tmp_path / "s", digest, json.dumps({**row, "outcome": "god"}))
    assert len(list(result.rows())) == 7


def test_some_of_the_rows_are_computed_again(mine, tmp_path):
    over = {"x": "1/8:8:64"}
    assert verify.sweep(mine, over, store=tmp_path / "s", recheck=64).rechecked.rows == 0
    whole = verify.sweep(mine, over, store=tmp_path / "s", recheck=100)
    assert (whole.served, whole.rechecked.rows, whole.rechecked.differing, whole.done) == (64, 64, 0, 64)
    again = {"store": tmp_path / "s", "recheck": 16}
    some = [verify.sweep(mine, over, **again, recheck_seed=3).rechecked for _ in range(2)]
    assert some[0] == some[1] and some[0].rows == 16 and some[0].seed == 3
    # Without a given seed, the rows are drawn with a new seed each time, so nobody knows them beforehand.
    assert len({verify.sweep(mine, over, **again).rechecked.seed for _ in range(3)}) == 3
    assert verify.sweep(mine, over, store=tmp_path / "s").rechecked is None


def test_differing_rows_are_counted_shown_and_replaced(mine, cli, tmp_path):
    over, path = {"x": "1/8:8:64"}, tmp_path / "s"
    verify.sweep(mine, over, store=path, certify=True)
    before = rows_of(path)
    lies = list(before)[:5]
    for digest in lies:
        row, other = before[digest], {True: False, False: True}
        clauses = [{**clause, "holds": other[clause["holds"]]} for clause in row["clauses"]]
        claim = "refuted" if any(clause["holds"] is False for clause in clauses) else "verified"
        outcome = row["outcome"] if row["outcome"] == "out_of_scope" else claim
        change(path, digest, json.dumps({**row, "clauses": clauses, "claim": claim, "outcome": outcome}))
    words = ("sweep", f"{tmp_path / 'mine.py'}:mine", "--over", "x=1/8:8:64", "--store", str(path), "--certify")
    assert cli(*words)[0] == 0
    code, out, err = cli(*words, "--recheck", "64", "--json")
    body = body_of(out)
    assert (code, err, body["from_store"], body["replaced"]) == (1, "", 64, 0)
    assert {n: body["rechecked"][n] for n in ("asked", "rows", "differing")} == {
        "asked": 64,
        "rows": 64,
        "differing": 5,
    }
    assert len(body["rechecked"]["differences"]) == 3
    for shown in body["rechecked"]["differences"]:
        assert "x" in shown["instance"] and "holds" in [part["what"] for part in shown["differs"]]
    after = rows_of(path)
    assert {d: {**r, "seconds": 0} for d, r in after.items()} == {d: {**r, "seconds": 0} for d, r in before.items()}
    code, out, err = cli(*words, "--recheck", "64")
    assert (code, err) == (0, "") and re.search(r"computed again: 64, drawn with seed \d+; 0 of them differ\n", out)


def test_a_row_that_was_edited_to_say_proved_is_named(mine, cli, tmp_path):
    path = tmp_path / "s"
    verify.sweep(mine, {"x": [1]}, store=path, certify=True)
    ((digest, row),) = rows_of(path).items()
    honest = row["evidence"]
    lie = {"proved": "certified", "certified": "proved"}[honest]
    clauses = [{**clause, "evidence": lie} for clause in row["clauses"]]
    change(path, digest, json.dumps({**row, "evidence": lie, "clauses": clauses}))
    words = ("sweep", f"{tmp_path / 'mine.py'}:mine", "--over", "x=1", "--store", str(path), "--certify")
    code, out, _ = cli(*words)
    assert code == 0 and f"evidence: {lie} 1" in out
    code, out, _ = cli(*words, "--recheck", "1", "--recheck-seed", "7")
    assert code == 1 and "drawn with seed 7; 1 of them differ" in out
    assert f"  at x=1: evidence was stored as {lie}, and is now {honest}" in out
    code, out, _ = cli(*words)
    assert code == 0 and f"evidence: {honest} 1" in out


def test_the_table_says_what_differs(mine, cli, tmp_path):
    path = tmp_path / "s"
    verify.sweep(mine, {"x": [1]}, store=path, certify=True)
    ((digest, row),) = rows_of(path).items()
    change(path, digest, json.dumps({**row, "values": {"third": 3}}))
    words = ("sweep", f"{tmp_path / 'mine.py'}:mine", "--over", "x=1", "--store", str(path), "--certify")
    code, out, _ = cli(*words, "--recheck", "3")
    assert code == 1 and re.search(r"computed again: 1, drawn with seed \d+; 1 of them differ\n", out)
    assert "  at x=1: values was stored as {'third': 3}, and is now {" in out
    change(path, digest, "{}")
    code, out, _ = cli(*words)
    assert code == 0 and "rows of the store that did not fit, computed anew: 1\n" in out


@pytest.mark.parametrize("count", ["0", "-1", "1.5", "nan", "some"])
def test_a_number_of_rows_that_is_none_is_one_line(cli, mine, tmp_path, count):
    words = ("sweep", f"{tmp_path / 'mine.py'}:mine", "--over", "x=1")
    assert_one_line(cli(*words, "--recheck", count), "recheck = ")
    if count != "some":
        with pytest.raises(InputError, match="recheck"):
            verify.sweep(mine, {"x": [1]}, recheck=float(count))


def block_of(path):
    with closing(sqlite3.connect(path)) as connection:
        ((header, data),) = connection.execute("SELECT header, data FROM blocks").fetchall()
    return json.loads(header), data


def change_block(path, header, data):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE blocks SET header = ?, data = ?", (json.dumps(header), data))


def column(data, count, place, at, value):
    """Return a block's bytes with one number of a column replaced."""
    kinds, numbers = data[: 2 * count], np.frombuffer(data[2 * count :], "<f8").copy()
    numbers[place * count + at] = value
    return kinds + numbers.tobytes()


def _head(header, **more):
    return {**header, "heads": [head | more for head in header["heads"]]}


def _clauses(header, **more):
    return {**header, "heads": [h | {"clauses": [c | more for c in h["clauses"]]} for h in header["heads"]]}


SPOILED_BLOCKS = {
    "no object": lambda header, data: ([], data),
    "a field less": lambda header, data: ({n: v for n, v in header.items() if n != "seconds"}, data),
    "a field more": lambda header, data: (header | {"more": 1}, data),
    "another count": lambda header, data: (header | {"count": 7}, data),
    "another value": lambda header, data: (header | {"values": ["fourth"]}, data),
    "a clause less": lambda header, data: (header | {"margins": header["margins"][:1]}, data),
    "no heads": lambda header, data: (header | {"heads": []}, data),
    "a head that is none": lambda header, data: (header | {"heads": ["god"] * len(header["heads"])}, data),
    "another evidence": lambda header, data: (_head(header, evidence="god"), data),
    "more evidence": lambda header, data: (_head(header, evidence="proved"), data),
    "refuted": lambda header, data: (_head(header, claim="refuted"), data),
    "proved by no list": lambda header, data: (_clauses(header, proved=False), data),
    "said by no truth": lambda header, data: (_clauses(header, said=0), data),
    "trusting": lambda header, data: (_head(header, trusts=["p.a/1"]), data),
    "a truth that is a number": lambda header, data: (_head(header, truths=["third"]), data),
    "a byte less": lambda header, data: (header, data[:-1]),
    "a byte more": lambda header, data: (header, data + b"0"),
    "text": lambda header, data: (header, "text"),
    "a kind beyond": lambda header, data: (header, b"\x09\x00" + data[2:]),
    "a kind below": lambda header, data: (header, b"\xfe\xff" + data[2:]),
    "a margin within its error": lambda header, data: (header, column(data, 8, 1, 0, 0.0)),
    "a negative error": lambda header, data: (header, column(data, 8, 3, 0, -1.0)),
    "no margin": lambda header, data: (header, column(data, 8, 1, 0, np.nan)),
    "an infinite value": lambda header, data: (header, column(data, 8, 4, 0, np.inf)),
}


@pytest.mark.parametrize("spoil", SPOILED_BLOCKS.values(), ids=SPOILED_BLOCKS)
def test_a_block_that_does_not_fit_is_decided_anew_and_replaced(mine, tmp_path, spoil):
    over, path = {"x": "1/2:4:8"}, tmp_path / "s"
    first = verify.sweep(mine, over, store=path)
    header, data = block_of(path)
    assert header["margins"] == ["c", "e"] and header["values"] == ["third"] and len(data) == 8 * (2 + 5 * 8)
    change_block(path, *spoil(header, data))
    assert list(first.rows()) == []
    again = verify.sweep(mine, over, store=path)
    assert (again.served, again.replaced, again.done, again.counts) == (0, 8, 8, first.counts)
    assert block_of(path)[1] == data
    last = verify.sweep(mine, over, store=path)
    assert (last.served, last.replaced) == (8, 0)


def test_a_row_of_a_block_that_comes_out_otherwise_is_named(mine, cli, tmp_path):
    over, path = {"x": "1/2:4:8"}, tmp_path / "s"
    verify.sweep(mine, over, store=path)
    header, data = block_of(path)
    change_block(path, header, column(data, 8, 4, 3, 1.0))
    words = ("sweep", f"{tmp_path / 'mine.py'}:mine", "--over", "x=1/2:4:8", "--store", str(path))
    assert cli(*words)[0] == 0
    code, out, _ = cli(*words, "--recheck", "8")
    assert code == 1 and "1 of them differ" in out and "at x=2: values was stored as {'third': None" in out
    assert block_of(path)[1] == data
    assert cli(*words, "--recheck", "8")[0] == 0


def test_a_block_takes_eight_bytes_a_number(mine, tmp_path):
    verify.sweep(mine, {"x": "1/1000:4:4000"}, store=tmp_path / "s")
    header, data = block_of(tmp_path / "s")
    # Each row has two margins with their errors, a value, and a kind of two bytes.
    assert len(data) == 4000 * (2 + 5 * 8) and len(json.dumps(header)) < 2000


def test_a_store_of_an_earlier_version_gets_blocks(mine, tmp_path):
    path = tmp_path / "s"
    verify.sweep(mine, {"x": "1/2:4:8"}, store=path, certify=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE blocks")
    assert verify.sweep(mine, {"x": "1/2:4:8"}, store=path, certify=True).served == 8
    assert verify.sweep(mine, {"x": "1/2:4:8"}, store=path).served == 0
    assert verify.sweep(mine, {"x": "1/2:4:8"}, store=path).served == 8


def test_a_block_that_decides_too_much_is_completed_by_exact_rows(mine, cli, tmp_path):
    # e^x < 99 holds at 9/2 and fails at 19/4. The forged block has the rows of two instances at which the claim holds.
    path, other = tmp_path / "s", tmp_path / "other"
    verify.sweep(mine, {"x": "1/2:4:8"}, store=other)
    header, data = block_of(other)
    assert verify.sweep(mine, {"x": ["9/2", "19/4"]}, store=path).counts == {"verified": 1, "refuted": 1}
    numbers = np.frombuffer(data[16:], "<f8").reshape(5, 8)[:, :2]
    change_block(path, header | {"count": 2}, data[:4] + numbers.tobytes())
    words = ("sweep", f"{tmp_path / 'mine.py'}:mine", "--over", "x=9/2,19/4", "--store", str(path), "--json")
    # The forged block fits, and is believed; only a recheck finds the error.
    assert body_of(cli(*words)[1])["counts"] == {"verified": 2}
    code, out, _ = cli(*words, "--recheck", "2")
    body = body_of(out)
    assert (code, body["rechecked"]["differing"], body["counts"]) == (1, 2, {"verified": 1, "refuted": 1})
    assert body_of(cli(*words, "--recheck", "2")[1])["rechecked"]["differing"] == 0


def test_a_header_that_is_no_text_is_decided_anew(mine, tmp_path):
    path = tmp_path / "s"
    first = verify.sweep(mine, {"x": "1/2:4:8"}, store=path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE blocks SET header = CAST(? AS TEXT)", (b"\xff\xfe{",))
    again = verify.sweep(mine, {"x": "1/2:4:8"}, store=path)
    assert (again.served, again.replaced, again.counts) == (0, 8, first.counts)


def test_the_block_that_another_sweep_wrote_first_is_shown(mine, tmp_path, monkeypatch):
    path, plain = tmp_path / "s", Scans.block
    first = verify.sweep(mine, {"x": "1/2:4:8"}, store=path)
    header, data = block_of(path)

    def meanwhile(self, part):
        # Another sweep has written a block in which only the last row is decided.
        key = part.key(self.theorem, self.effort, first.code)
        kinds = np.array([-1] * 7 + [0], "<i2").tobytes()
        told = (key.digest, key.code, str(key.seed), key.device, "user.mine", json.dumps(header), kinds + data[16:])
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, '')", told)
        return plain(self, part)

    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM blocks")
    monkeypatch.setattr(Scans, "block", meanwhile)
    again = verify.sweep(mine, {"x": "1/2:4:8"}, store=path)
    assert (again.done, again.served, again.counts) == (8, 0, {"verified": 8})
    assert again.evidence == {"computed": 1, "certified": 7}


def test_a_drawn_row_that_a_block_no_longer_has_is_kept_by_itself(mine, tmp_path, monkeypatch):
    path = tmp_path / "s"
    verify.sweep(mine, {"x": "1/2:4:8"}, store=path)
    monkeypatch.setattr(Scans, "block", lambda *_: None)
    # Now the exact check decides and certifies each row, so the evidence is not the same as before.
    found = verify.sweep(mine, {"x": "1/2:4:8"}, store=path, recheck=3)
    assert (found.rechecked.rows, found.rechecked.differing, found.done) == (3, 3, 8)
    assert found.evidence == {"certified": 8}
    last = verify.sweep(mine, {"x": "1/2:4:8"}, store=path)
    assert (last.served, last.done) == (8, 8)
