"""The distributions are complete, and work outside the checkout, on other systems, and without heavy packages."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import verify
from verify.installed import EXTRAS

ROOT = Path(verify.__file__).parents[1]
PACKAGES = ("verify", "theorems", "numerics", "paper_checks")
SOURCES = {*PACKAGES, "tests", "docs"}
TOP = {"BENCHMARKS.md", "FINDINGS.md", "LICENSE", "MANIFEST.in", "Makefile", "README.md", "constraints.txt"}
TOP |= {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "pyproject.toml"}
MADE = {"__pycache__", "build", "dist", "gallery", "generated"}
"""Folders that commands create in a checkout; `gallery` and `generated` belong to the site."""
POSIX_ALONE = {
    *("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"),
    *("os.fork", "os.forkpty", "os.getuid", "os.geteuid", "os.kill", "os.killpg", "os.setsid", "os.uname", "os.rename"),
    *("os.sched_getaffinity", "signal.SIGALRM", "signal.SIGKILL", "signal.SIGHUP", "signal.setitimer"),
    "signal.ITIMER_REAL",
}
"""Modules and names that Windows lacks, and two that act differently there: `os.rename` does not replace a file, and
`os.kill` ends the process."""
ASKED_FOR = {"verify/cores.py": {"os.sched_getaffinity"}, "verify/remembered.py": {"os.getuid"}}
ASKED_FOR["verify/budget.py"] = {"signal.SIGALRM", "signal.setitimer", "signal.ITIMER_REAL"}
"""Names that a file uses only if the system has them, as a test below confirms."""
WINDOWS = """
import os, signal, sys
systems = ((os, ["fork", "sched_getaffinity", "killpg", "getuid"]), (signal, ["SIGALRM", "setitimer", "SIGKILL"]))
for module, names in systems:
    for name in names:
        delattr(module, name)
sys.modules.update(dict.fromkeys(["fcntl", "resource", "termios", "pwd", "grp"]))
"""
"""Code that removes the functions that Windows lacks, and that runs before the package is imported."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the folder with a source distribution and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("built")
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns(".*", *MADE))
    for name in TOP:
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        yield archive


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    wheel.extractall(folder)
    return folder


@pytest.fixture
def outside(site, tmp_path):
    """Return a function that runs code in an empty folder with only the wheel; its result has the code and output."""

    def run(code):
        there = {"PYTHONPATH": str(site), "PYTHONUTF8": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", f"{code}\nimport verify, theorems\nassert {str(site)!r} in verify.__file__"]
        done = subprocess.run(
            command, env=os.environ | there, cwd=tmp_path, capture_output=True, timeout=300, check=False
        )
        return done.returncode, *(stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))

    return run


def calls(*commands, before=""):
    """Return code that runs `before`, then runs commands and prints the exit code of each."""
    lines = [f"{before}\nfrom verify.reports.command_line import run\nimport sys"]
    lines += [f"print('exit code', run({command.split()!r}), flush=True)" for command in commands]
    return "\n".join(lines)


def hidden(*packages):
    """Return code that makes packages impossible to import."""
    return f"""
import sys


class Refuses:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name}}", name=name)


sys.meta_path.insert(0, Refuses())
"""


def files_of(root, *tops):
    found = (path for top in tops for path in (root / top).rglob("*") if path.is_file())
    return {
        path.relative_to(root).as_posix()
        for path in found
        if not MADE & set(path.parts) and not path.name.startswith(".")
    }


def test_the_wheel_has_all_that_the_packages_have_and_no_more(wheel):
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == files_of(ROOT, *PACKAGES)
    kinds = ("verify/py.typed", "verify/__init__.pyi", "theorems/statement_digests.json", "paper_checks/conftest.py")
    assert set(kinds) <= names
    for folder in ("certificates", "necessity"):
        assert len([name for name in names if name.startswith(f"theorems/{folder}/")]) >= 20
    assert "theorems/preconditioned_descent/label_attention.forms.json" in names


def test_the_source_distribution_has_the_tests_and_what_they_need(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert files_of(ROOT, *SOURCES) | TOP <= names
    assert not [name for name in names if re.search(r"\.py[co]$|\.nb[ci]$|\.venv|\.lemmascope", name)]


def test_the_metadata(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = message_from_bytes(wheel.read(name))
    assert (metadata["Name"], metadata["Author"], metadata["License-Expression"]) == (
        "lemmascope",
        "lemmascope developers",
        "Apache-2.0",
    )
    assert metadata["Requires-Python"] == ">=3.11" and metadata.get_all("Project-URL") is None
    classifiers = metadata.get_all("Classifier")
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)} <= set(classifiers)
    assert "Typing :: Typed" in classifiers and "transformers" in metadata["Keywords"].split(",")
    entries = wheel.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert "verify = verify.reports.command_line:main" in entries and "library = theorems\n" in entries


def test_the_pins_keep_the_ranges():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    names = {re.split(r"[\[>]", each)[0].casefold() for each in asked} - {"lemmascope"}
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0].casefold() for line in lines if "==" in line}
    assert names <= pinned


BROUGHT = {extra: f"python -m pip install {' '.join(packages)}" for extra, packages in EXTRAS.items()}
"""The command that installs each extra without a checkout."""
LIGHT = tuple(sorted({*(package for brought in EXTRAS.values() for package in brought), "_pytest", "xdist", "IPython"}))
CHECKED = "check wang2024.fcn_width T=200 q=3 d=5 m=500 eps=1/10"


def test_without_what_is_heavy_theorems_are_checked_from_outside(outside):
    certificates = "theorems/certificates"
    code, out, err = outside(
        calls(
            "list --paper li2024",
            "conditions wang2024.theorem1 T=200 q=3 d=5 eta=1",
            CHECKED,
            "check ahn2023.theorem1 n=3 eigenvalues=1,1/4 --certificate one.json",
            "recheck one.json",
            "explore wang2024.lemma1 --max-examples 5",
            "prove wang2024.lemma1 --seconds 2",
            "derive wang2024.lemma1",
            "necessity wang2024.stationary_points T=9 q=2 d=1 --seconds 1",
            "sweep wang2024.lemma1 --over T=4:5:2 q=2",
            "new mine.py",
            "completion bash",
            before=hidden(*LIGHT),
        )
        + "\nfrom pathlib import Path\nimport theorems\n"
        + f"print('exit code', run(['recheck', str(Path(theorems.__file__).parents[1] / '{certificates}'"
        + " / 'wang2024.theorem1.json')]))"
    )
    assert code == 0 and "Error" not in err, err
    assert re.findall(r"^exit code (\d+)", out, re.MULTILINE) == list("0400000000000")
    assert "width_lower_bound = 879" in out and out.count(": accepted: ") == 2


@pytest.mark.audit
def test_the_list_is_the_same_from_outside(outside, cli_rows):
    code, out, err = outside(calls("list --json", before=hidden(*LIGHT)))
    assert code == 0, err
    assert json.loads(out.splitlines()[0])["theorems"] == cli_rows


@pytest.fixture
def cli_rows():
    return json.loads(json.dumps(verify.list_theorems()))


LACKING = {
    "simulate ahn2023.figure1": f"experiment = ahn2023.figure1: needs torch: {BROUGHT['sim']}",
    "simulate wang2024.separation": f"device = auto: needs torch: {BROUGHT['sim']}",
    "observe wang2024.theorem1 --at 9 T=9 q=2 d=1 eta=1": f"observe = wang2024.theorem1: needs numba: {BROUGHT['sim']}",
    "sweep wang2024.lemma1 --over T=4:5:2 q=2 --jobs 2": f"--jobs = 2: needs joblib: {BROUGHT['sweep']}",
    "sweep wang2024.lemma1 --over T=4:5:2 q=2 --scheduler tcp://127.0.0.1:9": (
        f"--scheduler = tcp://127.0.0.1:9: needs joblib: {BROUGHT['sweep']}"
    ),
    "report": f"report: needs latex2mathml, matplotlib, networkx, torch: {BROUGHT['plot']} {' '.join(EXTRAS['sim'])}",
}
"""Commands that must fail with an input error, each with its message."""


def test_commands_lacking_an_extra_name_it_in_one_line(outside):
    code, out, err = outside(calls(*LACKING, before=hidden(*LIGHT)))
    assert code == 0 and out.splitlines() == ["exit code 2"] * len(LACKING)
    assert err.splitlines() == [f"verify: {line}" for line in LACKING.values()]


def test_files_that_need_more_are_left_out_and_said_to_be(outside, tmp_path):
    sweep = "sweep wang2024.lemma1 --over T=4:5:2 q=2 --out out"
    code, out, err = outside(calls(sweep, before=hidden(*LIGHT)))
    assert (code, out.splitlines()[-1]) == (0, "exit code 0")
    assert err.splitlines() == [
        f"verify: no Parquet file is written: that needs pyarrow: {BROUGHT['sweep']}",
        f"verify: no plot is drawn: that needs matplotlib: {BROUGHT['plot']}",
    ]
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".csv", ".json"}


def test_a_figure_without_matplotlib_is_an_input_error(outside):
    code, out, err = outside(
        f"{hidden(*LIGHT)}\nimport verify\n"
        "try: verify.sweep('wang2024.lemma1', {'T': '4:5:2'}, q=2).plot()\n"
        "except verify.InputError as error: print(error)"
    )
    assert (code, err) == (0, "")
    assert out == f"plot = SweepResult: cannot be drawn: that needs matplotlib: {BROUGHT['plot']}\n"


def test_a_missing_package_of_another_place_is_one_line_too(outside):
    code, out, err = outside(
        f"{hidden('torch')}\nimport typer\nfrom verify.reports.command_line import run\n"
        "typer.main.get_command = lambda app: lambda *_, **__: __import__('torch')\nprint(run(['--help']))"
    )
    assert (code, out.strip(), err.strip()) == (0, "2", f"verify: this needs torch: {BROUGHT['sim']}")


def test_every_public_name_is_there_without_the_extras(outside):
    code, _, err = outside(f"{hidden(*LIGHT)}\nimport pydoc, verify\npydoc.render_doc(verify)")
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("folder", "package", "said"),
    [
        ("tests", "beartype", "the tests need the extra dev"),
        ("paper_checks", "torch", "the papers' checks: needs torch"),
    ],
)
def test_a_folder_of_tests_says_which_extra_it_needs(folder, package, said):
    code = f"{hidden(package)}\nimport pytest\nsys.exit(pytest.main([{folder!r}, '-p', 'no:cacheprovider']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    extra = {"tests": "dev", "paper_checks": "sim"}[folder]
    assert (done.returncode, done.stdout) == (pytest.ExitCode.USAGE_ERROR, "")
    assert done.stderr.strip() == f'ERROR: {said}: python -m pip install -c constraints.txt -e ".[{extra}]"'


@pytest.mark.audit
def test_on_windows_there_is_no_alarm_and_no_fork(outside):
    code, out, err = outside(
        calls(CHECKED, "check wang2024.theorem1 T=9 q=2 d=1 eta=1/20 eps=1/200 --seconds 20", before=WINDOWS)
        + "\nfrom verify.cores import cores\nassert cores() >= 1"
    )
    assert code == 0 and err == "", err
    assert re.findall(r"exit code (\d)", out) == ["0", "0"]


@pytest.mark.audit
def test_text_that_the_encoding_lacks_is_shown_by_its_code(outside):
    given = "['verify', 'show', 'wang2024.dimension_lower_bound']"
    before = f"import sys\nsys.stdout.reconfigure(encoding='cp1252')\nsys.argv = {given}"
    code, out, err = outside(f"{before}\nfrom verify.reports.command_line import main\nmain()")
    # The encoding cp1252, which Windows may use, lacks the sign ≥.
    assert (code, err) == (0, "") and r"q \u2265 3: the loss on the set from below" in out


@pytest.mark.audit
def test_the_papers_checks_run_as_installed(outside):
    names = ("-p", "no:cacheprovider", "-p", "no:xdist", "-W", "error", "--pyargs", "paper_checks")
    code, out, err = outside(
        f"import sys, pytest\ncode = pytest.main([*{names!r}, '-q', '-k', 'weight_shift and not trainings'])\n"
        "if code: sys.exit(int(code))"
    )
    assert code == 0 and re.search(r"\d+ passed", out), out + err


def not_portable(path):
    """Yield the names in POSIX_ALONE that a file uses, and its calls that read or write text system-dependently.

    Such calls lack `encoding` or, for `write_text`, `newline`.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [str(node.module)]
            yield from POSIX_ALONE & set(names)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in POSIX_ALONE:
            yield ast.unparse(node)
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            words = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            text = called in ("read_text", "write_text") or (
                called in ("open", "fdopen", "NamedTemporaryFile")
                and not any(re.fullmatch(r"[rwax]\+?b\+?|[rwax]b", word) for word in words)
            )
            given = {keyword.arg for keyword in node.keywords}
            if text and not given & {"encoding", None}:
                yield f"{called} without an encoding"
            # Windows would end lines differently, so a committed file would change.
            elif called == "write_text" and not given & {"newline", None}:
                yield "write_text without a newline"


@pytest.mark.parametrize("top", PACKAGES)
def test_nothing_is_of_one_system_alone(top):
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in (ROOT / top).rglob("*.py")
        for name in not_portable(path)
        if name not in ASKED_FOR.get(path.relative_to(ROOT).as_posix(), ())
    }
    assert found == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import fcntl", ["fcntl"]),
        ("from resource import getrusage", ["resource"]),
        ("import os\nos.fork()", ["os.fork"]),
        ("path.read_text()", ["read_text without an encoding"]),
        ("path.open('w', newline='')", ["open without an encoding"]),
        ("open(path)", ["open without an encoding"]),
        ("path.write_text(x, encoding='utf-8')", ["write_text without a newline"]),
        ("path.open('rb')\npath.write_text(x, encoding='utf-8', newline='\\n')\nos.replace(a, b)", []),
    ],
)
def test_code_that_is_not_portable_is_found(tmp_path, source, found):
    path = tmp_path / "planted.py"
    path.write_text(source, encoding="utf-8")
    assert list(not_portable(path)) == found
