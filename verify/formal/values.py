"""Quotients of polynomials, as the re-checker computes them, as terms."""

from collections.abc import Mapping

from verify.formal.expressions import NotSaidError
from verify.rechecker.nodes import Name
from verify.rechecker.polynomials import Atom, Polynomial, Quotient, Quotients


def polynomial(field: Quotients, terms: Polynomial, texts: Mapping[Name, str]) -> str:
    """Return a polynomial; `texts` are the terms of symbols. Raises NotSaidError for an atom that is no symbol."""
    places = {place: key for key, place in field.atoms.items()}
    parts = list[str]()
    for key, coefficient in sorted(terms.items(), reverse=True):
        factors = list[str]()
        for place in field.inside(key):
            atom = places[place]
            power, text = field.power_of(key, place), _atom_text(field, atom, texts)
            factors.append(text if power == 1 else f"{_closed(text)} ^ {power}")
        size = abs(coefficient)
        if size != 1 or not factors:
            factors.insert(0, str(size))
        sign = "-" if coefficient < 0 else "+"
        text = " * ".join(factors)
        parts.append(f" {sign} {text}" if parts else f"- ({text})" if coefficient < 0 else text)
    return "".join(parts) or "0"


def _atom_text(field: Quotients, atom: Atom, texts: Mapping[Name, str]) -> str:
    if atom[0] == "symbol":
        return texts[atom[1]]
    if atom[0] != "exp":
        raise NotSaidError(f"a proof that computes with {atom[1]}")
    exponent = Quotient({atom[1]: 1}, field.units[atom], atom[2])
    return f"exp ({quotient(field, exponent, texts)})"


def _closed(text: str) -> str:
    return f"({text})" if " " in text else text


def quotient(field: Quotients, value: Quotient, texts: Mapping[Name, str]) -> str:
    """Return a quotient, its denominator a product of a number and factors."""
    above = polynomial(field, value.numerator, texts)
    below = [f"({polynomial(field, field.factors[place], texts)}) ^ {power}" for place, power in value.factors]
    if value.number != 1:
        below.insert(0, str(value.number))
    return f"({above}) / ({' * '.join(below)})" if below else f"({above})"
