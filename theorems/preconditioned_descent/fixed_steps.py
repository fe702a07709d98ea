r"""Fixed steps at numbers of examples other than the one they are optimal for, and one step shared by all layers.

By Theorem 3's whitening the loss of steps a_l at m examples is f(m) = E tr p(S)² with p(s) = ∏ (1 − a_l s), S = XXᵀ/m
and x ~ N(0, I): for each m the same polynomial is integrated over another spectrum.

*One layer.* At the step n/(n + d + 1), which is best for n examples,

    f(m) = d(d + 1)/(m + d + 1) + d(d + 1)² (n − m)² / (m (m + d + 1) (n + d + 1)²),

the least loss at m plus the cost of the step. f falls with each additional example, towards d((d + 1)/(n + d + 1))².

*Equal steps.* With L equal steps a, as in one looped layer, an additional example never increases f, for all a and L: S
for m + 1 examples is the mean of the m + 1 matrices that leave one of them out, and tr (I − aS)^{2L} is convex in S.

*Different steps.* tr p(S)² is not convex if the a_l differ. At d = 5 the three steps that are best for 20 examples have
a loss that rises with each additional example from 57 on, from 0.0427 to 5 p(1)² = 0.0822. The steps are spread over
the spectrum of 20 examples, but the spectrum of many examples is near 1, where p is not small.

*One step for all layers.* At d = 5, n = 20 three equal steps have a loss above 0.268, whatever their size: more than
twice 0.1336, the loss of the best three steps. In the official code gradient descent has one step size for all steps
in Figures 6 and 7.

Source: derived here.
"""

from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import AHN2023
from theorems.preconditioned_descent.multiples_of_the_inverse import (
    INVERSE_PRIOR,
    LAW,
    LEFT,
    PRODUCT_OF_ERRORS,
    WHITENED,
)
from theorems.preconditioned_descent.setting import (
    DIMENSION,
    EXAMPLES,
    GAUSSIAN_TOKENS,
    LINEAR_ATTENTION,
    PATTERN,
    d,
    n,
    r,
    tau,
)
from theorems.preconditioned_descent.trials.equal_steps import DRAWS, never_rises
from theorems.wishart import trace_moment
from verify import (
    Derivation,
    Evaluation,
    Hypothesis,
    Identity,
    Inequality,
    Inference,
    InWords,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
)

m = sp.Symbol("m", integer=True, positive=True)
a = sp.Symbol("a", positive=True)
summed = sp.Symbol("summed", real=True)
s, at = sp.symbols("s at", real=True)
TESTED = Parameter("m", "integer", "number of examples in the test's prompts", minimum=1)
MULTIPLES = Hypothesis("multiples", text="A_l = a_l Sigma^{-1}, the same at all numbers of examples")
LAYERS, SIZE, SEEN, TURN = 3, 5, 20, 57
"""The three steps: LAYERS of them at d = SIZE, best for SEEN examples; from TURN examples on their loss rises."""


def integral(polynomial: sp.Expr, examples: sp.Expr | int, size: sp.Expr | int) -> sp.Expr:
    """Return ∫ q dμ = Σ q_k E tr S^k for a polynomial q in s, where `size` is the dimension of the tokens."""
    moments = {k: sp.sympify(trace_moment([k], examples, size)) for k in range(sp.degree(polynomial, s) + 1)}
    return sp.Add(*(value * moments[k] for (k,), value in sp.Poly(polynomial, s).terms()))


def least_polynomial(layers: int, examples: int, size: int) -> sp.Expr:
    """Return the p of degree L with p(0) = 1 that minimises ∫ p² dμ; it is orthogonal to s, …, s^L."""
    M = [integral(s**k, examples, size) for k in range(2 * layers + 1)]
    gram = sp.Matrix(layers, layers, lambda i, j: M[i + j + 2])
    found = gram.LUsolve(-sp.Matrix(M[1 : layers + 1]))
    return 1 + sum((value * s ** (k + 1) for k, value in enumerate(found)), sp.S.Zero)


STEP = n / (n + d + 1)
ONE = integral(sp.expand((1 - STEP * s) ** 2), m, d)
LEAST_OF_ONE = d * (d + 1) / (m + d + 1)
COST = d * (d + 1) ** 2 * (n - m) ** 2 / (m * (m + d + 1) * (n + d + 1) ** 2)
FLOOR_OF_ONE = d * ((d + 1) / (n + d + 1)) ** 2

SCALE, WHOLE = sp.Poly(least_polynomial(LAYERS, SEEN, SIZE), s).clear_denoms(convert=True)
"""WHOLE = SCALE · p has integer coefficients, where p is the polynomial of the three steps."""
THREE = sp.factor(integral(sp.expand(WHOLE.as_expr() ** 2), m, SIZE))
"""SCALE² times the loss of the three steps at m examples."""
LIMIT = SIZE * WHOLE.eval(1) ** 2
UNIT = sp.Subs(at**2, at, SCALE)
SHARED = integral(sp.expand((1 - a * s) ** (2 * LAYERS)), SEEN, SIZE)
"""The loss of three equal steps."""


def lost(factor: int) -> sp.Rel:
    """Return the relation: limit > factor/10 · loss(TURN), scaled to integers."""
    scale = TURN ** (2 * LAYERS - 1)
    return sp.Gt(10 * scale * LIMIT, factor * scale * THREE.subs(m, TURN), evaluate=False)


def rising(start: int) -> sp.Rel:
    """Return the relation loss(start + m) > loss(start + m − 1) of the three steps."""
    return sp.Gt(THREE.subs(m, start + m), THREE.subs(m, start - 1 + m), evaluate=False)


EXCESS = Identity(
    "excess",
    ONE,
    LEAST_OF_ONE + COST,
    "one layer that is best for n examples: its loss at m is d (d + 1)/(m + d + 1), the least, plus "
    "d (d + 1)^2 (n - m)^2/(m (m + d + 1) (n + d + 1)^2)",
)
FALLS = Inequality(
    "falls",
    sp.Gt(ONE - ONE.subs(m, m + 1), 0, evaluate=False),
    "the loss of this layer falls with each additional example",
)
FLOOR = Inequality(
    "floor",
    sp.Gt(ONE, FLOOR_OF_ONE, evaluate=False),
    "the loss of this layer is above d ((d + 1)/(n + d + 1))^2 at every m",
)
EQUAL = InWords(
    "equal_steps", "with L equal steps a, any a and L, the loss at m + 1 examples is at most that at m examples"
)
RISES = Inequality(
    "rises",
    rising(TURN),
    f"d = {SIZE}: the loss of the three steps that are best for {SEEN} examples rises from m + {TURN - 1} examples to "
    f"m + {TURN}",
)
LOST = Inequality(
    "lost",
    lost(19),
    f"5 p(1)^2, the limit of the loss of the three steps, is more than 19/10 of their loss at {TURN} examples",
)
SHARED_STEP = Inequality(
    "shared_step",
    sp.Gt(SHARED, sp.Rational(67, 250), evaluate=False),
    f"d = {SIZE}, n = {SEEN}: three equal steps a > 0 have a loss above 67/250",
)
LEFT_OUT = Identity(
    "left_out_mean",
    ((m + 1) * summed - summed) / ((m + 1) * m),
    summed / (m + 1),
    "the mean of m + 1 terms is the mean of the m + 1 means that each leave one term out",
)
STATEMENT = Statement(
    parameters=(DIMENSION, EXAMPLES, TESTED),
    hypotheses=(LINEAR_ATTENTION, PATTERN, GAUSSIAN_TOKENS, INVERSE_PRIOR, MULTIPLES),
    variables=(a, summed, r, tau),
    claims=(EXCESS, FALLS, FLOOR, EQUAL, RISES, LOST, SHARED_STEP),
    steps=(WHITENED, LEFT, PRODUCT_OF_ERRORS, LEFT_OUT),
)
ARGUMENT = (
    LAW,
    Inference(
        "loss",
        "the layers multiply w* by p(S), p(s) = ∏ (1 − a_l s), and w* is independent of S and has covariance I: the "
        "loss at m examples is E tr p(S)², S = XX'/m",
        ("ahn2023.lemma1", "whitened", "left_of_w", "product_of_errors", "gaussian_tokens", "multiples"),
        "independent factors",
    ),
    Inference("convex_power", "t ↦ (1 − a t)^{2L} is convex", (), rules.CONVEX_POWERS),
    Inference(
        "convex",
        "tr (I − aS)^{2L} is convex in the symmetric matrix S",
        ("convex_power",),
        rules.CONVEX_TRACE_FUNCTION,
    ),
    Inference(
        "left_out",
        "for m + 1 examples S is the mean of the m + 1 matrices S_i, where S_i leaves example i out; each S_i has the "
        "law of S for m examples",
        ("gaussian_tokens", "left_out_mean"),
        rules.EXCHANGEABILITY,
    ),
    Inference(
        "equal_steps",
        "so for m + 1 examples tr (I − aS)^{2L} is at most the mean of the tr (I − aS_i)^{2L}, each of which has the "
        "expectation f(m)",
        ("loss", "convex", "left_out"),
        "Jensen's inequality",
    ),
)


def derivation() -> Derivation:
    """Return the steps: one layer's best step, the three steps' orthogonality, the limits of many examples."""

    def orthogonality(power: int) -> sp.Expr:
        return integral(sp.expand(s**power * WHOLE.as_expr()), m, SIZE)

    at_n = sp.Subs(sp.Derivative(integral(sp.expand((1 - a * s) ** 2), n, d), a), a, STEP)
    orthogonal = tuple(
        Step(f"p is orthogonal to s^{k} at n = {SEEN}", sp.Subs(orthogonality(k), m, SEEN), sp.S.Zero)
        for k in range(1, LAYERS + 1)
    )
    return Derivation(
        (
            Step("the slope of one layer's loss at n vanishes at n/(n + d + 1)", at_n, sp.S.Zero),
            Step("with many examples its loss tends to d (1 − a)²", sp.Limit(ONE, m, sp.oo), FLOOR_OF_ONE),
            *orthogonal,
            Step(
                "with many examples the loss of the three steps, times SCALE², tends to d (SCALE p(1))²",
                sp.Limit(THREE, m, sp.oo),
                LIMIT,
            ),
        )
    )


_changed = partial(with_changes, STATEMENT)
fixed_steps = Theorem(
    id="ahn2023.fixed_steps",
    title="Steps that are best for n examples at other numbers of examples, and one step for all layers",
    source=Source("Theorem 3's steps at other prompts", "derived here", AHN2023),
    statement=STATEMENT,
    example={"d": 5, "n": 20, "m": 100},
    values={
        "one_layer_loss": ONE,
        "least_one_layer_loss": LEAST_OF_ONE,
        "three_layer_loss": THREE / UNIT,
        "three_layer_loss_at_57": sp.Subs(THREE.subs(m, at), at, TURN) / UNIT,
        "three_layer_limit": LIMIT / UNIT,
    },
    derivation=derivation,
    canaries=(
        _changed("the cost times n - m", "excess", right=LEAST_OF_ONE + COST * (n - m)),
        _changed("a floor of the least loss at n", "floor", relation=sp.Gt(ONE, d * (d + 1) / (n + d + 1))),
        _changed("rises from one example earlier", "rises", relation=rising(TURN - 1)),
        _changed("the limit is twice the least", "lost", relation=lost(20)),
        _changed("above 2", "shared_step", relation=sp.Gt(SHARED, 2, evaluate=False)),
    ),
    proof_uses=("ahn2023.lemma1",),
    argument=ARGUMENT,
    evaluations={
        "equal_steps": Evaluation(
            never_rises(0),
            "with L equal steps a, any a and L, the loss at m + 1 examples is at most m/(m + 1) times that at m "
            "examples",
            never_rises(1),
            DRAWS,
        )
    },
)
