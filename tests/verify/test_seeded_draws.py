"""The draws of a seed do not depend on the process's other imports."""

import subprocess
import sys

import pytest

from verify.seeded_draws import seed_of

DRAWN = """
import contextlib
import sys
sys.path.insert(0, sys.argv[1])
import hypothesis
from hypothesis import strategies as st
from verify.seeded_draws import own_draws

{before}
drawn = []

@hypothesis.seed(0)
@hypothesis.settings(max_examples=1000, database=None, phases=[hypothesis.Phase.generate])
@hypothesis.given(st.integers())
def draw(n):
    drawn.append(n)

with {within}:
    draw()
print(drawn)
"""


@pytest.fixture
def drawn(tmp_path):
    """Return a function that runs draws in a process, within a context and after some lines, and returns the output."""
    numbers = ", ".join(str(n) for n in range(10_007, 10_907, 3))
    (tmp_path / "constants_of_my_own.py").write_text(f"numbers = [{numbers}]\n")

    def run(within, before=""):
        command = [sys.executable, "-c", DRAWN.format(within=within, before=before), str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout

    return run


OWN, NONE, IMPORT = "own_draws()", "contextlib.nullcontext()", "import constants_of_my_own"


def test_modules_that_are_loaded_change_no_draw(drawn):
    alone = drawn(OWN)
    assert len(alone) > 1000 and drawn(OWN, IMPORT) == alone
    # Without the context, Hypothesis also draws constants from the loaded modules.
    assert drawn(NONE, IMPORT) != drawn(NONE)


def test_draws_put_aside_are_restored_after_an_error(drawn):
    left = "with contextlib.suppress(KeyError), own_draws():\n    raise KeyError"
    assert drawn(NONE, left) == drawn(NONE) != drawn(OWN)


def test_another_text_is_another_seed():
    assert seed_of("a") == seed_of("a") != seed_of("b")
