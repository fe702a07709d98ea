"""The draws of a pytest run: the same for each test on every machine, or new draws from a printed seed."""

import os
import subprocess
import sys

import pytest

CONFTEST = """
import pytest

from verify import load_profile
from verify.reports.pytest_plugin import use_all_cores


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    use_all_cores(config)


def pytest_configure(config):
    load_profile(config)
"""
DRAWN = """
import pathlib

import pytest
from hypothesis import given, strategies as st


def note(name, n):
    with pathlib.Path(name).open("a") as file:
        file.write(f"{n} ")
    assert n < LIMIT


@pytest.mark.parametrize("which", ["a", "b"])
@given(n=st.integers())
def test_drawn(which, n):
    note(which, n)


def test_drawn_within():
    given(st.integers())(lambda n: note("c", n))()
"""
CONSTANTS = "numbers = [" + ", ".join(map(str, range(10_007, 10_907, 3))) + "]"


@pytest.fixture
def drawn(tmp_path):
    """Return a function that runs three tests in a process, and returns its output's lines and the draws by test."""
    (tmp_path / "conftest.py").write_text(CONFTEST)

    def run(*arguments, limit="float('inf')", more="", hash_seed="0"):
        (tmp_path / "test_inner.py").write_text(more + DRAWN.replace("LIMIT", limit))
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--import-mode=importlib", *arguments]
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == (0 if limit == "float('inf')" else 1), ended.stdout
        kept = {path.name: path.read_text() for path in map(tmp_path.joinpath, "abc") if path.exists()}
        for name in kept:
            (tmp_path / name).unlink()
        return ended.stdout.splitlines(), kept

    return run


def test_each_test_draws_the_same_in_any_process_and_order(drawn, tmp_path):
    (tmp_path / "constants_of_my_own.py").write_text(CONSTANTS)
    _, first = drawn("-n", "0")
    assert sorted(first) == ["a", "b", "c"] and len(set(first.values())) == 3
    assert drawn("-n", "3", hash_seed="7")[1] == first
    more = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport constants_of_my_own\n"
    assert drawn("-n", "0", more=more)[1] == first
    turned = [f"test_inner.py::{name}" for name in ("test_drawn_within", "test_drawn[b]")]
    assert drawn(*turned)[1] == {"b": first["b"], "c": first["c"]}


@pytest.mark.audit
def test_fresh_draws_are_others_and_their_number_repeats_them(drawn):
    _, first = drawn()
    lines, fresh = drawn("--fresh", "-n", "2")
    (seed,) = [line.split()[3] for line in lines if line.startswith("draws: fresh; --seed ")]
    # The draws of a `given` inside a test, as in test c, do not depend on the seed.
    again, other = drawn("--seed", seed)[1], drawn("--fresh")[1]
    assert all(again[name] == fresh[name] and first[name] != fresh[name] != other[name] for name in "ab")


@pytest.mark.audit
def test_a_fresh_run_tries_first_what_failed_in_the_last_and_no_other_run_does(drawn):
    drawn("--fresh", limit="500")
    own = drawn(limit="500")[1]
    again = drawn("--fresh", limit="500")[1]
    # A failure is shrunk to 500; if there was no failure before, Hypothesis begins with 0.
    assert {name: numbers.split()[0] for name, numbers in own.items()} == dict.fromkeys("abc", "0")
    assert {name: numbers.split()[0] for name, numbers in again.items()} == dict.fromkeys("abc", "500")
    assert drawn(limit="500")[1] == own


def test_a_failure_is_repeated_and_shrunk(drawn):
    first, again = (drawn("-n", "0", limit="500")[1] for _ in range(2))
    assert first == again and {numbers.split()[-1] for numbers in first.values()} == {"500"}


def test_the_seed_of_hypothesis_goes_before(drawn):
    own, given, again, other = (
        drawn("-n", "0", *more)[1]["a"]
        for more in ((), ("--hypothesis-seed=3",), ("--hypothesis-seed=3",), ("--hypothesis-seed=4",))
    )
    assert given == again and len({own, given, other}) == 3


@pytest.mark.parametrize(
    ("arguments", "workers"),
    [
        ((), True),
        ((".",), True),
        (("test_inner.py",), False),
        (("test_inner.py::test_drawn_within",), False),
        (("-n", "0"), False),
        (("-p", "no:xdist"), False),
        (("--pdb",), False),
    ],
)
def test_whole_folders_are_run_on_all_cores(drawn, arguments, workers):
    lines, _ = drawn("-v", *arguments)
    assert any("workers" in line for line in lines) is workers
