"""Settings of the papers' checks."""

import pytest
from hypothesis import settings

# Drawn instances repeat from run to run; the database and the clock have no say.
settings.register_profile("paper_checks", derandomize=True, deadline=None, database=None, print_blob=False)
settings.load_profile("paper_checks")


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Matrices are small here: a second thread costs more than it brings."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
