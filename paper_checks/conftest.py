"""Settings of the papers' checks."""

from types import SimpleNamespace

import pytest

from verify import Measurement
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
    # Said here, it is known too where these run as installed, by `pytest --pyargs paper_checks`.
    about = "quick: re-runs the findings' commands, in seconds; `pytest paper_checks -m quick` runs these alone"
    config.addinivalue_line("markers", about)


@pytest.fixture
def measured(monkeypatch):
    """Let every experiment that a module loads measure the given numbers, or what a function of its settings gives."""

    def measure(module, given):
        def run(**settings):
            numbers = given(settings) if callable(given) else given
            return SimpleNamespace(
                measurements={k: v if isinstance(v, Measurement) else Measurement(v) for k, v in numbers.items()}
            )

        monkeypatch.setattr(module, "load_experiment", lambda _: SimpleNamespace(run=run))

    return measure


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Matrices are small here: a second thread costs more than it brings."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
