"""Settings of the papers' checks."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Matrices are small here: a second thread costs more than it brings."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
