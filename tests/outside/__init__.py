"""Statements by others in a line, true and false: they measure the provers and are never changed in their favour."""

import tomllib
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

FOLDER = Path(__file__).parent
FAMILIES = ("polynomials", "cases", "one_variable", "integers", "recursions", "identities")


@dataclass(frozen=True)
class Outside:
    """A statement from the literature, or a near miss of one."""

    id: str
    statement: str
    source: str
    true: bool
    level: str = ""
    """Of a true statement: easy, exercise or hard."""
    why: str = ""
    """Of a true statement: how it is proved."""
    changed: str = ""
    """Of a false statement: what its change from the literature is."""
    witness: dict[str, Fraction] = field(default_factory=dict)
    """Of a false statement: an instance that violates it."""
    step: int = 0
    """Of a false statement along a recursion: the step at which the witness violates it."""
    violated_percent: float = 0.0
    """Of a false statement: the share of the draws inside its hypotheses that violate it, as `measure` counts them."""

    @property
    def family(self) -> str:
        """Return the name of the file that holds it."""
        return self.id.partition("/")[0]


def statements(*families: str) -> list[Outside]:
    """Return the statements of some families, of all without any."""
    tables = [
        table
        for family in families or FAMILIES
        for table in tomllib.loads((FOLDER / f"{family}.toml").read_text(encoding="utf-8"))["statements"]
    ]
    return [
        Outside(**table | {"witness": {name: Fraction(value) for name, value in table.get("witness", {}).items()}})
        for table in tables
    ]
