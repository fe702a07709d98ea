"""One-line statements of other authors, and false variations of them, which measure the provers.

No statement is rewritten to help a prover.
"""

import tomllib
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

FOLDER = Path(__file__).parent
FAMILIES = ("polynomials", "cases", "one_variable", "integers", "recursions", "identities")


@dataclass(frozen=True)
class Outside:
    """A statement from the literature, or a false variation of such a statement."""

    id: str
    statement: str
    source: str
    true: bool
    level: str = ""
    """The level of a true statement: easy, exercise or hard."""
    why: str = ""
    """The proof of a true statement, in words."""
    changed: str = ""
    """The change that turned a statement of the literature into a false statement."""
    witness: dict[str, Fraction] = field(default_factory=dict)
    """An instance at which a false statement fails."""
    step: int = 0
    """The step of a recursion at which a false statement fails at the witness."""
    violated_percent: float = 0.0
    """The percentage of draws at which a false statement fails, among those that satisfy its hypotheses (`measure`)."""

    @property
    def family(self) -> str:
        """Return the name of the statement's file without `.toml`."""
        return self.id.partition("/")[0]


def statements(*families: str) -> list[Outside]:
    """Return the statements of the given families, or of all families without arguments."""
    tables = [
        table
        for family in families or FAMILIES
        for table in tomllib.loads((FOLDER / f"{family}.toml").read_text(encoding="utf-8"))["statements"]
    ]
    return [
        Outside(**table | {"witness": {name: Fraction(value) for name, value in table.get("witness", {}).items()}})
        for table in tables
    ]
