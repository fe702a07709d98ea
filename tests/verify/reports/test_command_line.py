"""The command line: one line for every error, the help, both ways to start it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sympy as sp
import typer

from tests.layout import ROOT
from tests.verify.command_line import SCOPE, SMALL, THEOREM, assert_one_line, body_of, small_with
from verify.installed import version
from verify.reports.command_line import run
from verify.reports.commands.frame import app

INSTANCES = {
    "T=abc": ("T = abc", "must be an integer >= 2"),
    "T=2.5": ("T = 2.5", "must be an integer >= 2"),
    "T=-3": ("T = -3", "must be an integer >= 2"),
    "T=1": ("T = 1", "must be an integer >= 2"),
    "T=": ("T", "is empty"),
    "T= ": ("T", "is empty"),
    "T=1e999999": ("T = 1e999999", "10^18"),
    # The expanded number would not fit into any memory.
    "T=1e999999999999": ("T = 1e999999999999", "10^18"),
    "T=10000000000000000000": ("T = 10000000000000000000", "10^18"),
    "T=" + "9" * 5000: ("T = 9999", "characters"),
    "q=0": ("q = 0", ">= 1"),
    "q=10": ("q = 10", "must satisfy q <= T", "T = 9"),
    "d=0": ("d = 0", ">= 1"),
    "eta=0": ("eta = 0", "> 0"),
    "eta=-1/2": ("eta = -1/2", "> 0"),
    "eta=nan": ("eta = nan", "must be a number"),
    "eta=1/0": ("eta = 1/0", "denominator is zero"),
    "eta=__import__('os')": ("eta = __import__('os')", "must be a number"),
    "eta=1,2": ("eta = 1,2", "must be a number"),
    "eta=1\n2": ("eta = 1\\n2", "must be a number"),
    "eps=inf": ("eps = inf", "must be a number"),
    "eps=1e-999999": ("eps = 1e-999999", "exponents are limited"),
    "depth=3": ("depth = 3", "is not a parameter", "T, q, d, eta, eps"),
    # Names of arguments inside the program are not parameters either.
    "self=3": ("self = 3", "is not a parameter"),
    "theorem=3": ("theorem = 3", "is not a parameter"),
    "=3": ("=3", "name=value"),
    "twelve": ("twelve", "name=value"),
}


@pytest.mark.parametrize("verb", ["check", "conditions"])
@pytest.mark.parametrize("word", INSTANCES)
def test_a_value_that_is_not_understood_is_one_line(cli, verb, word):
    assert_one_line(cli(verb, THEOREM, *small_with(word)), *INSTANCES[word])


@pytest.mark.parametrize("verb", ["check", "conditions"])
def test_a_repeated_parameter_is_one_line(cli, verb):
    assert_one_line(cli(verb, THEOREM, *SMALL, "q=2"), "q = 2", "given twice")


def test_a_missing_parameter_is_an_error_of_check_alone(cli):
    assert_one_line(cli("check", THEOREM, *SMALL[:3]), "eta, eps", "missing")
    assert_one_line(cli("check", THEOREM), "T, q, d, eta, eps", "missing")
    assert cli("conditions", THEOREM, *SMALL[:3])[0] == 3
    assert cli("conditions", THEOREM)[0] == 3


@pytest.mark.parametrize("verb", ["check", "conditions", "derive"])
def test_a_theorem_that_is_not_there_is_one_line(cli, theorem_file, verb):
    assert_one_line(cli(verb, "wang2024.theorem9"), "wang2024.theorem9", "unknown id", "wang2024.theorem1")
    assert_one_line(cli(verb, "no_such_file.py:theorem"), "no_such_file.py", "no such file")
    empty = theorem_file("x = 1\n", "empty.py", header="")
    assert_one_line(cli(verb, f"{empty}:x"), "contains no theorem")
    mine = theorem_file('mine = theorem_of(Inequality("c", sp.Lt(x, 2)))\n')
    assert_one_line(cli(verb, f"{mine}:other"), "the file has the theorems mine")


def test_a_message_names_the_file_however_long_its_path(cli, theorem_file, tmp_path):
    (tmp_path / ("deep" * 12)).mkdir()
    path = theorem_file("x = 1\n", "deep" * 12 + "/empty.py", header="")
    assert_one_line(cli("check", path), "empty.py", "contains no theorem")
    assert_one_line(cli("check", path + "x"), "empty.py")


@pytest.mark.parametrize("verb", ["check", "conditions", "derive"])
@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("x = 1\ndef f(:\n", ("line 2", "SyntaxError")),
        ("x = 1\n\nraise RuntimeError('two\\nlines')\n", ("line 3", "RuntimeError: two lines")),
        ("import no_such_module_here\n", ("line 1", "no_such_module_here")),
        ("import sys\nsys.exit()\n", ("line 2", "SystemExit")),
        ("x = 1\n\x00\n", ("null bytes",)),
    ],
)
def test_a_file_that_does_not_import_is_one_line_with_the_line(cli, theorem_file, verb, body, parts):
    path = theorem_file(body, "broken.py", header="")
    result = cli(verb, f"{path}:theorem")
    assert_one_line(result, *parts)
    # A file with a null byte has no line to name.
    assert "None" not in result[2]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["disprove", THEOREM], ("disprove",)),
        (["check"], ("THEOREM",)),
        (["check", THEOREM, "--fast"], ("--fast",)),
        (["--fast"], ("--fast",)),
        (["check", THEOREM, *SMALL, "--seconds", "0"], ("seconds = 0", "must be a number > 0")),
        (["check", THEOREM, *SMALL, "--seconds", "-1"], ("seconds = -1",)),
        (["check", THEOREM, *SMALL, "--seconds", "nan"], ("seconds = nan",)),
        (["check", THEOREM, *SMALL, "--seconds"], ("--seconds",)),
        (["check", THEOREM, *SMALL, "--seconds", "abc"], ("seconds", "abc")),
        (["check", THEOREM, *SMALL, "--seed", "x"], ("seed", "x")),
        (["check", THEOREM, *SMALL, "--digits", "1.5"], ("digits", "1.5")),
        (["check", THEOREM, *SMALL, "--digits", "0"], ("digits = 0", "from 1 to 1000")),
        (["check", THEOREM, *SMALL, "--digits", "1001"], ("digits = 1001", "from 1 to 1000")),
        (["conditions", THEOREM, "--seconds", "3"], ("--seconds",)),
        (["derive", THEOREM, "--format", "pdf"], ("--format = pdf", "one of text, json, markdown, latex")),
        (["check", THEOREM, "--format", "pdf"], ("--format = pdf", "one of table, json, markdown, latex")),
        (["derive", THEOREM, "T=3"], ("T=3",)),
        (["list", "--paper", "nope"], ("--paper = nope", "wang2024")),
        (["list", "--paper", ""], ("--paper",)),
        (["list", "wang2024"], ("write verify list --paper wang2024",)),
        (["check", THEOREM, "T=9,", "q=2"], ("T = 9,", "without a comma after it")),
        (["check", THEOREM, "T", "=", "9"], ("T: must have the form name=value, with no spaces around =",)),
        (["check", THEOREM, "T=", "9"], ("9: must have the form name=value, with no spaces around =",)),
        (["check", THEOREM, "--T", "9"], ("No such option: --T; the value of a parameter is written T=9\n",)),
        (["check", THEOREM, "--eps=1/9"], ("No such option: --eps; the value of a parameter is written eps=1/9\n",)),
        (["check", THEOREM, "--second", "5"], ("--seconds",)),
        (["prove", THEOREM, "T=9"], ("prove takes no values", "leave out T=9")),
        (["check", THEOREM, *SMALL, "--seconds", "abc"], ("--seconds = abc: must be a number\n",)),
        (["check", THEOREM, *SMALL, "--digits", "1.5"], ("--digits = 1.5: must be an integer\n",)),
        (["check", "README.md"], ("theorem = README.md: is no .py file; give an id or file.py:name\n",)),
        (["check", "x.sqlite"], ("theorem = x.sqlite: is no .py file",)),
    ],
)  # fmt: skip
def test_a_command_that_is_not_understood_is_one_line(cli, arguments, parts):
    assert_one_line(cli(*arguments), *parts)


@pytest.mark.parametrize(
    ("verb", "words", "code", "said"),
    [
        ("prove", ["--seconds", "5"], 0, "proved by deduction  claim: -x**2 <= 0"),
        ("check", ["x=1"], 0, "verified (proved)  claim: -x**2 <= 0"),
        ("check", ["x=1", "--seconds", "5"], 0, "margin 1"),
        ("explore", ["--max-examples", "9", "--seed", "3"], 0, "no counterexample found in 9 clean instances"),
        ("sweep", ["--over", "x=-1:1:3"], 0, "3 of 3 instances"),
        ("show", [], 0, "verify check '-x**2 <= 0' x=1"),
    ],
)
def test_a_statement_may_begin_with_a_minus_sign(cli, verb, words, code, said):
    for typed in (["-x**2 <= 0", *words], ["-x**2 <= 0", *words, "--json"]):
        found, out, err = cli(verb, *typed)
        assert (found, err) == (code, "")
        assert "--json" in typed or said in out


def test_a_multiplier_may_follow_a_statement_that_begins_with_a_minus_sign(cli):
    code, out, _ = cli("prove", "-x <= -1 if x >= 1", "--by", "hypothesis 1=1")
    assert code == 0 and "margin = (x - 1)" in out
    code, out, _ = cli("prove", "--by", "hypothesis 1=-x", "-x <= -1 if x >= 1")
    assert code == 3 and "the multiplier of hypothesis 1, -x, is not shown to be >= 0" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-x**2 <= 0", "--nope"], "No such option: --nope"),
        (["-x**2 <= 0", "-q"], "No such option: -q"),
        (["-x**2"], "No such option: -x"),
        (["-x**2 <= 0", "--x=3"], "No such option: --x; the value of a parameter is written x=3"),
        (["-x**2 <= 0", "--seconds"], "Option '--seconds' requires an argument"),
        (["-x**2 <= 0", "x=1"], "prove takes no values"),
    ],
)
def test_an_unknown_option_beside_a_statement_that_begins_with_a_minus_sign(cli, words, said):
    assert_one_line(cli("prove", *words), said)


VERBS = (
    "list show conditions check prove derive explore necessity sweep observe simulate recheck export language "
    "pin report new"
)
FIRST = ["list", "show", "check", "explore", "prove"]
CONTRACT = [*VERBS.split(), "completion"]


def test_the_help_lists_the_verbs_that_work_and_no_others(cli):
    code, out, err = cli("--help")
    assert (code, err) == (0, "")
    verbs = re.findall(r"^│ ([a-z]+) {2}", out[out.index("Commands") :], re.MULTILINE)
    assert verbs == [verb for verb in CONTRACT if verb in verbs] and verbs[:4] == CONTRACT[:4]
    for verb in CONTRACT:
        code, out, err = cli(verb, "--help")
        assert (code, verb in out) == ((0, True) if verb in verbs else (2, False))


def test_a_paragraph_of_the_help_is_broken_by_the_width_alone(cli):
    for name, command in typer.main.get_command(app).commands.items():  # pyright: ignore[reportAttributeAccessIssue]
        assert command.help and not re.search(r"[^\n]\n[^\n]", command.help), name
    said = " ".join(line.rstrip() for line in cli("necessity", "--help")[1].splitlines())
    assert "are shown to hold, and the nearest certified violation." in re.sub(" +", " ", said)


def test_every_verbs_help_has_an_example_of_its_own_arguments(cli):
    commands = typer.main.get_command(app).commands  # pyright: ignore[reportAttributeAccessIssue]
    for name, command in commands.items():
        (example,) = re.findall(r"Example: verify (.*)", command.epilog)
        assert example.split()[0] == name and "Example: verify" in cli(name, "--help")[1]
        # The example is parsed, and not run.
        with command.make_context(name, example.split()[1:]) as context:
            assert context.params
        with pytest.raises(typer.TyperException):
            command.make_context(name, [*example.split()[1:], "--no-such-option"])


def test_the_version(cli):
    assert cli("--version") == (0, f"lemmascope {version()}\n", "")
    for words in (["--versio"], ["--versio=3"], ["--versio", "3"]):
        assert_one_line(cli(*words), "No such option: --versio")
    assert_one_line(cli("chek"), "chek", "check")


def test_without_a_verb_the_five_to_begin_with_are_shown(cli):
    code, out, err = cli()
    assert (code, err) == (0, "") and re.findall(r"^  verify (\w+)", out, re.MULTILINE) == FIRST
    assert set(FIRST) <= set(CONTRACT)


def contradicted(*_, **__):
    sp.Symbol("x", positive=True, zero=True)


def broken(*_, **__):
    raise RuntimeError("two\nlines")


OURS = "verify: internal error, please report it: "
CONTRADICTED = r"the assumptions of .* contradict each other \(zero=\w+\): leave .*\n"


@pytest.mark.parametrize(
    ("raising", "named", "code", "said"),
    [
        (contradicted, "", 2, f"verify: theorem: {CONTRADICTED}"),
        (contradicted, ":mine", 2, f"verify: theorem: {CONTRADICTED}"),
        # In a theorem of the library the same error is an internal error.
        (contradicted, None, 70, f"{OURS}{CONTRADICTED}"),
        (broken, None, 70, f"{OURS}RuntimeError: two lines\n"),
    ],
)
def test_an_error_that_no_command_raises_is_one_line(cli, monkeypatch, theorem_file, raising, named, code, said):
    mine = theorem_file('mine = theorem_of(Inequality("c", sp.Lt(x, 2)))\n')
    monkeypatch.setattr("verify.checking.check.check", raising)
    found, out, err = cli("check", THEOREM, *SMALL) if named is None else cli("check", mine + named, "x=1")
    assert (found, out) == (code, "") and re.fullmatch(said, err)


CONSOLE = Path(sys.executable).with_name("verify")


@pytest.mark.parametrize("command", [[sys.executable, "-m", "verify"], [str(CONSOLE)]], ids=["module", "script"])
def test_both_ways_to_start_it_do_the_same(command):
    good = subprocess.run(
        [*command, "conditions", THEOREM, *SMALL, "--json"], capture_output=True, text=True, check=False
    )
    assert (good.returncode, good.stderr) == (0, "") and body_of(good.stdout)["in_scope"] is True
    bad = subprocess.run([*command, "check", THEOREM, "T=abc"], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, "") and bad.stderr.count("\n") == 1


def test_output_in_another_encoding_is_no_error_of_ours():
    # This is the encoding of a pipe on Windows; it has no α.
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    command = [sys.executable, "-m", "verify", "derive", "wang2024.stationary_points"]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0 and done.stderr == b""


def test_a_reader_that_leaves_ends_it_quietly():
    command = [sys.executable, "-u", "-m", "verify", "derive", "wang2024.theorem1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as going:
        assert going.stdout.readline().startswith(b"wang2024.theorem1")
        going.stdout.close()
        assert going.stderr.read() == b"" and going.wait() == 130


HEAVY = "torch matplotlib dask"
UNUSED = f"{HEAVY} numpy scipy hypothesis networkx numba joblib numerics"


@pytest.mark.parametrize(
    ("commands", "needless"),
    [
        ([["new", "mine.py"], ["check", "mine.py", "x=1", "y=3"]], f"{UNUSED} theorems"),
        ([["check", "wang2024.stationary_points", "T=9", "q=2", "d=1"]], UNUSED),
        ([["check", THEOREM, *SMALL]], HEAVY),
    ],
    ids=["of a new file", "of identities", "of a recursion"],
)
def test_a_check_loads_no_package_that_it_does_not_need(tmp_path, commands, needless):
    code = (
        "import sys; from verify.reports.command_line import run; "
        f"codes = [run(words) for words in {commands!r}]; "
        f"print(codes, sorted({{name.partition('.')[0] for name in sys.modules}} & {{*{needless.split()!r}, 'sympy'}}))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    assert run.stdout.splitlines()[-1] == f"{[0] * len(commands)} ['sympy']", run.stderr


def test_run_returns_what_main_exits_with(monkeypatch, capsys):
    from verify.reports import command_line as cli

    monkeypatch.setattr(sys, "argv", ["verify", "conditions", THEOREM, *SCOPE, "eta=1"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 4 == run(["conditions", THEOREM, *SCOPE, "eta=1"])
    capsys.readouterr()


@pytest.mark.parametrize("name", ["", ".", "none/c.json", "file/c.json"])
def test_where_a_certificate_cannot_go_is_said_before_anything_is_computed(cli, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("verify.checking.check.check", lambda *_, **__: pytest.fail("nothing is to be computed"))
    assert_one_line(cli("check", THEOREM, *SMALL, "--certificate", name), "--certificate = ")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
