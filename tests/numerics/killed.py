"""Test that a figure whose process is killed is resumed by another process with the same result."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import verify

# Code that runs `verify` with a checkpoint every 0.02 seconds.
SIMULATE = """
import sys
import verify.runs.checkpoints
verify.runs.checkpoints.Running.__init__.__defaults__ = (None, None, 0.02)
from verify.reports.command_line import run
sys.exit(run(sys.argv[1:]))
"""


def assert_resumes(command: list[str], folder: Path) -> None:
    """Kill `verify simulate COMMAND` after a checkpoint, resume it, and compare its JSON with an unbroken run's."""
    words = [sys.executable, "-c", SIMULATE, "simulate", *command, "--store"]
    environment = {**os.environ, "PYTHONPATH": str(Path(verify.__file__).parents[1])}

    def begin(store: Path) -> subprocess.Popen:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([*words, str(store)], cwd=folder, env=environment, **pipes)

    expected = json.loads(begin(folder / "whole").communicate(timeout=300)[0])
    unfinished, broken = folder / "broken.unfinished", begin(folder / "broken")
    # The process is killed 0.1 seconds after its first checkpoint, in any state.
    deadline = time.monotonic() + 120
    while broken.poll() is None and time.monotonic() < deadline and not list(unfinished.glob("*.pt")):
        time.sleep(0.005)
    time.sleep(0.1)
    broken.send_signal(signal.SIGKILL)
    broken.communicate(timeout=60)
    assert broken.returncode == -signal.SIGKILL, "it ended before it was killed"
    # The killed process leaves its lock and perhaps half of a checkpoint; neither hinders the next process.
    assert len(list(unfinished.glob("*.pt"))) == 1
    found = json.loads(begin(folder / "broken").communicate(timeout=300)[0])
    assert not unfinished.exists()
    for body in (expected, found):
        del body["seconds"]
    assert found == expected
