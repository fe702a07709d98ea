"""The structure of the house, read from the source: who imports whom, in which wing, on which floor.

`python -m tests.house` prints modules a wing, floors, the largest circle and the median size of a module.
"""

import ast
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import verify

ROOT = Path(verify.__file__).parents[1]
TOPS = ("verify", "theorems", "numerics", "paper_checks", "tests")
_ABOVE = {"language": "", "evaluation": "language", "provers": "evaluation", "claims": "provers"}
_ABOVE |= {"checking": "claims rechecker", "search": "checking", "runs": "checking", "reports": "search runs"}


def _allowed(wing: str) -> set[str]:
    """Return what a wing may import: itself, the root, and what stands above it; the re-checker nothing of ours."""
    if wing in ("root", "rechecker"):
        return {wing}
    above = [_allowed(other) for other in _ABOVE[wing].split()]
    return {"root", wing}.union(*above)


BY_NAME = {("verify.shown", "verify.reports.display.forms")}
"""Imports by name, which no table sees: how results show themselves is written below, and asked for at the root."""


def by_name(known: Mapping[str, Path]) -> set[tuple[str, str]]:
    """Return which of some modules imports which, of a name that is written out in a call."""
    found = set()
    for name, path in known.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
                words = (word for word in ast.walk(node) if isinstance(word, ast.Constant))
                found |= {(name, str(word.value)) for word in words if word.value in known}
    return found


WINGS = {wing: frozenset(_allowed(wing)) for wing in ("root", "rechecker", *_ABOVE)}


def wing_of(module: str) -> str:
    """Return the wing of a module of `verify`."""
    first = module.split(".")[1] if "." in module else ""
    return first if first in WINGS else "root"


def modules(root: Path, *tops: str) -> dict[str, Path]:
    """Return the modules of some packages by name."""
    found = {}
    for top in tops:
        for path in sorted((root / top).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _named(node: ast.AST, package: list[str]) -> Iterator[str]:
    """Yield what an import names, and what may be modules in it; `package` is the list of the file's packages."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        prefix = ".".join([*base, *([node.module] if node.module else [])])
        yield from (f"{prefix}.{alias.name}" for alias in node.names)


def imports(known: Mapping[str, Path]) -> dict[str, set[str]]:
    """Return which of some modules each imports, inside functions and for type checkers as well."""
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for full in _named(node, package):
                # An object of a module is not a module: the module itself is imported.
                module = full if full in known else full.rpartition(".")[0]
                if module in known and module != name:
                    found[name].add(module)
    return found


def out_of_wing(edges: Mapping[str, set[str]]) -> list[str]:
    """Return the imports of `verify` that its wings do not allow; the public page and `__main__` look up to all."""
    return [
        f"{name} imports {other}"
        for name, others in edges.items()
        for other in sorted(others)
        if name not in ("verify", "verify.__main__") and name.split(".")[0] == other.split(".")[0] == "verify"
        if other == "verify" or wing_of(other) not in WINGS[wing_of(name)]
    ]


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules that import each other in a circle, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in sorted(edges[name]):
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            circle = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(circle) > 1:
                found.append(sorted(circle))

    for name in edges:
        if name not in number:
            visit(name)
    return found


def floors(edges: Mapping[str, set[str]]) -> int:
    """Return how many modules the longest chain of imports has; there must be no circle."""
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 1 + max(map(height, edges[name]), default=0)
        return heights[name]

    return max(map(height, edges), default=0)


def folders(known: Mapping[str, Path]) -> dict[Path, int]:
    """Return how many modules each folder has, `__init__` aside."""
    found = Counter(path.parent for path in known.values() if path.name != "__init__.py")
    return dict(sorted(found.items()))


def lines_of_code(path: Path) -> int:
    """Return how many lines a file has without docstrings, comments and blanks."""
    text = path.read_text(encoding="utf-8")
    spoken: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            spoken |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(1 for i, line in lines if i not in spoken and line.strip() and not line.strip().startswith("#"))


def described(root: Path = ROOT) -> Iterator[str]:
    """Yield what is to be known of the house, line by line."""
    known = modules(root, "verify")
    edges = imports(known)
    for folder, count in folders(known).items():
        yield f"{folder.relative_to(root).as_posix():30} {count:3} modules"
    sizes = [lines_of_code(path) for path in known.values()]
    found = circles(imports(modules(root, *TOPS)))
    yield f"floors {'unknown' if found else floors(edges)}, largest circle {max(map(len, found), default=0)}"
    yield f"lines of code {sum(sizes)}, of a module {statistics.median(sizes):.0f} (median)"


if __name__ == "__main__":
    import sys

    sys.stdout.writelines(f"{line}\n" for line in described())
