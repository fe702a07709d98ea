"""Length generalisation at instances: defaults, bad input, and the loss at another length by sums over all signs."""

from fractions import Fraction

import pytest

import verify
from tests.theorems.sparse_token_selection.test_sign_attention import means
from theorems.sparse_token_selection.gain_primitives import selected_attention, squared_attention
from verify import InputError, Outcome, load_theorem

THEOREM = load_theorem("wang2024.length_generalization")
SIZES = {"T": 40, "T_test": 77, "q": 3, "q_test": 3, "d": 5, "d_e": 100}


@pytest.mark.parametrize("attend", ["tokens", pytest.param("tokens_and_query", marks=pytest.mark.audit)])
@pytest.mark.parametrize(
    ("T_test", "q_test"), [*(pytest.param(*sizes, marks=pytest.mark.audit) for sizes in ((5, 3), (4, 2))), (5, 4)]
)
def test_the_loss_of_a_layer_that_is_given(T_test, q_test, attend):
    d, D, C, alpha = 2, 3, Fraction(3, 2), Fraction(5, 4)
    result = verify.check(THEOREM, T=4, T_test=T_test, q=3, q_test=q_test, d=d, d_e=D, C=C, alpha=alpha, attend=attend)
    P, R = means(T_test, q_test, D, attend == "tokens_and_query", float(C))
    exact = d / 2 * (float(alpha) ** 2 * R - 2 * float(alpha) * P / q_test + 1 / q_test)
    found = result.values["loss_at_test_length"]
    # The sums have at most 2^15 terms in float64.
    assert float(found.lower) - 1e-12 <= exact <= float(found.upper) + 1e-12
    share = result.values["share_of_answering_nothing"]
    assert float(share.midpoint) == pytest.approx(float(found.midpoint) * 2 * q_test / d)


def test_the_layer_is_the_floors_minimiser_where_none_is_given():
    result = verify.check(THEOREM, **SIZES)
    floor = verify.check(load_theorem("wang2024.theorem2"), T=40, q=3, d=5, d_e=100, eps=1).values
    assert (result.instance["alpha"], result.instance["C"]) == (floor["alpha"], floor["C"])
    assert result.outcome is Outcome.VERIFIED
    assert result.values["loss_at_training_length"].upper <= Fraction(102, 100) * floor["loss_floor"].upper


def test_more_than_twice_as_many_others_are_out_of_scope():
    result = verify.check(THEOREM, **SIZES | {"T_test": 78})
    assert [h.label for h in result.hypotheses if not h.holds] == ["range"]


def test_other_subset_sizes_are_out_of_scope_and_their_loss_is_told():
    result = verify.check(THEOREM, **SIZES | {"q_test": 4, "T_test": 40})
    assert [h.label for h in result.hypotheses if not h.holds] == ["same_subsets"]
    assert result.values["loss_at_test_length"].lower > 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"q_test": 78}, "q_test = 78.*must satisfy q_test <= T_test"),
        ({"q": 41}, "q = 41.*must satisfy q <= T"),
        ({"d_e": 0}, "d_e = 0.*integer >= 1"),
        ({"attend": "query"}, "attend = query.*one of"),
        # With two selected tokens, and without attention to the query token, the least loss is not attained.
        ({"q": 2, "q_test": 2}, "C.*no default here: the least loss is not attained"),
    ],
)
def test_bad_input_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        verify.check(THEOREM, **SIZES | wrong)


def test_the_shares_at_a_long_sequence():
    """Compare the loss of the floor's minimiser with 2L + d/(7q), at two and four times as many other tokens.

    L is its loss at T tokens. All numbers are in units of d/(2q).
    """
    T, q, D, C, alpha = 20000, 4, 932, Fraction(833, 128), Fraction("7.629431")
    shares = []
    for length in (T, 2 * T - q, 4 * T - 3 * q):
        P, R = (
            f.evaluate(*map(Fraction, (length, q, D, C, 0))).midpoint for f in (selected_attention, squared_attention)
        )
        shares.append(q * alpha**2 * R - 2 * alpha * P + 1)
    bound = 2 * shares[0] + Fraction(2, 7)
    assert shares[0] < Fraction(1, 8) and Fraction("0.3193") < shares[1] < Fraction("0.3194") < bound < shares[2]
