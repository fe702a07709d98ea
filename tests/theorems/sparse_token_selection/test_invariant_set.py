"""Lemma 2's invariant set: the mean over signed permutations by enumeration, and the slope by differences of the loss.

The lemma's claims are checked at small and large sizes, and for other laws of the encodings.
"""

from itertools import permutations, product

import numpy as np
import pytest
import sympy as sp

import verify
from tests.theorems.sparse_token_selection.test_sign_attention import means
from theorems.sparse_token_selection.invariant_set import LOSS, SCALE_STEP, P, R, alpha, mean_entry
from verify import Outcome, load_theorem


@pytest.mark.parametrize("n", [2, 3])
def test_the_mean_over_the_signed_permutations_is_a_multiple_of_the_identity(n):
    matrix = np.arange(1.0, n * n + 1).reshape(n, n) ** 2
    total = np.zeros((n, n))
    group = [
        np.eye(n)[list(order)] * np.array(signs)
        for order in permutations(range(n))
        for signs in product((1, -1), repeat=n)
    ]
    for g in group:
        total += g @ matrix @ g.T
    assert np.allclose(total / len(group), np.trace(matrix) / n * np.eye(n), rtol=1e-12)
    written = sp.Matrix(n, n, lambda i, j: sp.Integer(int(matrix[i, j])))
    for i, j in product(range(n), repeat=2):
        assert mean_entry(written, i, j).doit() == (sp.Rational(int(np.trace(matrix)), n) if i == j else 0)


def test_only_a_square_matrix_has_one():
    with pytest.raises(sp.matrices.exceptions.ShapeError, match="must be square"):
        mean_entry(sp.zeros(2, 3), 0, 0)


def test_the_slope_in_the_logit_scale_is_the_one_of_the_loss():
    """Compute the slope (1/d_e) dL/dC by central differences of P and R, which are means over all signs."""
    T, q, d, D, a, C, h = 4, 3, 2, 3, 1.3, 0.8, 1e-4
    (low_P, low_R), (high_P, high_R), (at_P, at_R) = (means(T, q, D, False, c) for c in (C - h, C + h, C))

    def loss(p, r):
        return float(
            LOSS.subs(
                {
                    alpha: a,
                    P: p,
                    R: r,
                    sp.Symbol("d", integer=True, positive=True): d,
                    sp.Symbol("q", integer=True, positive=True): q,
                }
            )
        )

    difference = (loss(high_P, high_R) - loss(low_P, low_R)) / (2 * h) / D
    values = {
        "alpha": a,
        "P_slope": (high_P - low_P) / (2 * h),
        "R_slope": (high_R - low_R) / (2 * h),
        "d": d,
        "d_e": D,
        "q": q,
    }
    claimed = SCALE_STEP.right.subs({s: values[s.name] for s in SCALE_STEP.right.free_symbols})
    assert float(claimed) == pytest.approx(difference, rel=1e-9)
    assert at_P > 0 and at_R > 0


SMALL = {"T": 3, "q": 2, "d": 1, "d_e": 2}


@pytest.mark.parametrize("attend", ["tokens", "tokens_and_query"])
@pytest.mark.parametrize("law", ["signs", "axes"])
def test_the_full_gradient_decides_it_at_small_sizes(attend, law):
    result = verify.check(load_theorem("wang2024.lemma2"), **SMALL, attend=attend, law=law, alpha="5/4", C="3/2")
    assert result.outcome is Outcome.VERIFIED and result.in_scope
    assert [str(clause.evidence) for clause in result.clauses] == ["certified"] * 3 + ["proved"] * 5
    assert all(clause.margin == 0 for clause in result.clauses if clause.role == "claim")


def test_a_law_that_signed_permutations_do_not_preserve_is_out_of_scope_and_refuted():
    result = verify.check(load_theorem("wang2024.lemma2"), **SMALL, law="first_plus")
    assert result.outcome is Outcome.OUT_OF_SCOPE and result.claim_outcome is Outcome.REFUTED
    holds = {clause.label: clause.holds for clause in result.clauses if clause.role == "claim"}
    assert holds == {"kept": False, "loss_on_the_set": True, "steps": False}


def test_a_law_without_a_name_is_supposed_to_be_preserved():
    said = {}
    for law in ("signs", "axes", "first_plus", "any"):
        hypotheses = verify.conditions("wang2024.lemma2", law=law).hypotheses
        said[law] = next(h.status for h in hypotheses if h.label == "signed_permutations")
    assert said == {"signs": "holds", "axes": "holds", "first_plus": "fails", "any": "assumed"}


@pytest.mark.parametrize(
    ("instance", "why"), [({"T": 10**6, "q": 7, "d": 3, "d_e": 1}, "too many encodings"), (SMALL, "law = any")]
)
def test_where_not_all_encodings_are_gone_through_it_says_so(instance, why):
    law = "any" if instance is SMALL else "signs"
    result = verify.check(load_theorem("wang2024.lemma2"), **instance, law=law)
    assert result.outcome is Outcome.INCONCLUSIVE and result.in_scope
    claims = [clause for clause in result.clauses if clause.role == "claim"]
    assert all(why in clause.detail and clause.for_all_parameters.standing == "argued" for clause in claims)
    assert {str(clause.evidence) for clause in result.clauses if clause.role == "step"} == {"proved"}
