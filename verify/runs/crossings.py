"""Crossings: a closed form that a theorem gives, compared with whole trainings at instances that Hypothesis draws.

A test of a crossing is an ordinary `@given` test with the fixture `crossing`:

    @given(instance=dynamics.instances)
    def test_dynamics_against_training(crossing, instance):
        crossing.holds(dynamics, instance)

Hypothesis draws the instances and shrinks failures; the fixture enters draws, trainings and the largest deviation into
the ledger.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

from verify.outcomes import Outcome
from verify.runs.verdicts import Drawn, Verdict, over_drawn

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Theory = TypeVar("Theory")

QUICK = 10
"""Number of instances that a crossing's test draws in a quick run: a training takes seconds."""
FULL = 200
"""Number of instances that a crossing's test draws under `--full`."""
LOOKED_THROUGH = 8 * QUICK
"""Maximum number of instances that are drawn to find one that shows a planted error."""
APART = 1_000_003
"""Increase of the seed of a run of draws for each instance drawn before the run, so that no two runs share a seed."""


@dataclass(frozen=True)
class Crossing(Generic[Theory, Drawn]):
    """A comparison, at drawn instances, of theory about an object of a paper with simulations from the definitions.

    Parameters
    ----------
    id, title
        `paper.name`, and one line on the quantities that agree.
    subject
        The object of the paper: the name of its row in the ledger's table.
    theorem
        Id of the theorem that has the closed form; the theorem's file has the derivation.
    exact
        Id of the test or comparison that checks the closed form without training.
    instances
        Strategy that draws the instances; they are named tuples if there are `sizes`.
    held
        `held(theory, instance, device)` simulates, on `cpu` or `cuda`, and returns a `Verdict` with its `ratio`.
    theory
        The closed form, as `held` takes it.
    planted
        Wrong closed forms by label; each must be refuted by a drawn instance.
    sizes
        Names of the instances' integers whose ranges are shown.

    Examples
    --------
    >>> from hypothesis import strategies
    >>> from verify import Crossing, Evidence, Outcome, Verdict
    >>> def held(theory, n, device):
    ...     right = theory(n) == n * (n + 1) // 2
    ...     return Verdict(Outcome.VERIFIED if right else Outcome.REFUTED, Evidence.COMPUTED, f"at {n}", ratio=0.0)
    >>> sums = Crossing(
    ...     "user.sums", "the sum of 1 to n", "sums", "user.sum", "user.exact", strategies.integers(1, 9), held,
    ...     lambda n: n * (n + 1) // 2, {"without the n": lambda n: n * n // 2},
    ... )
    >>> str(sums.caught("without the n", "cpu", examples=20).outcome)
    'refuted'
    """

    id: str
    title: str
    subject: str
    theorem: str
    exact: str
    instances: "SearchStrategy[Drawn]"
    held: Callable[[Theory, Drawn, str], Verdict]
    theory: Theory
    planted: Mapping[str, Theory] = field(default_factory=lambda: MappingProxyType({}))
    sizes: tuple[str, ...] = ()

    def caught(self, label: str, device: str, *, examples: int = LOOKED_THROUGH, seed: int = 0) -> Verdict:
        """Return the verdict on a planted error, refuted by the first drawn instance that shows it.

        Hypothesis draws many instances that resemble earlier instances, so it can happen that no instance of a run
        shows the error. The instances are therefore drawn in runs of at most QUICK, each run with its own seed.
        """
        wrong = self.planted[label]
        begun = 0
        while True:
            verdict = over_drawn(
                self.instances,
                lambda drawn: self.held(wrong, drawn, device),
                examples=min(QUICK, examples - begun),
                seed=seed + begun * APART,
                shrink=False,
            )
            begun += QUICK
            if verdict.outcome is Outcome.REFUTED or begun >= examples:
                return verdict


def in_full() -> bool:
    """Return whether Hypothesis's current profile is `full`, under which strategies draw the papers' own sizes.

    Returns
    -------
    bool
        Whether the profile is `full`.

    Examples
    --------
    >>> import verify
    >>> verify.in_full()
    False
    """
    # Hypothesis is slow to load: only the functions that use it import it.
    from hypothesis import settings

    return settings.get_current_profile_name() == "full"
