"""The map of which hypotheses are needed, as a package ships it: `necessity/ID.json`, one file for each theorem.

`necessity/ID.LABEL.certificate.json` is the certificate, accepted by `verify recheck`, of a needed or redundant
hypothesis. If the hypothesis is needed, the certificate refutes one claim of the statement without the hypothesis. If
it is redundant, the certificate proves clauses of that statement, or the hypothesis itself from the others; there is no
certificate if an argument from other theorems alone establishes the claims. `verify pin` writes these files.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.checking.certificates import accepted_file
from verify.checking.doors import door
from verify.checking.registry import package_folder, package_of
from verify.checking.standing import argued_without, pins, proved_by
from verify.checking.theorem import Theorem
from verify.claims.inequality import Inequality
from verify.errors import InputError, TheoremError
from verify.evaluation.instances import evaluate_hypothesis, parse
from verify.files import name_in_file, write_whole
from verify.language.statement import Hypothesis, Statement
from verify.outcomes import count_text
from verify.rechecker import Accepted, Rejected, Unreadable, recheck_text
from verify.reports.findings import WRITTEN_BY
from verify.search.narrowing import without

# Importing this module loads the searches.
if TYPE_CHECKING:
    from verify.search.necessity import NecessityResult

_SHORT = 20
"""Maximum number of characters of a number that is shown exactly."""
_EQUALITY = re.compile(r"[^<>=]+ = [^<>=]+")
_STATUSES = ("needed", "redundant", "undecided")


@dataclass(frozen=True)
class Mapped:
    """A theorem's part of the map: its rows as in `verify necessity --json`, without their trusts.

    `why` says why the map is missing or does not count; it is empty for a map of the theorem's present statement.
    """

    theorem: str
    hypotheses: tuple[dict[str, Any], ...]
    seconds: float
    seed: int
    why: str = ""

    def counts(self) -> str:
        """Return the numbers of needed and redundant (both with labels) and of undecided hypotheses, as text."""
        rows = {status: [row["label"] for row in self.hypotheses if row["status"] == status] for status in _STATUSES}
        fixed = sum(not row["varied"] for row in self.hypotheses)
        parts = [
            f"{len(labels)} {status}" + (f" ({', '.join(labels)})" if labels and status != "undecided" else "")
            for status, labels in rows.items()
            if labels
        ]
        return ", ".join(parts) + (f", {fixed} of these structural and not tested" if fixed else "")


def folder(theorem_id: str) -> Path:
    """Return the folder in which a theorem's package ships its map."""
    return package_folder(package_of(theorem_id)) / "necessity"


def certificate_path(theorem_id: str, label: str) -> Path:
    """Return the path of the certificate about a hypothesis."""
    return folder(theorem_id) / f"{theorem_id}.{label}.certificate.json"


def shipped(theorem: Theorem) -> Mapped:
    """Return the shipped map of a theorem; `why` says if the map is missing, unreadable or of another statement."""
    try:
        path = folder(theorem.id) / f"{theorem.id}.json"
    except InputError:
        return Mapped(theorem.id, (), 0, 0, "it is not registered: no package ships a map")
    if not path.is_file():
        return Mapped(theorem.id, (), 0, 0, "no map is shipped")
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        why = "" if body["statement_digest"] == theorem.statement.digest else "the map is of another statement"
        # The digest does not cover the hypotheses' words: the present ones are shown.
        said = {hypothesis.label: hypothesis.statement for hypothesis in theorem.statement.hypotheses}
        rows = tuple({**row, "statement": said.get(row["label"], row["statement"])} for row in body["hypotheses"])
        return Mapped(theorem.id, rows, body["seconds"], body["seed"], why)
    except (ValueError, KeyError, TypeError):
        return Mapped(theorem.id, (), 0, 0, "the map cannot be read")


def refusal(theorem: Theorem, row: dict[str, Any]) -> str:
    """Return why the shipped certificate does not support a row; "" if it does, or if the row is undecided.

    The certificate supports the row if the re-checker accepts it, it uses the pinned statements, and the row names all
    trusts of the certificate. Its statement must have all hypotheses but this one, and some of the theorem's clauses as
    claims; for a redundant hypothesis, the hypothesis itself may be the claim. If the hypothesis is needed, the
    certificate must also refute the row's clause at the row's witness, which violates this hypothesis alone. A
    redundant hypothesis needs no certificate if an argument from other theorems alone establishes the claims.
    """
    if row["status"] == "undecided":
        return ""
    path, said = certificate_path(theorem.id, row["label"]), row["why"].partition(", trusting ")[2].split(", ")
    if row["status"] == "redundant" and (established := argued_without(theorem, row["label"], {})):
        # An argument from other theorems alone establishes the claims.
        return _unsaid(established.trusts, said)
    if not path.is_file():
        return "no certificate is shipped"
    try:
        accepted = accepted_file(path)
    except (Rejected, Unreadable) as error:
        return str(error)
    pinned = pins()
    if changed := [name for name, digest in accepted.uses if pinned.get(name, digest) != digest]:
        return f"the certificate uses another statement of {changed[0]}"
    # A proof for all parameters does not depend on an instance's scope, so the trusts of the scope do not matter.
    trusts = {each for clause in accepted.clauses for each in clause.trusts}
    if unsaid := _unsaid(trusts if row["status"] == "redundant" else accepted.trusts, said):
        return unsaid
    statement = without(theorem.statement, [row["label"]])
    hypothesis = next(h for h in theorem.statement.hypotheses if h.label == row["label"])
    if row["status"] == "redundant":
        return _refusal_of_redundance(theorem, hypothesis, statement, accepted)
    return _refusal_of_need(theorem, hypothesis, statement, accepted, row)


def _unsaid(trusts: Iterable[object], said: Collection[str]) -> str:
    """Return the message about trusts that a row leaves out; "" if it names all."""
    unsaid = sorted({str(trust) for trust in trusts} - set(said))
    return f"the row does not say that it trusts {', '.join(unsaid)}" if unsaid else ""


def _refusal_of_redundance(theorem: Theorem, hypothesis: Hypothesis, statement: Statement, accepted: Accepted) -> str:
    """Return why a certificate proves neither the claims without the hypothesis nor the hypothesis from the others.

    Return "" if the certificate proves one of these.
    """
    if not all((clause.outcome, clause.evidence) == ("verified", "proved") for clause in accepted.clauses):
        return "the certificate proves less"
    labels = proved_by(accepted)
    proved = tuple(clause for clause in statement.clauses if clause.label in labels)
    relation = hypothesis.relation
    implied = None if relation is None else statement.alone(Inequality(hypothesis.label, relation))
    if implied is not None and accepted.statement_digest == implied.digest:
        return ""
    if not proved or accepted.statement_digest != statement.alone(*proved).digest:
        return "the certificate is of another statement"
    claims = {claim.label for claim in statement.claims}
    shown = claims <= labels.keys() or argued_without(theorem, hypothesis.label, labels)
    return "" if shown else "the certificate proves less"


def _refusal_of_need(
    theorem: Theorem, hypothesis: Hypothesis, statement: Statement, accepted: Accepted, row: Mapping[str, Any]
) -> str:
    """Return why a certificate does not refute a row's clause at the row's witness; "" if it does.

    The witness must violate this hypothesis alone.
    """
    clauses = tuple(claim for claim in statement.claims if claim.label == row["clause"])
    if not clauses or accepted.statement_digest != statement.alone(*clauses).digest:
        return "the certificate is of another statement"
    if not accepted.in_scope or [clause.outcome for clause in accepted.clauses] != ["refuted"]:
        return "the certificate is of no violation within the other hypotheses"
    witness = {name: value for name, value in row["witness"].items() if not name.endswith("_float")}
    if {name: _typed(value) for name, value in accepted.instance.items()} != {n: _typed(x) for n, x in witness.items()}:
        return "the certificate is of another instance"
    instance = parse(theorem.statement, witness)
    if evaluate_hypothesis(theorem.statement.specialise(hypothesis, instance), instance).holds is not False:
        return "the hypothesis holds at the witness"
    return ""


def write(theorem: Theorem, result: "NecessityResult", target: Path) -> None:
    """Write a theorem's map and its certificates, and remove the certificates of an earlier map.

    Raises TheoremError for a certificate that is not accepted, and InputError for a name that no file may have.
    """
    texts: dict[str, str] = {}
    name = name_in_file("id", theorem.id)
    for need in result.hypotheses:
        if need.certificate is None:
            continue
        text = json.dumps(need.certificate, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"
        try:
            recheck_text(text.encode(), door=door)
        except (Rejected, Unreadable) as error:
            raise TheoremError(f"{theorem.id}: {need.label}: the re-checker does not accept it: {error}") from error
        texts[f"{name}.{name_in_file('label', need.label)}.certificate.json"] = text
    # A row's trusts are left out: its certificate lists them, and their digests may change.
    rows = [{part: said for part, said in need.to_json().items() if part != "trusts"} for need in result.hypotheses]
    texts[f"{name}.json"] = json.dumps(result.to_json() | {"hypotheses": rows}, ensure_ascii=False, indent=1) + "\n"
    target.mkdir(exist_ok=True)
    for file, text in texts.items():
        write_whole(target / file, text)
    for old in target.glob(f"{name}.*"):
        if old.name not in texts and old.name.removeprefix(f"{name}.").count(".") == 2:
            old.unlink()


def map_text(theorems: Iterable[Theorem]) -> str:
    """Return the shipped maps of theorems as a page of Markdown, without the maps that do not count."""
    return "\n".join(table(mapped for mapped in map(shipped, theorems) if not mapped.why)) + "\n"


def table(maps: Iterable[Mapped]) -> Iterator[str]:
    """Yield the map as Markdown; hypotheses that are not varied (structural ones) are only counted."""
    yield "# Which hypotheses are needed"
    yield ""
    yield "Each hypothesis is left out in turn (`verify necessity`). *Needed*: the named claim is refuted, certified"
    yield "(trusting a package's second computations where that is said),"
    yield "at the instance found that violates this hypothesis alone and is closest to satisfying it. *Redundant*:"
    yield "every claim is proved without it, or argued without using it, or the other hypotheses imply it; one"
    yield "redundant hypothesis may be left out, not necessarily several together. No claim counts as formal here,"
    yield "because its text in Rocq supposes all hypotheses. Certificates are shipped for what is certified or proved."
    yield f"Otherwise *undecided*. {WRITTEN_BY}."
    yield ""
    yield "| theorem | hypothesis | | what is known |"
    yield "|---|---|---|---|"
    for mapped in maps:
        rows = [row for row in mapped.hypotheses if row["varied"]]
        fixed = len(mapped.hypotheses) - len(rows)
        for row in rows:
            known = known_text(row, "`{}`")
            statement = row["statement"].replace("|", "\\|")
            yield f"| `{mapped.theorem}` | {row['label']}: {statement} | {row['status']} | {known} |"
        if fixed:
            many = count_text(fixed, "structural hypothesis", "structural hypotheses")
            yield f"| `{mapped.theorem}` | {many} | undecided | not tested |"


def known_text(row: Mapping[str, Any], clause: str = "{}") -> str:
    """Return the text about a hypothesis from its row of a map; `clause` is a format string for the clause's label."""
    if row["status"] != "needed":
        return row["why"]
    trusting = row["why"].partition(", trusting ")[2]
    refuted = f"{clause.format(row['clause'])} refuted at {instance_text(row['witness'])}"
    return "; ".join([refuted + (f", trusting {trusting}" if trusting else ""), *threshold_lines(row)])


def instance_text(instance: Mapping[str, Any]) -> str:
    """Return an instance of a JSON object as typed on the command line, without the floats beside its numbers."""
    return " ".join(f"{name}={_typed(value)}" for name, value in instance.items() if not name.endswith("_float"))


def threshold_lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each threshold beyond which violations were found; last, a line about all instances."""
    for threshold in row["thresholds"]:
        name, (end, violated) = threshold["parameter"], (_short(threshold, key) for key in ("end", "violated"))
        clear = "" if threshold["clear"] is None else f"{threshold['clear_outcome']} at {_short(threshold, 'clear')}, "
        asked = "asks for" if _EQUALITY.fullmatch(row["statement"]) else "ends at"
        yield f"here the hypothesis {asked} {name} = {end}; {clear}refuted at {violated}"
    relaxed = row["relaxed"]
    if relaxed and relaxed["examples"]:
        clear, violated = (relaxed.get(f"{key}_float", relaxed[key]) for key in ("clear", "violated"))
        effort = f"no violation in {relaxed['examples']} instances past it and up to {clear:.4g} times"
        yield f"over all instances: {effort} the bound, a certified violation at {violated:.4g} times"


def _short(row: dict[str, Any], key: str) -> str:
    """Return a number exactly if its exact form is short, else to seven digits."""
    exact = _typed(row[key])
    return exact if len(exact) <= _SHORT else f"{row[f'{key}_float']:.7g}"


def _typed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
