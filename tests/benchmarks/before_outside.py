"""Record which true statements of `tests/outside` an older tree of this project proves, with that tree's code.

`git worktree add ../before 13363866` checks out the tree in which the statements were first committed, before any
prover was changed for them. Then run COMMAND.
"""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import sympy as sp

import verify
from tests.outside import statements
from verify import Identity
from verify.errors import InputError
from verify.outcomes import Evidence

COMMAND = "PYTHONPATH=../before .venv/bin/python tests/benchmarks/before_outside.py > tests/outside/before.json"
SECONDS = 10


def outcome(line):
    """Return "proved" (for all parameters), "not proved", "no example" or "not expressed" for a line in the older tree.

    An equation is tried as an identity too, because that tree has no prover of an equation in a line.
    """
    try:
        theorem = verify.claim(line)
    except InputError as error:
        return "no example" if "no instance in scope" in str(error) else "not expressed"
    tried = (theorem, _with_identities(theorem))
    return "proved" if any(map(_is_proved, tried)) else "not proved"


def _is_proved(theorem):
    found = verify.prove(theorem, seconds=SECONDS)
    return all(each.evidence is Evidence.PROVED for each in found.clauses)


def _with_identities(theorem):
    claims = tuple(
        Identity(each.label, *each.relation.args) if isinstance(each.relation, sp.Eq) else each
        for each in theorem.statement.claims
    )
    return replace(theorem, statement=replace(theorem.statement, claims=claims))


def main():
    """Print the record of the tree that `verify` is imported from."""
    commit = subprocess.check_output(["git", "rev-parse", "--short=8", "HEAD"], cwd=Path(verify.__file__).parent)
    outcomes = {each.id: outcome(each.statement) for each in statements() if each.true}
    head = {
        "command": COMMAND,
        "before": commit.decode().strip(),
        "seconds": SECONDS,
        "proved": sum(said == "proved" for said in outcomes.values()),
    }
    json.dump(head | {"of": len(outcomes), "outcomes": outcomes}, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
