"""What a seed draws does not depend on what else the process has imported."""

import subprocess
import sys

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from verify.seeded_draws import own_draws, seed_hypothesis

SEARCH = """
import sys
sys.path.insert(0, sys.argv[1])
{imports}
import hypothesis
import random
from hypothesis import strategies as st
from verify.seeded_draws import own_draws, seed_hypothesis

drawn = []
settings = hypothesis.settings(max_examples=300, database=None, phases=[hypothesis.Phase.generate])
with own_draws():
    try:
        hypothesis.find(st.integers(), lambda n: drawn.append(n), settings=settings, random=random.Random(0))
    except hypothesis.errors.NoSuchExample:
        pass
print(drawn)
"""


def test_modules_that_are_loaded_change_no_draw(tmp_path):
    numbers = ", ".join(str(n) for n in range(10_007, 10_907, 3))
    (tmp_path / "constants_of_my_own.py").write_text(f"numbers = [{numbers}]\n")

    def drawn(imports):
        command = [sys.executable, "-c", SEARCH.format(imports=imports), str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout

    alone = drawn("")
    assert len(alone) > 1000 and drawn("import constants_of_my_own") == alone


def test_what_is_put_aside_comes_back():
    before = providers._get_local_constants, providers.CONSTANTS_CACHE
    with own_draws():
        assert len(providers._get_local_constants()) == 0
    assert (providers._get_local_constants, providers.CONSTANTS_CACHE) == before
    with pytest.raises(KeyError), own_draws():
        raise KeyError
    assert (providers._get_local_constants, providers.CONSTANTS_CACHE) == before


def test_a_text_seeds_the_runs_of_hypothesis():
    def drawn(text):
        numbers = []

        @hypothesis.given(st.integers())
        def each(n):
            numbers.append(n)

        seed_hypothesis(text)
        with own_draws():
            each()
        return numbers

    assert drawn("a") == drawn("a") != drawn("b")
