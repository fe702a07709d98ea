"""One-line statements of others, true and false: they measure the provers, and are never changed to help them."""

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
    """The level of a true statement: easy, exercise or hard."""
    why: str = ""
    """The proof of a true statement, in words."""
    changed: str = ""
    """The change that made a false statement from one of the literature."""
    witness: dict[str, Fraction] = field(default_factory=dict)
    """An instance that violates a false statement."""
    step: int = 0
    """The step at which the witness violates a false statement along a recursion."""
    violated_percent: float = 0.0
    """The percentage of draws inside a false statement's hypotheses that violate it, as `measure` counts them."""

    @property
    def family(self) -> str:
        """Return the name, without `.toml`, of the file that holds the statement."""
        return self.id.partition("/")[0]


def statements(*families: str) -> list[Outside]:
    """Return the statements of some families; without arguments, of all families."""
    tables = [
        table
        for family in families or FAMILIES
        for table in tomllib.loads((FOLDER / f"{family}.toml").read_text(encoding="utf-8"))["statements"]
    ]
    return [
        Outside(**table | {"witness": {name: Fraction(value) for name, value in table.get("witness", {}).items()}})
        for table in tables
    ]
