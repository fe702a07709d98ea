"""The data of each kind of proof, as the re-checker reads it.

Numbers are canonical strings, "p" or "p/q" in lowest terms; balls are pairs of these, midpoint and radius.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import flint
import sympy as sp

from verify.evaluation.arithmetic import enclosure_of_ball, exact_fraction
from verify.language.expressions import to_data
from verify.outcomes import Enclosure
from verify.provers.tube_paths import unit_of

if TYPE_CHECKING:
    from verify.evaluation.iteration import Passage
    from verify.provers.descent_lemma import Coordinate
    from verify.provers.recursions.cycles import Cycle
    from verify.provers.tubes import Horizon

Proof: TypeAlias = dict[str, Any]
"""A proof, or a part of one, as a certificate states it."""
_EXTRA_BITS = 64
"""Number of extra bits in a re-check, so that its own rounding errors matter little."""
_EVERY = 3
"""A certificate states every third checkpoint of a run."""
_INFLATION = 4
"""The radius of the k-th stated checkpoint is multiplied by 4^k, because a re-check rounds in another order."""


def number(value: Fraction | int) -> str:
    """Return the canonical string of a rational."""
    # FLINT writes integers of any length; Python refuses those of more than some thousand digits.
    return str(flint.fmpq(value.numerator, value.denominator))


def rational(text: str) -> Fraction:
    """Return the rational of a canonical string, of any length."""
    above, _, below = text.partition("/")
    return Fraction(int(flint.fmpz(above)), int(flint.fmpz(below or "1")))


def margin_proof(margin: Fraction | Enclosure, bits: int | None) -> Proof:
    """Return the proof of an inequality at an instance: its margin, exact or as a slightly widened enclosure."""
    if not isinstance(margin, Enclosure):
        return {"kind": "exact", "margin": number(margin)}
    assert bits is not None
    return {"kind": "ball", "bits": bits + _EXTRA_BITS, "margin": _widened(margin)}


def _ends(enclosure: Enclosure) -> tuple[Fraction, Fraction]:
    assert enclosure.lower is not None and enclosure.upper is not None
    return Fraction(enclosure.lower), Fraction(enclosure.upper)


def _widened(enclosure: Enclosure) -> list[str]:
    """Return the ends, moved outwards by the width, or by half the distance of the nearer end to 0 if that is less."""
    low, high = _ends(enclosure)
    room = min(high - low, min(abs(low), abs(high)) / 2)
    return [number(low - room), number(high + room)]


def point_proof(point: Mapping[str, Fraction], difference: Fraction | Enclosure, bits: int | None) -> Proof:
    """Return the refutation of an identity, inequality or implication: a point, and the difference of sides there."""
    stated = _widened(difference) if isinstance(difference, Enclosure) else number(difference)
    return {
        "kind": "point",
        "bits": bits + _EXTRA_BITS if bits and isinstance(difference, Enclosure) else None,
        "point": {name: number(value) for name, value in point.items()},
        "difference": stated,
    }


def identity_proof(scope: str, factors: Mapping[sp.Expr, int | None]) -> Proof:
    """Return the proof of an identity: the divisors' factors with a shown sign, and the domain relation of each factor.

    `factors` maps each factor to the place of the relation that shows its sign, −1 if none is needed, or None if no
    sign is shown.
    """
    shown = ((to_data(factor), shift) for factor, shift in factors.items() if shift is not None)
    listed = [{"factor": factor, "shift": None if shift == -1 else shift} for factor, shift in shown]
    return {"kind": "identity", "scope": scope, "factors": listed}


def passage_proof(passage: "Passage") -> Proof:
    """Return the proof that a level is first met at a step."""
    return {"kind": "passage", "steps": passage.step, **_run(passage)}


def early_proof(passage: "Passage") -> Proof:
    """Return the proof that a level is met at a step, whether or not it is met before."""
    return {"kind": "early", "at": passage.step, **_run(passage)}


def tube_proof(horizon: "Horizon") -> Proof:
    """Return the proof that a level is first met within a range of steps, by a tube that the run enters before."""
    ends = ((n.slow, *chain.from_iterable(zip(n.lower, n.upper, strict=True))) for n in horizon.nodes)
    return {
        "kind": "tube",
        "bits": horizon.bits + _EXTRA_BITS,
        "checkpoints": _run(horizon.start)["checkpoints"],
        "start": horizon.start.step,
        "slow": horizon.slow,
        "observable": to_data(horizon.observable),
        "nodes": [[number(x) for x in node] for node in ends],
        "above": horizon.above,
        "steps": [number(step) for step in horizon.steps],
    }


def above_proof(passage: "Passage | None", last: int) -> Proof:
    """Return the proof that the observable is above the level at each step up to `last`; −1 stands for no steps."""
    run = {"bits": 64, "checkpoints": []} if passage is None else _run(passage)
    return {"kind": "above", "last": last, **run}


def excess_proof(passage: "Passage", above_at: int, bits: int) -> Proof:
    """Return the proof that the observable meets one level, and is above another level at the same or a later step."""
    run = {"bits": bits + _EXTRA_BITS, "checkpoints": []}
    return {"kind": "excess", "reached_at": passage.step, "above_at": above_at, **run}


def cycle_proof(cycle: "Cycle") -> Proof:
    """Return the proof that a run enters an invariant set around a cycle."""
    return {
        "kind": "cycle",
        "bits": cycle.bits + _EXTRA_BITS,
        "entry_bits": cycle.passage.bits + _EXTRA_BITS,
        "period": cycle.period,
        "entered_at": cycle.entered_at,
        "centre": [number(x) for x in cycle.centre],
        "axes": [[number(x) for x in row] for row in cycle.axes],
        "radius": number(cycle.radius),
        "checkpoints": [],
    }


def descent_proof(
    metric: Sequence[sp.Expr], coordinates: "Sequence[Coordinate]", cuts: Sequence[int], bits: int
) -> Proof:
    """Return the proof that an observable never increases on an invariant box."""
    return {
        "kind": "descent",
        "bits": bits + _EXTRA_BITS,
        "metric": [to_data(sp.sympify(scale)) for scale in metric],
        "coordinates": [
            {"lower": to_data(sp.sympify(c.lower)), "upper": to_data(sp.sympify(c.upper)), "chart": c.chart}
            for c in coordinates
        ],
        "cuts": list(cuts),
    }


def box_proof(kind: str, centre: Sequence[Fraction], radius: Fraction, bits: int) -> Proof:
    """Return the proof that a box contains exactly one root."""
    box = {"centre": [number(x) for x in centre], "radius": number(radius)}
    return {"kind": kind, "bits": bits + _EXTRA_BITS, **box}


def residual_proof(polynomial: flint.fmpq_poly, roots: Sequence[Enclosure], minimum: Fraction | None = None) -> Proof:
    """Return the proof about a residual polynomial: coefficients, intervals around roots, the least integral."""
    numbers = [number(exact_fraction(coefficient)) for coefficient in polynomial.coeffs()]
    proof = {"kind": "residual", "polynomial": numbers, "roots": [_around(root) for root in roots]}
    return proof if minimum is None else {**proof, "minimum": number(minimum)}


def inverse_roots(roots: list[list[str]]) -> list[Fraction | Enclosure]:
    """Return 1/root in increasing order, for a proof's intervals around roots: enclosures, or numbers if exact."""
    ends = ((1 / Fraction(high), 1 / Fraction(low)) for low, high in roots)
    return [low if low == high else Enclosure(low, high) for low, high in sorted(ends)]


def matrices_proof(
    scalars: Mapping[str, Fraction],
    matrices: Mapping[str, Sequence[Sequence[int]]],
    place: tuple[int, int],
    difference: Fraction,
) -> Proof:
    """Return the refutation of an identity of matrices: scalars, matrices, and the difference at a place."""
    return {
        "kind": "matrices",
        "scalars": {name: number(value) for name, value in scalars.items()},
        "matrices": {name: [[number(x) for x in row] for row in rows] for name, rows in matrices.items()},
        "place": list(place),
        "difference": number(difference),
    }


def _around(root: Enclosure) -> list[str]:
    """Return short ends of an interval around a root; the root itself twice if it is rational."""
    low, high = _ends(root)
    if low == high:
        return [number(low)] * 2
    step = unit_of(high - low, 1)
    return [number(low // step * step), number(-(-high // step) * step)]


def empty_box_proof(kind: str, bits: int) -> Proof:
    """Return the proof that the clause's box contains no root."""
    return {"kind": kind, "bits": bits + _EXTRA_BITS}


def _run(passage: "Passage") -> Proof:
    checkpoints = [
        # A re-check goes on from the wider ball, so each ball has to be wider than the ball before.
        [step, [_ball(x, passage.bits, _INFLATION ** (place + 1)) for x in state]]
        for place, (step, state) in enumerate(passage.checkpoints[::_EVERY])
    ]
    return {"bits": passage.bits + _EXTRA_BITS, "checkpoints": checkpoints}


def _ball(raw: flint.arb, bits: int, wider: int) -> list[str]:
    with flint.ctx.workprec(bits + _EXTRA_BITS):
        low, high = _ends(enclosure_of_ball(raw))
    middle = (low + high) / 2
    size = max(1, abs(middle.numerator).bit_length() - middle.denominator.bit_length() + 1)
    radius = wider * ((high - low) / 2 + Fraction(2) ** (size - bits))
    # Short ends: the midpoint to a few bits below the radius.
    step = unit_of(radius / 16, 1)
    return [number(round(middle / step) * step), number((radius // step + 2) * step)]
