"""Expressions in atoms: equal expressions, units of exponentials, roots, integer powers, parts without an atom."""

import pytest
import sympy as sp

from verify.provers.deduction.atoms import Atoms, NoAtomError

x = sp.Symbol("x", real=True)
p, q = sp.symbols("p q", positive=True)
n = sp.Symbol("n", integer=True, positive=True)
k = sp.Symbol("k", integer=True, nonnegative=True)


def in_atoms(*expressions):
    """Return the numerators of some expressions, in the same atoms."""
    atoms = Atoms({"n": 1, "k": 0})
    atoms.prepare(*expressions)
    return [atoms.fraction(each)[0] for each in expressions]


@pytest.mark.parametrize(
    "zero",
    [
        sp.exp(x) * sp.exp(-x) - 1,
        sp.exp(x / 2) ** 2 - sp.exp(x),
        sp.exp(x / 2) ** 3 * sp.exp(-x / 3) - sp.exp(sp.Rational(7, 6) * x),
        sp.sqrt(p) * sp.Pow(sp.sqrt(p + 1), 2, evaluate=False) - sp.sqrt(p) * (p + 1),
        sp.Pow(x, n + 1, evaluate=False) - x * x**n,
        sp.Pow(x, 2 * k, evaluate=False) - sp.Pow(x**k, 2, evaluate=False),
        sp.Pow(sp.Integer(1), k, evaluate=False) - 1,
        sp.Pow(6 * (p + 1) / q, k, evaluate=False) * q**k - 6**k * (p + 1) ** k,
        sp.Pow(n / sp.E, n, evaluate=False) - n**n * sp.exp(-n),
        sp.Pow(x, 2 ** (k + 1), evaluate=False) - sp.Pow(x, 2**k, evaluate=False) ** 2,
        sp.log(sp.exp(x), evaluate=False) - x,
        sp.exp(2 * sp.log(p), evaluate=False) - p**2,
        1 / (1 + sp.exp(-x)) - sp.exp(x) / (1 + sp.exp(x)),
    ],
)
def test_expressions_equal_to_0_vanish_in_atoms(zero):
    assert in_atoms(zero) == [0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (sp.exp(x), sp.exp(2 * x)),
        (sp.sqrt(p), p),
        (sp.log(p * q, evaluate=False), sp.log(p)),
        (x**n, x**k),
        (x**k, x),
        (p**x, p),
    ],
)
def test_differences_of_unequal_expressions_do_not_vanish(one, other):
    first, second = in_atoms(one, other)
    assert first - second != 0


def test_an_atom_means_an_expression_of_the_statement():
    atoms = Atoms({"n": 1})
    for expression in (sp.exp(x), sp.sqrt(p), sp.log(p), x**n, p**x):
        atoms.prepare(expression)
        back = atoms.back(atoms.of(expression))
        assert back.subs({x: sp.Rational(3, 2), p: 2, n: 3}).equals(expression.subs({x: sp.Rational(3, 2), p: 2, n: 3}))


def test_an_integer_exponent_is_told_from_others():
    atoms = Atoms({"n": 1, "k": 0})
    assert atoms.whole(2 * n + k - 3) == {sp.Integer(1): -1, n: 2, k: 1}
    assert atoms.whole(x + 1) is None and atoms.whole(n / 2) is None


def test_expression_without_an_atom_is_refused():
    with pytest.raises(NoAtomError, match="gamma"):
        in_atoms(sp.gamma(x))


@pytest.mark.parametrize(("share", "degree"), [(3, 3), (10_000, 1)])
def test_a_large_share_of_an_exponent_is_an_atom_of_its_own(share, degree):
    (above,) = in_atoms(sp.exp(share * x) - 1)
    assert sp.Poly(above).total_degree() == degree
