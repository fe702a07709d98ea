"""Which true statements are proved for all parameters: `python -m tests.outside.proved` prints and records them."""

import json
import sys
from collections import Counter
from fractions import Fraction

from tests.outside import FOLDER, Outside, statements
from verify.budget import proving
from verify.claims.line import example_of, statement_of
from verify.errors import InputError
from verify.provers.inequalities import positive_proof
from verify.rechecker import Instance
from verify.search.limits import PROVE

RECORD = FOLDER / "proved.json"
"""The ids that were proved, and how many characters their longest proof has."""


def proofs(outside: Outside, work: int = PROVE.work) -> list[int] | None:
    """Return the characters of each claim's proof; None where one has none that the re-checker accepts."""
    try:
        statement = statement_of(outside.statement)
    except InputError:
        return None
    example = example_of(statement)
    if example is None:
        return None
    instance = Instance(statement.to_data(), {name: str(Fraction(value)) for name, value in example.items()})
    sizes = []
    for claim in statement.claims:
        with proving(work):
            proof = positive_proof(claim.relation, statement, hypotheses=True)
        if proof is None:
            return None
        stated = {"label": claim.label, "outcome": "verified", "evidence": "proved", "proof": proof}
        if instance.verdict(claim.to_data(), stated).evidence != "proved":
            return None
        sizes.append(len(json.dumps(proof)))
    return sizes


if __name__ == "__main__":
    proved: dict[str, int] = {}
    asked: Counter[str] = Counter()
    for each in statements():
        if each.true:
            asked[each.family] += 1
            if (sizes := proofs(each)) is not None:
                proved[each.id] = max(sizes)
    RECORD.write_text(json.dumps(proved, indent=1) + "\n", encoding="utf-8")
    families = Counter(name.partition("/")[0] for name in proved)
    sys.stdout.writelines(f"{family}: {families[family]} of {count}\n" for family, count in asked.items())
    sys.stdout.write(f"in all: {len(proved)} of {asked.total()}\n")
