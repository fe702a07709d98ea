"""Options and settings of the software's tests."""

import atexit
import gc
import os
import shutil
import tempfile
from functools import cache

import pytest
from hypothesis import settings

from verify.installed import install, lack
from verify.reports.pytest_plugin import draw_by_id, use_all_cores

# The draws do not depend on the clock.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


# An int is accepted for a float, as type checkers accept it.
CHECKER = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"


def pytest_configure(config):
    """Check shapes and types throughout `numerics` while it runs, but for `make bench`, which times users' runs."""
    draw_by_id(config)
    if "bench_*" not in config.getini("python_functions"):
        from jaxtyping import install_import_hook

        install_import_hook("numerics", CHECKER)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Use all cores. Raise pytest.UsageError without the extra `dev`, which includes beartype."""
    if lack("beartype", "jaxtyping"):
        raise pytest.UsageError(f"the tests need the extra dev: {install('dev')}")
    use_all_cores(config)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        # All test processes share one folder of remembered certificates, which is not the user's.
        os.environ["LEMMASCOPE_CACHE"] = folder = tempfile.mkdtemp(prefix="lemmascope-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


def pytest_collection_finish():
    """Leave the collected tests out of garbage collections: they stay until the end."""
    gc.freeze()


def pytest_sessionfinish():
    """Collect garbage once, and leave what remains out of the five collections with which pytest ends."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser):
    parser.addoption("--audit", action="store_true", help="run the tests marked audit")
    parser.addoption("--formal", action="store_true", help="run the tests marked formal, where Rocq is installed")


def pytest_collection_modifyitems(config, items):
    for item in items:
        if why := _not_run(config, {mark.name for mark in item.iter_markers()}):
            item.add_marker(pytest.mark.skip(reason=why))


def _not_run(config, marks):
    """Return the reason why a test with these marks is skipped; "" if it runs."""
    for mark in ("audit", "formal"):
        if mark in marks:
            return f"run by make {mark}" if not config.getoption(f"--{mark}") else _lack_of_rocq() * ("formal" in marks)
    return ""


@cache
def _lack_of_rocq():
    # Imported here: without the extra `dev` this import fails, and the tests are to end with one line instead.
    from verify.formal.kernel.running import not_run

    return not_run("Interval")
