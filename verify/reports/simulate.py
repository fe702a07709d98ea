"""The work of `verify simulate` around a run: storing and writing its results, and adding theory's predictions."""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from verify.checking.registry import ids
from verify.errors import InputError
from verify.files import json_object, name_in_file, replaceable, whole
from verify.installed import version
from verify.outcomes import SCHEMA
from verify.reports.plots.experiment_plots import plotted, why_no_plot
from verify.runs.comparisons import load_prediction
from verify.runs.experiments import Experiment, ExperimentResult
from verify.runs.store import Store, default_store

_SUFFIXES = (".json", ".csv", ".parquet", ".png")
"""The suffixes of the files of one result."""
_RESULT = {"schema", "version", "seed"}
"""Keys that the JSON file of every result has."""
_UNITS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))


def with_theory(result: ExperimentResult) -> ExperimentResult:
    """Return a result with theory's predictions of its curves, if a prediction is registered for the experiment."""
    if result.experiment not in ids("prediction"):
        return result
    return replace(result, theory=dict(load_prediction(result.experiment).predict(result)))


def usable_store(path: Path | None) -> Store | None:
    """Return the store at a path; without a path the default store, or None if nothing can be written there."""
    if path is not None:
        return Store(path)
    default = default_store()
    try:
        make_folder(default.parent)
    except InputError:
        return None
    return Store(default)


def announced(experiment: Experiment, store: Store | None) -> Callable[[float], None]:
    """Return a function, to be called before a run, that prints the run's expected duration to standard error."""
    resumed = experiment.resumable and store is not None

    def announce(seconds: float) -> None:
        how = "; interrupted: the same command resumes it from its last checkpoint" if resumed else ""
        sys.stderr.write(f"{experiment.id}: about {duration_text(seconds)} from the start, on this machine{how}\n")
        sys.stderr.flush()

    return announce


def duration_text(seconds: float) -> str:
    """Return a duration in seconds >= 0 as text, to two digits: in h from 1 h on, in min from 1 min on, else in s."""
    size, unit = next((pair for pair in _UNITS if seconds >= pair[0]), _UNITS[-1])
    return f"{float(f'{seconds / size:.2g}'):g} {unit}"


def make_folder(folder: Path) -> None:
    """Make a folder to write to, before the run. Raises InputError if nothing can be written in it."""
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass


def write_run(result: ExperimentResult, folder: Path) -> list[Path]:
    """Write a run to EXPERIMENT.json in a folder, and its plot, if any, to EXPERIMENT.png; each whole or not at all.

    Raises InputError if a file cannot be written, or would overwrite a file that is not a result.
    """
    text = report_text(result.to_json())
    writers = {".json": lambda path: path.write_text(text, encoding="utf-8", newline="\n")}
    if not why_no_plot(result):
        png = plotted(result)
        writers[".png"] = lambda path: path.write_bytes(png)
    return write_files(folder, result.experiment, writers)


def report_text(body: Mapping[str, object]) -> str:
    """Return a result as the text of a JSON file."""
    return json.dumps({"schema": SCHEMA, "version": version(), **body}, indent=2, allow_nan=False) + "\n"


def write_files(folder: Path, name: str, writers: Mapping[str, Callable[[Path], object]]) -> list[Path]:
    """Write files of one name to a folder, each by the writer of its suffix, and whole or not at all.

    Raises InputError if a file cannot be written, or would overwrite a file that is not a result.
    """
    refuse_others(folder, name)
    # The JSON file is written first: it marks the other files as results, even if writing them is interrupted.
    suffixes = sorted(writers, key=lambda suffix: suffix != ".json")
    paths = [folder / f"{name}{suffix}" for suffix in suffixes]
    for path, write in zip(paths, (writers[suffix] for suffix in suffixes), strict=True):
        with _writing(folder), whole(path) as part:
            write(part)
    return paths


def refuse_others(folder: Path, name: str) -> None:
    """Raise InputError if a result's files would overwrite other files; to be called before anything is computed.

    Existing files may be overwritten if they are empty, or if the JSON file of this name has a result.
    """
    stem = name_in_file("id", name)
    there = [path for suffix in _SUFFIXES if os.path.lexists(path := folder / f"{stem}{suffix}")]
    with _writing(folder):
        known = folder / f"{stem}.json"
        ours = known.is_file() and replaceable(known, lambda content: _RESULT <= json_object(content).keys())
        if foreign := [path for path in there if not (path.is_file() and (ours or not path.stat().st_size))]:
            raise InputError("--out", foreign[0], "exists and is not a file of such a result; not overwritten")


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError("--out", folder, f"cannot be written: {error.strerror}") from error
