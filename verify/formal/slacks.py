"""Proofs by slacks: symbols are written in numbers >= 0 (slacks), so that the margin has no negative coefficient."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from verify.formal.clauses import Clause, Fact
from verify.formal.expressions import Data, NotSaidError
from verify.formal.known import signed
from verify.rechecker.fields import evaluate
from verify.rechecker.given import sides, with_units
from verify.rechecker.kinds.positivity import over_bounds, with_slack
from verify.rechecker.nodes import Name, Node
from verify.rechecker.polynomials import Atom, Exponent, Polynomial, Quotient, Quotients, Sign, admit_positive

_WHERE, _LOGARITHM = "formal", "the logarithm"


@dataclass
class Slacks:
    """A clause whose symbols are written in slacks.

    `steps` are the substitutions in order, `signs` the known signs, `texts` the Rocq terms of all names, and `gone` the
    symbols already replaced.
    """

    clause: Clause
    steps: tuple[Mapping[Name, Node], ...] = ()
    signs: dict[Name, Sign] = field(default_factory=dict[Name, Sign])
    texts: dict[Name, str] = field(default_factory=dict[Name, str])
    gone: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.texts = {**self.clause.texts, **self.texts}

    def with_relation(self, place: int) -> "tuple[Slacks, list[str]]":
        """Also express by a slack the symbol that a relation bounds; return the new slacks and the proof's lines."""
        clause, fact = self.clause, self.clause.facts[place]
        relation, signs = clause.relation_node(fact.relation), dict(self.signs)
        values = with_slack(clause.given, relation, place, signs, _WHERE)
        (name,) = values
        slack: Name = ("slack", place)
        inner = replace(self, steps=(*self.steps, values), signs=signs, texts={**self.texts, slack: f"s_{place}"})
        _, high = sides(relation)
        above = high.head == "symbol" and high.name == name
        return inner.replacing(str(name), fact, f"s_{place}", relation.head in ("Lt", "Gt"), above=above)

    def replacing(self, name: str, fact: Fact, slack: str, strict: bool, *, above: bool) -> "tuple[Slacks, list[str]]":
        """Also express a symbol by its bound in a fact and a slack; return the new slacks and the proof's lines."""
        text = self.clause.texts[name]
        if name in self.gone:
            raise NotSaidError(f"a proof that replaces {name} twice")
        end = "lt" if strict else "le"
        lemma = f"above_{end} _ _ {fact.name}" if above else f"below_{end} _ _ P_{slack} {fact.name}"
        lines = [] if above else [f"assert (P_{slack} : 0 < {text}) by lra."]
        lines.append(f"destruct ({lemma}) as ({slack} & {slack.upper()} & E); put E {text}.")
        return replace(self, gone=self.gone | {name}), lines

    def with_bounds(self, names: Sequence[str]) -> "tuple[Slacks, list[str]]":
        """Also express parameters by their bounds and slacks; return the new slacks and the proof's lines."""
        signs, slacks, lines = dict(self.signs), self, list[str]()
        values = over_bounds(self.clause.given, names, signs)
        texts: dict[Name, str] = {("over", name): f"o_{self.clause.texts[name]}" for name in names}
        slacks = replace(self, steps=(*self.steps, values), signs=signs, texts={**self.texts, **texts})
        for name in names:
            if name in values and name not in self.gone:
                fact, slack = self.clause.facts[name], texts["over", name]
                slacks, more = slacks.replacing(name, fact, slack, fact.relation[0] == "Lt", above=True)
                lines += more
        return slacks, lines

    def sign(self, name: Name) -> Sign:
        """Return the known sign of a symbol."""
        return self.signs.get(name) or self.clause.given.sign_of(name)

    def put(self, node: Node) -> Node:
        """Return a node with its symbols written in slacks."""
        for step in self.steps:
            node = self.clause.given.terms.substitute(node, step)
        return node

    def values(self, nodes: Sequence[Node]) -> tuple[Quotients, list[Quotient]]:
        """Write nodes in slacks, and return them as quotients whose divisors have one sign."""
        return self.values_here([self.put(node) for node in nodes])

    def values_here(self, nodes: Sequence[Node]) -> tuple[Quotients, list[Quotient]]:
        """Return nodes that are already written in slacks as quotients whose divisors have one sign."""

        def valued(units: dict[Exponent, Fraction]) -> tuple[Quotients, list[Quotient]]:
            field = Quotients(self.clause.given.effort, self.sign, admit_positive, units)
            return field, evaluate(self.clause.given.terms, nodes, field)

        return with_units(valued)

    def leaf(self, sign: str, node: Node) -> list[str]:
        """Return the proof that a node has a sign, by its value in slacks."""
        field, (value,) = self.values([node])
        if sign == "nonzero" and value.numerator and field.one_sign(value.numerator) < 0:
            turned = field.times(field.number(Fraction(-1)), value)
            return [f"apply (nonzero_as _ (- ({quotient(field, turned, self.texts)}))); [equal | nonzero]."]
        return [f"apply ({sign}_as _ ({quotient(field, value, self.texts)})); [equal | {sign}]."]

    def keeps_sign(self, node: Node) -> bool:
        """Whether all coefficients of the numerator of a node, written in slacks, have one sign."""
        field, (value,) = self.values([node])
        return bool(value.numerator) and field.one_sign(value.numerator) != 0

    def margin(self, relation: Data, leaf: Mapping[str, Any], sign: str) -> list[str]:
        """Return the proof of a relation: its margin is squares plus a rest, and rest · multipliers has a sign."""
        clause = self.clause
        low, high = sides(clause.relation_node(relation))
        nodes = [clause.given.terms.minus(high, low)]
        for entry in leaf["squares"]:
            nodes += [clause.node(entry[key]) for key in ("factor", "root")]
        field, values = self.values(nodes)
        left, texts = values[0], [quotient(field, value, self.texts) for value in values]
        added = list[str]()
        for i in range(1, len(values), 2):
            square = field.times(values[i], field.times(values[i + 1], values[i + 1]))
            left = field.plus(left, field.times(field.number(Fraction(-1)), square))
            added.append(f"{texts[i]} * ({texts[i + 1]}) ^ 2")
        lines = list[str]()
        rest = quotient(field, left, self.texts)
        if leaf["multipliers"]:
            times, multiplied = self._multiplied(field, left, leaf["multipliers"])
            lines += [f"assert (M : {'0 <' if sign == 'positive' else '0 <='} {rest})."]
            lines += [f"{{ apply ({sign}_by_multiple ({times}) _ ({multiplied})); [positive | equal | {sign}]. }}"]
        total = " + ".join([rest, *added])
        return [*lines, f"apply ({sign}_as _ ({total})); [equal | {sign}]."]

    def _multiplied(self, field: Quotients, left: Quotient, multipliers: Sequence[Any]) -> tuple[str, str]:
        times, texts = Quotient(left.numerator, 1, ()), [quotient(field, Quotient({0: left.number}, 1, ()), self.texts)]
        texts += [f"({polynomial(field, field.factors[place], self.texts)}) ^ {n}" for place, n in left.factors]
        for entry in multipliers:
            names = [self.named(slack) for slack in entry["over"]]
            terms = self.clause.given.terms
            over = terms.add((terms.one, *(self._here(name) for name in names)))
            (factor,) = evaluate(terms, [over], field)
            for _ in range(entry["power"]):
                times = field.times(times, factor)
            texts.append(f"({polynomial(field, factor.numerator, self.texts)}) ^ {entry['power']}")
        return " * ".join(texts), quotient(field, times, self.texts)

    def _here(self, name: Name) -> Node:
        return self.put(self.clause.given.terms.symbol(name))

    def named(self, named: Any) -> Name:
        """Return the slack of a relation, by its place, or of a parameter, by its name; else the variable itself."""
        if isinstance(named, int):
            return ("slack", named)
        over: Name = ("over", str(named))
        return over if over in self.signs else str(named)


def by_slacks(clause: Clause, proof: Mapping[str, Any]) -> None:
    """Write a proof of kind `positive`, `squares` or `cases`."""
    clause.begin()
    slacks, lines = _in_slacks(clause, proof)
    clause.say(*lines)
    for need in clause.leaves():
        clause.show(slacks.leaf(need.sign, clause.node(need.of)))
    sign = clause.end()
    clause.say(*_Cases(slacks, clause.relations[-1], sign).lines(_tree(proof)))


def _in_slacks(clause: Clause, proof: Mapping[str, Any]) -> tuple[Slacks, list[str]]:
    """Write a clause in the slacks that a proof lists; return the slacks and the proof's lines."""
    slacks, lines = Slacks(clause), list[str]()
    for place in proof["relations"]:
        slacks, more = slacks.with_relation(place)
        lines += more
    slacks, more = slacks.with_bounds([*proof["shifts"]])
    return slacks, [*lines, *more]


def _tree(proof: Mapping[str, Any]) -> Mapping[str, Any]:
    return proof.get("cases") or {"multipliers": [], "squares": proof.get("squares", [])}


def by_logarithms(clause: Clause, proof: Mapping[str, Any]) -> None:
    """Write a proof of kind `logarithms`: log u >= 0 if the margin rises with log u, and log u <= u - 1 if it falls."""
    clause.begin()
    relation = clause.relations[-1]
    left = clause.resolved(signed(relation).of)
    for i, entry in enumerate(proof["logarithms"]):
        of, text = entry["of"], clause.text(entry["of"])
        left, rises = _bounded(clause, left, of)
        bound = ["Ge", of, ["Integer", "1"]] if rises else ["Gt", of, ["Integer", "0"]]
        said, lemma = (f"1 <= {text}", "ln_at_least_0") if rises else (f"0 < {text}", "ln_below")
        clause.say(f"assert (L_{i} : {said}).", *_block(_separately(clause, bound, entry["proof"])))
        clause.say(f"pose proof ({lemma} _ L_{i}) as K_{i}.")
    for need in clause.leaves():
        clause.show([f"{need.sign}."])
    clause.end()
    strict = relation[0] in ("Lt", "Gt")
    last = ["Gt" if strict else "Ge", left, ["Integer", "0"]]
    clause.say(f"assert (M : 0 {'<' if strict else '<='} {clause.text(left)}).")
    clause.say(*_block(_separately(clause, last, proof["left"])), "lra.")


def _bounded(clause: Clause, margin: Data, of: Data) -> tuple[Data, bool]:
    """Return a margin with log u replaced by its bound, and whether the margin rises with log u."""
    opened = clause.node(_exchanged(clause, margin, of, ["Symbol", _LOGARITHM, "real"]), [_LOGARITHM])
    rises = clause.given.terms.slope(opened, _LOGARITHM).number > 0
    bound = ["Integer", "0"] if rises else ["Add", of, ["Integer", "-1"]]
    return _exchanged(clause, margin, of, bound), rises


def _exchanged(clause: Clause, data: Data, of: Data, by: Data) -> Data:
    """Return an expression with log u replaced by another expression, where u is `of`."""
    if data[0] == "log" and clause.node(data[1]) is clause.node(of):
        return by
    return [data[0], *(part if isinstance(part, str) else _exchanged(clause, part, of, by) for part in data[1:])]


def _separately(clause: Clause, relation: Data, proof: Mapping[str, Any]) -> list[str]:
    """Return the proof of a relation other than the claim."""
    slacks, lines = _in_slacks(clause, proof)
    sign = "positive" if relation[0] == "Gt" else "nonnegative"
    end = "lt_by" if relation[0] == "Gt" else "le_by"
    return [*lines, f"apply {end}.", *_Cases(slacks, relation, sign).lines(_tree(proof))]


@dataclass
class _Cases:
    """The proof of a relation by a tree of cases; `made` counts the slacks rewritten so far, and numbers new names."""

    slacks: Slacks
    relation: Data
    sign: str
    made: int = 0

    def lines(self, tree: Mapping[str, Any]) -> list[str]:
        """Return the proof of the relation by a tree of cases."""
        if "at" in tree:
            return self._told_apart(tree)
        if "relation" in tree:
            return self._bounded(tree)
        return self.slacks.margin(self.relation, tree, self.sign)

    def _told_apart(self, tree: Mapping[str, Any]) -> list[str]:
        """Return the proof by two cases of a slack x.

        Either the cases are x = 0 and x > 0. Or, for t a number or a multiple of another slack, they are x = t/(1 + s)
        with a new slack s > 0, and x = t + s with s >= 0.
        """
        name, fact = self.slacks.named(tree["slack"]), f"X_{self.made}"
        text, terms = self.slacks.texts[name], self.slacks.clause.given.terms
        if tree["at"] == "0":
            below = self._with(name, terms.zero, "", text)
            above = self._with(name, terms.symbol(name), "positive", text)
            split = f"destruct (Rle_lt_dec {text} 0) as [{fact} | {fact}]."
            first = [f"assert (E : {text} = 0) by lra; put E {text}.", *below.lines(tree["below"])]
            return [split, *_block(first), *_block(above.lines(tree["above"]))]
        top, shown = terms.number(Fraction(tree["at"])), f"({tree['at']})"
        signs = dict[Name, Sign]()
        if tree["times"] is not None:
            other = self.slacks.named(tree["times"])
            top, shown = terms.mul((top, terms.symbol(other))), f"({tree['at']} * {self.slacks.texts[other]})"
            signs[other] = "positive"
        new = f"k_{self.made}"
        over = terms.power(terms.add((terms.one, terms.symbol(name))), -1)
        below = self._with(name, terms.mul((top, over)), "positive", new, signs)
        above = self._with(name, terms.add((top, terms.symbol(name))), "nonnegative", new)
        first = [f"assert (P_{self.made} : 0 < {text}) by positive."]
        if signs:
            first.append(f"assert (G_{self.made} : 0 < {self.slacks.texts[self.slacks.named(tree['times'])]}) by lra.")
        first.append(_written_anew(f"below_lt {text} {shown} P_{self.made} {fact}", new, text))
        second = [_written_anew(f"above_le {shown} {text} {fact}", new, text)]
        split = f"destruct (Rlt_le_dec {text} {shown}) as [{fact} | {fact}]."
        return [split, *_block(first + below.lines(tree["below"])), *_block(second + above.lines(tree["above"]))]

    def _bounded(self, tree: Mapping[str, Any]) -> list[str]:
        """Return the proof that writes a slack x as h/(c(1 + s)), from a relation with margin h − cx.

        The margin is linear in x, with c > 0. The new slack s is > 0 for a strict relation, else >= 0.
        """
        slacks, clause, name = self.slacks, self.slacks.clause, self.slacks.named(tree["slack"])
        terms, fact, text = clause.given.terms, clause.facts[tree["relation"]], slacks.texts[name]
        relation = clause.relation_node(fact.relation)
        low, high = sides(relation)
        margin = slacks.put(terms.minus(high, low))
        falls = terms.negative(terms.slope(margin, name))
        ends = [terms.substitute(node, {name: terms.zero}) for node in (margin, falls)]
        field, (above, below) = slacks.values_here(ends)
        strict = relation.head in ("Lt", "Gt")
        top, under = (f"({quotient(field, value, slacks.texts)})" for value in (above, below))
        new, end, shown = (f"k_{self.made}", "lt", "positive") if strict else (f"k_{self.made}", "le", "nonnegative")
        lines = [
            f"pose proof (of_{end} _ _ {fact.name}) as U_{self.made}.",
            f"assert (P_{self.made} : 0 < {text}) by positive.",
            f"assert (X_{self.made} : {text} {'<' if strict else '<='} {top} / {under}).",
            f"{{ apply (at_most_{end} {under}); [positive | refine ({shown}_as _ _ _ U_{self.made}); equal]. }}",
            _written_anew(f"below_{end} _ _ P_{self.made} X_{self.made}", new, text),
        ]
        over = terms.power(terms.add((terms.one, terms.symbol(name))), -1)
        value = terms.mul((ends[0], terms.power(ends[1], -1), over))
        inner = self._with(name, value, "positive" if strict else "nonnegative", new)
        return [*lines, *inner.lines(tree["then"])]

    def _with(
        self, name: Name, value: Node, sign: Sign, text: str, more: Mapping[Name, Sign] | None = None
    ) -> "_Cases":
        slacks = self.slacks
        inner = replace(
            slacks,
            steps=(*slacks.steps, {name: value}),
            signs={**slacks.signs, **(more or {}), name: sign},
            texts={**slacks.texts, name: text},
        )
        return _Cases(inner, self.relation, self.sign, self.made + 1)


def _written_anew(lemma: str, new: str, text: str) -> str:
    return f"destruct ({lemma}) as ({new} & {new.upper()} & E); put E {text}."


def _block(lines: Sequence[str]) -> list[str]:
    return ["{", *(f"  {line}" for line in lines), "}"]


def polynomial(field: Quotients, terms: Polynomial, texts: Mapping[Name, str]) -> str:
    """Return the term of a polynomial, with `texts` for symbols.

    Raises NotSaidError for an atom that is neither a symbol nor an exponential.
    """
    places = {place: key for key, place in field.atoms.items()}
    parts = list[str]()
    for key, coefficient in sorted(terms.items(), reverse=True):
        factors = list[str]()
        for place in field.inside(key):
            atom = places[place]
            power, text = field.power_of(key, place), _atom_text(field, atom, texts)
            factors.append(text if power == 1 else f"{_closed(text)} ^ {power}")
        size = abs(coefficient)
        if size != 1 or not factors:
            factors.insert(0, str(size))
        sign = "-" if coefficient < 0 else "+"
        text = " * ".join(factors)
        parts.append(f" {sign} {text}" if parts else f"- ({text})" if coefficient < 0 else text)
    return "".join(parts) or "0"


def _atom_text(field: Quotients, atom: Atom, texts: Mapping[Name, str]) -> str:
    if atom[0] == "symbol":
        return texts[atom[1]]
    if atom[0] != "exp":
        raise NotSaidError(f"a proof that computes with {atom[1]}")
    unit = field.units[atom]
    exponent = Quotient({atom[1]: unit.numerator}, unit.denominator, atom[2])
    return f"exp ({quotient(field, exponent, texts)})"


def _closed(text: str) -> str:
    return f"({text})" if " " in text else text


def quotient(field: Quotients, value: Quotient, texts: Mapping[Name, str]) -> str:
    """Return the term of a quotient; its denominator is a product of a number and powers of factors."""
    above = polynomial(field, value.numerator, texts)
    below = [f"({polynomial(field, field.factors[place], texts)}) ^ {power}" for place, power in value.factors]
    if value.number != 1:
        below.insert(0, str(value.number))
    return f"({above}) / ({' * '.join(below)})" if below else f"({above})"
