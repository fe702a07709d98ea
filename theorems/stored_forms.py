"""Storage of expressions that SymPy takes long to derive, in a file beside the module that uses them.

A module with `FORMS = stored(derived_forms, *symbols)` reads from `<module>.forms.json` the forms that its function
`derived_forms` returns by name. If there is no such file, the function derives them. This command derives and writes
all forms anew:

    python -m theorems.stored_forms

A test derives each form and compares it with the stored form; no other check shows that a stored form is right. A form
is stored as the tree of its sums, products and powers in SymPy's own order. It is read without evaluation, so that it
is the expression that was derived.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import sympy as sp

import theorems

Forms = dict[str, sp.Expr]
Derive = Callable[[], Forms]
SUFFIX = ".forms.json"
_HEADS: dict[str, Any] = {"+": sp.Add, "*": sp.Mul, "^": sp.Pow}
_SIGNS = {head: sign for sign, head in _HEADS.items()}


def stored(derive: Derive, *symbols: sp.Symbol) -> Forms:
    """Return the forms that `derive` returns, in these symbols; read them from the module's file if there is one."""
    path = path_of(derive)
    return read(path.read_text(encoding="utf-8"), *symbols) if path.exists() else derive()


def path_of(derive: Derive) -> Path:
    """Return the path of the file with the forms of the module that defines `derive`."""
    return Path(inspect.getfile(derive)).with_suffix(SUFFIX)


def read(text: str, *symbols: sp.Symbol) -> Forms:
    """Return the forms in a text that `written` returned."""
    named = {symbol.name: symbol for symbol in symbols}
    return {name: _expression(tree, named) for name, tree in json.loads(text).items()}


def written(forms: Forms) -> str:
    """Return the forms as JSON, one on each line."""
    lines = (f'"{name}": {json.dumps(_tree(form), separators=(",", ":"))}' for name, form in forms.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _tree(form: sp.Basic) -> Any:
    if isinstance(form, sp.Integer):
        return int(form)
    if isinstance(form, sp.Rational):
        return ["/", int(form.p), int(form.q)]
    return form.name if isinstance(form, sp.Symbol) else [_SIGNS[form.func], *map(_tree, form.args)]


def _expression(tree: Any, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    if isinstance(tree, int):
        return sp.Integer(tree)
    if isinstance(tree, str):
        return symbols[tree]
    head, *parts = tree
    if head == "/":
        return sp.Rational(*parts)
    return _HEADS[head](*(_expression(part, symbols) for part in parts), evaluate=False)


def modules() -> dict[str, Derive]:
    """Return, by module name, the function `derived_forms` of each module that has one."""
    names = (module.name for module in walk_packages(theorems.__path__, "theorems."))
    derives = {name: getattr(import_module(name), "derived_forms", None) for name in names}
    return {name: derive for name, derive in derives.items() if derive}


def main() -> None:
    """Derive all forms and write their files anew."""
    # If the files are deleted first, every module derives all of its forms, including forms that its file lacked.
    before = {path: path.read_bytes() for path in Path(theorems.__path__[0]).rglob(f"*{SUFFIX}")}
    for path in before:
        path.unlink()
    try:
        texts = {path_of(derive): written(derive()) for derive in modules().values()}
    except BaseException:
        for path, content in before.items():
            path.write_bytes(content)
        raise
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
