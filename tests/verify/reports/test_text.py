"""Results as text for people."""

from dataclasses import replace

import pytest
import sympy as sp

import verify
from verify import Hypothesis, Inequality, load_theorem
from verify.outcomes import Trust
from verify.reports.display.latex import document
from verify.reports.display.layout import stated_table
from verify.reports.display.pages import page_of
from verify.reports.display.short import headline
from verify.reports.text import check_text, conditions_text, with_error

x, y = sp.symbols("x y", real=True)


def test_conditions_show_each_hypothesis_the_ranges_and_the_scope(make_theorem):
    hypotheses = (
        Hypothesis("small", sp.Lt(x, 2)),
        Hypothesis("inverse", sp.Lt(1 / x, 9)),
        Hypothesis("sum", sp.Lt(x + y, 1)),
        Hypothesis("model", text="a model"),
    )
    theorem = make_theorem(Inequality("c", sp.Lt(x, 9)), names="x y", hypotheses=hypotheses)
    assert conditions_text(verify.conditions(theorem, x=0)).splitlines() == [
        "user.theorem  x=0",
        "parameters",
        "  x  0  x",
        "  y  -  y",
        "hypotheses                     slack",
        "  holds    small    x < 2      2",
        "  fails    inverse  1/x < 9    9 - 1/x: division by zero",
        "  needs    sum      x + y < 1  needs y",
        "  assumed  model    a model",
        "admissible, if inverse held:",
        "  y < 1",
        "out of scope",
    ]
    waiting = conditions_text(verify.conditions(theorem, x=1)).splitlines()
    assert waiting[-1] == "not decided yet" and "admissible:" in waiting
    assert conditions_text(verify.conditions(theorem, x=1, y=-1)).splitlines()[-1] == "in scope"


def test_a_check_ends_with_its_headline(make_theorem):
    theorem = make_theorem(
        Inequality("low", sp.Lt(x, 3)),
        Inequality("high", sp.Gt(x, 3), says="above three"),
        hypotheses=(Hypothesis("small", sp.Lt(x, 2)),),
        values={"double": 2 * x},
    )
    lines = check_text(verify.check(theorem, x=1)).splitlines()
    assert lines[:-1] == [
        "user.theorem  x=1",
        "parameters",
        "  x  1  x",
        "hypotheses             slack",
        "  holds  small  x < 2  1",
        "claims",
        "  verified (proved)  low: x < 3   margin 2",
        "      deduced, for all parameters",
        "  refuted (certified)  high: above three   margin -2",
        "      for all parameters: open",
        "      witness x=1",
        "values",
        "  double = 2",
    ]
    assert lines[-1].startswith("refuted (certified); for all parameters: open   0.") and lines[-1].endswith(
        " s, seed 0"
    )
    outside = " ".join(check_text(verify.check(theorem, x=2, seed=8)).split())
    assert " out of scope; the claim there: refuted (certified) 0." in outside and outside.endswith("seed 8")
    assert "for all parameters" not in outside


def test_a_check_says_what_each_part_of_it_trusts(make_theorem):
    theorem = make_theorem(Inequality("low", sp.Lt(x, 3)), values={"double": 2 * x, "treble": 3 * x})
    result = verify.check(theorem, x=1)
    of_clause, of_scope, of_value = (Trust(f"p.{name}", 1, "p", "0" * 64) for name in ("clause", "scope", "value"))
    clauses = tuple(replace(clause, trusts=(of_clause,)) for clause in result.clauses)
    lines = check_text(replace(result, clauses=clauses, value_trusts={"treble": (of_value,)}, scope_trusts=(of_scope,)))
    assert "  verified (certified, trusting p.clause/1)  low: x < 3   margin 2" in lines
    assert "\nre-checked, trusting p.value/1: treble\n" in lines
    assert "\nverified (certified, trusting p.clause/1, p.scope/1); for all" in lines
    assert "trusting" not in check_text(result)


def test_out_of_scope_reads_alike_in_every_form(make_theorem):
    theorem = make_theorem(Inequality("low", sp.Lt(x, 1)), hypotheses=(Hypothesis("small", sp.Lt(x, 2)),))
    for given, found in (
        (5, "out of scope; the claim there: refuted (certified)"),
        (1, "refuted (certified)"),
        (0, "verified (certified)"),
    ):
        result = verify.check(theorem, x=given)
        assert headline(result) == found
        # Out of scope a proof may not use the hypotheses, so nothing is said of all parameters.
        known = "" if given == 5 else "; for all parameters: open"
        assert ("| open |" in result._repr_markdown_()) == (given != 5)
        assert f" {found}{known} 0." in " ".join(check_text(result).split())
        assert repr(result) == f"<CheckResult user.theorem at x={given}: {found}{known.replace(' parameters', '')}>"
        assert page_of(result).headline == f"{found}{known}"
        assert f"\\textbf{{{found}{known}}}\n" in document(page_of(result))


def test_out_of_scope_an_open_claim_is_said_to_be_open_beside_a_proved_one(make_theorem):
    claims = (Inequality("low", sp.Lt(x, 1)), Inequality("square", sp.Ge(x**2 + 1, 2 * x)))
    theorem = make_theorem(*claims, hypotheses=(Hypothesis("small", sp.Lt(x, 2)),))
    text = check_text(verify.check(theorem, x=5))
    assert text.count("for all parameters in scope: open") == 2


def test_a_slack_is_one_number_in_every_form(make_theorem):
    hypotheses = (Hypothesis("small", sp.Lt(x, 1)),)
    theorem = make_theorem(Inequality("low", sp.Lt(x, 1)), hypotheses=hypotheses)
    result, said = verify.check(theorem, x="1/3000000000000000000001"), "about 0.9999999999"
    assert f"x < 1  {said}\n" in check_text(result) and f"& {said} " in document(page_of(result))
    assert "\nvalues after “about” are exact with --json\n" in check_text(result)
    assert "with --json" not in check_text(verify.check(theorem, x="1/3"))
    assert f"slack {said}" in repr(result.hypotheses[0]) and said in result._repr_html_()


def test_bits_and_enclosures_are_shown():
    text = check_text(verify.check(load_theorem("wang2024.theorem1"), T=9, q=2, d=1, eta="1/20", eps="3/500"))
    assert " ".join(text.split()).endswith(", 128 bits, seed 0")
    assert "margin " in text and " ± " in text and "steps_to_epsilon = " in text and "(certified)" in text


def test_a_table_of_hypotheses_keeps_to_the_width(make_theorem):
    hypotheses = (
        Hypothesis("rate", sp.Le(x, sp.Rational(1, 20))),
        Hypothesis("a_longer_label", sp.Lt(x, 30), "a hypothesis that " + "goes on and " * 6 + "ends"),
        Hypothesis("model", text="a model that " + "goes on and " * 12 + "ends"),
    )
    theorem = make_theorem(
        Inequality("c", sp.Lt(x, 9), says="a claim that " + "goes on and " * 12), hypotheses=hypotheses
    )
    result = verify.check(theorem, x=1)
    for width in (100, 70):
        lines = check_text(result, width).splitlines()
        assert max(map(len, lines)) <= width and lines[1:3] == ["parameters", "  x  1  x"]
        at = lines[3].index("slack")
        assert lines[3].startswith("hypotheses ") and lines[4].startswith("  fails    rate            x <= 1/20 ")
        assert lines[4][at:].startswith("-19/20, 20 times the") and lines[4][at - 2 : at] == "  "
        assert any(line[at:] == "29" for line in lines)
    lines = check_text(result).splitlines()
    assert lines[4].endswith("  -19/20, 20 times the limit")
    assert [line[27:] for line in lines if line.startswith(" " * 27)][-1].endswith("goes on and ends")
    assert str(result) == check_text(result)


def test_the_heading_above_short_notes_is_within_the_width():
    rows = list(stated_table("claims", "for all parameters", [("label", "many words " * 20, "open")], 60))
    assert rows[0].endswith("for all parameters") and max(map(len, rows)) <= 60


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (164, 3.1, "164.0 ± 3.1"),
        (0.078, 0.0044, "0.0780 ± 0.0044"),
        (0.34612, 0.024, "0.346 ± 0.024"),
        (2.5, 0.0996, "2.500 ± 0.100"),
        (123456.7, 2100, "123500 ± 2100"),
        (1.5e-12, 3e-13, "1.5e-12 ± 3e-13"),
        (0, 0.2, "0.00 ± 0.20"),
    ],
)
def test_a_value_has_as_many_digits_as_its_error(value, error, text):
    assert with_error(value, error) == text
