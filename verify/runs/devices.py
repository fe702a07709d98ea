"""Devices that run simulations: `cpu`, `cuda`, or `auto`, which is `cuda` if there is a card."""

from verify.errors import InputError
from verify.installed import needs

DEVICES = ("auto", "cpu", "cuda")


def device_named(asked: str) -> str:
    """Return `cpu` or `cuda`, with float32 products in full precision.

    Raises InputError for another word, for `cuda` without a card, and without PyTorch.
    """
    if asked not in DEVICES:
        raise InputError("device", asked, f"must be one of {', '.join(DEVICES)}")
    needs("device", asked, "torch")
    # PyTorch is slow to load: a wrong word is refused before.
    import torch

    if asked == "cuda" and not torch.cuda.is_available():
        raise InputError("device", asked, "there is no CUDA device here")
    torch.set_float32_matmul_precision("highest")
    return ("cuda" if torch.cuda.is_available() else "cpu") if asked == "auto" else asked


def machine_of(device: str) -> str:
    """Return the device with the card's name, under which results are stored: another card may round differently."""
    if device != "cuda":
        return device
    import torch

    return f"cuda ({torch.cuda.get_device_name()})"
