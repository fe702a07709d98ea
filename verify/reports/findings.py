"""Findings: results of checks about a paper beyond "holds", with the commands that reproduce them."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import groupby
from typing import Literal, get_args

from verify.checking.registry import load
from verify.checking.sources import Paper
from verify.errors import TheoremError
from verify.language.labels import SENTENCE, TITLE, refuse_bad_id, refuse_bad_text
from verify.outcomes import Enclosure, number_text

Provenance = Literal["printed", "recalled", "our reading", "open", "derived here", "observed"]
WRITTEN_BY = "Written by `verify pin`"
PAGES = "docs/findings"
_OURS: tuple[Provenance, ...] = ("our reading", "open")

Expected = bool | int | Fraction | Enclosure | str | None
"""An exact JSON value, or the closed interval in which a number must lie; one end may be missing."""


@dataclass(frozen=True)
class Premise:
    """A definition or fact that a finding rests on, and its provenance.

    Parameters
    ----------
    text
        A definition or a fact, in one sentence.
    provenance
        `printed`, `recalled`, `our reading`, `open`, `derived here`, or `observed` (seen in runs, not derived).

    Raises
    ------
    TheoremError
        For another provenance, and for a text that is empty or not one line.

    Examples
    --------
    >>> from verify import Premise
    >>> Premise("the loss is half the mean squared error", "our reading").provenance
    'our reading'
    """

    text: str
    provenance: Provenance

    def __post_init__(self) -> None:
        refuse_bad_text("premise", self.text)
        if self.provenance not in get_args(Provenance):
            raise TheoremError(f"premise {self.text!r}: {self.provenance!r} is not one of {get_args(Provenance)}")


class Weight(Enum):
    """The weights of findings against a paper, heaviest first; each value is the heading above such findings.

    Examples
    --------
    >>> from verify import Weight
    >>> Weight.CONTRADICTED.rank
    0
    """

    CONTRADICTED = "What does not hold as printed"
    VACUOUS = "Bounds that are vacuous where they are used"
    NEEDED = "Hypotheses that cannot be dropped"
    STRONGER = "Where more holds than is printed"
    FIGURES = "What the printed figures show"
    OBSERVED = "What was observed and is not proved"

    @property
    def rank(self) -> int:
        """The place in the order, 0 for the heaviest."""
        return list(Weight).index(self)


@dataclass(frozen=True)
class Finding:
    """A fact about a paper, beyond "holds", that a check established.

    Parameters
    ----------
    id, paper, title
        `paper.name`; the paper; the finding in one line.
    weight
        Its weight against the paper.
    summary, text
        One plain sentence with the paper's claim, the finding and its evidence; then the details.
    command
        The one `verify …` command that reproduces the finding.
    expect
        The expected values in that command's `--json` output, by dotted path with list items by index or by label
        (`clauses.stays.holds`). They include every number of the text.
    rests_on
        The definitions and facts without which the finding would not follow.

    Raises
    ------
    TheoremError
        For a bad id or weight, a title, summary or command that is not one line of text, a summary without a final
        period, a command that is not of `verify` or has `--json`, an empty `expect` or `rests_on`, and an expected
        value that is a float or an interval without ends.

    Examples
    --------
    >>> import verify
    >>> verify.load_finding("li2024.claimed_bound_is_vacuous").command
    'verify check li2024.data_shift n=2 d=1 R=4'
    """

    id: str
    paper: Paper
    title: str
    weight: Weight
    summary: str
    text: str
    command: str
    expect: Mapping[str, Expected]
    rests_on: tuple[Premise, ...]

    def __post_init__(self) -> None:
        refuse_bad_id("finding", self.id)
        for part, longest in (("title", TITLE), ("summary", SENTENCE), ("command", SENTENCE)):
            refuse_bad_text(f"finding {self.id}: {part}", getattr(self, part), longest, empty=part != "title")
        words = shlex.split(self.command)
        if len(words) < 2 or words[0] != "verify" or "--json" in words:
            raise TheoremError(f"finding {self.id}: the command must be `verify …`, without --json")
        if not isinstance(self.weight, Weight):
            raise TheoremError(f"finding {self.id}: weight {self.weight!r} is not a Weight")
        if not self.summary.strip().endswith("."):
            raise TheoremError(f"finding {self.id}: its summary is one sentence")
        if not self.expect or not self.rests_on:
            raise TheoremError(f"finding {self.id}: needs expected values and what it rests on")
        for path, expected in self.expect.items():
            if not isinstance(expected, Expected):
                raise TheoremError(f"finding {self.id}: {path}: write {expected!r} as a Fraction or an Enclosure")
            if expected == Enclosure(None, None):
                raise TheoremError(f"finding {self.id}: {path}: an interval without ends expects nothing")

    @property
    def under_our_reading(self) -> bool:
        """Whether the finding rests on a premise that the paper does not settle."""
        return any(premise.provenance in _OURS for premise in self.rests_on)

    @property
    def anchor(self) -> str:
        """The id without its paper: the anchor of the finding on its paper's page."""
        return self.id.rpartition(".")[2]

    @property
    def heading(self) -> str:
        """The title, and whether it is under our reading."""
        return self.title + (" (under our reading)" if self.under_our_reading else "")


def shown(expected: Expected) -> str:
    """Return an expected value for people: true, false and null as JSON, other values as `number_text` writes them."""
    if isinstance(expected, bool | None):
        return json.dumps(expected)
    return number_text(expected)


def by_weight(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by their weight, the heaviest first."""
    return sorted(findings, key=lambda finding: (finding.weight.rank, finding.paper.key, finding.id))


def findings_pages(findings: Iterable[Finding]) -> dict[str, str]:
    """Return findings as Markdown files by path: an index by weight, and one page for each paper.

    The files are the same for the same findings in any order.

    Parameters
    ----------
    findings
        The findings.

    Returns
    -------
    dict[str, str]
        The text of each file, by its path from the project's folder.

    Examples
    --------
    >>> import verify
    >>> list(verify.findings_pages([verify.load_finding("li2024.claimed_bound_is_vacuous")]))
    ['FINDINGS.md', 'docs/findings/li2024.md']
    """
    ordered = by_weight(findings)
    by_paper = sorted(ordered, key=lambda finding: finding.paper.key)
    pages = {"FINDINGS.md": _index(ordered)}
    for paper, group in groupby(by_paper, key=lambda finding: finding.paper):
        pages[page_of(paper)] = _page(paper, list(group))
    return {path: "\n".join(lines) + "\n" for path, lines in pages.items()}


def page_of(paper: Paper) -> str:
    """Return the path of the page of a paper's findings."""
    return f"{PAGES}/{paper.key}.md"


def _index(findings: Iterable[Finding]) -> Iterator[str]:
    yield "# Findings"
    yield ""
    yield 'The facts about the papers, beyond "holds", that the checks established. Each line links to the finding: its'
    yield "witness, the command that reproduces it, and the premises it rests on. A test runs every command and checks"
    yield f"what it reports. {WRITTEN_BY}."
    for weight, group in groupby(findings, key=lambda finding: finding.weight):
        yield from ("", f"## {weight.value}", "")
        for finding in group:
            reading = " *(under our reading)*" if finding.under_our_reading else ""
            yield f"- [`{finding.id}`]({page_of(finding.paper)}#{finding.anchor}): {finding.summary}{reading}"
    yield from ("", "## The theorems behind these", "")
    yield f"- [How each theorem is established]({PAGES}/standing.md) for all parameters"
    yield f"- [Which hypotheses are needed]({PAGES}/hypotheses.md), and how sharp their bounds are"


def _page(paper: Paper, findings: list[Finding]) -> Iterator[str]:
    premises = list(dict.fromkeys(premise for finding in findings for premise in finding.rests_on))
    yield from (f"# Findings: {paper.key}", "", f"{paper.reference}. {WRITTEN_BY}.")
    for weight, group in groupby(findings, key=lambda finding: finding.weight):
        yield from ("", f"## {weight.value}")
        for finding in group:
            yield from ("", f'<a id="{finding.anchor}"></a>', "", f"### {finding.heading}", "", f"`{finding.id}`", "")
            yield from (f"**{finding.summary}**", "")
            yield from (finding.text, "", "```", finding.command, "```", "", "What it reports:", "")
            yield from (f"- `{path}`: {shown(expected)}" for path, expected in finding.expect.items())
            used = ", ".join(str(premises.index(premise) + 1) for premise in finding.rests_on)
            yield from ("", f"Rests on premise{'s' if len(finding.rests_on) > 1 else ''} {used}.")
    yield from ("", "## Premises", "")
    yield from (f"{i}. {premise.text} ({premise.provenance})" for i, premise in enumerate(premises, 1))


def load_finding(reference: str) -> Finding:
    """Return a finding.

    Parameters
    ----------
    reference
        The finding's id.

    Returns
    -------
    Finding
        The finding.

    Raises
    ------
    InputError
        If no finding has this id.

    Examples
    --------
    >>> import verify
    >>> verify.load_finding("li2024.claimed_bound_is_vacuous").paper.key
    'li2024'
    """
    return load("finding", Finding, reference)
