"""`python -m verify.formal DIR [--all] [THEOREM ...]` compiles theorems with Rocq and records the accepted claims.

The formal texts and exported statements of the given theorems, by default all, are compiled below DIR, two theorems at
a time. A theorem that is on record with the same files is not compiled again, unless `--all` is given.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from verify.checking.formal.record import entries, outdated, write
from verify.checking.registry import ids, package_of
from verify.checking.theorem import Theorem, load_theorem
from verify.formal.export import FILES
from verify.formal.kernel.acceptance import Acceptance, accepted, compile_texts, exported_again
from verify.formal.kernel.running import checked, checked_alone, library_versions, not_run, rocq_version

PROCESSES = 2
"""The number of theorems that are compiled at the same time."""


def main(folder: Path, names: Sequence[str], *, every: bool = False) -> int:
    """Compile some theorems, list Rocq's refusals, and write the record.

    Return 1 if Rocq or its checker refuses a part, else 0. If Rocq is not installed, print that and do nothing.
    """
    if why := not_run():
        sys.stdout.write(f"{why}\n")
        return 0
    found, bad, folder = dict[str, Acceptance](), 0, folder.resolve()
    # The files of the formal texts are shared by theorems: parallel processes would write the same files.
    for name in names:
        theorem = load_theorem(name)
        if every or not _typed_fits(theorem, entries(package_of(name)).get(name)):
            compile_texts(theorem, folder)
    with ProcessPoolExecutor(PROCESSES) as pool:
        for name, result in zip(names, pool.map(partial(_compiled, folder, every), names), strict=True):
            if result is None:
                _say(f"{name}: as recorded")
                continue
            acceptance, refused = result
            _say(f"{name}: {_counts(acceptance)}{''.join(f'; refused: {why}' for why in acceptance.refused)}")
            if refused:
                _say(f"{name}: {refused}")
                bad = 1
            else:
                found[name] = acceptance
    if found:
        _say_counted(found)
    exported = {name: each.exported for name, each in found.items() if each.exported}
    modules = [module for each in found.values() for module in each.modules]
    # The checker has read each export without its libraries. A few exports that together use all libraries are read
    # again, with the libraries.
    modules += [module for name in _with_all_libraries(folder, exported) for module in exported[name]]
    if modules:
        roots = dict.fromkeys(_threes(part for each in found.values() for part in each.roots))
        refused, axioms = checked(folder, [part for root in roots for part in root], modules)
        _say(f"coqchk: {refused or f'accepts {len({*modules}.union(*exported.values()))} files'}")
        if refused:
            return 1
        seen = {"libraries": library_versions(), "axioms": sorted(axioms)}
        write({name: each.entry | seen for name, each in found.items()})
    return bad or int(any(each.refused for each in found.values()))


def _compiled(folder: Path, every: bool, name: str) -> tuple[Acceptance, str] | None:
    """Return Rocq's acceptance of a theorem, and its checker's verdict on the export; None if it is on record."""
    theorem = load_theorem(name)
    if not every and _fits(theorem, entries(package_of(name)).get(name)):
        return None
    found = accepted(theorem, folder)
    return found, checked_alone(folder, found.roots, found.exported) if found.exported else ""


def _with_all_libraries(folder: Path, names: Iterable[str]) -> Iterable[str]:
    """Return the names of exports that together need all libraries: the shortest for each set of libraries."""
    least = dict[frozenset[str], tuple[int, str]]()
    for name in names:
        lines = [line for file in FILES for line in (folder / name / file).read_text(encoding="utf-8").splitlines()]
        needed = frozenset(line for line in lines if "Require " in line)
        least[needed] = min(least.get(needed, (len(lines), name)), (len(lines), name))
    return [name for _, name in least.values()]


def _say_counted(found: Mapping[str, Acceptance]) -> None:
    """Print the clauses with a proof that is not exported, and the number of accepted proofs."""
    for name, result in found.items():
        for other in result.others:
            _say(f"not exported: {name} {other}")
    proved = sum(len(each.entry["exported"]["clauses"]) for each in found.values())
    others = sum(len(each.others) for each in found.values())
    _say(f"{proved} of {proved + others} proofs accepted in {len(found)} theorems")


def _counts(result: Acceptance) -> str:
    kinds = (("exported", "clauses"), ("typed", "claims"))
    return ", ".join(f"{len(result.entry[kind][of])} {kind}" for kind, of in kinds)


def _typed_fits(theorem: Theorem, entry: Mapping[str, Any] | None) -> bool:
    """Whether a record belongs to the present statement and formal texts, and to the installed Rocq."""
    if entry is None or entry["rocq"] != rocq_version() or outdated(theorem, entry):
        return False
    return sorted(entry["typed"]["claims"]) == sorted(theorem.statement.formal)


def _fits(theorem: Theorem, entry: Mapping[str, Any] | None) -> bool:
    """Whether a record belongs to all present files, including the exported ones."""
    if entry is None or not _typed_fits(theorem, entry):
        return False
    exported = entry["exported"]
    return exported_again(theorem, exported.get("without", ())) == exported["files"]


def _threes(parts: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    """Yield the options of Rocq in triples: the option, a folder, and the folder's name in Rocq."""
    every = iter(parts)
    return zip(every, every, every, strict=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    given = sys.argv[1:]
    chosen = [word for word in given if word != "--all"]
    sys.exit(main(Path(chosen[0]), chosen[1:] or ids("theorem"), every="--all" in given))
