"""A finding's command run again, and its report compared with the finding's expected values."""

import contextlib
import io
import json
import shlex
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verify.outcomes import Enclosure, how_sure
from verify.reports.command_line import run
from verify.reports.commands.frame import INTERRUPTED
from verify.reports.findings import Expected, Finding, load_finding, shown


@dataclass(frozen=True)
class Reproduction:
    """The outcome of a run of a finding's command.

    Parameters
    ----------
    finding
        Id of the finding.
    exit_code
        Exit code of the command.
    failures
        A line for each expected value that the command did not report.
    error
        The command's standard error.
    seconds
        The command's duration, in seconds.

    Examples
    --------
    >>> from verify import Reproduction
    >>> Reproduction("user.finding", 0, (), "", 0.1).holds
    True
    """

    finding: str
    exit_code: int
    failures: tuple[str, ...]
    error: str
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether the command reported every expected value."""
        return not self.failures


def reproduce(finding: Finding | str) -> Reproduction:
    """Run a finding's command in this process and compare its JSON with the expected values.

    Parameters
    ----------
    finding
        A `Finding`, or an id.

    Returns
    -------
    Reproduction
        Whether it `holds`, a line for each failure, and the command's exit code and standard error.

    Raises
    ------
    InputError
        For an unknown id.

    Examples
    --------
    >>> import verify
    >>> verify.reproduce("li2024.claimed_bound_is_vacuous").holds
    True
    """
    finding = load_finding(finding) if isinstance(finding, str) else finding
    out, err = io.StringIO(), io.StringIO()
    started = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        words = shlex.split(finding.command)[1:]
        # A measurement that is read from the store would reproduce nothing.
        anew = ["--no-cache"] if words[0] == "simulate" and "--no-cache" not in words else []
        code = run([*words, *anew, "--json"])
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    body, error = None, err.getvalue().strip()
    try:
        body = json.loads(out.getvalue())
    except ValueError:
        error = error or "the command printed no JSON"
    failures = tuple(
        f"{path}: {why}"
        for path, expected in finding.expect.items()
        if (why := error if body is None else _why_not(body, path, expected))
    )
    return Reproduction(finding.id, code, failures, error, time.monotonic() - started)


def _why_not(body: object, path: str, expected: Expected) -> str:
    """Return "" if the value at a path is the expected one, else a message."""
    value: Any = body
    for part in path.split("."):
        if isinstance(value, list):
            labels: dict[str, Any] = {str(i): item for i, item in enumerate(value)}
            value = labels | {item["label"]: item for item in value if isinstance(item, dict) and "label" in item}
        if not isinstance(value, dict) or part not in value:
            return f"there is no {part!r}"
        value = _sure(value) if part == "evidence" else value[part]
    if _is(value, expected):
        return ""
    return f"is {json.dumps(value, ensure_ascii=False)}, expected {shown(expected)}"


def _sure(said: dict[str, Any]) -> str:
    """Return the text about the evidence and its trusts, as `check` shows it."""
    return how_sure(said["evidence"], [f"{trust['name']}/{trust['version']}" for trust in said.get("trusts", ())])


def _is(value: object, expected: Expected) -> bool:
    if isinstance(expected, bool | str | None):
        return type(value) is type(expected) and value == expected
    low, high = _interval(value)
    wanted = expected if isinstance(expected, Enclosure) else Enclosure(expected, expected)
    return (wanted.lower is None or (low is not None and low >= wanted.lower)) and (
        wanted.upper is None or (high is not None and high <= wanted.upper)
    )


def _interval(value: object) -> tuple[Fraction | None, Fraction | None]:
    """Return the ends of a number as the command line writes it; None for an end that is not known."""
    if isinstance(value, dict):
        return _interval(value.get("lower"))[0], _interval(value.get("upper"))[1]
    try:
        number = Fraction(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    except (ValueError, ZeroDivisionError):
        number = None
    return number, number
