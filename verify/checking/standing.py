"""The evidence graph: the standing of each theorem, by its argument and by shipped certificates that are re-checked.

A package ships the certificate of a theorem's example as `certificates/ID.json`. A claim is proved if the certificate
proves it, argued if an argument concludes it from proved steps (but stated if nothing evaluates it), and formal if the
package's record says that a proof assistant's kernel accepted it. A theorem's standing is at most that of its weakest
claim, and of the weakest theorem that its proof uses, directly or indirectly. If all its claims are formal, the
theorems that its proof uses do not count.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from verify.checking.argument import Inference, theorem_of
from verify.checking.certificates import accepted_file
from verify.checking.doors import asks_for_doors, with_doors
from verify.checking.formal.record import Kernel, recorded
from verify.checking.registry import package_folder, package_of, packages
from verify.checking.theorem import Theorem, load_theorem
from verify.claims.in_words import InWords, in_words
from verify.errors import InputError
from verify.files import name_in_file
from verify.language.statement import Statement
from verify.outcomes import Established, Evidence, ForAll, Trust
from verify.rechecker import CORE, IN_WORDS, Accepted, Rejected, Unreadable, is_for_all

_NONE: Mapping[str, str] = MappingProxyType({})
DIGESTS = "statement_digests.json"
"""Name of the file in which a package keeps its theorems' statement digests."""
_SETTING = ("parameters", "variables", "domain", "hypotheses", "definitions")
"""The parts of a statement's data that decide the meaning of its clauses."""


@dataclass(frozen=True)
class Standing:
    """The standing of a theorem and of its clauses for all parameters, and the theorem's evidence at its example.

    Parameters
    ----------
    clauses
        The standing of each clause for all parameters, by label.
    for_all_parameters
        The joint standing of its claims and of the theorems that its proof uses.
    evidence
        The weakest evidence of its claims at its example; None if a claim is in words, or there is no certificate.
    trusts
        The certificate's trusts beyond the re-checker's core.
    why
        The reason why no certificate counts; "" if one does.
    """

    theorem: str
    clauses: Mapping[str, Established]
    for_all_parameters: Established
    evidence: Evidence | None
    why: str = ""
    trusts: tuple[Trust, ...] = ()


def pins() -> dict[str, str]:
    """Return the digests that packages pin, by the ids of their installed theorems. Raises InputError."""
    return {name: digest for package in packages() for name, digest in pinned_digests(package).items()}


def pinned_digests(package: str) -> dict[str, str]:
    """Return the digests that a package pins; none for a package without a folder. Raises InputError for a bad file."""
    try:
        path = package_folder(package) / DIGESTS
    except InputError:
        return {}
    try:
        pinned = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise InputError("digests", path, f"cannot be read: {error}") from error
    if not isinstance(pinned, dict) or not all(isinstance(x, str) for pair in pinned.items() for x in pair):
        raise InputError("digests", path, "must map ids to digests")
    return pinned


def shipped_path(theorem_id: str) -> Path:
    """Return the path at which a theorem's package ships its certificate, whether the file is there or not."""
    return package_folder(package_of(theorem_id)) / "certificates" / f"{name_in_file('id', theorem_id)}.json"


def rechecked(theorem_id: str) -> Accepted | str:
    """Return the re-checked certificate that a theorem's package ships, or why there is none."""
    try:
        path = shipped_path(theorem_id)
    except InputError as error:
        return f"no certificate is shipped: {error}"
    if not path.is_file():
        return "no certificate is shipped"
    status = path.stat()
    return _rechecked(path, status.st_mtime_ns, status.st_size)


@cache
def _rechecked(path: Path, changed: int, size: int) -> Accepted | str:
    """Re-check a file; cached, so that only a file with a new time or size is read again."""
    try:
        return accepted_file(path)
    except (Rejected, Unreadable) as error:
        return f"the shipped certificate is not accepted: {error}"


def shipped_proofs(theorem: Theorem, *, shared: bool = False) -> Mapping[str, Any]:
    """Return the unchecked proofs for all parameters, by clause, from the certificate that a theorem's package ships.

    There are none if the certificate cannot be read, or is of another statement. With `shared`, a certificate of
    another statement (for a variant, that of its theorem) gives the proofs of the clauses that both statements have, if
    both have the same parameters, variables, domain, hypotheses and definitions.
    """
    try:
        # A theorem that is not installed has no path.
        path = shipped_path(theorem.id)
        status = path.stat()
        proofs = _proofs(path, status.st_mtime_ns, status.st_size)
        if theorem.statement.digest == proofs.digest:
            return proofs.by_label
        same = proofs.shared(theorem.statement) if shared else ()
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {label: proof for label, proof in proofs.by_label.items() if label in same}


def settled_steps(theorem: Theorem) -> frozenset[str]:
    """Return the labels of the steps that the shipped certificate proves for all instances in scope.

    The re-checker must accept the certificate, and find the steps proved for all words as well. A variant has the steps
    that it shares with its theorem, as in `shipped_proofs`.
    """
    steps = {step.label for step in theorem.statement.steps}
    settled = steps & shipped_proofs(theorem, shared=True).keys()
    accepted = rechecked(theorem.id) if settled else ""
    if isinstance(accepted, str) or not accepted.in_scope:
        return frozenset()
    proved = {shown.label for shown in accepted.steps if shown.evidence == Evidence.PROVED}
    return frozenset(settled & proved)


@dataclass(frozen=True)
class _Proofs:
    """The proofs for all parameters in a certificate, the certified statement as data, and its digest."""

    by_label: Mapping[str, Any]
    statement: Mapping[str, Any]
    digest: str

    def shared(self, statement: Statement) -> Collection[str]:
        """Return the labels of the clauses that another statement has as well, in the same setting."""
        other = statement.to_data()
        if any(self.statement[part] != other[part] for part in _SETTING):
            return ()
        here, there = (
            {clause["label"]: clause for clause in (*data["claims"], *data["steps"])}
            for data in (self.statement, other)
        )
        return {label for label, clause in here.items() if there.get(label) == clause}


@cache
def _proofs(path: Path, changed: int, size: int) -> _Proofs:
    data = json.loads(path.read_text(encoding="utf-8"))
    # The certificate declares these proofs to be for all parameters; the re-checker reads a proof when it is used.
    proofs = {c["label"]: c["proof"] for c in data["clauses"] if c["evidence"] == str(Evidence.PROVED)}
    registry = with_doors()[0] if asks_for_doors(proofs=proofs.values()) else CORE
    for_all = {label: proof for label, proof in proofs.items() if is_for_all(proof, registry)}
    return _Proofs(for_all, data["statement"], data["statement_digest"])


def standing(
    theorem: Theorem,
    *,
    certificate: Callable[[str], Accepted | str] = rechecked,
    load: Callable[[str], Theorem] = load_theorem,
) -> Standing:
    """Return a theorem's standing, from the certificate of its example and from its argument."""
    return _Standings(certificate, load).of(theorem)


def established(
    theorem: Theorem,
    proved: Mapping[str, Iterable[Trust]],
    refuted: Mapping[str, str] | None = None,
    kernel: Kernel | None = None,
) -> tuple[Mapping[str, Established], Established]:
    """Return each clause's standing for all parameters, and that of the claims, given the clauses that are proved.

    `proved` maps each proved clause to the trusts of its proof; a clause that the package's certificate proves counts
    as well. A clause that is refuted in scope is open, and so is each conclusion that an argument draws from it;
    `refuted` maps such a clause to the place of its refutation. `kernel` is the proof assistant's record, by default
    the package's.
    """
    standings = _Standings(rechecked, load_theorem)
    if kernel is not None:
        standings.kernels[theorem.id] = kernel
    if any(label not in proved for label in shipped_proofs(theorem)):
        accepted = standings.accepted(theorem)
        proved = {**({} if isinstance(accepted, str) else proved_by(accepted)), **proved}
    return standings.established(theorem, proved, refuted=refuted or {})


def established_by_extension(theorem: Theorem, extension: Inference) -> Established:
    """Return the standing of an extension's conclusion, given that the inference's hypotheses hold.

    If a premise from another theorem is not shown, the conclusion has the joint standing of all such premises. A claim
    that is the same as the only such premise has the premise's standing; any other claim is argued.
    """
    standings = _Standings(rechecked, load_theorem)
    elsewhere = [name for name in extension.uses if theorem_of(name) is not None]
    used = Established.by_all(map(standings.elsewhere, elsewhere))
    if not used.standing.is_shown:
        return used
    if len(elsewhere) == 1 and _is_same_claim(theorem, extension.label, elsewhere[0]):
        return replace(used, theorem=theorem.id)
    inferences = used.inferences | {f"{theorem.id}:extension:{extension.label}"}
    return Established(ForAll.ARGUED, inferences, theorem=theorem.id, trusts=used.trusts)


def _is_same_claim(theorem: Theorem, label: str, elsewhere: str) -> bool:
    """Whether a claim has the same data as the claim `elsewhere` of another theorem, given as `id:label`.

    Labels and texts (`says`) are not compared. This theorem must have all parameters and domain relations of the other
    one, and the same definitions. A claim in words has no data: comparing two sentences is left to the reader.
    """
    name, _, other_label = elsewhere.partition(":")
    here, there = theorem.statement, load_theorem(name).statement
    own, other = here.to_data(), there.to_data()
    claims = [_said(claim) for claim in here.claims if claim.label == label and not isinstance(claim, InWords)]
    return (
        all(parameter in own["parameters"] for parameter in other["parameters"])
        and all(relation in own["domain"] for relation in other["domain"])
        and own["definitions"] == other["definitions"]
        and claims == [_said(claim) for claim in there.claims if claim.label == other_label] != []
    )


def _said(claim: Any) -> dict[str, Any]:
    """Return a claim's data without its label and its text (`says`)."""
    return {**claim.to_data(), "label": "", "says": ""}


def argued_without(theorem: Theorem, label: str, proved: Mapping[str, Iterable[Trust]]) -> Established | None:
    """Return the standing of all claims when one hypothesis is not used and some clauses are proved without it.

    The result is None if a claim is then open, or stated only.
    """
    _, for_all = _Standings(rechecked, load_theorem).established(theorem, proved, without=label)
    return for_all if for_all.standing.is_shown else None


def proved_by(accepted: Accepted) -> dict[str, tuple[Trust, ...]]:
    """Return the clauses that a certificate proves for all parameters, with the trusts of each proof."""
    proved = (clause for clause in accepted.clauses if clause.evidence == Evidence.PROVED)
    return {clause.label: tuple(Trust(*trusted) for trusted in clause.trusts) for clause in proved}


class _Standings:
    """The standings of theorems, each computed once; a theorem met during its own computation rests on itself."""

    def __init__(self, certificate: Callable[[str], Accepted | str], load: Callable[[str], Theorem]) -> None:
        self.certificate, self.load = certificate, load
        self.known: dict[str, Standing | None] = {}
        self.kernels: dict[str, Kernel] = {}

    def of(self, theorem: Theorem) -> Standing:
        """Return a theorem's standing."""
        if theorem.id not in self.known:
            self.known[theorem.id] = None
            self.known[theorem.id] = self._found(theorem)
        return self.known[theorem.id] or _without(theorem, "its proof uses itself")

    def accepted(self, theorem: Theorem) -> Accepted | str:
        """Return the accepted certificate of a theorem, or why there is none."""
        accepted = self.certificate(theorem.id)
        if isinstance(accepted, str):
            return accepted
        if (accepted.theorem, accepted.statement_digest) != (theorem.id, theorem.statement.digest):
            return "the certificate is of another statement"
        if sorted(name for name, _ in accepted.uses) != sorted(theorem.proof_uses):
            return "the certificate was made with a proof that uses other theorems"
        shown = (clause.outcome == "verified" or clause.kind == IN_WORDS for clause in accepted.clauses)
        if not (accepted.in_scope and all(shown)):
            return "the certificate does not verify the theorem"
        for name, digest in accepted.uses:
            if self.load(name).statement.digest != digest:
                return f"the certificate was made with another statement of {name}"
        return accepted

    def _found(self, theorem: Theorem) -> Standing:
        accepted = self.accepted(theorem)
        if isinstance(accepted, str):
            return _without(theorem, accepted)
        clauses, for_all = self.established(theorem, proved_by(accepted))
        evidence = [claim.evidence for claim in accepted.claims]
        known = [Evidence(each) for each in evidence if each is not None]
        weakest = Evidence.weakest(known) if len(known) == len(evidence) else None
        trusts = tuple(Trust(*trusted) for trusted in accepted.trusts)
        return Standing(theorem.id, clauses, for_all, weakest, trusts=trusts)

    def established(
        self,
        theorem: Theorem,
        proved: Mapping[str, Iterable[Trust]],
        without: str = "",
        refuted: Mapping[str, str] = _NONE,
    ) -> tuple[Mapping[str, Established], Established]:
        """Return each clause's standing for all parameters, and that of the claims, given the clauses that are proved.

        `without` is a hypothesis that may not be used; `refuted` maps a clause to the place of its refutation.
        """
        known: dict[str, Established] = {hypothesis.label: _PROVED for hypothesis in theorem.statement.hypotheses}
        if without:
            known[without] = Established(ForAll.OPEN, why=f"{without} is left out")
        for clause in theorem.statement.clauses:
            known[clause.label] = Established(ForAll.OPEN, why=f"{clause.label} is open")
        known |= {label: Established(ForAll.PROVED, trusts=frozenset(trusts)) for label, trusts in proved.items()}
        # The kernel accepted the claim under all hypotheses, so its verdict does not count if one is left out.
        formal = {} if without else self.kernel(theorem).clauses
        known |= {label: Established(ForAll.FORMAL, formal=frozenset({how})) for label, how in formal.items()}
        known |= {label: Established(ForAll.OPEN, why=f"{label} is refuted {at}") for label, at in refuted.items()}
        unevaluated = in_words(theorem.statement) - theorem.evaluations.keys()
        for inference in theorem.argument:
            used = Established.by_all(known.get(label) or self.elsewhere(label) for label in inference.uses)
            if used.standing.is_shown:
                inferences = used.inferences | {f"{theorem.id}:{inference.label}"}
                used = Established(ForAll.ARGUED, inferences, trusts=used.trusts)
                if inference.label in unevaluated:
                    why = f"nothing evaluates {inference.label}"
                    used = replace(used, standing=ForAll.STATED, why=why)
            # A claim with a proof of its own needs no argument.
            itself = known.get(inference.label, used).standing in (ForAll.FORMAL, ForAll.PROVED)
            if not itself and inference.label not in refuted:
                known[inference.label] = used
        clauses = {
            clause.label: replace(known[clause.label], theorem=theorem.id) for clause in theorem.statement.clauses
        }
        claims = Established.by_all((clauses[claim.label] for claim in theorem.statement.claims), theorem.id)
        if claims.standing is ForAll.FORMAL:
            return clauses, claims
        below = [self.of(self.load(name)).for_all_parameters for name in theorem.proof_uses]
        return clauses, Established.by_all([claims, *below], theorem.id)

    def kernel(self, theorem: Theorem) -> Kernel:
        """Return the proof assistant's record on a theorem."""
        if theorem.id not in self.kernels:
            self.kernels[theorem.id] = recorded(theorem)
        return self.kernels[theorem.id]

    def elsewhere(self, used: str) -> Established:
        """Return the standing of another theorem's claims, or of one of them."""
        name, _, label = used.partition(":")
        theorem = self.load(name)
        below = self.of(theorem)
        if label and all(claim.label != label for claim in theorem.statement.claims):
            return Established(ForAll.OPEN, why=f"{used} is no claim")
        return below.clauses[label] if label else below.for_all_parameters


_PROVED = Established(ForAll.PROVED)


def _without(theorem: Theorem, why: str) -> Standing:
    """Return the standing of a theorem without a certificate."""
    clauses = {clause.label: Established(ForAll.OPEN, why=why) for clause in theorem.statement.clauses}
    return Standing(theorem.id, clauses, Established(ForAll.OPEN, why=f"{theorem.id}: {why}"), None, why)
