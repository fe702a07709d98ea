"""Descents that are followed to their end, and bounds on the distance of the end from a minimum."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from paper_checks.margins import MOST_COMPARISONS
from verify import Evidence, Outcome, Verdict, student_bound

_MOST = 1e-3
"""Largest distance that `Settled.off` returns: a descent that is further from a minimum has not ended."""
LossAndSlope = Callable[[np.ndarray], tuple[float, np.ndarray]]


class Settled(NamedTuple):
    """The end of a descent: the point (k,), the loss, its slopes (k,) and its second derivatives (k, k)."""

    point: np.ndarray
    loss: float
    slope: np.ndarray
    hessian: np.ndarray

    def off(self, rounding: float, least: float = 1e-7) -> float:
        """Return a bound on the point's distance from a minimum: 2 (‖slope‖ + rounding) / (least curvature).

        `rounding` bounds the error of the slopes, and the factor 2 allows for terms beyond Newton's step. Directions in
        which the curvature is at most `least` times the largest belong to a symmetry, or cannot be distinguished from
        such directions. The least curvature is taken over the others. At most `_MOST` is returned, and 0 at a saddle.
        """
        values = np.linalg.eigvalsh(self.hessian)
        if values[0] < -least * values[-1]:
            # The point is a saddle, or the descent has not ended: no distance is allowed.
            return 0.0
        curvature = float(values[values > least * values[-1]].min())
        return min(2 * (float(np.linalg.norm(self.slope)) + rounding) / curvature, _MOST)


def settled(
    loss: LossAndSlope, start: np.ndarray, *, steps: int = 2000, passes: int = 3, step: float = 1e-5
) -> Settled:
    """Return the end of a descent by L-BFGS, which runs until the slopes are lost in rounding.

    The loss's rounding ends line searches early, so each further pass continues from the end of the last pass. The
    second derivatives are central differences of the slopes, with step size `step`.
    """
    point = start
    for _ in range(passes):
        point = _descended(loss, point, steps)
    return _at(loss, point, step)


def followed(loss: LossAndSlope, end: Settled, *, steps: int = 2000, passes: int = 3, step: float = 1e-5) -> Settled:
    """Return the end of a continued descent; each pass has coordinates in which all curvatures at its start are 1.

    So the descent continues along the floor of steep valleys, in which rounding stops `settled`.
    """
    for _ in range(passes):
        values, directions = np.linalg.eigh(end.hessian)
        values = np.abs(values)
        # Curvatures that are lost in rounding are replaced by the level of the rounding.
        end = _at(
            loss, _descended(loss, end.point, steps, directions / np.sqrt(values.clip(1e-15 * values.max()))), step
        )
    return end


def _descended(loss: LossAndSlope, start: np.ndarray, steps: int, units: np.ndarray | None = None) -> np.ndarray:
    """Return the end of L-BFGS from `start`, in coordinates whose unit vectors are the columns of `units`."""
    from scipy.optimize import minimize

    def along(moved: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = loss(start + units @ moved)
        return value, units.T @ slope

    options = {"maxiter": steps, "maxfun": 4 * steps, "ftol": 0, "gtol": 1e-12, "maxcor": 30}
    if units is None:
        return minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return start + units @ minimize(along, np.zeros_like(start), jac=True, method="L-BFGS-B", options=options).x


def _at(loss: LossAndSlope, point: np.ndarray, step: float) -> Settled:
    value, slope = loss(point)
    each = np.eye(len(point)) * step
    hessian = np.array([(loss(point + one)[1] - loss(point - one)[1]) / (2 * step) for one in each])
    return Settled(point, value, slope, (hessian + hessian.T) / 2)


class OnPrompts(NamedTuple):
    """The end of a descent on a sample of prompts, and the slopes there on each equal part of it, (parts, k)."""

    end: Settled
    slopes: np.ndarray

    def agrees(self, right: np.ndarray, multiples: np.ndarray, share: float) -> Verdict:
        """Compare the end with theory's point `right`, (k,), entry by entry and along each row of `multiples`, (m, k).

        To first order, a part of the prompts moves the end by Newton's step for the part's slopes. The spread of these
        steps over the parts gives the end's standard error. An end that agrees is inconclusive if chance may hide more
        than `share` of theory's value along a row of `multiples` or of theory's largest entry. It is inconclusive too
        if Newton's step from the end is more than a tenth of the bound on chance. An end that is no minimum is refuted.
        """
        if np.linalg.eigvalsh(self.end.hessian)[0] <= 0:
            return Verdict(Outcome.REFUTED, Evidence.SIMULATED, "the end is no minimum", trainings=1)
        parts = len(self.slopes)
        moved = np.linalg.solve(self.end.hessian, self.slopes.T).T
        rows = np.concatenate([np.eye(len(right)), multiples])
        allowed = student_bound(parts, MOST_COMPARISONS) * (moved @ rows.T).std(axis=0, ddof=1) / math.sqrt(parts)
        left = np.abs(rows @ np.linalg.solve(self.end.hessian, self.end.slope))
        worst = float((np.abs(rows @ (self.end.point - right)) / allowed).max())
        verdict = Verdict.within(worst, 1.0, "the end's distance, over the bound on chance, is", Evidence.SIMULATED)
        largest = np.full(len(right), np.abs(right).max())
        hidden = float((allowed / np.concatenate([largest, np.abs(multiples @ right)])).max())
        vague = hidden > share or bool((left > allowed / 10).any())
        outcome = Outcome.INCONCLUSIVE if verdict.holds and vague else verdict.outcome
        detail = (
            f"{verdict.detail}; chance hides {hidden:.0%}, {float((left / allowed).max()):.1e} of it is left to descend"
        )
        return replace(verdict, outcome=outcome, detail=detail, trainings=1)
