"""The exact losses of fixed steps at other numbers of examples, compared with quadrature and fresh prompts."""

from functools import partial

import verify
from paper_checks.ahn2023.multiples_of_the_inverse import minimum
from paper_checks.ahn2023.tensors import ROUNDING, covariance
from theorems.preconditioned_descent.fixed_steps import fixed_steps
from verify import Comparison, Evidence, Measurement, Verdict, agreement, all_of
from verify.outcomes import as_float

SIZES = ((1, 3, 1), (1, 2, 4), (2, 5, 1), (2, 1, 2))
"""(d, n, m) of the quadratures: the step is best for n examples, and the prompts have m examples."""
TESTED = (20, 57, 400)
"""Numbers of examples in the test's prompts, for steps that are best for 20."""
PROMPTS, PROMPTS_IN_FULL = 100_000, 1_000_000


def _loss(name: str, d: int, n: int, m: int) -> float:
    return as_float(verify.check(fixed_steps, d=d, n=n, m=m).values[name])  # pyright: ignore[reportArgumentType, reportReturnType]


def by_quadrature(*, device: str, full: bool, seed: int, factor: float = 1.0) -> Verdict:
    """Decide whether one layer's stated loss, times `factor`, agrees with quadrature at the step that is best for n."""
    del full
    import torch

    from numerics.preconditioned_descent.reference import exact_gradient, pattern

    verdicts: list[tuple[str, Verdict]] = []
    for d, n, m in SIZES:
        sigma, inverse = covariance([1.0, 0.25][:d], seed, device)
        step = torch.tensor(minimum(1, d, n)[0], dtype=torch.float64, device=device)
        found = float(exact_gradient(pattern(step[:, None, None] * inverse), m, sigma, inverse).loss)
        theory = factor * _loss("one_layer_loss", d, n, m)
        off = Verdict.within(abs(found - theory), ROUNDING * theory, "the loss is", Evidence.COMPUTED)
        verdicts.append((f"d = {d}, n = {n}, m = {m}", off))
    return all_of(verdicts)


def on_prompts(*, device: str, full: bool, seed: int, factor: float = 1.0) -> Verdict:
    """Decide whether three layers' stated losses, times `factor`, agree with those of fresh prompts at each length."""
    import torch

    from numerics.preconditioned_descent.experiments import PRINTED_SPECTRUM
    from numerics.preconditioned_descent.reduced import draw, losses

    d, n = 5, 20
    sigma, inverse = covariance(PRINTED_SPECTRUM, seed, device)
    A = torch.tensor(minimum(3, d, n)[0], dtype=torch.float64, device=device)[:, None, None] * inverse
    found: dict[int, Measurement] = {}
    for place, m in enumerate(TESTED):
        count = PROMPTS_IN_FULL if full else PROMPTS
        each = losses(A, None, draw(count, m, sigma, inverse, seed, step=place))
        found[m] = Measurement(float(each.mean()), float(each.std()) / count**0.5, count)
    theory = {m: factor * _loss("three_layer_loss", d, n, m) for m in TESTED}
    held = partial(agreement, comparisons=len(TESTED))
    return all_of([(f"m = {m}", held(theory[m], found[m], resolution=0.1 * theory[m])) for m in TESTED])


fixed_steps_exact = Comparison(
    id="ahn2023.fixed_steps_exact",
    title="One layer's loss at other numbers of examples than its step is best for, by quadrature",
    theorem="ahn2023.fixed_steps",
    experiment=None,
    compare=by_quadrature,
)
fixed_steps_sampled = Comparison(
    id="ahn2023.fixed_steps_sampled",
    title="Three layers that are best for 20 examples: their loss on fresh prompts of 20 to 400 examples",
    theorem="ahn2023.fixed_steps",
    experiment=None,
    compare=on_prompts,
)
