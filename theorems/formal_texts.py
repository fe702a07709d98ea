"""The formal texts of an area's claims: propositions of its `formal/claims.v`, each with the theorem that proves it."""

from collections.abc import Iterable

from verify import FormalText, formal_text


def formal_text_of(area: str, besides: Iterable[str] = (), **proofs: str) -> FormalText:
    """Return the formal text of a claim.

    Parameters
    ----------
    area
        The name of the area's `.v` files, such as "SparseTokenSelection".
    besides
        The sentences, left in prose, by which the claim follows from the propositions.
    proofs
        For the name of each proposition in `formal/claims.v`, the theorem below `formal/` that proves it.
    """
    named = {f"{area}.formal.claims.{claim}": f"{area}.formal.{proof}" for claim, proof in proofs.items()}
    return formal_text("theorems", named, besides=besides)
