"""The list of theorems: its evidence comes from shipped certificates, which are re-checked at each listing."""

import sys
from importlib import metadata
from types import SimpleNamespace

import pytest
import sympy as sp

import verify
from verify import Identity, Inequality, InputError, Paper, Parameter, Source, Statement, Theorem, remembered
from verify.checking import registry, standing as evidence
from verify.checking.certificates import write_certificate
from verify.reports.listing import established_text, kept_as, list_rows, rows_text, standings_table, standings_text

x = sp.Symbol("x", real=True)
SHIPPED = evidence.shipped_path
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
        "why": "",
        "inferences_argued": 0,
        "inferences_own": 0,
        "formal": None,
        "formal_claims": [],
        "not_formal": "",
        "proved": False,
        "best_instance_evidence": "certified",
        "trusts": [],
        "for_all_trusts": [],
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
            InputError, match=r"--paper.*: has no theorems here; (did you mean zeta2025. )?known: other, zeta2025"
        ):
            list_rows(paper)


def test_the_rows_for_people():
    lines = rows_text(list_rows()).splitlines()
    false, unknown = (row["why"] for row in list_rows() if row["id"] in ("zeta2025.false", "zeta2025.unknown"))
    assert [" ".join(line.split()) for line in lines] == [
        "other.free: no paper",
        "open; at its example: certified",
        "zeta2025.false: the false",
        f"open ({false})",
        "zeta2025.identity: the identity",
        "proved; at its example: proved",
        "zeta2025.true: the true",
        "open; at its example: certified",
        "zeta2025.unknown: the unknown",
        f"open ({unknown})",
        "for all parameters: 1 proved, 4 open; argued inferences: 0",
        "verify show THEOREM: its claims, and what establishes each",
    ]
    assert "no certificate is shipped" in (false, unknown)


NOT_FORMAL = {"formal": None, "formal_claims": [], "not_formal": ""}


def test_a_formal_row_says_how_it_is_stated_and_by_which_record():
    row = {"id": "p.t", "for_all_parameters": "formal", "inferences_argued": 0, "inferences_own": 0, "trusts": []}
    formal = {"stated": ["statement typed, 3 definitions"], "by": ["as recorded with Rocq 8.16.1"], "besides": []}
    row |= {"formal": formal, "formal_claims": ["c"], "not_formal": "", "for_all_trusts": [], "claims": []}
    assert established_text(row) == "formal (statement typed, 3 definitions)"
    prose = row | {"formal": formal | {"besides": ["the runs are so"]}}
    assert established_text(prose) == "formal (statement typed, 3 definitions; 1 sentence in prose)"
    assert "| formal (statement typed, 3 definitions; 1 sentence in prose) |" in standings_table([prose])
    said = "1 formal (as recorded with Rocq 8.16.1); argued inferences: 0"
    assert standings_text([row]) == f"for all parameters: {said}"
    assert standings_table([row]).splitlines()[-1].startswith("| `p.t` | formal (statement typed, 3 definitions) | 0 |")


def test_some_claims_that_are_formal_and_a_record_that_is_not_believed_are_told():
    row = {
        "for_all_parameters": "proved",
        "inferences_argued": 0,
        "inferences_own": 0,
        "for_all_trusts": [],
    } | NOT_FORMAL
    assert established_text(row | {"formal_claims": ["a", "b"]}) == "proved; formal: a, b"
    old = "the record is older than the statement"
    assert established_text(row | {"not_formal": old}) == f"proved; not formal: {old}"


def test_a_claim_that_is_argued_shows_how_many_inferences_it_takes():
    made = {
        "for_all_parameters": "argued",
        "inferences_argued": 3,
        "inferences_own": 2,
        "for_all_trusts": [],
    } | NOT_FORMAL
    assert established_text(made) == "argued (2 inferences, 1 inherited)"
    row = {**made, "id": "p.t", "trusts": [], "claims": [{"label": "c", "for_all_parameters": "argued"}]}
    table = standings_table([row]).splitlines()
    assert table[0] == "# How each theorem is established"
    assert table[2] == "For all parameters: 1 argued; argued inferences: 2. Written by `verify pin`."
    assert table[-1] == "| `p.t` | argued | 2 | 1 | c (argued) |"


def test_a_standing_and_an_example_that_trust_a_package_say_so():
    trust = {"name": "a.b", "version": 1, "package": "a", "digest": "0" * 64}
    row = {"id": "p.t", "for_all_parameters": "proved", "why": "", "inferences_argued": 0, "inferences_own": 0}
    row |= {"best_instance_evidence": "certified", "paper": "p", "title": "a title", "claims": []} | NOT_FORMAL
    none, at, both = (
        {"trusts": [], "for_all_trusts": []} | more
        for more in (
            {},
            {"trusts": [trust]},
            {"trusts": [trust], "for_all_trusts": [trust]},
        )
    )
    assert established_text(row | at) == "proved" and established_text(row | both) == "proved, trusting a.b/1"
    assert rows_text([row | at]).splitlines()[1] == "    proved; at its example: certified, trusting a.b/1"
    said = "for all parameters: 3 proved; argued inferences: 0"
    more = "; trusting a package for all parameters: 1; trusting a package at the example: 2"
    assert standings_text([row | none, row | at, row | both]) == said + more
    assert standings_text(3 * [row | none]) == said


MINE = """
import sympy as sp

from verify import Identity, Parameter, Source, Statement, Theorem

x = sp.Symbol("x", real=True)
STATEMENT = Statement((Parameter("x", "rational", "x"),), (Identity("i", (x + 1) ** 2, x**2 + 2 * x + 1),))
one = Theorem("listed.one", "a title", Source("1", "derived here"), STATEMENT, {"x": 1})
"""


class Listed:
    """A package with a theorem and its certificate; `asked` lists the certificates that a listing re-checks."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.asked = folder / "listed_package", []
        self.folder.mkdir()
        (self.folder / "__init__.py").touch()
        (self.folder / "mine.py").write_text(MINE)
        entry = metadata.EntryPoint("listed.one", "listed_package.mine:one", "lemmascope.theorems")
        monkeypatch.setattr(registry, "_listed", lambda kind: [("listed_package", entry)])
        monkeypatch.setattr(evidence, "shipped_path", SHIPPED)
        monkeypatch.syspath_prepend(folder)
        self.forget()
        self.certificate = SHIPPED("listed.one")
        self.certificate.parent.mkdir()
        theorem = verify.load_theorem("listed.one")
        write_certificate(theorem, verify.check(theorem, **theorem.example), self.certificate)
        real = evidence.accepted_file
        monkeypatch.setattr(evidence, "accepted_file", lambda path: self.asked.append(path) or real(path))

    @staticmethod
    def forget():
        """Forget the package's modules and certificates that the process has loaded and accepted."""
        for name in [name for name in sys.modules if name.split(".")[0] in ("listed_package", "elsewhere")]:
            del sys.modules[name]
        evidence._rechecked.cache_clear()

    def rows(self, *, keep=True):
        """List the theorems as a new process would."""
        self.forget()
        return list_rows(keep=keep)


@pytest.fixture
def package(tmp_path, monkeypatch, memory):
    yield (listed := Listed(tmp_path, monkeypatch))
    listed.forget()


def test_a_second_list_re_checks_nothing_and_loads_nothing(package):
    first = package.rows()
    assert (first[0]["proved"], len(package.asked)) == (True, 1)
    assert package.rows() == first and len(package.asked) == 1
    assert "listed_package.mine" not in sys.modules
    assert package.rows(keep=False) == first and len(package.asked) == 1


def test_in_another_folder_it_is_listed_from_memory(package, tmp_path, monkeypatch):
    first = package.rows()
    (tmp_path / "another").mkdir()
    monkeypatch.chdir(tmp_path / "another")
    assert package.rows() == first and len(package.asked) == 1


def test_a_path_that_is_no_text_is_listed_too(package, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, "/tmp/a\udcff"])
    assert package.rows()[0]["proved"]


def test_however_the_program_is_begun(package, monkeypatch):
    for begun, asked in (("one", 1), ("another", 1)):
        monkeypatch.syspath_prepend(begun)
        package.rows()
        assert len(package.asked) == asked
        monkeypatch.setattr(sys, "path", sys.path[1:])
    monkeypatch.setattr(sys, "path", [*sys.path, "elsewhere"])
    package.rows()
    assert remembered.USER.knows(kept_as())


def test_a_part_is_listed_from_the_whole(package):
    first = package.rows()
    assert list_rows("listed") == first and len(package.asked) == 1
    with pytest.raises(InputError, match="has no theorems here; known: listed"):
        list_rows("other")


def test_a_list_in_python_is_not_kept(package):
    package.rows(keep=False)
    package.rows(keep=False)
    assert len(package.asked) == 2 and not remembered.USER.knows(kept_as())


def test_rows_of_a_module_edited_after_loading_are_not_kept(package):
    package.forget()
    verify.load_theorem("listed.one")
    (package.folder / "mine.py").write_text(MINE.replace("a title", "new"))
    assert [row["title"] for row in list_rows(keep=True)] == ["a title"] and not remembered.USER.knows(kept_as())
    assert [row["title"] for row in package.rows()] == ["new"] and remembered.USER.knows(kept_as())
    with pytest.raises(TypeError, match="keep"):
        verify.list_theorems(keep=True)


def test_another_certificate_is_looked_at(package):
    assert package.rows()[0]["proved"]
    package.certificate.write_text(package.certificate.read_text().replace('"scope":"all"', '"scope":"alt"'))
    assert not package.rows()[0]["proved"] and len(package.asked) == 2
    package.certificate.unlink()
    assert not package.rows()[0]["proved"]


def test_an_edited_module_is_looked_at(package):
    assert package.rows()[0]["proved"]
    (package.folder / "mine.py").write_text(
        MINE.replace("x + 1) ** 2", "1 + x + x - x) ** 2").replace("a title", "new")
    )
    assert [row["title"] for row in package.rows()] == ["new"] and len(package.asked) == 2


def test_an_edited_module_elsewhere_is_looked_at(package, tmp_path):
    other = tmp_path / "elsewhere.py"
    other.write_text("TITLE = 'before'\n")
    (package.folder / "mine.py").write_text("from elsewhere import TITLE\n" + MINE.replace('"a title"', "TITLE"))
    assert [row["title"] for row in package.rows()] == ["before"]
    other.write_text("TITLE = 'thereafter'\n")
    assert [row["title"] for row in package.rows()] == ["thereafter"]
    other.unlink()
    with pytest.raises(InputError, match="cannot be loaded"):
        package.rows()


def test_damaged_memory_is_none(package, memory):
    first = package.rows()
    (memory / "remembered" / f"{kept_as()}.json").write_text("[]")
    assert package.rows() == first and len(package.asked) == 2
    assert package.rows() == first and len(package.asked) == 2


def test_the_progress_is_told():
    heard = []
    list_rows(tell=lambda done, total: heard.append((done, total)))
    assert heard == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
