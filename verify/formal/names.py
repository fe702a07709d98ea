"""Names and comments of a Rocq file: labels and texts of a statement reach the file only through these functions."""

import re
from collections.abc import Collection

PRINTED = (
    *("R", "Z", "N", "nat", "bool", "list", "Prop", "Set", "Type", "IZR", "exp", "ln", "sqrt", "sin", "cos", "tan"),
    *("atan", "sinh", "cosh", "tanh", "PI", "Rabs", "Rmax", "Rmin", "Rpower", "powerRZ", "Int_part", "True", "False"),
    *("Rlt_dec", "Rle_dec", "Req_EM_T", "is_derive", "is_derive_n", "ex_derive_n", "filterlim", "at_right", "locally"),
    *("left", "right", "eq", "not", "and", "or", "sgn", "whole_part", "real_power", "real_power_defined"),
    *(f"{each}_{i}" for i in range(100) for each in ("slope", "limit")),
    *("in_domain", "example_in_scope", "nil", "cons", "ln_below", "ln_at_least_0", "ln_below_tangent"),
    *("exp_above_tangent", "nonzero_as", "positive_as", "nonnegative_as", "nonzero_factor", "root_between"),
    *("Forall", "I", "and_then", "and_flat", "proj1", "of_lt", "of_le", "of_eq", "le_by", "lt_by", "eq_by"),
    *("from_above", "tends", "right_of", "near_apart", "filter_and", "filter_forall", "locally_singleton"),
)
"""Global names that an exported file mentions: no variable may hide them."""
KEYWORDS = (
    *("as", "at", "cofix", "else", "end", "exists", "exists2", "fix", "for", "forall", "fun", "if", "IF", "in", "let"),
    *("match", "mod", "return", "SProp", "then", "using", "where", "with", "by", "Axiom", "Definition", "Theorem"),
)
_OF_PROOFS = re.compile(r"[DELMNPQUVW]|[A-Z]+_.*|[kos]_.*|real_.*|around")
"""Names that proofs give to facts and slacks."""
_LETTER = re.compile(r"[A-Za-z0-9_]")
_SHOWN = re.compile(r"[A-Za-z0-9_ .,:;<>=+/^|\[\]{}!?&%$#@~'-]")


class Names:
    """Gives each name an identifier of its own, of letters, digits and _, that is no keyword and no name in `PRINTED`.

    The same name has one identifier for each prefix.
    """

    def __init__(self, taken: Collection[str] = ()) -> None:
        self._taken = {*PRINTED, *KEYWORDS, *taken}
        self._given: dict[tuple[str, str], str] = {}

    def of(self, name: str, prefix: str = "") -> str:
        """Return the identifier of a name, the same in every call; two names never share an identifier."""
        key = prefix, name
        if key not in self._given:
            plain = prefix + "".join(c if _LETTER.fullmatch(c) else f"u{ord(c):x}_" for c in name)
            plain = plain if plain[:1].isalpha() else f"x{plain}"
            plain = f"v_{plain}" if not prefix and _OF_PROOFS.fullmatch(plain) else plain
            while plain in self._taken:
                plain += "_"
            self._taken.add(plain)
            self._given[key] = plain
        return self._given[key]


def comment(text: str) -> str:
    """Return a text as a comment in Rocq; marks in the text that would end the comment are replaced."""
    turned = {"*": "·", "(": "[", ")": "]", '"': "'"}
    shown = "".join(turned.get(c, c if _SHOWN.fullmatch(c) else f"u{ord(c):x}") for c in text)
    return f"(* {shown} *)"
