"""`python -m tests.outside.proved [FAMILY ...]` prints the true statements that are proved for all parameters.

Without families the command also records them in `proved.json`. A proof is re-checked in good time if the re-check
takes at most SOON seconds, or at most the fraction TENTH of the search's time.
"""

import json
import statistics
import sys
import time
from fractions import Fraction
from typing import NamedTuple

from tests.outside import FOLDER, Outside, statements
from verify.budget import MOST_WORK, proving
from verify.claims.line import example_of, statement_of
from verify.errors import InputError
from verify.provers.inequalities import positive_proof
from verify.rechecker import Instance
from verify.search.limits import PROVE

RECORD = FOLDER / "proved.json"
"""The file with the ids of the proved statements and the number of characters of each one's longest proof."""


SOON, TENTH = 0.05, 0.1


class Proved(NamedTuple):
    """A claim's proof: its number of characters, and the seconds that the search and the re-check took."""

    characters: int
    searched: float
    rechecked: float

    @property
    def in_time(self) -> bool:
        """Return whether the proof is re-checked in good time."""
        return self.rechecked <= max(SOON, TENTH * self.searched)


def proofs(outside: Outside, work: int = PROVE.work, rechecking: float = MOST_WORK) -> list[Proved] | None:
    """Return the size and seconds of each claim's proof.

    Return None if the statement cannot be read, has no example, or has a claim without an accepted proof. `rechecking`
    limits the work of re-checking all claims, in nominal microseconds.
    """
    try:
        statement = statement_of(outside.statement)
    except InputError:
        return None
    example = example_of(statement)
    if example is None:
        return None
    values = {name: str(Fraction(value)) for name, value in example.items()}
    instance = Instance(statement.to_data(), values, rechecking)
    found = []
    for claim in statement.claims:
        started = time.process_time()
        with proving(work):
            proof = positive_proof(claim.relation, statement, hypotheses=True)
        if proof is None:
            return None
        searched = time.process_time()
        stated = {"label": claim.label, "outcome": "verified", "evidence": "proved", "proof": proof}
        if instance.verdict(claim.to_data(), stated).evidence != "proved":
            return None
        ended = time.process_time()
        found.append(Proved(len(json.dumps(proof)), searched - started, ended - searched))
    return found


def longest(found: list[Proved]) -> Proved:
    """Return the number of characters of a statement's longest proof, and the total seconds of its proofs."""
    characters, searched, rechecked = zip(*found, strict=True)
    return Proved(max(characters), sum(searched), sum(rechecked))


def told(family: str, of: int, found: list[Proved]) -> str:
    """Return a line with a family's name, the number of its proved statements, and the medians of their proofs."""
    if not found:
        return f"{family}: 0 of {of}"
    middle = [statistics.median(column) for column in zip(*found, strict=True)]
    late = sum(not each.in_time for each in found)
    return (
        f"{family}: {len(found)} of {of}, at the median {middle[0]:.0f} characters, {middle[1]:.2f} s to find, "
        f"{middle[2]:.3f} s to re-check; {late} not re-checked in good time"
    )


def main(families: list[str]) -> None:
    """Print a line for each statement and each family; without arguments, read all families and record the proofs."""
    proved: dict[str, Proved] = {}
    asked = [each for each in statements(*families) if each.true]
    for each in asked:
        if (found := proofs(each)) is not None:
            proved[each.id] = longest(found)
        sys.stdout.write(f"{each.id} {tuple(proved[each.id]) if each.id in proved else None}\n")
        sys.stdout.flush()
    for family in dict.fromkeys(each.family for each in asked):
        of = [each.id for each in asked if each.family == family]
        sys.stdout.write(f"{told(family, len(of), [proved[name] for name in of if name in proved])}\n")
    sys.stdout.write(f"{told('in all', len(asked), list(proved.values()))}\n")
    if not families:
        record = {name: each.characters for name, each in proved.items()}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
