"""Where simulations run: `cpu`, `cuda`, or `auto`, which is `cuda` where there is a card."""

from verify.errors import InputError

DEVICES = ("auto", "cpu", "cuda")


def device_named(asked: str) -> str:
    """Return `cpu` or `cuda`, with TF32 off. Raises InputError for another word, and for `cuda` without a card."""
    if asked not in DEVICES:
        raise InputError("device", asked, f"must be one of {', '.join(DEVICES)}")
    import torch

    if asked == "cuda" and not torch.cuda.is_available():
        raise InputError("device", asked, "there is no CUDA device here")
    torch.backends.cuda.matmul.allow_tf32 = False
    return ("cuda" if torch.cuda.is_available() else "cpu") if asked == "auto" else asked
