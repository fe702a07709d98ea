"""Record which true statements of `tests/outside` an older tree of this project proves, with that tree's code.

`git worktree add ../before 13363866` checks out the tree in which the statements were first committed, before any
prover was changed for them. Then run COMMAND.
"""

import json
import subprocess
import sys
from pathlib import Path

import verify
from tests.outside import statements
from verify.errors import InputError
from verify.outcomes import Evidence

COMMAND = "PYTHONPATH=../before .venv/bin/python tests/benchmarks/before_outside.py > tests/outside/before.json"
SECONDS = 10


def outcome(line):
    """Return "proved" (for all parameters), "not proved" or "not expressed" for a statement in the older tree."""
    try:
        theorem = verify.claim(line)
    except InputError:
        return "not expressed"
    found = verify.prove(theorem, seconds=SECONDS)
    return "proved" if all(each.evidence is Evidence.PROVED for each in found.clauses) else "not proved"


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
