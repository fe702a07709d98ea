"""The contents of the report: recorded results, results computed in seconds, and why the others were not run."""

import hashlib
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from verify.checking.registry import ids, package_folder
from verify.checking.sources import Paper
from verify.checking.standing import Standing, shipped_path, standing
from verify.checking.theorem import Theorem, load_theorem
from verify.errors import InputError, TheoremError
from verify.installed import version
from verify.outcomes import CheckResult
from verify.reports import necessity_map
from verify.reports.findings import Finding, load_finding
from verify.reports.ledger import Entry, canary_entry, comparison_entry, finding_entry
from verify.reports.necessity_map import Mapped
from verify.reports.page.recorded import commit_of, record, recorded, shipped, together
from verify.reports.simulate import duration_text, with_theory
from verify.runs.comparisons import Comparison, load_comparison
from verify.runs.experiments import Experiment, ExperimentResult, load_experiment
from verify.runs.store import Store
from verify.runs.sweeps.diagram import Diagram, load_diagram
from verify.runs.sweeps.sweep import SweepResult

_SECONDS = 20.0
"""Time budget of the check of a theorem's example, in seconds."""
_FIGURES = ("Figure", "Experiment")
"""An experiment is a paper's figure if the number of its source begins with one of these words."""
_BUILT_ON = ("sympy", "python-flint", "numpy", "scipy", "torch", "numba", "hypothesis", "matplotlib", "networkx")
_PATIENCE = 20.0
"""Maximum expected time, in seconds, of a figure's quick run that is made without `full`."""
_CANARY = {"max_examples": 1000, "seconds": 20.0}
"""Limits of the search for a counterexample to a canary, a variant of a theorem that is false on purpose."""

_REPRODUCE = "import json, sys, verify; print(json.dumps(verify.reproduce(sys.argv[1]).failures))"

Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Known:
    """A theorem and its results; `checked` is the check of its example, or the reason why there is none.

    `hypotheses` is the shipped map, and `certificate` the path and the SHA-256 of the shipped certificate.
    """

    theorem: Theorem
    standing: Standing
    checked: CheckResult | str
    hypotheses: Mapped
    certificate: tuple[str, str] | None


@dataclass(frozen=True)
class Ran:
    """An experiment or a phase diagram, with its result or the reason why it was not run."""

    of: Experiment | Diagram
    result: ExperimentResult | SweepResult | None
    why: str = ""
    full: bool = False


@dataclass(frozen=True)
class Contents:
    """All that the report shows."""

    theorems: tuple[Known, ...]
    findings: tuple[Finding, ...]
    comparisons: tuple[Comparison, ...]
    figures: tuple[Ran, ...]
    diagrams: tuple[Ran, ...]
    entries: tuple[Entry, ...]
    benchmarks: str
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def papers(self) -> list[Paper]:
        """The papers that results or findings are about, in the order of their keys."""
        named = [known.theorem.source.paper for known in self.theorems]
        found = {paper.key: paper for paper in [*named, *(each.paper for each in self.findings)] if paper is not None}
        return [found[key] for key in sorted(found)]

    def entered(self, kind: str, name: str) -> list[Entry]:
        """Return the ledger's entries of a kind and an id."""
        return [entry for entry in self.entries if (entry["kind"], entry["id"]) == (kind, name)]


def gathered(
    *, full: bool = False, store: Store | None = None, entries: Sequence[Entry] = (), tell: Tell | None = None
) -> Contents:
    """Return the contents of the report: results that are recorded, take seconds or, if `full`, take minutes.

    Parameters
    ----------
    full
        Whether to reproduce the findings, search for counterexamples to the canaries, and run the comparisons, all
        figures and the whole diagrams.
    store
        The store of results of experiments and sweeps.
    entries
        Entries that a run has just added to the ledger, beside the recorded ones; not used if `full`.
    tell
        `tell(done, total)` is called with the progress.
    """
    started = time.monotonic()
    names = ids("theorem")
    figures = [experiment for experiment in map(load_experiment, ids("experiment")) if is_figure(experiment)]
    diagrams = [load_diagram(name) for name in ids("diagram")]
    findings = [load_finding(name) for name in ids("finding")]
    comparisons = [load_comparison(name) for name in ids("comparison")]
    counted = _Counted(len(names) + len(figures) + len(diagrams) + full * (len(findings) + len(comparisons)), tell)
    theorems = [counted(_known(load_theorem(name))) for name in names]
    kept = together(recorded(), entries)
    if full:
        fresh = [counted(_reproduced(finding)) for finding in findings]
        fresh += [counted(comparison_entry(each.run(device="cpu"), "", full=False)) for each in comparisons]
        fresh += [entry for known in theorems for entry in _canaries(known.theorem)]
        kept = record(fresh)
    kept = together(shipped(), kept)
    return Contents(
        theorems=tuple(theorems),
        findings=tuple(findings),
        comparisons=tuple(comparisons),
        figures=tuple(counted(_figure(each, store, full=full)) for each in figures),
        diagrams=tuple(counted(_diagram(each, store, full=full)) for each in diagrams),
        entries=tuple(kept),
        benchmarks=_benchmarks(),
        made=_made(time.monotonic() - started, full=full),
    )


class _Counted:
    """A counter of finished values: calling it with a value reports the progress and returns the value."""

    def __init__(self, total: int, tell: Tell | None) -> None:
        self.total, self.tell, self.done = total, tell, 0

    def __call__(self, value: Any) -> Any:
        self.done += 1
        if self.tell:
            self.tell(self.done, self.total)
        return value


def is_figure(experiment: Experiment) -> bool:
    """Whether an experiment is a figure of a paper."""
    return experiment.source.number.startswith(_FIGURES)


def _known(theorem: Theorem) -> Known:
    from verify.checking.check import check

    try:
        checked: CheckResult | str = check(theorem, theorem.example, seconds=_SECONDS)
    except (InputError, TheoremError) as error:
        checked = str(error)
    return Known(theorem, standing(theorem), checked, necessity_map.shipped(theorem), _certificate(theorem.id))


def _certificate(theorem_id: str) -> tuple[str, str] | None:
    """Return the path of a theorem's certificate, which begins with the package, and its SHA-256; None without one."""
    try:
        path = shipped_path(theorem_id)
        content = path.read_bytes()
    except (InputError, OSError):
        return None
    return path.relative_to(path.parents[2]).as_posix(), hashlib.sha256(content).hexdigest()


def _reproduced(finding: Finding) -> Entry:
    """Reproduce a finding in a new process, because this module may not import the command line, which uses it."""
    ran = subprocess.run([sys.executable, "-c", _REPRODUCE, finding.id], capture_output=True, text=True, check=False)  # noqa: S603
    try:
        failures = json.loads(ran.stdout)
    except ValueError:
        failures = [f"it could not be run: {(ran.stderr.strip().splitlines() or ['no output'])[-1]}"]
    return finding_entry(finding, failures)


def _canaries(theorem: Theorem) -> Iterable[Entry]:
    from verify.search.explore import explore

    for canary in theorem.canaries:
        result = explore(theorem.variant(canary.statement), {}, **_CANARY)
        yield canary_entry(theorem.id, canary, result)


def _figure(experiment: Experiment, store: Store | None, *, full: bool) -> Ran:
    """Return a figure: the stored run at the paper's settings, else a stored quick run, else a new quick run.

    A slow quick run is made only if `full`.
    """
    for papers, device in ((True, "auto"), (True, "cpu"), (False, "cpu")):
        if store is not None and (result := experiment.stored(store, device=device, full=papers)) is not None:
            return Ran(experiment, with_theory(result), full=papers)
    if not full:
        seconds = experiment.expected(device="cpu")
        if seconds is None:
            return Ran(experiment, None, "how long a quick run takes is not known, and none is stored")
        if seconds > _PATIENCE:
            return Ran(experiment, None, f"a quick run takes about {duration_text(seconds)}, and none is stored")
    try:
        with _one_thread():
            return Ran(experiment, with_theory(experiment.run(device="cpu", store=store)))
    except (InputError, TheoremError) as error:
        return Ran(experiment, None, str(error))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let PyTorch use one thread: the matrices of quick runs are small, and a second thread makes them slower."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _diagram(diagram: Diagram, store: Store | None, *, full: bool) -> Ran:
    try:
        return Ran(diagram, diagram.run(store, full=full), full=full)
    except (InputError, TheoremError) as error:
        return Ran(diagram, None, str(error))


def _benchmarks() -> str:
    """Return the text of BENCHMARKS.md; "" if it is missing, as beside an installed package."""
    with suppress(OSError):
        return (package_folder("verify").parent / "BENCHMARKS.md").read_text(encoding="utf-8")
    return ""


def _made(seconds: float, *, full: bool) -> dict[str, str]:
    """Return the provenance of the report: command, versions, commit and machine."""
    made = {
        "command": "verify report --full" if full else "verify report",
        "lemmascope": version(),
        "by": str(metadata.metadata("lemmascope").json.get("author", "")),
        "commit": commit_of(Path(__file__).parent),
        "Python": sys.version.split()[0],
        "machine": f"{platform.system()} {platform.machine()}",
        "seed": "0",
        "seconds": f"{seconds:.0f}",
        "at": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }
    for name in _BUILT_ON:
        with suppress(metadata.PackageNotFoundError):
            made[name] = metadata.version(name)
    return made
