"""The engine's Gaussian means, compared entry by entry with moments of one normal variable; the clause's refusals."""

from dataclasses import replace

import pytest
import sympy as sp

from tests.theorems.wishart.gaussian_cases import CASES, SIZES, X, a, b, d, entry_by_entry, f, n, stated, step, t, x
from theorems.wishart.gaussian_moment import GaussianMoment
from theorems.wishart.pairings import Letters, mean_of_traces
from verify import Evidence, Outcome, Source, Statement, Theorem, TheoremError, check, matrix

AT = [(1, 1), (1, 2), (2, 1), (2, 2)]


def theorem(clause):
    return Theorem("user.mean", "a mean", Source("1", "derived here"), stated(clause), {"d": 2, "n": 3})


@pytest.mark.parametrize("name", CASES)
def test_the_mean_is_the_one_of_the_entries(name):
    clause = CASES[name]
    for sizes in AT[:1] if clause.steps else AT:
        at = dict(zip((d, n), sizes, strict=True))
        exact, given = entry_by_entry(clause, at)
        assert sp.expand(clause.right.subs(at).subs(given) - exact) == 0


def test_all_pairings_are_counted():
    words = (((("X", False), ("X", True)) * 4),)
    assert sum(mean_of_traces(words, Letters(frozenset(), (("X", None),))).values()) == 7 * 5 * 3


def test_too_many_pairings_are_refused():
    words = (((("X", False), ("X", True)) * 8),)
    with pytest.raises(TheoremError, match="16 normal letters have 2027025 pairings, and may have 135135"):
        mean_of_traces(words, Letters(frozenset(), (("X", None),)))


@pytest.mark.parametrize("name", CASES)
def test_the_re_checker_proves_it_and_no_other_value(name):
    clause = CASES[name]
    (result,) = check(theorem(clause), d=2, n=3).clauses
    assert (result.outcome, result.evidence) == (Outcome.VERIFIED, Evidence.PROVED)
    assert [f"{trust.name}/{trust.version}" for trust in result.trusts] == ["lemmascope.wishart/1"]
    (result,) = check(theorem(replace(clause, right=clause.right + 1 / n)), d=2, n=3).clauses
    assert result.outcome is Outcome.INCONCLUSIVE and "another polynomial" in result.detail


def test_the_text_says_what_the_names_stand_for():
    clause = GaussianMoment("half", f * step, a / 2, {x: (d, 1)}, {x: None}, {f: t(x) * x}, steps={step: (x, x)})
    stated = "f = tr(transpose(x)*x), theta = theta(transpose(x)*x), x normal (d by 1)"
    assert clause.text == f"E f*theta = a/2, where {stated}"


def test_the_text_names_covariances_and_symmetric_letters():
    S, M = matrix("S"), matrix("M")
    shapes = {X: (d, n), S: (d, d), M: (d, d)}
    clause = GaussianMoment("mean", f, a, shapes, {X: S}, {f: t(X) * M * X}, symmetric=(M,))
    assert clause.text.endswith("X normal of covariance S (d by n), S symmetric (d by d), M symmetric (d by d)")


@pytest.mark.parametrize("matrix", [X, X * X, X * t(X) + X])
def test_matrices_without_a_trace_are_refused(matrix):
    with pytest.raises(TheoremError, match="clause mean: "):
        GaussianMoment("mean", f, d, {X: (d, n)}, {X: None}, {f: matrix})


def test_a_letter_without_a_shape_is_refused():
    with pytest.raises(TheoremError, match="clause mean: "):
        GaussianMoment("mean", f, d, {}, {X: None}, {f: X * t(X)})


@pytest.mark.parametrize(("left", "why"), [(f * step**2, "a power of a step"), (a * step * b, "odd")])
def test_terms_that_a_step_does_not_halve_are_refused(left, why):
    y = sp.Symbol("y", real=True)
    clause = GaussianMoment(
        "mean", left.subs(a, y), b, {x: (1, 1)}, {x: None}, {f: t(x) * x, y: x}, steps={step: (x, x)}
    )
    with pytest.raises(TheoremError, match=why):
        clause.mean(Statement(SIZES, (clause,), variables=(b,)))
