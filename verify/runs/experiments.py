"""Experiments: simulations from the definitions, from settings to measurements and curves with standard errors."""

import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from verify.checking.processes.code import code_version, read_code_version
from verify.checking.registry import held_by_module, load_named
from verify.checking.sources import Source
from verify.errors import InputError, TheoremError, meant
from verify.executor import Workers, gathered, workers
from verify.language.labels import TITLE, refuse_bad_id, refuse_bad_text
from verify.language.parameters import Instance, Parameter, Value
from verify.outcomes import json_numbers
from verify.runs.checkpoints import Running, alone
from verify.runs.devices import device_named, machine_of
from verify.runs.measurements import Curve, HeatMap, Measurement, Predicted
from verify.runs.store import Key, Store, settings_digest
from verify.shown import Panelled, Shown

_FEWEST = 2
"""Minimum number of values of a varied setting: one value makes no curve."""
_LARGEST = sys.float_info.max
"""Largest absolute value of a setting, because settings are simulated in float64."""
_TAKEN = ("seed", "device", "full")
"""Options of the command line, which are not settings."""
_OF_RUN = ("store", "tell", "announce", "jobs", "scheduler")
"""Arguments of methods, which are not settings either."""
_PROTOCOL = "protocol"
"""The setting whose word selects the values of the other settings that are not given."""


@dataclass(frozen=True)
class Setting:
    """One setting of an experiment.

    Parameters
    ----------
    parameter
        The setting's name, domain and meaning.
    quick, full
        The value in a quick run, and the paper's value.

    Examples
    --------
    >>> from verify import Parameter, Setting
    >>> Setting(Parameter("n", "integer", "number of examples", minimum=1), 20, 1000).quick
    20
    """

    parameter: Parameter
    quick: Value
    full: Value


@dataclass(frozen=True, kw_only=True, repr=False)
class ExperimentResult(Panelled, Shown):
    """The result of an experiment: its measurements, the settings that reproduce them, and theory, if any.

    Parameters
    ----------
    experiment
        Id of the experiment.
    settings
        Exact values of all settings.
    seed, device
        Seed of the random numbers, and the device of the run.
    measurements, curves, heat_maps
        The measured numbers, curves and matrices, by name.
    seconds
        The run's duration, in seconds.
    theory
        Theory's predictions of the curves, by name.
    from_store
        Whether the result comes from the store.
    interrupted
        Whether Ctrl-C ended the run; the varied setting then has only the values that were measured.

    Examples
    --------
    >>> from verify import ExperimentResult, Measurement
    >>> run = {"settings": {"n": 3}, "seed": 0, "device": "cpu", "seconds": 0.1}
    >>> ExperimentResult(experiment="user.a", measurements={"loss": Measurement(0.5)}, **run).measurements["loss"].value
    0.5
    """

    experiment: str
    settings: Instance
    seed: int
    device: str
    measurements: Mapping[str, Measurement]
    seconds: float
    curves: Mapping[str, Curve] = field(default_factory=dict)
    heat_maps: Mapping[str, HeatMap] = field(default_factory=dict)
    theory: Mapping[str, Predicted] = field(default_factory=dict)
    from_store: bool = False
    interrupted: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the object of `verify simulate --json`, without `schema` and `version`."""
        return {
            "experiment": self.experiment,
            "settings": json_numbers(self.settings),
            "seed": self.seed,
            "device": self.device,
            "measurements": {name: asdict(measured) for name, measured in self.measurements.items()},
            "curves": {name: curve.to_json() for name, curve in self.curves.items()},
            "heat_maps": {name: asdict(heat_map) for name, heat_map in self.heat_maps.items()},
            "theory": {name: predicted.to_json() for name, predicted in self.theory.items()},
            "from_store": self.from_store,
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class Experiment:
    """A simulation written from the definitions.

    Parameters
    ----------
    id, title, source
        `paper.name`, one line, and the source of the simulated result.
    settings
        The settings; a setting that is not given takes its quick or full value.
    measure
        `measure(settings, seed=…, device=…)` with exact values of all settings and the device `cpu` or
        `cuda`; returns named measurements, curves and heat maps, and raises InputError for settings that do not fit
        together. The ends of a curve are measurements too: NAME_start and NAME_end.
    resumable
        Whether `measure` also takes `running=…`, a `Running` for its progress and its checkpoints.
    expect
        `expect(settings, device=…)` returns the estimated seconds of a run on this machine.
    protocols
        For words of the setting `protocol`, the values of other settings that replace their quick and full values.

    Raises
    ------
    TheoremError
        For a bad id, for a setting whose name is taken or is used twice, and for a protocol that names no setting.

    Examples
    --------
    >>> import verify
    >>> training = verify.load_experiment("wang2024.one_hot_training")
    >>> [setting.parameter.name for setting in training.settings][:3]
    ['T', 'q', 'd']
    """

    id: str
    title: str
    source: Source
    settings: tuple[Setting, ...]
    measure: Callable[..., Mapping[str, Measurement | Curve | HeatMap]]
    resumable: bool = False
    expect: Callable[..., float] | None = None
    protocols: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    _code: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refuse_bad_id("experiment", self.id)
        refuse_bad_text(f"experiment {self.id}: title", self.title, TITLE)
        # The version is read when a module is loaded, so that a result is stored under the version that ran.
        object.__setattr__(self, "_code", code_version(_module_of(self.measure)))
        names = [setting.parameter.name for setting in self.settings]
        for name in names:
            if name in (*_TAKEN, *_OF_RUN) or names.count(name) > 1:
                raise TheoremError(f"experiment {self.id}: the setting's name {name} is taken")
        for setting in self.settings:
            for value in (setting.quick, setting.full):
                setting.parameter.parse(value)
        parameters = {setting.parameter.name: setting.parameter for setting in self.settings}
        for word, values in self.protocols.items():
            for name, value in {_PROTOCOL: word, **values}.items():
                if name not in parameters:
                    raise TheoremError(f"experiment {self.id}: {name}, of protocol {word}, is not a setting")
                parameters[name].parse(value)

    def refuse_options(self, given: Mapping[str, object]) -> None:
        """Raise InputError for a seed, a device or `full` among the settings."""
        for name in _TAKEN:
            if name in given:
                raise InputError(name, given[name], f"is not a setting of {self.id}, but the option --{name}")

    def varied(self, given: Mapping[str, object]) -> str | None:
        """Return the name of the setting with several values `v1,v2,…`; None without one. Raises InputError for two."""
        lists = {setting.parameter.name for setting in self.settings if setting.parameter.kind == "rationals"}
        several = [name for name, value in given.items() if isinstance(value, str) and "," in value]
        first, *more = [name for name in several if name not in lists] or [None]
        for name in more:
            raise InputError(name, given[name], f"must be one value, where {first} has several")
        return first

    def run(
        self,
        /,
        *,
        seed: int = 0,
        device: str = "auto",
        full: bool = False,
        store: Store | None = None,
        tell: Callable[[int, int], None] | None = None,
        announce: Callable[[float], None] | None = None,
        **settings: object,
    ) -> ExperimentResult:
        """Measure, or return the stored result of the same run; a new result is stored.

        With a store, a long run that was left unfinished is continued. `tell(done, total)` is called with the progress,
        and `announce(seconds)`, before the run begins, with the expected time. Raises InputError for an unknown
        setting, a bad value, a long run that another process has begun, and a run that diverges, which is not stored.
        """
        chosen = self._chosen(settings, full=full)
        device = device_named(device)
        key = self._key(chosen, seed, device) if store else None
        if store and key and (kept := store.read(key)) is not None:
            return self._served(store, kept, chosen, seed, device)
        checkpoint = store.checkpoint(key) if store and key and self.resumable else None
        with alone(checkpoint):
            running = Running(checkpoint, tell)
            if announce and self.expect:
                announce(self.expect(chosen, device=device))
            started = time.monotonic()
            resuming = {"running": running} if self.resumable else {}
            measured = self.measure(chosen, seed=seed, device=device, **resuming)
            result = self._result(measured, chosen, seed, device, time.monotonic() - started + running.seconds_before)
            if store and key:
                store.write(key, self.id, result.to_json())
                running.forget()
        return result

    def stored(
        self, store: Store, /, *, seed: int = 0, device: str = "auto", full: bool = False, **settings: object
    ) -> ExperimentResult | None:
        """Return the stored result of a run; None if the store has none. Raises InputError as `run` does."""
        chosen, device = self._chosen(settings, full=full), device_named(device)
        key = self._key(chosen, seed, device)
        kept = store.read(key) if key else None
        return None if kept is None else self._served(store, kept, chosen, seed, device)

    def expected(self, *, device: str = "auto", full: bool = False, **settings: object) -> float | None:
        """Return the estimated seconds of a run on this machine; None if they are not known."""
        chosen = self._chosen(settings, full=full)
        return self.expect(chosen, device=device_named(device)) if self.expect else None

    def _served(
        self, store: Store, kept: Mapping[str, Any], chosen: Instance, seed: int, device: str
    ) -> ExperimentResult:
        """Return a stored result if this run would have written the same object; else raise InputError."""
        why = f"has a result of {self.id} that cannot be read"
        try:
            result = self._result(_measured(kept), chosen, seed, device, kept["seconds"])
            as_written = json.loads(json.dumps(result.to_json(), allow_nan=False))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise InputError("--store", store.path, why) from error
        # A result of other settings is refused too, and so is a curve whose ends are not its measurements.
        same = ("experiment", "settings", "seed", "device", "measurements", "heat_maps", "seconds")
        if set(as_written) != set(kept) or any(as_written[name] != kept[name] for name in same):
            raise InputError("--store", store.path, why)
        return replace(result, from_store=True)

    def _result(
        self,
        measured: Mapping[str, Measurement | Curve | HeatMap],
        chosen: Instance,
        seed: int,
        device: str,
        seconds: float,
    ) -> ExperimentResult:
        measurements: dict[str, Measurement] = {}
        for name, value in measured.items():
            if isinstance(value, HeatMap):
                numbers = [number for row in value.values for number in row]
            else:
                means = value.measured if isinstance(value, Curve) else (value,)
                numbers = [number for mean in means for number in (mean.value, mean.standard_error or 0.0)]
                ends = {f"{name}_start": means[0], f"{name}_end": means[-1]}
                measurements |= ends if isinstance(value, Curve) else {name: value}
            wild = next((number for number in numbers if not math.isfinite(number)), None)
            if wild is not None:
                raise InputError(name, wild, f"is not finite: {self.id} diverges at these settings")
        return ExperimentResult(
            experiment=self.id,
            settings=chosen,
            seed=seed,
            device=device,
            measurements=measurements,
            seconds=seconds,
            curves={name: curve for name, curve in measured.items() if isinstance(curve, Curve)},
            heat_maps={name: heat_map for name, heat_map in measured.items() if isinstance(heat_map, HeatMap)},
        )

    def _key(self, chosen: Instance, seed: int, device: str) -> Key | None:
        """Return the store's key of a run; None if the code is not found or has changed since it was loaded."""
        if not self._code or read_code_version(_module_of(self.measure)) != self._code:
            return None
        return Key(settings_digest(self.id, chosen), self._code, seed, machine_of(device))

    def along(
        self,
        name: str,
        values: Sequence[object],
        /,
        *,
        seed: int = 0,
        device: str = "auto",
        full: bool = False,
        store: Store | None = None,
        jobs: int = 1,
        scheduler: str | None = None,
        tell: Callable[[int, int], None] | None = None,
        announce: Callable[[float], None] | None = None,
        **settings: object,
    ) -> ExperimentResult:
        """Measure at several values of a setting, each with the same seed, and return curves over the setting.

        Each measurement, and the last point of each curve of a run, becomes a curve. `jobs` processes of this machine,
        or the workers of a Dask scheduler, measure one value each at a time; other options are as in `run`. After
        Ctrl-C the result has the values measured until then. Raises KeyboardInterrupt if no value was measured, and
        InputError as `run` does, for fewer than two values, and for equal values.
        """
        parameter = next((s.parameter for s in self.settings if s.parameter.name == name), None)
        if parameter is None or parameter.kind not in ("integer", "rational"):
            raise InputError(name, values, "must be a setting with a single number as its value, to be varied")
        varied = [parameter.parse(value) for value in values]
        if len(varied) < _FEWEST or len(set(varied)) < len(varied):
            raise InputError(name, ",".join(map(str, values)), "must have two values or more, all different")
        # All values are read before the first run.
        each = [{**settings, name: value} for value in varied]
        for given in each:
            self._chosen(given, full=full)
        run = {"seed": seed, "device": device_named(device), "full": full}
        with workers(jobs, scheduler) as others:
            if others:
                found, interrupted = self._elsewhere(others, each, run, store, tell, announce)
            else:
                here = partial(self._in_turn, store=store, tell=tell, announce=announce, **run)
                found, interrupted = gathered(others, here, [(i, given, len(each)) for i, given in enumerate(each)])
        if not found:
            raise KeyboardInterrupt
        measured = tuple(result.settings[name] for result in found)
        curves = _over(found, f"{name}: {parameter.meaning}", [float(Fraction(x)) for x in measured])  # pyright: ignore[reportArgumentType, reportCallIssue]
        return ExperimentResult(
            experiment=self.id,
            settings={**found[0].settings, name: measured},
            seed=found[0].seed,
            device=found[0].device,
            measurements={},
            seconds=sum(result.seconds for result in found),
            curves=curves,
            from_store=all(result.from_store for result in found),
            interrupted=interrupted,
        )

    def _in_turn(
        self,
        place: int,
        given: Mapping[str, object],
        count: int,
        *,
        tell: Callable[[int, int], None] | None,
        **run: Any,
    ) -> tuple[ExperimentResult, bool]:
        """Run at one of several values of a setting, in this process; the progress counts all values."""
        of_all = None if tell is None else lambda done, total: tell(place * total + done, count * total)
        return self.run(tell=of_all, **run, **given), False

    def _elsewhere(
        self,
        others: Workers,
        each: Sequence[Mapping[str, object]],
        run: Mapping[str, Any],
        store: Store | None,
        tell: Callable[[int, int], None] | None,
        announce: Callable[[float], None] | None,
    ) -> tuple[list[ExperimentResult], bool]:
        """Run at several values of a setting in other processes; processes of this machine use the store themselves."""
        reference = self.id if self._is(self.id) else (held_by_module(self) or ("",))[0]
        if not reference:
            raise InputError(self.id, "", "is in no module: other processes cannot load it")
        for given in each:
            seconds = self.expected(device=run["device"], full=run["full"], **given)
            if announce and seconds is not None:
                announce(seconds)
        theirs = store.path if store and others.client is None else None
        calls = [(reference, self._code, theirs, {**run, **given}) for given in each]
        found, interrupted = gathered(others, run_elsewhere, calls, tell)
        for result in found if store and theirs is None else ():
            key = self._key(result.settings, result.seed, result.device)
            if store and key:
                store.write(key, self.id, result.to_json())
        return found, interrupted

    def run_of(self, code: str, /, **options: Any) -> ExperimentResult:
        """Run, if the code here has the version `code`. Raises InputError for another version, and as `run` does."""
        if self._code != code:
            raise InputError(self.id, "", "a worker has another version of the experiment or of lemmascope")
        return self.run(**options)

    def _is(self, reference: str) -> bool:
        try:
            return load_experiment(reference) is self
        except InputError:
            return False

    def _chosen(self, given: Mapping[str, object], *, full: bool) -> dict[str, Value]:
        known = [setting.parameter.name for setting in self.settings]
        for name, value in given.items():
            if name not in known:
                raise InputError(
                    name, value, f"is not a setting of {self.id}; {meant(name, known, 'its settings are')}"
                )
        defaults = {s.parameter.name: s.full if full else s.quick for s in self.settings}
        defaults |= self.protocols.get(str(given.get(_PROTOCOL, defaults.get(_PROTOCOL))), {})
        chosen = {s.parameter.name: s.parameter.parse({**defaults, **given}[s.parameter.name]) for s in self.settings}
        for name, value in chosen.items():
            for number in value if isinstance(value, tuple) else (value,):
                if not isinstance(number, str) and abs(number) > _LARGEST:
                    raise InputError(name, given.get(name, ""), "must be a number in float64's range")
        return chosen


def _measured(kept: Mapping[str, Any]) -> dict[str, Measurement | Curve | HeatMap]:
    """Return the measurements, curves and heat maps of an object that `ExperimentResult.to_json` returned."""
    return {
        **{name: Measurement(**measured) for name, measured in kept["measurements"].items()},
        **{name: Curve.from_json(curve) for name, curve in kept["curves"].items()},
        **{name: HeatMap.from_json(values) for name, values in kept["heat_maps"].items()},
    }


def _over(runs: Sequence[ExperimentResult], over: str, points: Sequence[float]) -> dict[str, Curve]:
    """Return measurements, and the last values of curves, as curves over the varied setting; some runs may lack one."""
    measured = [
        {key: (curve.quantity, curve.measured[-1]) for key, curve in run.curves.items()}
        | {
            key: (key.replace("_", " "), measured)
            for key, measured in run.measurements.items()
            if key.removesuffix("_start").removesuffix("_end") not in run.curves
        }
        for run in runs
    ]
    curves = {}
    for key, quantity in {key: quantity for each in measured for key, (quantity, _) in each.items()}.items():
        there = [(x, each[key][1]) for x, each in zip(points, measured, strict=True) if key in each]
        curves[key] = Curve(over, quantity, *zip(*there, strict=True))
    return curves


def _module_of(measure: Callable[..., object]) -> str:
    """Return the module of a callable, or of the function in a partial; "" if there is no module."""
    while isinstance(measure, partial):
        measure = measure.func
    return getattr(measure, "__module__", None) or ""


def run_elsewhere(
    reference: str, code: str, store: Path | None, options: Mapping[str, Any]
) -> tuple[ExperimentResult, bool]:
    """Run an experiment in another process, which loads the experiment itself and gets no Ctrl-C.

    Raises InputError if the other process has another version of the experiment.
    """
    return load_experiment(reference).run_of(code, store=store and Store(store), **options), False


def load_experiment(reference: str) -> Experiment:
    """Return an experiment.

    Parameters
    ----------
    reference
        The experiment's id, or `file.py:name`, whose code is run.

    Returns
    -------
    Experiment
        The experiment.

    Raises
    ------
    InputError
        If there is no such experiment.

    Examples
    --------
    >>> import verify
    >>> verify.load_experiment("wang2024.one_hot_training").id
    'wang2024.one_hot_training'
    """
    return load_named("experiment", Experiment, reference)
