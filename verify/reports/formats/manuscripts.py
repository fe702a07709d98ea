"""A statement for a LaTeX manuscript: its text, its standing, and the style file that links to both."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from verify.checking.registry import kind_of
from verify.checking.standing import Standing
from verify.checking.theorem import Theorem
from verify.files import name_in_file, write_ours
from verify.outcomes import assignments_text, standings
from verify.reports.display.latex import body, escaped
from verify.reports.display.pages import page_of
from verify.reports.display.summaries import TheoremSummary, summary_of

STYLE = "lemmascope.sty"
_OURS = "% lemmascope, for LaTeX: "


@dataclass(frozen=True)
class Manuscript:
    """The files that a manuscript needs to state a theorem.

    Parameters
    ----------
    theorem, statement_digest
        The theorem's id, and the digest of its statement.
    for_all_parameters
        The standing of the claims, such as `proved`.
    files
        The text of each file, by name.
    """

    theorem: str
    statement_digest: str
    for_all_parameters: str
    files: Mapping[str, str]

    def to_json(self) -> dict[str, str]:
        """Return the object of `verify export --to latex --json`, without the texts of the files."""
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "for_all_parameters": self.for_all_parameters,
        }

    def write(self, folder: Path) -> list[Path]:
        """Write the files into a folder. Raises InputError if an existing file is not from an export."""
        return write_ours(folder, self.files, _OURS, "an export of a statement")


def manuscript(theorem: Theorem, *, seconds: float) -> Manuscript:
    """Return the files of a theorem; if no package has it, proofs of its clauses are searched for within `seconds`."""
    summary, refuted = _summary(theorem, seconds)
    digest, known = theorem.statement.digest, summary.standing.for_all_parameters
    command = f"\\lemmascopestatement{{{theorem.id}}}{{{escaped(refuted or known.text())}}}"
    lines = [f"{_OURS}{theorem.id}, statement {digest}", f"{command}%", body(page_of(summary)), ""]
    style = resources.files(__package__).joinpath(STYLE).read_text(encoding="ascii")
    files = {f"{name_in_file('id', theorem.id)}.tex": "\n".join(lines), STYLE: style}
    return Manuscript(theorem.id, digest, known.standing, files)


def _summary(theorem: Theorem, seconds: float) -> tuple[TheoremSummary, str]:
    """Return a theorem's summary, and the text of the refutation that a search found; "" if there is none."""
    if kind_of(theorem.id) == "theorem":
        found = summary_of(theorem)
        assert isinstance(found, TheoremSummary)
        return found, ""
    from verify.search.proving import prove

    result = prove(theorem, seconds=seconds)
    known = Standing(theorem.id, standings(result.clauses), result.for_all_parameters, None)
    refuted = f"refuted at {assignments_text(result.counterexample)}" if result.counterexample is not None else ""
    return TheoremSummary(theorem, known, result.not_formal), refuted
