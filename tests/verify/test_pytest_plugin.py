"""The pytest plugin: options, fixtures and the ledger at the end of a run."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

pytest_plugins = ["pytester"]

THEOREM = """
import pytest
import sympy as sp

from verify import Identity, Inequality, Outcome, Paper, Parameter, Source, Statement, Theorem

x = sp.Symbol("x", real=True)
PAPER = Paper("zeta2025", "Z, Title, 2025", "2501.00001", 5, ("Lemma 1", "Lemma 2"))
STATEMENT = Statement((Parameter("x", "rational", "x"),), (Inequality("c", sp.Lt(x, 2)),))
BELOW = Theorem("zeta2025.below", "below two", Source("Lemma 1", "printed", PAPER), STATEMENT, {"x": 1})
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
    ledger.compare("training follows", True, "0.1 standard errors", device="cpu", instances=4)


def test_nothing(ledger):
    pass
"""
)


@pytest.fixture
def inner(pytester):
    """Run pytest on a file of its own, in process unless asked otherwise."""

    def run(source, *arguments, apart=False):
        pytester.makepyfile(test_inner=source)
        runner = pytester.runpytest_subprocess if apart else pytester.runpytest_inprocess
        return runner("-p", "no:cacheprovider", "-q", *arguments)

    return run


def _ledger(result):
    lines = [" ".join(line.split()) for line in result.outlines]
    start = next((i for i, line in enumerate(lines) if line.strip("= ") == "ledger"), None)
    return [] if start is None else lines[start + 1 :]


def test_the_ledger_is_printed_at_the_end(inner):
    result = inner(PASSING)
    result.assert_outcomes(passed=6)
    lines = _ledger(result)
    assert lines[0].startswith("zeta2025.below verified certified 3 instances, 1 expected otherwise, ")
    assert lines[1] == "training follows verified simulated 4 instances, cpu, cuda: not run"
    assert lines[2] == (
        "zeta2025: 1 of 5 numbered statements checked (Lemma 1); known and not checked here: Lemma 2; "
        "undisclosed to us: 3"
    )
    assert lines[3].endswith("s in all")


def test_the_ledger_is_the_same_on_two_workers(inner):
    result = inner(PASSING, "-n", "2", apart=True)
    result.assert_outcomes(passed=6)
    lines = _ledger(result)
    assert lines[0].startswith("zeta2025.below verified certified 3 instances, 1 expected otherwise, ")
    assert lines[1] == "training follows verified simulated 4 instances, cpu, cuda: not run"


def test_a_run_that_deselects_tests_still_has_its_ledger(inner):
    result = inner(PASSING, "-k", "finding")
    result.assert_outcomes(passed=1, deselected=5)
    assert _ledger(result)[0].startswith("zeta2025.below refuted certified 1 instance, ")


def test_without_entries_there_is_no_ledger(inner):
    result = inner("def test_nothing(ledger): pass")
    result.assert_outcomes(passed=1)
    assert _ledger(result) == []


def test_what_is_not_as_expected_fails_the_test_and_is_in_the_ledger(inner):
    body = """
def test_refuted(ledger):
    ledger.check(BELOW, x=3)

def test_not_a_finding(ledger):
    ledger.check(BELOW, x=1, expect=Outcome.REFUTED)

def test_disagreement(ledger):
    ledger.compare("training follows", False, "9 standard errors", device="cuda")

def test_input(ledger):
    ledger.check(BELOW, x="abc")
"""
    result = inner(THEOREM + body)
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        [
            "*zeta2025.below at {'x': 3}: refuted, expected verified*",
            "*zeta2025.below at {'x': 1}: verified, expected refuted*",
            "*training follows: 9 standard errors*",
            "*InputError: x = abc: must be a number*",
        ]
    )
    lines = _ledger(result)
    assert lines[0].startswith("zeta2025.below refuted certified 2 instances, ")
    assert lines[1] == "training follows refuted simulated 1 instance, cpu: not run, cuda"


@pytest.mark.parametrize(("arguments", "full"), [((), False), (("--full",), True)])
def test_full_is_what_was_asked_for(inner, arguments, full):
    inner(f"def test_full(full):\n    assert full is {full}\n", *arguments).assert_outcomes(passed=1)


@pytest.fixture
def machine(monkeypatch):
    """A PyTorch that sees a card, or none; the real one takes seconds to import."""

    def build(*, card):
        matmul = SimpleNamespace(allow_tf32=True)
        fake = SimpleNamespace(
            cuda=SimpleNamespace(is_available=lambda: card),
            backends=SimpleNamespace(cuda=SimpleNamespace(matmul=matmul)),
        )
        monkeypatch.setitem(sys.modules, "torch", fake)
        return matmul

    return build


@pytest.mark.parametrize(
    ("asked", "card", "device"),
    [
        ("cpu", True, "cpu"),
        ("cpu", False, "cpu"),
        ("cuda", True, "cuda"),
        ("auto", True, "cuda"),
        ("auto", False, "cpu"),
    ],
)
def test_the_device_is_one_that_is_there_and_multiplies_in_full_precision(inner, machine, asked, card, device):
    matmul = machine(card=card)
    inner(f"def test_device(device):\n    assert device == {device!r}\n", "--device", asked).assert_outcomes(passed=1)
    assert matmul.allow_tf32 is False


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
    code = f"import sys, verify.pytest_plugin; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
