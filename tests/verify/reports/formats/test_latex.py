"""LaTeX documents: each that the library's theorems give is in ASCII and balanced, whatever is in the texts."""

import re

import pytest

import verify
from tests.verify.command_line import assert_one_line
from verify.reports.formats.latex import check_latex, conditions_latex, derivation_latex, escaped, maths

IDS = verify.theorem_ids()


def assert_compiles(text):
    """Hold a document to what every engine asks: ASCII, one body, groups, environments and mathematics closed."""
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
            assert maths_at is None and not any("align" in name for name in environments)
        assert depth >= 0
    assert (depth, maths_at, environments) == (0, None, [])
    assert bare.count("\\left") == bare.count("\\right") + bare.count("\\leftarrow")
    # Outside of mathematics nothing is left that asks for it.
    plain = re.sub(r"\$[^$]*\$|\\\[.*?\\\]|\\begin\{align\*\}.*?\\end\{align\*\}", "", bare, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)[\^~](?!\{)|(?<!\\)[_&#%]", plain), plain
    assert not re.search(r"\\item\s*\\end|\\begin\{(itemize|enumerate)\}\s*\\end", text)


@pytest.mark.parametrize("name", IDS)
def test_conditions_of_every_theorem(name):
    theorem = verify.load_theorem(name)
    assert_compiles(conditions_latex(theorem, verify.conditions(theorem, {})))


@pytest.mark.parametrize("name", ["wang2024.stationary_points", "wang2024.fcn_width", "ahn2023.lemma1"])
def test_a_check_and_a_derivation(name):
    theorem = verify.load_theorem(name)
    text = check_latex(theorem, verify.check(theorem, theorem.example))
    assert_compiles(text)
    assert "\\section*{Claims}" in text and "for all parameters: " in text
    if theorem.derivation is not None:
        assert_compiles("\n".join(derivation_latex(theorem)))


def test_what_is_not_closed_would_be_seen():
    good = "\\documentclass{article}\n\\begin{document}\n$x_{1}$\n\\end{document}"
    assert_compiles(good)
    for wrong in ("$x_{1$", "x_{1}", "$x", "\\begin{itemize}", "α", "\\item 100% of it", "{$}$"):
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
    import sympy as sp

    assert maths(sp.Symbol("ω₁", real=True) + 1).isascii()


@pytest.mark.parametrize("verb", ["conditions", "check"])
def test_the_command_line_writes_each_form(cli, verb):
    words = (verb, "wang2024.stationary_points", "T=9", "q=2", "d=1")
    latex, markdown = (cli(*words, "--format", form) for form in ("latex", "markdown"))
    assert_compiles(latex[1].rstrip("\n"))
    assert markdown[1].startswith("**wang2024.stationary\\_points ") and latex[0] == markdown[0]
    assert cli(*words, "--format", "json")[1][:40] == cli(*words, "--json")[1][:40]
    assert_one_line(cli(*words, "--format", "latex", "--json"), "--format = latex", "is --format json")
    assert_one_line(cli(*words, "--format", "table"), "--format = table", "text, json, markdown, latex")
