"""Where simulations run: the word that is asked for, and the card that is there or not."""

import sys
from types import SimpleNamespace

import pytest

from verify import InputError
from verify.devices import device_named


@pytest.fixture
def machine(monkeypatch):
    """A PyTorch that sees a card, or none."""

    def build(*, card):
        matmul = SimpleNamespace(allow_tf32=True)
        fake = SimpleNamespace(
            cuda=SimpleNamespace(is_available=lambda: card),
            backends=SimpleNamespace(cuda=SimpleNamespace(matmul=matmul)),
        )
        monkeypatch.setitem(sys.modules, "torch", fake)
        return matmul

    return build


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
    matmul = machine(card=card)
    assert device_named(asked) == device
    assert matmul.allow_tf32 is False


def test_a_card_that_is_not_there(machine):
    machine(card=False)
    with pytest.raises(InputError, match="device = cuda: there is no CUDA device here"):
        device_named("cuda")


def test_another_word_is_refused():
    with pytest.raises(InputError, match="device = tpu: must be one of auto, cpu, cuda"):
        device_named("tpu")
