"""Doors, through which packages extend the re-checker: entry points in the group `lemmascope.rechecks`.

Each door names a `Rechecks`, as `module:object`. A door is identified by the modules that its module reaches by
relative imports inside its package, and by the digest of their text. The modules are found by reading their text,
without running it. A door is refused if its modules use names such as `eval`, or import anything but the standard
library (without parts such as `importlib`), FLINT and the re-checker's public helpers. The code that is run later is
exactly the text that was read, under separate module names, and nothing else of the package. This is no sandbox: the
package vouches for its code.
"""

import ast
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from importlib import import_module
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any

from verify.checking.registry import installed_by_name
from verify.rechecker import CORE
from verify.rechecker.reading import Unknown
from verify.rechecker.registry import Door, Rechecks, Registry, Trusted

GROUP = "lemmascope.rechecks"
HELPERS = frozenset(f"verify.rechecker.{name}" for name in ("balls", "reading", "registry"))
"""The parts of the re-checker that the modules behind a door may import."""
_REFUSED = {"builtins", "importlib", "runpy", "pkgutil", "imp", "zipimport", "ctypes"}
_REFUSED_NAMES = {"__import__", "exec", "eval", "compile", "__builtins__", "__loader__"}
_REFUSED_ATTRIBUTES = {"__import__", "__builtins__", "__loader__", "__globals__", "modules"}
_UNDER = "lemmascope_rechecks"
"""The name under which the modules behind doors are run."""
_LONGEST = 2_000_000
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def door(name: str) -> Door:
    """Return the installed door of a name; its modules are read and not run. Raises Unknown with the reason."""
    if not _NAME.fullmatch(name):
        raise Unknown(f"{name!r}: a door's name consists of letters A to Z and a to z, digits, '.', '_' and '-'")
    found = installed_by_name(GROUP).get(name, ())
    if len(found) != 1:
        raise Unknown(f"{name} is {'provided by several packages' if found else 'not installed'}")
    try:
        module, attribute = found[0].module, found[0].attr
        sources = _closure(module)
    except Unknown:
        raise
    except (AttributeError, ImportError, OSError, ValueError) as error:
        raise Unknown(f"{name}: {found[0].value} leads to no module of a package") from error
    code = Code(f"{module}:{attribute}", tuple(sorted(sources.items())))
    return Door(name, module.partition(".")[0], code.digest, partial(_loaded, name, code))


def doors() -> tuple[tuple[Door, ...], tuple[str, ...]]:
    """Return the installed doors, sorted by name, and the reasons why others are refused."""
    known, refused = list[Door](), list[str]()
    for name in sorted(installed_by_name(GROUP)):
        try:
            known.append(door(name))
        except Unknown as error:
            refused.append(str(error))
    return tuple(known), tuple(refused)


def asks_for_doors(*data: Any, clauses: Iterable[Any] = (), proofs: Iterable[Any] = ()) -> bool:
    """Whether the re-checker's core lacks a primitive in the data, or the kind of a clause or of a proof."""
    clauses, proofs = list(clauses), list(proofs)
    named = {"primitives": primitives(*data, *clauses, *proofs), "clauses": kinds(clauses), "proofs": kinds(proofs)}
    return any(name not in getattr(CORE, part) for part, names in named.items() for name in names)


def kinds(parts: Iterable[Any]) -> Iterator[str]:
    """Yield the kinds that the data of clauses or proofs name."""
    yield from (part["kind"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("kind"), str))


def primitives(*data: Any) -> Iterator[str]:
    """Yield the primitives that data name, as `name/version`."""
    waiting = list(data)
    while waiting:
        match waiting.pop():
            case ["Primitive", name, version, *rest]:
                yield f"{name}/{version}"
                waiting.extend(rest)
            case list(parts):
                waiting.extend(parts)
            case dict(parts):
                waiting.extend(parts.values())
            case _:
                pass


def with_doors() -> tuple[Registry, tuple[str, ...]]:
    """Return the core with the contents of all installed doors, and the reasons why other doors are refused."""
    known, refused = doors()
    registry, why = _with_doors(known)
    return registry, (*refused, *why)


@lru_cache(maxsize=4)
def _with_doors(known: tuple[Door, ...]) -> tuple[Registry, tuple[str, ...]]:
    registry, why = CORE, list[str]()
    for each in known:
        try:
            more = each.load()
            registry = registry.with_rechecks(Trusted(each.name, more.version, each.package, each.digest), more)
        except Unknown as error:
            why.append(str(error))
    return registry, tuple(why)


@dataclass(frozen=True)
class Code:
    """The object that a door names, as `module:object`, and the modules behind it: names, files and text."""

    value: str
    modules: tuple[tuple[str, tuple[Path, str]], ...]

    @cached_property
    def digest(self) -> str:
        """The digest of the named object and of the modules' names and text."""
        total = hashlib.sha256(f"{self.value}\n".encode())
        for name, (_, text) in self.modules:
            total.update(f"{name} {len(text)}\n{text}".encode())
        return total.hexdigest()


def _closure(first: str) -> dict[str, tuple[Path, str]]:
    """Return the modules that a module reaches inside its package, with their files and their text.

    Raises Unknown if a module has no file, or breaks the rules for doors.
    """
    spec = find_spec(first.partition(".")[0])
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec is not None else []
    if len(folders) != 1:
        raise Unknown(f"{first}: must be a module in a package of one folder")
    waiting, found = [first], dict[str, tuple[Path, str]]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            path = _file_of(folders[0], name)
            if path is None:
                raise Unknown(f"{name}: has no source file")
            status = path.stat()
            text, inner = _parsed(path, name, folders[0], status.st_mtime_ns, status.st_size)
            found[name] = path, text
            waiting += inner
    return found


@lru_cache(maxsize=1000)
def _parsed(path: Path, name: str, folder: Path, changed: int, size: int) -> tuple[str, tuple[str, ...]]:
    """Return a module's text, and the modules that it imports relatively."""
    try:
        # The text is read and run as UTF-8: a declared encoding is ignored.
        text = path.read_bytes()[: _LONGEST + 1].decode()
        tree = ast.parse(text if len(text) <= _LONGEST else "(")
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unknown(f"{name}: cannot be read: {type(error).__name__}") from error
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    inner = list[str]()
    for node in ast.walk(tree):
        where = f"{name}, line {getattr(node, 'lineno', 0)}"
        match node:
            case ast.Name(id) if id in _REFUSED_NAMES:
                raise Unknown(f"{where}: uses {id}, which a door may not")
            case ast.Attribute(_, name) if name in _REFUSED_ATTRIBUTES:
                raise Unknown(f"{where}: uses {name}, which a door may not")
            case ast.Import(names):
                for alias in names:
                    _refuse(alias.name, where, package[0])
            case ast.ImportFrom(module, names, 0):
                _refuse(str(module), where, package[0], [alias.name for alias in names])
            case ast.ImportFrom():
                inner += _relative(node, package, folder, where)
            case _:
                pass
    return text, tuple(inner)


def _refuse(module: str, where: str, own: str, names: Sequence[str] = ()) -> None:
    """Raise Unknown unless a door may import a module, or these names from it."""
    top = module.partition(".")[0]
    if top == own:
        raise Unknown(f"{where}: imports {module} by its full name; a door imports its own package relatively")
    if bad := [name for name in names if name in _REFUSED_ATTRIBUTES | _REFUSED_NAMES]:
        raise Unknown(f"{where}: imports {bad[0]}, which a door may not")
    # A plain `import verify.rechecker.balls` binds the name `verify`, and so gives access to the whole package.
    helpers = [f"{module}.{name}" for name in names] if module == "verify.rechecker" else [module] if names else []
    if top in sys.stdlib_module_names - _REFUSED or top == "flint" or (helpers and HELPERS.issuperset(helpers)):
        return
    allowed = "the standard library, flint, and from verify.rechecker balls, reading and registry"
    raise Unknown(f"{where}: imports {module}; a door may import {allowed} alone")


def _relative(node: ast.ImportFrom, package: Sequence[str], folder: Path, where: str) -> list[str]:
    """Return the modules that a relative import loads. Raises Unknown if it leaves the package."""
    if node.level > len(package):
        raise Unknown(f"{where}: a relative import leaves the package")
    base = package[: len(package) - node.level + 1]
    inside = ".".join([*base, *([node.module] if node.module else [])])
    modules = [full for alias in node.names if _file_of(folder, full := f"{inside}.{alias.name}") is not None]
    # An import runs a subpackage's __init__; that of the top package counts only if a name is imported from it.
    own = "." in inside and _file_of(folder, inside) is not None
    return [*modules, inside] if own or len(modules) < len(node.names) else modules


def _file_of(folder: Path, name: str) -> Path | None:
    """Return the source file of a module of a package in a folder; None without one."""
    place = folder.joinpath(*name.split(".")[1:])
    files = (
        (place / "__init__.py", place.with_name(f"{place.name}.py")) if place != folder else (place / "__init__.py",)
    )
    return next((file for file in files if file.is_file()), None)


class _Modules(MetaPathFinder, ExecutionLoader):
    """Finds the modules behind doors and runs the text that was read; a folder is an empty package."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[Path, str]] = {}

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of a module that was read, or of a folder that contains one."""
        inside = fullname in self.known
        if not inside and not any(name.startswith(f"{fullname}.") for name in self.known):
            return None
        folder = not inside or self.known[fullname][0].name == "__init__.py"
        return ModuleSpec(fullname, self, origin=self.get_filename(fullname), is_package=folder)

    def get_filename(self, fullname: str) -> str:
        """Return the file that a module was read from."""
        return str(self.known[fullname][0]) if fullname in self.known else "<folder>"

    def get_source(self, fullname: str) -> str:
        """Return a module's text as it was read; "" for a folder."""
        return self.known[fullname][1] if fullname in self.known else ""


_MODULES = _Modules()


@lru_cache(maxsize=100)
def _loaded(name: str, code: Code) -> Rechecks:
    """Return the `Rechecks` behind a door. Raises Unknown if the code cannot be run, or names no `Rechecks`."""
    if _MODULES not in sys.meta_path:
        # The finder comes first, so that no other module of the same name on the path is run.
        sys.meta_path.insert(0, _MODULES)
    # Modules of the same door with another text may be loaded already, so the names contain the digest.
    under = f"{_UNDER}.x{code.digest[:16]}"
    _MODULES.known |= {f"{under}.{module}": read for module, read in code.modules}
    module, _, attribute = code.value.partition(":")
    try:
        found = attrgetter(attribute)(import_module(f"{under}.{module}"))
    except (Exception, SystemExit) as error:
        raise Unknown(f"{name} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(found, Rechecks):
        raise Unknown(f"{name}: {code.value} is a {type(found).__name__}, not a Rechecks")
    return found
