"""Length generalisation: a layer that has learnt one draw of encodings, at its own length and at another.

PyTorch and the simulator are imported by the comparisons as they run.
"""

from typing import Any

import verify
from paper_checks.margins import MOST_COMPARISONS
from verify import Comparison, Evidence, Outcome, Verdict, chance, load_experiment, load_theorem

FIXED = {"T": 20, "T_test": 40, "q": 3, "d": 2, "d_e": 60, "C": 8}
FIXED_IN_FULL = {"T": 100, "T_test": 200, "q": 3, "d": 5, "d_e": 170, "C": 10}


def one_draw(floor: float, fresh: float, learnt: Any, beyond: Any) -> Verdict:
    """Compare a layer that has learnt one draw with the best one for fresh draws, below at its length, above beyond.

    `floor` is the least loss of the latter at the length, `fresh` what that layer loses at the longer one.
    """
    off = [chance(measured, MOST_COMPARISONS) for measured in (learnt, beyond)]
    detail = f"{learnt.value:.4g} against the floor {floor:.4g}; beyond {beyond.value:.4g} against {fresh:.4g}"
    if learnt.value - off[0] > floor or beyond.value + off[1] < fresh:
        return Verdict(Outcome.REFUTED, Evidence.SIMULATED, detail)
    surely = learnt.value + off[0] < floor and beyond.value - off[1] > fresh
    return Verdict(Outcome.VERIFIED if surely else Outcome.INCONCLUSIVE, Evidence.SIMULATED, detail)


def _one_draw(*, device: str, full: bool, seed: int) -> Verdict:
    at = FIXED_IN_FULL if full else FIXED
    measured = load_experiment("wang2024.one_fixed_draw").run(seed=seed, device=device, **at).measurements
    sizes = {name: at[name] for name in ("T", "T_test", "q", "d", "d_e")}
    found = verify.check(load_theorem("wang2024.length_generalization"), **sizes, q_test=at["q"]).values
    floor, fresh = (float(found[f"loss_at_{length}_length"].midpoint) for length in ("training", "test"))
    return one_draw(floor, fresh, measured["loss"], measured["loss_test"])


one_draw_does_not_generalise = Comparison(
    id="wang2024.one_draw_does_not_generalise",
    title="A layer that has learnt one draw is below the floor of fresh draws at its length, and worse at twice that",
    theorem="wang2024.length_generalization",
    experiment="wang2024.one_fixed_draw",
    compare=_one_draw,
)
