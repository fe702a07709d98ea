# SymPy has few type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false
"""Expressions as text and in LaTeX, printed as they are stored, without evaluation.

SymPy's printers compute while they print: they factor out minus signs, sort terms by their values, and move factors
with a negative exponent below a fraction bar. For an unevaluated expression they may show another expression, divide by
0, or never end. So here they print only expressions without kept (unevaluated) parts. Any other expression is written
as it is stored, with its parts in their order.
"""

import re
from contextlib import suppress
from typing import Any

import sympy as sp
from sympy.core.numbers import Number
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE, precedence, precedence_traditional
from sympy.printing.str import StrPrinter

_SUM, _PRODUCT, _POWER, _ATOM = (PRECEDENCE[name] for name in ("Add", "Mul", "Pow", "Atom"))
_OPERATIONS = sp.Add | sp.Mul | sp.Pow
_FACTORED = 10**6
"""SymPy is not asked to factor integers of at least this size under a root; their roots count as unevaluated."""
_EPS = re.compile(r"^eps(?=\d*(?:_|$))")
"""The name `eps`, alone or before an index."""
_FAILS = (ArithmeticError, RecursionError, TypeError, ValueError)
"""The errors of SymPy on an expression without a value, such as 1/n for a number n that it finds to be 0."""


def text_of(expression: Any) -> str:
    """Return an expression as text, in Python's syntax.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify.printing import text_of
    >>> text_of(sp.Pow(sp.log(1, evaluate=False), -1, evaluate=False))
    '1/log(1)'
    """
    return _Text().doprint(expression)


def latex_of(expression: Any) -> str:
    r"""Return an expression in LaTeX, for use in math mode.

    Examples
    --------
    >>> import sympy as sp
    >>> from verify.printing import latex_of
    >>> print(latex_of(sp.Pow(-1, -2, evaluate=False)))
    \left(-1\right)^{-2}
    """
    return _Latex().doprint(expression)


class _Kept:
    """A test of an expression's form for a kept (unevaluated) part; each node is examined once."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, bool]] = {}

    def within(self, node: Any) -> bool:
        """Whether SymPy would write the node, or a part of it, differently."""
        if id(node) not in self.known:
            parts = getattr(node, "args", ())
            self.known[id(node)] = (node, _is_kept(node) or any(map(self.within, parts)))
        return self.known[id(node)][1]


def _is_kept(node: Any) -> bool:
    match node:
        case sp.Add():
            return _is_kept_sum(node.args)
        case sp.Mul():
            return _is_kept_product(node.args)
        case sp.Pow():
            return _is_kept_power(*node.args)
        case sp.exp():
            return isinstance(node.args[0], sp.log) or node.args[0] in (0, 1)
        case sp.log():
            return isinstance(node.args[0], sp.exp) or node.args[0] in (0, 1)
        case _:
            return False


def _is_kept_sum(terms: tuple[Any, ...]) -> bool:
    numbers = [term for term in terms if isinstance(term, Number)]
    others = [term for term in terms if not isinstance(term, Number)]
    # SymPy merges two terms that differ by a numerical factor.
    alike = len(set(map(_bare, others))) < len(others)
    return len(terms) < 2 or len(numbers) > 1 or 0 in numbers or alike or any(isinstance(t, sp.Add) for t in terms)


def _bare(term: Any) -> tuple[Any, ...]:
    """Return the factors of a term, without a leading number."""
    return term.args[1:] if isinstance(term, sp.Mul) and isinstance(term.args[0], Number) else (term,)


def _is_kept_product(factors: tuple[Any, ...]) -> bool:
    numbers = [factor for factor in factors if isinstance(factor, Number)]
    bases = [_base(factor) for factor in factors if factor.is_commutative and not isinstance(factor, Number)]
    alike = len(set(bases)) < len(bases)
    odd = len(numbers) > 1 or 0 in numbers or 1 in numbers or numbers != list(factors[: len(numbers)])
    return len(factors) < 2 or odd or alike or any(isinstance(f, sp.Mul) for f in factors)


def _base(factor: Any) -> Any:
    """Return the key by which SymPy merges factors: a power's base, or an exponential's exponent without its number.

    SymPy keeps exp(x)*exp(y), and merges exp(x)*exp(-2*x).
    """
    if isinstance(factor, sp.exp):
        return _bare(factor.args[0])
    return factor.args[0] if isinstance(factor, sp.Pow) else factor


def _is_kept_power(base: Any, exponent: Any) -> bool:
    if exponent in (0, 1) or base in (0, 1) or isinstance(base, sp.exp):
        return True
    if isinstance(exponent, sp.Integer):
        return isinstance(base, Number) or (base.is_commutative and isinstance(base, sp.Pow | sp.Mul))
    if not isinstance(base, Number) or not isinstance(exponent, sp.Rational):
        return False
    if not isinstance(base, sp.Integer) or not 1 < base < _FACTORED or not -1 < exponent < 1:
        return True
    # For example, SymPy writes sqrt(12) as 2*sqrt(3).
    return sp.Pow(base, exponent).args != (base, exponent)


class _Faithful:
    """The base of both printers: SymPy's own printer writes a sum, a product or a power without kept parts."""

    _plain: type[StrPrinter | LatexPrinter]
    """SymPy's own printer."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = _Kept()

    def _pretty(self, expression: Any) -> str:
        """Return the text of SymPy's own printer; "" for an expression that must be written as it is stored."""
        if self.kept.within(expression):
            return ""
        # While it sorts terms, SymPy may divide by a number that is 0 but is not recognised as 0.
        with suppress(*_FAILS):
            return self._plain().doprint(expression)
        return ""


class _Text(_Faithful, StrPrinter):
    """The printer of text."""

    _plain = StrPrinter

    def parenthesize(self, item: Any, level: int, strict: bool = False) -> str:
        """Return a part as text, with parentheses if it binds less tightly than its surroundings."""
        binds, text = self._binding(item), self._print(item)
        return f"({text})" if binds < level or (not strict and binds <= level) else text

    def _binding(self, item: Any) -> int:
        return _binding(item) if isinstance(item, _OPERATIONS) and self.kept.within(item) else precedence(item)

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        return self._pretty(expr) or _sum_of([self._term(term) for term in expr.args])

    def _term(self, term: Any) -> str:
        return f"({self._print(term)})" if isinstance(term, sp.Add) else self._print(term)

    def _print_Mul(self, expr: Any) -> str:
        return self._pretty(expr) or self._product(expr.args)

    def _product(self, factors: tuple[Any, ...]) -> str:
        text = ""
        for factor in factors:
            below = text and _is_below(factor)
            part = self._factor(factor.base if below else factor, first=not text, tight=bool(below))
            text = f"{text}/{part}" if below else f"{text}*{part}" if text else part
        return text

    def _factor(self, factor: Any, *, first: bool, tight: bool) -> str:
        """Return the text of a factor; a `tight` factor is the whole divisor."""
        text = self._print(factor)
        loose = isinstance(factor, sp.Add | sp.Mul) or (tight and isinstance(factor, sp.Pow))
        broken = isinstance(factor, Number) and (("/" in text) if tight or not first else False)
        signed = text.startswith("-") and not first
        below = isinstance(factor, sp.Pow) and "/" in text and not first
        return f"({text})" if loose or broken or signed or below else text

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        if pretty := self._pretty(expr):
            return pretty
        base, exponent = expr.args
        if exponent is sp.S.Half:
            return f"sqrt({self._print(base)})"
        if exponent is sp.S.NegativeOne:
            return f"1/{self._factor(base, first=False, tight=True)}"
        return f"{self.parenthesize(base, _POWER)}**{self.parenthesize(exponent, _POWER)}"


class _Named(LatexPrinter):
    r"""SymPy's printer, but the name `eps` is written as \varepsilon; the name `epsilon` stays \epsilon."""

    def _deal_with_super_sub(self, string: str, style: str = "plain") -> str:
        return super()._deal_with_super_sub(_EPS.sub("varepsilon", string), style)


class _Latex(_Faithful, _Named):
    """The printer of LaTeX."""

    _plain = _Named

    def parenthesize(self, item: Any, level: int, is_neg: bool = False, strict: bool = False) -> str:
        """Return a part as text, with parentheses if it binds less tightly than its surroundings."""
        held = isinstance(item, _OPERATIONS) and self.kept.within(item)
        binds = _binding(item) if held else precedence_traditional(item)
        loose = binds < level or (not strict and binds <= level) or (is_neg and strict)
        return _wrapped(self._print(item)) if loose else self._print(item)

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        return self._pretty(expr) or _sum_of([self._part(term, sp.Add) for term in expr.args])

    def _part(self, part: Any, *loose: type) -> str:
        return _wrapped(self._print(part)) if isinstance(part, loose) else self._print(part)

    def _print_Mul(self, expr: Any) -> str:
        if pretty := self._pretty(expr):
            return pretty
        text = ""
        for factor in expr.args:
            part = self._part(factor, sp.Add, sp.Mul)
            if text and part.startswith("-"):
                part = _wrapped(part)
            dotted = text and (part[0].isdigit() or part.startswith("\\frac"))
            text += f" \\cdot {part}" if dotted else f" {part}" if text else part
        return text

    def _print_Pow(self, expr: Any) -> str:
        if pretty := self._pretty(expr):
            return pretty
        base, exponent = expr.args
        if exponent is sp.S.Half:
            return f"\\sqrt{{{self._print(base)}}}"
        if exponent is sp.S.NegativeOne:
            return f"\\frac{{1}}{{{self._print(base)}}}"
        plain = isinstance(base, sp.Symbol) or (isinstance(base, sp.Integer) and base >= 0)
        below = self._print(base) if plain else _wrapped(self._print(base))
        return (
            f"{{{below}}}^{{{self._print(exponent)}}}"
            if "^" in below and plain
            else f"{below}^{{{self._print(exponent)}}}"
        )

    def _print_Derivative(self, expr: Any) -> str:
        # SymPy's own method computes the signs of the parts.
        return super()._print_Basic(expr) if self.kept.within(expr) else super()._print_Derivative(expr)


def _wrapped(text: str) -> str:
    return f"\\left({text}\\right)"


def _sum_of(terms: list[str]) -> str:
    """Return terms joined by their signs."""
    first, *more = terms
    return first + "".join(f" - {term[1:].lstrip()}" if term.startswith("-") else f" + {term}" for term in more)


def _is_below(factor: Any) -> bool:
    """Whether a factor is a reciprocal 1/x that commutes."""
    return isinstance(factor, sp.Pow) and factor.is_commutative and factor.exp is sp.S.NegativeOne


def _binding(held: Any) -> int:
    """Return the binding strength of an expression that is written as it is stored."""
    if isinstance(held, sp.Pow):
        over = held.exp is sp.S.NegativeOne
        return _ATOM if held.exp is sp.S.Half else _PRODUCT if over else _POWER
    first = held.args[0] if held.args else sp.S.One
    signed = isinstance(held, sp.Mul) and isinstance(first, Number) and first < 0
    return _SUM if signed or isinstance(held, sp.Add) else _PRODUCT
