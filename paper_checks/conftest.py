"""Settings of the papers' checks."""

import pytest

from verify.reports.pytest_plugin import load_profile
from verify.runs.crossings import register_profiles

register_profiles()


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Keep the tests of an `xdist_group`, which share their trainings, on one worker."""
    if config.getoption("numprocesses", None) and config.getoption("dist") == "no":
        config.option.dist = "loadgroup"


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    """Draw as much as this run asks for."""
    load_profile(config)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Matrices are small here: a second thread costs more than it brings."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
