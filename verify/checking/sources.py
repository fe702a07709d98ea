"""Where statements come from: papers, and what of theirs is printed, recalled or derived here."""

from dataclasses import dataclass
from typing import Literal, get_args

from verify.errors import TheoremError, meant


@dataclass(frozen=True)
class Paper:
    """A paper of the library: `key` begins the ids of its theorems.

    `numbered_statements` is how many numbered results it has, None when that is not known to us;
    `disclosed` lists those whose text we know.
    """

    key: str
    citation: str
    arxiv: str
    numbered_statements: int | None = None
    disclosed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Where a statement comes from: `printed` in the paper, `recalled` second-hand, or `derived here`."""

    number: str
    provenance: Literal["printed", "recalled", "derived here"]
    paper: Paper | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.provenance not in (known := get_args(Source.__annotations__["provenance"])):
            raise TheoremError(f"source: {self.provenance!r} is no provenance; {meant(str(self.provenance), known)}")
        if self.paper is not None and not isinstance(self.paper, Paper):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TheoremError(f"source: paper is a {type(self.paper).__name__}, where a Paper is needed")

    def __str__(self) -> str:
        reference = f"{self.paper.citation}, arXiv {self.paper.arxiv}, " if self.paper else ""
        return f"{reference}{self.number} ({self.provenance}{self.note and ': ' + self.note})"
