"""A theorem's reference for loading in another process, and the versions that must agree there."""

from dataclasses import dataclass
from functools import lru_cache

from verify.checking.processes.code import code_of
from verify.checking.theorem import Theorem, load_theorem, reference_of
from verify.errors import InputError


@dataclass(frozen=True)
class Located:
    """A theorem by its reference and module, the digest of its statement, and the version of its code."""

    reference: str
    module: str
    statement_digest: str
    code: str

    def loaded(self) -> Theorem:
        """Load the theorem in another process. Raises InputError if its version there is a different one."""
        return _loaded(self)


@lru_cache(maxsize=4)
def _loaded(located: Located) -> Theorem:
    theorem = load_theorem(located.reference)
    same = theorem.statement.digest == located.statement_digest
    if not same or code_of(theorem, located.reference, located.module) != located.code:
        raise InputError(located.reference, "", "a worker has another version of the theorem or of lemmascope")
    return theorem


def loaded(theorem: Theorem | Located) -> Theorem:
    """Return a theorem as it is, or load it if its location is given."""
    return theorem if isinstance(theorem, Theorem) else theorem.loaded()


def located(theorem: Theorem) -> Located | None:
    """Return a theorem's location for another process; None if the theorem is in no module."""
    reference = reference_of(theorem)
    return Located(*reference, theorem.statement.digest, code_of(theorem, *reference)) if reference else None


def located_for_others(theorem: Theorem) -> Located:
    """Return a theorem's location for other processes. Raises InputError if the theorem is in no module."""
    found = located(theorem)
    if found is None:
        raise InputError(theorem.id, "", "is in no module: other processes cannot load it")
    return found
