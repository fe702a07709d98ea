"""The draws of Hypothesis in a test run. `verify.load_profile` is public, so importing this module needs no pytest."""

from typing import TYPE_CHECKING

from verify.runs.crossings import FULL, QUICK

if TYPE_CHECKING:
    import pytest


def load_profile(config: "pytest.Config") -> None:
    """Set the number and the seeds of Hypothesis's draws in this test run; only `--fresh` draws differently each time.

    Call it in the `pytest_configure` of a folder with crossings. By default each test's seed depends on the
    test's id alone, so that the test draws the same on every machine, in any order. With `--seed N` the seed depends on
    the id and N. With `--fresh`, N is drawn at random unless `--seed` gives it; N is printed, and failures are kept in
    Hypothesis's database. The profile is `quick`, or `full` with `--full`.

    Parameters
    ----------
    config
        Pytest's configuration.

    Raises
    ------
    pytest.UsageError
        For a number of draws below 1.

    Examples
    --------
    >>> import verify
    >>> def pytest_configure(config):
    ...     verify.load_profile(config)
    """
    import pytest
    from hypothesis import HealthCheck, settings

    from verify.reports.pytest_plugin import draw_by_id

    draws = config.getoption("--draws")
    if draws is not None and draws < 1:
        raise pytest.UsageError(f"--draws {draws}: must be an integer >= 1")
    # Long examples are allowed, because a training takes seconds; the crossing's fixture serves all examples of a test.
    checks = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large)
    for name, examples in (("quick", QUICK), ("full", FULL)):
        settings.register_profile(name, max_examples=draws or examples, deadline=None, suppress_health_check=checks)
    settings.load_profile("full" if config.getoption("--full") else "quick")
    draw_by_id(config)
