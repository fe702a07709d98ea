"""The arguments of a verb: a theorem, and values by keyword or in a mapping.

A parameter that has the name of an option must be given in the mapping.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.errors import InputError, meant
from verify.shown import Witness

if TYPE_CHECKING:
    from verify.checking.theorem import Theorem


def loaded_theorem(theorem: "Theorem | Path | str") -> "Theorem":
    """Return a theorem, which may be given by its id, a statement in a line or `file.py:name`. Raises InputError."""
    from verify.checking.theorem import Theorem, load_theorem

    if isinstance(theorem, str | Path):
        return load_theorem(str(theorem))
    if not isinstance(theorem, Theorem):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("theorem", "", f"is of type {type(theorem).__name__}: give an id, file.py:name or a Theorem")
    return theorem


def given_values(
    mapping: Mapping[str, Any] | None,
    keywords: Mapping[str, Any],
    verb: Callable[..., Any] | None = None,
    theorem: "Theorem | None" = None,
) -> dict[str, Any]:
    """Return the values given in a mapping or by keyword. Raises InputError for a name that is given in both ways.

    From a witness, only the values of the parameters are used. A keyword that is not a parameter of the theorem but
    resembles a parameter or an option of the verb is refused as misspelt.
    """
    if verb is not None and theorem is not None:
        known = {parameter.name for parameter in theorem.statement.parameters}
        for name in keywords.keys() - known:
            near = meant(name, [*known, *_options(verb)])
            if near.startswith("did you mean"):
                raise InputError(
                    name, keywords[name], f"is neither a parameter nor an option; {near.partition('?')[0]}?"
                )
    mapping = mapping.instance if isinstance(mapping, Witness) else mapping
    if twice := sorted(set(mapping or {}) & set(keywords)):
        raise InputError(twice[0], keywords[twice[0]], "is given twice, in the mapping and by keyword")
    return {**(mapping or {}), **keywords}


def _options(verb: Callable[..., Any]) -> list[str]:
    """Return the names of a verb's arguments that may be given by keyword."""
    # The import takes 10 ms, and is needed only for unknown names.
    from inspect import signature

    return [p.name for p in signature(verb).parameters.values() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
