"""The pytest plugin: `--full`, `--device`, the fixture `ledger`, and the ledger at the end of the run.

Kept light: it is loaded by every pytest run where the package is installed, so theorems, SymPy
and torch are imported only by the tests that use them.
"""

import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from verify.outcomes import CheckResult, Outcome
    from verify.statement import Theorem

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
    import torch

    asked = str(request.config.getoption("--device"))
    if asked == "cuda" and not torch.cuda.is_available():
        raise pytest.UsageError("--device cuda: there is no CUDA device here")
    torch.backends.cuda.matmul.allow_tf32 = False
    return ("cuda" if torch.cuda.is_available() else "cpu") if asked == "auto" else asked


class Ledger:
    """What a test writes into the ledger: checks of theorems and comparisons with simulations."""

    def __init__(self, entries: list[tuple[str, object]]) -> None:
        self._entries = entries

    def check(
        self, theorem: "Theorem", *, expect: "Outcome | None" = None, seconds: float = 60, **instance: Any
    ) -> "CheckResult":
        """Check a theorem at an instance and enter it; the test fails unless the outcome is `expect` (verified).

        An expected refutation is a finding, and is entered as one.
        """
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
        )
        if result.outcome is not wanted:
            pytest.fail(f"{theorem.id} at {dict(instance)}: {result.outcome}, expected {wanted}: {result.detail}")
        return result

    def compare(
        self, title: str, holds: bool, detail: str, *, device: str, evidence: str = "simulated", instances: int = 1
    ) -> None:
        """Enter a comparison of theory and simulation, and fail the test when they disagree."""
        self._enter(
            kind="comparison",
            id=title,
            outcome="verified" if holds else "refuted",
            evidence=evidence,
            detail=detail,
            device=device,
            instances=instances,
        )
        if not holds:
            pytest.fail(f"{title}: {detail}")

    def _enter(self, **entry: Any) -> None:
        self._entries.append((PROPERTY, entry))


@pytest.fixture
def ledger(request: pytest.FixtureRequest) -> Ledger:
    """The ledger of this run; works under pytest-xdist."""
    return Ledger(request.node.user_properties)


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
