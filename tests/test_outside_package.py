"""The entries of another installed package appear wherever ours do, without a change to any file of ours."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import NamedTuple

import pytest

import verify

SOURCE = Path(__file__).parent / "outside_package"
TRUSTED = "textbook.facts/1"
_KEPT = {".py", ".pyi", ".json", ".md", ".toml", ".css"}
_LEFT_BY_RUNS = {"__pycache__", "generated", "gallery"}
UNPINNED = """
import verify
try:
    verify.ids("theorem")
except verify.InputError as error:
    print(error)
"""
REPORT = """
from verify.checking.registry import ids
from verify.reports.page import contents, document
contents.ids = lambda kind: [name for name in ids(kind) if name.startswith("hardy.")]
print(document.document(contents.gathered()))
"""


class Installed(NamedTuple):
    """The folder of the package, a Python with this package and ours installed, and our files before and after."""

    folder: Path
    python: Path
    ours: tuple[dict[str, bytes], dict[str, bytes]] = ({}, {})

    def run(self, *arguments, code=0):
        """Return the output of a Python command that runs in the package's folder."""
        command = [self.python, *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def verify(self, *arguments, code=0):
        """Return the output of `verify`."""
        return self.run("-m", "verify", *arguments, code=code)

    def json(self, *arguments, code=0):
        """Return the object that `verify … --json` prints."""
        return json.loads(self.verify(*arguments, "--json", code=code))


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    shutil.copytree(SOURCE, folder / "package", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    (site,) = (folder / "venv").rglob("site-packages")
    (site / "ours.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    command = [*pip, "--no-build-isolation", "--editable", str(folder / "package")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    installed, ours = Installed(folder / "package", python), files_of_ours()
    assert "has no catalogue.json; `verify pin textbook` writes it" in installed.run("-c", UNPINNED)
    installed.verify("pin", "textbook", "--seconds", "20")
    return installed._replace(ours=(ours, files_of_ours()))


def files_of_ours():
    """Return the contents of our files by path, except files that runs create."""
    root = Path(__file__).parents[1]
    folders = [root / name for name in ("verify", "theorems", "numerics", "paper_checks", "tests", "docs")]
    files = [*root.glob("*.*"), *(path for folder in folders for path in folder.rglob("*.*"))]
    kept = [path for path in files if path.suffix in _KEPT and not _LEFT_BY_RUNS.intersection(path.parts)]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in kept}


def test_its_catalogue_is_written_from_its_objects(outside):
    # The catalogue's ids are compared with the ids in the package's source files.
    written = json.loads((outside.folder / "textbook" / "catalogue.json").read_text())
    sources = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    assert set(re.findall(r'"(hardy\.\w+)",\n', sources)) == {
        name for kind in written if kind != "packages" for name in written[kind]
    }
    assert written["packages"] == ["textbook"] and written["findings"] == {
        "hardy.bound_is_within_one": "textbook.simulation:bound_is_within_one"
    }


def test_its_theorems_are_listed_with_what_is_trusted(outside):
    rows = {row["id"]: row for row in outside.json("list", "--paper", "hardy")["theorems"]}
    assert set(rows) == {"hardy.harmonic", "hardy.neighbours"}
    for row in rows.values():
        assert row["best_instance_evidence"] == "certified" and [each["name"] for each in row["trusts"]] == [
            TRUSTED[:-2]
        ]
    assert rows["hardy.harmonic"]["for_all_parameters"] == "argued"
    assert rows["hardy.neighbours"]["for_all_parameters"] == "open"
    beside = json.loads(outside.run("-c", "import json, verify; print(json.dumps(verify.ids('theorem')))"))
    assert set(beside) == {*rows, *verify.ids("theorem")}


def test_a_primitive_is_certified_by_its_second_computation(outside):
    # H_4 is 25/12.
    body = outside.json("check", "hardy.harmonic", "n=4")
    (clause,) = body["clauses"]
    assert (body["outcome"], body["evidence"], clause["rechecked"]) == ("verified", "certified", True)
    assert body["values"]["sum"] == "25/12" and body["values_rechecked"] == {"sum": True, "gap": True}
    (trust,) = clause["trusts"]
    assert (trust["name"], trust["version"], trust["package"]) == ("textbook.facts", 1, "textbook")
    assert body["value_trusts"] == {"sum": [trust], "gap": [trust]}
    shown = outside.verify("check", "hardy.harmonic", "n=4")
    assert f"verified (certified, trusting {TRUSTED})  at_most" in shown and f"trusting {TRUSTED}: sum, gap" in shown


@pytest.mark.parametrize(("n", "outcome", "code"), [("12", "verified", 0), ("7", "refuted", 1)])
def test_a_kind_of_clause_is_decided_by_its_kind_of_proof(outside, tmp_path, n, outcome, code):
    (outside.folder / "odd.py").write_text(
        "from textbook.divides import Divides, n\n"
        "from verify import Parameter, Source, Statement, Theorem\n"
        "statement = Statement((Parameter('n', 'integer', 'n', minimum=1),), (Divides('four', 4, n),))\n"
        "four = Theorem('user.four', 'a title', Source('1', 'derived here'), statement, {'n': 4})\n"
    )
    file = tmp_path / "four.json"
    body = outside.json("check", "odd.py:four", f"n={n}", "--certificate", str(file), code=code)
    (clause,) = body["clauses"]
    assert (clause["evidence"], [each["name"] for each in clause["trusts"]]) == ("certified", ["textbook.facts"])
    (found,) = outside.json("recheck", str(file))["files"]
    assert (found["status"], found["clauses"][0]["kind"], found["clauses"][0]["outcome"]) == (
        "accepted",
        "division",
        outcome,
    )
    wrong = json.loads(file.read_text())
    wrong["clauses"][0]["proof"]["quotient"] = "5"
    file.write_text(json.dumps(wrong))
    (found,) = outside.json("recheck", str(file), code=1)["files"]
    assert found["status"] == "rejected" and "is no division of the dividend" in found["reason"]


def test_pinned_certificates_are_accepted_with_the_package_alone(outside):
    files = sorted(outside.folder.glob("textbook/certificates/*.json"))
    assert [file.stem for file in files] == ["hardy.harmonic", "hardy.neighbours"]
    shown = outside.verify("recheck", *map(str, files))
    assert shown.count(f"trusting {TRUSTED}") == 2 and "no package here" not in shown
    assert all(
        row["status"] == "unknown" for row in outside.json("recheck", "--core", *map(str, files), code=1)["files"]
    )
    # Without the installed package no certificate is accepted.
    command = [sys.executable, "-m", "verify", "recheck", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and (done.stdout + done.stderr).count("textbook.facts is not installed") == 2


def test_a_wrong_second_computation_is_caught(outside):
    """Change the second computation: old certificates no longer match its digest, and wrong values are not accepted."""
    path = outside.folder / "textbook" / "rechecked" / "harmonic.py"
    certificate = str(outside.folder / "textbook" / "certificates" / "hardy.harmonic.json")
    right = path.read_text()
    try:
        path.write_text(right.replace("Fraction(1, first)", "Fraction(2, first)"))
        (found,) = outside.json("recheck", certificate, code=1)["files"]
        assert found["status"] == "unknown" and "digest" in found["reason"]
        body = outside.json("check", "hardy.harmonic", "n=4", code=3)
        assert (body["outcome"], body["evidence"], body["trusts"]) == ("inconclusive", None, [])
        assert "the re-checker does not accept what was found" in body["detail"]
        path.write_text(right + "import numpy\n")
        body = outside.json("check", "hardy.harmonic", "n=4")
        assert body["evidence"] == "computed" and "imports numpy" in body["clauses"][0]["unchecked"]
    finally:
        path.write_text(right)


def test_certificates_follow_the_code_behind_the_door(outside):
    path = outside.folder / "textbook" / "rechecked" / "harmonic.py"
    certificate = outside.folder / "textbook" / "certificates" / "hardy.harmonic.json"
    right, before = path.read_text(), json.loads(certificate.read_text())
    try:
        path.write_text(right + "# Another text.\n")
        written = outside.verify("pin", "textbook", "--migrate")
        assert written.count("a different version of textbook.facts/1 is installed") == 2
        after = json.loads(certificate.read_text())
        assert after["trusts"][0]["digest"] != before["trusts"][0]["digest"]
        assert {**after, "trusts": []} == {**before, "trusts": []}
        assert outside.json("recheck", str(certificate))["files"][0]["status"] == "accepted"
    finally:
        path.write_text(right)
        outside.verify("pin", "textbook", "--migrate")
    assert json.loads(certificate.read_text()) == before


def test_its_rule_carries_an_inference(outside):
    body = outside.json("prove", "hardy.harmonic", "--seconds", "5")
    assert body["for_all_parameters"] == "argued"
    assert [(each["rule"], each["reference"]) for each in body["argument"]] == [
        ("sum below an integral", "Hardy and Wright 1979, section 22.5")
    ]


def test_its_experiment_comparison_and_finding_are_run(outside):
    # H_10 is 7381/2520.
    body = outside.json("simulate", "hardy.sum_in_floats", "--device", "cpu")
    assert body["measurements"]["sum"]["value"] == pytest.approx(7381 / 2520)
    code = "import verify; print(verify.load_comparison('hardy.exact_and_float_sums_agree').run(device='cpu').outcome)"
    assert outside.run("-c", code) == "verified\n"
    assert outside.run("-c", "import verify; print(verify.reproduce('hardy.bound_is_within_one').holds)") == "True\n"
    assert (outside.folder / "FINDINGS.md").read_text().count("hardy.bound_is_within_one") == 1


def test_the_report_shows_what_it_brings(outside):
    page = outside.run("-c", REPORT)
    for shown in ("hardy.harmonic", "hardy.neighbours", "hardy.bound_is_within_one", f"certified, trusting {TRUSTED}"):
        assert shown in page
    assert "0 of 2 clauses re-checked at the examples, and 0 of 2 certificates as a whole, pass" in page


def test_the_commands_for_continuous_integration_pass(outside):
    page = (Path(__file__).parents[1] / "docs" / "howto" / "packages.md").read_text()
    (block,) = re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S)
    test = "import verify\n\n\ndef test_it():\n    assert verify.load_theorem('hardy.harmonic').example\n"
    (outside.folder / "test_it.py").write_text(test)
    written = {path: path.read_bytes() for path in outside.folder.rglob("*.json")}
    for line in block.splitlines():
        program, *words = line.split()
        if program in ("verify", "pytest"):
            outside.run("-m", program, *words)
        else:
            # The package is already installed in this way, and files are compared here instead of by `git diff`.
            assert line in ("pip install --editable .", "git diff --exit-code")
            assert {path: path.read_bytes() for path in outside.folder.rglob("*.json")} == written


def test_nothing_of_ours_is_written(outside):
    before, after = outside.ours
    assert before == after
    assert {"theorems/statement_digests.json", "theorems/catalogue.json", "FINDINGS.md", "README.md"} <= before.keys()


def test_the_page_that_explains_it_shows_its_own_text():
    page = (Path(__file__).parents[1] / "docs" / "howto" / "packages.md").read_text()
    blocks = re.findall(r"^```(?:toml|py)\n(.*?)^```$", page, re.M | re.S)
    files = [path.read_text() for suffix in ("toml", "py") for path in SOURCE.rglob(f"*.{suffix}")]
    assert len(blocks) == 6 and all(any(block in file for file in files) for block in blocks)
