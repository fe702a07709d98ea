"""No label and no text of a statement ends a comment or hides a name of a Rocq file."""

import pytest

from verify.formal.names import KEYWORDS, PRINTED, Names, comment


@pytest.mark.parametrize(
    "text", ["*) Axiom bad : False. (*", '" *) Axiom bad : False.', "(* (* open", "line\nbreak", "η"]
)
def test_a_text_cannot_end_its_comment(text):
    inside = comment(text).removeprefix("(* ").removesuffix(" *)")
    assert not set(inside) & set('*()"\n') and inside.isascii() == ("·" not in inside)


def test_a_plain_text_stays_readable():
    assert comment("L_t <= eps, q in {1, 2}") == "(* L_t <= eps, q in {1, 2} *)"


@pytest.mark.parametrize("name", [*KEYWORDS, *PRINTED, "η", "a b", "1x", "_", "x'"])
def test_a_name_is_an_identifier_that_is_not_taken(name):
    given = Names().of(name)
    assert given.isascii() and given.isidentifier() and given[0].isalpha() and given not in (*KEYWORDS, *PRINTED)


@pytest.mark.parametrize("name", ["E", "F_0", "s_0", "k_1", "around", "real_T"])
def test_a_symbol_does_not_take_the_name_of_a_fact_of_a_proof(name):
    assert Names().of(name) == f"v_{name}" and Names().of(name, "claim_") == f"claim_{name}"


def test_two_names_never_share_an_identifier():
    names = Names()
    given = [names.of(name) for name in ("η", "u3b7_", "exp", "exp_", "a b", "au20_b")]
    assert len(set(given)) == len(given) and [names.of("η"), names.of("exp")] == [given[0], given[2]]
