"""The `.v` files of a package, the files that each needs, and a digest of them, read as text without Rocq.

Each folder of the package that contains such files is a root in Rocq, named by the words of the folder's name:
`finite_sums/bounds.v` is `FiniteSums.bounds`.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

_MARKS = re.compile(r"\(\*|\*\)|\"(?:[^\"]|\"\")*\"|\.(?=\s|$)")
_REQUIRE = re.compile(r"(?:From\s+(\S+)\s+)?Require\s+(?:(?:Import|Export)\s+)?(\S.*)", re.DOTALL)


@lru_cache(maxsize=1000)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a `.v` file, without comments, each in one line."""
    found, sentence, depth, end = list[str](), list[str](), 0, 0
    for mark in _MARKS.finditer(text):
        sentence += [text[end : mark.start()]] if depth == 0 else []
        end = mark.end()
        if mark[0] in ("(*", "*)"):
            depth = max(0, depth + (1 if mark[0] == "(*" else -1))
            sentence.append(" ")
        elif depth == 0 and mark[0] == ".":
            found.append("".join(sentence))
            sentence = []
        elif depth == 0:
            sentence.append(mark[0])
    found.append("".join([*sentence, text[end:] if depth == 0 else ""]))
    return tuple(" ".join(each.split()) for each in found if each.strip())


@dataclass(frozen=True)
class Sources:
    """The `.v` files of a package, in the folders of the package's folder."""

    folder: Path

    @cached_property
    def roots(self) -> Mapping[str, str]:
        """The names of the folders that contain `.v` files, by their logical names in Rocq."""
        held = sorted(each for each in self.folder.iterdir() if each.is_dir() and next(each.rglob("*.v"), None))
        return {"".join(word.capitalize() for word in each.name.split("_")): each.name for each in held}

    @cached_property
    def files(self) -> Mapping[str, Path]:
        """The files by their modules' names."""
        found = dict[str, Path]()
        for root, name in self.roots.items():
            for path in sorted((self.folder / name).rglob("*.v")):
                parts = path.relative_to(self.folder / name).with_suffix("").parts
                found[".".join((root, *parts))] = path
        return found

    def file(self, module: str) -> str:
        """Return the path of a module's file in the folder."""
        return self.files[module].relative_to(self.folder).as_posix()

    def needs(self, module: str) -> Iterator[str]:
        """Yield the modules of these files that a module requires."""
        for sentence in sentences(self.files[module].read_text(encoding="utf-8")):
            if required := _REQUIRE.fullmatch(sentence):
                within = f"{required[1]}." if required[1] else ""
                yield from (f"{within}{name}" for name in required[2].split() if f"{within}{name}" in self.files)

    def closure(self, modules: Iterable[str]) -> list[str]:
        """Return modules and all that they need, each after those it needs. Raises KeyError for an unknown module."""
        order = list[str]()

        def visit(module: str) -> None:
            if module not in order:
                for needed in self.needs(module):
                    visit(needed)
                order.append(module)

        for module in modules:
            visit(module)
        return order

    def digest(self, modules: Iterable[str]) -> str:
        """Return a digest of the files of some modules and of all modules that they need."""
        digest = hashlib.sha256()
        for module in self.closure(modules):
            content = self.files[module].read_bytes()
            digest.update(f"{module} {len(content)}\n".encode() + content)
        return digest.hexdigest()

    def copied(self, folder: Path) -> "Sources":
        """Copy the files to another folder, unless they are there unchanged, and return the files there."""
        for path in self.files.values():
            to = folder / path.relative_to(self.folder)
            to.parent.mkdir(parents=True, exist_ok=True)
            if not to.is_file() or to.read_bytes() != path.read_bytes():
                to.write_bytes(path.read_bytes())
        return Sources(folder)
