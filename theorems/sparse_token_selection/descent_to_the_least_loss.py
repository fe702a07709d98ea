r"""Three selected tokens: population gradient descent from zero converges to the least loss on the set of Lemma 2.

On V = (α I, 0), W = diag(0, C I) let G = P²/(3R) and α = (1 + z) P/(3R). Then

    L = d/6 (1 − G + G z²),    ∂L/∂C = −d/6 (1 + z)(G' − z G R'/R),

so that L ≤ L(0) is |z| ≤ 1. Let k = ηK, with |Hessian| ≤ K in (√d α, √d_e C) where L ≤ L(0) and 0 ≤ C ≤ reach.

The idea. A step of at most η is nearly a piece of the gradient flow: while it is in this region, L falls along it by at
least √(1 − k²) ∫|∇L|, as the gradient does not turn by more than that. To come to C = reach the run has to pass all C
before, and L falls by at least √(1 − k²) d/6 F, F the integral over C of the least 6√d_e/d |∇L| at each C. Where that
leaves less than any α has at C = reach, the run never comes there. It is not followed. The region is compact, and the
gradient vanishes at one point of it only, at which G is largest.

K, F, G and its zeros are enclosed at an instance by `attention_curves`, from P and R at some hundred C.

With the figures' sizes K is about 0.40 up to C = 9 attending to Z, and below 0.13 up to C = 13/2 with the query's
token, as the first of the two computations encloses it: η = 1 is small, where bounds that hold for all parameters ask
for η below 0.26 or 0.059 (`descent_on_the_set`, `descent_with_the_query`). The schedule of the figures, 1 and then 1/3,
is one of the step sizes that are covered.

Source: Wang et al. 2024, Theorem 2, [abs]: gradient descent converges globally; everything here is derived here.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from theorems import rules
from theorems.canaries import with_clause
from theorems.papers import WANG2024
from theorems.sparse_token_selection.descent_primitives import (
    gain_at,
    largest_curvature,
    largest_gain_from,
    least_curvature,
    least_fall,
    rise,
    turning_gain,
    turning_point,
    turning_points,
)
from theorems.sparse_token_selection.invariant_set import LOSS, P, P_slope, R, R_slope, alpha
from theorems.sparse_token_selection.task import (
    ATTEND,
    ENCODING_DIMENSION,
    GAUSSIAN_TOKENS,
    LENGTH,
    POPULATION_GRADIENT,
    QUERY,
    SIGN_ENCODING,
    SIGNS_ARE_SYMMETRIC,
    STEP_SIZE,
    SUBSET_FITS,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    ZERO_INITIALISATION,
    ZERO_TOKEN,
    T,
    d,
    d_e,
    eta,
    q,
)
from theorems.sparse_token_selection.trials import sign_runs
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
    Implication,
    Inequality,
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
    Trial,
)
from verify.language.parameters import Instance

if TYPE_CHECKING:
    from numpy.random import Generator

    from verify.claims.in_words import Trials

reach = sp.Symbol("reach", positive=True)
k, x, n, m, s = sp.symbols("k x n m s", real=True)
z = sp.Symbol("z", real=True)
VARIABLES = (k, x, n, m, s, z, alpha, P, R, P_slope, R_slope)

REACH = Parameter("reach", "rational", "a C that the run does not come to", above=0)
THREE = Hypothesis("three_selected", sp.Eq(q, 3), text="q = 3")
MORE_TOKENS = Hypothesis("more_tokens", sp.Gt(T, q))

MODEL = (T, d_e, QUERY, reach)
K = largest_curvature(T, d, d_e, QUERY, reach)
F = least_fall(T, d, d_e, QUERY, reach)
GAIN_AT_REACH = gain_at(T, d_e, QUERY, reach)

AT_Z = {alpha: (1 + z) * P / (q * R)}
GAIN = P**2 / (q * R)
LOSS_IN_Z = Implication(
    "loss_in_z",
    (sp.Gt(R, 0),),
    sp.Eq(LOSS.subs(AT_Z), d / (2 * q) * (1 - GAIN + GAIN * z**2)),
    says="at alpha = (1 + z) P/(qR) L = d/(2q) (1 - G + G z^2), G = P^2/(qR)",
)
SLOPE_IN_Z = Implication(
    "slope_in_z",
    (sp.Gt(R, 0),),
    sp.Eq(
        (d / 2 * (alpha**2 * R_slope - 2 * alpha * P_slope / q)).subs(AT_Z),
        -d / (2 * q) * (1 + z) * (2 * P * P_slope / (q * R) - (1 + z) * GAIN * R_slope / R),
    ),
    says="at alpha = (1 + z) P/(qR) dL/dC = -d/(2q) (1 + z) (2 P P'/(qR) - (1 + z) G R'/R)",
)
SQUARE_BELOW = Implication(
    "square_below",
    (sp.Ge(x, 1 - k), sp.Le(x, 1 + k)),
    sp.Le(x**2, 2 * x - (1 - k**2)),
    says="x^2 <= 2x - (1 - k^2) where 1 - k <= x <= 1 + k",
)
COSINE = Implication(
    "cosine",
    (sp.Ge(n, 0), sp.Le(s, 2 * m - n)),
    sp.Le(n * s, m**2),
    says="n s <= m^2 where s <= 2m - n, n >= 0",
)
SMALL_STEP = Inequality("small_step", sp.Lt(eta * K, 1), says="eta K < 1, K the largest curvature in the region")
NOT_BACK = Inequality(
    "not_back",
    sp.Lt(eta * d / (q * d_e), rise(*MODEL) ** 2),
    says="eta d/(q d_e) < r^2, where P and P/R do not fall for 0 <= C <= r",
)
NOT_REACHED = Inequality(
    "not_reached",
    sp.Gt(sp.sqrt(1 - (eta * K) ** 2) * F, GAIN_AT_REACH),
    says="sqrt(1 - (eta K)^2) F > G at C = reach, F the integral over C of the least 6 sqrt(d_e)/d |grad L| at each C",
)
ONE_TURN = Inequality("one_turn", sp.Eq(turning_points(*MODEL), 1), says="G' has exactly one zero in [0, reach]")
LARGEST = Inequality(
    "largest",
    sp.Lt(largest_gain_from(*MODEL), turning_gain(*MODEL)),
    says="G at C >= reach is below G where G' vanishes",
)
CURVED = Inequality(
    "curved",
    sp.Gt(least_curvature(T, d, d_e, QUERY, reach), 0),
    says="the Hessian has positive eigenvalues where G' vanishes and z = 0",
)
CONVERGES = InWords(
    "converges",
    "with steps of any sizes up to eta, bounded away from 0, (alpha, C) converges to the one stationary point with "
    "0 <= C <= reach, L <= L(0), at which L is least over all alpha and C >= 0; 0 <= C < reach at every step",
)
FALLS = InWords("falls", "at every step, of size s, the loss falls by at least s/2 |grad L|^2")
GEOMETRIC = InWords(
    "geometric",
    "each step, of size s, in the end multiplies the distance to that point in (sqrt(d) alpha, sqrt(d_e) C) by at most "
    "1 - s lambda + delta, for every delta > 0, lambda the least eigenvalue of the Hessian there",
)


def _attending(trials_of: "dict[bool, Trials]") -> "Trials":
    """Return the trials for what the layer attends to at an instance."""

    def trials(instance: Instance, random: "Generator") -> Iterator[Trial]:
        yield from trials_of[instance["attend"] == "tokens_and_query"](instance, random)

    return trials


def _both(function: "Callable[..., Trials]", *arguments: object, **named: object) -> "Trials":
    return _attending({query: function(query, *arguments, **named) for query in (False, True)})


EVALUATIONS = {
    "converges": Evaluation(
        _both(sign_runs.converges, bounded=lambda _: True),
        "(alpha, C/2) converges to that point",
        _both(sign_runs.converges, place=0.5, bounded=lambda _: True),
        draws=100,
        limit=True,
    ),
    "falls": Evaluation(
        _both(sign_runs.falls, eta / 2),
        "at every step, of size s, the loss falls by at least s |grad L|^2",
        _both(sign_runs.falls, eta),
        draws=100,
    ),
    "geometric": Evaluation(
        _both(sign_runs.geometric, lambda step, least, _: 1 - step * least),
        "the same with 1 - 2 s lambda",
        _both(sign_runs.geometric, lambda step, least, _: 1 - 2 * step * least),
        draws=100,
        limit=True,
    ),
}
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, ENCODING_DIMENSION, STEP_SIZE, REACH, ATTEND),
    domain=(SUBSET_FITS,),
    hypotheses=(
        *(GAUSSIAN_TOKENS, SIGN_ENCODING, ZERO_TOKEN, ZERO_INITIALISATION, POPULATION_GRADIENT),
        *(THREE, MORE_TOKENS),
    ),
    variables=VARIABLES,
    claims=(CONVERGES, FALLS, GEOMETRIC),
    steps=(
        *(LOSS_IN_Z, SLOPE_IN_Z, SQUARE_BELOW, COSINE),
        *(SMALL_STEP, NOT_BACK, NOT_REACHED, ONE_TURN, LARGEST, CURVED),
    ),
)
ON_THE_SET = ("wang2024.lemma2:loss_on_the_set", "wang2024.lemma2:steps", "signs_are_symmetric")
ARGUMENT = (
    SIGNS_ARE_SYMMETRIC,
    Inference(
        "region",
        "as P and R are positive, L ≤ L(0) = d/(2q) is |z| ≤ 1; with 0 ≤ C ≤ reach this is the region, in which no "
        "eigenvalue of the Hessian is above K in size",
        ("loss_in_z", "small_step", "three_selected", "more_tokens", "zero_initialisation", *ON_THE_SET),
        "application",
    ),
    Inference(
        "along_a_step",
        "where a step of size s ≤ η is in the region up to some point, the gradient there is S times the gradient g at "
        "its start, S symmetric with eigenvalues from 1 − ηK to 1 + ηK: |Sg|² ≤ 2g·Sg − (1 − η²K²)|g|², and g·Sg ≥ "
        "√(1 − η²K²) |g||Sg|",
        ("region", "square_below", "cosine", "small_step", "population_gradient", "gaussian_tokens"),
        rules.SPECTRAL_THEOREM,
    ),
    Inference(
        "fall",
        "so L falls along a step, as far as it is in the region, by at least √(1 − η²K²) times the integral of |∇L| "
        "over its length, and the step does not leave L ≤ L(0)",
        ("along_a_step", "wang2024.lemma2:kept"),
        rules.FUNDAMENTAL_THEOREM_OF_CALCULUS,
    ),
    Inference(
        "not_across",
        "a step on which C falls begins above r, as by the slope C does not fall where P and P/R rise; up to C = 0 L "
        "would fall by at least the square of the length over 2η, at most d/(2q): the move in C is at most "
        "√(ηd/(q d_e)) < r, and C ≥ 0 at every step",
        ("fall", "slope_in_z", "not_back", *ON_THE_SET),
        rules.DESCENT_LEMMA,
    ),
    Inference(
        "not_far",
        "if a step came to C = reach, L would have fallen on the way by at least √(1 − η²K²) d/(2q) F, by the least "
        "|∇L| at each C, and be at least d/(2q) (1 − G(reach)): this contradicts √(1 − η²K²) F > G(reach)",
        ("fall", "not_across", "not_reached", "loss_in_z", "slope_in_z", *ON_THE_SET),
        "case distinction",
    ),
    Inference(
        "falls",
        "the run and its steps stay in the region, and a step of size s lowers L by at least s(1 − sK/2)|∇L|²",
        ("not_across", "not_far", "small_step"),
        rules.DESCENT_LEMMA,
    ),
    Inference(
        "one_point",
        "where the gradient vanishes in the region, z = 0, and G' = 0 by the slope: there is one such point",
        ("region", "slope_in_z", "one_turn", *ON_THE_SET),
        "application",
    ),
    Inference(
        "greatest",
        "G rises from C = 0 on, as P and P/R do, up to its one turn; at C ≥ reach it is below its value there, and so "
        "it falls from the turn to reach: L ≥ d/(2q) (1 − G) is least at that point over all α and C ≥ 0",
        ("one_turn", "largest", "not_back", "loss_in_z"),
        rules.INTERMEDIATE_VALUE,
    ),
    Inference(
        "converges",
        "the falls add up to d/(2q) at most, so that the gradient tends to 0; α ≤ 2P/(qR) is bounded for 0 ≤ C ≤ "
        "reach, and each limit of a part of the run is a point of the region at which the gradient vanishes",
        ("falls", "one_point", "greatest", "not_far"),
        rules.BOLZANO_WEIERSTRASS,
    ),
    Inference(
        "geometric",
        "the derivative of a step of size s at that point is I − sH, symmetric, with eigenvalues from 1 − sK > 0 to "
        "1 − sλ < 1",
        ("converges", "curved", "small_step"),
        rules.DERIVATIVE,
    ),
)


def derivation() -> Derivation:
    """Return the steps: the loss and the Hessian's determinant at the best α."""
    P_bend, R_bend, slope = sp.symbols("P_bend R_bend slope", real=True)
    corner = d / (2 * d_e) * GAIN / q * (R_bend / R - 2 * P_bend / P)
    mixed = d / d_e * (P / q * (R_slope / R - P_slope / P)) ** 2
    bend = 2 * (P_bend / P - slope**2) - (R_bend / R - (2 * slope) ** 2)
    turned = {P_slope: slope * P, R_slope: 2 * slope * R}
    return Derivation(
        (
            Step("the loss at the best α", LOSS.subs(AT_Z).subs(z, 0), d / (2 * q) * (1 - GAIN)),
            Step(
                "where R'/R = 2P'/P, the Hessian's determinant in (√d α, √d_e C) is −d/(2d_e) R G/q times (log G)''",
                (R * corner - mixed).subs(turned),
                -d / (2 * d_e) * R * GAIN / q * bend,
            ),
        )
    )


_canary = partial(with_clause, STATEMENT)


descent_to_the_least_loss = Theorem(
    id="wang2024.descent_to_the_least_loss",
    title="Stochastic encoding, three selected tokens: population gradient descent converges to the least loss with "
    "C ≥ 0 on the invariant set",
    source=Source("Theorem 2, global convergence", "derived here", WANG2024, "its constants are not known to us"),
    statement=STATEMENT,
    example={"T": 8, "q": 3, "d": 1, "d_e": 8, "eta": "1", "reach": 4, "attend": "tokens_and_query"},
    values={
        "C": turning_point(*MODEL),
        "least_loss": d / (2 * q) * (1 - turning_gain(*MODEL)),
        "largest_curvature": K,
        "least_curvature": least_curvature(T, d, d_e, QUERY, reach),
    },
    derivation=derivation,
    canaries=(
        _canary("half of the curvature's bound", replace(SMALL_STEP, relation=sp.Lt(eta * K, sp.Rational(1, 8)))),
        _canary("two turns", replace(ONE_TURN, relation=sp.Eq(turning_points(*MODEL), 2))),
        _canary(
            "twice as far down",
            replace(NOT_REACHED, relation=sp.Gt(sp.sqrt(1 - (eta * K) ** 2) * F, 2 * GAIN_AT_REACH)),
        ),
        _canary(
            "a gain at reach above the largest", replace(LARGEST, relation=sp.Gt(GAIN_AT_REACH, turning_gain(*MODEL)))
        ),
        _canary("a square above", replace(SQUARE_BELOW, conclusion=sp.Le(x**2, x - (1 - k**2) / 2))),
    ),
    evaluations=EVALUATIONS,
    proof_uses=("wang2024.lemma2",),
    argument=ARGUMENT,
)
