"""Statements for LaTeX manuscripts: the files, a manuscript's links to them, and what is refused."""

import re
import shutil
import subprocess

import pytest

import verify
from tests.verify.reports.display.test_latex import assert_compiles
from verify import InputError
from verify.reports.formats.manuscripts import STYLE

PAPER = r"""\documentclass{article}
\usepackage{lemmascope}
LOAD
\begin{document}
See \lemmascope{wang2024.one_hot_rate} and \lemmascope{none.such}.
\input{wang2024.one_hot_rate.tex}
\end{document}
"""


def wrapped(text):
    """Return a document with a text, without its comments and without the id, which TeX uses only as a name."""
    bare = re.sub(r"(?<!\\)%.*\n|\\lemmascopestatement\{[^}]*\}", "", text)
    return f"\\documentclass{{article}}\n\\begin{{document}}\n{bare}\n\\end{{document}}"


@pytest.mark.parametrize("name", ["wang2024.one_hot_rate", "wang2024.theorem1", "ahn2023.lemma3"])
def test_the_statement_stands_with_what_establishes_it(name, tmp_path):
    result = verify.export(name, to="latex", out=tmp_path / "made")
    text = (tmp_path / "made" / f"{name}.tex").read_text(encoding="ascii")
    assert_compiles(wrapped(text))
    shown = verify.show(name)
    assert text.startswith(f"% lemmascope, for LaTeX: {name}, statement {shown.theorem.statement.digest}\n")
    assert f"\\lemmascopestatement{{{name}}}{{formal (statement" in text and "\\subsection*{claims}" in text
    assert text.count("in prose: ") == len(shown.prose) > 0
    assert result.for_all_parameters == "formal" and sorted(result.files) == sorted([f"{name}.tex", STYLE])


@pytest.mark.parametrize(
    ("line", "standing", "text"),
    [
        ("x**2 + 1 >= 2*x", "proved", "proved"),
        ("sin(x**2 + y) <= exp(cos(y) - x) + 1/2 for 0 <= x <= 1", "open", "open"),
        ("x >= 3 for x >= 2", "open", "refuted at x=2"),
    ],
)
def test_the_standing_of_a_new_statement_is_found(line, standing, text, tmp_path):
    result = verify.export(line, to="latex", out=tmp_path, seconds=5)
    assert result.for_all_parameters == standing
    assert f"\\lemmascopestatement{{{result.theorem}}}{{{text}}}%" in result.files[f"{result.theorem}.tex"]


def test_other_files_are_not_overwritten(tmp_path):
    for _ in range(2):
        verify.export("wang2024.one_hot_rate", to="latex", out=tmp_path)
    (tmp_path / STYLE).write_text("my own style", encoding="utf-8")
    with pytest.raises(InputError, match="exists and is not an export of a statement; not overwritten"):
        verify.export("wang2024.one_hot_rate", to="latex", out=tmp_path)
    assert (tmp_path / STYLE).read_text(encoding="utf-8") == "my own style"


def test_another_target_is_refused(tmp_path):
    with pytest.raises(InputError, match="--to = word: must be rocq or latex"):
        verify.export("wang2024.one_hot_rate", to="word", out=tmp_path)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here")
@pytest.mark.parametrize("load", ["", r"\usepackage{hyperref}"])
def test_a_manuscript_links_to_the_statement_and_names_its_standing(load, tmp_path):
    verify.export("wang2024.one_hot_rate", to="latex", out=tmp_path)
    (tmp_path / "paper.tex").write_text(PAPER.replace("LOAD", load), encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    logs = []
    for _ in range(2):
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
        assert run.returncode == 0, run.stdout.decode(errors="replace")[-2000:]
        logs.append(re.sub(r"\n", "", run.stdout.decode(errors="replace")))
    assert "the statement wang2024.one_hot_rate is not in this document" in logs[0]
    # TeX warns about a link to a statement that the document does not contain, and about no other link.
    assert "wang2024.one_hot_rate is not" not in logs[1] and "the statement none.such is not" in logs[1]
