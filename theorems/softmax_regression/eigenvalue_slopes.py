"""Steps of `best_factor`: eigenvectors of J, and the slopes of its largest eigenvalue λ at logits that maximise λ.

p is a row's probability, v an entry of the eigenvector, mu the mean of v, `above` is λ − p, kappa the multiplier, and
φ(p) = p (μ²λ²/(λ − p)² − λ), ψ(p) = φ(p) − κ log p.
"""

import sympy as sp

from theorems.softmax_regression.three_levels import (
    level,
)
from verify import (
    Identity,
    Implication,
    Inequality,
)

p, above, mu, kappa = *sp.symbols("p above mu", positive=True), sp.Symbol("kappa", nonnegative=True)
x, value, first, second, S = *sp.symbols("x v first second", real=True), sp.Symbol("S", positive=True)
centre = sp.Symbol("mean", real=True)

_exponential = sp.exp(x)
_mean, _square = (
    (power * _exponential + rest) / (_exponential + S) for power, rest in ((value, first), (value**2, second))
)
_slope = _exponential / (_exponential + S) * ((value - _mean) ** 2 - (_square - _mean**2))
_eigen = p + above
_curve = 2 * mu**2 * _eigen**2 * (p + 2 * _eigen) / above**4 + kappa / p**2
_phi_slope = mu**2 * _eigen**2 * (_eigen + p) / above**3 - _eigen
# φ at p + x, with λ = p + above held fixed.
_phi = (p + x) * (mu**2 * _eigen**2 / (above - x) ** 2 - _eigen)

SLOPE = Identity(
    "slope", sp.Derivative(_square - _mean**2, x), _slope, "the variance of v has the slope p ((v - mu)^2 - var) in x"
)
_zero, _at = mu**2 * _eigen**2 / above**2, 1 / (2 + S)
_over = _at + above


def _slope_of(share: sp.Expr) -> sp.Expr:
    """Return φ(share), with λ = _at + above for the probability _at of each of two equal rows."""
    return share * (mu**2 * _over**2 / (_over - share) ** 2 - _over)


def _moved(by: sp.Expr) -> sp.Expr:
    """Return the probability of a row whose logit moves from 0 to `by`, while an equal logit moves to −by."""
    return sp.exp(by) / (sp.exp(by) + sp.exp(-by) + S)


APART = Identity(
    "apart",
    sp.Subs(sp.Derivative(_slope_of(_moved(x)) - _slope_of(_moved(-x)), x), x, 0),
    2 * _at * (mu**2 * _over**2 * (_over + _at) / above**3 - _over),
    "two equal logits moved apart by x each way: the difference of their slopes phi(p) = p (mu^2 lambda^2/(lambda - "
    "p)^2 - lambda) changes by 2 p phi'(p) x to the first order",
)
ON_THE_SPHERE = Implication(
    "on_the_sphere",
    (sp.Le(2 * p * value, 2 * kappa),),
    sp.Le(value - kappa / p, 0),
    "psi' = phi' - kappa/p <= 0 where 2 p phi' <= 2 kappa",
)
ONE_ZERO = Implication(
    "one_zero",
    (sp.Eq(_zero, _eigen),),
    sp.Gt(_phi_slope, 0),
    "phi' > 0 where phi = 0, for 0 < p < lambda",
)
CONVEX = Inequality("convex", sp.Gt(_curve, 0, evaluate=False), "psi'' > 0 on (0, lambda)")
SUM_OF_THE_LOGITS = Implication(
    "sum_of_the_logits",
    (sp.Gt(kappa, 0), sp.Eq(kappa * x, value - level), sp.Eq(value, level)),
    sp.Eq(x, 0),
    "z = 0 where kappa z = var - lambda, var = lambda, kappa > 0, z the sum of all logits",
)
EIGENVECTOR = (
    Implication(
        "entry_of_v",
        (sp.Eq(p * (value - centre), level * value),),
        sp.Eq((level - p) * value, -centre * p),
        "(lambda - p) v = -mu p where p (v - mu) = lambda v",
    ),
    Implication(
        "square_of_the_entry",
        (sp.Eq(above * value, -centre * p),),
        sp.Eq((value - centre) ** 2, centre**2 * _eigen**2 / above**2),
        "(v - mu)^2 = mu^2 lambda^2/(lambda - p)^2 where (lambda - p) v = -mu p, p < lambda",
    ),
    Implication(
        "two_above",
        (sp.Gt(value**2 + first**2, 0),),
        sp.Gt((level + p) * value**2 + (level + above) * first**2, level * (value**2 + first**2)),
        "(lambda + a) v^2 + (lambda + b) w^2 > lambda (v^2 + w^2) where a, b > 0, v and w not both 0",
    ),
    Identity(
        "slope_of_phi",
        sp.Subs(sp.Derivative(_phi, x), x, 0),
        _phi_slope,
        "phi(p) = p (mu^2 lambda^2/(lambda - p)^2 - lambda) has the slope mu^2 lambda^2 (lambda + p)/(lambda - p)^3 - "
        "lambda",
    ),
    Identity(
        "bend_of_psi",
        sp.Subs(sp.Derivative(_phi - kappa * sp.log(p + x), (x, 2)), x, 0),
        _curve,
        "psi(p) = phi(p) - kappa log p has psi'' = 2 mu^2 lambda^2 (p + 2 lambda)/(lambda - p)^4 + kappa/p^2",
    ),
)
MEAN_ZERO = (
    Implication(
        "off_the_level",
        (sp.Eq(p * value, level * value), sp.Gt((level - p) ** 2, 0)),
        sp.Eq(value, 0),
        "v = 0 where p v = lambda v, p and lambda different",
    ),
    Inequality(
        "one_level",
        sp.Gt(kappa + above * sp.exp(x) / S, 0, evaluate=False),
        "kappa z + lambda e^z/Z rises with z, at kappa + lambda e^z/Z > 0",
    ),
)
