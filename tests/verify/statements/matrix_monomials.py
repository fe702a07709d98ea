"""Equalities of polynomials in matrices, built by expanding products and perhaps changed.

Evaluation at matrices decides whether they are true.
"""

import random
from fractions import Fraction
from typing import Any

import sympy as sp

from tests.verify.statements.numbers import UnsureError
from tests.verify.statements.specimens import Specimen, Values, _other, theorem_of
from tests.verify.statements.trees import Tree, kept, symbol, tree, value_at
from tests.verify.statements.writing import NotWrittenError, faithful
from verify import MatrixIdentity, Parameter, Statement, matrix

Letter = tuple[str, bool]
Term = tuple[Tree, tuple[Letter, ...]]
"""A scalar, and letters; the flag of a letter says whether it is transposed."""
Matrix = list[list[Fraction]]
V = symbol("v")


def multiplied(x: Matrix, y: Matrix) -> Matrix:
    """Return the product of two matrices."""
    return [
        [sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in zip(*y, strict=True)]
        for row in x
    ]


def value_of(
    terms: list[Term], matrices: dict[str, Matrix], values: Values, definitions: dict[str, Tree]
) -> Matrix | None:
    """Return a sum of monomials at some matrices; None if a scalar has no value."""
    total: Matrix | None = None
    for scalar, letters in terms:
        factor = value_at(scalar, values, definitions)
        if factor is None:
            return None
        if not isinstance(factor, Fraction):
            raise UnsureError("a scalar that is not rational")
        product: Matrix | None = None
        for name, turned in letters:
            here = [list(column) for column in zip(*matrices[name], strict=True)] if turned else matrices[name]
            product = here if product is None else multiplied(product, here)
        scaled = [[factor * x for x in row] for row in product or []]
        total = (
            scaled
            if total is None
            else [[a + b for a, b in zip(r, q, strict=True)] for r, q in zip(total, scaled, strict=True)]
        )
    return total


def equal_polynomials(
    left: list[Term], right: list[Term], sizes: Any, variables: Any, values: Values, definitions: Any
) -> bool | None:
    """Return whether two sums are equal at all matrices that are tried; None if a scalar has no value somewhere."""
    source, missing = random.Random(1), False
    for i in range(8):
        point = {**values, "v": Fraction(i - 3) if variables else Fraction(1)}
        matrices = {
            name: [[Fraction(source.randint(-3, 3)) for _ in range(columns)] for _ in range(rows)]
            for name, (rows, columns) in sizes.items()
        }
        sides = [value_of(side, matrices, point, definitions) for side in (left, right)]
        missing |= None in sides
        if None not in sides and sides[0] != sides[1]:
            return False
    return None if missing else True


def expanded(factors: list[list[Term]]) -> list[Term]:
    """Return a product of sums as a sum of monomials."""
    found: list[Term] = [(tree(1), ())]
    for factor in factors:
        found = [(s * t, (*w, *v)) for s, w in found for t, v in factor]
    return found


def turned(terms: list[Term]) -> list[Term]:
    """Return the transpose of a sum."""
    return [(s, tuple((name, not t) for name, t in reversed(w))) for s, w in terms]


def matrix_identity(draw: random.Random) -> Specimen:
    """Return an equality of polynomials in matrices."""
    n = draw.choice((1, 2, 2, 3))
    values = {"n": Fraction(n), "a": Fraction(draw.choice((0, 0, 1, 2, -1)))}
    sizes = dict.fromkeys("PQR", (n, n))
    # All letters are square and of the same size, so all monomials fit.
    scalars = [tree(1), tree(2), tree(-1), symbol("a"), symbol("a") ** 2, V, symbol("a") + 1]
    definitions: dict[str, Tree] = {}

    def factor():
        return [(draw.choice(scalars), ((draw.choice("PQR"), draw.random() < 0.3),)) for _ in range(draw.randint(1, 2))]

    factors = [factor() for _ in range(draw.randint(1, 3))]
    kind = "product"
    right = expanded(factors)
    draw.shuffle(right)
    left_terms = expanded(factors)
    made = _written_product(factors)
    if draw.random() < 0.3:
        # The transpose of a product is the product of the transposes in reverse.
        right, left_terms, kind = turned(right), turned(left_terms), "transpose"
        made = ("transpose", made)
    change = draw.randrange(4)
    if change == 0:
        swapped = [(s, w[::-1]) for s, w in right]
        right, kind = swapped, kind + ", in reverse"
    if change == 1:
        right, kind = [(s + 1, w) if i == 0 else (s, w) for i, (s, w) in enumerate(right)], kind + ", changed"
    if draw.random() < 0.6:
        if draw.random() < 0.7:
            below = draw.choice([symbol("a"), symbol("a") - 1, symbol("a") ** 2 - symbol("a")])
            definitions["d"] = 1 / below
            # d stands for 1/below, so that SymPy does not cancel the product.
            bad = symbol("d") * below
            kind += ", d = 1/scalar"
        else:
            below = draw.choice([symbol("a"), V, symbol("a") - 2])
            bad = kept(below * kept(1 / below))
            kind += ", kept scalar/scalar"
        made = ("scaled", bad, made)
        left_terms = [(bad * s, w) for s, w in left_terms]
    elif draw.random() < 0.25:
        return _inverse(draw, values)
    return _specimen(draw, kind, made, left_terms, right, sizes, values, definitions)


def _written_product(factors: list[list[Term]]) -> Any:
    return ("product", factors)


def _sympy(made: Any, letters: dict[str, Any], scalar: Any) -> Any:
    """Return a drawn expression in SymPy."""
    if made[0] == "transpose":
        return sp.transpose(_sympy(made[1], letters, scalar))
    if made[0] == "scaled":
        factor, rest = scalar(made[1]), _sympy(made[2], letters, scalar)
        for product in (sp.Mul(factor, rest), sp.Mul(factor, rest, evaluate=False)):
            if factor.atoms(sp.Pow, sp.Symbol) <= product.atoms(sp.Pow, sp.Symbol):
                return product
        raise NotWrittenError("the scalar is not kept")
    if made[0] == "terms":
        return sp.Add(*(scalar(s) * sp.Mul(*(_letter(letters, x) for x in w)) for s, w in made[1]))
    factors = [_sympy(("terms", factor), letters, scalar) for factor in made[1]]
    return sp.Mul(*factors)


def _letter(letters: dict[str, Any], letter: Letter) -> Any:
    name, is_turned = letter
    return sp.transpose(letters[name]) if is_turned else letters[name]


def _specimen(
    draw: random.Random,
    kind: str,
    made: Any,
    left: list[Term],
    right: list[Term],
    sizes: dict[str, tuple[int, int]],
    values: dict[str, Any],
    definitions: dict[str, Tree],
) -> Specimen:
    symbols: dict[str, Any] = {name: sp.Symbol(name) for name in ("a", "d", "s", "v")}
    symbols["n"] = sp.Symbol("n", integer=True, positive=True)
    letters = {name: matrix(name) for name in sizes}
    parameters = {
        "n": Parameter("n", "integer", "n", minimum=1),
        "a": Parameter("a", "rational", "a"),
    }
    others = tuple(_other(draw, values, parameters) for _ in range(3))
    others = tuple({**other, "n": values["n"]} for other in others)
    points = [{**at, "v": Fraction(v)} for at in (values, *others) for v in (-2, -1, 0, 1, 2, 3)]
    scalar = lambda s: faithful(s, symbols, points, definitions)  # noqa: E731
    sides = [_sympy(made, letters, scalar), _sympy(("terms", right), letters, scalar)]
    used = {str(s) for side in sides for s in side.free_symbols}
    variables = ["v"] if "v" in used else []
    put = {symbols[n]: faithful(d, symbols, points, definitions) for n, d in definitions.items()}
    shapes = {letters[name]: (symbols["n"], symbols["n"]) for name in sizes}
    clause = MatrixIdentity("c0", *sides, shapes)
    statement = Statement(
        tuple(parameters.values()), (clause,), variables=tuple(symbols[v] for v in variables), definitions=put
    )
    truth = lambda at: equal_polynomials(left, right, sizes, variables, at, definitions)  # noqa: E731
    # 1 by 1 matrices commute, and a scalar may be 0: the equality is then true, but a check need not find this.
    hard = truth(values) is True and ("reverse" in kind or "changed" in kind)
    instance = {name: int(v) if name == "n" else v for name, v in values.items()}
    return Specimen(
        "matrices",
        kind,
        theorem_of(statement),
        instance,
        {"c0": truth},
        degenerate=truth(values) is None,
        hard=hard,
        others=others,
    )


def _inverse(draw: random.Random, values: dict[str, Any]) -> Specimen:
    """Return an equality with an inverse, which not all matrices have."""
    p, q, n = matrix("P"), matrix("Q"), sp.Symbol("n", integer=True, positive=True)
    product = sp.Mul(p, sp.Pow(p, -1), evaluate=False)
    kept_product = sp.Mul(product, q, evaluate=False)
    sides = draw.choice([(product, sp.S.One), (kept_product, q), (sp.Mul(q, product, q, evaluate=False), q * q)])
    clause = MatrixIdentity("c0", *sides, {p: (n, n), q: (n, n)})
    parameters = (Parameter("n", "integer", "n", minimum=1), Parameter("a", "rational", "a"))
    instance = {"n": int(values["n"]), "a": values["a"]}
    theorem = theorem_of(Statement(parameters, (clause,)))
    return Specimen("matrices", "P*P**-1", theorem, instance, {"c0": lambda _: None}, degenerate=True)
