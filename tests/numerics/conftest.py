import pytest


@pytest.fixture
def unchecked():
    """Switch off the checks of annotations, so that a test reaches the errors that functions raise themselves."""
    import jaxtyping

    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def one_thread():
    """Let PyTorch use one thread: with such small tensors a second thread only costs time."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
