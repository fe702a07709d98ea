"""A theorem's files for Rocq: its statement, the proofs of proved clauses, and the check that they match."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from verify.checking.check import check
from verify.checking.doors import with_doors
from verify.checking.standing import shipped_proofs
from verify.checking.theorem import Theorem
from verify.errors import TheoremError
from verify.evaluation.instances import parse
from verify.files import write_ours
from verify.formal.example import example_of
from verify.formal.names import comment
from verify.formal.proofs import header_of, proof_of
from verify.formal.statements import Stated
from verify.outcomes import Evidence

FILES = ("Statement.v", "Proof.v", "Check.v")
"""The names of the files, in the order in which they are compiled."""
EXAMPLE = "example_in_scope"
"""Name of the theorem in Rocq that the example satisfies all hypotheses."""
LONGEST = 25_000
"""Maximum number of characters of an exported proof: a proof of 30 000 has taken Rocq's checker minutes."""
_OURS = "lemmascope, for Rocq: "


class ClauseExport(NamedTuple):
    """The exported part of a clause: `proof` (with statement), `statement` or `nothing`, and why not more."""

    label: str
    role: str
    exported: str
    why: str


@dataclass(frozen=True)
class Export:
    """The exported files of a theorem, and the exported part of each clause.

    Parameters
    ----------
    theorem, statement_digest
        The theorem's id, and the digest of its statement.
    files
        The text of each file, by the file's name.
    clauses
        The exported part of each clause.
    example
        Whether the example is proved to satisfy all hypotheses.
    names
        The label of each clause that has a proof, by the name of its theorem in `Proof.v`. `EXAMPLE` stands for itself.
    """

    theorem: str
    statement_digest: str
    files: Mapping[str, str]
    clauses: tuple[ClauseExport, ...]
    example: bool
    names: Mapping[str, str]

    def proof_at(self, line: int) -> str:
        """Return the label of the clause whose proof contains a line of `Proof.v`; "" for any other line."""
        before = self.files["Proof.v"].splitlines()[:line]
        heads = [each.split()[1] for each in before if each.startswith("Theorem ")]
        return self.names.get(heads[-1], "") if heads else ""

    def to_json(self) -> dict[str, Any]:
        """Return the export as an object of `verify export --json`, without the texts of the files."""
        return {
            "theorem": self.theorem,
            "statement_digest": self.statement_digest,
            "clauses": [clause._asdict() for clause in self.clauses],
            "example": self.example,
        }

    def write(self, folder: Path) -> list[Path]:
        """Write the files into a folder. Raises InputError if one of these files is there and is not of an export."""
        return write_ours(folder, {name: self.files[name] for name in FILES}, f"(* {_OURS}", "an export of a statement")


def export(
    theorem: Theorem,
    *,
    seconds: float = 60,
    proofs: Mapping[str, Any] | None = None,
    without: Collection[str] = (),
) -> Export:
    """Return the files of a theorem, with the given proofs of its clauses or else those of its certificate.

    If no certificate is shipped, the clauses are proved anew within `seconds`. The proofs of the labels in `without`
    are left out, because Rocq refuses them.
    """
    statement = theorem.statement
    example = {name: plain(value) for name, value in parse(statement, theorem.example).items()}
    stated = Stated(f"{_OURS}{theorem.id}", statement.digest, statement.to_data(), example)
    proofs = _proofs(theorem, seconds) if proofs is None else proofs
    theorems, clauses = dict[str, str](), list[ClauseExport]()
    for clause in stated.clauses:
        label = str(clause["label"])
        theorems[label], why = _theorem(stated, clause, proofs.get(label))
        if label in without:
            theorems[label], why = "", "Rocq refuses its proof"
        # If a hypothesis is not exported, the exported claim is stronger and may be false: it needs a proof.
        nothing = label in stated.refused or (stated.left_out and not theorems[label])
        exported = "nothing" if nothing else "proof" if theorems[label] else "statement"
        clauses.append(ClauseExport(label, statement.role(label), exported, why))
    shown = {label: text for label, text in theorems.items() if text}
    in_scope = "" if EXAMPLE in without else example_of(stated)
    proved = [*shown.values(), in_scope]
    files = {
        "Statement.v": stated.text,
        "Proof.v": "\n".join([comment(f"{_OURS}proofs"), header_of(proved, derives=stated.derives), *proved]),
        "Check.v": _check(stated, [stated.claims[label] for label in shown] + [EXAMPLE] * bool(in_scope)),
    }
    return Export(
        theorem.id,
        statement.digest,
        files,
        tuple(clauses),
        bool(in_scope),
        {stated.claims[label]: label for label in shown} | {EXAMPLE: EXAMPLE},
    )


def plain(value: Any) -> Any:
    """Return a parameter's value in the form that a certificate has."""
    if isinstance(value, tuple | list):
        return [plain(entry) for entry in value]
    return value if isinstance(value, str) else str(Fraction(value))


def _proofs(theorem: Theorem, seconds: float) -> Mapping[str, Any]:
    if shipped := shipped_proofs(theorem):
        return shipped
    found = check(theorem, theorem.example, seconds=seconds)
    return {c.label: c.proof for c in found.clauses if c.evidence is Evidence.PROVED and c.proof is not None}


def _theorem(stated: Stated, clause: Mapping[str, Any], proof: Mapping[str, Any] | None) -> tuple[str, str]:
    """Return a clause's theorem with its proof, or "" and the reason why there is none."""
    label = str(clause["label"])
    if label in stated.refused:
        return "", stated.refused[label]
    if proof is None:
        return "", "it is not proved for all parameters"
    try:
        text = proof_of(stated, clause, proof, with_doors()[0])
    except TheoremError as error:
        return "", str(error)
    except ArithmeticError as error:
        return "", f"its proof is not computed: {error}"
    if len(text) > LONGEST:
        return "", f"its proof has {len(text)} characters, more than the {LONGEST} that Rocq's checker reads in time"
    return text, ""


def _check(stated: Stated, names: list[str]) -> str:
    """Return the text of `Check.v`: each proof has exactly the type that the statement gives; then print all axioms."""
    lines = [comment(f"{_OURS}each proof is of its claim, digest {stated.digest}"), "Require Statement Proof."]
    lines += [f"Definition accepted_{name} : Statement.{name} := Proof.{name}." for name in names]
    if names:
        all_of_them = " ".join(f"(conj accepted_{name}" for name in names) + " I" + ")" * len(names)
        lines += [f"Definition all_accepted := {all_of_them}.", "Print Assumptions all_accepted."]
    return "\n".join(lines) + "\n"
