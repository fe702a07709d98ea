"""The need for hypotheses: theorems with answers known by hand, and wrong answers that are refused."""

import json
import re
import time
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pytest
import sympy as sp

import verify
from theorems.wishart.trace_moments import wishart_trace_moment
from verify import Hypothesis, Inequality, InputError, Outcome, Parameter, Source, Statement, Theorem, TheoremError
from verify.language.expressions import primitive
from verify.rechecker import recheck_text
from verify.reports import necessity_map
from verify.reports.command_line import run
from verify.reports.necessity_map import Mapped, refusal, shipped, table, threshold_lines, write
from verify.search.explore import explore
from verify.search.necessity import _effort as effort_of, necessity
from verify.search.thresholds import Approach

x, R, s, t = sp.symbols("x R s t", positive=True)
n = sp.Symbol("n", integer=True, positive=True)
SIZES = tuple(Parameter(name, "rational", "a size", above=0) for name in ("x", "R", "s", "t"))
N = Parameter("n", "integer", "a number", minimum=1)
SQUARE = Inequality("square", sp.Le(x**2, 9, evaluate=False))
INVERSE = Inequality("inverse", sp.Le(1 / R, sp.Rational(1, 4), evaluate=False))
FALLING = Inequality("falling", sp.Lt(sp.exp(-t), 1, evaluate=False))


def theorem(clauses, *hypotheses, parameters=SIZES, **example):
    given = dict.fromkeys((p.name for p in parameters), 1) | example
    statement = Statement(parameters, tuple(clauses), hypotheses)
    # Only a variant may have a hypothesis that no clause depends on.
    return Theorem("user.t", "t", Source("t", "derived here"), statement, example=given, is_variant=True)


def found(made, label, seconds=4, **more):
    result = necessity(made, seconds=seconds, **more)
    return next(need for need in result.hypotheses if need.label == label)


def test_a_violation_begins_where_it_does_by_hand():
    # The hypothesis is x <= 1, and x² <= 9 holds up to 3.
    need = found(theorem([SQUARE], Hypothesis("small", sp.Le(x, 1))), "small")
    assert (need.status, need.clause) == ("needed", "square")
    (threshold,) = need.thresholds
    assert threshold.parameter == "x" and threshold.end == 1 and threshold.clear_outcome == "verified"
    assert 3 * Fraction(98, 100) < threshold.clear <= 3 < threshold.violated < 3 * Fraction(102, 100)
    assert need.witness["x"] == threshold.violated and need.slack == 1 - threshold.violated
    assert need.relaxed.clear <= 3 < need.relaxed.violated == threshold.violated


def test_the_certificate_is_of_the_statement_without_the_hypothesis():
    made = theorem([SQUARE, INVERSE], Hypothesis("small", sp.Le(x, 1)), Hypothesis("large", sp.Ge(R, 4)), R=5)
    need = found(made, "small")
    accepted = recheck_text(json.dumps(need.certificate).encode())
    assert accepted.in_scope and [row[:2] for row in accepted.clauses] == [("square", "refuted")]
    weaker = replace(made.statement, hypotheses=made.statement.hypotheses[1:], claims=(SQUARE,))
    assert accepted.statement_digest == weaker.digest


def test_next_to_the_end_of_the_hypothesis():
    need = found(theorem([INVERSE], Hypothesis("large", sp.Ge(R, 4)), R=5), "large")
    (threshold,) = need.thresholds
    assert threshold.end == 4 and threshold.clear is None
    assert 4 * Fraction(98, 100) < threshold.violated < 4


@pytest.mark.parametrize(
    ("bound", "most", "clear"),
    [
        (sp.Le(n**2, 30, evaluate=False), 2, 5),
        # The hypothesis ends at the least value of the domain.
        (sp.Le(n**2, 30, evaluate=False), 1, 5),
        # A violation that begins far from the hypothesis's end is found exactly.
        (sp.Le(n, 10**6, evaluate=False), 2, 10**6),
    ],
)
def test_integers_are_moved_one_by_one(bound, most, clear):
    need = found(theorem([Inequality("few", bound)], Hypothesis("h", sp.Le(n, most)), parameters=(N,)), "h")
    (threshold,) = need.thresholds
    assert (threshold.end, threshold.clear, threshold.violated) == (most, clear, clear + 1)
    assert isinstance(threshold.violated, int) and need.witness == {"n": clear + 1}


def test_hypotheses_implied_or_needed_by_no_clause_are_redundant():
    large, weaker, other = (Hypothesis(*row) for row in (("large", R >= 4), ("weaker", R >= 2), ("other", s >= 1)))
    made = theorem([INVERSE], large, weaker, other, R=5)
    assert found(made, "weaker").status == "redundant" and "the others imply it" in found(made, "weaker").why
    assert found(made, "other").status == "redundant" and "every claim is proved" in found(made, "other").why
    assert found(made, "large").status == "needed"


def test_a_need_that_is_not_decided_is_given_with_the_effort(no_deduction):
    need = found(theorem([FALLING], Hypothesis("short", sp.Le(t, 10))), "short", seconds=2, seed=3)
    assert need.status == "undecided" and need.witness is None and need.certificate is None
    assert re.search(r"no violation found: .*\b(1 instance|\d+ instances), seed 3(, the time ran out)?\b", need.why)


@pytest.mark.parametrize(
    ("counts", "stopped", "said"),
    [
        ((1, 1, 0, 0), "seconds", "1 instance, seed 3, the time ran out"),
        ((7, 7, 0, 0), "examples", "7 instances, seed 3"),
        ((7, 4, 1, 2), "examples", "7 instances (4 clean, 1 undecided, 2 without a value), seed 3"),
        ((0, 0, 0, 0), "seconds", "in the search the time ran out before the first instance"),
    ],
)
def test_the_effort_of_a_search_is_said_in_words(counts, stopped, said):
    found = explore(theorem([FALLING], Hypothesis("short", sp.Le(t, 10))), {}, max_examples=1, seed=3)
    names = ("examples", "clean", "undecided", "without_value")
    assert effort_of(replace(found, **dict(zip(names, counts, strict=True)), stopped=stopped)) == said


def test_a_search_uses_its_time_before_it_says_that_it_ran_out(clock):
    @primitive(1)
    def slowly(arithmetic, number):
        clock.sleep(0.02)
        return number

    clause = Inequality("slow", sp.Ge(slowly(t), 0, evaluate=False))
    result = necessity(theorem([clause], Hypothesis("short", sp.Le(t, 10))), seconds=4)
    (need,) = result.hypotheses
    assert need.status == "undecided" and "the time ran out" in need.why and 3.5 < result.seconds < 6.5


def test_no_verdict_is_no_sign_that_a_hypothesis_is_needless(clock):
    clock.tick = 2e-5
    x = sp.Symbol("x", real=True)
    parameters, root = (Parameter("x", "rational", "x"),), Inequality("c", sp.Ge(sp.sqrt(x), 0, evaluate=False))
    statement = Statement(parameters, (root,), (Hypothesis("pos", sp.Ge(x, 0)),))
    made = Theorem("user.root", "t", Source("t", "derived here"), statement, {"x": 1})
    (need,) = necessity(made, seconds=3).hypotheses
    assert need.status == "undecided" and re.search(r"\d+ instances \((\d+ undecided, )?\d+ without", need.why)
    assert "clean" not in need.why


def test_a_structural_hypothesis_is_varied_or_undecided():
    law = Parameter("law", "word", "a law", words=("normal", "any"))
    fixed, varied = Hypothesis("fixed", text="as it is"), Hypothesis("normal", text="the law is normal", varies=law)
    from verify.language.expressions import Case

    clause = Inequality("large", sp.Le(Case(sp.Symbol("law"), x, -x) * -1, 0, evaluate=False))
    made = theorem([clause], fixed, varied, parameters=(SIZES[0], law), law="normal")
    assert found(made, "fixed").status == "undecided" and "not tested" in found(made, "fixed").why
    need = found(made, "normal")
    assert need.status == "needed" and need.witness["law"] == "any" and need.thresholds == ()


def test_an_equality_is_searched_without_it():
    clause = Inequality("one", sp.Le((n - 3) ** 2, 0, evaluate=False))
    need = found(theorem([clause], Hypothesis("three", sp.Eq(n, 3)), parameters=(N,), n=3), "three")
    assert need.status == "needed" and need.relaxed is None
    assert need.thresholds[0].end == 3 and abs(need.witness["n"] - 3) == 1
    (line,) = threshold_lines(need.to_json())
    assert need.statement == "n = 3" and line.startswith("here the hypothesis asks for n = 3; refuted at")


def test_a_map_is_shown_in_the_words_of_today(tmp_path, monkeypatch):
    import verify.reports.necessity_map as maps

    monkeypatch.setattr(maps, "folder", lambda _: tmp_path)
    made = theorem([SQUARE], Hypothesis("small", sp.Le(x, 1)))
    write(made, necessity(made, seconds=3), tmp_path)
    path = tmp_path / "user.t.json"
    path.write_text(path.read_text().replace('"x <= 1"', '"Le(x, 1)"'))
    assert "Le(x, 1)" in path.read_text() and shipped(made).hypotheses[0]["statement"] == "x <= 1"
    assert any("here the hypothesis ends at x = 1" in line for line in table([shipped(made)]))
    assert any("a certified violation at" in line for line in table([shipped(made)]))


def test_a_false_theorem_does_not_make_its_hypotheses_needed():
    # x² <= 9 fails at x = 4, where both hypotheses hold.
    made = theorem([SQUARE], Hypothesis("small", x <= 5), Hypothesis("other", s >= 1))
    for label in ("other", "small"):
        need = found(made, label)
        assert need.status == "undecided" and "square is refuted with it as well" in need.why


def test_hypotheses_that_no_instance_is_found_for_end_nothing(no_deduction):
    m = sp.Symbol("m", integer=True, positive=True)
    both = Parameter("m", "integer", "a number", minimum=1)
    squares = Hypothesis("squares", sp.Eq(n**2 + m**2, 5030090, evaluate=False))
    clause = Inequality("bound", sp.Le(n, 10**9 + n * 0 + m, evaluate=False))
    made = theorem([clause], squares, Hypothesis("small", n <= 5000), parameters=(N, both), n=1009, m=2003)
    result = necessity(made, seconds=3)
    assert [need.label for need in result.hypotheses] == ["squares", "small"]
    assert result.hypotheses[1].status == "undecided"
    assert "no instance was found" in result.hypotheses[1].why


@pytest.mark.audit
@pytest.mark.parametrize("seconds", [0.01, 0.5])
def test_little_time_is_no_error(no_deduction, seconds):
    result = necessity(theorem([FALLING], Hypothesis("short", sp.Le(t, 10))), seconds=seconds)
    # On an idle machine the search takes 1.0 s, the least time for certifying, however little time is given.
    assert result.hypotheses[0].status == "undecided" and result.seconds < 3.1


def test_a_factor_is_searched_past_the_hypothesis_where_the_larger_side_is_positive():
    z, w = sp.symbols("z w", real=True)
    sides = tuple(Parameter(name, "rational", "a number") for name in "zw")
    clause = Inequality("bound", sp.Le(z, w + 3, evaluate=False))
    need = found(theorem([clause], Hypothesis("less", sp.Le(z, w)), parameters=sides), "less", seconds=8)
    assert need.status == "needed" and need.witness["z"] > need.witness["w"] + 3
    # Any factor z/w above 1 gives a violation if z and w are large.
    assert need.relaxed is None or need.relaxed.violated <= need.witness["z"] / need.witness["w"]


def test_values_where_a_search_missed_a_violation_are_not_clear(monkeypatch):
    import verify.search.thresholds

    def outcome(_, instance):
        return Outcome.REFUTED if instance["x"] > 3 or 14 < 10 * instance["x"] < 16 else Outcome.VERIFIED

    made = theorem([SQUARE], Hypothesis("small", sp.Le(x, 1)))
    missed = SimpleNamespace(interrupted=False, counterexample=None, found_clean=True, clean=5)
    met = SimpleNamespace(interrupted=False, counterexample={**made.example, "x": Fraction(3, 2)})
    results = iter([missed, met])
    monkeypatch.setattr(verify.search.thresholds, "explore", lambda *_, **__: next(results, missed))
    monkeypatch.setattr(Approach, "_outcome", outcome)
    (small,), weaker = made.statement.hypotheses, replace(made.statement, hypotheses=())
    approach = Approach(made, weaker, small, "square", {**made.example, "x": 27}, time.monotonic() + 60)
    approach.run(0)
    assert approach.relaxed.clear < approach.relaxed.violated == approach.witness["x"]
    assert Fraction(7, 5) < approach.relaxed.violated < Fraction(3, 2)


def test_an_empty_effort_is_refused(capsys):
    with pytest.raises(InputError, match=r"seconds = 0: must be a number > 0"):
        necessity(theorem([SQUARE]), seconds=0)
    assert run(["necessity", "ahn2023.lemma1", "--seconds", "0"]) == 2
    assert "seconds = 0" in capsys.readouterr().err
    assert run(["necessity", "ahn2023.none"]) == 2


@pytest.mark.parametrize("place", ["explore", "check"])
def test_interrupted_it_shows_what_it_has(monkeypatch, capsys, place):
    import verify.claims.matrix_identity
    import verify.search.necessity

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    if place == "explore":
        monkeypatch.setattr(verify.search.necessity, "explore", interrupted)
    else:
        # A check reports an interruption in its result.
        monkeypatch.setattr(verify.claims.matrix_identity.MatrixIdentity, "evaluate", interrupted)
    assert run(["necessity", "ahn2023.lemma1", "--json"]) == 130
    body = json.loads(capsys.readouterr().out)
    assert body["interrupted"] and [row["label"] for row in body["hypotheses"]] == ["linear_attention", "pattern"]


def test_interrupted_after_a_violation_it_is_kept(monkeypatch):
    import verify.search.thresholds

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(verify.search.thresholds.Approach, "_outcome", interrupted)
    result = necessity(theorem([SQUARE], Hypothesis("small", sp.Le(x, 1)), Hypothesis("other", s >= 1)), seconds=4)
    assert result.interrupted and [need.status for need in result.hypotheses] == ["needed"]
    assert result.hypotheses[0].certificate is not None


def test_the_command_line(capsys):
    assert run(["necessity", "ahn2023.lemma1", "--seconds", "20"]) == 0
    text = capsys.readouterr().out
    assert "needed     symmetric" in text and "_as_printed is refuted" in text
    assert run(["necessity", "ahn2023.lemma1", "--seconds", "20", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["hypotheses"][-1]
    assert row["status"] == "needed" and row["witness"]["preconditioner"] == "any"


def test_a_map_is_written_and_read_and_a_forged_one_is_not_believed(tmp_path, monkeypatch):
    import verify.reports.necessity_map as maps

    assert "not registered" in shipped(theorem([SQUARE])).why
    monkeypatch.setattr(maps, "folder", lambda _: tmp_path)
    made = theorem([SQUARE], Hypothesis("small", sp.Le(x, 1)), Hypothesis("other", text="as it is"))
    assert shipped(made).why == "no map is shipped"
    write(made, necessity(made, seconds=4), tmp_path)
    mapped = shipped(made)
    assert mapped.why == "" and mapped.counts() == "1 needed (small), 1 undecided, 1 of these structural and not tested"
    assert refusal(made, mapped.hypotheses[0]) == ""
    lines = list(table([mapped]))
    assert any("| needed |" in line and "`square` refuted at" in line for line in lines)
    assert any("1 structural" in line for line in lines)

    changed = replace(made.statement, claims=(replace(SQUARE, relation=sp.Le(x**2, 8, evaluate=False)),))
    other = made.variant(changed)
    assert shipped(other).why == "the map is of another statement"
    assert refusal(other, mapped.hypotheses[0]) == "the certificate is of another statement"
    path = tmp_path / "user.t.small.certificate.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "instance": {**data["instance"], "x": "2"}}))
    assert refusal(made, mapped.hypotheses[0]) != ""
    path.write_text(json.dumps(data))
    row = mapped.hypotheses[0]
    assert refusal(made, {**row, "witness": {**row["witness"], "x": 999}}) == "the certificate is of another instance"
    assert refusal(made, {**row, "status": "redundant"}) == "the certificate proves less"
    path.unlink()
    assert refusal(made, row) == "no certificate is shipped"


def test_a_shipped_redundant_hypothesis_is_checked_again(tmp_path, monkeypatch):
    import verify.reports.necessity_map as maps

    monkeypatch.setattr(maps, "folder", lambda _: tmp_path)
    large, weaker, other = (Hypothesis(*row) for row in (("large", R >= 4), ("weaker", R >= 2), ("other", s >= 1)))
    made = theorem([INVERSE], large, weaker, other, R=5)
    write(made, necessity(made, seconds=3), tmp_path)
    rows = {row["label"]: row for row in shipped(made).hypotheses}
    assert [row["status"] for row in rows.values()] == ["needed", "redundant", "redundant"]
    assert {label: refusal(made, row) for label, row in rows.items()} == dict.fromkeys(rows, "")
    assert refusal(made, {**rows["large"], "status": "redundant"}) == "the certificate proves less"
    # The certificate of `weaker` proves nothing about `other`.
    (tmp_path / "user.t.other.certificate.json").write_text((tmp_path / "user.t.weaker.certificate.json").read_text())
    assert refusal(made, rows["other"]) == "the certificate is of another statement"


def test_certificates_of_before_are_removed(tmp_path):
    small = theorem([SQUARE], Hypothesis("small", sp.Le(x, 1)))
    result = necessity(small, seconds=4)
    write(small, result, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"user.t.json", "user.t.small.certificate.json"}
    undecided = replace(result.hypotheses[0], status="undecided", certificate=None, witness=None)
    write(small, replace(result, hypotheses=(undecided,)), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"user.t.json"}


def test_a_certificate_that_is_not_accepted_is_not_written(tmp_path):
    small = theorem([SQUARE], Hypothesis("small", sp.Le(x, 1)))
    result = necessity(small, seconds=4)
    (need,) = result.hypotheses
    forged = {**need.certificate, "instance": {**need.certificate["instance"], "x": "2"}}  # pyright: ignore[reportGeneralTypeIssues]
    with pytest.raises(TheoremError, match="small: the re-checker does not accept it"):
        write(small, replace(result, hypotheses=(replace(need, certificate=forged),)), tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_counts_of_an_empty_map():
    assert Mapped("user.t", (), 0, 0).counts() == ""


def test_a_hypothesis_in_which_a_word_chooses():
    from verify.language.expressions import Case

    word, size = sp.Symbol("law"), Parameter("law", "word", "a law", words=("one", "two"))
    kept = Hypothesis("small", sp.Le(x, Case(word, 1, 2), evaluate=False))
    need = found(theorem([SQUARE], kept, parameters=(SIZES[0], size), law="one"), "small")
    (threshold,) = need.thresholds
    assert need.status == "needed" and threshold.end == {"one": 1, "two": 2}[need.witness["law"]]
    assert threshold.clear <= 3 < threshold.violated


def test_an_end_of_the_domain_is_no_end_of_the_hypothesis():
    # The domain is x > 0. The hypotheses 1 <= x and x² >= x both end at 1.
    low = Inequality("low", sp.Ge(2 * x, 1, evaluate=False))
    for relation in (sp.Ge(x, 1), sp.Ge(x * x, x, evaluate=False)):
        (threshold,) = found(theorem([low], Hypothesis("large", relation)), "large").thresholds
        assert threshold.end == 1 and threshold.violated < Fraction(1, 2) <= threshold.clear


def test_beside_the_example_numbers_are_short():
    # The hypothesis ends at √2; the values tried beyond it are short numbers, and not long approximations of √2.
    need = found(theorem([SQUARE], Hypothesis("root", sp.Le(x**2, 2, evaluate=False))), "root")
    assert need.status == "needed" and len(str(need.witness["x"])) < 12


@pytest.fixture
def helped():
    """A theorem whose domain, and so every claim, needs a package's second computation."""
    statement = Statement(
        (Parameter("x", "rational", "x", above=0),),
        (Inequality("c", sp.Ge(x + 1, 0, evaluate=False)), Inequality("d", sp.Le(x, 5, evaluate=False))),
        (Hypothesis("needless", sp.Le(x, 9)), Hypothesis("needed", sp.Le(x, 3))),
        domain=(sp.Ge(wishart_trace_moment(1, x, 2), 0, evaluate=False),),
    )
    return Theorem("user.helped", "a title", Source("t", "derived here"), statement, {"x": 1})


def test_results_that_trust_a_package_say_so_in_every_search(helped, tmp_path, monkeypatch):
    trusting = "trusting lemmascope.wishart/1"
    found = verify.necessity(helped, seconds=4)
    for need, said in zip(found.hypotheses, ("every claim is proved", "without it d is refuted"), strict=True):
        assert need.why.startswith((said, "the others imply it")) and need.why.endswith(trusting), need.why
        assert [str(trust) for trust in need.trusts] == ["lemmascope.wishart/1"]
    necessity_map.write(helped, found, tmp_path)
    monkeypatch.setattr(necessity_map, "folder", lambda _: tmp_path)
    rows = json.loads((tmp_path / "user.helped.json").read_text())["hypotheses"]
    assert [necessity_map.refusal(helped, row) for row in rows] == ["", ""]
    unsaid = [row | {"why": row["why"].partition(",")[0]} for row in rows]
    assert all("does not say that it trusts lemmascope" in necessity_map.refusal(helped, row) for row in unsaid)
    (reach,) = (
        each for each in verify.necessity(helped, x=1, seconds=4).extended_ranges if each.hypothesis == "needed"
    )
    assert trusting in reach.text() and [str(trust) for trust in reach.trusts] == ["lemmascope.wishart/1"]
    searched = verify.explore(helped, drop=["needed"], seconds=4)
    assert [str(trust) for trust in searched.clause.trusts] == ["lemmascope.wishart/1"]
    proved = verify.prove(helped, seconds=4)
    assert [str(trust) for trust in sorted(proved.for_all_parameters.trusts)] == ["lemmascope.wishart/1"]
    assert trusting in str(proved) and trusting in repr(searched)
