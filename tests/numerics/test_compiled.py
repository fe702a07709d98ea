"""Compiled code is reused until one of the sources that it may depend on changes."""

import os
from pathlib import Path

from numba.core import config

from numerics.compiled import SOURCES, compiled, forget_others, kept_in
from numerics.philox import gaussians


def test_a_change_in_any_source_has_a_folder_of_its_own(tmp_path):
    sources = [tmp_path / name for name in ("a.py", "b.py")]
    for source in sources:
        source.write_text("x = 1")
    before = kept_in(tmp_path, sources)
    before.mkdir()
    assert kept_in(tmp_path, reversed(sources)) == before
    forget_others(before, after=-1)
    assert before.exists()
    sources[1].write_text("x = 2")
    after = kept_in(tmp_path, sources)
    forget_others(after)
    assert after != before and before.exists()
    os.utime(before, (0, 0))
    forget_others(after)
    assert not before.exists() and sources[1].exists()


def test_all_that_kernels_are_made_of_is_looked_at():
    names = {"philox.py", "gradient_kernel.py", "moment_kernel.py"}
    assert names <= {path.name for path in SOURCES}


def test_kernels_are_kept_there_and_what_others_set_stays():
    before = config.CACHE_DIR

    @compiled
    def twice(x):
        return x + x

    assert twice(2.0) == 4.0 and config.CACHE_DIR == before
    for kernel in (twice, gaussians):
        assert Path(kernel.stats.cache_path).parent.name.startswith("kernels-")
