"""No label and no text of a statement ends a comment or hides a name of a Rocq file."""

import pytest

from verify.formal.names import KEYWORDS, PRINTED, Names, comment


@pytest.mark.parametrize("text", ["*) Axiom bad : False. (*", '" *) Axiom bad : False.', "(* (* open", "line\nbreak", "η"])
def test_a_text_cannot_end_its_comment(text):
    inside = comment(text).removeprefix("(* ").removesuffix(" *)")
    assert not set(inside) & set('*()"\n') and inside.isascii() == ("·" not in inside)


def test_a_plain_text_stays_readable():
    assert comment("L_t <= eps, q in {1, 2}") == "(* L_t <= eps, q in {1, 2} *)"


@pytest.mark.parametrize("name", [*KEYWORDS, *PRINTED, "η", "a b", "1x", "_", "x'"])
def test_a_name_is_an_identifier_that_is_not_taken(name):
    given = Names().of(name)
    assert given.isascii() and given.isidentifier() and given[0].isalpha() and given not in (*KEYWORDS, *PRINTED)


def test_two_names_never_share_an_identifier():
    names = Names()
    given = [names.of(name) for name in ("η", "u3b7_", "exp", "exp_", "a b", "au20_b")]
    assert len(set(given)) == len(given) and [names.of("η"), names.of("exp")] == [given[0], given[2]]
