"""Standings: the way in which a claim is established for all parameters, and its trusts."""

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from verify.outcomes.numbers import count_text


class Trust(NamedTuple):
    """A package's addition to the re-checker's core on which evidence rests: a computation, a kind of clause or proof.

    `name` and `version` identify it, `package` contains it, and `digest` is the digest of its modules.

    Examples
    --------
    >>> from verify.outcomes import Trust
    >>> str(Trust("a-distribution.moments", 1, "a_package", "0" * 64))
    'a-distribution.moments/1'
    """

    name: str
    version: int
    package: str
    digest: str

    def __str__(self) -> str:
        """Return name and version."""
        return f"{self.name}/{self.version}"


def how_sure(evidence: str | None, trusts: Iterable[object]) -> str:
    """Return evidence with its trusts, as in `certified, trusting a-distribution.moments/1`; "" for no evidence."""
    named = ", ".join(map(str, trusts))
    return f"{evidence}, trusting {named}" if evidence and named else str(evidence or "")


class ForAll(StrEnum):
    """The standing of a claim for all parameters, strongest first: `formal`, `proved`, `argued`, `stated`, `open`.

    `formal`: accepted by a proof assistant's kernel. `proved`: by a certificate of the claim itself that the re-checker
    accepts. `argued`: an argument in prose whose steps are all proved, for a claim that is evaluated at instances.
    `stated`: the same for a claim in words that nothing evaluates. `open`: not established.

    Examples
    --------
    >>> from verify import ForAll
    >>> [str(standing) for standing in ForAll]
    ['formal', 'proved', 'argued', 'stated', 'open']
    """

    FORMAL = "formal"
    PROVED = "proved"
    ARGUED = "argued"
    STATED = "stated"
    OPEN = "open"

    @property
    def is_shown(self) -> bool:
        """Whether a proof, or an argument for an evaluated claim, shows the claim."""
        return self in (ForAll.FORMAL, ForAll.PROVED, ForAll.ARGUED)


class Formal(NamedTuple):
    """The acceptance of a claim by a proof assistant's kernel.

    `how` is the form of its statement and `by` the record or run that accepted it. `besides` are the sentences in prose
    that derive the claim from the accepted propositions.

    Examples
    --------
    >>> from verify.outcomes import Formal
    >>> Formal.text([Formal("statement exported", "as recorded with Rocq 8.16.1")])
    'formal (statement exported), as recorded with Rocq 8.16.1'
    """

    how: str
    by: str
    besides: tuple[str, ...] = ()

    @staticmethod
    def text(parts: "Iterable[Formal]") -> str:
        """Return the standing of formal claims, as text."""
        parts = sorted(parts)
        how = Formal.stated_text(dict.fromkeys(part.how for part in parts), Formal.prose(parts))
        return f"formal ({how}), {' and '.join(sorted({part.by for part in parts}))}"

    @staticmethod
    def prose(parts: "Iterable[Formal]") -> list[str]:
        """Return the sentences in prose of claims that are formal, each once."""
        return list(dict.fromkeys(sentence for part in sorted(parts) for sentence in part.besides))

    @staticmethod
    def stated_text(stated: Iterable[str], besides: Sized) -> str:
        """Return the forms of the statements and, if there are sentences in prose, their number."""
        return "; ".join([*stated, *([f"{count_text(len(besides), 'sentence')} in prose"] if besides else [])])


@dataclass(frozen=True)
class Established:
    """The standing of a clause, or of a result, for all parameters, with its reasons.

    Parameters
    ----------
    standing
        The kind of standing.
    inferences
        The inferences that the standing rests on, also those in other theorems, each as `theorem:label`.
    why
        The reason, if the standing is stated or open.
    theorem
        The id of the theorem; its own inferences are counted separately from those that it inherits.
    trusts
        The trusts of the proofs, beyond the re-checker's core.
    formal
        The acceptances by a proof assistant's kernel.

    Examples
    --------
    >>> from verify import Established, ForAll
    >>> Established(ForAll.ARGUED, frozenset({"user.lemma:claim"}), theorem="user.lemma").text()
    'argued in prose (1 inference)'
    >>> Established(ForAll.ARGUED, frozenset({"user.lemma:claim", "user.main:sum"}), theorem="user.main").text()
    'argued in prose (1 own + 1 inherited inference)'
    """

    standing: ForAll
    inferences: frozenset[str] = frozenset()
    why: str = ""
    theorem: str = ""
    trusts: frozenset[Trust] = frozenset()
    formal: frozenset[Formal] = frozenset()

    @staticmethod
    def by_all(parts: "Iterable[Established]", theorem: str = "") -> "Established":
        """Return the joint standing of parts of one or more theorems: the weakest, with all inferences and trusts."""
        parts = tuple(parts)
        order = list(ForAll)
        standing = max((part.standing for part in parts), key=order.index, default=ForAll.PROVED)
        why = "; ".join(dict.fromkeys(part.why for part in parts if not part.standing.is_shown and part.why))
        inferences = frozenset[str]().union(*(part.inferences for part in parts))
        trusts = frozenset[Trust]().union(*(part.trusts for part in parts))
        formal = frozenset[Formal]().union(*(part.formal for part in parts))
        return Established(standing, inferences, why, theorem, trusts, formal)

    def formal_to_json(self) -> dict[str, object] | None:
        """Return the kernel's acceptance in the form of `--json`; None if the standing is not formal."""
        if self.standing is not ForAll.FORMAL:
            return None
        return {
            "stated": sorted({part.how for part in self.formal}),
            "by": sorted({part.by for part in self.formal}),
            "besides": Formal.prose(self.formal),
        }

    @property
    def own(self) -> int:
        """The number of inferences that are the theorem's own."""
        return sum(name.startswith(f"{self.theorem}:") for name in self.inferences)

    def text(self, *, briefly: bool = False) -> str:
        """Return the standing as text, with the numbers of own and of inherited inferences of an argument.

        `briefly` omits `in prose`, for places where the claims next to the text say so.
        """
        if self.standing is ForAll.FORMAL:
            return Formal.text(self.formal)
        inherited = len(self.inferences) - self.own
        apart = f"{self.own} own + {count_text(inherited, 'inherited inference')}"
        counted = apart if inherited and self.theorem else count_text(len(self.inferences), "inference")
        argued = f"{self.standing}{'' if briefly else ' in prose'} ({counted})"
        standing = argued if self.standing is ForAll.ARGUED else str(self.standing)
        return how_sure(standing, sorted(self.trusts))


def formal_claims(established: Mapping[str, Established], claims: Iterable[str]) -> str:
    """Return the text on the formal claims, to follow a theorem's standing; "" if none or all are formal."""
    claims = list(claims)
    formal = [label for label in claims if established[label].standing is ForAll.FORMAL]
    return f"; formal: {', '.join(formal)}" if formal and len(formal) < len(claims) else ""


OPEN = Established(ForAll.OPEN)
"""The standing of a claim that nothing establishes."""
