"""`verify simulate`: an experiment from the command line, its JSON, its file, and input that is refused."""

import io
import json
import re
from functools import partialmethod

import pytest

from numerics.sparse_token_selection import figures
from tests.verify.command_line import assert_one_line
from verify import Experiment, ExperimentResult, Measurement, Running, load_experiment
from verify.reports.commands.frame import bar_shown, progress_shown, say, warn
from verify.reports.simulate import duration_text

TINY = ("n=4", "d=2", "steps=2", "batch=4", "search=8", "test=8", "sensitivity=4", "repetitions=2")
ON_CPU = ("simulate", "li2024.closeness", *TINY, "--device", "cpu", "--seed", "3")


def test_json_has_the_measurements_of_the_experiment(cli):
    code, out, err = cli(*ON_CPU, "--json")
    body = json.loads(out)
    assert (code, err, body["schema"], body["experiment"]) == (0, "", 1, "li2024.closeness")
    assert (body["seed"], body["device"], body["settings"]["n"], body["settings"]["tasks"]) == (3, "cpu", 4, "teacher")
    again = load_experiment("li2024.closeness").run(device="cpu", seed=3, **dict(word.split("=") for word in TINY))
    assert body["settings"]["eta_SA"] == "1/200" and set(body["measurements"]) == set(again.measurements)
    for name, measured in again.measurements.items():
        found = body["measurements"][name]
        assert (found["value"], found["standard_error"], found["samples"]) == (
            measured.value,
            measured.standard_error,
            measured.samples,
        )


FILE = """from verify import Experiment, Measurement, Parameter, Setting, Source


def halved(settings, *, seed, device):
    return {"half": Measurement(float(settings["n"]) / 2)}


N = Setting(Parameter("n", "integer", "a number", minimum=1), 4, 8)
halves = Experiment("user.halves", "halves", Source("1", "derived here"), (N,), halved)
"""


def test_an_experiment_of_a_file(cli, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    for reference in (f"{path}:halves", str(path)):
        code, out, err = cli("simulate", reference, "n=6", "--device", "cpu", "--json", "--no-cache")
        body = json.loads(out)
        assert (code, err, body["experiment"]) == (0, "", "user.halves")
        assert body["measurements"]["half"]["value"] == 3
    # In a store the experiment's key includes the text of the file.
    code, out, _ = cli("simulate", str(path), "--device", "cpu", "--json", "--store", str(tmp_path / "kept"))
    again = cli("simulate", str(path), "--device", "cpu", "--json", "--store", str(tmp_path / "kept"))
    assert code == 0 and json.loads(again[1])["from_store"]
    assert_one_line(cli("simulate", f"{path}:halve"), "did you mean halves?")
    assert_one_line(cli("simulate", f"{tmp_path}/none.py:halves"), "experiment", "no such file")
    path.write_text("x = 1\n")
    assert_one_line(cli("simulate", str(path)), "the file contains no experiment")


def test_text_has_a_line_for_each_measurement(cli):
    code, out, _ = cli(*ON_CPU)
    lines = out.splitlines()
    assert code == 0 and lines[0].startswith("li2024.closeness  tasks=teacher n=4 d=2 eta_SA=1/200 steps=2")
    assert any(line.startswith("  cosine_end = ") and " ± " in line and "(2 samples)" in line for line in lines)
    assert lines[-1].startswith("cpu, ") and lines[-1].endswith("seed 3")


def test_a_deterministic_measurement_has_no_spread(cli):
    code, out, _ = cli("simulate", "wang2024.one_hot_training", "T=4", "q=1", "steps=5", "window=2", "--device", "cpu")
    assert code == 0 and "  loss = " in out and "±" not in out


@pytest.mark.parametrize(
    ("value", "error", "said"),
    [
        *((0.123456789, 0.00123, "0.1235 ± 0.0012"), (123.456, 20.0, "123 ± 20"), (-2.0, 1e-9, "-2 ± 1e-09")),
        *((1234567.0, 1e5, "1230000 ± 100000"), (0.0, 0.5, "0.00 ± 0.50")),
    ],
)
def test_a_mean_has_the_digits_that_its_error_leaves(value, error, said):
    measured = {"loss": Measurement(value, error, 7)}
    run = {"settings": {}, "seed": 0, "device": "cpu", "seconds": 0.1}
    assert f"  loss = {said} (7 samples)" in str(ExperimentResult(experiment="user.a", measurements=measured, **run))


def test_the_files_that_are_written_are_named(cli, tmp_path):
    code, out, _ = cli(*ON_CPU, "--out", str(tmp_path))
    assert code == 0 and out.splitlines()[-2:] == [
        str(tmp_path / f"li2024.closeness.{kind}") for kind in ("json", "png")
    ]


def test_the_file_holds_what_is_printed(cli, tmp_path):
    code, out, _ = cli(*ON_CPU, "--json", "--out", str(tmp_path / "deep" / "er"))
    files = {path.name for path in (tmp_path / "deep" / "er").iterdir()}
    assert code == 0 and files == {"li2024.closeness.json", "li2024.closeness.png"}
    assert json.loads((tmp_path / "deep" / "er" / "li2024.closeness.json").read_text()) == json.loads(out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("li2024.nothing",), "experiment = li2024.nothing"),
        (("li2024.closeness", "rows=3"), "rows = 3: is not a setting of li2024.closeness"),
        (("li2024.closeness", "n=1"), "n = 1: must be an integer >= 2"),
        (("li2024.closeness", "n"), "must have the form name=value"),
        (("li2024.closeness", "seed=1"), "seed = 1: is not a setting of li2024.closeness, but the option --seed"),
        (("li2024.closeness", "device=cpu"), "but the option --device"),
        (("li2024.closeness", "--device", "abacus"), "device = abacus: must be one of auto, cpu, cuda"),
        (("li2024.closeness", "--seed", "-1"), "--seed = -1"),
        (("li2024.closeness", "--seed", "one"), "--seed = one"),
        (("li2024.closeness", "n=4,5", "d=2,3"), "d = 2,3: must be one value, where n has several"),
        (("li2024.closeness", "n=4,0"), "n = 0: must be an integer >= 2"),
        (("li2024.closeness", "n=4,4"), "n = 4,4: must have two values or more, all different"),
        (("li2024.closeness", "n=4,"), "n: is empty; must be an integer >= 2"),
        (("li2024.closeness", "tasks=teacher,simplex"), "must be a setting with a single number as its value"),
        (("li2024.closeness", "rows=1,2"), "must be a setting with a single number as its value"),
    ],
)
def test_invalid_arguments_are_a_one_line_error(cli, arguments, message):
    assert_one_line(cli("simulate", *arguments), message)


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_run(cli, tmp_path, monkeypatch, name):
    monkeypatch.setattr(Experiment, "run", lambda *_, **__: pytest.fail("it ran"))
    (tmp_path / "file").write_text("")
    assert_one_line(cli(*ON_CPU, "--out", str(tmp_path / name)), "--out", "cannot be written")


def test_along_a_setting_there_are_the_runs_ends(cli, tmp_path):
    varied = [word for word in ON_CPU if not word.startswith("d=")]
    code, out, _ = cli(*varied, "d=3,1", "--json", "--out", str(tmp_path))
    body = json.loads(out)
    assert code == 0 and body["settings"]["d"] == [3, 1] and body["measurements"] == {}
    assert (tmp_path / "li2024.closeness.png").exists()
    for place, d in enumerate((3, 1)):
        single = json.loads(cli(*varied, f"d={d}", "--json")[1])
        for name in ("layer_loss", "cosine"):
            curve = body["curves"][name]
            assert curve["at"] == [3, 1] and curve["value"][place] == single["measurements"][f"{name}_end"]["value"]
            assert curve["quantity"] == single["curves"][name]["quantity"] and curve["over"] == "d: columns of A"
        assert body["curves"]["eta_GD"]["value"][place] == single["measurements"]["eta_GD"]["value"]
    assert set(body["curves"]) == {*single["curves"], "eta_GD"}  # pyright: ignore[reportPossiblyUnboundVariable]


def test_an_experiment_without_curves_has_no_plot(cli, tmp_path):
    words = ("wang2024.one_hot_training", "T=4", "q=1", "steps=5", "window=2", "--device", "cpu")
    code, _, _ = cli("simulate", *words, "--out", str(tmp_path))
    assert code == 0 and [path.name for path in tmp_path.iterdir()] == ["wang2024.one_hot_training.json"]


FIGURE = ("simulate", "wang2024.figure1", "--device", "cpu")
SMALL = ("T=6", "q=2", "d=1", "d_e=8", "steps=12", "late=6", "batch_size=8", "n_test=20", "readings=4")


def test_the_full_run_says_how_long_before_it_starts_and_a_stored_one_nothing(cli, monkeypatch):
    seen = []
    forget = Running.forget
    monkeypatch.setattr(Running, "forget", lambda running: seen.append("measured") or forget(running))
    monkeypatch.setattr("sys.stderr.write", seen.append, raising=False)
    assert cli(*FIGURE, *SMALL, "--full")[0] == 0
    assert seen[-1] == "measured"
    (said,) = [text for text in seen if "about" in text]
    assert re.fullmatch(r"wang2024\.figure1: about [\d.e-]+ s from the start, on this machine; interrupted: .*\n", said)
    seen.clear()
    assert cli(*FIGURE, *SMALL, "--full")[0] == 0 and seen == []


def test_a_quick_run_says_nothing(cli):
    code, _, err = cli(*FIGURE, *SMALL)
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (0.123, "0.12 s"), (59, "59 s"), (61, "1 min"), (4321, "1.2 h"), (1e6, "280 h")]
)
def test_a_duration_is_said_in_two_digits(seconds, text):
    assert duration_text(seconds) == text


def test_theory_is_in_the_text_and_in_the_json(cli):
    words = (*FIGURE, *SMALL)
    out, body = cli(*words)[1], json.loads(cli(*words, "--json")[1])
    assert "  theory: least_loss_on_the_set = " in out
    assert set(body["theory"]["population_gradient_descent"]) == {"over", "quantity", "at", "lower", "upper"}
    assert json.loads(cli(*ON_CPU, "--json")[1])["theory"] == {}


def test_heat_maps_are_a_line_each_in_the_text(cli):
    out = cli("simulate", "wang2024.figure3", *SMALL, "--device", "cpu")[1]
    assert re.search(r"^  W_before: 9 x 9 numbers from -0\.\d+ to 0\.\d+$", out, re.MULTILINE)


def test_an_interrupted_run_is_gone_on_with(cli, monkeypatch):
    told = []

    def interrupt(self, done, total):
        told.append(done)
        if done == 7 and len(told) < 8:
            raise KeyboardInterrupt

    monkeypatch.setattr(Running, "steps", interrupt)
    monkeypatch.setattr(Running, "keep", partialmethod(Running.keep, now=True))
    figures._TRAINED.clear()
    assert cli(*FIGURE, *SMALL)[0] == 130
    code, out, _ = cli(*FIGURE, *SMALL)
    assert code == 0 and told == [1, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10, 11, 12]
    figures._TRAINED.clear()
    assert cli(*FIGURE, *SMALL, "--no-cache")[1].splitlines()[:-1] == out.splitlines()[:-1]


def late(monkeypatch):
    """Make standard error a terminal; return the terminal, and a clock that the test sets."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal, clock = Terminal(), [100.0]
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    return terminal, clock


@pytest.mark.parametrize(("waited", "shown"), [(0.0, False), (3.0, True)])
def test_a_bar_is_shown_on_a_terminal_after_two_seconds(monkeypatch, waited, shown):
    terminal, clock = late(monkeypatch)
    with bar_shown("some.thing") as show:
        clock[0] += waited
        show(5, 10)
    said = terminal.getvalue()
    assert ("some.thing" in said and "5/10" in said) is shown and (shown or not said)


def test_a_count_is_shown_like_a_bar(monkeypatch):
    terminal, clock = late(monkeypatch)
    with progress_shown("instance") as show:
        clock[0] += 3.0
        show(7)
    assert "instance" in terminal.getvalue() and "7/?" in terminal.getvalue()


def test_a_line_is_printed_in_the_place_of_a_bar(monkeypatch, capsys):
    terminal, clock = late(monkeypatch)
    with bar_shown("some.thing") as show:
        say("before it is shown")
        clock[0] += 3.0
        show(5, 10)
        shown = len(terminal.getvalue())
        warn("a warning")
        # The bar is erased, then comes the line, then the bar.
        assert re.search(r"\x1b\[2K.*a warning\n.*some\.thing", terminal.getvalue()[shown:], re.DOTALL)
    assert capsys.readouterr().out == "before it is shown\n"


def test_without_a_terminal_there_is_no_bar(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with bar_shown("some.thing") as show:
        assert show is None
