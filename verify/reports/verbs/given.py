"""What a verb is given: a theorem, and values by keyword or, where a name is that of an option, in a mapping."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from verify.errors import InputError
from verify.shown import Witness

if TYPE_CHECKING:
    from verify.checking.theorem import Theorem


def loaded_theorem(theorem: "Theorem | str") -> "Theorem":
    """Return a theorem that may be given by its id or `file.py:name`. Raises InputError."""
    from verify.checking.loading import load_theorem

    return load_theorem(theorem) if isinstance(theorem, str) else theorem


def given_values(mapping: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are given in either way. Raises InputError for a name that is given in both.

    Of a refuted clause's witness, these are the values of the parameters.
    """
    mapping = mapping.instance if isinstance(mapping, Witness) else mapping
    if twice := sorted(set(mapping or {}) & set(keywords)):
        raise InputError(twice[0], keywords[twice[0]], "is given twice, in the mapping and by keyword")
    return {**(mapping or {}), **keywords}
