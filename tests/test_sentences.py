"""The check of sentences finds those without a subject, in docstrings, comments, strings and pages, and no others."""

import pytest

from tests import sentences

MODULE = '''"""What a module is."""

# Where it is odd, it is refused.
said = "what is inside is fine. What begins is not."
'''
PAGE = """# What a heading asks

Good: a subject first. What follows
is bad.

| What | a cell |
"""


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
        ("c.py", RESULTS, [1, 11, 5, 6]),
        ("rechecked/c.py", RESULTS, []),
    ],
)
def test_sentences_without_a_subject_are_found(tmp_path, name, text, lines):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert [line for line, _ in sentences.sentences(path)] == lines


def test_more_than_a_ceiling_is_refused_with_the_places(monkeypatch, capsys):
    monkeypatch.setattr(sentences, "found", lambda: {"verify": ["a.py:1: What it is"], "tests": []})
    monkeypatch.setattr(sentences, "CEILINGS", {"verify": 0, "tests": 1})
    assert sentences.main() == 1
    out = capsys.readouterr().out
    assert "a.py:1: What it is" in out and "verify: 1, at most 0; name the subject first" in out and "tests:" not in out
    monkeypatch.setattr(sentences, "CEILINGS", {"verify": 1, "tests": 1})
    assert sentences.main() == 0 and capsys.readouterr().out == ""
