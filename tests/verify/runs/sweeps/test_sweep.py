"""Sweeps in one process: rows, counts, rows that are kept and served, and rows that are not served."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import log1p
from pathlib import Path

import pytest
import sympy as sp

import verify
from verify import Case, Hypothesis, Inequality, InputError, Parameter, Store, load_theorem
from verify.checking.check import check
from verify.checking.processes.code import code_of
from verify.checking.theorem import reference_of
from verify.runs.sweeps.float_rows import Scans
from verify.runs.sweeps.limits import SWEEP
from verify.runs.sweeps.sweep import sweep
from verify.runs.sweeps.workers import Rows

x, y = sp.symbols("x y", positive=True)
X, Y = (Parameter(name, "rational", name, above=0) for name in "xy")
BODY = """
y = sp.Symbol("y", positive=True)
PARAMETERS = (*PARAMETERS, Parameter("y", "rational", "y", above=0))
mine = theorem_of(
    Inequality("means", sp.Le(4 * x * y, (x + y) ** 2)), Inequality("below", sp.Lt(x * y, 5)), values={"sum": x + y}
)
"""


@pytest.fixture
def mine(theorem_file):
    return load_theorem(theorem_file(BODY))


@pytest.fixture
def computed(monkeypatch):
    """The list of the points that are computed, and not served."""
    points, compute = [], Rows.compute

    def counted(self, some):
        found = compute(self, some)
        points.extend(point for point, _ in found)
        return found

    monkeypatch.setattr(Rows, "compute", counted)
    return points


def test_each_point_has_a_row_with_its_evidence(mine):
    result = verify.sweep(mine, {"x": "1:4:4", "y": "1/2:4:8"})
    rows = list(result.rows())
    assert [tuple(point.values()) for point, _ in rows] == [
        (a, Fraction(b, 2)) for a in range(1, 5) for b in range(1, 9)
    ]
    assert result.done == 32 and result.counts["refuted"] == sum(a * b >= 10 for a in range(1, 5) for b in range(1, 9))
    for point, row in rows:
        assert row["outcome"] == row["claim"] == ("verified" if point["x"] * point["y"] < 5 else "refuted")
        means, below = row["clauses"]
        # A refutation has a witness; a clause that an estimate decided says `computed`.
        assert (below["holds"] is False) == bool(below["witness"]) == (row["outcome"] == "refuted")
        if "computed" in (means["evidence"], below["evidence"]):
            assert row["evidence"] == "computed" and row["outcome"] == "verified"
        else:
            assert row["evidence"] == "certified" and means["margin"] is not None
        assert row["values"]["sum_float"] == float(point["x"] + point["y"])
    assert result.evidence == {kind: sum(row["evidence"] == kind for _, row in rows) for kind in result.evidence}
    assert set(result.evidence) == {"computed", "certified"}


def test_certify_computes_nothing_in_float64_alone(mine):
    result = verify.sweep(mine, {"x": "1:4:4"}, y=1, certify=True)
    assert result.evidence == {"certified": 4} and result.counts == {"verified": 4}


def test_the_json_keeps_the_contract(mine, tmp_path):
    result = verify.sweep(mine, {"x": "1:4:4", "y": [1, "1/3"]}, store=tmp_path / "s")
    body = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert body["theorem"] == "user.mine" and body["statement_digest"] == mine.statement.digest and body["given"] == {}
    assert body["over"]["x"] == {"start": 1, "stop": 4, "count": 4, "spacing": "linear"}
    assert body["over"]["y"]["values"] == [1, "1/3"]
    assert (
        body["points"] == body["rows"] == 8 == sum(body["counts"].values()) == sum(body["claims"]["in_scope"].values())
    )
    assert (body["failed"], body["stopped"], body["seed"], body["store"]) == (0, "", 0, str(tmp_path / "s"))


def test_exact_rows_are_served_also_to_a_grid_that_overlaps(mine, tmp_path, computed):
    store, asked = Store(tmp_path / "s"), {"y": 1, "certify": True}
    first = verify.sweep(mine, {"x": "1:4:4"}, store=store, **asked)
    assert len(computed) == 4 and first.served == 0
    again = verify.sweep(mine, {"x": "1:4:4"}, store=store, **asked)
    assert len(computed) == 4 and again.served == 4 and list(again.rows()) == list(first.rows())
    more = verify.sweep(mine, {"x": "1:5:9"}, store=store, **(asked | {"y": "1.0"}))
    assert len(computed) == 9 and more.served == 4 and more.done == 9
    # Another budget, seed or method gives other rows.
    for other in ({"seconds": 3}, {"seed": 1}, {"certify": False}):
        assert verify.sweep(mine, {"x": "1:4:4"}, store=store, **(asked | other)).served == 0


def test_a_block_is_served_to_the_same_grid(mine, tmp_path, monkeypatch):
    store, over = Store(tmp_path / "s"), {"x": "1:4:4", "y": "1/2:2:4"}
    first = verify.sweep(mine, over, store=store)
    ((_, block),) = first.parts()
    assert block.decided == 13 and first.served == 0 and first.done == 16
    again = verify.sweep(mine, over, store=store)
    assert again.served == 16 and list(again.rows()) == list(first.rows()) and again.counts == first.counts
    for other in ({"seconds": 3}, {"seed": 1}, {"certify": True}):
        assert verify.sweep(mine, over, store=store, **other).served == 0
    # With another size the parts are other blocks, which are not served; the rows of the exact check are served.
    monkeypatch.setattr("verify.runs.sweeps.blocks.SWEEP", replace(SWEEP, array=3))
    parted = verify.sweep(mine, over, store=store)
    assert parted.served == 3 and timeless(parted) == timeless(first)
    assert [len(part) for part, _ in parted.parts()] == [3, 3, 3, 3, 3, 1]
    served = verify.sweep(mine, over, store=store)
    assert served.served == 16 and timeless(served) == timeless(first)


def timeless(result):
    return [(point, row | {"seconds": 0}) for point, row in result.rows()]


def test_an_interrupted_sweep_keeps_its_blocks(mine, tmp_path, monkeypatch):
    monkeypatch.setattr("verify.runs.sweeps.blocks.SWEEP", replace(SWEEP, array=4))
    block, decided = Scans.block, []

    def interrupted(self, part):
        if len(decided) == 2:
            raise KeyboardInterrupt
        decided.append(part.start)
        return block(self, part)

    monkeypatch.setattr(Scans, "block", interrupted)
    result = verify.sweep(mine, {"x": "1:2:12"}, y=1, store=tmp_path / "s")
    assert result.interrupted and result.done == 8 and decided == [0, 4]
    decided.clear()
    again = verify.sweep(mine, {"x": "1:2:12"}, y=1, store=tmp_path / "s")
    assert (again.served, again.done, decided) == (8, 12, [8])


def test_rows_of_blocks_and_of_the_check_keep_the_order_of_the_grid(make_theorem):
    """For each word, refutations and points that are no instance are between the points that a block decides."""
    how = Parameter("how", "word", "a choice", words=("one", "two"))
    clause = Inequality("c", sp.Lt(sp.log(1 + x), Case(sp.Symbol("how"), sp.Integer(5), sp.Rational(11, 10))))
    theorem = make_theorem(clause, parameters=(X, Y, how), domain=(sp.Le(x, y),), values={"sum": x + y})
    result = verify.sweep(theorem, {"x": "1:3:3", "how": "two,one", "y": "2:3:2"})
    rows = {(p["x"], p["how"], p["y"]): row for p, row in result.rows()}
    assert len(rows) == 12 == result.done and list(rows) == list(product((1, 2, 3), ("two", "one"), (2, 3)))
    for (a, word, b), row in rows.items():
        outcome = None if a > b else "verified" if log1p(a) < (5 if word == "one" else 1.1) else "refuted"
        assert row["outcome"] == outcome and row["instance"]["how"] == word
        assert a > b or row["values"]["sum_float"] == a + b
    assert result.counts == {"verified": 9, "refuted": 1, "no_instance": 2}


def test_an_edited_theorem_is_computed_again(theorem_file, tmp_path):
    store = Store(tmp_path / "s")
    assert verify.sweep(load_theorem(theorem_file(BODY)), {"x": "1:4:4"}, y=1, store=store).served == 0
    changed = load_theorem(theorem_file(BODY.replace("x * y, 5", "x * y, 3"), "other.py"))
    result = verify.sweep(changed, {"x": "1:4:4"}, y=1, store=store)
    assert result.served == 0 and result.counts == {"verified": 2, "refuted": 2}
    assert verify.sweep(load_theorem(theorem_file(BODY + "\n# edited\n")), {"x": "1:4:4"}, y=1, store=store).served == 0


def test_without_a_store_rows_last_as_long_as_the_result(mine):
    result = verify.sweep(mine, {"x": "1:3:3"}, y=1)
    folder = result.store.path.parent
    assert folder.is_dir() and result.to_json()["store"] is None and len(list(result.rows())) == 3
    del result
    assert not folder.exists()


def test_a_theorem_in_no_module_is_swept_here_alone(make_theorem, tmp_path):
    theorem = make_theorem(Inequality("c", sp.Gt(x, 1)), parameters=(X,))
    assert verify.sweep(theorem, {"x": "1/2:2:4"}).counts == {"refuted": 2, "verified": 2}
    for options in ({"store": tmp_path / "s"}, {"jobs": 2}):
        with pytest.raises(InputError, match="in no module"):
            verify.sweep(theorem, {"x": "1/2:2:4"}, **options)


def test_scope_and_claim_are_two_things(make_theorem):
    hypotheses = (Hypothesis("small", sp.Le(x, 2)),)
    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)), parameters=(X,), hypotheses=hypotheses)
    result = verify.sweep(theorem, {"x": "1:4:4"})
    assert result.counts == {"verified": 2, "out_of_scope": 2}
    assert result.claims == {(True, "verified"): 2, (False, "refuted"): 2}


def test_a_point_that_is_no_instance_is_a_row_too(make_theorem):
    theorem = make_theorem(Inequality("c", sp.Lt(x, 3)), parameters=(X, Y), domain=(sp.Le(x, y),))
    result = verify.sweep(theorem, {"x": "1:4:4"}, y=2)
    assert result.counts == {"verified": 2, "no_instance": 2}
    assert [row["error"] for _, row in result.rows()][2:] == [
        f"x = {n}: must satisfy x <= y (here y = 2)" for n in (3, 4)
    ]


def test_words_are_swept(make_theorem):
    how = Parameter("how", "word", "a choice", words=("one", "two"))
    clause = Inequality("c", sp.Lt(x, Case(sp.Symbol("how"), sp.Integer(5), sp.Integer(3))))
    theorem = make_theorem(clause, parameters=(X, how))
    result = verify.sweep(theorem, {"how": "two,one", "x": "1:4:4"})
    assert [row["claim"] for _, row in result.rows()] == [
        "verified",
        "verified",
        "refuted",
        "refuted",
        *["verified"] * 4,
    ]
    assert verify.sweep(theorem, {"x": "1:4:4"}).given == {"how": "one"}


def test_inconclusive_is_a_result_and_an_error_of_ours_is_none(mine, tmp_path, monkeypatch):
    import verify.runs.sweeps.workers

    plain = verify.runs.sweeps.workers.checked_row

    def broken(theorem, point, effort):
        if point["x"] == 2:
            raise RuntimeError("a slip of ours")
        row = plain(theorem, point, effort)
        undecided = {"holds": None, "evidence": None, "rechecked": False}
        clauses = [{**clause, **undecided} for clause in row["clauses"]]
        return {**row, "claim": "inconclusive", "outcome": "inconclusive", "evidence": None, "clauses": clauses}

    monkeypatch.setattr("verify.runs.sweeps.workers.checked_row", broken)
    result = verify.sweep(mine, {"x": "1:3:3"}, y=1, certify=True, store=tmp_path / "s")
    assert (result.done, result.failed, result.counts) == (2, 1, {"inconclusive": 2})
    assert result.failures == ("y=1 x=2: RuntimeError: a slip of ours",) or "x=2" in result.failures[0]
    monkeypatch.setattr("verify.runs.sweeps.workers.checked_row", plain)
    again = verify.sweep(mine, {"x": "1:3:3"}, y=1, certify=True, store=tmp_path / "s")
    assert (again.served, again.done, again.failed) == (2, 3, 0)


def test_an_interrupt_keeps_what_was_done(mine, tmp_path, monkeypatch):
    import verify.runs.sweeps.workers

    plain, done = verify.runs.sweeps.workers.checked_row, []

    def interrupted(*arguments):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr("verify.runs.sweeps.workers.checked_row", interrupted)
    result = verify.sweep(mine, {"x": "1:9:9"}, y=1, certify=True, store=tmp_path / "s")
    assert result.interrupted and result.done == 5 == len(list(result.rows()))
    done.clear()
    again = verify.sweep(mine, {"x": "1:9:9"}, y=1, certify=True, store=tmp_path / "s")
    assert (again.served, again.done, len(done)) == (5, 9, 4)


def test_a_check_that_is_interrupted_is_no_row(mine, monkeypatch):
    monkeypatch.setattr("verify.runs.sweeps.rows.check", lambda *a, **k: replace(check(*a, **k), interrupted=True))
    result = verify.sweep(mine, {"x": "1:9:9"}, y=1, certify=True)
    assert result.interrupted and result.done == 0


def test_a_chunk_that_takes_long_comes_back_unfinished_and_nothing_is_lost(mine, monkeypatch, computed):
    monkeypatch.setattr("verify.runs.sweeps.workers.SWEEP", replace(SWEEP, chunk_seconds=0.0))
    heard = []
    result = sweep(mine, {"x": "1:9:9"}, {"y": 1}, certify=True, tell=lambda *said: heard.append(said))
    assert result.done == 9 == len(computed) == len({point["x"] for point in computed})
    assert heard[-1] == (9, 9) and [done for done, _ in heard] == sorted(done for done, _ in heard)


@pytest.mark.parametrize(
    ("over", "given", "message"),
    [
        ({"x": "1:2:3"}, {}, "y: missing: neither fixed nor swept"),
        ({"x": "1:2:3"}, {"y": 0}, "y = 0"),
        ({"x": "1:2:3"}, {"y": 1, "seconds": 0}, "seconds = 0"),
        ({"x": "1:2:3"}, {"y": 1, "jobs": 0}, "jobs = 0"),
        ({"x": "1:2:3"}, {"y": 1, "jobs": 2, "scheduler": "tcp://127.0.0.1:1"}, "jobs = 2"),
    ],
)
def test_invalid_sweeps_are_refused(mine, over, given, message):
    with pytest.raises(InputError, match=message):
        verify.sweep(mine, over, **given)


def test_a_budget_is_one_whatever_kind_of_number_it_is(mine, tmp_path):
    store = Store(tmp_path / "s")
    verify.sweep(mine, {"x": "1:2:2"}, y=1, store=store, seconds=10)
    assert verify.sweep(mine, {"x": "1:2:2"}, y=1, store=store, seconds=10.0).served == 2


def test_another_value_or_proof_is_another_row(theorem_file, tmp_path):
    """Reported values and proofs are not in the statement's digest."""
    theorem = load_theorem(theorem_file(BODY))
    reference = reference_of(theorem)
    other = [replace(theorem, values={"sum": x - y}), replace(theorem, proofs={"means": 1})]
    codes = [code_of(one, *reference) for one in (theorem, *other, replace(theorem))]
    assert len(set(codes)) == 3 and codes[0] == codes[3] and "sympy-" in codes[0] and "python-flint-" in codes[0]


def test_a_helper_that_is_edited_is_another_version_in_a_new_process(theorem_file, tmp_path):
    path = Path(theorem_file("from helper import bound\n" + BODY.replace("x * y, 5", "x * y, bound"), "helped.py"))
    helper = path.with_name("helper.py")
    store = ["--store", str(tmp_path / "s"), "--over", "x=1:4:4", "y=1", "--json"]

    def swept(text):
        helper.write_text(text)
        root = str(Path(verify.__file__).parents[1])
        command = [sys.executable, "-m", "verify", "sweep", f"{path}:mine", *store]
        shown = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": root}
        )
        return json.loads(shown.stdout)["from_store"]

    assert [swept("bound = 5"), swept("bound = 5"), swept("bound = 5  # as before, and more")] == [0, 4, 0]


def test_ours_is_as_it_was_loaded_and_a_file_is_read_anew(theorem_file, monkeypatch):
    path = Path(theorem_file(BODY))
    theorem = load_theorem(str(path))
    reference = reference_of(theorem)
    before = code_of(theorem, *reference)
    plain = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda file: plain(file) + (b"# edited" if file.parent.name == "verify" else b"")
    )
    assert code_of(theorem, *reference) == before
    path.write_text(path.read_text() + "# edited")
    assert code_of(theorem, *reference) != before


def test_points_that_a_scan_cannot_decide_are_checked(mine, monkeypatch):
    def broken(*_):
        raise InputError("x", 1, "is too large to be decided")

    monkeypatch.setattr("verify.runs.sweeps.float_rows.Scan.decide", broken)
    result = verify.sweep(mine, {"x": "1:3:3"}, y=1)
    assert result.evidence == {"certified": 3} and result.failed == 0
