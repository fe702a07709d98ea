"""Second computations of the library's primitives: the re-check of a certificate detects a wrong value."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import sympy as sp

import theorems
import verify
from theorems.sparse_token_selection import share_curve_primitives
from theorems.sparse_token_selection.gain_primitives import least_encoding_dimension
from theorems.sparse_token_selection.rechecked import share_curves
from verify import Inequality, Parameter, Source, Statement, Theorem
from verify.checking.certificates import certificate_text
from verify.checking.doors import door, primitives, with_doors
from verify.rechecker import Rejected, recheck_text
from verify.rechecker.registry import Primitive

FOLDER = Path(theorems.__file__).parent
SHIPPED = [*sorted(FOLDER.glob("certificates/*.json")), *sorted(FOLDER.glob("necessity/*.certificate.json"))]
d_e, x = sp.Symbol("d_e", integer=True, positive=True), sp.Symbol("x", real=True)
SIZES = (20, 3, 1, Fraction(1, 50), 0)


def exact_dimension():
    """Return a certificate of an exact least number of dimensions."""
    found = least_encoding_dimension.evaluate(*map(Fraction, SIZES))
    least = int(getattr(found, "upper", found))
    clause = Inequality("enough", sp.Ge(d_e, least_encoding_dimension(*map(sp.Rational, SIZES))))
    statement = Statement((Parameter("d_e", "integer", "dimensions", minimum=1),), (clause,))
    theorem = Theorem("user.enough", "a title", Source("1", "derived here"), statement, {"d_e": least})
    return certificate_text(theorem, verify.check(theorem, d_e=least)).encode()


def at_most(name):
    """Return a certificate that a primitive about P and R over an interval is at most its upper bound plus 1/10."""
    primitive = getattr(share_curve_primitives, name)
    at = (4, 2, 2, 1, 1) if name == "gain_beyond" else (4, 2, 2, 0, 1, 1)
    most = round(primitive.evaluate(*map(Fraction, at)).upper, 3) + Fraction(1, 10)
    clause = Inequality("most", sp.Ge(x, primitive(*map(sp.Integer, at))))
    statement = Statement((Parameter("x", "rational", "a bound"),), (clause,))
    theorem = Theorem("user.most", "a title", Source("1", "derived here"), statement, {"x": str(most)})
    return certificate_text(theorem, verify.check(theorem, x=str(most))).encode()


def certificates():
    """Return, by the primitive's name, the certificates that use it."""
    found = {"least_encoding_dimension/1": [exact_dimension()]}
    found |= {f"{name}/1": [at_most(name)] for name in ("gain_beyond", *share_curves.PARTS)}
    made = set(found)
    for path in SHIPPED:
        for name in set(primitives(json.loads(path.read_bytes()))) - made:
            found.setdefault(name, []).append(path.read_bytes())
    return found


def at_hand(name, wrong):
    """Return a look-up of second computations in which `wrong` replaces the computation of the named primitive."""

    def loaded(installed):
        rechecks, off = installed.load(), dict(installed.load().primitives)
        if name in off:
            off[name] = wrong(off[name])
        return replace(rechecks, primitives=off)

    return lambda asked: replace(installed := door(asked), load=lambda: loaded(installed))


def off_by_one(right):
    if right.value is not None:
        return Primitive(right.arity, lambda *given: right.value(*given) + 1)
    return Primitive(right.arity, None, lambda *given: tuple(end + 1 for end in right.encloses(*given)))


def refused(texts, door):
    for text in texts:
        try:
            recheck_text(text, door=door)
        except Rejected:
            yield text


def test_a_wrong_second_computation_of_each_primitive_is_caught():
    known = certificates()
    assert set(known) == set(with_doors()[0].primitives)
    for name, texts in known.items():
        assert next(refused(texts, at_hand(name, off_by_one)), None), name
        assert next(refused(texts[:1], at_hand(name, lambda right: right)), None) is None, name
