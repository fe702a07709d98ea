"""The ledger's entries of earlier runs, kept for the report: the latest entry of each subject, with unchanged sources.

A package may ship such a record, with the commit and the days of its runs. The report shows a shipped entry if its
subject has not been run since.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from verify import remembered
from verify.checking.registry import KINDS, listed, package_folder
from verify.errors import InputError
from verify.files import json_object, sources, write_whole
from verify.installed import version
from verify.reports.ledger import Entry

SHIPPED = "recorded.json"
"""Name of the file in a package's folder that ships the entries of runs."""
_NAME = "ledger"
_ABOUT = ("kind", "id", "label", "what", "device", "full")
"""The keys of an entry that name its subject; a later entry with the same subject replaces it."""


def recorded() -> list[Entry]:
    """Return the entries of earlier runs in this folder, with their times as `at`; none if a source has changed."""
    found = remembered.HERE.recall(_NAME, _digest()) if remembered.HERE.knows(_NAME) else None
    return list(found or ())


def record(entries: Iterable[Entry]) -> list[Entry]:
    """Keep the entries of a run, and return them with the entries of earlier runs on other subjects."""
    remembered.make_folder()
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    kept = together(recorded(), [{**entry, "at": now} for entry in entries])
    remembered.HERE.remember(_NAME, _digest(), kept)
    return kept


def shipped() -> list[Entry]:
    """Return the entries of earlier runs that packages ship, with their days and commits as `at`.

    A damaged file counts as empty. The entries of a theorem whose statement has changed are left out.
    """
    from verify.checking.standing import pins

    entries = list[Entry]()
    for package in _packages():
        with suppress(InputError, OSError, KeyError, TypeError, AttributeError):
            kept = json_object((package_folder(package) / SHIPPED).read_bytes())
            then, now = kept["statements"], pins()
            entries += [
                {**entry, "at": f"{entry['at']}, commit {kept['commit']}"}
                for entry in kept["entries"]
                if isinstance(entry["kind"], str) and then.get(entry["id"]) == now.get(entry["id"])
            ]
    return entries


def ship(path: Path, entries: Iterable[Entry]) -> None:
    """Write entries with their days, and the current commit of the file's folder, to a file that a package ships.

    Raises OSError if the file cannot be written.
    """
    from verify.checking.standing import pins

    body = {"commit": commit_of(path.absolute().parent, path.name), "statements": pins()}
    lines = sorted(json.dumps({**each, "at": each["at"][:10]}, sort_keys=True) for each in entries)
    # One line for each entry.
    listed_entries = ",\n".join(lines)
    write_whole(path, f'{json.dumps(body)[:-1]}, "entries": [\n{listed_entries}\n]}}\n')


def commit_of(folder: Path, *written: str) -> str:
    """Return the commit of a folder, with ", changed" if files differ from it; "unknown" without a commit.

    Changes of the files in the folder that are `written` by this run do not count.
    """
    others = [":/", *(f":(exclude){name}" for name in written)]
    asked = (["describe", "--always", "--exclude=*"], ["status", "--porcelain", "--untracked-files=no", "--", *others])
    with suppress(OSError, subprocess.CalledProcessError):
        commit, changes = (
            subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603, S607 -- names of files alone
            for words in asked
        )
        return f"{commit}, changed" if changes else commit
    return "unknown"


def together(earlier: Sequence[Entry], later: Sequence[Entry]) -> list[Entry]:
    """Return the entries of two runs; if both have entries of a subject, only the later run's entries count."""
    things = {_thing(entry) for entry in later}
    return [*(entry for entry in earlier if _thing(entry) not in things), *later]


def _thing(entry: Entry) -> tuple[object, ...]:
    return tuple(entry.get(name) for name in _ABOUT)


def _packages() -> list[str]:
    """Return the names of `verify` and of the packages that register theorems, experiments and the like."""
    known = {kind: listed(kind) for kind in KINDS}
    named = {line.partition(":")[0] for lines in known.values() for line in lines}
    modules = {line.rpartition(" = ")[2].partition(".")[0] for lines in known.values() for line in lines}
    return sorted({"verify", *named, *modules})


def _digest() -> str:
    """Return a digest of the entries' dependencies: versions, and all sources of `verify` and registered packages."""
    known = {kind: listed(kind) for kind in KINDS}
    parts = [sys.version.encode(), version().encode(), str(known).encode()]
    for package in _packages():
        for name, path in sources(package):
            parts += [f"{package}/{name}".encode(), path.read_bytes()]
    return remembered.digest_of(*parts)
