"""The check finds the sentences without a subject in docstrings, comments, strings and pages, and no others."""

import pytest

from tests import sentences

PLACES = ("verify/reports/**/*.py", "tests/benchmarks/page.py")
"""The files that write headings with the form of questions."""

MODULE = '''"""What a module is."""

# Where it is odd, it is refused.
said = "what is inside is fine. What begins is not."
'''
PAGE = """# What a heading asks

Good: a subject first. What follows
is bad.

| What | a cell |
"""


LISTS = """The rules are:

- What is checked is named.
- Good. *Whatever* is not.
    1. (Where it is odd, it is refused.)
2) **Whoever** reads.
- - -

```
What a program prints is no sentence.

What it prints after an empty line is none either.
```
# A heading
What follows it at once is a sentence.

Bold.** What comes next** is one too. Fine: *what* is inside.
"""
HEADINGS = '''"""The report.

- Whatever is shown.
- Which is fine inside a list.
"""

title = "What rests on what"
said = "The section: What rests on what. What rests on what is shown."
other = "What it reports: a table. What it reports is a table."
'''
RESULTS = '''"""How many a module has. Where some are left, that is fine."""


def f():
    """Return what it is."""
    # Yield where it ends.
    return "How many there are: no docstring."


END = 1
"""Where descent ends."""
'''


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.py", MODULE, [1, 4, 3]),
        ("a.md", PAGE, [3]),
        ("b.py", "x = 'What'\n", []),
        ("lists.md", LISTS, [3, 4, 5, 6, 15, 17]),
        ("headings.py", HEADINGS, [1, 8, 9]),
        ("c.py", RESULTS, [1, 11, 5, 6]),
        ("rechecked/c.py", RESULTS, []),
    ],
)
def test_sentences_without_a_subject_are_found(tmp_path, name, text, lines):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert [line for line, _ in sentences.sentences(path)] == lines


def test_a_heading_of_the_list_stands_in_the_repository():
    texts = [path.read_text(encoding="utf-8") for name in PLACES for path in sorted(sentences.ROOT.glob(name))]
    assert [heading for heading in sentences.HEADINGS if not any(heading in text for text in texts)] == []


def test_more_than_a_ceiling_is_refused_with_the_places(monkeypatch, capsys):
    monkeypatch.setattr(sentences, "found", lambda: {"verify": ["a.py:1: What it is"], "tests": []})
    monkeypatch.setattr(sentences, "CEILINGS", {"verify": 0, "tests": 1})
    assert sentences.main() == 1
    out = capsys.readouterr().out
    assert "a.py:1: What it is" in out and "verify: 1, at most 0; name the subject first" in out and "tests:" not in out
    monkeypatch.setattr(sentences, "CEILINGS", {"verify": 1, "tests": 1})
    assert sentences.main() == 0 and capsys.readouterr().out == ""
