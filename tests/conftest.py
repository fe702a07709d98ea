"""Options and settings of the software's tests."""

import pytest
from hypothesis import settings

from verify.installed import install, lack
from verify.reports.pytest_plugin import draw_by_id, use_all_cores

# The draws do not depend on the clock.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


# An int does where a float is asked for, as type checkers have it.
CHECKER = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"


def pytest_configure(config):
    """Check shapes and types throughout `numerics` while it runs, but for `make bench`, which times users' runs."""
    draw_by_id(config)
    if "bench_*" not in config.getini("python_functions"):
        from jaxtyping import install_import_hook

        install_import_hook("numerics", CHECKER)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Use all cores. Raises pytest.UsageError without the extra `dev`, of which beartype is."""
    if lack("beartype", "jaxtyping"):
        raise pytest.UsageError(f"the tests need the extra dev: {install('dev')}")
    use_all_cores(config)


def pytest_addoption(parser):
    parser.addoption("--audit", action="store_true", help="run the tests marked audit")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--audit"):
        for item in items:
            if item.get_closest_marker("audit"):
                item.add_marker(pytest.mark.skip(reason="run by make audit"))
