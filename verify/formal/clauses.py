"""The frame of a clause's proof: names for its variables and facts, and the leaves (proof obligations) in order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from verify.formal.expressions import Data, Need, NotSaidError, Terms
from verify.formal.statements import Stated, relations_of
from verify.rechecker.given import Given
from verify.rechecker.nodes import Node
from verify.rechecker.reading import Effort
from verify.rechecker.registry import Registry

_TURNED: Mapping[str, str] = {"Ge": "apply Rge_le in {0}", "Gt": "apply Rgt_lt in {0}"}
_ENDS: Mapping[str, str] = {
    "Eq": "apply eq_by",
    "Le": "apply le_by",
    "Lt": "apply lt_by",
    "Ge": "apply Rle_ge, le_by",
    "Gt": "apply Rlt_gt, lt_by",
}
_WORK = 60e6


@dataclass(frozen=True)
class Fact:
    """A fact of a proof: its name in the proof, and its relation."""

    name: str
    relation: Data


class _Facts(dict[str | int, Fact]):
    """The exported suppositions, by place or name."""

    def __missing__(self, place: str | int) -> Fact:
        """Raise NotSaidError for a supposition that is not exported."""
        raise NotSaidError("its proof uses a hypothesis that is not exported")


@dataclass
class Clause:
    """One clause, and the part of its proof that is written so far."""

    stated: Stated
    data: Mapping[str, Any]
    registry: Registry
    lines: list[str] = field(default_factory=list[str])

    @cached_property
    def given(self) -> Given:
        """The statement at its example, as the re-checker reads it."""
        instance = {name: _written(value) for name, value in self.stated.example.items()}
        return Given(dict(self.stated.data), instance, Effort(_WORK), self.registry)

    @cached_property
    def relations(self) -> list[Data]:
        """The relations of the conditions, then the claim's."""
        return relations_of(self.data)

    @cached_property
    def used(self) -> list[str]:
        """The statement's variables that the clause uses."""
        return self.stated.using(["Tuple", *self.relations])

    @cached_property
    def texts(self) -> dict[str, str]:
        """The Rocq terms of the numbers in the proof, by name; integers have become real numbers."""
        names, stated = self.stated.names, self.stated
        return {n: names.of(n, "real_") if stated.is_integer(n) else stated.called[n] for n in stated.symbols}

    @cached_property
    def facts(self) -> _Facts:
        """The suppositions: domain, parametric hypotheses and conditions by place, and parameters' bounds by name."""
        data = self.stated.data
        listed = [(f"D_{i}", relation) for i, relation in enumerate(data["domain"])]
        parametric = [h for h in data["hypotheses"] if h["relation"] is not None]
        missing = {len(listed) + i for i, h in enumerate(parametric) if str(h["label"]) in self.stated.left_out}
        listed += [(f"H_{i}", h["relation"]) for i, h in enumerate(parametric)]
        listed += [(f"C_{i}", relation) for i, relation in enumerate(self.relations[:-1])]
        found = _Facts({place: Fact(*each) for place, each in enumerate(listed) if place not in missing})
        for p in data["parameters"]:
            bound, head = (p["minimum"], "Le") if p["minimum"] is not None else (p["above"], "Lt")
            if bound is not None and p["kind"] in ("integer", "rational"):
                number = ["Rational" if "/" in bound else "Integer", bound]
                found[p["name"]] = Fact(f"B_{self.texts[p['name']]}", [head, number, ["Symbol", p["name"]]])
        return found

    def begin(self) -> None:
        """Write the introduction of all variables and facts."""
        stated = self.stated
        name = stated.claims[str(self.data["label"])]
        intros = [*(stated.called[n] for n in stated.kinds), *self._scope(), *(stated.called[v] for v in self.used)]
        for variable in self.used:
            intros += [f"A_{self.texts[variable]}_{i}" for i, _ in enumerate(stated.assumed(variable))]
        for i, relation in enumerate(self.relations[:-1]):
            intros.append(_pattern([*self._unnamed(relation), f"C_{i}"]))
        unfolded = [f"Statement.{each}" for each in (name, "in_domain", *stated.hypotheses.values())]
        self.say(f"unfold {', '.join(unfolded)}.", f"intros {' '.join(intros)}.")
        self.say(*(f"unfold Statement.{each} in *." for each in stated.unfolded()))
        self._as_real_numbers()
        for fact in self.facts.values():
            if str(fact.relation[0]) in _TURNED:
                self.say(_TURNED[str(fact.relation[0])].format(fact.name) + ".")
        for word in self._fixed:
            self.say(f"subst {stated.called[word]}.")
        self.say("cbv beta iota in *.", "repeat match goal with N : _ /\\ _ |- _ => destruct N end.")

    def _scope(self) -> list[str]:
        """Return the patterns that introduce the domain and the hypotheses."""
        stated, data, numbered = self.stated, self.stated.data, 0
        domain = [f"B_{self.texts[n]}" if n in self.texts else "_" for n, _ in stated.bounds()]
        for i, relation in enumerate(data["domain"]):
            domain += [*self._unnamed(relation), f"D_{i}"]
        patterns = [_pattern(domain or ["_"])]
        for hypothesis in data["hypotheses"]:
            if hypothesis["relation"] is not None:
                if str(hypothesis["label"]) not in stated.left_out:
                    patterns.append(_pattern([*self._unnamed(hypothesis["relation"]), f"H_{numbered}"]))
                numbered += 1
            elif "varies" in hypothesis:
                patterns.append(f"W_{stated.words[hypothesis['varies']][0]}")
        return patterns

    @cached_property
    def _fixed(self) -> list[str]:
        """The word parameters that a hypothesis fixes."""
        return sorted({str(h["varies"]) for h in self.stated.data["hypotheses"] if "varies" in h})

    def _as_real_numbers(self) -> None:
        stated, integers = self.stated, [n for n in self.stated.integers if n in self.stated.kinds or n in self.used]
        for name, proposition in stated.bounds():
            if name in integers and proposition.endswith("%Z"):
                self.say(f"apply {'IZR_le' if '<=' in proposition else 'IZR_lt'} in B_{self.texts[name]}.")
        for name in integers:
            self.say(f"as_real (IZR {stated.called[name]}) {self.texts[name]}.")

    def _unnamed(self, relation: Data) -> list[str]:
        terms = self.stated.terms()
        terms.holds(relation)
        if terms.slopes:
            raise NotSaidError("a proof with a hypothesis or a condition about a derivative or a limit")
        return ["?"] * len(terms.needs)

    def say(self, *lines: str) -> None:
        """Write lines of the proof."""
        self.lines += lines

    @cached_property
    def goal(self) -> Terms:
        """The writer that has written the claim, with the claim's needs."""
        terms = self.stated.terms()
        terms.holds(self.relations[-1])
        return terms

    def leaves(self) -> Iterator[Need]:
        """Yield the conditions for the claim to have a value, in the order in which they are proved."""
        return self.apart(self.goal.needs.values())

    def apart(self, needs: Iterable[Need]) -> Iterator[Need]:
        """Yield needs, with the need of a definition or a Case replaced by the needs of its value."""
        for need in needs:
            if need.sign in ("defined", "chosen"):
                defined = need.sign == "defined"
                terms = self.stated.terms()
                terms.term(self.stated.definitions[str(need.of[1])] if defined else self._chosen(need.of))
                yield from self.apart(terms.needs.values())
            elif need.sign == "other":
                raise NotSaidError("a proof with a power whose exponent is not a number")
            else:
                yield need

    def _chosen(self, case: Data) -> Data:
        name = str(case[1][1])
        if name not in self._fixed:
            raise NotSaidError(f"the word {name} is not fixed by a hypothesis")
        chosen = case[2 + self.given.chosen[name]]
        assert not isinstance(chosen, str)
        return chosen

    def show(self, proof: Iterable[str]) -> None:
        """Write the proof of the next leaf, which becomes a fact for later proofs."""
        self.say("flat; apply and_then; [|intro].", "{", *(f"  {line}" for line in proof), "}")

    def end(self) -> str:
        """Begin the proof of the claimed relation as a sign of its larger minus its smaller side; return that sign."""
        head = str(self.relations[-1][0])
        self.say(f"flat; {_ENDS[head]}.")
        return {"Eq": "equal", "Lt": "positive", "Gt": "positive"}.get(head, "nonnegative")

    def resolved(self, data: Data) -> Data:
        """Return an expression with definitions expanded and choices by words decided."""
        match data[0]:
            case "Symbol":
                value = self.stated.definitions.get(str(data[1]))
                return data if value is None else self.resolved(value)
            case "Case":
                return self.resolved(self._chosen(data))
            case "Integer" | "Rational":
                return data
            case _:
                return [data[0], *(part if isinstance(part, str) else self.resolved(part) for part in data[1:])]

    def terms(self) -> Terms:
        """Return the writer of resolved expressions in the proof."""
        return Terms(self.texts, inside="Statement.")

    def text(self, data: Data) -> str:
        """Return the Rocq term of an expression in the proof."""
        return self.terms().term(self.resolved(data))

    def node(self, data: Data, bound: Sequence[str] = ()) -> Node:
        """Return an expression as the re-checker reads it; `bound` are the symbols bound outside it."""
        return self.given.expression(_listed(data), "formal", bound)

    def relation_node(self, data: Data) -> Node:
        """Return a relation as the re-checker reads it."""
        return self.given.relation(_listed(data), "formal")


def _listed(data: Any) -> Any:
    """Return data with tuples turned into lists, as in JSON."""
    return [_listed(part) for part in data] if isinstance(data, list | tuple) else data


def _written(value: Any) -> Any:
    return [str(entry) for entry in value] if isinstance(value, tuple | list) else str(value)


def _pattern(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"({' & '.join(names)})"
