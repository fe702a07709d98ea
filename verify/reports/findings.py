"""Findings: what a check established about a paper beyond "holds", with the command that reproduces it.

`python -m verify.reports.findings` writes all of them as Markdown.
"""

import contextlib
import io
import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, get_args

from verify.checking.registry import finding_ids, load
from verify.errors import TheoremError
from verify.outcomes import Enclosure, number_text

if TYPE_CHECKING:
    from verify.checking.sources import Paper

Provenance = Literal["printed", "recalled", "our reading", "open", "derived here", "observed"]
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
class Expectation:
    """One value that a command was expected to report; `why` says what is wrong where it is not."""

    path: str
    expected: Expected
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether the value was there and as expected."""
        return not self.why


@dataclass(frozen=True)
class Reproduction:
    """A finding's command as it ran: its exit code, its standard error, and every expectation."""

    finding: str
    exit_code: int
    expectations: tuple[Expectation, ...]
    error: str
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether every expectation holds."""
        return all(expectation.holds for expectation in self.expectations)

    @property
    def failures(self) -> tuple[str, ...]:
        """One line for each expectation that does not hold."""
        return tuple(f"{e.path}: {e.why}" for e in self.expectations if not e.holds)


@dataclass(frozen=True)
class Finding:
    """What was found about a paper.

    Parameters
    ----------
    id, paper, title, text
        `paper.name`; the paper; the finding in one line, and in a few sentences.
    command
        The one `verify …` command that reproduces it.
    expect
        Dotted paths in that command's `--json` output, list items by index or by label
        (`clauses.stays.holds`), and what stands there: every number of the text.
    rests_on
        The definitions and facts without which it would not follow.
    """

    id: str
    paper: "Paper"
    title: str
    text: str
    command: str
    expect: Mapping[str, Expected]
    rests_on: tuple[Premise, ...]

    def __post_init__(self) -> None:
        words = shlex.split(self.command)
        if len(words) < 2 or words[0] != "verify" or "--json" in words:
            raise TheoremError(f"finding {self.id}: the command must be `verify …`, without --json")
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

    def reproduce(self) -> Reproduction:
        """Run the command in this process and hold its JSON against what is expected; errors are reported."""
        from verify.reports.command_line import INTERRUPTED, run

        out, err = io.StringIO(), io.StringIO()
        started = time.monotonic()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            words = shlex.split(self.command)[1:]
            # What was measured once reproduces nothing.
            anew = ["--no-cache"] if words[0] == "simulate" and "--no-cache" not in words else []
            code = run([*words, *anew, "--json"])
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        found, error = None, err.getvalue().strip()
        try:
            found = json.loads(out.getvalue())
        except ValueError:
            error = error or "the command printed no JSON"
        expectations = tuple(
            Expectation(path, expected, error if found is None else _why_not(found, path, expected))
            for path, expected in self.expect.items()
        )
        return Reproduction(self.id, code, expectations, error, time.monotonic() - started)


def _why_not(found: object, path: str, expected: Expected) -> str:
    """Return "" where the value at a path is the expected one, else what is wrong."""
    here: Any = found
    for part in path.split("."):
        if isinstance(here, list):
            labels: dict[str, Any] = {str(i): item for i, item in enumerate(here)}
            here = labels | {item["label"]: item for item in here if isinstance(item, dict) and "label" in item}
        if not isinstance(here, dict) or part not in here:
            return f"there is no {part!r}"
        here = here[part]
    if _is(here, expected):
        return ""
    return f"is {json.dumps(here, ensure_ascii=False)}, expected {_shown(expected)}"


def _is(found: object, expected: Expected) -> bool:
    if isinstance(expected, bool | str | None):
        return type(found) is type(expected) and found == expected
    low, high = _interval(found)
    wanted = expected if isinstance(expected, Enclosure) else Enclosure(expected, expected)
    return (wanted.lower is None or (low is not None and low >= wanted.lower)) and (
        wanted.upper is None or (high is not None and high <= wanted.upper)
    )


def _interval(found: object) -> tuple[Fraction | None, Fraction | None]:
    """Return the ends of a number as the command line writes it; None for an end that is not known."""
    if isinstance(found, dict):
        return _interval(found.get("lower"))[0], _interval(found.get("upper"))[1]
    try:
        number = Fraction(found) if isinstance(found, int | float | str) and not isinstance(found, bool) else None
    except (ValueError, ZeroDivisionError):
        number = None
    return number, number


def _shown(expected: Expected) -> str:
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
    yield 'What the checks established about the papers beyond "holds". Written by `make findings`; a test runs every'
    yield "command and compares what it reports."
    for paper, group in groupby(findings, key=lambda finding: finding.paper):
        yield from ("", f"## {paper.key}", "", f"{paper.citation}, arXiv {paper.arxiv}")
        for finding in group:
            yield from ("", f"### {finding.heading}", "", f"`{finding.id}`", "", finding.text)
            yield from ("", "```", finding.command, "```", "", "What it reports:", "")
            yield from (f"- `{path}`: {_shown(expected)}" for path, expected in finding.expect.items())
            yield from ("", "What this rests on:", "")
            yield from (f"- {premise.text} ({premise.provenance})" for premise in finding.rests_on)


def load_finding(reference: str) -> Finding:
    """Return the finding of an id. Raises InputError where there is none."""
    return load("finding", Finding, reference)


def main() -> None:
    """Write all registered findings, and the map of hypotheses, to standard output."""
    from verify.checking.loading import load_theorem
    from verify.checking.registry import theorem_ids
    from verify.reports.necessity_map import map_text

    sys.stdout.write(findings_text(load_finding(name) for name in finding_ids()))
    sys.stdout.write(map_text(load_theorem(name) for name in theorem_ids()))


if __name__ == "__main__":
    # The module that the findings import, not this copy of it named __main__.
    from verify.reports.findings import main as write

    write()
