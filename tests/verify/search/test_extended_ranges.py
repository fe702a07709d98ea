"""Ranges of claims beyond a hypothesis: theorems with ranges known by hand, and wrong ranges that are refused."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
import sympy as sp

import verify
from tests.verify.command_line import assert_one_line, body_of
from tests.verify.examples import example_of
from verify import Hypothesis, Inequality, Inference, InputError, Parameter, Source, Statement, Theorem, TheoremError
from verify.errors import UndecidedError
from verify.outcomes import Established, ForAll
from verify.rechecker import recheck_text
from verify.search import extended_ranges as module, thresholds
from verify.search.extended_ranges import shown_ranges
from verify.search.results import ExtendedRange

# The limit on the work ends each search, even on a slow machine.
extended_ranges = partial(module.extended_ranges, seconds=600)

x, y = sp.symbols("x y", positive=True)
n = sp.Symbol("n", integer=True, positive=True)
X, Y = (Parameter(name, "rational", "a size", above=0) for name in "xy")
TALL = Parameter("y", "rational", "a size", minimum=5)
N = Parameter("n", "integer", "a number", minimum=1)
SQUARE = Inequality("square", sp.Le(x**2, 9 * y, evaluate=False))
TIDY = Hypothesis("tidy", text="all is tidy")
SOURCE = Source("1", "derived here")


def theorem(*hypotheses, clause=SQUARE, parameters=(X, Y), id_="user.small", **more):
    example = example_of(parameters)
    return Theorem(id_, "t", SOURCE, Statement(parameters, (clause,), hypotheses), example, **more)


def extension(*uses, label="square"):
    return Inference(label, "the claim is the same", ("user.large:square", *uses), "application")


SMALL = Hypothesis("small", sp.Le(x, y / 100))
LARGE = theorem(Hypothesis("larger", sp.Le(x, 2 * y)), Hypothesis("bounded", sp.Le(y, 4)), TIDY, id_="user.large")


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    """Make the other theorem known, with its standing."""
    monkeypatch.setattr(module, "load_theorem", lambda name: {"user.large": LARGE}[name])
    established = Established(ForAll.ARGUED, frozenset({"user.large:a", "user.small:extension:square"}))
    monkeypatch.setattr(module, "established_by_extension", lambda *_: established)


def test_shown_by_another_and_refuted_further_out():
    made = theorem(SMALL, TIDY, extensions=(extension("tidy"),))
    (found,) = extended_ranges(made, {"y": 1}).extended_ranges
    assert (found.parameter, found.relation, found.end) == ("x", "<=", Fraction(1, 100))
    assert (found.shown_to, found.by, found.established.standing) == (2, ("user.large",), ForAll.ARGUED)
    # x² <= 9 y holds up to 3.
    assert found.clause == "square" and 3 < found.violated < Fraction(304, 100) and found.verified_at == ()
    assert repr(found) == f"<ExtendedRange {found.text()}>" and str(found) == found.text()
    text = found.text()
    assert text.startswith(
        "small: x <= 1/100; holds up to 2 (200 times), argued by user.large (1 own + 1 inherited inference); square "
    )
    assert text.endswith(" times), certified; the range between these values is open")
    accepted = recheck_text(json.dumps(found.certificate).encode())
    assert accepted.in_scope and [row[:2] for row in accepted.clauses] == [("square", "refuted")]


def test_values_certified_before_the_violation_are_listed():
    (found,) = extended_ranges(theorem(SMALL), {"y": 1}).extended_ranges
    assert found.established is None and found.verified_at[:2] == (Fraction(1, 50), Fraction(1, 25))
    assert "nothing is proved beyond it; all claims certified at " in found.text()
    last, nearer = found.verified_at[-1], len(found.verified_at) - 3
    assert f", {last} ({float(100 * last):.0f} times) and {nearer} nearer values; square refuted at " in found.text()
    assert found.text().endswith("certified; the range between these values is open")


def test_the_given_value_is_told_and_tried():
    made = theorem(SMALL, TIDY, extensions=(extension("tidy"),))
    (found,) = extended_ranges(made, {"x": 1, "y": 1}).extended_ranges
    assert found.given == 1 and found.text().startswith("small: x <= 1/100, given 1 (100 times); ")
    (found,) = extended_ranges(theorem(SMALL), {"x": 7, "y": 4}).extended_ranges
    assert Fraction(7) not in found.verified_at and found.violated <= 7


@pytest.mark.parametrize(
    ("given", "uses", "other", "why"),
    [
        # The other theorem's own hypotheses are evaluated at the instance, and not assumed.
        ({"y": 5}, ("tidy",), LARGE, "user.large needs bounded, which does not hold here"),
        ({"y": 1}, (), LARGE, "user.large supposes tidy, which is not supposed here"),
        ({"y": 1}, ("tidy", "small"), LARGE, ""),
        ({"y": 1}, ("tidy", "far"), LARGE, "user.large needs far, which does not hold here"),
        ({"y": 1}, ("tidy",), theorem(TIDY, parameters=(X, Y, N)), "user.large: this theorem has no parameter n"),
        ({"y": 3}, ("tidy",), theorem(TIDY, parameters=(X, TALL)), "user.large: y is outside its domain"),
        ({"y": 1}, ("tidy",), theorem(replace(TIDY, text="other")), "user.large supposes tidy, which is not"),
    ],
)
def test_hypotheses_of_the_other_theorem_have_to_hold(given, uses, other, why, monkeypatch):
    monkeypatch.setattr(module, "load_theorem", lambda _: other)
    far = Hypothesis("far", sp.Ge(y, 100))
    made = theorem(SMALL, TIDY, far, extensions=(extension(*uses),))
    found = shown_ranges(made, given)[0]
    assert (found.established, found.shown_to) == (None, None) and why in found.why


def test_the_others_domain_ends_it_too(monkeypatch):
    large = Parameter("x", "rational", "a size", minimum=Fraction(1, 200))
    monkeypatch.setattr(
        module, "load_theorem", lambda _: theorem(TIDY, Hypothesis("low", sp.Le(x, 2)), parameters=(large, Y))
    )
    made = theorem(Hypothesis("small", sp.Le(x, y / 100)), TIDY, extensions=(extension("tidy"),))
    assert shown_ranges(made, {"y": 1})[0].shown_to == 2
    # The other theorem's domain begins at 1/200, which is beyond 1/1000.
    assert shown_ranges(made, {"y": Fraction(1, 10)})[0].established is None


def test_an_open_one_shows_nothing(monkeypatch):
    monkeypatch.setattr(module, "established_by_extension", lambda *_: Established(ForAll.OPEN, why="larger is open"))
    (found,) = shown_ranges(theorem(SMALL, TIDY, extensions=(extension("tidy"),)), {"y": 1})
    assert (found.established, found.why) == (None, "larger is open") and "larger is open" in found.text()


def test_every_claim_has_to_be_shown():
    both = theorem(SMALL, TIDY, extensions=(extension("tidy"),))
    other = Inequality("other", sp.Ge(y, 0, evaluate=False))
    both = replace(both, statement=replace(both.statement, claims=(SQUARE, other)))
    assert shown_ranges(both, {"y": 1})[0].established is None


def test_of_two_that_show_a_claim_those_are_named_that_are_needed(monkeypatch):
    known = {
        "user.large": theorem(TIDY, Hypothesis("low", sp.Le(x, 2))),
        "user.larger": theorem(TIDY, Hypothesis("high", sp.Le(x, 3))),
    }
    monkeypatch.setattr(module, "load_theorem", known.__getitem__)
    beyond = {name: replace(extension("tidy"), uses=(f"{name}:square", "tidy")) for name in known}

    def shown(*names):
        (found,) = shown_ranges(theorem(SMALL, TIDY, extensions=tuple(beyond[name] for name in names)), {"y": 1})
        return found.shown_to, found.by

    # A theorem for (0, 3] shows everything that a theorem for (0, 2] shows; the order of the two does not matter.
    assert shown("user.large", "user.larger") == shown("user.larger", "user.large") == (3, ("user.larger",))
    assert shown("user.large", "user.large") == (2, ("user.large",))


def test_without_limit_nothing_is_looked_for(monkeypatch):
    monkeypatch.setattr(module, "load_theorem", lambda _: theorem(TIDY, Hypothesis("bounded", sp.Le(y, 4))))
    (found,) = extended_ranges(theorem(SMALL, TIDY, extensions=(extension("tidy"),)), {"y": 1}).extended_ranges
    assert found.unlimited and not found.looked
    assert (
        found.text() == "small: x <= 1/100; holds without limit, argued by user.large (1 own + 1 inherited inference)"
    )


def test_downwards_and_by_integers():
    clause = Inequality("few", sp.Ge(n**2, 30, evaluate=False))
    made = theorem(Hypothesis("many", sp.Ge(n, 50)), clause=clause, parameters=(N,))
    (found,) = extended_ranges(made, {"n": 60}).extended_ranges
    assert (found.relation, found.end, found.violated) == (">=", 50, 5) and isinstance(found.violated, int)
    assert "few refuted at 5 (10 times below), certified" in found.text()


def test_another_one_that_fails_is_no_violation_of_this_one():
    made = theorem(SMALL, Hypothesis("tall", sp.Ge(y, 2)))
    found = extended_ranges(made, {"x": 1, "y": 1}).extended_ranges[0]
    assert found.violated is None and "no violation is looked for where tall does not hold" in found.text()


def test_missing_values_are_named():
    made = theorem(SMALL, Hypothesis("pair", sp.Le(x * y, 3)))
    first, second = shown_ranges(made, {})
    assert first.end is None and first.text() == "small: x <= y/100; needs all but one of x, y"
    assert second.text().endswith("needs all but one of x, y")
    alone = theorem(SMALL, parameters=(X, Y, N))
    (found,) = extended_ranges(alone, {"y": 1}).extended_ranges
    assert not found.looked and "no violation is looked for without n" in found.text()


def test_no_violation_within_reach_is_open():
    always = Inequality("square", sp.Ge(x, 0, evaluate=False))
    (found,) = extended_ranges(theorem(SMALL, clause=always), {"y": 1}).extended_ranges
    assert found.looked and found.violated is None and ": open beyond" in found.text()


@pytest.mark.parametrize(
    ("label", "uses", "said"),
    [
        ("squar", ("user.large",), r"extension squar: concludes no claim; did you mean square\?"),
        ("square", ("user.large", "square"), "extension square: uses square, which is no hypothesis"),
        ("square", ("small",), "extension square: uses no other theorem"),
    ],
)
def test_a_bad_inference_beyond_is_refused(label, uses, said):
    with pytest.raises(TheoremError, match=said):
        theorem(SMALL, extensions=(Inference(label, "it is so", uses, "application"),))


def test_an_empty_effort_and_a_bad_value_are_refused():
    for given, effort in (({"y": 1}, {"seconds": 0}), ({"y": 0}, {}), ({"z": 1}, {})):
        with pytest.raises(InputError):
            extended_ranges(theorem(SMALL), given, **effort)


def test_an_interrupt_keeps_what_was_found(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("verify.search.extended_ranges.checked", interrupt)
    found = extended_ranges(theorem(SMALL), {"y": 1})
    assert found.interrupted and found.extended_ranges[0].end == Fraction(1, 100)
    assert "open beyond: the search was interrupted" in found.extended_ranges[0].text()


def test_a_line_without_a_ratio():
    line = ExtendedRange("low", "x <= 0", "x", "<=", 0, violated=2, clause="c", looked=True)
    assert (
        line.text()
        == "low: x <= 0; nothing is proved beyond it; c refuted at 2, certified; the range between these values is open"
    )


PRODUCT = Hypothesis("product", sp.Le(x * n, 5))
OWN = Inference("bound", "it is less", ("product",), "application")


def by_its_own_argument(*others, parameters=(X, N), most=6):
    bound = Inequality("bound", sp.Le(x * n, most))
    return theorem(Hypothesis("a", sp.Le(x, 1)), *others, clause=bound, parameters=parameters, argument=(OWN,))


def test_its_own_argument_holds_where_the_other_hypotheses_do():
    made = by_its_own_argument(PRODUCT)
    (found, _) = extended_ranges(made, {"x": Fraction(1, 2), "n": 2}).extended_ranges
    assert (found.shown_to, found.shown_open, found.unlimited, found.by) == (Fraction(5, 2), False, False, ())
    assert (
        "holds up to 5/2 (2.5 times), argued by its own argument, which does not use it (1 inference); " in found.text()
    )
    # A parameter that another hypothesis needs is not given, so nothing is claimed.
    found = shown_ranges(made, {"x": Fraction(1, 2)})[0]
    assert (found.established, found.why) == (None, "its own argument needs n")


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (
            Hypothesis("grows", sp.Le(sp.exp(x), 100)),
            "its own argument is not shown: grows is not solved exactly along x",
        ),
        (Hypothesis("late", sp.Ge(x, 2)), "the range proved further out does not begin at its end"),
    ],
)
def test_its_own_argument_begins_where_the_hypothesis_ends_and_the_others_are_solved(other, why):
    found = shown_ranges(by_its_own_argument(PRODUCT, other), {"n": 2})[0]
    assert (found.established, found.why) == (None, why)


def test_a_hypothesis_open_at_the_given_values_is_supposed():
    product = Hypothesis("product", sp.Le(y, 5))
    made = by_its_own_argument(product, parameters=(X, N, Y), most=y)
    found = shown_ranges(made, {"n": 2})[0]
    assert found.unlimited and found.supposing == ("product",) and found.text().endswith(", where product holds")


@pytest.mark.parametrize(
    ("hypothesis", "other", "end"),
    [
        (sp.Lt(n, 3), sp.Ge(n, 4), None),
        (sp.Lt(n, 3), sp.Ge(n, 3), ""),
        (sp.Le(n, 3), sp.Ge(n, 5), None),
        (sp.Le(n, 3), sp.Ge(n, 4), ""),
        (sp.Le(2 * n, 7), sp.Ge(n, 5), None),
        (sp.Le(2 * n, 7), sp.Ge(n, 4), ""),
        (sp.Gt(n, 7), sp.Le(n, 6), None),
        (sp.Gt(n, 7), sp.Le(n, 7), ""),
        (sp.Ge(2 * n, 7), sp.Le(n, 2), None),
        (sp.Ge(2 * n, 7), sp.Le(n, 3), ""),
    ],
)
def test_the_first_integer_outside_has_to_be_shown(hypothesis, other, end, monkeypatch):
    clause = Inequality("square", sp.Le(n, 9 * y, evaluate=False))
    large = theorem(Hypothesis("l", other), clause=clause, parameters=(N, Y))
    monkeypatch.setattr(module, "load_theorem", lambda _: large)
    made = theorem(Hypothesis("h", hypothesis), clause=clause, parameters=(N, Y), extensions=(extension(),))
    (found,) = shown_ranges(made, {"y": 1})
    assert found.unlimited == (end is not None)


class TestTheDomain:
    def made(self, *domain, hypothesis=SMALL, **more):
        small = theorem(hypothesis, TIDY, extensions=(extension("tidy"),), **more)
        return replace(small, statement=replace(small.statement, domain=domain))

    def test_the_domain_ends_the_shown_range(self):
        (found,) = extended_ranges(self.made(sp.Lt(x, 1)), {"y": 1}).extended_ranges
        assert found.unlimited and (found.shown_to, found.shown_open, found.looked) == (1, True, False)
        assert found.text().startswith(
            "small: x <= 1/100; holds for x < 1 (100 times), as far as its domain goes, argued by user.large"
        )

    @pytest.mark.parametrize(
        ("domain", "shown_to"),
        # A domain that extends further than the shown range; a domain that is left and entered again, which stays open.
        [(sp.Le(x, 5), 2), (sp.Ge((x - 1) * (x - 3), 0), 1)],
    )
    def test_a_domain_beyond_the_shown_range_leaves_it_limited(self, domain, shown_to):
        (found,) = shown_ranges(self.made(domain), {"y": 1})
        assert found.shown_to == shown_to and not found.unlimited

    def test_nothing_is_left_beyond(self):
        (found,) = extended_ranges(self.made(sp.Le(x, y / 100)), {"y": 1}).extended_ranges
        assert found.text() == "small: x <= 1/100; nothing is left beyond"

    def test_a_parameter_that_the_domain_needs_is_named(self):
        made = self.made(sp.Le(x, n), parameters=(X, Y, N))
        assert shown_ranges(made, {"y": 1})[0].why == "its domain needs n"

    def test_without_a_violation_nothing_is_left_beyond(self):
        always = Inequality("square", sp.Ge(n, 0, evaluate=False))
        made = theorem(Hypothesis("few", sp.Le(n, 3)), clause=always, parameters=(N,))
        made = replace(made, statement=replace(made.statement, domain=(sp.Le(n, 5),)))
        (found,) = extended_ranges(made, {}).extended_ranges
        assert found.verified_at == (4, 5) and "no violation found (2 instances, " in found.text()
        assert found.text().endswith("): nothing is left beyond")


def test_an_equality_has_no_end():
    made = theorem(Hypothesis("even", sp.Eq(x, 2 * y)), TIDY, extensions=(extension("tidy"),))
    (found,) = extended_ranges(made, {"y": 1}).extended_ranges
    assert (found.end, found.why, found.relation) == (None, "is an equality", "")


class TestAViolation:
    def test_where_the_hypothesis_holds_it_refutes_the_theorem(self):
        made = theorem(Hypothesis("h", sp.Ge((x - 1) * (x - 2), 0)))
        (found,) = extended_ranges(made, {"x": "1/2", "y": 1}).extended_ranges
        assert found.inside and found.violated > 3 and "no violation found" not in found.text()
        assert f"square is refuted at {found.violated}, where h holds: a counterexample to the theorem" in found.text()

    def test_at_the_end_it_refutes_the_theorem(self):
        (found,) = extended_ranges(theorem(Hypothesis("h", sp.Le(x, 4))), {"x": 1, "y": 1}).extended_ranges
        assert found.inside and found.violated == 4

    def test_that_is_not_certified_is_said(self, monkeypatch):
        certified, check = thresholds.Approach.certified, thresholds.check

        def doubtful(*given):
            with monkeypatch.context() as patched:
                patched.setattr(
                    thresholds, "check", lambda *x, **more: replace(check(*x, **more), scope_confirmed=False)
                )
                return certified(*given)

        monkeypatch.setattr(thresholds.Approach, "certified", doubtful)
        (line,) = extended_ranges(theorem(SMALL), {"y": 1}).extended_ranges
        assert line.violated is None and line.met > 3 and "no violation found" not in line.text()
        assert " was met and is not certified; open beyond" in line.text()


def test_values_are_past_an_end_below_0():
    a, b = sp.symbols("a b", real=True)
    parameters = tuple(Parameter(name, "rational", "a number") for name in "ab")
    hypotheses = Hypothesis("low", sp.Le(a, -1)), Hypothesis("far", sp.Le(a, b))
    clause = Inequality("bound", sp.Le(a, 3))
    made = theorem(*hypotheses, clause=clause, parameters=parameters)
    found = extended_ranges(made, {"a": -2, "b": 200}).extended_ranges[0]
    assert all(value > -1 for value in found.verified_at) and list(found.verified_at) == sorted({*found.verified_at})
    assert found.violated > 3 and found.text().count(",") <= 4


def test_certified_values_are_kept_if_another_hypothesis_fails_beyond():
    made = theorem(SMALL, Hypothesis("far", sp.Le(x, y / 10)))
    found = extended_ranges(made, {"y": 1}).extended_ranges[0]
    assert found.looked and found.verified_at == (Fraction(1, 50), Fraction(1, 25), Fraction(2, 25))
    assert "no violation found (3 instances, " in found.text() and ", 600" not in found.effort
    assert found.text().endswith("): further out far does not hold")
    made = theorem(SMALL, Hypothesis("far", sp.Le(x, y / 40)))
    assert "(1 instance, " in extended_ranges(made, {"y": 1}).extended_ranges[0].text()


def test_a_theorem_that_cannot_be_loaded_is_said(monkeypatch):
    def missing(*_):
        raise InputError("theorem", "user.large", "unknown id")

    monkeypatch.setattr(module, "established_by_extension", missing)
    made = theorem(SMALL, TIDY, extensions=(extension("tidy"),))
    (found,) = verify.conditions(made, y=1).extended_ranges
    assert found.established is None and "theorem = user.large: unknown id" in found.text()


def test_an_interrupt_keeps_the_lines_before(monkeypatch):
    made = theorem(SMALL, Hypothesis("tall", sp.Ge(y, 2)))
    found = module.solvable

    def interrupting(relation, *given):
        if relation == sp.Ge(y, 2):
            raise KeyboardInterrupt
        return found(relation, *given)

    monkeypatch.setattr(module, "solvable", interrupting)
    result = extended_ranges(made, {"x": 1, "y": 3})
    assert result.interrupted and [line.hypothesis for line in result.extended_ranges] == ["small"]


def test_roots_that_are_not_told_apart_are_undecided(monkeypatch):
    class Undecided:
        def certified_ranges(self, *_):
            raise UndecidedError("roots that lie too close together")

    found = module.solvable
    monkeypatch.setattr(module, "solvable", lambda *_: Undecided())
    (line,) = shown_ranges(theorem(SMALL), {"y": 1})
    assert line.why == "its end at this instance is undecided: roots that lie too close together"
    monkeypatch.setattr(
        module,
        "solvable",
        lambda relation, *given: Undecided() if relation == PRODUCT.relation else found(relation, *given),
    )
    line = shown_ranges(by_its_own_argument(PRODUCT), {"n": 2})[0]
    assert line.established is None and "product is undecided along x" in line.why


def test_the_short_text_counts():
    result = extended_ranges(theorem(SMALL, TIDY, extensions=(extension("tidy"),)), {"y": 1})
    assert (
        repr(result) == "<ExtendedRanges user.small at y=1: 1 parametric hypothesis, 1 shown further, 1 refuted beyond>"
    )
    alone = extended_ranges(theorem(Hypothesis("h", sp.Le(x, 4))), {"x": 1, "y": 1})
    assert "1 parametric hypothesis, 1 refuted where the hypothesis holds>" in repr(alone)


def test_downwards_it_holds_down_to():
    line = ExtendedRange("h", "n >= 5", "n", ">=", 5, established=Established(ForAll.PROVED), by=("a",), shown_to=2)
    assert line.text().startswith("h: n >= 5; holds down to 2 (2.5 times below), proved by a; open beyond")
    line = replace(line, shown_to=0, shown_open=True)
    assert line.text().startswith("h: n >= 5; holds for n > 0, proved by a; open beyond")
    # No violation was looked for, and there may be one.
    assert line.text().endswith("; open beyond: `verify necessity` with all values looks for a violation")


class TestTheLibrary:
    @pytest.fixture(autouse=True)
    def _known(self, monkeypatch):
        monkeypatch.undo()

    def test_conditions_say_how_far_theorem1_goes(self, cli):
        given = ("T=200", "q=4", "d=10", "eta=1")
        code, out, _ = cli("conditions", "wang2024.theorem1", *given)
        whole = re.sub(r"\n {8}", " ", out)
        lines = [line.strip() for line in whole.splitlines()]
        (line,) = [line for line in lines if line.startswith("step_size: eta <= 1/2000")]
        # The limit 2q(T − 1)/(T − 1 + 6d) is larger than one_hot_descent's, 4q²/(5q + 2d) = 8/5.
        assert code == 4 and "given 1 (2 000 times); holds for eta < 1592/259 (12 293 times), formal by" in line
        assert "wang2024.one_hot_larger_steps (" in line and "one_hot_descent" not in line and "open beyond" in line
        assert any(line.startswith("accuracy: eps < 5/196; holds without limit, formal by") for line in lines)
        body = body_of(cli("conditions", "wang2024.theorem1", *given, "--json")[1])
        (row,) = [row for row in body["reaches"] if row["hypothesis"] == "step_size"]
        assert (row["shown_to"], row["by"]) == ("1592/259", ["wang2024.one_hot_larger_steps"])
        # The other theorem has the same claim, and Rocq accepts its proof for the larger steps.
        assert row["for_all_parameters"] == "formal" and row["inferences_argued"] == 0

    def test_beyond_the_other_ones_step_nothing_is_said_of_the_accuracy(self):
        lines = {
            line.hypothesis: line
            for line in verify.conditions("wang2024.theorem1", T=200, q=4, d=10, eta=7).extended_ranges
        }
        # The range of the subset's hypothesis is shown, because from q = 5 on the other theorem's limit is above 7.
        assert set(lines) == {"subset_below_quarter", "step_size"}
        assert lines["subset_below_quarter"].shown_to == 200

    def test_necessity_finds_the_violation(self, cli, clock):
        given = ("T=9", "q=2", "d=1", "eta=1/20", "eps=1/200")
        # The iteration of a run reads the clock after every 1024 steps.
        clock.tick = 0.02
        code, out, _ = cli("necessity", "wang2024.theorem1", *given, "--seconds", "60", "--json")
        row = next(row for row in body_of(out)["reaches"] if row["hypothesis"] == "step_size")
        assert code == 0 and row["shown_to"] == "16/7" and row["clause"] == "stays"
        assert 4 < row["violated_float"] < 6
        assert_one_line(cli("necessity", "wang2024.theorem1", "eta=x"), "eta = x")
