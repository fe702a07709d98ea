"""LaTeX documents of the library's theorems are in ASCII and balanced, whatever the texts contain."""

import re
import shutil
import subprocess

import pytest
import sympy as sp

import verify
from tests.verify.command_line import assert_one_line
from verify.reports.display import latex
from verify.reports.display.forms import document
from verify.reports.display.latex import ascii_maths, escaped
from verify.reports.display.pages import Page, Table, Written, derivation_page

IDS = verify.ids("theorem")


def assert_compiles(text):
    """Assert what every LaTeX engine needs: ASCII, one body, and closed groups, environments and mathematics."""
    assert text.isascii() and text.startswith("\\documentclass{article}\n") and text.endswith("\\end{document}")
    assert text.count("\\begin{document}") == 1
    bare = re.sub(r"\\[\\#$%&_{}]", "", text)
    depth, maths_at, environments = 0, None, []
    for token in re.findall(r"\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\left\b|\\right\b|[{}$]|\n\n", bare):
        if token.startswith("\\begin"):
            environments.append(token[7:-1])
        elif token.startswith("\\end"):
            assert environments.pop() == token[5:-1]
        elif token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        elif token == "$":
            maths_at = depth if maths_at is None else None if maths_at == depth else pytest.fail("$ across a group")
        elif token == "\n\n":
            assert maths_at is None and not any("table" in name for name in environments)
        assert depth >= 0
    assert (depth, maths_at, environments) == (0, None, [])
    assert bare.count("\\left") == bare.count("\\right") + bare.count("\\leftarrow")
    # Outside mathematics there is no character that is allowed only in mathematics.
    plain = re.sub(r"\$[^$]*\$|\\\[.*?\\\]", "", bare, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)[\^~](?!\{)|(?<!\\)[_#%]", plain), plain
    for columns, body in re.findall(r"\\begin\{longtable\}(.*?)\n(.*?)\\end\{longtable\}", plain, flags=re.DOTALL):
        assert {line.count("&") for line in body.splitlines()} == {columns.count("linewidth") - 1}
    assert not re.search(r"\\begin\{(longtable|description)\}\s*\\end", text)


@pytest.mark.parametrize("name", IDS)
def test_conditions_of_every_theorem(name):
    assert_compiles(document(verify.conditions(name)))
    assert_compiles(document(verify.load_theorem(name)))


@pytest.mark.parametrize("name", ["wang2024.stationary_points", "wang2024.fcn_width", "ahn2023.lemma1"])
def test_a_check_and_a_derivation(name):
    theorem = verify.load_theorem(name)
    text = document(verify.check(theorem, theorem.example))
    assert_compiles(text)
    assert "\\subsection*{claims}" in text and "for all parameters: " in text and "\\subsection*{parameters}" in text
    if theorem.derivation is not None:
        assert_compiles(latex.document(derivation_page(theorem)))


def test_relations_are_formulas_in_every_form():
    result = verify.conditions("wang2024.theorem1", T=200, q=3, d=5, eta=1)
    formula = "\\eta \\leq \\frac{1}{20 d^{2}}"
    for said in (document(result), result._repr_markdown_(), result._repr_html_()):
        assert f"${formula}$" in said and "500 times the limit" in said


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here")
def test_latex_itself_takes_each_kind_of_page(tmp_path):
    theorem = verify.load_theorem("wang2024.lemma1")
    hostile = "α ≤ 50% of #1 & {a}_b^c \\d ~ “q” $x$ <é> \t中"
    odd = Table(
        hostile, (hostile, "formula"), ((hostile, Written("x", "\\begin{cases} 1 & x \\\\ 2 & y \\end{cases}")),)
    )
    pages = (
        document(verify.check(theorem, theorem.example)),
        document(theorem),
        latex.document(derivation_page(theorem)),
        latex.document(Page(hostile, (hostile,), (odd,), hostile)),
    )
    for number, page in enumerate(pages):
        (tmp_path / f"{number}.tex").write_text(page, encoding="ascii")
        options = ["-interaction=nonstopmode", "-halt-on-error"]
        run = subprocess.run(
            ["pdflatex", *options, f"{number}.tex"], cwd=tmp_path, capture_output=True, timeout=60, check=False
        )
        assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]


def test_malformed_documents_are_detected():
    good = "\\documentclass{article}\n\\begin{document}\n$x_{1}$\n\\end{document}"
    assert_compiles(good)
    for wrong in ("$x_{1$", "x_{1}", "$x", "\\begin{itemize}", "α", "\\textbf{100% of it}", "{$}$"):
        with pytest.raises((AssertionError, IndexError, pytest.fail.Exception)):
            assert_compiles(good.replace("$x_{1}$", wrong))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b & 100%", "a\\_b \\& 100\\%"),
        ("η ≤ 1/(20 d²)", "$\\eta$ $\\le$ 1/(20 d$^{2}$)"),
        ("x^2 ~ {1}", "x\\textasciicircum{}2 \\textasciitilde{} \\{1\\}"),
        ("Szegő, Cauchy–Schwarz", "Szeg\\H{o}, Cauchy--Schwarz"),
        ("é ç ½", "\\'{e} \\c{c} $\\frac{1}{2}$"),
        ("ΣΑ ℝ T′", "$\\Sigma$$\\mathrm{A}$ $\\mathbb{R}$ T$'$"),
    ],
)
def test_text_is_escaped(text, latex):
    assert escaped(text) == latex


def test_a_symbol_of_another_script_is_set_in_mathematics():
    assert ascii_maths(sp.latex(sp.Symbol("ω₁", real=True) + 1)).isascii()


@pytest.mark.parametrize("verb", ["conditions", "check"])
def test_the_command_line_writes_each_form(cli, verb):
    words = (verb, "wang2024.stationary_points", "T=9", "q=2", "d=1")
    written, markdown = (cli(*words, "--format", form) for form in ("latex", "markdown"))
    assert_compiles(written[1].rstrip("\n"))
    assert markdown[1].startswith("**wang2024.stationary\\_points ") and written[0] == markdown[0]
    assert cli(*words, "--format", "table")[1].startswith("wang2024.stationary_points  T=9")
    assert cli(*words, "--format", "json")[1][:40] == cli(*words, "--json")[1][:40]
    assert_one_line(cli(*words, "--format", "latex", "--json"), "--format = latex", "is short for --format json")
    assert_one_line(cli(*words, "--format", "text"), "--format = text", "table, json, markdown, latex")
