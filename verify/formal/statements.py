"""The text of `Statement.v`: a theorem's statement, with each clause as a proposition that it is defined and holds.

Parameters are integers, real numbers, words and lists. A rational parameter becomes a real one, so that the exported
claim is stronger. Definitions and hypotheses become definitions in Rocq, and a claim assumes the domain and all
exported hypotheses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from verify.formal.expressions import OWN, Data, NotSaidError, Terms, conjunction, parts_of
from verify.formal.names import Names, comment

_SIGNS: Mapping[str, str] = {
    "positive": "0 < {}",
    "negative": "{} < 0",
    "nonnegative": "0 <= {}",
    "nonpositive": "{} <= 0",
    "nonzero": "{} <> 0",
}
_KNOWN = {*_SIGNS, "real", "rational", "integer"}
DERIVATIVES = "From Coquelicot Require Import Coquelicot."
HEADER = "From Coq Require Import Reals ZArith List.\nLocal Open Scope R_scope.\n"


@dataclass
class Stated:
    """The export of a statement: `data` is the data that its digest covers, `example` the values of its parameters.

    `refused` has the reason why a clause is not exported, by its label; `claims` has the Rocq names of the others.
    """

    title: str
    digest: str
    data: Mapping[str, Any]
    example: Mapping[str, Any]
    refused: dict[str, str] = field(default_factory=dict[str, str])
    claims: dict[str, str] = field(default_factory=dict[str, str])
    own: set[str] = field(default_factory=set[str])
    derives: bool = False

    def __post_init__(self) -> None:
        self.names = Names()
        self.kinds = {p["name"]: str(p["kind"]) for p in self.data["parameters"]}
        self.variables = {str(v[1]): tuple(map(str, v[2:])) for v in self.data["variables"]}
        self.called = {name: self.names.of(name) for name in (*self.kinds, *self.variables)}
        self.text = self._text()

    @property
    def clauses(self) -> list[Mapping[str, Any]]:
        """The claims, then the steps."""
        return [*self.data["claims"], *self.data["steps"]]

    def is_integer(self, name: str) -> bool:
        """Whether a parameter or a variable is an integer."""
        return self.kinds.get(name) == "integer" or "integer" in self.variables.get(name, ())

    @cached_property
    def words(self) -> dict[str, tuple[str, list[str]]]:
        """The Rocq variable and the constructors of each word parameter, by the parameter's name."""
        return {
            p["name"]: (self.called[p["name"]], [self.names.of(w, f"word_{p['name']}_") for w in p["words"]])
            for p in self.data["parameters"]
            if p["kind"] == "word"
        }

    @cached_property
    def definitions(self) -> dict[str, Data]:
        """The data of each definition's value, by name, in order."""
        return {str(name[1]): value for name, value in self.data["definitions"]}

    def definition_name(self, name: str) -> str:
        """Return the name of a definition's term."""
        return self.names.of(name, "def_")

    def defined_name(self, name: str) -> str:
        """Return the name of the proposition that a definition has a value."""
        return self.names.of(name, "defined_")

    def unfolded(self) -> list[str]:
        """Return the names of the exported definitions, last first, each after that of its `defined` proposition."""
        said = [name for name in reversed(self.definitions) if name not in self.unsaid]
        return [each for name in said for each in (self.defined_name(name), self.definition_name(name))]

    @cached_property
    def arguments(self) -> str:
        """The Rocq variables of the parameters, as arguments of a call."""
        return " ".join(self.called[name] for name in self.kinds)

    @cached_property
    def symbols(self) -> dict[str, str]:
        """The Rocq terms of parameters and variables as real numbers, by name."""
        reals = [name for name in self.called if self.kinds.get(name) not in ("word", "rationals")]
        return {n: f"IZR {self.called[n]}" if self.is_integer(n) else self.called[n] for n in reals}

    @cached_property
    def integers(self) -> dict[str, str]:
        """The Rocq terms of the integers, by name."""
        return {name: self.called[name] for name in self.called if self.is_integer(name)}

    def terms(self) -> Terms:
        """Return the writer of expressions in the statement's own symbols."""
        terms = Terms(self.symbols, self.integers, self._calls, self.words, self.names.of)
        terms.used = self.own
        return terms

    def using(self, data: Data) -> list[str]:
        """Return the variables that an expression uses, directly or through definitions, in order."""
        used = {str(part[1]) for part in parts_of(data) if part[0] == "Symbol"}
        for name in reversed(self.definitions):
            if name in used:
                used |= {str(part[1]) for part in parts_of(self.definitions[name]) if part[0] == "Symbol"}
        return [name for name in self.variables if name in used]

    def typed(self, names: Sequence[str]) -> list[str]:
        """Return parameters or variables as typed arguments."""
        return [f"({self.called[name]} : {self._type(name)})" for name in names]

    def _type(self, name: str) -> str:
        if self.is_integer(name):
            return "Z"
        if self.kinds.get(name) == "word":
            return self.names.of(name, "word_type_")
        return "list R" if self.kinds.get(name) == "rationals" else "R"

    @cached_property
    def _calls(self) -> dict[str, tuple[str, str]]:
        calls = dict[str, tuple[str, str]]()
        for name, value in self.definitions.items():
            arguments = " ".join([*filter(None, [self.arguments]), *(self.called[v] for v in self.using(value))])
            named = self.definition_name(name), self.defined_name(name)
            calls[name] = f"{named[0]} {arguments}".strip(), f"{named[1]} {arguments}".strip()
        return calls

    def _text(self) -> str:
        lines = list[str]()
        for part in (self._words(), self._definitions(), self._scope(), self._claims()):
            lines += part
        heads = [comment(f"{self.title}, the statement of digest {self.digest}"), HEADER]
        heads += [DERIVATIVES] if self.derives else []
        return "\n".join([*heads, *(OWN[name] for name in OWN if name in self.own), *lines]) + "\n"

    def _words(self) -> list[str]:
        return [
            f"Inductive {self._type(name)} : Set := {' '.join(f'| {word}' for word in words)}."
            for name, (_, words) in self.words.items()
        ]

    def _definitions(self) -> list[str]:
        lines = list[str]()
        self.unsaid = dict[str, str]()
        for name, value in self.definitions.items():
            terms, taken = self.terms(), " ".join(self.typed([*self.kinds, *self.using(value)]))
            called = self.definition_name(name)
            try:
                self._refuse_unsaid(value)
                term = terms.term(value)
                if terms.slopes:
                    raise NotSaidError("a derivative or a limit in a definition is not exported")
            except NotSaidError as error:
                self.unsaid[name] = str(error)
                continue
            needs = conjunction([*terms.needs])
            lines += [
                f"Definition {called} {taken} : R := {term}.",
                f"Definition {self.defined_name(name)} {taken} : Prop :=",
            ]
            lines += [f"  {needs}."]
        return lines

    def _refuse_unsaid(self, data: Data) -> None:
        """Raise NotSaidError for an expression that uses a definition that is not exported."""
        for part in parts_of(data):
            if part[0] == "Symbol" and str(part[1]) in self.unsaid:
                raise NotSaidError(f"it uses {part[1]}: {self.unsaid[str(part[1])]}")

    def bounds(self) -> list[tuple[str, str]]:
        """Return pairs of a parameter's name and the proposition of one of its bounds."""
        found = list[tuple[str, str]]()
        for p in self.data["parameters"]:
            for end, sign in (("minimum", "<="), ("above", "<")):
                if p[end] is not None:
                    found.append((p["name"], self._bound(p["name"], Fraction(p[end]), sign)))
        return found

    def _bound(self, name: str, bound: Fraction, sign: str) -> str:
        called = self.called[name]
        if self.is_integer(name) and bound.denominator == 1:
            return f"({bound.numerator} {sign} {called})%Z"
        number = str(bound) if bound >= 0 else f"- ({-bound})"
        if self.kinds[name] == "rationals":
            return f"Forall (fun entry => {number} {sign} entry) {called}"
        return f"{number} {sign} {self.symbols[name]}"

    def _scope(self) -> list[str]:
        taken = " ".join(self.typed([*self.kinds]))
        self.domain = [text for _, text in self.bounds()]
        self.hypotheses, self.left_out = dict[str, str](), dict[str, str]()
        self.out_of_reach, lines = "", list[str]()
        try:
            self.domain += [self._holds(relation) for relation in self.data["domain"]]
        except NotSaidError as error:
            self.out_of_reach = f"the domain: {error}"
        lines += [f"Definition in_domain {taken} : Prop :=", f"  {conjunction(self.domain)}."]
        for hypothesis in self.data["hypotheses"]:
            lines += self._hypothesis(hypothesis, taken)
        if not self.out_of_reach:
            lines += self._example()
        return lines

    def _hypothesis(self, hypothesis: Mapping[str, Any], taken: str) -> list[str]:
        label = str(hypothesis["label"])
        name, shown = self.names.of(label, "hypothesis_"), comment(f"{label}: {hypothesis['text']}")
        if hypothesis["relation"] is not None:
            try:
                self._refuse_unsaid(hypothesis["relation"])
                said = self._holds(hypothesis["relation"])
            except NotSaidError as error:
                self.left_out[label] = str(error)
                return [comment(f"Not exported, and so not supposed below: {label}: {error}")]
        elif "varies" in hypothesis:
            variable, words = self.words[hypothesis["varies"]]
            said = f"{variable} = {words[0]}"
        else:
            return [comment(f"Assumed in words: {label}: {hypothesis['text']}")]
        self.hypotheses[label] = name
        return [shown, f"Definition {name} {taken} : Prop :=", f"  {said}."]

    def supposed(self) -> list[str]:
        """Return the assumptions of every claim on the parameters: the domain, and each exported hypothesis."""
        return [f"{name} {self.arguments}".strip() for name in ("in_domain", *self.hypotheses.values())]

    def _example(self) -> list[str]:
        values = " ".join(self.value_of(name, self.example[name]) for name in self.kinds)
        scope = conjunction([f"{name} {values}".strip() for name in ("in_domain", *self.hypotheses.values())])
        return [
            comment(f"Some parameters satisfy all hypotheses{' above' if self.left_out else ''}."),
            f"Definition example_in_scope : Prop := {scope}.",
        ]

    def value_of(self, name: str, value: Any) -> str:
        """Return a parameter's value as a term."""
        match self.kinds[name]:
            case "integer":
                return f"({value})"
            case "word":
                places = next(p["words"] for p in self.data["parameters"] if p["name"] == name)
                return self.words[name][1][places.index(value)]
            case "rationals":
                return f"({' :: '.join(f'({entry})' for entry in value)} :: nil)"
            case _:
                return f"({value})"

    def _claims(self) -> list[str]:
        lines = list[str]()
        for clause in self.clauses:
            label = str(clause["label"])
            shown = comment(f"{label}: {clause['says']}" if clause["says"] else label)
            try:
                if self.out_of_reach:
                    raise NotSaidError(self.out_of_reach)
                said = self._claim(clause)
            except NotSaidError as error:
                self.refused[label] = str(error)
                lines.append(comment(f"Not exported: {label}: {error}"))
                continue
            self.claims[label] = name = self.names.of(label, "claim_")
            lines += [shown, f"Definition {name} : Prop :=", f"{said}."]
        return lines

    def _claim(self, clause: Mapping[str, Any]) -> str:
        relations = relations_of(clause)
        for relation in relations:
            self._refuse_unsaid(relation)
        used = self.using(["Tuple", *relations])
        return "\n".join(self.quantified(used, [self._holds(relation) for relation in relations]))

    def _holds(self, relation: Data) -> str:
        """Return the proposition that a relation is defined and holds."""
        terms = self.terms()
        said = terms.holds(relation)
        self.derives |= bool(terms.slopes)
        return said

    def quantified(self, used: Sequence[str], said: Sequence[str]) -> list[str]:
        """Return the lines of the proposition that in scope the last entry of `said` follows from the other entries."""
        lines = list[str]()
        if self.kinds:
            lines.append(f"  forall {' '.join(self.typed([*self.kinds]))},")
        lines += [f"  {each} ->" for each in self.supposed()]
        if used:
            lines.append(f"  forall {' '.join(self.typed(used))},")
        lines += [f"  {each} ->" for name in used for each in self.assumed(name)]
        return [*lines, *(f"  ({each}) ->" for each in said[:-1]), f"  {said[-1]}"]

    def assumed(self, name: str) -> list[str]:
        """Return the conditions that a variable assumes. Raises NotSaidError for an assumption that is not exported."""
        assumptions = self.variables[name]
        if unknown := set(assumptions) - _KNOWN:
            raise NotSaidError(f"{name} is assumed {min(unknown)}")
        return [_SIGNS[each].format(self.symbols[name]) for each in assumptions if each in _SIGNS]


def relations_of(clause: Mapping[str, Any]) -> list[Data]:
    """Return the relations that a clause supposes, then the claimed one. Raises NotSaidError for other kinds."""
    match clause["kind"]:
        case "inequality":
            return [clause["relation"]]
        case "implication":
            return [*clause["conditions"], clause["conclusion"]]
        case "identity":
            return [["Eq", clause["left"], clause["right"]]]
        case "in_words":
            raise NotSaidError("it is in words")
        case kind:
            raise NotSaidError(f"clauses of kind {kind} are not exported")
