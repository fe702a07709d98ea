"""Experiments: simulations from the definitions, from settings to measurements and curves with standard errors."""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from verify.devices import device_named
from verify.errors import InputError, TheoremError
from verify.outcomes import SCHEMA, json_numbers
from verify.parameters import Instance, Parameter, Value

if TYPE_CHECKING:
    from verify.sources import Source

_FEWEST = 2
"""Values of a setting that is varied."""
_TAKEN = ("seed", "device", "full")


@dataclass(frozen=True)
class Measurement:
    """A measured number: the mean of `samples` independent values, and its standard error.

    Standard error 0 says that the value is deterministic up to rounding. (mean − truth) / standard_error
    is Student t with samples − 1 degrees of freedom, up to the non-normality of the values.
    """

    value: float
    standard_error: float = 0.0
    samples: int = 1

    def __post_init__(self) -> None:
        if self.standard_error < 0 or self.samples < 1:
            raise TheoremError("a measurement has a standard error >= 0 and at least one sample")
        if self.standard_error > 0 and self.samples < 2:
            raise TheoremError("a standard error needs at least two samples")

    def band(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of the mean, by Student's t; a point where the error is 0."""
        if not self.standard_error:
            return self.value, self.value
        from scipy.stats import t

        half = float(t.ppf(0.975, self.samples - 1)) * self.standard_error
        return self.value - half, self.value + half


@dataclass(frozen=True)
class Curve:
    """A quantity measured along something that varies, such as the steps of a training.

    `over` and `quantity` name the two axes, with their units; curves that agree in both share a plot.
    """

    over: str
    quantity: str
    at: tuple[float, ...]
    measured: tuple[Measurement, ...]

    def __post_init__(self) -> None:
        if not self.at or len(self.at) != len(self.measured):
            raise TheoremError(f"a curve over {self.over} needs a measurement at each of its points, and a point")

    def to_json(self) -> dict[str, Any]:
        """Return every number that is plotted: the points, the means and the ends of their confidence bands."""
        lower, upper = zip(*(measured.band() for measured in self.measured), strict=True)
        return {
            "over": self.over,
            "quantity": self.quantity,
            "at": list(self.at),
            "value": [measured.value for measured in self.measured],
            "lower": list(lower),
            "upper": list(upper),
            "standard_error": [measured.standard_error for measured in self.measured],
            "samples": [measured.samples for measured in self.measured],
        }


@dataclass(frozen=True)
class Setting:
    """One setting of an experiment: its domain, its value in a quick run, and the paper's own under `full`."""

    parameter: Parameter
    quick: Value
    full: Value


@dataclass(frozen=True)
class ExperimentResult:
    """What an experiment measured, and all that is needed to measure it again."""

    experiment: str
    settings: Instance
    seed: int
    device: str
    measurements: Mapping[str, Measurement]
    seconds: float
    curves: Mapping[str, Curve] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the object of `verify simulate --json`, without `schema` and `version`."""
        return {
            "experiment": self.experiment,
            "settings": json_numbers(self.settings),
            "seed": self.seed,
            "device": self.device,
            "measurements": {name: asdict(measured) for name, measured in self.measurements.items()},
            "curves": {name: curve.to_json() for name, curve in self.curves.items()},
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class Experiment:
    """A simulation written from the definitions.

    Parameters
    ----------
    id, title, source
        `paper.name`, one line, and what it simulates.
    settings
        What may be set; what is not given takes its quick or full value.
    measure
        `measure(settings, seed=…, device=…)` with exact values of all settings and the device `cpu` or
        `cuda`; returns named measurements and curves, and raises InputError for settings that do not fit
        together. The ends of a curve are measurements too: NAME_start and NAME_end.
    """

    id: str
    title: str
    source: "Source"
    settings: tuple[Setting, ...]
    measure: Callable[..., Mapping[str, Measurement | Curve]]

    def __post_init__(self) -> None:
        names = [setting.parameter.name for setting in self.settings]
        for name in names:
            if name in _TAKEN or names.count(name) > 1:
                raise TheoremError(f"experiment {self.id}: the setting's name {name} is taken")
        for setting in self.settings:
            for value in (setting.quick, setting.full):
                setting.parameter.parse(value)

    def refuse_options(self, given: Mapping[str, Any]) -> None:
        """Raise InputError for a seed, a device or `full` among the settings."""
        for name in _TAKEN:
            if name in given:
                raise InputError(name, given[name], f"is no setting of {self.id}, but the option --{name}")

    def varied(self, given: Mapping[str, str]) -> str | None:
        """Return the setting that is given several values, separated by commas; InputError for two of them."""
        lists = {setting.parameter.name for setting in self.settings if setting.parameter.kind == "rationals"}
        first, *more = [name for name, text in given.items() if "," in text and name not in lists] or [None]
        for name in more:
            raise InputError(name, given[name], f"must be one value, where {first} has several")
        return first

    def run(
        self, /, *, seed: int = 0, device: str = "auto", full: bool = False, **settings: object
    ) -> ExperimentResult:
        """Measure. Raises InputError for an unknown setting, a bad value, or a run that diverges."""
        chosen = self._chosen(settings, full=full)
        where = device_named(device)
        started = time.monotonic()
        measurements: dict[str, Measurement] = {}
        curves: dict[str, Curve] = {}
        for name, found in self.measure(chosen, seed=seed, device=where).items():
            if isinstance(found, Curve):
                curves[name] = found
                measurements |= {f"{name}_start": found.measured[0], f"{name}_end": found.measured[-1]}
            else:
                measurements[name] = found
            for measured in found.measured if isinstance(found, Curve) else (found,):
                if not (math.isfinite(measured.value) and math.isfinite(measured.standard_error)):
                    raise InputError(name, measured.value, f"is not finite: {self.id} diverges at these settings")
        return ExperimentResult(self.id, chosen, seed, where, measurements, time.monotonic() - started, curves)

    def along(
        self,
        name: str,
        values: Sequence[object],
        /,
        *,
        seed: int = 0,
        device: str = "auto",
        full: bool = False,
        **settings: object,
    ) -> ExperimentResult:
        """Measure at several values of a setting, each with the same seed: curves over the setting.

        A curve of a run gives its last point, and each measurement becomes a curve of its own. Raises InputError.
        """
        parameter = next((s.parameter for s in self.settings if s.parameter.name == name), None)
        if parameter is None or parameter.kind not in ("integer", "rational"):
            raise InputError(name, values, "must be a setting that is one number, to be varied")
        at = [parameter.parse(value) for value in values]
        if len(at) < _FEWEST or len(set(at)) < len(at):
            raise InputError(name, ",".join(map(str, values)), "must have two values or more, all different")
        # All are read before the first runs.
        for value in at:
            self._chosen({**settings, name: value}, full=full)
        runs = [self.run(seed=seed, device=device, full=full, **{**settings, name: value}) for value in at]
        points = [
            {key: (curve.quantity, curve.measured[-1]) for key, curve in run.curves.items()}
            | {
                key: (key.replace("_", " "), measured)
                for key, measured in run.measurements.items()
                if key.removesuffix("_start").removesuffix("_end") not in run.curves
            }
            for run in runs
        ]
        where = tuple(float(Fraction(value)) for value in at)
        over = f"{name}: {parameter.meaning}"
        curves = {
            key: Curve(over, quantity, where, tuple(point[key][1] for point in points))
            for key, (quantity, _) in points[0].items()
        }
        chosen = {**runs[0].settings, name: tuple(at)}
        seconds = sum(run.seconds for run in runs)
        return ExperimentResult(self.id, chosen, seed, runs[0].device, {}, seconds, curves)

    def _chosen(self, given: Mapping[str, Any], *, full: bool) -> dict[str, Value]:
        known = [setting.parameter.name for setting in self.settings]
        for name, value in given.items():
            if name not in known:
                raise InputError(name, value, f"is no setting of {self.id}; its settings are {', '.join(known)}")
        return {
            s.parameter.name: s.parameter.parse(given.get(s.parameter.name, s.full if full else s.quick))
            for s in self.settings
        }


def make_folder(folder: Path) -> None:
    """Make a folder to write to, before the run. Raises InputError where nothing can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unwritten(folder, error) from error


def write_run(result: ExperimentResult, folder: Path) -> list[Path]:
    """Write a run to EXPERIMENT.json in a folder, and where it has curves to EXPERIMENT.png; each whole or not at all.

    Raises InputError where they cannot be written.
    """
    from verify.version import version

    body = {"schema": SCHEMA, "version": version(), **result.to_json()}
    files = {".json": (json.dumps(body, indent=2, allow_nan=False) + "\n").encode()}
    if result.curves:
        from verify.plots import plotted

        files[".png"] = plotted(result)
    paths = []
    try:
        for suffix, content in files.items():
            path = folder / f"{result.experiment}{suffix}"
            part = path.with_name(path.name + ".part")
            part.write_bytes(content)
            part.replace(path)
            paths.append(path)
    except OSError as error:
        raise _unwritten(folder, error) from error
    return paths


def _unwritten(folder: Path, error: OSError) -> InputError:
    return InputError("--out", folder, f"cannot be written: {error.strerror}")
