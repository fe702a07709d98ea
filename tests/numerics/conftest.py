import pytest


@pytest.fixture
def unchecked():
    """Pass on what annotations would refuse: a test of the errors that functions raise themselves."""
    import jaxtyping

    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
