"""The reduced dynamics of one-hot encoding: two numbers, compared with the layer trained from the definitions.

In trainings by exact population gradients every entry of every iterate is compared with Lemma 1's recursion. The
gradient alone (exact and from fresh batches), Theorem 1's steps, the fall of the loss and the slope of its inverse are
also compared with theory.
The comparisons import PyTorch and the simulator when they run.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import sympy as sp
from hypothesis import strategies as st

import verify
from paper_checks.margins import MOST_COMPARISONS
from paper_checks.wang2024.recursion import Instance, Point, point_with, recursion
from theorems.sparse_token_selection.inverse_loss_rate import inverse_loss_rate
from theorems.sparse_token_selection.one_hot_convergence import theorem1
from theorems.sparse_token_selection.one_hot_descent import LARGEST_STEP, LEAST_FALL, level
from theorems.sparse_token_selection.one_hot_steps import one_hot_steps
from theorems.sparse_token_selection.reduced_dynamics import C, P, Q, S, alpha, lemma1, w
from theorems.sparse_token_selection.task import T, d, eta, q
from verify import (
    Comparison,
    Crossing,
    Enclosure,
    Evidence,
    Identity,
    Measurement,
    Outcome,
    Statement,
    Verdict,
    agreement,
    all_of,
    in_full,
    load_experiment,
    over_instances,
)

LAYER_SLOPES: tuple[Instance, ...] = ((9, 2, 1, 1.0), (9, 3, 2, 1.0))
RECURSION_SLOPES: tuple[Instance, ...] = ((200, 3, 5, 1.0), (20, 3, 5, 1.0), (50, 12, 2, 0.5))
WORK, WORK_IN_FULL = 2e8, 2e9
"""Largest number of entries of Z that a training by exact gradients computes; this takes some seconds."""


def altered(**right: sp.Expr) -> Statement:
    """Return Lemma 1's statement with other right-hand sides."""
    return lemma1.statement.with_clauses(
        lambda own: replace(own, right=right[own.label]) if own.label in right else own
    )


def _planted() -> dict[str, Statement]:
    """Return wrong recursions: the theorem's canaries, 1 % in each coefficient, and errors that vanish at C = 0."""
    wrong = {c.label: c.statement for c in lemma1.canaries if c.clause in ("loss", "step_alpha", "step_C")}
    right = {clause.label: clause.right for clause in lemma1.statement.clauses if isinstance(clause, Identity)}
    more = sp.Rational(101, 100)
    gain = eta * d / (q * (T - 1)) * alpha * P * Q
    return wrong | {
        "1 % in the loss": altered(loss=more * right["loss"]),
        "1 % in alpha's gain": altered(step_alpha=alpha * (1 - eta * P * S / q) + more * eta * P / q),
        "1 % in alpha's decay": altered(step_alpha=alpha * (1 - more * eta * P * S / q) + eta * P / q),
        "1 % in C's step": altered(step_C=C + more * gain * (1 - alpha * P * (1 - w))),
        "1 % in C's last factor": altered(step_C=C + gain * (1 - more * alpha * P * (1 - w))),
        "1 % in w": altered(**{name: right[name].subs(w, more * w) for name in ("loss", "step_alpha", "step_C")}),
        "S replaced by 1": altered(step_alpha=alpha * (1 - eta * P / q) + eta * P / q),
        "the factor 1 - alpha P (1-w) dropped": altered(step_C=C + gain),
        "w inverted in S": altered(step_alpha=alpha * (1 - eta * P * (P + Q / w) / q) + eta * P / q),
    }


PLANTED = _planted()


class Training(NamedTuple):
    """A training from zero: sizes, step size, steps."""

    T: int
    q: int
    d: int
    eta: float
    steps: int

    @property
    def instance(self) -> Instance:
        """Return the recursion's instance: T, q, d and η."""
        return self.T, self.q, self.d, self.eta


def entries(length: int, subset: int, size: int) -> int:
    """Return the number of entries of Z at all points of the cubature."""
    return math.comb(length, subset) * 2 * length * size * (size + length) * length


@st.composite
def sizes(draw: st.DrawFn, most: float) -> tuple[int, int, int]:
    """Draw T up to 50, q, and d up to 10, with fewer `entries` than `most`."""
    length = draw(st.integers(3, 50).filter(lambda length: entries(length, 1, 1) < most))
    size = draw(st.sampled_from([k for k in range(1, 11) if entries(length, 1, k) < most]))
    return length, draw(st.sampled_from([k for k in range(1, length) if entries(length, k, size) < most])), size


@st.composite
def trainings(draw: st.DrawFn) -> Training:
    """Draw a training by exact population gradients, with any q whose subsets can be enumerated."""
    work = WORK_IN_FULL if in_full() else WORK
    length, subset, size = draw(sizes(work / 5))
    rate = draw(st.sampled_from([1 / 20, 1 / 4, 1 / 2, 1.0]))
    return Training(length, subset, size, rate, max(5, min(60, int(work / entries(length, subset, size)))))


def _held(theory: Statement, drawn: Training, device: str) -> Verdict:
    from paper_checks.wang2024.layer import training_agrees

    return training_agrees(recursion(drawn.instance, theory), drawn.steps, device)


reduced_dynamics = Crossing(
    id="wang2024.reduced_dynamics",
    title="Every entry of every iterate of the full matrices' training from zero agrees with the recursion",
    subject="reduced dynamics, one-hot encoding",
    theorem="wang2024.lemma1",
    exact="wang2024.exact_gradient",
    instances=trainings(),
    held=_held,
    theory=lemma1.statement,
    planted=PLANTED,
    sizes=("T", "q", "d", "steps"),
)


class OnTrajectory(NamedTuple):
    """An instance in the scope of Theorem 1, the C at which gradients are compared on the trajectory, and a seed."""

    T: int
    q: int
    d: int
    eta: float
    C: float
    seed: int

    @property
    def instance(self) -> Instance:
        """Return the recursion's instance: T, q, d and η."""
        return self.T, self.q, self.d, self.eta

    def point(self) -> Point:
        """Return the point of the trajectory."""
        return point_with(recursion(self.instance), self.C)


@st.composite
def points_in_scope(draw: st.DrawFn, longest: int, in_full_longest: int) -> OnTrajectory:
    """Draw (T, q, d, eta) in the scope of Theorem 1, and a point of the trajectory by its C, from 0 to 4."""
    length = draw(st.integers(9, in_full_longest if in_full() else longest))
    subset = draw(st.integers(2, (length - 1) // 4))
    size = draw(st.integers(1, 3))
    rate = draw(st.integers(1, 20)) / (400 * size**2)
    return OnTrajectory(length, subset, size, rate, draw(st.integers(0, 16)) / 4, draw(st.integers(0, 2**31)))


def _exact_gradient(theory: Statement, drawn: OnTrajectory, device: str) -> Verdict:
    from paper_checks.wang2024.layer import exact_gradient, exact_gradient_agrees

    point = drawn.point()
    return exact_gradient_agrees(
        recursion(drawn.instance, theory), point, exact_gradient(drawn.instance, point, device)
    )


exact_gradient_of_the_layer = Crossing(
    id="wang2024.exact_gradient",
    title="Every entry of the full layer's population gradient, by exact cubature, is what the recursion implies",
    subject="population gradient, one-hot encoding",
    theorem="wang2024.lemma1",
    exact="proved for all parameters",
    instances=points_in_scope(14, 18),
    held=_exact_gradient,
    theory=lemma1.statement,
    planted=PLANTED,
    sizes=("T", "q", "d"),
)


def _sampled_gradient(theory: Statement, drawn: OnTrajectory, device: str) -> Verdict:
    from paper_checks.wang2024.layer import batch_gradients, sampled_gradient_agrees

    point = drawn.point()
    found = batch_gradients(drawn.instance, point, seed=drawn.seed, batch_size=500, device=device)
    return sampled_gradient_agrees(recursion(drawn.instance, theory), point, found)


sampled_gradient_of_the_layer = Crossing(
    id="wang2024.sampled_gradient",
    title="The full layer's gradient on fresh batches is what the recursion implies, block by block, entry by entry",
    subject="gradient on fresh batches, one-hot encoding",
    theorem="wang2024.lemma1",
    exact="wang2024.exact_gradient",
    instances=points_in_scope(40, 200),
    held=_sampled_gradient,
    theory=lemma1.statement,
    # 64 batches of 500 resolve about a tenth of a coefficient, and not 1 %.
    planted={
        label: PLANTED[label]
        for label in (
            *(canary.label for canary in lemma1.canaries if canary.clause == "step_alpha" or "flipped" in canary.label),
            *("S replaced by 1", "the factor 1 - alpha P (1-w) dropped", "w inverted in S"),
        )
    },
    sizes=("T", "q", "d"),
)


def _gradient_at_length(*, device: str, full: bool, seed: int) -> Verdict:
    C, alpha = 4, 1
    following = recursion((200, 3, 5, 1.0)).step(Point(alpha, C, math.nan))
    # For I − 11ᵀ/T the mean on the diagonal minus the mean off the diagonal is 1; the step size is 1.
    expected = {"loss": following.loss, "gradient_W": C - following.C, "gradient_V": alpha - following.alpha}
    batches = {"batches": 64, "batch_size": 500 if full else 50}
    experiment = load_experiment("wang2024.one_hot_gradient")
    found = experiment.run(seed=seed, device=device, T=200, q=3, d=5, W=C, V=alpha, **batches).measurements
    # An interval as wide as the value itself would verify nothing.
    return all_of(
        (name, agreement(value, found[name], comparisons=MOST_COMPARISONS, resolution=abs(value)))
        for name, value in expected.items()
    )


lemma1_gradient_at_length = Comparison(
    id="wang2024.lemma1_gradient_at_length",
    title="At T = 200, q = 3, d = 5: the layer's loss and gradient along the identity blocks, on fresh batches",
    theorem="wang2024.lemma1",
    experiment="wang2024.one_hot_gradient",
    compare=_gradient_at_length,
)


def _training(device: str, instance: tuple[object, ...], **settings: object) -> Mapping[str, Measurement]:
    """Return the measurements of training the layer from zero by exact population gradients."""
    length, subset, size, rate = instance
    experiment = load_experiment("wang2024.one_hot_training")
    return experiment.run(device=device, T=length, q=subset, d=size, eta=rate, **settings).measurements


def _steps_to_epsilon(*, device: str, full: bool, seed: int) -> Verdict:
    def verdicts() -> Iterator[tuple[object, Verdict]]:
        for instance, steps in (((9, 2, 1, 1), 600), ((10, 2, 1, 2), 600)):
            checked = verify.check(theorem1, **dict(zip(("T", "q", "d", "eta"), instance, strict=True)), eps="1/200")
            expected = checked.values["steps_to_epsilon"]
            stays = {clause.label: clause.holds for clause in checked.clauses}["stays"]
            found = _training(device, instance, steps=steps, window=10, eps="1/200")
            reached = int(found["steps_to_epsilon"].value) if "steps_to_epsilon" in found else None
            kept = "largest_loss_after" in found and found["largest_loss_after"].value <= 1 / 200
            agree = reached is not None and expected == Enclosure(reached, reached) and stays is kept
            detail = f"reached at step {reached}, then {'kept' if kept else 'left'}; theory {expected.lower}, {stays}"
            yield instance, Verdict.when(agree, detail, Evidence.SIMULATED)

    return over_instances(verdicts())


theorem1_steps = Comparison(
    id="wang2024.theorem1_steps",
    # The step sizes are below 2q, where rounding does not grow; beyond 2q it alone can raise the loss above the level.
    title="The layer's loss reaches 1/200 at the certified step, and stays below it",
    theorem="wang2024.theorem1",
    experiment="wang2024.one_hot_training",
    compare=_steps_to_epsilon,
)


def _steps_between(*, device: str, full: bool, seed: int) -> Verdict:
    def verdicts() -> Iterator[tuple[object, Verdict]]:
        for instance, eps in (((5, 4, 2, "8/3"), "1/1000"), ((4, 1, 1, "4/7"), "1/200")):
            checked = verify.check(one_hot_steps, **dict(zip(("T", "q", "d", "eta"), instance, strict=True)), eps=eps)
            low, high = (float(checked.values[f"steps_at_{end}"].midpoint) for end in ("least", "most"))
            found = _training(device, instance, steps=450, window=10, eps=eps)
            reached = found["steps_to_epsilon"].value if "steps_to_epsilon" in found else math.inf
            detail = f"reached at step {reached:g}, bounds {low:.5g} and {high:.5g}"
            yield instance, Verdict.when(checked.in_scope and low <= reached <= high, detail, Evidence.SIMULATED)

    return over_instances(verdicts())


steps_between_the_bounds = Comparison(
    id="wang2024.steps_between_the_bounds",
    title="The layer's loss first reaches a level between the two bounds on the steps, at the largest step size",
    theorem="wang2024.one_hot_steps",
    experiment="wang2024.one_hot_training",
    compare=_steps_between,
)


class Falling(NamedTuple):
    """Sizes, and the step size as a share of the largest for which the loss is proved to fall."""

    T: int
    q: int
    d: int
    share: float

    @property
    def instance(self) -> Instance:
        """Return the recursion's instance: T, q, d and η."""
        return self.T, self.q, self.d, self.share * float(LARGEST_STEP.subs({q: self.q, d: self.d}))


@st.composite
def falling(draw: st.DrawFn, shares: st.SearchStrategy[float]) -> Falling:
    """Draw sizes in the scope of `wang2024.one_hot_descent`, and a share of its largest step size."""
    length = draw(st.integers(9, 13))
    return Falling(length, draw(st.integers(2, (length - 1) // 4)), draw(st.sampled_from([1, 2, 3, 8])), draw(shares))


def _falls(theory: float, drawn: Falling, device: str) -> Verdict:
    from paper_checks.wang2024.layer import falls_as_bounded

    bound = LEAST_FALL.subs(dict(zip((T, q, d, eta), drawn.instance, strict=True)))
    least_fall = sp.lambdify(level, theory * bound)
    return falls_as_bounded(drawn.instance, least_fall, 400 if in_full() else 30, device)


loss_falls = Crossing(
    id="wang2024.loss_falls",
    title="The full layer's loss falls at every step, at least by the bound",
    subject="fall of the loss, one-hot encoding",
    theorem="wang2024.one_hot_descent",
    exact="proved for all parameters",
    instances=falling(st.integers(1, 20).map(lambda k: k / 20)),
    held=_falls,
    theory=1.0,
    # Near the start a run falls 4 times as fast as the bound, or faster; at small losses 1.4 times at these step sizes.
    planted={"10 times the bound": 10.0},
    sizes=("T", "q", "d"),
)
FAR_TOO_LARGE = falling(st.integers(16, 32).map(float))
"""Step sizes 16 to 32 times the largest: the loss rises."""


def linear(instance: Instance, slope: float, before: float, after: float) -> Verdict:
    """Compare the slope of 1/L over a window with 4η/(T−1) (1 − κr² + …); the odds r fall from `before` to `after`.

    The next term is of order r³, and a share r of the second-order term is allowed for it. That is an estimate: at 40
    digits, the term is −0.07 to −0.6 times κr³ at the instances of this file.
    """
    values = dict(zip((T, q, d, eta), instance, strict=True))
    limit, kappa = (float(inverse_loss_rate.values[name].subs(values)) for name in ("inverse_loss_slope", "correction"))
    least, most = kappa * after**2, kappa * before**2
    detail = f"slope {slope:.6g} = {limit:.6g} (1 - {1 - slope / limit:.3g}), theory {least:.3g} to {most:.3g}"
    if before >= 1:
        return Verdict(Outcome.INCONCLUSIVE, Evidence.COMPUTED, f"{detail}: r = {before:.2g} is not small yet")
    return Verdict.when(least * (1 - before) <= 1 - slope / limit <= most * (1 + before), detail, Evidence.COMPUTED)


def _layer_slope(*, device: str, full: bool, seed: int) -> Verdict:
    steps = 4000 if full else 1000

    def verdicts() -> Iterator[tuple[object, Verdict]]:
        for instance in LAYER_SLOPES:
            found = _training(device, instance, steps=steps, window=steps // 10)
            slope, before, after = (found[name].value for name in ("inverse_loss_slope", "odds_before", "odds_after"))
            yield instance, linear(instance, slope, before, after)

    return over_instances(verdicts())


inverse_loss_of_the_layer = Comparison(
    id="wang2024.inverse_loss_of_the_layer",
    title="The trained layer's inverse loss grows by 4η/(T−1) a step, with the second-order correction",
    theorem="wang2024.inverse_loss_rate",
    experiment="wang2024.one_hot_training",
    compare=_layer_slope,
)


def _recursion_slope(*, device: str, full: bool, seed: int) -> Verdict:
    def verdicts() -> Iterator[tuple[object, Verdict]]:
        for instance in RECURSION_SLOPES:
            length, subset, _, _ = instance
            points = list(recursion(instance).points(500_000 if full else 50_000))
            window = len(points) // 10
            first, last = points[-window - 1], points[-1]
            before, after = ((length - subset) / subset * math.exp(-point.C) for point in (first, last))
            yield instance, linear(instance, (1 / last.loss - 1 / first.loss) / window, before, after)

    return over_instances(verdicts())


inverse_loss_of_the_recursion = Comparison(
    id="wang2024.inverse_loss_of_the_recursion",
    title="The recursion's inverse loss grows by 4η/(T−1) a step, at the paper's length",
    theorem="wang2024.inverse_loss_rate",
    experiment=None,
    compare=_recursion_slope,
    devices=("cpu",),
)
