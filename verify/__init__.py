"""Verify theorems of machine-learning theory: statements as data, checked, proved and certified.

A theorem is an id (`verify list` shows them), `file.py:name`, a statement in a line of text, or a
`verify.Theorem`. The verbs are functions here and commands in a shell, under the same names (except
`list_theorems` and `list_experiments` for `list`, and `list_language` for `language`).

    verify.show(theorem)              the statement, and the standing of each claim
    verify.conditions(theorem, ...)   each hypothesis's status, and ranges of the other parameters
    verify.check(theorem, ...)        hypotheses and claims at an instance, exactly or in balls
    verify.prove(theorem)             the standing of each claim for all parameters
    verify.derive(theorem)            the derivation, each step checked by SymPy
    verify.explore(theorem, ...)      a search for a counterexample
    verify.necessity(theorem, ...)    the need for each hypothesis
    verify.sweep(theorem, over, ...)  a check at every instance of a grid, kept in a store
    verify.observe(theorem, steps)    a theorem's recursion in float64
    verify.simulate(experiment, ...)  training from the definitions, with standard errors
    verify.recheck(file)              a certificate, by the independent re-checker
    verify.new(file)                  a theorem file to start from
    verify.report(out)                everything on one HTML page

Values are exact: integers, Fractions, or text such as "1/500" and "1e-9".

>>> import verify
>>> result = verify.check("wang2024.stationary_points", T=9, q=2, d=1)
>>> str(result.outcome), str(result.evidence)
('verified', 'proved')

`print(result)` prints the same as the command, and `result.to_json()` returns the object that
`--json` prints; a notebook shows a table. An outcome is verified, refuted, inconclusive or
out_of_scope (`verify.Outcome`), and rests on evidence: proved, certified, computed or simulated
(`verify.Evidence`). The standing for all parameters is reported separately (`verify.ForAll`).

A theorem of your own is written with `Theorem`, `Statement`, `Parameter`, `Hypothesis` and a kind
of clause, such as `Inequality` or `Identity`; `verify.new("my_lemma.py")` writes one to begin with.
Invalid input raises `InputError`; a theorem that is not well formed raises `TheoremError`. The help
of a public name, as in `help(verify.check)`, shows parameters, results, errors and an example.
"""

# The public names are listed in `__init__.pyi`, and are loaded when they are first used, so the import is fast.
import ast
from importlib import import_module
from pathlib import Path
from typing import Any

from verify.shown import shown_by

_NAMES = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
_MODULE_OF = {alias.name: node.module for node in _NAMES if isinstance(node, ast.ImportFrom) for alias in node.names}

# The module that formats results is loaded when a result is shown.
shown_by(lambda: import_module("verify.reports.display.forms"))

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # This loads importlib.metadata, which takes longer than the rest of this module.
        from verify.installed import version

        return version()
    if (module := _MODULE_OF.get(name)) is None:
        raise AttributeError(f"module 'verify' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
