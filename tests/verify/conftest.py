"""Fixtures that the engine's tests share: small theorems, theorem files, the command line in process."""

import itertools
import re
import sys
from types import SimpleNamespace

import pytest

from tests.verify import halves
from tests.verify.clock import Clock
from tests.verify.examples import example_of
from verify import Parameter, Source, Statement, Theorem
from verify.checking.processes.code import code_version
from verify.language.expressions import PRIMITIVES
from verify.reports.command_line import run


@pytest.fixture(autouse=True)
def _own_primitives():
    """Remove the primitives that a test registered, and the theorem files that it loaded, after the test."""
    before, newest = dict(PRIMITIVES), next(reversed(sys.modules))
    # The code version is cached at its first use, and would include a door that an earlier test installed.
    code_version.cache_clear()
    yield
    # The library's primitives stay, because their modules are not loaded again.
    ours = {name: made for name, made in PRIMITIVES.items() if made.evaluate.__module__.startswith("theorems.")}
    PRIMITIVES.clear()
    PRIMITIVES.update(before | ours)
    # New modules are at the end of `sys.modules`.
    for name in list(itertools.takewhile(lambda name: name != newest, reversed(sys.modules))):
        if name.startswith("lemmascope_user_"):
            del sys.modules[name]


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test advances."""
    made = Clock()
    made.install(monkeypatch)
    return made


@pytest.fixture(scope="session")
def _own_folders(tmp_path_factory):
    """Names of folders, one for each test; most tests do not create theirs."""
    folder = tmp_path_factory.mktemp("own")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def kept(_own_folders, monkeypatch):
    """The test's own folder of remembered and stored results; it does not exist unless the test creates it.

    No test uses the results of another test, or leaves results behind.
    """
    folder = next(_own_folders)
    monkeypatch.setattr("verify.reports.simulate.default_store", lambda: folder / "results.sqlite")
    monkeypatch.setattr("verify.files.FOLDER", folder)
    return folder


@pytest.fixture
def memory(tmp_path, monkeypatch):
    """The test's own folder of remembered certificates."""
    folder = tmp_path / "memory"
    monkeypatch.setenv("LEMMASCOPE_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def make_theorem():
    def make(
        *clauses, names="x", parameters=None, values=None, proofs=None, derivation=None, evaluations=None, **statement
    ):
        parameters = parameters or tuple(Parameter(name, "rational", name) for name in names.split())
        return Theorem(
            "user.theorem",
            "a title",
            Source("Lemma 7", "derived here"),
            Statement(tuple(parameters), clauses, **statement),
            example_of(parameters),
            values or {},
            derivation,
            proofs or {},
            evaluations=evaluations or {},
        )

    return make


@pytest.fixture
def cli(capsys):
    """Return a function that runs the command line in process and returns its exit code, output and error output."""

    def call(*arguments):
        capsys.readouterr()
        code = run(list(arguments))
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def machine(monkeypatch):
    """Return a function that replaces PyTorch by a stand-in, with or without a GPU.

    The function returns the list of the precisions of float32 products that are set. PyTorch takes seconds to import.
    """

    def build(*, card):
        precisions = []
        cuda = SimpleNamespace(is_available=lambda: card, get_device_name=lambda: "X1")
        fake = SimpleNamespace(cuda=cuda, set_float32_matmul_precision=precisions.append)
        monkeypatch.setitem(sys.modules, "torch", fake)
        return precisions

    return build


HEADER = """import math
from fractions import Fraction

import sympy as sp

from verify import *

x = sp.Symbol("x", positive=True)
PARAMETERS = (Parameter("x", "rational", "a number", above=0),)


def theorem_of(*clauses, **more):
    source = Source("1", "derived here")
    example = dict.fromkeys((p.name for p in PARAMETERS), 1)
    return Theorem("user.mine", "a title", source, Statement(PARAMETERS, clauses), example, **more)


"""


@pytest.fixture
def theorem_file(tmp_path):
    """Return a function that writes a theorem file, with imports and a helper at the top, and returns its path."""

    def write(body, name="mine.py", *, header=HEADER):
        path = tmp_path / name
        path.write_text(header + body)
        return str(path)

    return write


@pytest.fixture
def no_deduction(monkeypatch):
    """Prevent proofs by deduction, for tests of claims that are true but not proved."""
    monkeypatch.setattr("verify.provers.deduction.proofs.deduction_proof", lambda *_, **__: None)


@pytest.fixture
def halves_package(tmp_path, monkeypatch):
    """Return the name of a package with claims in Rocq and their proofs."""
    # The facts about a package's files are cached by its name, so each test needs a different name.
    name = re.sub(r"\W", "_", f"rocq_{tmp_path.parent.name}_{tmp_path.name}")
    halves.write(tmp_path / name)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


@pytest.fixture
def halves_folder(halves_package, tmp_path):
    """Return the folder of the package's `.v` files, which a test may change."""
    return tmp_path / halves_package / "halves"
