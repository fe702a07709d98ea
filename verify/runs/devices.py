"""Devices that run simulations: `cpu`, `cuda`, or `auto`, which is `cuda` if there is a GPU."""

from verify.errors import InputError
from verify.installed import needs

DEVICES = ("auto", "cpu", "cuda")


def device_named(asked: str) -> str:
    """Return `cpu` or `cuda`, and set PyTorch to full precision for float32 products.

    Raises InputError for another word, for `cuda` without a GPU, and without PyTorch.
    """
    if asked not in DEVICES:
        raise InputError("device", asked, f"must be one of {', '.join(DEVICES)}")
    needs("device", asked, "torch")
    # PyTorch is slow to load: a wrong word is refused before that.
    import torch

    if asked == "cuda" and not torch.cuda.is_available():
        raise InputError("device", asked, "there is no CUDA device here")
    torch.set_float32_matmul_precision("highest")
    return ("cuda" if torch.cuda.is_available() else "cpu") if asked == "auto" else asked


def machine_of(device: str) -> str:
    """Return the device with the GPU's name, under which results are stored: another GPU may round differently."""
    if device != "cuda":
        return device
    import torch

    return f"cuda ({torch.cuda.get_device_name()})"
