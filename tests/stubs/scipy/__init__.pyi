# SciPy has no types of its own: its functions take and return anything.
from typing import Any

def __getattr__(name: str) -> Any: ...
