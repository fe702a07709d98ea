"""The `.v` files of a package: their sentences, the files that each file needs, and their digest."""

import pytest

from verify.checking.formal.sources import Sources, sentences


@pytest.fixture
def sources(tmp_path):
    """A package with two folders of `.v` files: `tokens/claims.v` needs `tokens/definitions.v` and `sums/all.v`."""
    for name, text in {
        "tokens/definitions.v": "From Sums Require Export all.\nDefinition x := 1.",
        "tokens/claims.v": "Require Import Reals.\nFrom Tokens Require Import definitions.\nDefinition y := x.",
        "tokens/apart.v": "(* From Tokens Require Import claims. *)",
        "sums/all.v": "Definition two := 2.",
        "other/text.txt": "It is no file of Rocq.",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Sources(tmp_path)


def test_comments_end_no_sentence_and_a_string_begins_no_comment():
    text = 'Definition a := 1. (* one. (* two. *) three. *) Definition b := "(*. ".\n Definition c :=\n  2.5.'
    assert sentences(text) == ("Definition a := 1", 'Definition b := "(*. "', "Definition c := 2.5")


def test_a_file_needs_those_that_it_requires(sources):
    assert sources.roots == {"Tokens": "tokens", "Sums": "sums"}
    assert list(sources.needs("Tokens.claims")) == ["Tokens.definitions"]
    assert sources.closure(["Tokens.claims"]) == ["Sums.all", "Tokens.definitions", "Tokens.claims"]
    assert sources.closure(["Tokens.apart"]) == ["Tokens.apart"]
    with pytest.raises(KeyError):
        sources.closure(["Tokens.none"])


def test_the_digest_is_of_all_that_is_needed_and_of_nothing_else(sources, tmp_path):
    before = sources.digest(["Tokens.claims"])
    (tmp_path / "tokens/apart.v").write_text("Definition z := 3.", encoding="utf-8")
    assert Sources(tmp_path).digest(["Tokens.claims"]) == before
    (tmp_path / "sums/all.v").write_text("Definition two := 3.", encoding="utf-8")
    assert Sources(tmp_path).digest(["Tokens.claims"]) != before
