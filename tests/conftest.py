"""Options and settings of the software's tests."""

import pytest
from hypothesis import settings

# Drawn instances repeat from run to run; the database and the clock have no say.
settings.register_profile("tests", derandomize=True, deadline=None, database=None)
settings.load_profile("tests")


def pytest_addoption(parser):
    parser.addoption("--audit", action="store_true", help="run the tests marked audit")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--audit"):
        for item in items:
            if "audit" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="run by make audit"))
