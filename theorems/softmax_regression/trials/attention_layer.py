r"""A gradient step of softmax regression and a self-attention layer, as definitions, and trials of claims about them.

On a task A, b the step is softmax(Ax_1) with x_1 = −η H ∇L(0), L(x) = ½‖softmax(Ax) − b‖². Row i of the layer attends
to all rows with scores s_ij = a_iᵀWa_j, to values n b_j; the prediction is the softmax of v times what the rows read.
"""

from collections.abc import Iterator
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from verify import Trial, UndefinedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator

    from verify.claims.in_words import Trials
    from verify.language.parameters import Instance

MOST_ROWS = 1000
TASKS = 3
SIZES = tuple(10.0**-power for power in range(1, 10))
"""Of the layers' scores, on the way to 0."""


class Task(NamedTuple):
    """A and b, and a preconditioner H."""

    data: "np.ndarray"
    target: "np.ndarray"
    preconditioner: "np.ndarray"

    @property
    def spread(self) -> float:
        """Return how far the scores of W = H differ within a row."""
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
    """Return v times what the rows read, less v: what is the same in every row moves no output.

    The value that row i reads is less 1 by Σ_j (q_ij − 1/n) n b_j, q_i the softmax of its scores, whose difference
    from 1/n is computed from e^s − 1, so that small scores lose no digits.
    """
    import numpy as np

    data, target, preconditioner = task
    scores = data @ (w * preconditioner) @ data.T
    rises = np.expm1(scores - scores.mean(1, keepdims=True))
    means = rises.mean(1, keepdims=True)
    return v * ((rises - means) / (1 + means)) @ target


def rounding(task: Task, eta: float, w: float) -> float:
    """Return a bound on the error of the distance of the two predictions, at v = η/(n w).

    A score is a sum of d² products, a logit one of n: off by (2d² + 2n + 20) 2⁻⁵³ times what all terms are in absolute
    value, and softmax halves it. The factor 4 is for the step's logits and for e^s − 1, whose slope is at most 2 here.
    """
    import numpy as np

    data, target, preconditioner = map(abs, task)
    n, d = data.shape
    terms = (data @ preconditioner @ data.T) @ (target + 1 / n)
    terms = terms + (data @ preconditioner @ data.T).mean(1)
    return float(4 * (2 * d**2 + 2 * n + 20) * 2.0**-53 * (eta / n * np.linalg.norm(terms) + sqrt(n)))


def drawn_task(random: "Generator", n: int, preconditioner: "np.ndarray") -> Task:
    """Return Gaussian data and a target from the simplex, from nearly uniform to a few entries."""
    data = random.normal(size=(n, len(preconditioner)))
    weights = random.gamma(10 ** random.uniform(-1, 1), size=n) + 1e-12
    return Task(data, weights / weights.sum(), preconditioner)


def _read(instance: "Instance") -> int:
    n = int(instance["n"])
    if n > MOST_ROWS:
        raise UndefinedError(f"n = {n}: attention of n rows to n rows is drawn up to n = {MOST_ROWS}")
    return n


def close(factor: float = 1) -> "Trials":
    """Return trials of: the layer of W = wH and v = `factor` η/(nw) and the step are within √n ηβwG²/16.

    Tried are drawn tasks in one to four dimensions whose scores differ by G at most and targets by β at most, half of
    them by as much.
    """

    def trials(instance: "Instance", random: "Generator") -> Iterator[Trial]:
        import numpy as np
        from scipy.special import softmax

        n = _read(instance)
        eta, w, spread, beta = (float(instance[name]) for name in ("eta", "w", "G", "beta"))
        if w * spread > 1 or not 0 < eta / (n * w) < float("inf"):
            raise UndefinedError("the scores of the layer are tried up to w G = 1, at v = eta/(n w) of float64")
        most = sqrt(n) * eta * beta * w * spread**2 / 16
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


def _loss(logits: "np.ndarray", target: "np.ndarray") -> float:
    import numpy as np
    from scipy.special import softmax

    return float(np.sum((softmax(logits) - target) ** 2) / 2)


def least_mean_loss(gain: float = 0) -> "Trials":
    """Return trials of: the infimum of the mean loss over layers is at most the mean loss of any step, less a gain.

    Tried are laws of three drawn tasks, steps of sizes from 1/10 to 1000, and the layers W = wH, v = η/(nw) of the
    step's H, w from 1/10 to 10⁻⁹ of what makes the scores differ by 1.
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
            # The last layer's predictions are within √n ηβwG²/16, β ≤ 1, of the step's, and a loss has slopes of √2.
            last = SIZES[-1] / spread
            error = sqrt(2) * (sqrt(n) * eta * last * spread**2 / 16 + max(rounding(task, eta, last) for task in tasks))
            tried = {"eta": eta, "H": preconditioner.tolist(), "law": law.tolist()}
            yield Trial(step - gain - min(layers), error, tried)

    return trials
