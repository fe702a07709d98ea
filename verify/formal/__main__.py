"""`python -m verify.formal DIR [THEOREM ...]` exports theorems to folders in DIR, all by default, and compiles them."""

import sys
from pathlib import Path

from verify.checking.registry import ids
from verify.checking.theorem import load_theorem
from verify.formal.compiling import accepted_part, rechecked
from verify.formal.kernel.running import not_run


def main(folder: Path, names: list[str]) -> int:
    """Export and compile some theorems, and list the proofs that Rocq refuses; 1 where it refuses a theorem's files."""
    if why := not_run():
        sys.stdout.write(f"{why}\n")
        return 0
    folders, code, proved, clauses = list[Path](), 0, 0, 0
    for name in names:
        exported, found, left_out = accepted_part(load_theorem(name), folder / name)
        count = sum(clause.exported == "proof" for clause in exported.clauses)
        refused = f"; without {', '.join(left_out)}, whose proofs are refused" if left_out else ""
        sys.stdout.write(
            f"{name}: {count} of {len(exported.clauses)} clauses: {found.refused or 'accepted'}{refused}\n"
        )
        sys.stdout.flush()
        if found.accepted:
            folders.append(folder / name)
            proved, clauses = proved + count, clauses + len(exported.clauses)
        code = code or int(not found.accepted)
    again = rechecked(folders) if folders else None
    if again is not None:
        sys.stdout.write(f"coqchk: {again.refused or f'accepts the proofs of {proved} of {clauses} clauses'}\n")
        code = code or int(not again.accepted)
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:] or ids("theorem")))
