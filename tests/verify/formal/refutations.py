"""False clauses for Rocq: the negation of each is proved at the instance and the point that refute it.

If the translation said less than a statement does, the kernel could accept false statements. So the false variants of a
theorem, each refuted by a search, are exported in the same way as the theorem, and each is proved to be false: the
values that refute it are substituted, and numbers are compared.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp

from verify.formal.example import example_of
from verify.formal.expressions import NotSaidError, Slope, Terms
from verify.formal.names import comment
from verify.formal.proofs import header_of
from verify.formal.statements import DERIVATIVES, HEADER, Stated, relations_of
from verify.language.expressions import from_data, to_data
from verify.language.statement import Statement

_OPPOSITE: Mapping[str, tuple[str, str]] = {
    "Le": ("?a <= ?b", "b < a"),
    "Lt": ("?a < ?b", "b <= a"),
    "Ge": ("?a >= ?b", "a < b"),
    "Gt": ("?a > ?b", "a <= b"),
}
"""Each relation, as a pattern, and the relation that holds if it does not."""
_LONG = 60
"""The largest number of operations in a function whose limit Rocq's `field` is asked for; with 95 it fails."""
_FLAT = 'repeat match type of H with _ /\\ _ => let N := fresh "N" in destruct H as [N H] end.'
_THERE = """From Interval Require Import Tactic.
Ltac there := first [here | left; here | right; here | simpl; lra | interval with (i_prec 100)].
"""
"""Tactic for relations between numbers; exponentials, logarithms and roots are in Interval's machine arithmetic."""
_AT_POINTS = """Ltac at_points H :=
  repeat match type of H with
  | exists _, _ => let s := fresh "s" in destruct H as [s H]
  | _ /\\ _ => let N := fresh "N" in destruct H as [N H]
  end;
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
"""Tactics for derivatives and limits: these are unique, so those that a clause asserts have the computed values. A
limit is that of a rational function in lowest terms, which is continuous at 0."""


class Refuted(NamedTuple):
    """A clause of a statement, and the instance and the point of its variables at which it is false.

    For an equation, `difference` is its left side minus its right side there; only its sign matters.
    """

    statement: Statement
    label: str
    instance: Mapping[str, Any]
    point: Mapping[str, str]
    difference: Fraction


class Refutations(NamedTuple):
    """The files with the negations of some clauses, and the reasons why the other clauses, by place, have none."""

    files: Mapping[str, str]
    left_out: Mapping[int, str]


def refutations(title: str, refuted: Sequence[Refuted]) -> Refutations:
    """Return the files with the negation of each refuted clause, at its instance and point."""
    statements, proofs, checks, left_out = list[str](), list[str](), list[str](), dict[int, str]()
    heads = {HEADER: None}
    for place, each in enumerate(refuted):
        stated = Stated(title, each.statement.digest, each.statement.to_data(), each.instance)
        try:
            proof = _negation(stated, each)
        except NotSaidError as error:
            left_out[place] = str(error)
            continue
        heads |= {DERIVATIVES: None} if stated.derives else {}
        body = stated.text.replace(HEADER, "").replace(DERIVATIVES, "")
        statements.append(f"Module Variant_{place}.\n{body}End Variant_{place}.\n")
        example = example_of(stated, "there")
        inside = f"Module Statement := Statement.Variant_{place}.\n{example}{proof}"
        proofs.append(f"Module Proof_{place}.\n{inside}End Proof_{place}.\n")
        claim = f"Statement.Variant_{place}.{stated.claims[each.label]}"
        checks.append((f"refuted_{place}", f": ~ {claim} := Proof.Proof_{place}.refuted."))
    begin = header_of(proofs, derives=DERIVATIVES in heads) + _THERE
    begin += _AT_POINTS if DERIVATIVES in heads else ""
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


def _negation(stated: Stated, refuted: Refuted) -> str:
    """Return the theorem that a clause is false. Raises NotSaidError for a clause that is not exported."""
    if refuted.label in stated.refused:
        raise NotSaidError(stated.refused[refuted.label])
    relations = relations_of(next(clause for clause in stated.clauses if clause["label"] == refuted.label))
    terms = stated.terms()
    terms.holds(relations[-1])
    if any(slope.order not in (None, 1) for slope in terms.slopes.values()):
        raise NotSaidError("a derivative of higher order is not refuted")
    name, scope = stated.claims[refuted.label], [f"S_{i}" for i, _ in enumerate(stated.supposed())]
    used = stated.using(["Tuple", *relations])
    conditions = sum(len(stated.assumed(each)) for each in used) + len(relations) - 1
    values = " ".join(_read(stated, each, stated.value_of(each, stated.example[each])) for each in stated.kinds)
    # Any value will do for a variable that the point does not name.
    point = " ".join(_read(stated, each, f"({refuted.point.get(each, '1')})") for each in used)
    unfolded = [f"Statement.{each}" for each in stated.unfolded()]
    shown = "".join(f"try unfold {each}; " for each in unfolded)
    supposed = (
        'match type of H with ?A -> _ => let C := fresh "C" in assert (C : A) by '
        f"({shown}cbv beta iota; repeat match goal with |- _ /\\ _ => split end; there); specialize (H C); clear C end."
    )
    lines = [
        f"intro H; unfold Statement.{name} in H.",
        *[f"specialize (H {values})."] * bool(values),
        "pose proof example_in_scope as S; unfold Statement.example_in_scope in S.",
        f"destruct S as ({' & '.join(scope)})." if len(scope) > 1 else "rename S into S_0.",
        f"specialize (H {' '.join(scope)}).",
        *[f"specialize (H {point})."] * bool(point),
        *[supposed] * conditions,
        *(f"try unfold {each} in H." for each in unfolded),
        f"cbv beta iota in H. {'at_points H.' if terms.slopes else _FLAT}",
        *(_tends_to(refuted, slope) for slope in terms.slopes.values() if slope.order is None),
        _contradiction(str(relations[-1][0]), refuted.difference),
    ]
    body = "\n".join(f"  {line}" for line in lines)
    return f"Theorem refuted : ~ Statement.{name}.\nProof.\n{body}\nQed.\n"


def _tends_to(refuted: Refuted, slope: Slope) -> str:
    """Return the tactic that finds a limit from above 0 at an instance and a point, or raise NotSaidError."""
    expression = from_data(slope.body)
    for name, value in reversed([*refuted.statement.definitions.items()]):
        expression = expression.subs(name, value)
    if expression.count_ops() > _LONG:
        raise NotSaidError(f"a limit of a function of more than {_LONG} operations is not refuted")
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
    """Return the text by which a file other than Statement.v writes a value of a parameter or variable."""
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
