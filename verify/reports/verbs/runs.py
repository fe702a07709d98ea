"""The verbs that run for long: `sweep` and `observe` over many instances, `simulate` for an experiment."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.reports.verbs.given import given_values, loaded_theorem
from verify.runs.sweeps.limits import SWEEP

if TYPE_CHECKING:
    from verify.checking.theorem import Theorem
    from verify.runs.experiments import Experiment, ExperimentResult
    from verify.runs.store import Store
    from verify.runs.sweeps.observation import Observation
    from verify.runs.sweeps.sweep import SweepResult


def sweep(
    theorem: "Theorem | str",
    /,
    over: Mapping[str, Any] | None = None,
    given: Mapping[str, Any] | None = None,
    *,
    store: "Store | Path | str | None" = None,
    jobs: int = 1,
    scheduler: str | None = None,
    seconds: float = SWEEP.seconds,
    seed: int = 0,
    certify: bool = False,
    recheck: int | None = None,
    recheck_seed: int | None = None,
    tell: Callable[[int, int], None] | None = None,
    **values: Any,
) -> "SweepResult":
    """Check a theorem at every instance of a grid; a store, if given, keeps the rows for reuse.

    Parameters
    ----------
    theorem
        An id, a statement in a line, `file.py:name` (the file's code is run) or a `Theorem`.
    over
        Values by parameter name: `start:stop:count`, `start:stop:count:log`, `v1,v2,…`, or a sequence or array.
    given
        The other values, by parameter name.
    store
        A `Store` or its path; None keeps the rows only as long as the result exists.
    jobs
        Number of local processes.
    scheduler
        Address of a Dask scheduler, such as tcp://…; by default local processes.
    seconds
        Time budget per instance, in seconds.
    seed
        Seed of the random numbers.
    certify
        Decide every instance by the exact check, never by float64 alone.
    recheck
        Number of reused rows to recompute, drawn at random; by default none.
    recheck_seed
        Seed of the draw of the rows to recompute; by default a new seed each time, which the result reports.
    tell
        `tell(done, total)` is called with the progress.
    **values
        More values, by keyword.

    Returns
    -------
    SweepResult
        `counts` of outcomes, `rows()`, `to_frame()` and `plot()`.

    Raises
    ------
    InputError
        For an unknown theorem or grid, and for values that are missing, unknown or outside their domains.

    Examples
    --------
    >>> import verify
    >>> swept = verify.sweep("wang2024.stationary_points", {"T": "9:12:2"}, q=2, d=1)
    >>> swept.counts["verified"]
    2
    """
    from verify.runs.sweeps import sweep as runs

    loaded = loaded_theorem(theorem)
    return runs.sweep(
        loaded,
        {} if over is None else over,
        given_values(given, values, sweep, loaded),
        store=store,
        jobs=jobs,
        scheduler=scheduler,
        seconds=seconds,
        seed=seed,
        certify=certify,
        recheck=recheck,
        recheck_seed=recheck_seed,
        tell=tell,
    )


def observe(
    theorem: "Theorem | str",
    /,
    steps: Sequence[int] | int,
    over: Mapping[str, Any] | None = None,
    given: Mapping[str, Any] | None = None,
    **values: Any,
) -> "Observation":
    """Iterate the theorem's recursion in float64, at one or many instances; nothing is proved.

    Parameters
    ----------
    theorem
        An id, `file.py:name` (the file's code is run) or a `Theorem`.
    steps
        Numbers of steps >= 0 after which the observable is reported, increasing; or one number.
    over
        Values by parameter name, as in `sweep`; None for one instance.
    given
        The other values, by parameter name.
    **values
        More values, by keyword.

    Returns
    -------
    Observation
        `instances`, and `values`: a float64 array of shape (instances, steps).

    Raises
    ------
    InputError
        For a theorem without a recursion, and for values that are missing, unknown or outside their domains.

    Examples
    --------
    >>> import verify
    >>> run = verify.observe("wang2024.theorem1", [10, 100], {"eta": ["1/20", "1/10"]}, T=9, q=2, d=1)
    >>> run.values.shape
    (2, 2)
    """
    from verify.runs.sweeps import observation

    loaded, at = loaded_theorem(theorem), [steps] if isinstance(steps, int) else steps
    return observation.observe(loaded, at, over or {}, given_values(given, values, observe, loaded))


def simulate(
    experiment: "Experiment | str",
    settings: Mapping[str, Any] | None = None,
    /,
    *,
    seed: int = 0,
    device: str = "auto",
    full: bool = False,
    store: "Store | None" = None,
    jobs: int = 1,
    scheduler: str | None = None,
    tell: Callable[[int, int], None] | None = None,
    announce: Callable[[float], None] | None = None,
    **more: Any,
) -> "ExperimentResult":
    """Run an experiment: measurements with standard errors, curves, and theory's predictions of the curves.

    Parameters
    ----------
    experiment
        An id, `file.py:name` (the file's code is run) or an `Experiment`.
    settings
        Values by setting; one setting may have several, `"v1,v2,…"`: then theory's predictions are left out.
    seed
        Seed of the random numbers.
    device
        The device of the run: `auto`, `cpu` or `cuda`.
    full
        Use the paper's own values for settings that are not given.
    store
        A `Store` of results to reuse and to add to; None stores nothing.
    jobs
        Number of local processes; each runs one value of a varied setting at a time.
    scheduler
        Address of a Dask scheduler, such as tcp://…; by default local processes.
    tell
        `tell(done, total)` is called with the progress.
    announce
        `announce(seconds)` is called with the expected time before a run begins.
    **more
        More settings, by keyword.

    Returns
    -------
    ExperimentResult
        `measurements` with standard errors, `curves`, `heat_maps`, `theory`, the seed and the device.

    Raises
    ------
    InputError
        For an unknown experiment, and for settings that are unknown or outside their domains.

    Examples
    --------
    >>> import verify
    >>> trained = verify.simulate("wang2024.one_hot_training", T=4, q=1, steps=5, window=2, device="cpu")
    >>> trained.settings["T"], trained.seed, trained.device
    (4, 0, 'cpu')
    """
    from verify.executor import workers
    from verify.reports.simulate import with_theory
    from verify.runs.experiments import load_experiment

    loaded = load_experiment(experiment) if isinstance(experiment, str) else experiment
    given = given_values(settings, more)
    options = {"seed": seed, "device": device, "full": full, "store": store, "tell": tell, "announce": announce}
    if varied := loaded.varied(given):
        values = given.pop(varied).split(",")
        return loaded.along(varied, values, jobs=jobs, scheduler=scheduler, **options, **given)
    with workers(jobs, scheduler):
        # A single run needs no workers: they are opened only so that a bad `jobs` or `scheduler` is refused.
        pass
    return with_theory(loaded.run(**options, **given))
