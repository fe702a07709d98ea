import pytest


@pytest.fixture
def unchecked():
    """Pass on arguments that annotations would refuse: a test of the errors that functions raise themselves."""
    import jaxtyping

    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def one_thread():
    """Let PyTorch use one thread: tensors this small only lose by a second one, which spins on a shared core."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
