"""`python -m verify.formal DIR [THEOREM ...]` exports theorems to folders in DIR, all by default, and compiles them."""

import sys
from pathlib import Path

from verify.checking.registry import ids
from verify.checking.theorem import load_theorem
from verify.formal.compiling import compiled, not_run, rechecked
from verify.formal.export import Export, export


def main(folder: Path, names: list[str]) -> int:
    """Export and compile some theorems; the exit code is 1 where Rocq refuses one."""
    if why := not_run():
        sys.stdout.write(f"{why}\n")
        return 0
    folders, code, counts = list[Path](), 0, [0, 0]
    for name in names:
        exported, inside = export(load_theorem(name)), folder / name
        inside.mkdir(parents=True, exist_ok=True)
        exported.write(inside)
        found = compiled(inside)
        proofs, clauses = _counted(exported)
        sys.stdout.write(f"{name}: {proofs} of {clauses} clauses; {found.refused or 'accepted'}\n")
        sys.stdout.flush()
        if found.accepted:
            folders.append(inside)
            counts = [counts[0] + proofs, counts[1] + clauses]
        else:
            code = 1
    again = rechecked(folders) if folders else None
    if again is not None:
        sys.stdout.write(f"coqchk: {again.refused or f'accepts the proofs of {counts[0]} clauses'}\n")
        code = code or int(not again.accepted)
    return code


def _counted(exported: Export) -> tuple[int, int]:
    return sum(clause.exported == "proof" for clause in exported.clauses), len(exported.clauses)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:] or ids("theorem")))
