"""Stored forms equal the forms that their modules derive, and a written form is read back unchanged."""

from importlib import import_module
from pathlib import Path

import pytest
import sympy as sp

import theorems
from theorems import stored_forms
from theorems.stored_forms import SUFFIX, path_of, read, stored, written

ROOT = Path(theorems.__path__[0])
STORED = {f"theorems.{path.parent.name}.{path.name.removesuffix(SUFFIX)}": path for path in ROOT.rglob(f"*{SUFFIX}")}
x, y = sp.symbols("x y", positive=True)
FORMS = {
    "unevaluated": sp.factor(2 * x * y + 2 * x) / 3,
    "root": x * sp.sqrt(y - x**-2) - sp.Rational(-7, 5),
    "large": sp.Integer(10) ** 40 + y,
    "number": sp.Integer(3),
}


@pytest.mark.parametrize("name", sorted(STORED))
def test_a_stored_form_is_as_derived(name):
    module = import_module(name)
    derived = module.derived_forms()
    assert module.FORMS == derived
    assert STORED[name].read_text(encoding="utf-8") == written(derived)


def test_all_modules_that_derive_forms_have_them_stored():
    assert {name: path_of(derive) for name, derive in stored_forms.modules().items()} == STORED


def test_written_forms_are_read_back():
    found = read(written(FORMS), x, y)
    assert found == FORMS
    assert {name: sp.srepr(form) for name, form in found.items()} == {n: sp.srepr(form) for n, form in FORMS.items()}


def test_forms_other_than_sums_products_and_powers_are_not_written():
    with pytest.raises(KeyError):
        written({"logarithm": sp.log(x)})


def test_forms_that_are_not_stored_are_derived():
    assert stored(lambda: FORMS) is FORMS


def test_forms_are_written_anew(tmp_path, monkeypatch):
    derive = lambda: FORMS  # noqa: E731
    monkeypatch.setattr(theorems, "__path__", [str(tmp_path)])
    monkeypatch.setattr(stored_forms, "modules", lambda: {"module": derive})
    monkeypatch.setattr(stored_forms, "path_of", lambda _: tmp_path / f"module{SUFFIX}")
    (tmp_path / f"gone{SUFFIX}").write_text("{}")
    stored_forms.main()
    assert [path.name for path in tmp_path.iterdir()] == [f"module{SUFFIX}"]
    assert stored(derive, x, y) == FORMS
    (tmp_path / f"module{SUFFIX}").write_text(written(FORMS | {"number": sp.Integer(4)}))
    assert stored(derive, x, y) != derive()
