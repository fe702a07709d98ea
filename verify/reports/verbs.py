"""The verbs, in Python as on the command line, which calls these and nothing else.

A theorem is an id, `file.py:name` or a Theorem. Values are given by keyword or, where a name is that of an option, in a
mapping; what is given both ways is an error. What a verb needs is imported when it is called, as much of it is heavy:
SymPy, FLINT, Hypothesis, PyTorch.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.errors import InputError
from verify.shown import Witness

if TYPE_CHECKING:
    from hypothesis.database import ExampleDatabase

    from verify.checking.theorem import Theorem
    from verify.evaluation.instances import ConditionsResult
    from verify.outcomes import CheckResult
    from verify.rechecker import Accepted
    from verify.reports.pinned_files import Pinned
    from verify.runs.experiments import Experiment, ExperimentResult
    from verify.runs.store import Store
    from verify.runs.sweeps.observation import Observation
    from verify.runs.sweeps.sweep import SweepResult
    from verify.search.necessity import NecessityResult
    from verify.search.proving import ProveResult
    from verify.search.results import ExploreResult, ReachResult

    Progress = Callable[[int], None]


def _loaded(theorem: "Theorem | str") -> "Theorem":
    from verify.checking.loading import load_theorem

    return load_theorem(theorem) if isinstance(theorem, str) else theorem


def _values(mapping: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are given in either way. Raises InputError for a name that is given in both.

    Of a refuted clause's witness, these are the values of the parameters.
    """
    mapping = mapping.instance if isinstance(mapping, Witness) else mapping
    if twice := sorted(set(mapping or {}) & set(keywords)):
        raise InputError(twice[0], keywords[twice[0]], "is given twice, in the mapping and by keyword")
    return {**(mapping or {}), **keywords}


def list_theorems(paper: str | None = None, *, tell: Callable[[int, int], None] | None = None) -> list[dict[str, Any]]:
    """Return a row for each theorem, of a paper's or of all: what `verify list --json` has. Raises InputError."""
    from verify.reports.listing import list_rows

    return list_rows(paper, tell=tell)


def conditions(
    theorem: "Theorem | str", given: Mapping[str, Any] | None = None, /, **values: Any
) -> "ConditionsResult":
    """Say which hypotheses hold, fail or need a parameter, and beyond which the claims are known to hold all the same.

    A partial instance will do. Raises InputError.
    """
    from dataclasses import replace

    from verify.evaluation import instances

    loaded, chosen = _loaded(theorem), _values(given, values)
    result = instances.conditions(loaded, chosen)
    if not (loaded.argument or loaded.beyond):
        return result
    from verify.search.reach import reaches

    lines = (line for line in reaches(loaded, chosen) if line.carried is not None or line.unreadable)
    return replace(result, reaches=tuple(lines))


def check(
    theorem: "Theorem | str",
    given: Mapping[str, Any] | None = None,
    /,
    *,
    seconds: float = 60,
    digits: int = 17,
    seed: int = 0,
    progress: "Progress | None" = None,
    **values: Any,
) -> "CheckResult":
    """Check hypotheses and claim at an instance, within about `seconds`, shown to some digits. Raises InputError."""
    from verify.checking import check as checking

    effort = {"seconds": seconds, "digits": digits, "seed": seed, "progress": progress}
    return checking.check(_loaded(theorem), _values(given, values), **effort)


def prove(theorem: "Theorem | str", *, seconds: float = 60, progress: "Progress | None" = None) -> "ProveResult":
    """Say what carries a theorem's claims for all parameters, at no instance. Raises InputError.

    A counterexample to the claims that are not proved is searched in the rest of the time.
    """
    from verify.search import proving

    return proving.prove(_loaded(theorem), seconds=seconds, progress=progress)


def derive(theorem: "Theorem | str") -> Iterator[Any]:
    """Yield the derivation's steps, each checked as it is yielded. Raises TheoremError at a step that fails."""
    return _loaded(theorem).made_derivation().checked_steps()


def explore(
    theorem: "Theorem | str",
    given: Mapping[str, Any] | None = None,
    /,
    *,
    drop: Sequence[str] = (),
    max_examples: int = 1000,
    seconds: float = 30,
    seed: int = 0,
    database: "ExampleDatabase | None" = None,
    guided: bool = True,
    progress: "Progress | None" = None,
    **values: Any,
) -> "ExploreResult":
    """Search for a counterexample among instances with some values fixed. Raises InputError.

    Parameters
    ----------
    drop
        Labels of hypotheses that are left out.
    max_examples, seconds
        The effort: instances, and wall-clock time.
    database
        Where Hypothesis keeps what failed; nowhere by default.
    guided
        Whether near misses are followed.
    """
    from verify.search import explore as search

    effort = {"max_examples": max_examples, "seconds": seconds, "seed": seed, "guided": guided}
    found = {"database": database, "progress": progress}
    return search.explore(_loaded(theorem), _values(given, values), drop=drop, **effort, **found)


def necessity(
    theorem: "Theorem | str",
    given: Mapping[str, Any] | None = None,
    /,
    *,
    seconds: float = 60,
    seed: int = 0,
    progress: "Progress | None" = None,
    **values: Any,
) -> "NecessityResult | ReachResult":
    """Decide which hypotheses are needed, with `seconds` for each; at values, how far the claims hold beyond each.

    Without values each hypothesis is left out in turn, and a violation is looked for everywhere. Raises InputError.
    """
    loaded, chosen = _loaded(theorem), _values(given, values)
    if chosen:
        from verify.search.reach import reach

        return reach(loaded, chosen, seconds=seconds, progress=progress)
    from verify.search import necessity as search

    return search.necessity(loaded, seconds=seconds, seed=seed, progress=progress)


def sweep(
    theorem: "Theorem | str",
    over: Mapping[str, Any],
    given: Mapping[str, Any] | None = None,
    /,
    *,
    store: "Store | Path | str | None" = None,
    jobs: int = 1,
    scheduler: str | None = None,
    seconds: float = 10,
    seed: int = 0,
    certify: bool = False,
    recheck: float | None = None,
    tell: Callable[[int, int], None] | None = None,
    **values: Any,
) -> "SweepResult":
    """Check at each instance of a grid, kept in a `store`. Raises InputError.

    Parameters
    ----------
    over
        By a parameter's name its values: `start:stop:count`, `…:log`, `v1,v2,…`, or a sequence.
    jobs, scheduler
        Processes of this machine, or the address of a Dask cluster.
    certify
        Whether no instance is decided by float64 alone.
    recheck
        Share, in (0, 1], of the rows that the store serves to compute again.
    """
    from verify.runs.sweeps import sweep as runs

    workers = {"store": store, "jobs": jobs, "scheduler": scheduler, "tell": tell}
    effort = {"seconds": seconds, "seed": seed, "certify": certify, "recheck": recheck}
    return runs.sweep(_loaded(theorem), over, _values(given, values), **workers, **effort)


def observe(
    theorem: "Theorem | str",
    steps: Sequence[int],
    over: Mapping[str, Any] | None = None,
    given: Mapping[str, Any] | None = None,
    /,
    **values: Any,
) -> "Observation":
    """Follow a theorem's recursion in float64, with no claim to proof, at one instance or many. Raises InputError.

    Parameters
    ----------
    steps
        After how many steps its observable is asked for, rising.
    over
        By a parameter's name its values, as in `sweep`.
    """
    from verify.runs.sweeps import observation

    return observation.observe(_loaded(theorem), steps, over or {}, _values(given, values))


def simulate(
    experiment: "Experiment | str",
    settings: Mapping[str, Any] | None = None,
    /,
    *,
    seed: int = 0,
    device: str = "auto",
    full: bool = False,
    store: "Store | None" = None,
    tell: Callable[[int, int], None] | None = None,
    announce: Callable[[float], None] | None = None,
    **more: Any,
) -> "ExperimentResult":
    """Run an experiment, with what theory says of its curves; options as in `Experiment.run`. Raises InputError.

    A setting that is given several values, `v1,v2,…`, is gone along.
    """
    from verify.reports import simulate as reports
    from verify.runs.experiments import load_experiment

    loaded = load_experiment(experiment) if isinstance(experiment, str) else experiment
    options = {"seed": seed, "device": device, "full": full, "store": store, "tell": tell, "announce": announce}
    return reports.simulate(loaded, _values(settings, more), options)


def pin(
    package: str | None = None, *, seconds: float = 60, tell: Callable[[int, int], None] | None = None
) -> "Iterator[Pinned]":
    """Write what no longer fits a package's theorems, and yield each thing once it is written. Raises InputError.

    These are digests, certificates, maps of the hypotheses and FINDINGS.md, of the package whose folder is in the
    working directory or of another; `seconds` is for each example and each hypothesis.
    """
    from verify.reports import pinned_files

    return pinned_files.pin(package, seconds=seconds, tell=tell)


def recheck(path: Path | str) -> "Accepted":
    """Return what a certificate in a file shows. Raises `rechecker.Rejected` or `rechecker.Unreadable`."""
    from verify.checking.standing import pins
    from verify.rechecker import recheck_file

    return recheck_file(path, pins())


def new(path: Path | str, kind: str = "inequality") -> Path:
    """Write a commented theorem file of a kind, inequality, identity, recursion or argument, and return its path.

    The theorem in it has the file's name. Raises InputError for a kind that is not known, a name that Python could not
    import, a file that is there, and where it cannot be written.
    """
    from keyword import iskeyword

    from verify.errors import meant
    from verify.reports.formats.templates import KINDS, template

    target = Path(path)
    if kind not in KINDS:
        raise InputError("--kind", kind, f"is no kind of file; {meant(kind, KINDS)}")
    if target.suffix != ".py" or not target.stem.isidentifier():
        raise InputError("file", path, "must be NAME.py, NAME of letters, digits and _, and no digit first")
    if iskeyword(target.stem):
        raise InputError("file", path, f"must have another name: {target.stem} is a word of Python's own")
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(template(kind, target))
    except FileExistsError:
        raise InputError("file", path, "is there already, and is left as it is") from None
    except OSError as error:
        raise InputError("file", path, f"cannot be written: {error.strerror}") from error
    return target
