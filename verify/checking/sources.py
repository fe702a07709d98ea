"""Sources of statements: the paper, and whether the result is printed, recalled or derived here."""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from verify.errors import TheoremError, meant
from verify.language.labels import NAME, TITLE, refuse_bad_text


@dataclass(frozen=True)
class Paper:
    """A paper of the library.

    Parameters
    ----------
    key
        The beginning of its theorems' ids, such as `wang2024`.
    citation
        Authors, title and venue.
    arxiv
        The arXiv id with its version; "" for a work that is not on arXiv.
    numbered_statements
        Number of its numbered results; None if unknown.
    disclosed
        The numbered results whose text is known here.
    claims
        Its claims, in one plain sentence.
    title
        Its title, a part of the citation; a report names the paper by its title, or by its key if the title is "".

    Raises
    ------
    TheoremError
        For a field that is no text of one line, and for a title that the citation lacks.

    Examples
    --------
    >>> from verify import Paper
    >>> paper = Paper("doe2025", "Doe, Roe, A title, NeurIPS 2025", "2501.00001v2", 4, ("Lemma 1",), title="A title")
    >>> paper.key, paper.authors_and_year
    ('doe2025', 'Doe and Roe 2025')
    """

    key: str
    citation: str
    arxiv: str = ""
    numbered_statements: int | None = None
    disclosed: tuple[str, ...] = ()
    claims: str = ""
    title: str = ""

    def __post_init__(self) -> None:
        refuse_bad_text("paper: key", self.key, NAME)
        for part in ("citation", "arxiv", "claims", "title"):
            refuse_bad_text(f"paper {self.key}: {part}", getattr(self, part), empty=True)
        for number in self.disclosed:
            refuse_bad_text(f"paper {self.key}: number", number, TITLE)
        if self.title not in self.citation:
            raise TheoremError(f"paper {self.key}: title: must be in the citation: {self.title}")

    @property
    def authors_and_year(self) -> str:
        """The authors and the year, such as `Doe and Roe 2025`.

        The result is the key if the citation has no authors before the title or no year after it.
        """
        before, _, after = self.citation.partition(self.title) if self.title else ("", "", "")
        authors = [name for name in before.split(", ") if name]
        years = re.findall(r"\b\d{4}\b", after)
        if not (authors and years):
            return self.key
        named = " and ".join(authors) if len(authors) < 3 else f"{authors[0]} et al."
        return f"{named} {years[-1]}"

    @property
    def reference(self) -> str:
        """The citation, with the arXiv id if given."""
        return f"{self.citation}, arXiv {self.arxiv}" if self.arxiv else self.citation


@dataclass(frozen=True)
class Source:
    """A statement's source: the result's number, its provenance, and its paper if it has one.

    Parameters
    ----------
    number
        The number or name of the result in its source, such as `Theorem 1`.
    provenance
        `printed` in the paper, `recalled` second-hand, or `derived here`.
    paper
        The paper; None if there is none.
    note
        A remark, such as where the statement departs from the source.

    Raises
    ------
    TheoremError
        For another provenance, a `paper` that is no `Paper`, and a number or a note that is no text of one line.

    Examples
    --------
    >>> from verify import Source
    >>> print(Source("Kantorovich 1948", "recalled"))
    Kantorovich 1948 (recalled)
    """

    number: str
    provenance: Literal["printed", "recalled", "derived here"]
    paper: Paper | None = None
    note: str = ""

    def __post_init__(self) -> None:
        refuse_bad_text("source: number", self.number, TITLE)
        refuse_bad_text("source: note", self.note, empty=True)
        if self.provenance not in (known := get_args(Source.__annotations__["provenance"])):
            raise TheoremError(f"source: {self.provenance!r} is not a provenance; {meant(str(self.provenance), known)}")
        if self.paper is not None and not isinstance(self.paper, Paper):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TheoremError(f"source: paper is a {type(self.paper).__name__}, where a Paper is needed")

    def __str__(self) -> str:
        reference = f"{self.paper.reference}, " if self.paper else ""
        return f"{reference}{self.number} ({self.provenance}{self.note and ': ' + self.note})"
