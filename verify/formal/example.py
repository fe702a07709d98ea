# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""The proof that a statement's example satisfies its hypotheses, and that these do not contradict each other."""

from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

from verify.formal.known import bounds_of_logarithm
from verify.formal.statements import Stated
from verify.language.expressions import decided, from_data

_ENDS = "first [apply le_by | apply Rle_ge, le_by | apply lt_by | apply Rlt_gt, lt_by]; field_simplify; nra"


def example_of(stated: Stated, *others: str) -> str:
    """Return the theorem that the example satisfies all exported hypotheses, "" if the domain is not exported.

    At the example each condition is a relation between numbers, and its logarithms are bounded by rational numbers.
    `others` are tactics that are tried last.
    """
    if stated.out_of_reach:
        return ""
    unfolded = ["example_in_scope", "in_domain", *stated.hypotheses.values(), *stated.unfolded()]
    bounds = "; ".join(f"repeat {bounds_of_logarithm(square)}" for square in dict.fromkeys(_squares(stated)))
    ways = ["here", *[f"positive | {bounds}; {_ENDS}"] * bool(bounds), *others]
    return (
        "Theorem example_in_scope : Statement.example_in_scope.\n"
        "Proof.\n"
        f"  unfold {', '.join(f'Statement.{name}' for name in unfolded)}; cbv beta iota.\n"
        f"  repeat match goal with |- _ /\\ _ => split end; first [{' | '.join(ways)}].\n"
        "Qed.\n"
    )


def _squares(stated: Stated) -> Iterator[Fraction]:
    """Yield the squared arguments of the logarithms in the hypotheses, if the square is rational at the example."""
    data = stated.data
    words = {p["name"]: p["words"] for p in data["parameters"] if p["kind"] == "word"}
    numbers = {name: sp.Rational(value) for name, value in stated.example.items() if name in stated.symbols}
    for hypothesis in data["hypotheses"]:
        if str(hypothesis["label"]) not in stated.hypotheses or hypothesis["relation"] is None:
            continue
        relation = from_data(hypothesis["relation"])
        for name, value in reversed(data["definitions"]):
            relation = relation.xreplace({from_data(name): from_data(value)})
        for logarithm in sorted(decided(relation, words, stated.example).atoms(sp.log), key=str):
            (argument,) = logarithm.args
            names = {str(symbol): symbol for symbol in argument.free_symbols}
            if names.keys() <= numbers.keys():
                square = sp.expand(argument.subs({symbol: numbers[name] for name, symbol in names.items()}) ** 2)
                if isinstance(square, sp.Rational) and square > 0:
                    yield Fraction(square.p, square.q)
