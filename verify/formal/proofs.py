"""The text of `Proof.v`: a proof in Rocq of each proved clause, from the data that the re-checker accepts."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from verify.formal.clauses import Clause
from verify.formal.deductions import by_deduction
from verify.formal.expressions import NotSaidError
from verify.formal.identities import by_field
from verify.formal.known import by_constant
from verify.formal.slacks import by_logarithms, by_slacks
from verify.formal.statements import Stated
from verify.rechecker.reading import Rejected
from verify.rechecker.registry import Registry

KINDS: Mapping[str, Callable[[Clause, Mapping[str, Any]], None]] = {
    "identity": by_field,
    "positive": by_slacks,
    "squares": by_slacks,
    "cases": by_slacks,
    "deduction": by_deduction,
    "constant": by_constant,
    "logarithms": by_logarithms,
}
"""The kinds of proof that are exported, each with the function that writes it."""


def proof_of(stated: Stated, clause: Mapping[str, Any], proof: Mapping[str, Any], registry: Registry) -> str:
    """Return the theorem of a clause with its proof. Raises NotSaidError for a proof that is not exported."""
    write = KINDS.get(str(proof["kind"]))
    if write is None:
        raise NotSaidError(f"proofs of kind {proof['kind']} are not exported")
    written = Clause(stated, clause, registry)
    if proof["kind"] != "identity" and written.goal.slopes:
        raise NotSaidError(f"a proof of kind {proof['kind']} of a derivative or a limit is not exported")
    try:
        write(written, proof)
    except Rejected as error:
        raise NotSaidError(str(error)) from error
    name = stated.claims[str(clause["label"])]
    body = "\n".join(f"  {line}" for line in written.lines)
    return f"Theorem {name} : Statement.{name}.\nProof.\n{body}\nQed.\n"


def header_of(proofs: Collection[str], *, derives: bool) -> str:
    """Return the beginning of `Proof.v` for some proofs: the lemmas and tactics of the `.v` files beside this file."""
    bounds = any(tactic in proof for proof in proofs for tactic in ("exp_bounds", "ln_above", "ln_of_squared"))
    names = ["signs.v", "tactics.v", *["derivatives.v"] * derives, *["numbers.v"] * bounds]
    texts = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names]
    return "".join(["Require Statement.\n", *texts, _LIMIT])


# Maximum number of seconds of a proof step; a longer step is an error at its line.
_LIMIT = "Set Default Timeout 60.\n"
