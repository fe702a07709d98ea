"""Options and settings of the tests."""

import atexit
import gc
import os
import shutil
import tempfile
from collections import defaultdict
from functools import cache
from random import Random

import pytest
from hypothesis import settings

from verify.installed import install, lack
from verify.reports.pytest_plugin import draw_by_id, use_all_cores

MOST_CASES = 8
"""Largest number of audited cases of one function in a run; `--seed` draws them."""

# Without a deadline, Hypothesis's draws do not depend on the clock.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


# beartype accepts an int for a float, as type checkers do.
CHECKER = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"


def pytest_configure(config):
    """Check the shapes and types of all calls in `numerics`, except in `make bench`, which times what users run."""
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
        # All test processes share a temporary folder of remembered certificates instead of the user's folder.
        os.environ["LEMMASCOPE_CACHE"] = folder = tempfile.mkdtemp(prefix="lemmascope-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


def pytest_collection_finish():
    """Exclude the collected tests, which live until the end, from garbage collections, and make these rarer."""
    gc.freeze()
    # SymPy makes many objects and few cycles.
    gc.set_threshold(100_000)


def pytest_sessionfinish():
    """Collect garbage once, and exclude the remaining objects from pytest's five final collections."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser):
    which = f"run the tests marked audit: of one function {MOST_CASES} cases, or all with --whole, -k or an id"
    parser.addoption("--audit", action="store_true", help=which)
    parser.addoption("--whole", action="store_true", help="with --audit, run all cases of each function")
    parser.addoption("--formal", action="store_true", help="run the tests marked formal, where Rocq is installed")


def pytest_collection_modifyitems(config, items):
    for item in items:
        if why := _not_run(config, {mark.name for mark in item.iter_markers()}):
            item.add_marker(pytest.mark.skip(reason=why))
    if _draws_cases(config):
        left_out = _left_out(items, config.getoption("--seed") or 0)
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def pytest_report_header(config):
    if _draws_cases(config):
        seed = config.getoption("--seed") or 0
        return f"audit: of a function at most {MOST_CASES} cases, drawn by seed {seed}; --whole runs all"
    return None


def _draws_cases(config):
    """Return whether audited cases are drawn: without --whole, -k and ids."""
    chosen = config.getoption("keyword") or any("::" in each for each in config.args)
    return config.getoption("--audit") and not (config.getoption("--whole") or chosen)


def _left_out(items, seed):
    """Return, of each function with more than `MOST_CASES` audited cases, all cases but those that the seed draws."""
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("audit"):
            cases[item.nodeid.partition("[")[0]].append(item)
    many = {name: some for name, some in cases.items() if len(some) > MOST_CASES}
    drawn = {item for name, some in many.items() for item in Random(f"{seed} {name}").sample(some, MOST_CASES)}
    return {item for some in many.values() for item in some} - drawn


def _not_run(config, marks):
    """Return the reason why a test with these marks is skipped; "" if the test runs."""
    for mark in ("audit", "formal"):
        if mark in marks:
            return f"run by make {mark}" if not config.getoption(f"--{mark}") else _lack_of_rocq() * ("formal" in marks)
    return ""


@cache
def _lack_of_rocq():
    # Without the extra `dev` this import fails. At the top of the file it would hide the one-line error message.
    from verify.formal.kernel.running import not_run

    return not_run("Interval")
