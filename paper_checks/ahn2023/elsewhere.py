"""Losses on other prompts: of weights that are best for n examples, and of methods adapted to these prompts.

The other prompts have m examples, x ~ N(0, Σ') and w* ~ N(0, Σ'^{-1}). Σ' is `scale` R Σ Rᵀ, where R rotates by
`angle` degrees in the plane of the eigenvectors of Σ's largest and least eigenvalues. S is the mean of x xᵀ over a
prompt's examples after whitening. The following are compared on these prompts:

- weights that are best for n examples and Σ, with exact losses: Theorem 3's steps, the lowest critical point found of
  Theorem 4, and one step for all layers. If Σ' is a multiple of Σ, these losses are sums of expected traces of powers
  of S. Otherwise they are sums of expected traces of words in S and in a matrix K with the eigenvalues of Σ^{-1}Σ';
  Theorem 4's point is then left out at L = 3, because its words are too long. A mean over sampled prompts cannot
  replace the exact loss, because prompts that are too rare to be drawn contribute most of it;
- methods that know Σ' and m, with exact losses: Theorem 3's steps for m, which are the best steps with the
  preconditioner Σ'^{-1}; Chebyshev's steps with this preconditioner, for the interval between (1 − √(d/m))² and
  (1 + √(d/m))², the support of the limit of S's nonzero spectrum; and gradient descent without a preconditioner, with
  the best equal steps. With m < d examples S is singular, and no steps reduce the error outside the examples' span;
- methods that are fitted to each prompt: L steps of conjugate gradients preconditioned by Σ'^{-1}, by simulation, and
  least squares of least Σ'-norm, with the loss d − m for m < d and 0 for m ≥ d.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import comb, cos, pi, prod, radians, sin, sqrt

import numpy as np
import sympy as sp

from paper_checks.ahn2023.multiples_of_the_inverse import minimum, on_multiples
from paper_checks.ahn2023.predictions import spectrum_of
from paper_checks.ahn2023.token_preconditioning import Point, critical_points, moved, on_set
from theorems.papers import AHN2023
from theorems.preconditioned_descent import critical_steps
from theorems.wishart import n as samples, word_formula
from verify import Curve, Experiment, InputError, Measurement, Parameter, Setting, Source
from verify.language.parameters import Instance
from verify.outcomes import as_float

OVER, LOSS = "m: examples in the prompts", "mean squared error"
MOST_LAYERS = 3
"""Maximum number of layers: for more, Theorem 4's polynomial has a degree of 40 or more."""
x = sp.Symbol("x")
WORDS = {"I": 0, "K": 1, "KK": 2}
"""The letters that stand between the factors S of a word, each with its power of K."""
MOST_FACTORS = 8
"""Maximum number of factors S of a word. Theorem 4 needs 8 with two layers, which take a second, and 26 with three."""


def shared_step(L: int, d: int, n: int) -> float:
    """Return the step that is best for n examples if all layers have the same step."""
    (point,) = (p for p in critical_steps.critical_points(L, d, n).points if p.multiplicities == (L,))
    return as_float(point.steps[0])  # pyright: ignore[reportReturnType]


def chebyshev(L: int, d: int, m: int) -> list[float]:
    """Return the steps of Chebyshev's polynomial on the interval of the limit of S's nonzero spectrum."""
    low, high = (1 - sqrt(d / m)) ** 2, (1 + sqrt(d / m)) ** 2
    return [2 / (low + high + (high - low) * cos(pi * (2 * k + 1) / (2 * L))) for k in range(L)]


def relative_spectrum(spectrum: Sequence[float], angle: float, scale: float) -> list[float]:
    """Return the eigenvalues of Σ^{-1} Σ': two have the product scale², all others are `scale`; `angle` is in degrees.

    If Σ is diag(λ, μ) in the plane and R rotates by φ, then tr Σ^{-1} R Σ Rᵀ = 2 + sin² φ (λ/μ + μ/λ − 2) there.
    """
    if len(spectrum) == 1:
        return [scale]
    ratio = max(spectrum) / min(spectrum)
    half = 1 + sin(radians(angle)) ** 2 * (ratio + 1 / ratio - 2) / 2
    largest = half + sqrt(half**2 - 1)
    return [scale * largest, scale / largest, *[scale] * (len(spectrum) - 2)]


@cache
def _word(j: int, k: int) -> dict[tuple[int, ...], list[float]]:
    """Return the terms of E tr (KS)^j (SK)^k: for each product of traces of powers of K, a polynomial in 1/m.

    A key lists the powers of K; its value lists the polynomial's coefficients, from the highest power of 1/m down.
    """
    letters = ["K"] * (j + k) if 0 in (j, k) else [*["K"] * (j - 1), "I", *["K"] * (k - 1), "KK"]
    found: dict[tuple[int, ...], sp.Expr] = defaultdict(lambda: sp.S.Zero)
    for traces, coefficient in word_formula([letters], set(WORDS)).items():
        found[tuple(sorted(sum(WORDS[letter] for letter in word) for word in traces))] += coefficient
    return {
        powers: [float(c) for c in sp.Poly(total.subs(samples, 1 / x), x).all_coeffs()]
        for powers, total in found.items()
    }


def words(order: int, seen: Sequence[float], m: int) -> np.ndarray:
    """Return E tr (KS)^j (SK)^k for j, k up to `order`, for K's eigenvalues `seen` and S of m examples at Σ = I."""
    traces = [sum(value**i for value in seen) for i in range(2 * order + 1)]

    def word(j: int, k: int) -> float:
        if j + k == 0:
            return traces[0]
        terms = _word(min(j, k), max(j, k)).items()
        return sum(float(np.polyval(c, 1 / m)) * prod(traces[i] for i in powers) for powers, c in terms)

    return np.array([[word(j, k) for k in range(order + 1)] for j in range(order + 1)])


def on_turned(coefficients: Sequence[float], seen: Sequence[float], m: int) -> float:
    """Return E tr p(KS) p(SK), the loss of weights whose error is p(SK) w*; p's coefficients are in ascending order."""
    c = np.array(coefficients)
    return float(c @ words(len(c) - 1, seen, m) @ c)


def best_equal_steps(L: int, seen: Sequence[float], m: int) -> tuple[float, float]:
    """Return the a at which L equal steps a K have the least loss on prompts of m examples, and this loss."""
    terms, loss = words(L, seen, m), np.zeros(2 * L + 1)
    for j in range(L + 1):
        for k in range(L + 1):
            loss[j + k] += comb(L, j) * comb(L, k) * (-1) ** (j + k) * terms[j, k]
    f = np.polynomial.Polynomial(loss)
    # f tends to infinity on both sides, so its least value is at a root of f' that is real up to rounding.
    steps = [float(a.real) for a in f.deriv().roots() if abs(a.imag) < 1e-6 * abs(a)]
    return min(((a, float(f(a))) for a in steps), key=lambda each: each[1])


def _left(point: Point) -> list[float]:
    """Return the ascending coefficients of Theorem 4's r_L."""
    L = len(point.a)
    put = dict(zip((*moved.steps[:L], *moved.rates[: L - 1]), (*point.a, *point.b[: L - 1]), strict=True))
    r = moved.polynomials(L, moved.s).as_poly(moved.s)
    return [float(c.xreplace(put)) for c in reversed(r.all_coeffs())]


def exact_losses(
    L: int, d: int, n: int, scale: float, angle: float = 0, spectrum: Sequence[float] | None = None
) -> dict[str, Callable[[int], float]]:
    """Return, by name, functions from m to the exact loss at m examples; Σ is I unless its spectrum is given.

    Theorem 4's weights are left out if their loss needs words of more than MOST_FACTORS factors.
    """
    spectrum = spectrum or [1.0] * d
    steps, point, step = minimum(L, d, n)[0], critical_points(L, d, n)[0], shared_step(L, d, n)
    knowing = {
        "best_steps_for_m": lambda m: minimum(L, d, m)[1],
        "chebyshev_for_m": lambda m: on_multiples(chebyshev(L, d, m), d, m).loss,
        "gradient_descent_for_m": lambda m: best_equal_steps(L, spectrum, m)[1],
        "least_squares": lambda m: float(max(d - m, 0)),
    }
    seen = relative_spectrum(spectrum, angle, scale)
    if min(seen) == max(seen):
        return {
            "steps_of_theorem_3": lambda m: on_multiples([scale * a for a in steps], d, m).loss,
            "weights_of_theorem_4": lambda m: on_set([scale * a for a in point.a], point.b, d, m).loss,
            "one_step_for_all_layers": lambda m: on_multiples([scale * step] * L, d, m).loss,
        } | knowing
    ascending = {
        "steps_of_theorem_3": np.poly(steps),
        "weights_of_theorem_4": _left(point) if 3**L - 1 <= MOST_FACTORS else None,
        "one_step_for_all_layers": np.poly([step] * L),
    }
    return {name: lambda m, c=c: on_turned(c, seen, m) for name, c in ascending.items() if c is not None} | knowing


def _measured(settings: Instance, *, seed: int, device: str) -> Mapping[str, Curve]:
    import torch

    from numerics.preconditioned_descent.predictor_figures import whole_numbers
    from numerics.preconditioned_descent.predictors import conjugate_gradients
    from numerics.preconditioned_descent.reduced import draw

    L, d, n, count = (int(settings[name]) for name in ("L", "d", "n", "prompts"))
    scale, angle = float(settings["scale"]), float(settings["angle"])
    tested, spectrum = whole_numbers(settings, "examples"), spectrum_of(settings)
    if L > MOST_LAYERS:
        raise InputError("L", L, f"must be at most {MOST_LAYERS}")
    if d in tested:
        raise InputError("examples", d, "must not be d: Chebyshev's interval would begin at 0")
    if angle and d == 1:
        raise InputError("angle", settings["angle"], "must be 0 at d = 1, where there is no plane to turn in")
    exact = exact_losses(L, d, n, scale, angle, spectrum)
    found = {name: [Measurement(loss(m)) for m in tested] for name, loss in exact.items()}
    found["conjugate_gradients"] = []
    # With the preconditioner Σ'^{-1}, the losses of conjugate gradients do not depend on Σ'.
    identity = torch.eye(d, dtype=torch.float64, device=device)
    for place, m in enumerate(tested):
        prompts = draw(count, m, identity, identity, seed, step=place)
        each = (conjugate_gradients(identity, prompts, L) * prompts.query).sum(dim=0).square()
        found["conjugate_gradients"].append(Measurement(float(each.mean()), float(each.std()) / sqrt(count), count))
    points = tuple(map(float, tested))
    return {name: Curve(OVER, LOSS, points, tuple(values), logarithmic=True) for name, values in found.items()}


elsewhere = Experiment(
    id="ahn2023.elsewhere",
    title="Weights that are best for n examples, on prompts of other lengths and covariances",
    source=Source("Theorems 3 and 4", "derived here", AHN2023),
    settings=(
        Setting(Parameter("L", "integer", "number of layers, and of steps", minimum=1), 2, 3),
        Setting(Parameter("d", "integer", "dimension of a token", minimum=1), 5, 5),
        Setting(Parameter("n", "integer", "examples that the weights are best for", minimum=1), 20, 20),
        Setting(
            Parameter("examples", "rationals", "numbers of examples of the prompts, none of them d", minimum=1),
            "10,15,20,25,30,40,57,100,200",
            "10,15,20,25,30,40,57,100,200",
        ),
        Setting(Parameter("spectrum", "word", "Σ's eigenvalues", words=("printed", "even")), "printed", "printed"),
        Setting(Parameter("least", "rational", "last of Σ's even eigenvalues, from 1 on", above=0), "1/4", "1/4"),
        Setting(Parameter("scale", "rational", "factor of the prompts' covariance", above=0), 1, 1),
        Setting(Parameter("angle", "rational", "degrees by which their covariance is turned", minimum=0), 0, 0),
        Setting(Parameter("prompts", "integer", "prompts for conjugate gradients", minimum=2), 20_000, 200_000),
    ),
    measure=_measured,
)
