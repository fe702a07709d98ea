"""The pytest plugin: `--full`, `--device`, the fixture `ledger`, and the ledger at the end of the run.

Kept light: it is loaded by every pytest run where the package is installed, so theorems, SymPy
and torch are imported only by the tests that use them.
"""

import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verify.comparisons import Comparison, ComparisonResult
    from verify.explored import ExploreResult
    from verify.findings import Finding, Reproduction
    from verify.mutation import Tried
    from verify.outcomes import CheckResult, Outcome
    from verify.theorem import Theorem

PROPERTY = "lemmascope_ledger"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("lemmascope", "theorem checks")
    group.addoption("--full", action="store_true", help="run the papers' own settings instead of quick ones")
    group.addoption(
        "--device",
        choices=("auto", "cpu", "cuda"),
        default="auto",
        help="where simulations run (auto: cuda if there is one)",
    )


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether the papers' own settings were asked for."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """`cpu` or `cuda`, where simulations run; `cuda` without a card is a usage error."""
    from verify.devices import device_named
    from verify.errors import InputError

    try:
        return device_named(str(request.config.getoption("--device")))
    except InputError as error:
        raise pytest.UsageError(f"--device {error.value}: {error.requirement}") from error


class Ledger:
    """What a test writes into the ledger: checks of theorems, comparisons with simulations, findings."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    def check(
        self, theorem: "Theorem", *, expect: "Outcome | None" = None, seconds: float = 60, **instance: Any
    ) -> "CheckResult":
        """Check a theorem at an instance and enter it; the test fails unless the outcome is `expect` (verified).

        An expected refutation is a finding, and is entered as one. What is proved or certified is written
        down as a certificate, and the test fails where the re-checker does not accept it.
        """
        from verify.necessity_map import shipped
        from verify.outcomes import Outcome

        result = theorem.check(seconds=seconds, **instance)
        wanted = expect or Outcome.VERIFIED
        paper = theorem.source.paper
        self._enter(
            kind="theorem",
            id=theorem.id,
            outcome=result.outcome.value,
            evidence=str(result.evidence or ""),
            seconds=result.seconds,
            expected=wanted.value,
            paper=paper.key if paper else "",
            number=theorem.source.number,
            numbered=(paper.numbered_statements or 0) if paper else 0,
            disclosed=list(paper.disclosed) if paper else [],
            hypotheses="" if (mapped := shipped(theorem)).why else mapped.counts(),
            rechecked=not (rejected := self._rejected(theorem, result)),
        )
        if result.outcome is not wanted:
            pytest.fail(f"{theorem.id} at {dict(instance)}: {result.outcome}, expected {wanted}: {result.detail}")
        if rejected and result.evidence is not None:
            pytest.fail(f"{theorem.id} at {dict(instance)}: the certificate is not accepted: {rejected}")
        return result

    @staticmethod
    def _rejected(theorem: "Theorem", result: "CheckResult") -> str:
        """Return why the check's certificate is not accepted, or nothing."""
        from verify.certificates import certificate_text
        from verify.errors import InputError
        from verify.recheck import Rejected, Unreadable, recheck_text

        try:
            recheck_text(certificate_text(theorem, result).encode())
        except (InputError, Rejected, Unreadable) as error:
            return str(error)
        return ""

    def canaries(self, theorem: "Theorem", **effort: Any) -> "list[ExploreResult]":
        """Search each canary of a theorem and enter it; the test fails unless all are refuted, at the clause they name.

        `effort` is that of `verify.explore.explore`: `max_examples`, `seconds`, `seed`.
        """
        results, survived = [], []
        for canary in theorem.canaries:
            result = theorem.variant(canary.statement).explore(**effort)
            killed = result.clause is not None and result.clause.label == canary.clause
            entry = {"id": theorem.id, "label": canary.label, "killed": killed, "needed": result.needed or 0}
            self._enter(kind="canary", **entry)
            results.append(result)
            survived += [] if killed else [canary.label]
        if survived or not results:
            pytest.fail(f"{theorem.id}: {'; '.join(survived) or 'no canaries'}: not refuted")
        return results

    def mutants(self, theorem: "Theorem", *, most: int, seed: int = 0, seconds: float = 6) -> "list[Tried]":
        """Try at most so many mutants of a theorem's statement, and enter what became of them: nothing fails."""
        from verify.mutation import fate, sample

        tried = [fate(theorem, mutant, seconds=seconds, seed=seed) for mutant in sample(theorem.statement, most, seed)]
        counts = {name: sum(found.fate == name for found in tried) for name in ("killed", "equivalent")}
        survived = [[found.mutant.label, found.why] for found in tried if found.fate == "survived"]
        self._enter(kind="mutants", id=theorem.id, survived=survived, **counts)
        return tried

    def compare(
        self, comparison: "Comparison", *, expect: "Outcome | Sequence[Outcome] | None" = None, seed: int = 0
    ) -> "ComparisonResult":
        """Run a comparison where and as fully as this run asks, and enter it.

        The test fails unless the outcome is `expect` (verified), or one of several: what a paper says and a check does
        not confirm is expected otherwise, and what nobody has run yet may end either way.
        """
        from verify.outcomes import Outcome

        where, full = (self._request.getfixturevalue(name) for name in ("device", "full"))
        result = comparison.run(device=where, full=full, seed=seed)
        wanted = (expect or Outcome.VERIFIED,) if isinstance(expect, Outcome | None) else tuple(expect)
        either = " or ".join(wanted)
        self._enter(
            kind="comparison",
            id=result.id,
            outcome=result.outcome.value,
            evidence=result.evidence.value,
            expected=either,
            detail=result.detail,
            device=result.device,
            instances=result.instances,
        )
        if result.outcome not in wanted:
            expected = "" if expect is None else f", expected {either}"
            pytest.fail(f"{result.id}: {result.outcome}{expected}: {result.detail} (seed {seed}, {result.device})")
        return result

    def reproduce(self, finding: "Finding") -> "Reproduction":
        """Run a finding's command and enter whether it is reproduced; the test fails where it is not."""
        found = finding.reproduce()
        self._enter(kind="finding", id=finding.id, title=finding.heading, failures=list(found.failures))
        if not found.holds:
            pytest.fail(f"{finding.id}: {finding.command}: {'; '.join(found.failures)}")
        return found

    def _enter(self, **entry: Any) -> None:
        self._request.node.user_properties.append((PROPERTY, entry))


@pytest.fixture
def ledger(request: pytest.FixtureRequest) -> Ledger:
    """The ledger of this run; works under pytest-xdist."""
    return Ledger(request)


_STARTED = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    """Remember when the run began."""
    config.stash[_STARTED] = time.monotonic()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the ledger, when a test has written into it."""
    found = [report for reports in terminalreporter.stats.values() for report in reports]
    calls = [report for report in found if isinstance(report, pytest.TestReport) and report.when == "call"]
    entries = [value for report in calls for name, value in report.user_properties if name == PROPERTY]
    if not entries:
        return
    from verify.ledger import ledger_lines

    terminalreporter.section("ledger")
    for line in ledger_lines(entries, time.monotonic() - config.stash[_STARTED]):
        terminalreporter.write_line(line)
