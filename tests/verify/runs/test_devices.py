"""Devices of simulations: the requested device, on a machine with or without a GPU."""

import pytest

from verify import InputError
from verify.runs.devices import device_named, machine_of


@pytest.mark.parametrize(
    ("asked", "card", "device"),
    [
        ("auto", True, "cuda"),
        ("auto", False, "cpu"),
        ("cpu", True, "cpu"),
        ("cpu", False, "cpu"),
        ("cuda", True, "cuda"),
    ],
)
def test_the_device_multiplies_in_full_precision(machine, asked, card, device):
    precisions = machine(card=card)
    assert device_named(asked) == device
    assert precisions == ["highest"]


def test_a_card_that_is_not_there(machine):
    machine(card=False)
    with pytest.raises(InputError, match="device = cuda: there is no CUDA device here"):
        device_named("cuda")


def test_another_word_is_refused():
    with pytest.raises(InputError, match="device = tpu: must be one of auto, cpu, cuda"):
        device_named("tpu")


def test_results_of_a_card_are_kept_under_its_name(machine):
    machine(card=True)
    assert (machine_of("cpu"), machine_of("cuda")) == ("cpu", "cuda (X1)")
