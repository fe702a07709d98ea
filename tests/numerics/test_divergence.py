"""The error names the first step whose loss is not finite; on the CPU the error is raised at that step."""

import pytest
import torch

from numerics.divergence import Divergence
from verify import InputError


def test_finite_losses_are_none():
    watch = Divergence(0.5, "cpu")
    watch.check()
    for step in range(300):
        watch.look(torch.tensor(float(step)), step)


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_the_first_that_is_not_is_named(loss):
    watch = Divergence(0.5, "cpu")
    watch.look(torch.tensor(1.0), 6)
    with pytest.raises(InputError, match=r"eta = 0\.5: training diverges: no finite loss at step 7"):
        watch.look(torch.tensor(loss), 7)
    with pytest.raises(InputError, match="at step 7"):
        watch.look(torch.tensor(loss), 8)


def test_a_card_is_asked_now_and_then():
    watch = Divergence(0.5, "cuda")
    for step in range(7, 256):
        watch.look(torch.tensor(float("nan") if step == 9 else 1.0), step)
    with pytest.raises(InputError, match="at step 9"):
        watch.look(torch.tensor(1.0), 256)
    watch = Divergence(0.5, "cuda")
    watch.look(torch.tensor(float("nan")), 3)
    with pytest.raises(InputError, match="at step 3"):
        watch.check()
