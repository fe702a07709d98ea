r"""A gradient step of softmax regression and a self-attention layer, as definitions, and trials of claims about them.

On a task A, b the step is softmax(Ax_1) with x_1 = −η H ∇L(0), L(x) = ½‖softmax(Ax) − b‖². Row i of the layer attends
to all rows with scores s_ij = a_iᵀWa_j and reads the mean of the values n b_j under their softmax; the prediction is
the softmax of v times the rows' readings.
"""

from collections.abc import Iterator
from math import log, sqrt
from typing import TYPE_CHECKING, NamedTuple

from verify import Trial, UndefinedError

if TYPE_CHECKING:
    import numpy as np
    import sympy as sp
    from numpy.random import Generator

    from verify.claims.in_words import Trials
    from verify.language.parameters import Instance

MOST_ROWS = 1000
TASKS = 3
SIZES = tuple(10.0**-power for power in range(1, 10))
"""Decreasing sizes of the layers' scores."""


class Task(NamedTuple):
    """A and b, and a preconditioner H."""

    data: "np.ndarray"
    target: "np.ndarray"
    preconditioner: "np.ndarray"

    @property
    def spread(self) -> float:
        """Return the largest difference of two scores of W = H within a row."""
        import numpy as np

        return float(np.ptp(self.data @ self.preconditioner @ self.data.T, axis=1).max())


def step_logits(task: Task, eta: float) -> "np.ndarray":
    """Return the logits after a gradient step from 0."""
    import numpy as np

    data, target, preconditioner = task
    n = len(target)
    jacobian = np.eye(n) / n - 1 / n**2
    slopes = data.T @ (jacobian @ (1 / n - target))
    return data @ (-eta * preconditioner @ slopes)


def layer_logits(task: Task, w: float, v: float) -> "np.ndarray":
    """Return v times the rows' readings, less v: subtracting v from every logit does not change softmax.

    The reading of row i less 1 is Σ_j (q_ij − 1/n) n b_j, with q_i the softmax of the scores of row i. q_ij − 1/n is
    computed from e^s − 1, so that small scores lose no digits.
    """
    import numpy as np

    data, target, preconditioner = task
    scores = data @ (w * preconditioner) @ data.T
    rises = np.expm1(scores - scores.mean(1, keepdims=True))
    means = rises.mean(1, keepdims=True)
    return v * ((rises - means) / (1 + means)) @ target


def rounding(task: Task, eta: float, w: float) -> float:
    """Return a bound on the error of the distance of the two predictions, at v = η/(n w).

    A score is a sum of d² products and a logit a sum of n: the error of a logit is at most (2d² + 2n + 20) 2⁻⁵³ times
    the sum of the absolute values of all terms, and softmax halves it. The factor 4 is for the step's logits and for
    e^s − 1, whose derivative is at most 2 here.
    """
    import numpy as np

    data, target, preconditioner = map(abs, task)
    n, d = data.shape
    terms = (data @ preconditioner @ data.T) @ (target + 1 / n)
    terms = terms + (data @ preconditioner @ data.T).mean(1)
    return float(4 * (2 * d**2 + 2 * n + 20) * 2.0**-53 * (eta / n * np.linalg.norm(terms) + sqrt(n)))


def drawn_task(random: "Generator", n: int, preconditioner: "np.ndarray") -> Task:
    """Return Gaussian data and a random target on the simplex, from nearly uniform to a few large entries."""
    data = random.normal(size=(n, len(preconditioner)))
    weights = random.gamma(10 ** random.uniform(-1, 1), size=n) + 1e-12
    return Task(data, weights / weights.sum(), preconditioner)


def _read(instance: "Instance") -> int:
    n = int(instance["n"])
    if n > MOST_ROWS:
        raise UndefinedError(f"n = {n}: attention of n rows to n rows is drawn up to n = {MOST_ROWS}")
    return n


def close(factor: float = 1) -> "Trials":
    """Return trials of the claim that the layer with W = wH and v = `factor` η/(nw) is within √6 ηβwG²/72 of the step.

    The trials are drawn tasks in one to four dimensions. Scores of a row differ by at most G and entries of b by at
    most β, half of the time by as much as possible.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        import numpy as np
        from scipy.special import softmax

        n = _read(instance)
        eta, w, spread, beta = (float(instance[name]) for name in ("eta", "w", "G", "beta"))
        if w * spread > 1 or not 0 < eta / (n * w) < float("inf"):
            raise UndefinedError("the scores of the layer are tried up to w G = 1, at v = eta/(n w) of float64")
        most = sqrt(6) * eta * beta * w * spread**2 / 72
        while True:
            d = int(random.integers(1, 5))
            task = drawn_task(random, n, random.normal(size=(d, d)))
            scale = spread * min(1, random.uniform(0, 2)) / task.spread
            mixed = min(1, beta * min(1, random.uniform(0, 2)) / np.ptp(task.target))
            task = Task(task.data, 1 / n + mixed * (task.target - 1 / n), scale * task.preconditioner)
            layer, step = layer_logits(task, w, factor * eta / (n * w)), step_logits(task, eta)
            distance = float(np.linalg.norm(softmax(layer) - softmax(step)))
            yield Trial(most - distance, rounding(task, eta, w), {"A": task.data.tolist(), "b": task.target.tolist()})

    return trials


def slow_task(n: int) -> Task:
    """Return the task of the family of `first_order_layer`, for n ≥ 4, with scores of range 1 in each row."""
    import numpy as np

    k = n // 4
    b, scores = np.full(n, 1 / n), np.tile(np.repeat([0.0, 1.0, 0.5], [2 * k, 2 * k, n - 4 * k]), (n, 1))
    b[: 2 * k], b[2 * k : 4 * k] = 2 / n, 0
    scores[:2] = 0.5
    scores[0, : 2 * k] = scores[1, 2 * k : 4 * k] = np.repeat([0.0, 1.0], k)
    return Task(np.eye(n), b, scores)


def _apart(task: Task, eta: float, w: float) -> tuple[float, float]:
    """Return the distance of the two predictions over ηβwG², and a bound on its rounding."""
    import numpy as np
    from scipy.special import softmax

    unit = eta * np.ptp(task.target) * w * task.spread**2
    layer, step = layer_logits(task, w, eta / (len(task.target) * w)), step_logits(task, eta)
    return float(np.linalg.norm(softmax(layer) - softmax(step)) / unit), rounding(task, eta, w) / unit


def _large_step(n: int) -> float:
    """Return a step size at which, for `slow_task`, all other outputs are n e¹² times smaller than the first two."""
    # The other logits are lower by ηβk/n, β = 2/n.
    return n / (n // 4) * (log(n) + 12) * n / 2


def slope_at_most(factor: "sp.Expr") -> "Trials":
    """Return trials of the claim that as w → 0, |layer − step|/w has a limit of at most `factor` ηβG².

    The trials are `slow_task`, for n ≥ 4, and drawn tasks, with scores of range σ = 10⁻⁵. In units of ηβwG² the
    distance is then within σ/5 + ηβGσ/400 of its limit. First, let φ(t) be the mean of a row's values c at scores t s:
    |φ'''| is at most 5/4 nβ(wG)³, because in units of the ranges E (c − E c)(s − E s)³ is at most 1, and
    3 Cov(c, s) Var s at most 3/16. Second, the second derivative of softmax p along a move e of the logits has the
    entries p_i ((e_i − E e)² − Var e), and its norm is at most 2 max e².
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        n, sigma = _read(instance), 1e-5
        if n >= 4:
            yield trial(slow_task(n), _large_step(n), sigma)
        while True:
            d = int(random.integers(1, 5))
            yield trial(drawn_task(random, n, random.normal(size=(d, d))), 10 ** random.uniform(-1, 3), sigma)

    def trial(task: Task, eta: float, sigma: float) -> Trial:
        import numpy as np

        found, error = _apart(task, eta, sigma / task.spread)
        error += sigma / 5 + eta * np.ptp(task.target) * task.spread * sigma / 400
        return Trial(float(factor) - found, float(error), {"eta": eta, "b": task.target.tolist()})

    return trials


def factor_needed(factor: "sp.Expr") -> "Trials":
    """Return trials of the claim that no c below `factor` is enough for |layer − step| ≤ cηβwG² at all small w.

    `factor` is an expression in n. The trials are `slow_task`, for n ≥ 4, with scores of range σ from 10⁻³ to 10⁻⁵.
    After the step each of the first two rows has a probability of at least (1 − 4·10⁻⁶)/2, and tanh² x is within 2x⁴/3
    of x². So the distance is below its limit for large steps by a relative amount of at most 10⁻⁵ + (ηβσ)² + σ².
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        n = _read(instance)
        if n < 4:
            return
        task, eta = slow_task(n), _large_step(n)
        for sigma in (1e-3, 1e-4, 1e-5):
            found, error = _apart(task, eta, sigma)
            short = 1e-5 + (2 * eta / n * sigma) ** 2 + sigma**2
            least = float(factor.subs(dict.fromkeys(factor.free_symbols, n))) * (1 - short)
            yield Trial(found - least, error, {"w": sigma})

    return trials


def _loss(logits: "np.ndarray", target: "np.ndarray") -> float:
    import numpy as np
    from scipy.special import softmax

    return float(np.sum((softmax(logits) - target) ** 2) / 2)


def least_mean_loss(gain: float = 0) -> "Trials":
    """Return trials of the claim that the infimum of the layers' mean loss is at most any step's mean loss less `gain`.

    The trials are laws of three drawn tasks and steps of size 1/10 to 1000, each with the layers W = wH, v = η/(nw) for
    the step's H; w is 10⁻¹ to 10⁻⁹ times the weight at which the scores differ by at most 1.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        import numpy as np

        n = _read(instance)
        while True:
            eta, d = 10 ** random.uniform(-1, 3), int(random.integers(1, 5))
            preconditioner = random.normal(size=(d, d))
            tasks = [drawn_task(random, n, preconditioner) for _ in range(TASKS)]
            law = random.dirichlet(np.ones(TASKS))
            spread = max(task.spread for task in tasks)
            step = float(law @ [_loss(step_logits(task, eta), task.target) for task in tasks])
            layers = []
            for w in (size / spread for size in SIZES):
                losses = [_loss(layer_logits(task, w, eta / (n * w)), task.target) for task in tasks]
                layers.append(float(law @ losses))
            # The last layer's predictions are within √6 ηβwG²/72, β ≤ 1, of the step's, and a loss has slopes of √2.
            last = SIZES[-1] / spread
            error = sqrt(2) * (sqrt(6) * eta * last * spread**2 / 72 + max(rounding(task, eta, last) for task in tasks))
            tried = {"eta": eta, "H": preconditioner.tolist(), "law": law.tolist()}
            yield Trial(step - gain - min(layers), error, tried)

    return trials
