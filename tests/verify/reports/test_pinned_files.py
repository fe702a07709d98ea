"""The files that a package ships are rewritten if they no longer fit, and otherwise left as they are."""

import importlib
import json
import sys
from dataclasses import replace

import pytest
import sympy as sp

import verify
from tests.layout import walk
from tests.verify.command_line import assert_one_line, body_of
from tests.verify.examples import evaluations
from verify import Hypothesis, Inequality, Inference, InputError, InWords
from verify.checking.check import check
from verify.checking.registry import CATALOGUE
from verify.checking.standing import standing
from verify.outcomes import Trust
from verify.reports.catalogue import catalogue_text
from verify.reports.necessity_map import shipped
from verify.search.necessity import necessity

THEOREMS = """
import sympy as sp

from verify import Finding, Hypothesis, Inequality, Paper, Parameter, Premise, Source, Statement, Theorem, Weight

x = sp.Symbol("x", positive=True)
X = Parameter("x", "rational", "a number", above=0)
PAPER = Paper("zeta2025", "Z, Title, 2025", "2501.00001")


def made(name, bound, **more):
    clause, small = Inequality("c", sp.Le(x**2, bound)), Hypothesis("small", sp.Le(x, 2))
    statement = Statement((X,), (clause,), (small,))
    return Theorem(f"zeta2025.{name}", "a title", Source("1", "printed", PAPER), statement, {"x": 1}, **more)


first = made("first", 4)
second = made("second", 9, proof_uses=("zeta2025.first",))
found = Finding(
    "zeta2025.finding", PAPER, "A title", Weight.STRONGER, "A sentence.", "A text.", "verify check zeta2025.first x=1",
    {"outcome": "verified"},
    (Premise("Definition 1", "printed"),),
)
"""


def forget():
    for name in [name for name in sys.modules if name.startswith("zeta_of_a_test")]:
        del sys.modules[name]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A project with a package of two theorems and a finding; its modules are unloaded after the test."""
    folder, info = tmp_path / "zeta_of_a_test", tmp_path / "zeta-1.dist-info"
    folder.mkdir()
    info.mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zeta\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[lemmascope.catalogue]\nzeta = zeta_of_a_test\n")
    for name, text in (("__init__", ""), ("theorems", THEOREMS)):
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    importlib.invalidate_caches()
    (folder / CATALOGUE).write_text(catalogue_text(folder.name))
    forget()
    yield folder
    forget()


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.parent.rglob("*.json")}


def pin(cli, *arguments):
    """Pin, and return the exit code, the files written as (kind, subject), and the failures."""
    code, out, _ = cli("pin", "--seconds", "3", "--json", *arguments)
    rows = body_of(out)["pinned"]
    named = lambda failed: [(row["what"], row["id"]) for row in rows if bool(row["failed"]) is failed]  # noqa: E731
    return code, named(False), named(True)


X = sp.Symbol("x", positive=True)
FIRST, SECOND = "zeta2025.first", "zeta2025.second"
IN_CATALOGUE = ("catalogue", "zeta_of_a_test")
ALL = [
    *(("digest", FIRST), ("digest", SECOND)),
    *(("certificate", FIRST), ("certificate", SECOND)),
    *(("map", FIRST), ("map", SECOND)),
    *[("findings", "zeta_of_a_test")] * 4,
]


def test_everything_is_written_once(package, cli):
    catalogue = (package / CATALOGUE).read_text()
    (package / CATALOGUE).unlink()
    assert pin(cli) == (0, [IN_CATALOGUE, *ALL], []) and (package / CATALOGUE).read_text() == catalogue
    assert json.loads((package / "statement_digests.json").read_text()) == {
        name: verify.load_theorem(name).statement.digest for name in (FIRST, SECOND)
    }
    assert [standing(verify.load_theorem(name)).why for name in (FIRST, SECOND)] == ["", ""]
    assert shipped(verify.load_theorem(FIRST)).counts() == "1 needed (small)"
    assert "(docs/findings/zeta2025.md#" in (package.parent / "FINDINGS.md").read_text()
    assert "# Findings: zeta2025" in (package.parent / "docs" / "findings" / "zeta2025.md").read_text()
    before = contents(package)
    assert pin(cli, "zeta_of_a_test") == (0, [], []) and contents(package) == before
    assert cli("pin") == (0, "up to date\n", "")


def test_files_of_a_changed_theorem_alone_are_written(package, cli, monkeypatch):
    pin(cli)
    before, theorem = contents(package), verify.load_theorem(SECOND)
    weaker = replace(theorem.statement, claims=(Inequality("c", sp.Le(sp.Symbol("x", positive=True) ** 2, 16)),))
    monkeypatch.setattr("zeta_of_a_test.theorems.second", replace(theorem, statement=weaker))
    assert pin(cli) == (0, [("digest", SECOND), ("certificate", SECOND), ("map", SECOND), ALL[-1]], [])
    after = contents(package)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert {name for name in changed if SECOND not in name} == {"statement_digests.json"}
    # Another example changes only the certificate.
    monkeypatch.setattr("zeta_of_a_test.theorems.second", replace(theorem, statement=weaker, example={"x": 2}))
    code, out, _ = cli("pin")
    assert (code, out.count("\n")) == (0, 1) and "it is of another instance than the example" in out


def everything(folder):
    written = (path for path in folder.rglob("*") if path.suffix in (".json", ".md", ".py"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in written}


def test_a_new_theorem_is_its_file_and_what_its_walk_lists(package, cli):
    pin(cli)
    before = everything(package.parent)
    (package / "third.py").write_text('from zeta_of_a_test.theorems import made\n\nthird = made("third", 16)\n')
    forget()
    assert pin(cli)[0] == 0
    changed = {name for name, content in everything(package.parent).items() if before.get(name) != content}
    own, _, *pinned = walk("A new theorem")
    listed = " ".join([own, *pinned]).replace("PACKAGE", package.name).replace("AREA/RESULT", "third")
    assert changed == {*listed.replace("ID", "zeta2025.third").replace("LABEL", "small").split()}


def test_files_that_use_a_changed_statement_are_written_anew(package, cli, monkeypatch):
    pin(cli)
    theorem = verify.load_theorem(FIRST)
    weaker = replace(theorem.statement, claims=(Inequality("c", sp.Le(X**2, 5)),))
    monkeypatch.setattr("zeta_of_a_test.theorems.first", replace(theorem, statement=weaker))
    code, written, _ = pin(cli)
    assert code == 0 and {("map", FIRST), ("map", SECOND)} <= set(written)
    certificate = json.loads((package / "necessity" / f"{SECOND}.small.certificate.json").read_text())
    assert certificate["uses"] == [[FIRST, weaker.digest]]


def test_a_certificate_that_is_no_longer_accepted_is_written_anew(package, cli):
    pin(cli)
    path = package / "certificates" / f"{FIRST}.json"
    right = path.read_bytes()
    path.write_bytes(right.replace(b'"verified"', b'"refuted"'))
    # The second theorem's proof uses the first theorem, but its certificate still fits.
    assert pin(cli) == (0, [("certificate", FIRST)], []) and path.read_bytes() == right


def test_a_certificate_of_the_version_before_is_rewritten_with_its_proofs(package, cli):
    pin(cli)
    path = package / "certificates" / f"{FIRST}.json"
    right = path.read_bytes()
    data = json.loads(right)
    before = {part: value for part, value in data.items() if part != "trusts"} | {"version": 2}
    path.write_text(json.dumps(before))
    code, out, _ = cli("pin", "--migrate")
    assert (code, json.loads(path.read_bytes())) == (0, data)
    assert out.startswith(f"wrote the certificate of {FIRST}: {path} (before: version 2; the statement ")
    assert out.endswith(f"{data['statement_digest'][:12]} and its 1 proof stay as they are)\n")
    assert cli("pin", "--migrate") == (0, "up to date\n", "")
    # A proof that does not hold is not rewritten.
    before["clauses"][0]["outcome"] = "refuted"
    path.write_text(json.dumps(before))
    code, out, err = cli("pin", "--migrate")
    assert (code, out) == (3, "") and err.startswith(f"not written: certificate of {FIRST}: ")
    assert json.loads(path.read_bytes()) == before


def test_a_theorem_that_is_gone_is_no_longer_pinned_and_its_files_are_left(package, cli, monkeypatch):
    pin(cli)
    before = contents(package)
    monkeypatch.delattr("zeta_of_a_test.theorems.second")
    code, written, _ = pin(cli)
    assert code == 0 and written == [IN_CATALOGUE, ("digest", SECOND), *ALL[-2:]]
    assert contents(package).keys() == before.keys()


def test_an_uncertified_example_is_reported_and_other_files_are_written(package, cli, monkeypatch, no_deduction):
    theorem = verify.load_theorem(FIRST)
    free, x = sp.Symbol("y", real=True), sp.Symbol("x", positive=True)
    open_ = replace(theorem.statement, variables=(free,), claims=(Inequality("c", sp.Ge(free**4 - free + 1 + x, 0)),))
    monkeypatch.setattr("zeta_of_a_test.theorems.first", replace(theorem, statement=open_))
    code, written, failed = pin(cli)
    assert (code, failed) == (3, [("certificate", FIRST)])
    assert written == [row for row in ALL if row != ("certificate", FIRST)]
    code, out, err = cli("pin")
    assert (code, out) == (3, "") and err.count("\n") == 1
    assert f"not written: certificate of {FIRST}: the example is inconclusive" in err
    assert "(before: no certificate is shipped)" in err
    # The second theorem's certificate fits; its standing for all parameters rests on a certificate that is missing.
    assert verify.list_theorems("zeta2025")[1]["for_all_parameters"] == "open"


def test_a_claim_in_words_is_pinned_where_it_is_evaluated_and_its_wrong_variant_falls(package, cli, monkeypatch):
    theorem, said = verify.load_theorem(FIRST), InWords("w", "it is well")
    statement = replace(theorem.statement, claims=(*theorem.statement.claims, said))
    inference = Inference("w", "it follows", ("c",), "application")
    known = evaluations("w")["w"]

    def pinned(**changes):
        made = replace(theorem, statement=statement, argument=(inference,), **changes)
        monkeypatch.setattr("zeta_of_a_test.theorems.first", made)
        return pin(cli)[2], cli("pin")[2]

    failed, line = pinned()
    assert failed == [("certificate", FIRST)]
    assert "nothing evaluates the claim in words w: give the theorem an Evaluation of it" in line
    failed, line = pinned(evaluations={"w": replace(known, wrong_trials=known.trials)})
    assert failed == [("certificate", FIRST)] and "the wrong variant of w is verified at the example" in line
    assert pinned(evaluations={"w": replace(known, trials=known.wrong_trials)})[0] == [("certificate", FIRST)]
    assert pinned(evaluations={"w": known}) == ([], "")
    # A certificate has no evidence of a claim in words.
    assert standing(verify.load_theorem(FIRST)).for_all_parameters.standing == "argued"


def test_a_shipped_certificate_is_not_replaced_by_weaker_evidence(package, cli, monkeypatch):
    pin(cli)
    before, theorem = contents(package), verify.load_theorem(FIRST)
    # At x = 2 the bound holds too, but now no proof is found.
    monkeypatch.setattr("zeta_of_a_test.theorems.first", replace(theorem, example={"x": 2}))
    monkeypatch.setattr("verify.provers.inequalities.positive_proof", lambda *_, **__: None)
    code, written, failed = pin(cli)
    assert (code, written, failed) == (3, [], [("certificate", FIRST)]) and contents(package) == before
    assert ": the new evidence is certified, and the shipped evidence proved (before: " in cli("pin")[2]


def test_a_shipped_certificate_is_not_replaced_by_one_that_trusts_more(package, cli, monkeypatch):
    pin(cli)
    before, theorem, trust = contents(package), verify.load_theorem(FIRST), Trust("hardy.pairs", 2, "hardy", "0" * 64)

    def trusting(*arguments, **options):
        found = check(*arguments, **options)
        return replace(found, clauses=tuple(replace(clause, trusts=(trust,)) for clause in found.clauses))

    monkeypatch.setattr("zeta_of_a_test.theorems.first", replace(theorem, example={"x": 2}))
    monkeypatch.setattr("verify.reports.pinned_files.check", trusting)
    code, written, failed = pin(cli)
    assert (code, written, failed) == (3, [], [("certificate", FIRST)]) and contents(package) == before
    assert ": the new certificate trusts hardy.pairs/2, and the shipped one does not (before: " in cli("pin")[2]


def test_a_refuted_example_leaves_its_certificate(package, cli, monkeypatch):
    pin(cli)
    path, theorem = package / "certificates" / f"{FIRST}.json", verify.load_theorem(FIRST)
    before, x = path.read_bytes(), sp.Symbol("x", positive=True)
    wrong = replace(theorem.statement, claims=(Inequality("c", sp.Le(x**2, sp.Rational(1, 2))),))
    monkeypatch.setattr("zeta_of_a_test.theorems.first", replace(theorem, statement=wrong))
    code, _, failed = pin(cli)
    assert (code, failed[0]) == (3, ("certificate", FIRST)) and path.read_bytes() == before
    assert "not written: certificate of zeta2025.first: the example is refuted" in cli("pin")[2]


def _interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "what", "rows"),
    [
        ("verify.claims.inequality.Inequality.evaluate", _interrupted, 2),
        ("verify.reports.pinned_files.necessity", _interrupted, 4),
        # If some hypotheses have no status, there is no map of all hypotheses.
        (
            "verify.reports.pinned_files.necessity",
            lambda theorem, **effort: replace(necessity(theorem, **effort), interrupted=True),
            4,
        ),
    ],
)
def test_ctrl_c_ends_it_and_what_was_written_is_kept(package, cli, monkeypatch, where, what, rows):
    monkeypatch.setattr(where, what)
    code, out, err = cli("pin", "--json", "--seconds", "3")
    assert code == 130 and err == "verify: interrupted; the files written so far are kept\n"
    assert [(row["what"], row["id"]) for row in body_of(out)["pinned"]] == ALL[:rows]
    assert len(contents(package)) == 2 + max(0, rows - 2)


def test_files_of_others_are_left_alone(package, cli, tmp_path):
    (tmp_path / "FINDINGS.md").write_text("mine")
    (package / "certificates").mkdir()
    (package / "certificates" / "settings.json").write_text("{}")
    code, _, failed = pin(cli)
    assert (code, failed) == (3, [("findings", "zeta_of_a_test")])
    assert (tmp_path / "FINDINGS.md").read_text() == "mine"
    assert (package / "certificates" / "settings.json").is_file()


def test_packages_installed_beside_a_project_are_not_its_own(package, cli, tmp_path, monkeypatch):
    inner = tmp_path / "lib" / "site-packages"
    inner.mkdir(parents=True)
    package.rename(inner / package.name)
    monkeypatch.syspath_prepend(inner)
    importlib.invalidate_caches()
    assert_one_line(cli("pin"), "must be named: none with theorems is here")
    assert_one_line(cli("pin", "zeta_of_a_test"), "is not in a project")


def test_a_map_that_decides_less_is_not_written(package, cli, monkeypatch):
    theorem = verify.load_theorem(FIRST)
    bounds = (Hypothesis("small", sp.Le(X, 2)), Hypothesis("smaller", sp.Le(X, 3)))
    monkeypatch.setattr(
        "zeta_of_a_test.theorems.first", replace(theorem, statement=replace(theorem.statement, hypotheses=bounds))
    )
    pin(cli)
    before = contents(package)
    (package / "necessity" / f"{FIRST}.small.certificate.json").unlink()
    undecided = lambda theorem, **effort: replace(  # noqa: E731
        (result := necessity(theorem, **effort)),
        hypotheses=tuple(replace(need, status="undecided", certificate=None) for need in result.hypotheses),
    )
    monkeypatch.setattr("verify.reports.pinned_files.necessity", undecided)
    assert pin(cli) == (3, [], [("map", FIRST)])
    assert ": the new map decides 0 of the hypotheses, and the shipped one 1 (before: " in cli("pin")[2]
    assert contents(package).items() < before.items()


@pytest.mark.parametrize("text", ["<<<<<<< mine", "[]", "3", '{"zeta2025.first": 3}'])
def test_digests_that_cannot_be_read_are_named(package, cli, text):
    (package / "statement_digests.json").write_text(text)
    assert_one_line(cli("pin"), "statement_digests.json")
    assert (package / "statement_digests.json").read_text() == text


ROWLESS = '{"hypotheses": [{}], "seconds": 1, "seed": 0, "statement_digest": "DIGEST"}'


@pytest.mark.parametrize("text", ["no JSON", "{}", "[]", ROWLESS])
def test_a_map_that_cannot_be_read_is_written_anew(package, cli, text):
    pin(cli)
    path = package / "necessity" / f"{FIRST}.json"
    right = json.loads(path.read_text())
    path.write_text(text.replace("DIGEST", verify.load_theorem(FIRST).statement.digest))
    assert pin(cli) == (0, [("map", FIRST)], [])
    assert json.loads(path.read_text())["hypotheses"] == right["hypotheses"]


def test_files_that_cannot_be_written_are_reported(package, cli):
    (package / "certificates").write_text("a file")
    code, written, failed = pin(cli)
    assert code == 3 and failed == [("certificate", FIRST), ("certificate", SECOND)] and ("map", FIRST) in written


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("nothing",), ("package = nothing: has no theorems; known:", "zeta_of_a_test")),
        (("zeta_of_a_test", "--seconds", "0"), ("seconds = 0", "must be a number > 0")),
    ],
)
def test_invalid_arguments_are_a_one_line_error(package, cli, arguments, parts):
    assert_one_line(cli("pin", *arguments), *parts)


def test_a_package_is_one_of_a_project_and_in_the_folder(package, cli, monkeypatch, tmp_path):
    (tmp_path / "pyproject.toml").unlink()
    assert_one_line(cli("pin", "zeta_of_a_test"), "is not in a project: ")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert_one_line(cli("pin"), "must be named: none with theorems is here; known: theorems, zeta_of_a_test")
    with pytest.raises(InputError, match="must be named"):
        next(verify.pin())


def test_the_progress_is_told(package):
    heard = []
    assert len(list(verify.pin(seconds=3, tell=lambda done, total: heard.append((done, total))))) == len(ALL)
    assert heard == [(0, 4), (1, 4), (2, 4), (3, 4)]
