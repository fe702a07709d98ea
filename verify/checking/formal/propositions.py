"""The formal text of a claim: propositions of Rocq, and the definitions that they rest on, read from `.v` files.

A file with propositions, and each file of the package that it requires, may contain definitions only. The digest of the
statement covers the sentences that a proposition rests on, so that it changes if one of them changes.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from verify.checking.formal.sources import Sources, sentences
from verify.checking.registry import package_folder
from verify.errors import InputError, TheoremError
from verify.language.clause_data import FormalText

_DEFINITION = re.compile(r"(?:Definition|Fixpoint|Inductive|Record)\s+([\w']+)(?![\w']).*", re.DOTALL)
_ALWAYS = ("Inductive", "Record")
"""Kinds of definition whose parts have names of their own; all of these kinds in the required files count as used."""
_MORE = re.compile(r"\bwhere\b|\bmatch\b|\bwith\b")
"""Words by which a definition may define several names: `where`, before a notation, and a `with` without a `match`."""
_OTHER = re.compile(r"(?:From|Require|Import|Export|Open Scope|Local Open Scope|Section|End|Variables?)\b.*", re.DOTALL)
_WORD = re.compile(r"[\w']+")
_NAME = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z][\w']*)+", re.ASCII)


class Definition(NamedTuple):
    """A definition in a file: its module, name and sentence."""

    module: str
    name: str
    sentence: str

    @property
    def text(self) -> str:
        """The term or the proposition that the definition names."""
        return self.sentence.partition(":=")[2].strip()


def formal_text(package: str, proofs: Mapping[str, str], *, besides: Iterable[str] = ()) -> FormalText:
    """Return the formal text of a claim.

    Parameters
    ----------
    package
        The package whose `.v` files contain the propositions.
    proofs
        Names of propositions, such as `Halves.claims.positive`, each with the name of its theorem.
    besides
        The sentences in prose, if any, by which the claim follows from the propositions.

    Returns
    -------
    FormalText
        A claim's entry in a statement's `formal`.

    Raises
    ------
    TheoremError
        If a name is no proposition's name, or a file that a proposition rests on contains more than definitions.

    Examples
    --------
    >>> import verify
    >>> try:
    ...     verify.formal_text("theorems", {"Formal.definitions.sum": "Formal.sums.sum_ext"})
    ... except verify.TheoremError as error:
    ...     print(error)
    formal text: there is no Definition sum : Prop in a file of Formal.definitions
    """
    for name in (*proofs, *proofs.values()):
        if not _NAME.fullmatch(name):
            raise TheoremError(f"formal text: {name!r} is not a Rocq name such as Folder.file.name")
    try:
        sources = sources_of(package)
    except InputError as error:
        raise TheoremError(f"formal text: {error}") from None
    found = [proposition_of(sources, name) for name in proofs]
    used = set[Definition]().union(*(rests_on(sources, each) for each in found))
    modules = sources.closure(each.module for each in found)
    lines = (f"{module}: {sentence}" for module in modules for sentence in _read(sources, module, used))
    return FormalText(
        tuple((name, proposition.text) for name, proposition in zip(proofs, found, strict=True)),
        tuple(sorted(f"{each.module}.{each.name}" for each in used - {*found})),
        hashlib.sha256("\n".join(lines).encode()).hexdigest(),
        tuple(besides),
        tuple(proofs.values()),
        package,
    )


def modules_of(texts: Mapping[str, FormalText]) -> list[str]:
    """Return the modules that contain the propositions of some formal texts, and the proofs of these propositions."""
    names = (name for text in texts.values() for name in (*dict(text.propositions), *text.proofs))
    return sorted({name.rpartition(".")[0] for name in names})


def check_text(texts: Mapping[str, FormalText]) -> str:
    """Return a file that prints all axioms, and that Rocq accepts only if each proof proves exactly its proposition."""
    pairs = dict[str, str]()
    for text in texts.values():
        pairs |= zip(dict(text.propositions), text.proofs, strict=True)
    lines = [f"Require {module}." for module in modules_of(texts)]
    lines += [f"Definition claim_{i} : {name} := {proof}." for i, (name, proof) in enumerate(pairs.items())]
    together = ", ".join(f"claim_{i}" for i, _ in enumerate(pairs))
    return "\n".join([*lines, f"Definition all_claims := ({together}).", "Print Assumptions all_claims.", ""])


@cache
def sources_of(package: str) -> Sources:
    """Return the `.v` files of a package. Raises InputError for a package without a folder."""
    return Sources(package_folder(package))


def proposition_of(sources: Sources, name: str) -> Definition:
    """Return the proposition of a full name. Raises TheoremError for an unknown name."""
    module, _, short = name.rpartition(".")
    if module in sources.files:
        for each in definitions(sources, module):
            if each.name == short and re.match(rf"Definition {re.escape(short)} : Prop :=", each.sentence):
                return each
    raise TheoremError(f"formal text: there is no Definition {short} : Prop in a file of {module}")


def definitions(sources: Sources, module: str) -> Iterator[Definition]:
    """Yield the definitions of a file, in order. Raises TheoremError for a sentence that the file may not contain."""
    yield from (each for each in _parts(sources, module) if isinstance(each, Definition))


def rests_on(sources: Sources, proposition: Definition) -> set[Definition]:
    """Return a proposition with all definitions that it rests on.

    A definition counts as used wherever its name occurs, whatever the name means there, so that none is missed.
    """
    known = [each for module in sources.closure([proposition.module]) for each in definitions(sources, module)]
    words = set(_WORD.findall(proposition.sentence))
    used = {proposition} | {each for each in known if each.sentence.startswith(_ALWAYS)}
    words = words.union(*(_WORD.findall(each.sentence) for each in used))
    while more := {each for each in known if each.name in words} - used:
        used |= more
        words = words.union(*(_WORD.findall(each.sentence) for each in more))
    return used


def _parts(sources: Sources, module: str) -> Sequence[Definition | str]:
    """Return a file's sentences in order: definitions as `Definition`, the others as text."""
    return _parsed(module, sources.file(module), sources.files[module].read_text(encoding="utf-8"))


@lru_cache(maxsize=256)
def _parsed(module: str, file: str, text: str) -> Sequence[Definition | str]:
    """Return the parts of a file's text; cached, because most propositions of a package rest on the same files."""

    def part(sentence: str) -> Definition | str:
        if named := _DEFINITION.fullmatch(sentence):
            words = Counter(_MORE.findall(sentence))
            if words["where"] or words["with"] != words["match"]:
                raise _not_definitions(file, f"{sentence[:60]!r} is no definition of one name")
            return Definition(module, named[1], sentence)
        if not _OTHER.fullmatch(sentence):
            raise _not_definitions(file, f"{sentence[:60]!r} is no definition")
        return sentence

    return tuple(map(part, sentences(text)))


def _not_definitions(file: str, why: str) -> TheoremError:
    return TheoremError(f"formal text: {file}: {why}, and propositions rest on the file")


def _read(sources: Sources, module: str, used: Collection[Definition]) -> list[str]:
    """Return a file's sentences without unused definitions, and without sections that contain no used one."""
    kept = list[Definition | str]()
    for part in _parts(sources, module):
        if not isinstance(part, Definition) or part in used:
            kept.append(part)
        if isinstance(part, str) and part.startswith("End "):
            begin = max((i for i, each in enumerate(kept) if each == f"Section {part[4:]}"), default=len(kept))
            if not any(isinstance(each, Definition) for each in kept[begin:]):
                del kept[begin:]
    return [each.sentence if isinstance(each, Definition) else each for each in kept]
