"""Markdown: tables with as many cells a row as their head, and nothing in a cell that is taken for Markdown."""

import re

import pytest

import verify
from verify.reports.formats.markdown import check_markdown, conditions_markdown, plain


def cells(line):
    return len(re.findall(r"(?<!\\)\|", line)) - 1


def assert_tables(text):
    head = 0
    for line in text.splitlines():
        if line.startswith("|"):
            head = head or cells(line)
            assert cells(line) == head, line
        else:
            head = 0


@pytest.mark.parametrize("name", ["wang2024.theorem1", "ahn2023.theorem3", "wang2024.fcn_width"])
def test_conditions_and_checks(name):
    theorem = verify.load_theorem(name)
    assert_tables(conditions_markdown(verify.conditions(theorem, {})))
    text = check_markdown(verify.check(theorem, theorem.example))
    assert_tables(text)
    assert "## Claims" in text and text.splitlines()[-1].startswith("**")


def test_conditions_have_what_is_known_beyond():
    text = conditions_markdown(verify.conditions("wang2024.theorem1", T=200, q=3, d=5, eta=1))
    assert "## Beyond the hypotheses" in text and "- step\\_size: eta \\<= 1/500" in text
    assert text.endswith("Out of scope.")


def test_what_would_be_markdown_is_plain():
    assert plain("a|b *c* <d>\n_e_") == "a\\|b \\*c\\* \\<d\\> \\_e\\_"
    with pytest.raises(AssertionError):
        assert_tables("| a | b |\n| 1 |")
