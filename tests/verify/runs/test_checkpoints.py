"""Checkpoints: a run resumes from a killed process's state, to the last bit; an unreadable state is refused."""

import signal
import subprocess
import sys

import pytest
import torch

from verify import Experiment, InputError, Measurement, Parameter, Running, Setting, Source, Store
from verify.runs.checkpoints import alike, alone, kept_by

SETTING = Setting(Parameter("steps", "integer", "steps", minimum=1), 30, 30)
TRAINING = """
import os, signal, sys
from pathlib import Path
import torch
from verify import Experiment, Measurement, Parameter, Setting, Source, Store
from verify.runs.checkpoints import Running

KILLED_AT = int(sys.argv[2])

def measure(settings, *, seed, device, running):
    running.every = 0.0
    left = running.left("walk")
    generator = torch.Generator().manual_seed(seed)
    x, begun = torch.zeros(3, dtype=torch.float64), 0
    if left is not None:
        x, begun = left["x"], left["step"]
        generator.set_state(left["generator"])
    for step in range(begun, int(settings["steps"])):
        if step == KILLED_AT:
            os.kill(os.getpid(), signal.SIGKILL)
        x = (x + torch.randn(3, generator=generator, dtype=torch.float64)).sin()
        running.keep("walk", lambda: {"x": x, "step": step + 1, "generator": generator.get_state()})
        running.steps(step + 1, int(settings["steps"]))
    return {f"x{i}": Measurement(float(value)) for i, value in enumerate(x)} | {"begun": Measurement(float(begun))}

setting = Setting(Parameter("steps", "integer", "steps", minimum=1), 30, 30)
walk = Experiment("user.walk", "a title", Source("1", "derived here"), (setting,), measure, resumable=True)
found = walk.run(device="cpu", seed=3, store=Store(Path(sys.argv[1])))
print([value.value.hex() for value in found.measurements.values()])
"""


def run(folder, killed_at):
    (folder / "walk.py").write_text(TRAINING)
    (folder / "store").mkdir(exist_ok=True)
    words = [sys.executable, str(folder / "walk.py"), str(folder / "store" / "s"), str(killed_at)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    whole = run(tmp_path / "one", -1)
    for step in (11, 23):
        killed = run(tmp_path / "other", step)
        assert killed.returncode == -signal.SIGKILL and killed.stdout == ""
        assert len(list((tmp_path / "other" / "store" / "s.unfinished").glob("*.pt"))) == 1
    # Neither the lock of a killed process nor its half-written file hinders the next process.
    (kept,) = (tmp_path / "other" / "store" / "s.unfinished").glob("*.pt")
    kept.with_name(kept.name + ".0123456789abcdef.part").write_bytes(b"half of a checkpoint")
    resumed = run(tmp_path / "other", -1)
    *numbers, begun = eval(whole.stdout)
    assert eval(resumed.stdout) == [*numbers, float(23).hex()] and float.fromhex(begun) == 0, resumed.stderr
    assert not (tmp_path / "other" / "store" / "s.unfinished").exists()
    # The result is in the store now, so the run that would be killed does not begin.
    assert run(tmp_path / "other", 0).stdout == resumed.stdout


def test_kept_states_are_read_back_until_forgotten(tmp_path):
    file = tmp_path / "deep" / "state.pt"
    first = Running(file)
    assert first.left("a") is None
    first.keep("a", lambda: {"x": torch.ones(2), "list": [1, 2.5]}, now=True)
    first.keep("b", lambda: 3, now=True)
    second = Running(file)
    assert second.left("a")["list"] == [1, 2.5] and second.left("b") == 3 and second.seconds_before > 0
    assert [path.name for path in file.parent.iterdir()] == ["state.pt"]
    second.forget()
    assert not file.parent.exists()


HOLDER = """
import sys, time
from pathlib import Path
from verify.runs.checkpoints import alike, alone, kept_by

with alone(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_at_the_same_run_is_refused_and_a_killed_one_holds_nothing(tmp_path):
    file = tmp_path / "deep" / "state.pt"
    words = [sys.executable, "-c", HOLDER, str(file)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with (
            pytest.raises(InputError, match=r"checkpoint = .*: another process is doing the same run; wait for it"),
            alone(file),
        ):
            pytest.fail("both hold it")
        with alone(file.with_name("other.pt")):
            pass
        holder.kill()
        holder.wait(timeout=60)
    with alone(file):
        assert file.parent.exists()
    assert not file.parent.exists()


def test_a_run_holds_its_checkpoint_until_it_ends(tmp_path):
    store, seen = Store(tmp_path / "s"), []

    def measure(settings, *, seed, device, running):
        if not seen:
            seen.append("first")
            with pytest.raises(InputError, match="another process is doing the same run"):
                experiment.run(device="cpu", store=store)
            # Another seed is another run.
            assert experiment.run(device="cpu", store=store, seed=1).measurements["x"].value == 1
        return {"x": Measurement(float(seed))}

    experiment = Experiment("user.x", "a title", Source("1", "derived here"), (SETTING,), measure, resumable=True)
    assert experiment.run(device="cpu", store=store).measurements["x"].value == 0
    assert not (tmp_path / "s.unfinished").exists()


def test_a_lock_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"checkpoint = .*cannot be written"), alone(tmp_path / "file" / "state.pt"):
        pytest.fail("there is no folder")
    (tmp_path / "state.pt.lock").write_text("no database, " * 100)
    with pytest.raises(InputError, match=r"checkpoint = .*cannot be locked"), alone(tmp_path / "state.pt"):
        pytest.fail("there is no lock")


def test_without_a_checkpoint_nothing_is_held(tmp_path):
    with alone(None), alone(None):
        assert not list(tmp_path.iterdir())


def test_a_half_written_checkpoint_is_removed_and_forgotten(tmp_path):
    file = tmp_path / "deep" / "state.pt"
    file.parent.mkdir()
    file.with_name("state.pt.0123456789abcdef.part").write_bytes(b"half")
    running = Running(file)
    assert running.left("a") is None
    running.keep("a", lambda: 1, now=True)
    assert [path.name for path in file.parent.iterdir()] == ["state.pt"]
    file.with_name("state.pt.0123456789abcdef.part").write_bytes(b"half")
    running.forget()
    assert not file.parent.exists()


def test_states_are_kept_only_when_due(tmp_path):
    running = Running(tmp_path / "state.pt", every=1000.0)
    running.keep("a", lambda: pytest.fail("it is not time"))
    running.keep("a", lambda: 1, now=True)
    assert Running(tmp_path / "state.pt").left("a") == 1
    Running().keep("a", lambda: pytest.fail("there is no file"), now=True)


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04 broken"])
def test_a_checkpoint_that_cannot_be_read_is_one_line(tmp_path, content):
    (tmp_path / "state.pt").write_bytes(content)
    with pytest.raises(InputError, match=r"checkpoint = .*state\.pt.*: cannot be read; remove it to start over"):
        Running(tmp_path / "state.pt")


def test_a_checkpoint_holds_data_and_no_code(tmp_path):
    torch.save({"parts": {"a": 1}, "seconds": 1.0, "more": [Parameter("x", "word", "y", words=("z",))]}, tmp_path / "s")
    with pytest.raises(InputError, match="cannot be read"):
        Running(tmp_path / "s")


def test_a_run_that_fails_leaves_its_checkpoint(tmp_path):
    def measure(settings, *, seed, device, running):
        running.keep("a", lambda: 1, now=True)
        raise InputError("steps", 3, "diverges")

    experiment = Experiment("user.x", "a title", Source("1", "derived here"), (SETTING,), measure, resumable=True)
    store = Store(tmp_path / "s")
    with pytest.raises(InputError, match="diverges"):
        experiment.run(device="cpu", store=store)
    assert len(list((tmp_path / "s.unfinished").iterdir())) == 1


def test_progress_and_the_expected_time_are_told(tmp_path):
    told, announced = [], []

    def measure(settings, *, seed, device, running):
        running.steps(1, 2)
        return {"x": Measurement(1.0)}

    experiment = Experiment(
        *("user.x", "a title", Source("1", "derived here"), (SETTING,), measure),
        resumable=True,
        expect=lambda settings, *, device: 2.0 * settings["steps"],
    )
    store = Store(tmp_path / "s")
    for _ in range(2):
        # The second run is served by the store, and takes no time.
        experiment.run(device="cpu", store=store, tell=lambda *x: told.append(x), announce=announced.append)
    assert told == [(1, 2)] and announced == [60.0]


@pytest.mark.parametrize(
    "body",
    [
        3,
        [1, 2],
        torch.zeros(2),
        {"parts": {}},
        {"parts": 3, "seconds": 1.0},
        {"parts": [("a", 1)], "seconds": 1.0},
        {"parts": {1: 1}, "seconds": 1.0},
        {"parts": {}, "seconds": "long"},
        {"parts": {}, "seconds": -1.0},
        {"parts": {}, "seconds": float("nan")},
    ],
    ids=str,
)
def test_a_checkpoint_that_holds_something_else_is_one_line(tmp_path, body):
    torch.save(body, tmp_path / "s")
    with pytest.raises(InputError, match=r"checkpoint = .*: (cannot be read|has no valid state of a run); remove it"):
        Running(tmp_path / "s")


def test_a_state_that_does_not_fit_is_one_line(tmp_path):
    running = Running(tmp_path / "s")
    running.keep("a", lambda: {"x": 1}, now=True)
    assert running.left("a", lambda state: state["x"] == 1) == {"x": 1} and running.left("b", pytest.fail) is None
    for fits in (lambda state: state["x"] == 2, lambda state: state["y"], lambda state: state.z, lambda state: 1 // 0):
        with pytest.raises(InputError, match=r"checkpoint = .*: has no valid state of a; remove it to start over"):
            Running(tmp_path / "s").left("a", fits)


def test_states_of_one_form_are_alike():
    state = {"step": 3, "W": torch.ones(2, 3), "more": [[torch.zeros(1)], "text"]}
    other = {"step": 7, "W": torch.zeros(2, 3), "more": [[torch.ones(1)], "other"]}
    assert alike(state, other)
    for name, value in (
        *(("step", 3.0), ("step", True), ("W", torch.ones(3, 2)), ("W", torch.ones(2, 3).double()), ("W", None)),
        *(("more", [[], "text"]), ("more", ([torch.zeros(1)], "text")), ("more", [[torch.zeros(1)]])),
    ):
        assert not alike({**state, name: value}, other)
    assert not alike({**state, "else": 1}, other) and not alike({"step": 3}, other)


def test_readings_are_kept_up_to_the_step():
    steps = (0, 3, 8)
    assert [count for count in range(5) if kept_by(steps, 2, count)] == [1]
    assert [count for count in range(5) if kept_by(steps, 3, count)] == [1, 2]
    assert [count for count in range(5) if kept_by(steps, 8, count)] == [2, 3]
    assert not any(kept_by(steps, step, count) for step in (-1, 9) for count in range(5))
