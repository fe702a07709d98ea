"""LaTeX that compiles as it is, by any engine: a whole document in ASCII, with amsmath alone."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import sympy as sp

from verify.checking.theorem import Theorem
from verify.evaluation.instances import ConditionsResult
from verify.language.statement import ClauseData, Hypothesis
from verify.outcomes import CheckResult, HypothesisResult, margin_text, number_text, short_text
from verify.reports.display.short import DIGITS, headline

_ESCAPED = {
    **{c: f"\\{c}" for c in "#$%&_{}"},
    "\\": "\\textbackslash{}",
    "^": "\\textasciicircum{}",
    "~": "\\textasciitilde{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "''",
    "–": "--",
    "—": "---",
    "…": "\\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "\u00a0": "~",
}
_NAMED = (
    "≤ le ≥ ge ≠ ne ≈ approx ≡ equiv ∞ infty √ surd ∑ sum ∏ prod ∫ int ∈ in ∉ notin ⊂ subset ∪ cup ∩ cap ∅ emptyset "
    "ℓ ell · cdot × times ± pm ∓ mp ⊗ otimes ⊕ oplus ∘ circ ∇ nabla ∂ partial → to ← leftarrow ↦ mapsto ⇒ Rightarrow "
    "⇔ Leftrightarrow ∀ forall ∃ exists ⌈ lceil ⌉ rceil ⌊ lfloor ⌋ rfloor ⟨ langle ⟩ rangle ‖ Vert ⊥ perp"
)
_MATHS = dict(re.findall(r"(\S) (\w+)", _NAMED))
_LIKE = {"−": "-", "′": "'", "″": "''", "⁻": "^{-}", "₋": "_{-}", "⁺": "^{+}", "₊": "_{+}", "ᵀ": "^{T}", "ᵗ": "^{t}"}
_BLACKBOARD = {"ℝ": "R", "ℕ": "N", "ℤ": "Z", "ℚ": "Q", "ℂ": "C"}
_ACCENTS = {
    "\u0301": "'",
    "\u0300": "`",
    "\u0302": "^",
    "\u0308": '"',
    "\u0303": "~",
    "\u0304": "=",
    "\u030c": "v",
    "\u0327": "c",
    "\u030b": "H",
}
_CAPITALS = ["Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"]


def document(body: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a document with a body."""
    yield "\\documentclass{article}"
    yield "\\usepackage{amsmath,amssymb}"
    yield "\\begin{document}"
    yield from body
    yield "\\end{document}"


def escaped(text: str) -> str:
    """Return plain text as LaTeX in ASCII: what means something there is escaped, letters of mathematics are set so."""
    return "".join(map(_letter, unicodedata.normalize("NFC", " ".join(text.split()))))


@cache
def _letter(letter: str) -> str:
    if letter in _ESCAPED:
        return _ESCAPED[letter]
    if letter.isascii():
        return letter
    if (maths := _maths(letter)) is not None:
        return f"${maths}$"
    base, *marks = unicodedata.normalize("NFD", letter)
    if base.isascii() and marks and all(mark in _ACCENTS for mark in marks):
        return "".join(f"\\{_ACCENTS[mark]}{{" for mark in marks) + base + "}" * len(marks)
    return f"[U+{ord(letter):04X}]"


def _maths(letter: str) -> str | None:
    """Return how a letter is set in mathematics; None for one that is not known to be of it."""
    if letter in _MATHS:
        return f"\\{_MATHS[letter]}"
    if letter in _LIKE:
        return _LIKE[letter]
    if letter in _BLACKBOARD:
        return f"\\mathbb{{{_BLACKBOARD[letter]}}}"
    name = unicodedata.name(letter, "")
    words = name.lower().split()
    if name.startswith("GREEK SMALL LETTER") and len(words) == 4:
        return {"omicron": "o", "lamda": "\\lambda", "final": "\\varsigma"}.get(words[3], f"\\{words[3]}")
    if name.startswith("GREEK CAPITAL LETTER") and len(words) == 4:
        named = words[3].capitalize().replace("Lamda", "Lambda")
        return f"\\{named}" if named in _CAPITALS else f"\\mathrm{{{unicodedata.normalize('NFKD', named)[0]}}}"
    for kind, sign in (("SUPERSCRIPT", "^"), ("SUBSCRIPT", "_")):
        if kind in name and (plain := unicodedata.normalize("NFKC", letter)).isascii():
            return f"{sign}{{{plain}}}"
    if name.startswith("VULGAR FRACTION"):
        return "\\frac{{{}}}{{{}}}".format(*unicodedata.normalize("NFKC", letter).split("\u2044"))
    return None


def conditions_latex(theorem: Theorem, result: ConditionsResult) -> str:
    """Return the hypotheses at a partial instance as a document."""
    body = [_heading(theorem), *_instance(result.given), *_hypotheses(theorem, result.hypotheses)]
    ranges = [f"\\item {escaped(text)}" for text in result.ranges.values()]
    body += ["\\section*{Admissible}", "\\begin{itemize}", *ranges, "\\end{itemize}"] if ranges else []
    lines = [f"\\item {escaped(line.text())}" for line in result.reaches]
    body += ["\\section*{Beyond the hypotheses}", "\\begin{itemize}", *lines, "\\end{itemize}"] if lines else []
    scope = {True: "In scope.", False: "Out of scope.", None: "Not decided yet."}[result.in_scope]
    return "\n".join(document([*body, scope]))


def check_latex(theorem: Theorem, result: CheckResult) -> str:
    """Return a check as a document."""
    body = [_heading(theorem), *_instance(result.instance), *_hypotheses(theorem, result.hypotheses)]
    clauses = {clause.label: clause for clause in theorem.statement.clauses}
    for role, title in (("claim", "Claims"), ("step", "Steps")):
        of_role = [clause for clause in result.clauses if clause.role == role]
        body += [f"\\section*{{{title}}}", "\\begin{itemize}"] if of_role else []
        for found in of_role:
            evidence = f" ({found.evidence})" if found.evidence else ""
            margin = "" if found.margin is None else f"; margin {margin_text(found.margin, DIGITS)}"
            said = f"{escaped(found.label)}: {_said(clauses[found.label])}{escaped(margin)}"
            body.append(f"\\item \\textbf{{{found.outcome}}}{evidence} {said}")
        body += ["\\end{itemize}"] if of_role else []
    values = [f"\\item {escaped(f'{name} = {short_text(x, result.digits)}')}" for name, x in result.values.items()]
    body += ["\\section*{Values}", "\\begin{itemize}", *values, "\\end{itemize}"] if values else []
    found = f"{headline(result)}; for all parameters: {result.for_all.text()}."
    return "\n".join(document([*body, "", escaped(found)]))


def derivation_latex(theorem: Theorem, tell: Callable[[int, int], None] | None = None) -> Iterator[str]:
    """Yield the derivation as the lines of a document, each step after its check."""
    return document(_derivation(theorem, tell))


def _derivation(theorem: Theorem, tell: Callable[[int, int], None] | None) -> Iterator[str]:
    derivation = theorem.made_derivation()
    yield _heading(theorem)
    yield escaped(str(theorem.source))
    if notation := derivation.notation():
        yield "\\begin{align*}"
        yield " \\\\\n".join(f"  {maths(name)} &= {maths(value)}" for name, value in notation)
        yield "\\end{align*}"
    yield "\\begin{enumerate}"
    for step in derivation.checked_steps(tell):
        yield f"\\item {escaped(step.why)}\n  \\[ {maths(step.left)} = {maths(step.right)} \\]"
    yield "\\end{enumerate}"


def maths(expression: Any) -> str:
    """Return an expression in mathematics, in ASCII."""
    return "".join(c if c.isascii() else _maths(c) or "?" for c in sp.latex(expression))


def _heading(theorem: Theorem) -> str:
    return f"\\section*{{{escaped(theorem.title)}}}\n\\texttt{{{escaped(theorem.id)}}}\n"


def _instance(values: Any) -> Iterator[str]:
    if values:
        yield escaped(", ".join(f"{name} = {number_text(value)}" for name, value in values.items())) + "."


def _hypotheses(theorem: Theorem, results: Iterable[HypothesisResult]) -> Iterator[str]:
    stated = {hypothesis.label: hypothesis for hypothesis in theorem.statement.hypotheses}
    shown = list(results)
    if not shown:
        return
    yield "\\section*{Hypotheses}"
    yield "\\begin{itemize}"
    for found in shown:
        slack = "" if found.slack is None else f"; slack {short_text(found.slack, DIGITS)}"
        needs = f"; needs {', '.join(found.needs)}" if found.needs else ""
        said = f"{escaped(found.label)}: {_said(stated[found.label])}{escaped(slack + needs)}"
        yield f"\\item \\textbf{{{found.status}}} {said}"
    yield "\\end{itemize}"


def _said(stated: Hypothesis | ClauseData) -> str:
    """Return a hypothesis or a clause: its relation in mathematics where it is one, else its words."""
    if stated.relation is not None:
        return f"${maths(stated.relation)}$"
    return escaped(stated.statement if isinstance(stated, Hypothesis) else stated.text)
