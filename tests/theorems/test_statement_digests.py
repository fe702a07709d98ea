"""Statements are pinned: a statement that changes, weaker or not, changes a line of a committed file."""

import json
from pathlib import Path

import theorems
from verify import load_theorem, theorem_ids

PINNED = json.loads((Path(theorems.__file__).parent / "statement_digests.json").read_text())


def test_every_statement_is_pinned():
    digests = {name: load_theorem(name).statement.digest for name in theorem_ids()}
    assert digests == PINNED, "after a deliberate change, write the new digests into theorems/statement_digests.json"
