"""Findings: what a check established about a paper beyond "holds", with the command that reproduces it."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Literal, get_args

from verify.checking.registry import load
from verify.checking.sources import Paper
from verify.errors import TheoremError
from verify.outcomes import Enclosure, number_text

Provenance = Literal["printed", "recalled", "our reading", "open", "derived here", "observed"]
WRITTEN_BY = "Written by `verify pin`"
_OURS: tuple[Provenance, ...] = ("our reading", "open")

Expected = bool | int | Fraction | Enclosure | str | None
"""An exact JSON value, or, for a number, the closed interval that it lies in."""


@dataclass(frozen=True)
class Premise:
    """Something that a finding rests on, and where that is from: `observed` is what runs showed, underived."""

    text: str
    provenance: Provenance

    def __post_init__(self) -> None:
        if self.provenance not in get_args(Provenance):
            raise TheoremError(f"premise {self.text!r}: {self.provenance!r} is not one of {get_args(Provenance)}")


@dataclass(frozen=True)
class Finding:
    """What was found about a paper.

    Parameters
    ----------
    id, paper, title
        `paper.name`; the paper; the finding in one line.
    summary, text
        One plain sentence: what the paper says, what is so, how sure. Then the details.
    command
        The one `verify …` command that reproduces it.
    expect
        Dotted paths in that command's `--json` output, list items by index or by label
        (`clauses.stays.holds`), and what stands there: every number of the text.
    rests_on
        The definitions and facts without which it would not follow.
    """

    id: str
    paper: Paper
    title: str
    summary: str
    text: str
    command: str
    expect: Mapping[str, Expected]
    rests_on: tuple[Premise, ...]

    def __post_init__(self) -> None:
        words = shlex.split(self.command)
        if len(words) < 2 or words[0] != "verify" or "--json" in words:
            raise TheoremError(f"finding {self.id}: the command must be `verify …`, without --json")
        if not self.summary.strip().endswith(".") or "\n" in self.summary:
            raise TheoremError(f"finding {self.id}: its summary is one sentence, on one line")
        if not self.expect or not self.rests_on:
            raise TheoremError(f"finding {self.id}: needs expected values and what it rests on")
        for path, expected in self.expect.items():
            if not isinstance(expected, Expected):
                raise TheoremError(f"finding {self.id}: {path}: write {expected!r} as a Fraction or an Enclosure")
            if expected == Enclosure(None, None):
                raise TheoremError(f"finding {self.id}: {path}: an interval without ends expects nothing")

    @property
    def under_our_reading(self) -> bool:
        """Whether it rests on something that the paper does not settle."""
        return any(premise.provenance in _OURS for premise in self.rests_on)

    @property
    def heading(self) -> str:
        """The title, and whether it is under our reading."""
        return self.title + (" (under our reading)" if self.under_our_reading else "")


def shown(expected: Expected) -> str:
    """Return an expected value for people: words and null as JSON, an interval by its ends as decimals where short."""
    if isinstance(expected, bool | None):
        return json.dumps(expected)
    return number_text(expected)


def findings_text(findings: Iterable[Finding]) -> str:
    """Return findings as Markdown, by paper and id; the same text for the same findings in any order."""
    return "\n".join(_lines(sorted(findings, key=lambda finding: (finding.paper.key, finding.id)))) + "\n"


def _lines(findings: Iterable[Finding]) -> Iterator[str]:
    yield "# Findings"
    yield ""
    yield f'What the checks established about the papers beyond "holds". {WRITTEN_BY}; a test runs every'
    yield "command and compares what it reports."
    for paper, group in groupby(findings, key=lambda finding: finding.paper):
        yield from ("", f"## {paper.key}", "", f"{paper.citation}, arXiv {paper.arxiv}")
        of_paper = list(group)
        premises = list(dict.fromkeys(premise for finding in of_paper for premise in finding.rests_on))
        for finding in of_paper:
            yield from (
                "",
                f"### {finding.heading}",
                "",
                f"`{finding.id}`",
                "",
                f"**{finding.summary}**",
                "",
                finding.text,
            )
            yield from ("", "```", finding.command, "```", "", "What it reports:", "")
            yield from (f"- `{path}`: {shown(expected)}" for path, expected in finding.expect.items())
            used = ", ".join(str(premises.index(premise) + 1) for premise in finding.rests_on)
            yield from ("", f"Rests on premise{'s' if len(finding.rests_on) > 1 else ''} {used} of {paper.key}.")
        yield from ("", f"### What the findings of {paper.key} rest on", "")
        yield from (f"{i}. {premise.text} ({premise.provenance})" for i, premise in enumerate(premises, 1))


def load_finding(reference: str) -> Finding:
    """Return the finding of an id. Raises InputError where there is none."""
    return load("finding", Finding, reference)
