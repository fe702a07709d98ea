"""What runs have entered into the ledger, kept for the report: of exactly these sources, the latest of each thing."""

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from verify import remembered
from verify.checking.registry import listed
from verify.files import sources
from verify.installed import version
from verify.reports.ledger import Entry

_NAME = "ledger"
_KINDS = ("theorem", "experiment", "comparison", "prediction", "finding", "diagram")
_ABOUT = ("kind", "id", "label", "what", "device", "full")
"""What of an entry says which thing it is of: a later one of the same replaces it."""


def recorded() -> list[Entry]:
    """Return what earlier runs in this folder have entered, each `at` its time; none once a source has changed."""
    found = remembered.recall(_NAME, _digest()) if remembered.knows(_NAME) else None
    return list(found or ())


def record(entries: Iterable[Entry]) -> list[Entry]:
    """Keep what a run has entered, and return it with what earlier ones have of other things."""
    remembered.make_folder()
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    kept = together(recorded(), [{**entry, "at": now} for entry in entries])
    remembered.remember(_NAME, _digest(), kept)
    return kept


def together(earlier: Sequence[Entry], later: Sequence[Entry]) -> list[Entry]:
    """Return entries of two runs, of each thing those of the later run that has it."""
    things = {_thing(entry) for entry in later}
    return [*(entry for entry in earlier if _thing(entry) not in things), *later]


def _thing(entry: Entry) -> tuple[object, ...]:
    return tuple(entry.get(name) for name in _ABOUT)


def _digest() -> str:
    """Return a digest of what an entry depends on: all sources of ours and of the packages that are installed."""
    known = {kind: listed(kind) for kind in _KINDS}
    named = {line.partition(":")[0] for lines in known.values() for line in lines}
    modules = {line.rpartition(" = ")[2].partition(".")[0] for lines in known.values() for line in lines}
    parts = [sys.version.encode(), version().encode(), str(known).encode()]
    for package in sorted({"verify", *named, *modules}):
        for name, path in sources(package):
            parts += [f"{package}/{name}".encode(), path.read_bytes()]
    return remembered.digest_of(*parts)
