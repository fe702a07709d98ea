"""The layout of the source: its imports, its subpackages, and its number of statements.

`python -m tests.layout` prints the number of modules in each folder, the longest chain and the largest cycle of
imports, and the number of statements in each package. Statements are counted in the syntax tree, so line breaks do not
matter.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import verify

ROOT = Path(verify.__file__).parents[1]
TOPS = ("verify", "theorems", "numerics", "paper_checks", "tests")
_ABOVE = {"language": "", "evaluation": "language", "provers": "evaluation", "claims": "provers"}
_ABOVE |= {"checking": "claims rechecker", "formal": "checking", "search": "checking", "runs": "checking"}
_ABOVE |= {"reports": "formal search runs"}


def _allowed(subpackage: str) -> set[str]:
    """Return the subpackages that a subpackage may import.

    A subpackage may import itself, the root, the subpackages in its entry of `_ABOVE`, and all that those may import.
    The root and the re-checker may import only themselves.
    """
    if subpackage in ("root", "rechecker"):
        return {subpackage}
    above = [_allowed(other) for other in _ABOVE[subpackage].split()]
    return {"root", subpackage}.union(*above)


SUBPACKAGES = {subpackage: frozenset(_allowed(subpackage)) for subpackage in ("root", "rechecker", *_ABOVE)}


def subpackage_of(module: str) -> str:
    """Return the subpackage of a module of `verify`."""
    first = module.split(".")[1] if "." in module else ""
    return first if first in SUBPACKAGES else "root"


def modules(root: Path, *tops: str) -> dict[str, Path]:
    """Return the paths of the modules of some packages, by module name."""
    found = {}
    for top in tops:
        for path in sorted((root / top).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _named(node: ast.AST, package: list[str]) -> Iterator[str]:
    """Yield the full names in an import statement; `package` is the list of the packages that contain the file."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        prefix = ".".join([*base, *([node.module] if node.module else [])])
        yield from (f"{prefix}.{alias.name}" for alias in node.names)


def _written_out(node: ast.AST) -> Iterator[str]:
    """Yield the constants in a call that imports a module by its name."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
        yield from (str(word.value) for word in ast.walk(node) if isinstance(word, ast.Constant))


def _importing(text: str) -> Iterator[ast.AST]:
    """Yield the nodes of a file that may import: its statements, or all nodes if a call may import by a name."""
    tree = ast.parse(text)
    if "import_module" in text or "__import__" in text:
        yield from ast.walk(tree)
        return
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, block, ())
            left += inner if isinstance(inner, list) else ()


def imports(known: Mapping[str, Path]) -> dict[str, set[str]]:
    """Return the known modules that each module imports, also inside functions, for type checkers and by name."""
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        for node in _importing(path.read_text(encoding="utf-8")):
            for full in (*_named(node, package), *_written_out(node)):
                # If the name is an object of a module, the module is imported.
                module = full if full in known else full.rpartition(".")[0]
                if module in known and module != name:
                    found[name].add(module)
    return found


def not_allowed(edges: Mapping[str, set[str]]) -> list[str]:
    """Return the forbidden imports within `verify`; only `verify` and `verify.__main__` may import all modules."""
    return [
        f"{name} imports {other}"
        for name, others in edges.items()
        for other in sorted(others)
        if name not in ("verify", "verify.__main__") and name.split(".")[0] == other.split(".")[0] == "verify"
        if other == "verify" or subpackage_of(other) not in SUBPACKAGES[subpackage_of(name)]
    ]


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules that import each other in cycles, by Tarjan's algorithm."""
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


def longest_chain(edges: Mapping[str, set[str]]) -> int:
    """Return the number of modules in the longest chain of imports; there must be no cycle."""
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 1 + max(map(height, edges[name]), default=0)
        return heights[name]

    return max(map(height, edges), default=0)


def folders(known: Mapping[str, Path]) -> dict[Path, int]:
    """Return the number of modules in each folder, without `__init__`."""
    found = Counter(path.parent for path in known.values() if path.name != "__init__.py")
    return dict(sorted(found.items()))


def walk(title: str, root: Path = ROOT) -> list[str]:
    """Return the files that `docs/architecture.md` lists under a title, in order."""
    _, _, after = (root / "docs" / "architecture.md").read_text(encoding="utf-8").partition(f"\n### {title}\n")
    return re.findall(r"^\d+\. `([^`]+)`", after.partition("\n#")[0], re.MULTILINE)


def statements(path: Path) -> int:
    """Return the number of statements in a file, including docstrings."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def functions(path: Path) -> dict[str, int]:
    """Return the number of statements in each outermost function of a file, including docstrings and `def`.

    The name of a method includes its class.
    """
    found: dict[str, int] = {}
    left = [("", node) for node in ast.parse(path.read_text(encoding="utf-8")).body]
    for within, node in left:
        if isinstance(node, ast.ClassDef):
            left += [(f"{node.name}.", inner) for inner in node.body]
        elif isinstance(node, ast.FunctionDef):
            found[within + node.name] = sum(isinstance(inner, ast.stmt) for inner in ast.walk(node))
    return found


def described(root: Path = ROOT) -> Iterator[str]:
    """Yield the lines of a description of the layout."""
    known = modules(root, "verify")
    edges = imports(known)
    for folder, count in folders(known).items():
        yield f"{folder.relative_to(root).as_posix():30} {count:3} modules"
    found = circles(imports(modules(root, *TOPS)))
    chain = "unknown" if found else longest_chain(edges)
    yield f"longest chain of imports {chain}, largest cycle {max(map(len, found), default=0)}"
    for top in (*TOPS, "verify/rechecker"):
        yield f"{top:30} {sum(map(statements, modules(root, top).values())):6} statements"


if __name__ == "__main__":
    import sys

    sys.stdout.writelines(f"{line}\n" for line in described())
