"""The store: a row for each finished run, shared by processes; an unusable file is refused in one line."""

import json
import math
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

from verify import Curve, Experiment, HeatMap, InputError, Measurement, Parameter, Setting, Source, Store
from verify.checking import doors
from verify.checking.processes.code import code_version, read_code_version
from verify.rechecker.registry import Door, Rechecks
from verify.runs.store import Key, settings_digest

KEY = Key("digest", "code", 2**63 - 1, "cpu")
SETTINGS = (
    Setting(Parameter("n", "integer", "a size", minimum=1), 3, 30),
    Setting(Parameter("rate", "rational", "a rate", above=0), "1/10", "1/100"),
)
CURVE = Curve("steps", "loss", (0.0, 1.5), (Measurement(0.1, 1e-17, 3), Measurement(1 / 3)), logarithmic=True)
MAP = HeatMap("row", "column", "entries", ((0.1, -2.0), (3.0, 1e-300)))


@pytest.fixture
def counted():
    """An experiment, and the list of the sizes at which it was measured."""
    calls = []

    def measure(settings, *, seed, device):
        calls.append(settings["n"])
        return {"value": Measurement(float(settings["rate"]) * math.pi, 0.1, 4), "line": CURVE, "matrix": MAP}

    return Experiment("user.counted", "a title", Source("1", "derived here"), SETTINGS, measure), calls


def test_written_results_are_read_back(tmp_path):
    store = Store(tmp_path / "results.sqlite")
    assert store.read(KEY) is None
    store.write(KEY, "user.thing", {"value": 0.1, "list": [1, None]})
    again = Store(store.path)
    assert again.read(KEY) == {"value": 0.1, "list": [1, None]}
    for other in (KEY._replace(digest="x"), KEY._replace(code="x"), KEY._replace(seed=1), KEY._replace(device="cuda")):
        assert again.read(other) is None


@pytest.mark.parametrize(
    "spoil",
    [
        *(lambda _, text=text: text for text in ("{", "[]", "{}", '{"measurements": 3}')),
        lambda body: {name: part for name, part in body.items() if name != "curves"},
        lambda body: {**body, "seed": 7},
        lambda body: {**body, "seconds": "long"},
        lambda body: {**body, "measurements": []},
        lambda body: {**body, "measurements": {"value": {"value": "1"}}},
        lambda body: {**body, "measurements": {**body["measurements"], "value": {"value": math.inf}}},
        lambda body: {**body, "curves": {"line": {**body["curves"]["line"], "value": [0.1]}}},
        lambda body: {**body, "settings": {"n": 4}},
        lambda body: {**body, "more": 1},
    ],
)
def test_a_kept_result_that_does_not_fit_is_one_line(counted, tmp_path, spoil):
    experiment, calls = counted
    store = Store(tmp_path / "s")
    experiment.run(device="cpu", store=store)
    assert experiment.run(device="cpu", store=store).from_store and len(calls) == 1
    with closing(sqlite3.connect(store.path)) as connection, connection:
        (text,) = connection.execute("SELECT body FROM results").fetchone()
        spoiled = spoil(json.loads(text))
        connection.execute(
            "UPDATE results SET body = ?", (spoiled if isinstance(spoiled, str) else json.dumps(spoiled),)
        )
    with pytest.raises(
        InputError, match=r"--store = .*: has a result (of user\.counted that cannot be read|that is not)"
    ):
        experiment.run(device="cpu", store=store)


def test_a_folder_that_is_not_there_is_not_made(cli, tmp_path):
    with pytest.raises(InputError, match=r"--store = .*: cannot be written: there is no folder"):
        Store(tmp_path / "none" / "results.sqlite")
    file = str(tmp_path / "none" / "s")
    for words in (("sweep", "wang2024.lemma1", "--over", "T=4:5:2", "q=2"), ("simulate", "wang2024.one_hot_training")):
        code, out, err = cli(*words, "--store", file)
        assert (code, out, err.count("\n")) == (2, "", 1) and "there is no folder" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("options", "kept"), [({}, 1), ({"replace": True}, 2)])
def test_of_two_results_for_one_key_the_first_is_kept_unless_it_is_to_be_replaced(tmp_path, options, kept):
    store = Store(tmp_path / "results.sqlite")
    store.write(KEY, "user.thing", {"value": 1})
    store.write_many("user.thing", [(KEY, {"value": 2})], **options)
    assert store.read(KEY) == {"value": kept}


def test_a_second_run_is_served_exactly_and_not_measured(tmp_path, counted):
    experiment, calls = counted
    first = experiment.run(device="cpu", store=Store(tmp_path / "s"))
    second = experiment.run(device="cpu", store=Store(tmp_path / "s"))
    assert len(calls) == 1 and second.from_store and not first.from_store
    for name in ("experiment", "settings", "seed", "device", "measurements", "curves", "heat_maps"):
        assert getattr(first, name) == getattr(second, name)
    assert second.settings["rate"] == Fraction(1, 10) and second.curves["line"].logarithmic


@pytest.mark.parametrize("other", [{"seed": 1}, {"n": 4}, {"rate": "0.1000001"}, {"full": True}])
def test_another_run_is_measured(tmp_path, counted, other):
    experiment, calls = counted
    store = Store(tmp_path / "s")
    experiment.run(device="cpu", store=store)
    assert not experiment.run(device="cpu", store=store, **other).from_store and len(calls) == 2
    assert experiment.run(device="cpu", store=store, n="3", rate="0.1").from_store


def test_each_value_of_a_varied_setting_is_kept(tmp_path, counted):
    experiment, calls = counted
    store = Store(tmp_path / "s")
    experiment.run(device="cpu", store=store, n=2)
    found = experiment.along("n", [1, 2, 3], device="cpu", store=store)
    assert calls == [2, 1, 3] and not found.from_store
    again = experiment.along("n", [1, 2, 3], device="cpu", store=store)
    assert len(calls) == 3 and again.from_store and again.curves == found.curves


def test_without_a_store_nothing_is_kept(counted):
    experiment, calls = counted
    assert not any(experiment.run(device="cpu").from_store for _ in range(2)) and len(calls) == 2


def test_a_failure_is_not_kept(tmp_path):
    outcomes = [InputError("n", 3, "does not fit"), {"value": Measurement(math.nan)}, {"value": Measurement(1.0)}]

    def measure(settings, *, seed, device):
        found = outcomes.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    experiment = Experiment("user.fails", "a title", Source("1", "derived here"), SETTINGS, measure)
    store = Store(tmp_path / "s")
    for message in ("does not fit", "is not finite"):
        with pytest.raises(InputError, match=message):
            experiment.run(device="cpu", store=store)
    assert experiment.run(device="cpu", store=store).measurements["value"].value == 1.0
    assert experiment.run(device="cpu", store=store).from_store


def test_settings_have_one_digest_in_any_order_and_by_value():
    one = settings_digest("a", {"x": 1, "y": Fraction(1, 2)})
    assert one == settings_digest("a", {"y": Fraction(2, 4), "x": 1})
    assert len({one, settings_digest("b", {"x": 1, "y": Fraction(1, 2)}), settings_digest("a", {"x": 1})}) == 3
    assert settings_digest("a", {"x": 1}) != settings_digest("a", {"x": "1"})


def test_edited_code_is_another_version(tmp_path, monkeypatch):
    folder = tmp_path / "edited_package"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "inner" / "thing.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)

    def read():
        return read_code_version("edited_package.inner.thing")

    before = read()
    assert code_version("edited_package.inner.thing") == before
    assert before and before == read()
    (folder / "inner" / "thing.py").write_text("x = 2\n")
    assert read() != before == code_version("edited_package.inner.thing")
    (folder / "inner" / "thing.py").write_text("x = 1\n")
    assert read() == before
    (folder / "other.py").write_text("")
    assert read() != before


def test_another_text_behind_a_door_is_another_version(monkeypatch):
    one = Door("dist.helps", "packaged", "0" * 64, lambda: Rechecks(1))
    monkeypatch.setattr(doors, "doors", lambda: ((one,), ()))
    before = read_code_version("verify")
    monkeypatch.setattr(doors, "doors", lambda: ((replace(one, digest="1" * 64),), ()))
    assert before and read_code_version("verify") != before


def test_code_that_is_not_to_be_found_is_not_kept(tmp_path, counted):
    experiment, calls = counted
    experiment.measure.__module__ = "no_such_module_anywhere"
    experiment = replace(experiment)
    store = Store(tmp_path / "s")
    assert not any(experiment.run(device="cpu", store=store).from_store for _ in range(2)) and len(calls) == 2


def test_code_that_was_edited_since_it_was_loaded_is_not_kept(tmp_path, monkeypatch):
    (tmp_path / "edited_later.py").write_text(
        "from verify import Measurement\ndef measure(settings, *, seed, device):\n    return {'x': Measurement(1.0)}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from edited_later import measure  # pyright: ignore[reportMissingImports]

    experiment = Experiment("user.edited", "a title", Source("1", "derived here"), SETTINGS, measure)
    (tmp_path / "edited_later.py").write_text("edited = True\n")
    store = Store(tmp_path / "s")
    # The loaded code is the old version: a result is neither kept nor served under either version.
    assert not any(experiment.run(device="cpu", store=store).from_store for _ in range(2))
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("SELECT count(*) FROM results").fetchone() == (0,)


@pytest.mark.parametrize("wrap", [partial, lambda measure: partial(partial(measure))])
def test_a_partial_measure_is_of_its_functions_module(tmp_path, counted, wrap):
    experiment, calls = counted
    wrapped = replace(experiment, measure=wrap(experiment.measure))
    store = Store(tmp_path / "s")
    assert [wrapped.run(device="cpu", store=store).from_store for _ in range(2)] == [False, True]
    assert len(calls) == 1 and experiment.run(device="cpu", store=store).from_store


def test_results_of_functions_without_a_module_are_not_kept(tmp_path):
    class Measure:
        def __call__(self, settings, *, seed, device):
            return {"x": Measurement(1.0, None)}

    measure = Measure()
    measure.__module__ = None
    experiment = Experiment("user.bare", "a title", Source("1", "derived here"), SETTINGS, measure)
    store = Store(tmp_path / "s")
    assert not any(experiment.run(device="cpu", store=store).from_store for _ in range(2))


def test_an_unknown_standard_error_is_kept(tmp_path):
    experiment = Experiment(
        *("user.one", "a title", Source("1", "derived here"), SETTINGS),
        lambda settings, *, seed, device: {"x": Measurement(1.0, None)},
    )
    runs = [experiment.run(device="cpu", store=Store(tmp_path / "s")) for _ in range(2)]
    assert runs[1].from_store and [run.measurements["x"] for run in runs] == [Measurement(1.0, None)] * 2
    assert runs[1].to_json()["measurements"]["x"]["standard_error"] is None


def foreign(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE something (x)")


def newer(path):
    Store(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def damaged(path):
    store = Store(path)
    for i in range(200):
        store.write(KEY._replace(seed=i), "user.thing", {"value": "x" * 500})
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.write_text("no database, " * 100), "is no store of results: file is not a database"),
        (foreign, "is the database of another application"),
        (newer, "has the format 99, where this version reads 1"),
        (lambda path: path.mkdir(), "must name a file: it is a folder"),
    ],
)
def test_files_that_are_no_store_are_refused_and_unchanged(cli, tmp_path, spoil, message):
    path = tmp_path / "file"
    spoil(path)
    before = None if path.is_dir() else path.read_bytes()
    words = ("wang2024.one_hot_training", "T=4", "q=1", "steps=5", "window=2", "--device", "cpu")
    code, out, err = cli("simulate", *words, "--store", str(path))
    assert (code, out, err.count("\n")) == (2, "", 1) and "--store" in err and message in err
    assert before is None or path.read_bytes() == before


def test_a_damaged_store_is_refused_and_not_measured_around(tmp_path, counted):
    experiment, calls = counted
    damaged(tmp_path / "s")
    with pytest.raises(InputError, match=r"--store = .*is no store of results"):
        experiment.run(device="cpu", store=Store(tmp_path / "s"))
    assert not calls


WRITER = """
import sys
from pathlib import Path
from verify.runs.store import Key, Store

path, who = Path(sys.argv[1]), int(sys.argv[2])
for i in range(25):
    # Every process opens the store anew each time, the first time before the file exists.
    store = Store(path)
    store.write(Key(f"own {who} {i}", "code", 0, "cpu"), "user.thing", {"by": who, "of": i})
    store.write(Key(f"shared {i}", "code", 0, "cpu"), "user.thing", {"value": i})
    assert store.read(Key(f"shared {i}", "code", 0, "cpu")) == {"value": i}
"""


def test_many_processes_write_at_once(tmp_path):
    path, count = tmp_path / "results.sqlite", 6
    words = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*words, str(who)], stderr=subprocess.PIPE) for who in range(count)]
    errors = [writer.communicate(timeout=120)[1].decode() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * count, errors
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM results").fetchone() == (25 * count + 25,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert Store(path).read(Key("own 3 7", "code", 0, "cpu")) == {"by": 3, "of": 7}


WORDS = ("simulate", "wang2024.one_hot_training", "T=4", "q=1", "steps=5", "window=2", "--device", "cpu")


def test_the_command_line_keeps_results_and_says_so(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = ("--store", str(tmp_path / "mine.sqlite"))
    first, second, anew = (cli(*WORDS, *more)[1] for more in (file, file, ("--no-cache",)))
    assert second.splitlines()[-1].endswith("seed 0, from the store") and "from the store" not in first + anew
    assert second.splitlines()[:-1] == first.splitlines()[:-1] == anew.splitlines()[:-1]
    bodies = [json.loads(cli(*WORDS, *more, "--json")[1]) for more in (file, ("--no-cache",))]
    assert [body.pop("from_store") for body in bodies] == [True, False]
    assert [body.pop("seconds") >= 0 for body in bodies] == [True, True] and bodies[0] == bodies[1]
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("mine.sqlite")] == []


def test_without_a_name_it_is_in_the_working_directory(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("verify.reports.simulate.default_store", lambda: tmp_path / ".lemmascope" / "results.sqlite")
    assert "from the store" not in cli(*WORDS)[1] and "from the store" in cli(*WORDS)[1]
    (tmp_path / "file").write_text("")
    # If the store cannot be written, the experiment is run without it.
    monkeypatch.setattr("verify.reports.simulate.default_store", lambda: tmp_path / "file" / "results.sqlite")
    assert all(cli(*WORDS)[0] == 0 and "from the store" not in cli(*WORDS)[1] for _ in range(2))


def test_a_store_and_no_cache_contradict_each_other(cli, tmp_path):
    code, _, err = cli(*WORDS, "--no-cache", "--store", str(tmp_path / "s"))
    assert code == 2 and err.count("\n") == 1 and "--store" in err


def test_a_file_that_may_not_be_written_is_refused_before_the_run(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(Experiment, "run", lambda *_, **__: pytest.fail("it ran"))
    (tmp_path / "file").write_text("")
    code, _, err = cli(*WORDS, "--store", str(tmp_path / "file" / "below" / "s"))
    assert code == 2 and err.count("\n") == 1 and "cannot be written" in err


def test_many_are_written_and_read_at_once(tmp_path):
    store = Store(tmp_path / "s")
    keys = [Key(f"digest {i}", "code", 0, "cpu") for i in range(1200)]
    store.write_many("user.thing", ((key, {"value": i}) for i, key in enumerate(keys[:1100])))
    found = store.read_many(keys)
    assert set(found) == set(keys[:1100]) and found[keys[7]] == {"value": 7} == store.read(keys[7])
    # Of two rows with the same key the first is kept.
    store.write_many("user.thing", [(keys[7], {"value": -1}), (keys[1150], {"value": 1150})])
    assert store.read(keys[7]) == {"value": 7} and store.read(keys[1150]) == {"value": 1150}
    for other in ({"code": "x"}, {"seed": 1}, {"device": "cuda"}):
        assert store.read_many([key._replace(**other) for key in keys]) == {}
    assert store.read_many([]) == {}


def test_a_result_that_is_no_object_is_refused_or_empty(tmp_path):
    store = Store(tmp_path / "s")
    store.write(KEY, "user.thing", {"value": 1})
    for text in ("[1]", "{", "3"):
        with closing(sqlite3.connect(tmp_path / "s")) as connection, connection:
            connection.execute("UPDATE results SET body = ?", (text,))
        with pytest.raises(InputError, match="has a result that is not"):
            store.read_many([KEY])
        assert store.read_many([KEY], damaged=True) == {KEY: {}}


def test_of_many_all_are_kept_or_none(tmp_path):
    store = Store(tmp_path / "s")
    rows = [(KEY._replace(digest=str(i)), {"value": math.nan if i == 5 else i}) for i in range(10)]
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.write_many("user.thing", rows)
    assert store.read_many([key for key, _ in rows]) == {}
