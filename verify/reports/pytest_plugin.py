"""The pytest plugin: its options, the fixtures `ledger` and `crossing`, and the ledger printed at the end of the run.

Every pytest run loads this module if the package is installed. So modules that load SymPy, FLINT, Hypothesis or torch
are imported only by the tests that use them.
"""

import os
import secrets
import time
from collections.abc import Collection, Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from verify import files
from verify.errors import InputError
from verify.files import json_object, replaceable, write_whole
from verify.installed import lack
from verify.outcomes import CheckResult, Outcome
from verify.reports.ledger import (
    canary_entry,
    comparison_entry,
    finding_entry,
    ledger_json,
    ledger_lines,
    summary_lines,
)
from verify.reports.page.recorded import record, ship
from verify.reports.verbs import files as file_verbs, theorems as verbs
from verify.reports.verbs.files import OF_REPORT
from verify.runs.comparisons import Comparison, ComparisonResult
from verify.runs.crossings import LOOKED_THROUGH, Crossing
from verify.runs.devices import device_named
from verify.shown import visible

if TYPE_CHECKING:
    from verify.checking.theorem import Theorem
    from verify.reports.findings import Finding
    from verify.reports.reproduction import Reproduction
    from verify.search.mutation import Tried
    from verify.search.results import ExploreResult

PROPERTY, SEED = "lemmascope_ledger", "lemmascope_seed"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("lemmascope", "theorem checks")
    group.addoption("--full", action="store_true", help="run the papers' own settings instead of quick ones")
    group.addoption(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="where simulations run (auto: drawn trainings on both; others on cuda under --full, if there is one)",
    )
    group.addoption("--draws", type=int, metavar="N", help="drawn instances of each test of a crossing")
    group.addoption("--seed", type=int, metavar="N", help="seed of simulations and of Hypothesis's draws")
    group.addoption("--fresh", action="store_true", help="draw anew, from a seed that is printed; keep failures")
    group.addoption("--json", metavar="FILE", help="write the ledger to a file as JSON")
    group.addoption(
        "--record",
        metavar="FILE",
        help="write the ledger entries of runs with these sources, to ship with a package",
    )
    group.addoption("--report", metavar="DIR", help="write report.html, with the run's measurements, to a folder")


def use_all_cores(config: pytest.Config, dist: str = "worksteal") -> None:
    """Run whole folders on all cores, if pytest-xdist is installed and no number of processes is given.

    The number is not set with `--collect-only` or `--pdb`, or if an argument is not a folder. If it is set, each
    process has one thread of BLAS and of torch, unless OMP_NUM_THREADS is set.

    `dist` is pytest-xdist's way to distribute the tests, for any number of processes, unless `--dist` names another
    way. With `worksteal` a process without tests takes over tests that another has not begun. If the folders of a run
    ask for different ways, another way is used before `worksteal`.

    Call it in a folder's `pytest_cmdline_main`, which must run before pytest-xdist's.
    """
    option = config.option
    given = getattr(option, "numprocesses", 0) is not None or hasattr(config, "workerinput")
    if not given and not option.collectonly and not option.usepdb and all(Path(each).is_dir() for each in config.args):
        option.numprocesses = "auto"
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    if getattr(option, "numprocesses", None) and option.dist in ("no", "worksteal"):
        option.dist = dist


def draw_by_id(config: pytest.Config) -> None:
    """Let each test draw from a seed that depends on its id; `load_profile` describes the options."""
    from hypothesis import settings

    fresh = config.getoption("--fresh")
    if fresh and config.getoption("--seed") is None:
        # A worker takes the seed of its controller.
        config.option.seed = getattr(config, "workerinput", {}).get(SEED, secrets.randbelow(2**32))
    name = settings.get_current_profile_name()
    # The draws of a `given` inside a test repeat only with `derandomize`, which excludes a database.
    own = not fresh and config.getoption("--hypothesis-seed", None) is None
    database = settings.get_profile("default").database if fresh else None
    settings.register_profile(name, settings.get_profile(name), derandomize=own, database=database, print_blob=False)
    settings.load_profile(name)
    if not config.pluginmanager.has_plugin(Draws.__name__):
        config.pluginmanager.register(Draws(config.getoption("--seed"), fresh=fresh), Draws.__name__)


class Draws:
    """The plugin that seeds each test's draws."""

    def __init__(self, seed: int | None, *, fresh: bool) -> None:
        self._seed, self._fresh = seed, fresh

    def pytest_report_header(self) -> str:
        """Return the line about the draws, with the option that repeats them."""
        if self._fresh:
            return f"draws: fresh; --seed {self._seed} repeats them"
        return "draws: each test's own" + ("" if self._seed is None else f", with seed {self._seed}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Pass the seed to a worker of pytest-xdist."""
        node.workerinput[SEED] = self._seed

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Before a test runs, seed its draws, unless Hypothesis's own option seeds them."""
        from hypothesis import is_hypothesis_test

        from verify.seeded_draws import own_draws, seed_draws, seed_of

        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        if is_hypothesis_test(test) and item.config.getoption("--hypothesis-seed", None) is None:
            # The seed uses the module's name, because its path depends on the folder in which pytest is called.
            module = item.getparent(pytest.Module)
            name = f"{module.obj.__name__ if module else ''} {item.location[2]}"
            seed_draws(test, seed_of(f"{name} {self._seed or 0}"))
        with own_draws():
            return (yield)


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether the papers' own settings were requested."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """The device on which simulations run, `cpu` or `cuda`; `--device cuda` without a GPU is a usage error.

    A test of a crossing runs on both devices, except on a missing one, or only on the device of the option.
    """
    asked = str(request.config.getoption("--device"))
    # A quick run is faster without the GPU, because each worker would have to create a CUDA context.
    quick = "cpu" if asked == "auto" and not request.config.getoption("--full") else asked
    named = getattr(request, "param", quick)
    try:
        return device_named(named)
    except InputError as error:
        if named != asked:
            pytest.skip(error.requirement)
        raise pytest.UsageError(f"--device {error.value}: {error.requirement}") from error


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of a crossing on both devices, or on the device of the option."""
    if "crossing" in metafunc.fixturenames:
        asked = str(metafunc.config.getoption("--device"))
        # Only one worker uses the GPU.
        both = ("cpu", pytest.param("cuda", marks=pytest.mark.xdist_group("cuda")))
        metafunc.parametrize("device", both if asked == "auto" else (asked,), indirect=True)


class Ledger:
    """The ledger in a test: each method runs a check, a search or a comparison, and enters the result."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    def check(
        self,
        theorem: "Theorem",
        *,
        expect: Outcome | None = None,
        undecided: Collection[str] = (),
        seconds: float = 300,
        **instance: object,
    ) -> CheckResult:
        """Check a theorem at an instance and enter the result; the test fails unless the outcome is `expect`.

        Without `expect`, the instance must be in scope. A clause must then stay undecided if it is a claim in words
        that nothing evaluates, or if its label is in `undecided`; all other clauses must be verified. Proved and
        certified clauses are written to a certificate; the test fails if the re-checker does not accept it.
        """
        __tracebackhide__ = True
        from verify.claims.in_words import in_words
        from verify.reports.necessity_map import shipped

        result = verbs.check(theorem, instance, seconds=seconds)
        said = in_words(theorem.statement)
        stated = said - theorem.evaluations.keys() | {*undecided}
        wanted = expect or (Outcome.INCONCLUSIVE if stated else Outcome.VERIFIED)
        open_ = [c.label for c in result.clauses if (c.outcome is Outcome.VERIFIED) is (c.label in stated)]
        paper = theorem.source.paper
        self._enter(
            kind="theorem",
            id=theorem.id,
            outcome=result.outcome.value,
            evidence=str(result.evidence or ""),
            trusts=[str(trust) for trust in result.trusts],
            for_all_parameters=result.for_all_parameters.text(),
            in_words=sorted(said),
            seconds=result.seconds,
            expected=wanted.value,
            paper=paper.key if paper else "",
            number=theorem.source.number,
            numbered=(paper.numbered_statements or 0) if paper else 0,
            disclosed=list(paper.disclosed) if paper else [],
            hypotheses="" if (mapped := shipped(theorem)).why else mapped.counts(),
            rechecked=not (rejected := self._rejected(theorem, result)),
        )
        in_scope = result.in_scope and result.scope_confirmed is not False
        if result.outcome is not wanted or (expect is None and (open_ or not in_scope)):
            from verify.reports.formats.failures import failure_text

            whole = open_ and result.outcome is wanted
            expected = f"{wanted}, and each claim that is evaluated verified" if whole else f"{wanted}"
            pytest.fail(failure_text(theorem, result, expected, seconds))
        if rejected and any(clause.evidence for clause in result.clauses):
            pytest.fail(f"{theorem.id} at {dict(instance)}: the certificate is not accepted: {rejected}")
        return result

    @staticmethod
    def _rejected(theorem: "Theorem", result: CheckResult) -> str:
        """Return why the check's certificate is not accepted; "" if it is."""
        from verify.checking.certificates import certificate_text
        from verify.checking.doors import door
        from verify.rechecker import Rejected, Unreadable, recheck_text

        try:
            recheck_text(certificate_text(theorem, result).encode(), door=door)
        except (InputError, Rejected, Unreadable) as error:
            return str(error)
        return ""

    def standings(self) -> str:
        """Enter the line that counts the standings of the installed theorems, and return it."""
        from verify.reports.listing import standings_text

        text = standings_text(verbs.list_theorems())
        self._enter(kind="standings", id="", text=text)
        return text

    def canaries(self, theorem: "Theorem", **effort: Any) -> "list[ExploreResult]":
        """Try to refute each canary of a theorem, and enter the results.

        The test fails if a canary is not refuted in the clause that it names, or if there is no canary.

        `effort` has options of `verify.search.explore.explore`: `max_examples`, `seconds`, `seed`.
        """
        __tracebackhide__ = True
        results, survived = [], []
        for canary in theorem.canaries:
            result = verbs.explore(theorem.variant(canary.statement), **effort)
            entry = canary_entry(theorem.id, canary, result)
            self._enter(**entry)
            results.append(result)
            survived += [] if entry["killed"] else [canary.label]
        if survived or not results:
            pytest.fail(
                f"{theorem.id}: " + (f"{'; '.join(survived)}: not refuted" if survived else "it has no canaries")
            )
        return results

    def mutants(self, theorem: "Theorem", *, most: int, seed: int = 0, **effort: Any) -> "list[Tried]":
        """Try at most `most` mutants of a theorem's statement, and enter their fates; the test does not fail.

        `effort` has options of `verify.search.mutation.fate`: `seconds`, `max_examples`.
        """
        from verify.search.mutation import fate, sample

        tried = [fate(theorem, mutant, seed=seed, **effort) for mutant in sample(theorem.statement, most, seed)]
        counts = {name: sum(trial.fate == name for trial in tried) for name in ("killed", "equivalent")}
        survived = [[trial.mutant.label, trial.why] for trial in tried if trial.fate == "survived"]
        self._enter(kind="mutants", id=theorem.id, survived=survived, **counts)
        return tried

    def compare(
        self, comparison: Comparison, *, expect: Outcome | Sequence[Outcome] | None = None, seed: int | None = None
    ) -> ComparisonResult:
        """Run a comparison on the device and at the size of this run, and enter the result.

        The default seed is the value of `--seed`, or 0. The test fails unless the outcome is `expect`, by default
        verified, or is in `expect`, if that is a sequence. Give another outcome for a printed claim that is not
        confirmed, and a sequence for a comparison that nobody has run yet. Without `seed` and with a `--seed` that is
        not 0, chance may leave a comparison inconclusive: this does not fail the test, and is not counted as expected.
        """
        __tracebackhide__ = True
        device, full = (self._request.getfixturevalue(name) for name in ("device", "full"))
        by_option = self._request.config.getoption("--seed") or 0
        may_be_open, seed = bool(by_option) and seed is None, by_option if seed is None else seed
        result = comparison.run(device=device, full=full, seed=seed)
        wanted = (expect or Outcome.VERIFIED,) if isinstance(expect, Outcome | None) else tuple(expect)
        either = " or ".join(wanted)
        left_open = may_be_open and result.outcome is Outcome.INCONCLUSIVE and result.outcome not in wanted
        self._enter(**comparison_entry(result, either, full=full), left_open=left_open)
        if result.outcome not in wanted and not left_open:
            expected = "" if expect is None else f", expected {either}"
            pytest.fail(f"{result.id}: {result.outcome}{expected}: {result.detail} (seed {seed}, {result.device})")
        return result

    def reproduce(self, finding: "Finding") -> "Reproduction":
        """Run a finding's command and enter whether it is reproduced; the test fails if it is not."""
        __tracebackhide__ = True
        from verify.reports.reproduction import reproduce

        reproduction = reproduce(finding)
        self._enter(**finding_entry(finding, reproduction.failures))
        if not reproduction.holds:
            pytest.fail(f"{finding.id}: {finding.command}: {'; '.join(reproduction.failures)}")
        return reproduction

    def _enter(self, **entry: object) -> None:
        self._request.node.user_properties.append((PROPERTY, entry))


@pytest.fixture
def ledger(request: pytest.FixtureRequest) -> Ledger:
    """The ledger of this run; works under pytest-xdist."""
    return Ledger(request)


class Crossed:
    """The crossing of a test: its methods compare theory with simulations, and enter the results into the ledger."""

    def __init__(self, request: pytest.FixtureRequest, device: str) -> None:
        self._request, self._device = request, device
        self._entries: dict[str, dict[str, Any]] = {}
        self._seen: set[str] = set()

    def holds(self, crossing: Crossing, instance: object) -> None:
        """Simulate at a drawn instance; the test fails unless theory is verified there."""
        __tracebackhide__ = True
        self._held(crossing, instance, "holds", Outcome.VERIFIED)

    def fails(self, crossing: Crossing, instance: object) -> None:
        """Simulate at a drawn instance out of scope; the test fails unless theory is refuted there."""
        __tracebackhide__ = True
        self._held(crossing, instance, "fails", Outcome.REFUTED)

    def _held(self, crossing: Crossing, instance: object, what: str, wanted: Outcome) -> None:
        __tracebackhide__ = True
        entry = self._entry(crossing, what)
        failed, entry["outcome"] = entry["outcome"] == "failed", "failed"
        verdict = crossing.held(crossing.theory, instance, self._device)
        if verdict.outcome is not wanted:
            said = "" if what == "holds" else ", expected refuted"
            pytest.fail(f"{crossing.id} at {instance}: {verdict.outcome}{said}: {verdict.detail} ({self._device})")
        if failed:
            # The instances by which Hypothesis simplifies a failure are not counted as draws.
            return
        entry["outcome"] = "as_expected"
        self._seen.add(str(instance))
        entry["draws"] += 1
        entry["instances"] = len(self._seen)
        entry["trainings"] += verdict.trainings
        if verdict.ratio is not None and what == "holds":
            entry["worst"] = max(entry["worst"] or 0.0, verdict.ratio)
        for name in crossing.sizes:
            size = getattr(instance, name)
            low, high = entry["sizes"].get(name, (size, size))
            entry["sizes"][name] = (min(low, size), max(high, size))

    def _entry(self, crossing: Crossing, what: str) -> dict[str, Any]:
        if what not in self._entries:
            counts: dict[str, Any] = {"draws": 0, "instances": 0, "trainings": 0, "worst": None, "sizes": {}}
            self._entries[what] = self._entered(crossing, what, outcome="as_expected", **counts)
        return self._entries[what]

    def catches(self, crossing: Crossing, label: str) -> None:
        """Simulate at drawn instances to refute a planted error; the test fails unless an instance refutes it."""
        __tracebackhide__ = True
        options = self._request.config.getoption
        # `--draws` does not lower this number: enough instances must be drawn for one to show the error.
        examples = max(LOOKED_THROUGH, options("--draws") or 0)
        verdict = crossing.caught(label, self._device, examples=examples, seed=options("--seed") or 0)
        caught = verdict.outcome is Outcome.REFUTED
        self._entered(crossing, "planted", label=label, caught=caught)
        if not caught:
            pytest.fail(f"{crossing.id}: {label}: {verdict.outcome}: {verdict.detail} ({self._device})")

    def _entered(self, crossing: Crossing, what: str, **results: object) -> dict[str, Any]:
        about = {"id": crossing.id, "of": crossing.subject, "theorem": crossing.theorem, "exact": crossing.exact}
        test = self._request.node.nodeid.split("[")[0]
        entry = {"kind": "crossing", "what": what, **about, "device": self._device, "test": test, **results}
        self._request.node.user_properties.append((PROPERTY, entry))
        return entry


@pytest.fixture
def crossing(request: pytest.FixtureRequest, device: str) -> Crossed:
    """The fixture with which a test of a crossing compares theory with simulations at drawn instances."""
    return Crossed(request, device)


_STARTED = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    """Record when the run began; declare the markers `crossing` and, for a run without pytest-xdist, `xdist_group`.

    Raises pytest.UsageError if the ledger or the record would overwrite another file, and if packages that a report
    needs are missing.
    """
    config.addinivalue_line("markers", "xdist_group(name): tests that run on one worker, with --dist loadgroup")
    config.addinivalue_line("markers", "crossing(id): the id of the test's crossing, by which -k selects the test")
    config.stash[_STARTED] = time.monotonic()
    if config.getoption("--report") and (lacking := lack(*OF_REPORT)):
        raise pytest.UsageError(f"--report {lacking}")
    for option, key, kind in (("--json", "crossings", "a ledger"), ("--record", "commit", "a record of runs")):
        path = config.getoption(option)
        if path and not replaceable(Path(path), lambda content, key=key: key in json_object(content)):
            raise pytest.UsageError(f"{option} = {path}: exists and is not {kind}; not overwritten")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let `-k` select the test of a crossing by the crossing's id: `@pytest.mark.crossing(crossing.id)`."""
    for mark in item.iter_markers("crossing"):
        item.extra_keyword_matches.update(map(str, mark.args))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the ledger, and write the files that were asked for, if a test has entered anything."""
    reports = [report for some in terminalreporter.stats.values() for report in some]
    calls = [report for report in reports if isinstance(report, pytest.TestReport) and report.when == "call"]
    entries = [value for report in calls for name, value in report.user_properties if name == PROPERTY]
    if not entries:
        return
    spent = time.monotonic() - config.stash[_STARTED]
    terminalreporter.section("ledger")
    whole = list(ledger_lines(entries, spent))
    for line in whole if config.get_verbosity() > 0 else summary_lines(entries, spent):
        terminalreporter.write_line(visible(line))
    if path := config.getoption("--json"):
        write_whole(Path(path), ledger_json(entries, spent))
    kept = record(entries)
    if path := config.getoption("--record"):
        ship(Path(path), kept)
    if folder := config.getoption("--report"):
        from verify.reports.simulate import usable_store

        terminalreporter.write_line(f"report: {file_verbs.report(folder, store=usable_store(None), entries=kept)}")
    # A folder that cannot be written to is not an error.
    with suppress(OSError):
        write_whole(path := files.FOLDER / "ledger.txt", "\n".join(map(visible, whole)) + "\n")
        terminalreporter.write_line(f"the whole ledger: {path}, and with -v")
