"""`python -m verify.formal DIR [--all] [THEOREM ...]` has Rocq compile what is formal, and writes what it accepts.

Of theorems, all by default, the formal texts and the exported statements are compiled below DIR. What a package's
record has of the same files is not compiled again, but with `--all`.
"""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from verify.checking.formal.record import entries, outdated, write
from verify.checking.registry import ids, package_of
from verify.checking.theorem import Theorem, load_theorem
from verify.formal.kernel.acceptance import Acceptance, accepted, exported_again
from verify.formal.kernel.running import checked, library_versions, not_run, rocq_version


def main(folder: Path, names: Iterable[str], *, every: bool = False) -> int:
    """Compile some theorems, list what Rocq refuses, and write the record; 1 where it or its checker refuses."""
    if why := not_run():
        sys.stdout.write(f"{why}\n")
        return 0
    found, folder = dict[str, Acceptance](), folder.resolve()
    for name in names:
        theorem = load_theorem(name)
        if not every and _fits(theorem, entries(package_of(name)).get(name)):
            _say(f"{name}: as recorded")
            continue
        found[name] = accepted(theorem, folder)
        entry = found[name].entry
        kinds = (("exported", "clauses"), ("typed", "claims"))
        counts = ", ".join(f"{len(entry[kind][of])} {kind}" for kind, of in kinds)
        counts += "".join(f"; without the proof of {label}" for label in entry["exported"].get("without", ()))
        _say(f"{name}: {counts}{''.join(f'; refused: {why}' for why in found[name].refused)}")
    modules = [module for each in found.values() for module in each.modules]
    if modules:
        roots = dict.fromkeys(_threes(part for each in found.values() for part in each.roots))
        refused, axioms = checked(folder, [part for root in roots for part in root], modules)
        _say(f"coqchk: {refused or f'accepts {len(modules)} files'}")
        if refused:
            return 1
        seen = {"libraries": library_versions(), "axioms": sorted(axioms)}
        write({name: each.entry | seen for name, each in found.items()})
    return int(any(each.refused for each in found.values()))


def _fits(theorem: Theorem, entry: Mapping[str, Any] | None) -> bool:
    """Whether a record is of the files that are there, and of the Rocq that is installed."""
    if entry is None or entry["rocq"] != rocq_version() or outdated(theorem, entry):
        return False
    if sorted(entry["typed"]["claims"]) != sorted(theorem.statement.formal):
        return False
    exported = entry["exported"]
    return exported_again(theorem, exported.get("without", ())) == exported["files"]


def _threes(parts: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    """Yield an option of Rocq with its folder and name."""
    every = iter(parts)
    return zip(every, every, every, strict=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    given = sys.argv[1:]
    chosen = [word for word in given if word != "--all"]
    sys.exit(main(Path(chosen[0]), chosen[1:] or ids("theorem"), every="--all" in given))
