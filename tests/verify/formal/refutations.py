"""False clauses for Rocq: the negation of each is proved at the instance and the point that refute it.

If the translation of a statement were weaker than the statement, the kernel could accept false statements. So the false
variants of a theorem, each refuted by a search, are exported in the same way as the theorem, and each is proved to be
false: the values that refute it are substituted, and numbers are compared. For a derivative of higher order, or the
limit of a long function, the exported proof of the theorem's own clause gives the value; the false variant claims
another value.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp

from verify.checking.doors import with_doors
from verify.formal.example import example_of
from verify.formal.expressions import Data, NotSaidError, Slope, Terms
from verify.formal.names import comment
from verify.formal.proofs import header_of, proof_of
from verify.formal.statements import DERIVATIVES, HEADER, Stated, relations_of
from verify.language.expressions import from_data, to_data
from verify.language.statement import Statement

_OPPOSITE: Mapping[str, tuple[str, str]] = {
    "Le": ("?a <= ?b", "b < a"),
    "Lt": ("?a < ?b", "b <= a"),
    "Ge": ("?a >= ?b", "a < b"),
    "Gt": ("?a > ?b", "a <= b"),
}
"""Each relation, as a pattern, and its negation."""
_LONG = 60
"""The largest number of operations in a function whose limit the tactic `field` finds; with 95 operations it fails."""
_FLAT = 'repeat match type of H with _ /\\ _ => let N := fresh "N" in destruct H as [N H] end.'
_THERE = """From Interval Require Import Tactic.
Ltac there := first [here | left; here | right; here | simpl; lra | interval with (i_prec 100)].
"""
"""Tactic for relations between numbers; exponentials, logarithms and roots need Interval's machine arithmetic."""
_AT_POINTS = """Ltac taken_apart H :=
  repeat match type of H with
  | exists _, _ => let s := fresh "s" in destruct H as [s H]
  | _ /\\ _ => let N := fresh "N" in destruct H as [N H]
  end.
Ltac at_points H :=
  taken_apart H;
  repeat match goal with
  | N : _ /\\ is_derive _ _ _ |- _ => destruct N
  | N : _ /\\ filterlim _ _ _ |- _ => destruct N
  end;
  repeat match goal with
  | D : is_derive ?f ?x ?s |- _ =>
    let E := fresh "E" in
    eassert (E : is_derive f x _)
      by (auto_derive; [repeat match goal with |- _ /\\ _ => split end; first [exact I | there] | reflexivity]);
    apply is_derive_unique in E; apply is_derive_unique in D; rewrite D in E; clear D; rewrite E in H
  end.
Ltac above U := let u := fresh "u" in intros u U; repeat match goal with M : _ /\\ _ |- _ => destruct M end; equal.
Ltac tends_to H g l :=
  match goal with D : filterlim ?f (at_right 0) (locally ?s) |- _ =>
    let E := fresh "E" in let U := fresh "U" in
    assert (E : filterlim f (at_right 0) (locally l));
    [ apply (tends f g 0 l);
      [ match goal with
        | W : at_right 0 _ |- _ => apply (fun h => filter_imp _ _ h (filter_and _ _ W (from_above 0))); above U
        | _ => apply (fun h => filter_imp _ _ h (from_above 0)); above U
        end
      | derive
      | cbv beta; equal ]
    | apply (filterlim_locally_unique f _ _ D) in E; rewrite E in H; clear D E ]
  end.
"""
"""Tactics for derivatives and limits: as both are unique, the values that a clause asserts are the computed values.
Each limit is of a rational function in lowest terms, which is continuous at 0."""
_BY_THE_TRUE = """Ltac by_the_true H K :=
  taken_apart H; taken_apart K; repeat match goal with M : _ /\\ _ |- _ => destruct M end;
  repeat match goal with
  | D : filterlim ?f ?a (locally ?s), E : filterlim ?f ?a (locally ?t) |- _ =>
    rewrite (filterlim_locally_unique f s t D E) in H; clear D
  | D : is_derive_n ?f ?n ?x ?s, E : is_derive_n ?f ?n ?x ?t |- _ =>
    rewrite <- (is_derive_n_unique f n x s D), (is_derive_n_unique f n x t E) in H; clear D
  end;
  rewrite K in H.
"""
"""Tactic for two clauses about the same derivatives and limits: their right sides are equal."""


class Refuted(NamedTuple):
    """A clause of a statement, and the instance and the point of its variables at which it is false.

    For an equation, `difference` is the left side minus the right side there; only its sign matters. `true` is the
    theorem's statement and the proof of its clause with this label, or None.
    """

    statement: Statement
    label: str
    instance: Mapping[str, Any]
    point: Mapping[str, str]
    difference: Fraction
    true: tuple[Statement, Mapping[str, Any]] | None = None


class Refutations(NamedTuple):
    """The files with the negations of some clauses, and, by place, the reasons why other clauses have no negation."""

    files: Mapping[str, str]
    left_out: Mapping[int, str]


def refutations(title: str, refuted: Sequence[Refuted]) -> Refutations:
    """Return the files with the negation of each refuted clause, at its instance and point."""
    statements, proofs, checks, left_out = list[str](), list[str](), list[str](), dict[int, str]()
    heads = {HEADER: None}

    def put(name: str, stated: Stated, proof: str) -> None:
        body = stated.text.replace(HEADER, "").replace(DERIVATIVES, "")
        statements.append(f"Module {name}.\n{body}End {name}.\n")
        proofs.append(f"Module Of_{name}.\nModule Statement := Statement.{name}.\n{proof}End Of_{name}.\n")

    for place, each in enumerate(refuted):
        stated = Stated(title, each.statement.digest, each.statement.to_data(), each.instance)
        try:
            true = _true_clause(title, stated, each) if _is_long(stated, each) else None
            proof = _negation(stated, each, true[0] if true else None, f"Of_True_{place}.")
        except NotSaidError as error:
            left_out[place] = str(error)
            continue
        heads |= {DERIVATIVES: None} if stated.derives else {}
        if true:
            put(f"True_{place}", *true)
        put(f"Variant_{place}", stated, f"{example_of(stated, 'there')}{proof}")
        claim = f"Statement.Variant_{place}.{stated.claims[each.label]}"
        checks.append((f"refuted_{place}", f": ~ {claim} := Proof.Of_Variant_{place}.refuted."))
    begin = header_of(proofs, derives=DERIVATIVES in heads) + _THERE
    begin += _AT_POINTS + _BY_THE_TRUE if DERIVATIVES in heads else ""
    together = " ".join(f"(conj {name}" for name, _ in checks) + " I" + ")" * len(checks)
    lines = [comment(title), "Require Statement Proof.", *(f"Definition {name} {said}" for name, said in checks)]
    asked = [f"Definition all_refuted := {together}.", "Print Assumptions all_refuted."] if checks else []
    return Refutations(
        {
            "Statement.v": "\n".join([comment(title), *heads, *statements]),
            "Proof.v": "\n".join([comment(title), begin, *proofs]),
            "Check.v": "\n".join([*lines, *asked]) + "\n",
        },
        left_out,
    )


def _clause(stated: Stated, label: str) -> Mapping[str, Any]:
    """Return a clause. Raise NotSaidError if it is not exported."""
    if label in stated.refused:
        raise NotSaidError(stated.refused[label])
    return next(clause for clause in stated.clauses if clause["label"] == label)


def _relations(stated: Stated, label: str) -> list[Data]:
    """Return a clause's relations: its conditions, then its claim. Raise NotSaidError if the clause is not exported."""
    return relations_of(_clause(stated, label))


def _slopes(stated: Stated, label: str) -> list[Slope]:
    """Return the derivatives and limits of a clause."""
    terms = stated.terms()
    terms.holds(_relations(stated, label)[-1])
    return list(terms.slopes.values())


def _is_long(stated: Stated, refuted: Refuted) -> bool:
    """Whether a clause has a derivative of higher order, or the limit of a long function."""
    return any(
        slope.order not in (None, 1) or (slope.order is None and _body(refuted, slope).count_ops() > _LONG)
        for slope in _slopes(stated, refuted.label)
    )


def _true_clause(title: str, variant: Stated, refuted: Refuted) -> tuple[Stated, str]:
    """Return the theorem's own statement, and the proof of its clause.

    Raise NotSaidError if one of them is not exported, or if the variant is about other derivatives, limits or
    hypotheses.
    """
    if refuted.true is None:
        raise NotSaidError("the true clause of a derivative of higher order or a long limit is not proved")
    statement, proof = refuted.true
    stated = Stated(title, statement.digest, statement.to_data(), refuted.instance)
    clause = _clause(stated, refuted.label)
    about = [[slope.body for slope in _slopes(each, refuted.label)] for each in (stated, variant)]
    if about[0] != about[1] or stated.data["hypotheses"] != variant.data["hypotheses"]:
        raise NotSaidError("the true clause is about another derivative or limit, or has other hypotheses")
    return stated, proof_of(stated, clause, proof, with_doors()[0])


def _negation(stated: Stated, refuted: Refuted, true: Stated | None, prefix: str) -> str:
    """Return Rocq's theorem that a clause is false.

    `true` is the theorem's own statement, if its clause is used, and `prefix` begins the names in its Rocq module.
    """
    name, scope = stated.claims[refuted.label], [f"S_{i}" for i, _ in enumerate(stated.supposed())]
    relations, slopes = _relations(stated, refuted.label), _slopes(stated, refuted.label)
    known = []
    if true:
        at_the_instance = _at_the_instance(true, refuted, "K", f"{prefix}Statement.")
        known = [f"pose proof {prefix}{true.claims[refuted.label]} as K.", *at_the_instance]
    ends = ["by_the_true H K."] if true else ["at_points H."] if slopes else [_FLAT]
    ends += [] if true else [_tends_to(refuted, slope) for slope in slopes if slope.order is None]
    lines = [
        "intro H; pose proof example_in_scope as S; unfold Statement.example_in_scope in S.",
        f"destruct S as ({' & '.join(scope)})." if len(scope) > 1 else "rename S into S_0.",
        *_at_the_instance(stated, refuted, "H", "Statement."),
        *known,
        *ends,
        _contradiction(str(relations[-1][0]), refuted.difference),
    ]
    body = "\n".join(f"  {line}" for line in lines)
    return f"Theorem refuted : ~ Statement.{name}.\nProof.\n{body}\nQed.\n"


def _at_the_instance(stated: Stated, refuted: Refuted, called: str, prefix: str) -> list[str]:
    """Return the tactics that substitute the instance and the point in a claim, and prove its conditions there."""
    relations = _relations(stated, refuted.label)
    used = stated.using(["Tuple", *relations])
    conditions = sum(len(stated.assumed(each)) for each in used) + len(relations) - 1
    values = " ".join(_read(stated, each, stated.value_of(each, stated.example[each])) for each in stated.kinds)
    # For a variable that the point does not name, any value is right.
    point = " ".join(_read(stated, each, f"({refuted.point.get(each, '1')})") for each in used)
    scope = " ".join(f"S_{i}" for i, _ in enumerate(stated.supposed()))
    unfolded = [f"{prefix}{each}" for each in stated.unfolded()]
    shown = "".join(f"try unfold {each}; " for each in unfolded)
    supposed = (
        f'match type of {called} with ?A -> _ => let C := fresh "C" in assert (C : A) by '
        f"({shown}cbv beta iota; repeat match goal with |- _ /\\ _ => split end; there); "
        f"specialize ({called} C); clear C end."
    )
    return [
        f"unfold {prefix}{stated.claims[refuted.label]} in {called}.",
        *[f"specialize ({called} {values})."] * bool(values),
        f"specialize ({called} {scope}).",
        *[f"specialize ({called} {point})."] * bool(point),
        *[supposed] * conditions,
        *(f"try unfold {each} in {called}." for each in unfolded),
        f"cbv beta iota in {called}.",
    ]


def _body(refuted: Refuted, slope: Slope) -> sp.Expr:
    """Return the function whose derivative or limit is taken, after substituting the statement's definitions."""
    expression = from_data(slope.body)
    for name, value in reversed([*refuted.statement.definitions.items()]):
        expression = expression.subs(name, value)
    return expression


def _tends_to(refuted: Refuted, slope: Slope) -> str:
    """Return the tactic that finds the limit at 0 from above at an instance and a point, or raise NotSaidError."""
    expression = _body(refuted, slope)
    values = {**refuted.instance, **refuted.point}
    put = {each: sp.Rational(values.get(each.name, 1)) for each in expression.free_symbols if each.name != slope.symbol}
    there = sp.cancel(sp.together(expression.subs(put)))
    symbol = next(iter(there.free_symbols), sp.Symbol(slope.symbol))
    limit = there.subs(symbol, 0)
    if from_data(slope.point) != 0 or not limit.is_Rational:
        raise NotSaidError("a limit that is not that of a rational function at 0 is not refuted")
    written = Terms({symbol.name: "u"})
    function, value = (written.term(to_data(each, written=False)) for each in (there, limit))
    return f"tends_to H (fun u : R => {function}) ({value})."


def _read(stated: Stated, name: str, value: str) -> str:
    """Return the text of a value of a parameter or variable in a file other than Statement.v."""
    if stated.kinds.get(name) == "word":
        return f"Statement.{value}"
    return f"{value}%Z" if stated.is_integer(name) else f"{value}%R"


def _contradiction(head: str, difference: Fraction) -> str:
    """Return the tactic that shows the opposite of a relation between numbers."""
    if head == "Ne":
        return "apply H; there."
    equation = "?a = ?b", "b < a" if difference > 0 else "a < b"
    held, opposite = equation if head == "Eq" else _OPPOSITE[head]
    return f"match type of H with {held} => assert (F : {opposite}) by there end; lra."
