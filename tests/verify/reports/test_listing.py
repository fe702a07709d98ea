"""The list of theorems: what is shown comes from shipped certificates that are re-checked when it is listed."""

from types import SimpleNamespace

import pytest
import sympy as sp

import verify
from verify import Identity, Inequality, InputError, Paper, Parameter, Source, Statement, Theorem
from verify.checking import registry
from verify.checking import standing as evidence
from verify.checking.certificates import write_certificate
from verify.reports.listing import carried_text, list_rows, rows_text, standings_table

x = sp.Symbol("x", real=True)
PAPER = Paper("zeta2025", "Z, Title, 2025", "2501.00001")


def _theorem(name, clause, example=1):
    statement = Statement((Parameter("x", "rational", "x"),), (clause,))
    return Theorem(f"zeta2025.{name}", f"the {name}", Source("Lemma 1", "printed", PAPER), statement, {"x": example})


@pytest.fixture(autouse=True)
def installed(monkeypatch, tmp_path):
    theorems = [
        _theorem("true", Inequality("c", sp.Lt(x, 2))),
        _theorem("identity", Identity("i", (x + 1) ** 2, x**2 + 2 * x + 1)),
        _theorem("false", Inequality("c", sp.Gt(x, 2))),
        _theorem("unknown", Inequality("c", sp.Gt(1 / x, 2)), example=0),
        Theorem(
            "other.free",
            "no paper",
            Source("1", "derived here"),
            _theorem("a", Inequality("c", sp.Lt(x, 2))).statement,
            {"x": 1},
        ),
    ]
    entries = [SimpleNamespace(name=t.id, value=f"test:{t.id}", load=lambda theorem=t: theorem) for t in theorems]
    monkeypatch.setattr(registry, "_listed", lambda kind: [("test", entry) for entry in entries])
    monkeypatch.setattr(evidence, "shipped_path", lambda name: tmp_path / f"{name}.json")
    for theorem in theorems:
        if theorem.id not in ("zeta2025.unknown", "zeta2025.unshipped"):
            write_certificate(theorem, verify.check(theorem, **theorem.example), tmp_path / f"{theorem.id}.json")
    return tmp_path


def test_a_row_says_what_is_proved_and_the_evidence_at_the_example():
    rows = {row["id"]: row for row in list_rows()}
    assert list(rows) == ["other.free", "zeta2025.false", "zeta2025.identity", "zeta2025.true", "zeta2025.unknown"]
    found = {name: (row["proved"], row["best_instance_evidence"]) for name, row in rows.items()}
    assert found == {
        "other.free": (False, "certified"),
        "zeta2025.identity": (True, "proved"),
        "zeta2025.true": (False, "certified"),
        "zeta2025.false": (False, None),
        "zeta2025.unknown": (False, None),
    }
    assert rows["zeta2025.true"] == {
        "id": "zeta2025.true",
        "title": "the true",
        "paper": "zeta2025",
        "source": "Z, Title, 2025, arXiv 2501.00001, Lemma 1 (printed)",
        "claims": [{"label": "c", "claim": "x < 2", "for_all_parameters": "open"}],
        "for_all_parameters": "open",
        "inferences_argued": 0,
        "inferences_own": 0,
        "proved": False,
        "best_instance_evidence": "certified",
    }
    assert rows["other.free"]["paper"] is None


def test_a_certificate_that_is_not_accepted_counts_for_nothing(installed):
    path = installed / "zeta2025.identity.json"
    path.write_text(path.read_text().replace('"scope":"all"', '"scope":"some"'))
    rows = {row["id"]: row for row in list_rows()}
    assert (rows["zeta2025.identity"]["proved"], rows["zeta2025.identity"]["best_instance_evidence"]) == (False, None)
    assert rows["zeta2025.true"]["best_instance_evidence"] == "certified"


def test_a_paper_filters_and_an_unknown_one_is_an_input_error():
    assert [row["id"] for row in list_rows("other")] == ["other.free"]
    for paper in ("nope", "", "zeta"):
        with pytest.raises(
            InputError, match=r"--paper.*: has no theorems here; (did you mean zeta2025. )?known are other, zeta2025"
        ):
            list_rows(paper)


def test_the_rows_for_people():
    lines = rows_text(list_rows()).splitlines()
    assert lines == [
        "                   for all  at its example",
        "other.free         open    certified      no paper",
        "    open    c: x < 2",
        "zeta2025.false     open    -              the false",
        "    open    c: x > 2",
        "zeta2025.identity  proved  proved         the identity",
        "    proved  i: (x + 1)**2 = x**2 + 2*x + 1",
        "zeta2025.true      open    certified      the true",
        "    open    c: x < 2",
        "zeta2025.unknown   open    -              the unknown",
        "    open    c: 1/x > 2",
        "for all parameters: 1 proved, 4 open; argued inferences: 0",
    ]


def test_a_claim_that_is_argued_shows_how_many_inferences_it_takes():
    made = {"for_all_parameters": "argued", "inferences_argued": 3}
    assert carried_text(made) == "argued (3)"
    row = {**made, "id": "p.t", "inferences_own": 2, "claims": [{"label": "c", "for_all_parameters": "argued"}]}
    table = standings_table([row]).splitlines()
    assert table[1] == "## What carries each theorem"
    assert table[3] == "For all parameters: 1 argued; argued inferences: 2."
    assert table[-1] == "| `p.t` | argued | 3 | c (argued) |"
