"""Imports, read from the source: the packages' layers, and heavy packages that are imported inside functions only."""

import ast
from pathlib import Path

import pytest

import verify
from verify.installed import EXTRAS

ROOT = Path(verify.__file__).parents[1]
OURS = {"verify", "theorems", "numerics", "paper_checks", "tests"}
ALLOWED = {"verify": {"verify"}, "theorems": {"verify", "theorems"}, "numerics": {"verify", "numerics"}}
HEAVY = {package for brought in EXTRAS.values() for package in brought}
"""Packages that may be missing, most of them heavy."""
PLUGIN = "verify/reports/pytest_plugin.py"
"""The module that pytest loads; it may import pytest."""


def _literal(call):
    """Return the literal name, or its literal beginning, in an `import_module` or `__import__` call; otherwise None."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in {"import_module", "__import__"}:
        return None
    argument = next((k.value for k in call.keywords if k.arg == "name"), call.args[0] if call.args else None)
    if isinstance(argument, ast.JoinedStr) and argument.values:
        argument = argument.values[0]
    return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else None


def _imported(node, package):
    """Return the full names of the modules that a node imports; `package` is the file's package as a list of names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        prefix = ".".join([*base, *([node.module] if node.module else [])])
        return [prefix] if node.module or not node.level else [f"{prefix}.{a.name}".strip(".") for a in node.names]
    if isinstance(node, ast.Call) and (found := _literal(node)):
        level = len(found) - len(found.lstrip("."))
        return [".".join([*package[: len(package) - level + 1], found.lstrip(".")])] if level else [found]
    return []


def _for_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _walk(node, package, inside=False):
    """Yield (line, module, whether it is imported only when a function runs or a type checker reads)."""
    for child in ast.iter_child_nodes(node):
        for module in _imported(child, package):
            yield child.lineno, module, inside
        function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _walk(child, package, inside or function or _for_type_checking(child))


def violations(root, top):
    """Yield the imports of a top-level package's files that break the rules, as `path:line: module`."""
    for path in sorted((root / top).rglob("*.py")):
        where = path.relative_to(root)
        for line, module, inside in _walk(ast.parse(path.read_text(encoding="utf-8")), list(where.parent.parts)):
            first = module.split(".")[0]
            forbidden = first in OURS - ALLOWED[top]
            heavy = first in HEAVY and not inside and top != "numerics"
            heavy = heavy and (where.as_posix(), module) != (PLUGIN, "pytest")
            if forbidden or heavy:
                yield f"{where.as_posix()}:{line}: {module}"


@pytest.mark.parametrize("top", sorted(ALLOWED))
def test_the_packages_keep_their_layers(top):
    assert list((ROOT / top).rglob("*.py")), "nothing was read"
    assert list(violations(ROOT, top)) == []


@pytest.mark.parametrize(
    ("top", "source", "module"),
    [
        ("verify", "import theorems", "theorems"),
        ("verify", "import theorems.papers as p", "theorems.papers"),
        ("verify", "import os, numerics.x", "numerics.x"),
        ("verify", "from theorems import papers", "theorems"),
        ("verify", "from paper_checks.wang2024 import figures", "paper_checks.wang2024"),
        ("verify", "import tests", "tests"),
        ("verify", "def f():\n    from theorems import papers", "theorems"),
        ("verify", "class A:\n    def f(self):\n        import numerics", "numerics"),
        ("verify", "if True:\n    try:\n        import numerics\n    except ImportError:\n        pass", "numerics"),
        ("verify", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import theorems.x", "theorems.x"),
        ("verify", "from ..theorems import papers", "theorems"),
        ("verify", "from .. import theorems", "theorems"),
        ("verify", "import importlib\nimportlib.import_module('theorems.papers')", "theorems.papers"),
        ("verify", "from importlib import import_module\nx = import_module('numerics')", "numerics"),
        ("verify", "import importlib\nimportlib.import_module(name='numerics')", "numerics"),
        ("verify", "import importlib\nimportlib.import_module('..theorems', __package__)", "theorems"),
        ("verify", "import importlib\nimportlib.import_module(f'theorems.{1}')", "theorems."),
        ("verify", "x = __import__('theorems')", "theorems"),
        ("verify", "f = lambda: __import__('theorems')", "theorems"),
        ("theorems", "import numerics", "numerics"),
        ("theorems", "from numerics.sparse import reference", "numerics.sparse"),
        ("theorems", "import paper_checks", "paper_checks"),
        ("numerics", "from theorems.papers import WANG2024", "theorems.papers"),
        ("numerics", "import importlib\nimportlib.import_module('theorems.papers')", "theorems.papers"),
        ("verify", "import torch", "torch"),
        ("verify", "from torch import Tensor", "torch"),
        ("verify", "import matplotlib.pyplot as plt", "matplotlib.pyplot"),
        ("verify", "class A:\n    import dask", "dask"),
        ("verify", "import pytest", "pytest"),
        ("theorems", "try:\n    import torch\nexcept ImportError:\n    torch = None", "torch"),
    ],
)
def test_a_planted_violation_is_found(tmp_path, top, source, module):
    folder = tmp_path / top / "inner" if "from .." not in source and "'..th" not in source else tmp_path / top
    folder.mkdir(parents=True)
    (folder / "planted.py").write_text(source + "\n")
    found = list(violations(tmp_path, top))
    assert len(found) == 1
    path, line, name = found[0].split(":", 2)
    assert (path, name.strip()) == ((folder / "planted.py").relative_to(tmp_path).as_posix(), module)
    assert module.strip(".").split(".")[-1] in source.splitlines()[int(line) - 1] or "theorems" in source


@pytest.mark.parametrize(
    ("top", "source"),
    [
        ("verify", "import verify.errors\nfrom verify import text\nfrom . import text\nfrom .text import check_text"),
        ("verify", "from ..verify import text"),
        ("verify", "import sympy, numpy, hypothesis\nfrom theorems_of_others import x\nimport testsuite"),
        ("verify", "def f():\n    import torch\n    return torch"),
        ("verify", "async def f():\n    import matplotlib.pyplot"),
        ("verify", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch import Tensor"),
        ("verify", "note = 'import theorems'\n# import numerics"),
        ("verify", "load('theorems.papers')"),
        ("theorems", "from verify import Theorem\nfrom theorems.papers import WANG2024"),
        ("numerics", "import torch\nfrom numerics.x import y\nfrom verify.errors import InputError"),
    ],
)
def test_allowed_imports_are_no_violation(tmp_path, top, source):
    folder = tmp_path / top
    folder.mkdir()
    (folder / "fine.py").write_text(source + "\n")
    assert list(violations(tmp_path, top)) == []
