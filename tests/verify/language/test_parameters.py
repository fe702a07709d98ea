"""Parameters: exact values from text, refusals with name, value and requirement."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings, strategies as st

from verify.errors import InputError, TheoremError
from verify.language.parameters import LARGEST_EXPONENT, Parameter, parse_instance, read_assignments

T = Parameter("T", "integer", "number of tokens", minimum=2)
ETA = Parameter("eta", "rational", "step size", above=0)
ANY = Parameter("x", "rational", "a number")
WORD = Parameter("attend", "word", "what is attended to", words=("tokens", "tokens_and_query"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", Fraction(3)),
        ("-3", Fraction(-3)),
        ("+3", Fraction(3)),
        ("0.25", Fraction(1, 4)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1e-3", Fraction(1, 1000)),
        ("1E+2", Fraction(100)),
        ("-2.5e-1", Fraction(-1, 4)),
        ("1/500", Fraction(1, 500)),
        (" 6 / 4 ", Fraction(3, 2)),
        ("-1/3", Fraction(-1, 3)),
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        (1e-05, Fraction(1, 100000)),
        (7, Fraction(7)),
        (Fraction(2, 6), Fraction(1, 3)),
        (sp.Rational(2, 3), Fraction(2, 3)),
    ],
)
def test_a_number_is_read_exactly(text, value):
    assert ANY.parse(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "abc", "", "  ", "nan", "inf", "-inf", "Infinity", "1/0", "1/-3", "1/2/3", "0x10", "1_000", "1e", "e5", "1 2",
        "--3", "1,2", "٣", "½", "True", "__import__('os')", "1e401", "1e-401", "1e999999999999", "9" * 801,
        "1/" + "9" * 801, "1e" + "9" * 700, True, None, float("nan"), float("inf"), 1j, [1],
    ],
)  # fmt: skip
def test_a_value_that_is_no_number_is_refused(text):
    with pytest.raises(InputError) as refused:
        ANY.parse(text)
    assert refused.value.name == "x"
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200


def test_a_numpy_float_is_its_shortest_decimal_like_a_float():
    assert ANY.parse(np.float64(0.1)) == Fraction(1, 10)


@given(st.fractions())
def test_a_written_fraction_comes_back(value):
    assert ANY.parse(f"{value.numerator}/{value.denominator}") == value


@given(st.integers(-(10**30), 10**30), st.integers(-LARGEST_EXPONENT, LARGEST_EXPONENT))
def test_a_written_decimal_is_digits_times_a_power_of_ten(digits, exponent):
    assert ANY.parse(f"{digits}e{exponent}") == digits * Fraction(10) ** exponent


@settings(max_examples=50)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_decimal_that_python_prints(value):
    parsed = ANY.parse(value)
    assert float(parsed) == value
    assert parsed.denominator == 1 or 10**LARGEST_EXPONENT % parsed.denominator == 0


@pytest.mark.parametrize(("value", "exact"), [("2", 2), ("2.0", 2), ("4/2", 2), ("1e18", 10**18), (10**18, 10**18)])
def test_an_integer_is_an_int(value, exact):
    parsed = T.parse(value)
    assert parsed == exact and type(parsed) is int


@pytest.mark.parametrize("value", ["2.5", "1/2", "1", "-3", "0", 10**18 + 1, "10000000000000000000", "1e999999"])
def test_an_integer_outside_its_domain_is_refused(value):
    with pytest.raises(InputError, match=r"T = .*: (must be an integer >= 2|integers are limited to 10\^18 in size)"):
        T.parse(value)


@pytest.mark.parametrize("value", [10**5000, Fraction(1, 10**1200), [1, 10**5000]], ids=type)
def test_a_number_of_code_may_be_as_long_as_one_that_is_typed(value):
    parameter = LIST if isinstance(value, list) else ETA
    with pytest.raises(InputError, match="= a number: must have at most 1200 digits"):
        parameter.parse(value)
    assert ETA.parse(10**1199) == 10**1199 and T.parse(10**18) == 10**18


def test_the_bounds_are_excluded_and_included_as_declared():
    assert ETA.parse("1e-400") == Fraction(1, 10**400)
    for value in ("0", "-1/2"):
        with pytest.raises(InputError, match=r"must be a number .* > 0"):
            ETA.parse(value)
    with_minimum = Parameter("s", "rational", "", minimum=Fraction(1, 2))
    assert with_minimum.parse("1/2") == Fraction(1, 2)
    with pytest.raises(InputError, match=">= 1/2"):
        with_minimum.parse("0.4999")


def test_a_word_is_one_of_the_enumerated_ones():
    assert WORD.parse("tokens_and_query") == "tokens_and_query"
    for value in ("query", "Tokens", "", 1):
        with pytest.raises(InputError, match="must be one of tokens, tokens_and_query"):
            WORD.parse(value)


def test_a_long_value_is_shortened_in_the_message():
    with pytest.raises(InputError) as refused:
        ANY.parse("z" * 700)
    assert "700 characters" in str(refused.value) and len(str(refused.value)) < 150


def test_assignments_are_split_at_the_first_equals_sign():
    assert read_assignments(["T=9", " q = 2", "note=a=b"]) == {"T": "9", "q": " 2", "note": "a=b"}
    assert read_assignments([]) == {}


@pytest.mark.parametrize(
    ("words", "why"),
    [(["T"], "name=value"), (["=3"], "name=value"), ([" =3"], "name=value"), (["T=9", "T=9"], "given twice")],
)
def test_a_word_that_is_no_assignment_is_refused(words, why):
    with pytest.raises(InputError, match=why):
        read_assignments(words)


def test_an_instance_follows_the_order_of_the_parameters():
    instance = parse_instance((T, ETA), {"eta": "1/4", "T": "9"}, partial=False)
    assert list(instance.items()) == [("T", 9), ("eta", Fraction(1, 4))]
    assert parse_instance((T, ETA), {"eta": 1}, partial=True) == {"eta": 1}


def test_missing_and_unknown_parameters_are_named():
    with pytest.raises(InputError, match=r"eta: missing; the parameters are T, eta"):
        parse_instance((T, ETA), {"T": 9}, partial=False)
    for partial in (False, True):
        with pytest.raises(InputError, match=r"depth = 3: is not a parameter .* T, eta"):
            parse_instance((T, ETA), {"T": 9, "eta": 1, "depth": 3}, partial=partial)


def test_the_lower_end_is_included_or_excluded_or_none():
    ends = [Parameter("x", "real", "", **given).lower for given in ({"minimum": 0}, {"above": Fraction(1, 2)}, {})]
    assert ends == [0, Fraction(1, 2), None]


def test_a_domain_has_an_upper_end():
    closed, opened = (Parameter("p", "real", "", minimum=0, **{end: 1}) for end in ("maximum", "below"))
    assert (closed.kind, closed.domain, opened.domain) == ("rational", "number >= 0 and <= 1", "number >= 0 and < 1")
    assert closed.parse(1) == 1 and Fraction(9, 10) in opened and 1 not in opened and Fraction(11, 10) not in closed
    with pytest.raises(InputError, match=r"p = 1: must be a number .* >= 0 and < 1"):
        opened.parse("1")
    assert Parameter("p", "integer", "", above=0, below=2).parse(1) == 1
    point = Parameter("p", "integer", "", minimum=1, maximum=1)
    assert point.parse(1) == 1


@pytest.mark.parametrize(
    ("kind", "ends", "why"),
    [
        ("real", {"minimum": 1, "maximum": 0}, "no value is >= 1 and <= 0"),
        ("real", {"minimum": 1, "below": 1}, "no value is >= 1 and < 1"),
        ("real", {"above": 1, "maximum": 1}, "no value is > 1 and <= 1"),
        ("integer", {"maximum": 2, "below": 2}, "has maximum and below; give one of them"),
        ("integer", {"minimum": 2, "above": 2}, "has minimum and above; give one of them"),
        ("rationals", {"maximum": 2}, "only a number has an upper end"),
        ("integer", {"above": 0, "below": 1}, "no value is > 0 and < 1"),
        ("integer", {"minimum": Fraction(1, 3), "maximum": Fraction(2, 3)}, "no value is >= 1/3 and <= 2/3"),
        ("integer", {"minimum": Fraction(1, 2), "below": 1}, "no value is >= 1/2 and < 1"),
        ("real", {"maximum": "1/2"}, "maximum = '1/2' is a str; write an int or a Fraction"),
        ("real", {"minimum": True}, "minimum = True is a bool; write an int or a Fraction"),
        ("real", {"below": float("inf")}, "below = inf is a float; write an int or a Fraction"),
        ("complex", {}, "'complex' is not a kind; it is one of integer, rational, real, rationals, word"),
    ],
)
def test_ends_that_are_no_domain_are_refused(kind, ends, why):
    with pytest.raises(TheoremError, match=f"parameter p: {why}"):
        Parameter("p", kind, "", **ends)


LIST = Parameter("values", "rationals", "some numbers", above=0)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,1/4,0.5", (1, Fraction(1, 4), Fraction(1, 2))),
        ("3", (3,)),
        (" 1 , 2 ", (1, 2)),
        ([1, "1/3"], (1, Fraction(1, 3))),
        (Fraction(2), (2,)),
    ],
    ids=str,
)
def test_a_list_is_read_exactly_and_in_order(text, numbers):
    assert LIST.parse(text) == numbers
    assert text in LIST


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ([], "is empty"),
        ("1,,2", "entry 2 is empty"),
        ("1,", "entry 2 is empty"),
        ("1,0", "each > 0"),
        ("1,-2", "each > 0"),
        ("1;2", "numbers separated by commas"),
        ("1,x", "numbers separated by commas"),
        ("1,1/0", "the denominator is zero"),
        (",".join("1" * 1001), "limited to 1000 entries"),
        (True, "numbers separated by commas"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_value_that_is_no_list_is_refused_in_one_line(text, message):
    with pytest.raises(InputError, match=message):
        LIST.parse(text)
