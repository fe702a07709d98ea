"""Experiments: simulations from the definitions, from settings to measurements with standard errors."""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.devices import device_named
from verify.errors import InputError, TheoremError
from verify.outcomes import SCHEMA, json_numbers
from verify.parameters import Instance, Parameter, Value

if TYPE_CHECKING:
    from verify.statement import Source

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

    def to_json(self) -> dict[str, Any]:
        """Return the object of `verify simulate --json`, without `schema` and `version`."""
        return {
            "experiment": self.experiment,
            "settings": json_numbers(self.settings),
            "seed": self.seed,
            "device": self.device,
            "measurements": {name: asdict(measured) for name, measured in self.measurements.items()},
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
        `cuda`; returns named measurements, and raises InputError for settings that do not fit together.
    """

    id: str
    title: str
    source: "Source"
    settings: tuple[Setting, ...]
    measure: Callable[..., Mapping[str, Measurement]]

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

    def run(
        self, /, *, seed: int = 0, device: str = "auto", full: bool = False, **settings: object
    ) -> ExperimentResult:
        """Measure. Raises InputError for an unknown setting, a bad value, or a run that diverges."""
        chosen = self._chosen(settings, full=full)
        where = device_named(device)
        started = time.monotonic()
        measurements = dict(self.measure(chosen, seed=seed, device=where))
        for name, measured in measurements.items():
            if not (math.isfinite(measured.value) and math.isfinite(measured.standard_error)):
                raise InputError(name, measured.value, f"is not finite: {self.id} diverges at these settings")
        return ExperimentResult(self.id, chosen, seed, where, measurements, time.monotonic() - started)

    def _chosen(self, given: Mapping[str, Any], *, full: bool) -> dict[str, Value]:
        known = [setting.parameter.name for setting in self.settings]
        for name, value in given.items():
            if name not in known:
                raise InputError(name, value, f"is no setting of {self.id}; its settings are {', '.join(known)}")
        return {
            s.parameter.name: s.parameter.parse(given.get(s.parameter.name, s.full if full else s.quick))
            for s in self.settings
        }


def write_measurements(result: ExperimentResult, folder: Path) -> Path:
    """Write a run to EXPERIMENT.json in a folder, whole or not at all. Raises InputError where it cannot be written."""
    from verify.version import version

    path = folder / f"{result.experiment}.json"
    body = {"schema": SCHEMA, "version": version(), **result.to_json()}
    part = path.with_name(path.name + ".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(body, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise InputError("--out", folder, f"cannot be written: {error.strerror}") from error
    return path
