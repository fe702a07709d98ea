"""Settings of the papers' checks."""

import gc
from pathlib import Path
from types import SimpleNamespace

import pytest

from verify import Measurement, load_profile
from verify.installed import lack
from verify.reports.pytest_plugin import use_all_cores

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Use all cores, and keep the tests of an `xdist_group`, which share their trainings, on one worker.

    Raises pytest.UsageError without the extra `sim`.
    """
    if lacking := lack("torch"):
        raise pytest.UsageError(f"the papers' checks: {lacking}")
    use_all_cores(config, "loadgroup")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    """Load the Hypothesis profile that this run asks for, and register the marks."""
    load_profile(config)
    # Registered here, the marks are also known when the installed tests run: `pytest --pyargs paper_checks`.
    about = "quick: re-runs the findings' commands, in seconds; `pytest paper_checks -m quick` runs these alone"
    config.addinivalue_line("markers", about)
    config.addinivalue_line("markers", "audit: too long for every run; run where it is selected, and by --full")


def pytest_collection_finish():
    """Exclude the collected tests, which live until the end, from garbage collections, and make these rarer."""
    gc.freeze()
    # SymPy makes many objects and few cycles.
    gc.set_threshold(100_000)


def pytest_collection_modifyitems(config, items):
    """Skip the tests marked `audit`, unless tests are selected by a mark, a keyword or an id, or --full is given."""
    options = config.option
    if options.full or options.markexpr or options.keyword or any("::" in argument for argument in config.args):
        return
    for item in items:
        if item.get_closest_marker("audit") and HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="run by pytest paper_checks -m audit"))


@pytest.fixture
def measured(monkeypatch):
    """Return a function of a module and `given` that makes every experiment loaded by the module measure `given`.

    `given` is a dictionary of numbers or Measurements, or a function from the settings to such a dictionary.
    """

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
    """Run PyTorch on one thread: matrices are small here, and a second thread costs more than it saves."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
