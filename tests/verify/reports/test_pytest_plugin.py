"""The pytest plugin: options, fixtures and the ledger at the end of a run."""

import json
import subprocess
import sys

# pytester forgets modules that are first imported inside it, and these two cannot be loaded a second time.
import numpy  # noqa: F401
import pytest
import torch  # noqa: F401

pytest_plugins = ["pytester"]

THEOREM = """
import pytest
import sympy as sp

from verify import Comparison, Evidence, Finding, Inequality, Outcome, Paper, Parameter, Premise, Source, Statement
from verify import Theorem, Verdict, Weight

x = sp.Symbol("x", real=True)
PAPER = Paper("zeta2025", "Z, Title, 2025", "2501.00001", 5, ("Lemma 1", "Lemma 2"))
STATEMENT = Statement((Parameter("x", "rational", "x"),), (Inequality("c", sp.Lt(x, 2)),))
BELOW = Theorem("zeta2025.below", "below two", Source("Lemma 1", "printed", PAPER), STATEMENT, {"x": 1})


def comparison(outcome, detail="0.1 standard errors", devices=("cpu", "cuda")):
    def compare(*, device, full, seed):
        return Verdict(outcome, Evidence.SIMULATED, f"{detail}, {device}, full {full}, seed {seed}", 4)

    return Comparison("zeta2025.training", "training follows", "zeta2025.below", None, compare, devices)


def finding(expected):
    command = "verify conditions wang2024.theorem1 T=9 q=2 d=1"
    rests_on = (Premise("Definition 1", "our reading"),)
    says = ("T is small", Weight.STRONGER, "A.", "T is 9.")
    return Finding("zeta2025.small", PAPER, *says, command, {"given.T": expected}, rests_on)
"""
PASSING = (
    THEOREM
    + """
@pytest.mark.parametrize("value", [1, "3/2", -4])
def test_below(ledger, value):
    assert ledger.check(BELOW, x=value).clauses[0].margin > 0


def test_finding(ledger):
    assert ledger.check(BELOW, x=3, expect=Outcome.REFUTED).clauses[0].witness == {"x": 3}


def test_comparison(ledger):
    result = ledger.compare(comparison(Outcome.VERIFIED))
    assert result.detail == "0.1 standard errors, cpu, full False, seed 0"


def test_reproduced(ledger):
    assert ledger.reproduce(finding(9)).holds


def test_nothing(ledger):
    pass
"""
)


@pytest.fixture
def inner(pytester):
    """Return a function that runs pytest on a file, in this process unless `apart` is true."""

    def run(source, *arguments, apart=False):
        pytester.makepyfile(test_inner=source)
        runner = pytester.runpytest_subprocess if apart else pytester.runpytest_inprocess
        return runner("-p", "no:cacheprovider", "-q", *arguments)

    return run


def _ledger(result):
    lines = [" ".join(line.split()) for line in result.outlines if line.strip()]
    start = next((i for i, line in enumerate(lines) if line.strip("= ") == "ledger"), None)
    return [] if start is None else lines[start + 1 :]


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_ledger_is_printed_at_the_end_and_is_the_same_on_two_workers(inner, workers):
    result = inner(PASSING, "-vv", *workers, apart=bool(workers))
    result.assert_outcomes(passed=7)
    lines = _ledger(result)
    assert lines[0].startswith("zeta2025.below verified certified 3 instances, 1 expected otherwise, ")
    assert lines[1] == "zeta2025.training verified simulated 4 instances, cpu, cuda: not run"
    assert lines[2] == "zeta2025.small finding reproduced: T is small (under our reading)"
    assert lines[3] == (
        "zeta2025: 1 of 5 numbered statements checked (Lemma 1); known but not checked here: Lemma 2; unknown to us: 3"
    )
    assert lines[4].endswith("s in all")


def test_a_run_that_deselects_tests_still_has_its_ledger(inner):
    result = inner(PASSING, "-vv", "-k", "finding")
    result.assert_outcomes(passed=1, deselected=6)
    assert _ledger(result)[0].startswith("zeta2025.below refuted certified 1 instance, ")


def test_a_run_shows_what_is_unexpected_and_counts_the_rest_and_keeps_it_all(inner, pytester):
    body = "\ndef test_undecided(ledger):\n    ledger.compare(comparison(Outcome.INCONCLUSIVE, 'too wide'))\n"
    lines = _ledger(inner(PASSING + body))
    assert lines[0] == "zeta2025.training inconclusive simulated 4 instances, cpu, cuda: not run"
    assert "1 theorem, 1 as expected; instances: 3 verified, 1 refuted" in lines
    assert "1 comparison, 0 as expected; instances: 1 verified, 1 inconclusive" in lines
    assert "1 finding, 1 as expected" in lines
    (said,) = [line for line in lines if line.startswith("the whole ledger: ")]
    kept = (pytester.path / said.split(": ")[1].split(",")[0]).read_text(encoding="utf-8").splitlines()
    assert len(kept) == 5 and kept[0].startswith("zeta2025.below ") and "finding reproduced" in kept[2]


def test_without_entries_there_is_no_ledger(inner):
    result = inner("def test_nothing(ledger): pass")
    result.assert_outcomes(passed=1)
    assert _ledger(result) == []


IN_WORDS = """
from dataclasses import replace

from verify import Evaluation, InWords, Trial


def tried(margin):
    return lambda instance, random: iter([Trial(margin)] if instance["x"] > 0 else [])


SAID = replace(
    BELOW,
    statement=replace(STATEMENT, claims=(*STATEMENT.claims, InWords("said", "it is so"))),
    evaluations={"said": Evaluation(tried(1), "it is not", tried(-1))},
)


@pytest.mark.parametrize(("x", "undecided"), [(1, ()), (-1, ("said",)), (-1, ()), (1, ("said",)), (3, ("said",))])
def test_said(ledger, x, undecided):
    ledger.check(SAID, x=x, undecided=undecided)
"""


def test_claims_in_words_that_are_undecided_are_those_that_are_said_to_be(inner):
    # One claim has no trials for x ≤ 0, and is undecided only there; at 3 the other claim is false.
    result = inner(THEOREM + IN_WORDS)
    result.assert_outcomes(passed=2, failed=3)


def test_unexpected_outcomes_fail_the_test_and_are_in_the_ledger(inner):
    body = """
def test_refuted(ledger):
    ledger.check(BELOW, x=3)

def test_not_a_finding(ledger):
    ledger.check(BELOW, x=1, expect=Outcome.REFUTED)

def test_disagreement(ledger):
    ledger.compare(comparison(Outcome.REFUTED, "9 standard errors"), seed=3)

def test_undecided(ledger):
    ledger.compare(comparison(Outcome.INCONCLUSIVE, "too wide"))

def test_neither(ledger):
    ledger.compare(comparison(Outcome.INCONCLUSIVE, "too short"), expect=(Outcome.VERIFIED, Outcome.REFUTED))

def test_either(ledger):
    ledger.compare(comparison(Outcome.REFUTED, "far off"), expect=(Outcome.VERIFIED, Outcome.REFUTED))

def test_not_reproduced(ledger):
    ledger.reproduce(finding(10))

def test_input(ledger):
    ledger.check(BELOW, x="abc")
"""
    result = inner(THEOREM + body, "-vv")
    result.assert_outcomes(passed=1, failed=7)
    result.stdout.fnmatch_lines(
        [
            ">*ledger.check(BELOW, x=3)*",
            "*zeta2025.below at x=3: refuted, expected verified*",
            "*  refuted (certified) c: x < 2*",
            "*    left = x = 3",
            "*    right = 2 = 2",
            "*rerun: verify check *.py:BELOW x=3 --seconds 300",
            "*zeta2025.below at x=1: verified, expected refuted*",
            "*zeta2025.training: refuted: 9 standard errors, cpu, full False, seed 3 (seed 3, cpu)*",
            "*zeta2025.training: inconclusive: too wide*",
            "*zeta2025.training: inconclusive, expected verified or refuted: too short*",
            "*zeta2025.small: verify conditions wang2024.theorem1 T=9 q=2 d=1: given.T: is 9, expected 10*",
            "*InputError: x = abc: must be a number*",
        ]
    )
    # The test's own lines are shown, and none of the plugin's.
    assert "pytest.fail" not in result.stdout.str().split("test_input")[0]
    lines = _ledger(result)
    assert lines[0].startswith("zeta2025.below refuted certified 2 instances, ")
    assert lines[1] == "zeta2025.training refuted simulated 16 instances, cpu, cuda: not run"
    assert lines[2] == (
        "zeta2025.small finding NOT reproduced (given.T: is 9, expected 10): T is small (under our reading)"
    )


def test_a_comparison_runs_where_and_as_fully_as_the_run_asks(inner, machine):
    machine(card=True)
    body = """
def test_comparison(ledger):
    result = ledger.compare(comparison(Outcome.VERIFIED))
    assert result.detail == "0.1 standard errors, cuda, full True, seed 0"
    assert ledger.compare(comparison(Outcome.VERIFIED, devices=("cpu",))).device == "cpu"
"""
    result = inner(THEOREM + body, "-vv", "--device", "cuda", "--full")
    result.assert_outcomes(passed=1)
    assert _ledger(result)[0] == "zeta2025.training verified simulated 8 instances, cpu, cuda"


def test_a_comparison_expected_refuted_fails_with_any_other_outcome(inner):
    body = """
@pytest.mark.parametrize("outcome", Outcome)
def test_refuted(ledger, outcome):
    if outcome is not Outcome.OUT_OF_SCOPE:
        ledger.compare(comparison(outcome, "9 standard errors"), expect=Outcome.REFUTED)
"""
    result = inner(THEOREM + body)
    result.assert_outcomes(failed=2, passed=2)
    result.stdout.fnmatch_lines_random(
        ["*zeta2025.training: verified, expected refuted: 9*", "*zeta2025.training: inconclusive, expected refuted: 9*"]
    )


def test_with_another_seed_chance_may_leave_a_comparison_open(inner):
    body = """
@pytest.mark.parametrize("outcome", [Outcome.VERIFIED, Outcome.INCONCLUSIVE, Outcome.REFUTED])
def test_one(ledger, outcome):
    ledger.compare(comparison(outcome))
"""
    result = inner(THEOREM + body, "--seed", "5")
    result.assert_outcomes(passed=2, failed=1)
    own = "def test_own(ledger):\n    ledger.compare(comparison(Outcome.INCONCLUSIVE), seed=3)\n"
    inner(THEOREM + own, "--seed", "5").assert_outcomes(failed=1)
    inner(THEOREM + body, "--seed", "0").assert_outcomes(passed=1, failed=2)


def test_an_undecided_comparison_fails_the_run(inner):
    result = inner(THEOREM + "def test_undecided(ledger):\n    ledger.compare(comparison(Outcome.INCONCLUSIVE))\n")
    result.assert_outcomes(failed=1)
    assert _ledger(result)[0].startswith("zeta2025.training inconclusive simulated 4 instances")


@pytest.mark.parametrize(("arguments", "full"), [((), False), (("--full",), True)])
def test_full_is_what_was_asked_for(inner, arguments, full):
    inner(f"def test_full(full):\n    assert full is {full}\n", *arguments).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("asked", "card", "device"),
    [
        ("cpu", True, "cpu"),
        ("cpu", False, "cpu"),
        ("cuda", True, "cuda"),
        ("auto", True, "cpu"),
        ("auto", False, "cpu"),
        # With --full a GPU is used if the machine has one.
        ("auto --full", True, "cuda"),
        ("auto --full", False, "cpu"),
    ],
)
def test_the_device_is_one_that_is_there_and_multiplies_in_full_precision(inner, machine, asked, card, device):
    precisions, source = machine(card=card), f"def test_device(device):\n    assert device == {device!r}\n"
    inner(source, "--device", *asked.split()).assert_outcomes(passed=1)
    assert set(precisions) == {"highest"}


def test_a_device_that_is_not_there_is_a_usage_error(inner, machine):
    machine(card=False)
    result = inner("def test_device(device): pass\n", "--device", "cuda")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*--device cuda: there is no CUDA device here*"])


def test_an_unknown_device_is_refused(inner):
    result = inner("def test_nothing(): pass\n", "--device", "tpu")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*invalid choice: 'tpu'*"])


def test_importing_the_plugin_is_light():
    heavy = ("sympy", "torch", "flint", "numpy")
    code = f"import sys, verify.reports.pytest_plugin; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


CONFTEST = """
from verify import load_profile

def pytest_configure(config):
    load_profile(config)
"""
CROSSING = """
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify import Crossing, Evidence, Verdict, in_full


class At(NamedTuple):
    n: int


def held(factor, at, device):
    return Verdict.within(abs(factor - 1) * at.n, 1.0, "n is", Evidence.COMPUTED)


LINE = Crossing(
    id="zeta2025.line",
    title="a line",
    subject="line",
    theorem="zeta2025.below",
    exact="proved for all parameters",
    instances=st.builds(At, st.integers(0, 1000)),
    held=held,
    theory=FACTOR,
    planted={"1 % more": 1.01, "none": 1.0},
    sizes=("n",),
)


@pytest.mark.crossing(LINE.id)
@given(instance=LINE.instances)
def test_line_against_training(crossing, instance):
    crossing.holds(LINE, instance)


@given(instance=LINE.instances)
def test_line_fails(crossing, instance):
    crossing.fails(LINE, instance)


@pytest.mark.parametrize("label", LINE.planted)
def test_planted_errors_are_caught(crossing, label):
    crossing.catches(LINE, label)
"""


@pytest.fixture
def crossed(pytester, inner):
    """Return a function that runs the selected tests of a crossing whose theory is wrong by a factor."""

    def run(factor, *arguments, select="against_training", apart=False):
        pytester.makeconftest(CONFTEST)
        source = CROSSING.replace("FACTOR", str(factor))
        return inner(source, "-k", select, "--device", "cpu", *arguments, apart=apart)

    return run


def test_a_crossing_counts_draws_and_is_a_row_of_the_table(crossed):
    result = crossed(1.0, "-vv")
    result.assert_outcomes(passed=1, deselected=3)
    result.stdout.fnmatch_lines(
        [
            "where derivation meets training",
            "*line: zeta2025.below; without training: proved for all parameters",
            "*agrees: 10 draws, * distinct (n *–*); worst deviation 0 of what is allowed",
            "*planted errors: none run; cpu, cuda: not run; test_inner.py::test_line_against_training",
        ]
    )


def test_a_deviation_fails_at_the_smallest_instance(crossed):
    result = crossed(1.01, "--draws", "50", "--seed", "1")
    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines(["*zeta2025.line at At(n=100): refuted: n is off by 1.00e+00*", "*DOES NOT AGREE*"])


def test_an_error_in_a_simulation_is_no_agreement(crossed):
    result = crossed("None")
    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines(["*DOES NOT AGREE: 0 draws*"])


def test_a_crossing_is_selected_by_its_id(crossed):
    crossed(1.0, select="zeta2025.line").assert_outcomes(passed=1, deselected=3)


def test_out_of_scope_each_draw_has_to_be_refuted(crossed):
    crossed(1.0, select="fails").assert_outcomes(failed=1, deselected=3)
    crossed("float('nan')", select="fails").assert_outcomes(passed=1, deselected=3)


def test_a_planted_error_that_nothing_shows_fails(crossed):
    result = crossed(1.0, "-vv", select="planted")
    result.assert_outcomes(passed=1, failed=1, deselected=2)
    result.stdout.fnmatch_lines(["*zeta2025.line: none: verified*", "*planted errors: 1 of 2 caught*"])


def test_on_both_devices_where_there_are_both_and_skipped_where_there_is_no_card(pytester, inner):
    pytester.makeconftest(CONFTEST)
    result = inner(CROSSING.replace("FACTOR", "1.0"), "-k", "against_training", "-rs")
    result.assert_outcomes(passed=1, skipped=1, deselected=6)
    result.stdout.fnmatch_lines(["*there is no CUDA device here*"])


@pytest.mark.parametrize(("arguments", "draws"), [((), 10), (("--draws", "3"), 3)])
def test_as_many_are_drawn_as_was_asked_for(crossed, pytester, arguments, draws):
    crossed(1.0, *arguments, "--json", "ledger.json", apart=True)
    found = json.loads((pytester.path / "ledger.json").read_text(encoding="utf-8"))
    (row,) = found["crossings"]
    assert (row["draws"], row["outcome"], row["devices"]) == (draws, "verified", ["cpu"])
    assert found["schema"] == 1 and found["entries"][0]["kind"] == "crossing"


def test_a_seed_draws_the_same(crossed, pytester):
    def sizes(seed):
        crossed(1.0, "--seed", str(seed), "--json", "ledger.json", apart=True)
        return json.loads((pytester.path / "ledger.json").read_text(encoding="utf-8"))["crossings"][0]["sizes"]

    assert sizes(5) == sizes(5) != sizes(6)


def test_fewer_than_one_draw_is_a_usage_error(crossed):
    result = crossed(1.0, "--draws", "0", apart=True)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--draws 0: must be an integer >= 1*"])


def test_hypothesis_shows_its_statistics(crossed):
    crossed(1.0, "--hypothesis-show-statistics", apart=True).stdout.fnmatch_lines(["*10 passing, 0 failing*"])


REPORTING = """
import pathlib

from verify.reports import pytest_plugin


class Verbs:
    @staticmethod
    def report(folder, *, store, entries):
        kinds = sorted(f"{entry['kind']} {entry['id']}" for entry in entries if "at" in entry)
        pathlib.Path(folder, "told").write_text(" ".join(kinds))
        return pathlib.Path(folder, "report.html")


verbs = pytest_plugin.file_verbs


def pytest_configure(config):
    pytest_plugin.file_verbs = Verbs()


def pytest_unconfigure(config):
    pytest_plugin.file_verbs = verbs
"""


def test_a_report_without_its_extra_is_refused_before_the_run(monkeypatch, inner):
    monkeypatch.setitem(sys.modules, "networkx", None)
    result = inner(PASSING, "--report", ".")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --report needs networkx: python -m pip install *plot*"])


def test_a_report_has_what_the_run_has_entered(pytester, inner):
    pytester.makeconftest(REPORTING)
    result = inner(PASSING, "--report", ".", "-k", "comparison or reproduced")
    assert "report: report.html" in result.outlines
    told = (pytester.path / "told").read_text()
    assert told == "comparison zeta2025.training finding zeta2025.small"
    # The entries of a run of another test are added to these.
    inner(PASSING, "--report", ".", "-k", "test_finding")
    assert (pytester.path / "told").read_text() == f"{told} theorem zeta2025.below"


def test_without_being_asked_for_there_is_no_report(pytester, inner):
    pytester.makeconftest(REPORTING)
    assert not [line for line in inner(PASSING, "-k", "comparison").outlines if line.startswith("report:")]
    assert not (pytester.path / "told").exists()


@pytest.mark.parametrize(("option", "kind"), [("--json", "a ledger"), ("--record", "a record of runs")])
def test_a_file_of_another_kind_is_not_overwritten(crossed, pytester, option, kind):
    (pytester.path / "mine.json").write_text('{"mine": 1}')
    result = crossed(1.0, option, "mine.json", apart=True)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option} = mine.json: exists and is not {kind}; not overwritten*"])
    assert (pytester.path / "mine.json").read_text() == '{"mine": 1}'


def test_entries_to_be_shipped_are_written_and_replaced(crossed, pytester):
    for draws in ("2", "3"):
        crossed(1.0, "--draws", draws, "--record", "recorded.json", apart=True)
        kept = json.loads((pytester.path / "recorded.json").read_text(encoding="utf-8"))
        entries = [entry for entry in kept["entries"] if entry["kind"] == "crossing"]
        assert [entry["draws"] for entry in entries] == [int(draws)] and len(entries[0]["at"]) == 10
