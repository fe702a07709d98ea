"""The figures' captions, each a comparison with a verdict on training from the definitions, by theory if it applies.

Quick runs have a smaller T, d and d_e, with nearly the same ratio of the least loss to the zero predictor's, d/(2q);
losses that a caption states as numbers are scaled with d/(2q). In quick runs d_e exceeds T, so that a draw of fixed
encodings may be linearly independent; the figures' own T = 200 exceeds d_e = 170. The verdicts on a caption's words are
defined in `captions`. Figures 6 to 8 are not known to us. "Converges to 0" is refuted by theory, for a run near the set
on which the least loss is enclosed and positive. A claim about fixed encodings is decided over several trainings, each
with its own draw; one training, as under `full`, does not decide it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from paper_checks.margins import above, decided, to_zero
from paper_checks.wang2024.captions import (
    LEARNT,
    inconclusive_from_one_draw,
    linear,
    near,
    on_its_way,
    rising,
    second_half,
    settled,
    sooner,
    stays_above,
    to_one,
    without_positions,
)
from paper_checks.wang2024.on_the_set import annealed, layer
from paper_checks.wang2024.predictions import elsewhere, layer_of, one_hot_descent, stochastic_descent
from verify import Comparison, Evidence, ExperimentResult, Measurement, Outcome, Verdict, all_of, load_experiment

NEAR = 0.1
"""Largest relative deviation of SGD's loss from population gradient descent's; `NEAR_ELSEWHERE` at unseen lengths."""
NEAR_ELSEWHERE = 0.2
PRINTED, NOTHING = 0.15, 5 / 6
"""The printed bound above which the loss with fixed encodings ends, and the zero predictor's loss d/(2q) there."""
MANY = ("runs", "steps", "late", "batch_size", "readings")
"""Settings in which the single run of Figures 1 and 3 differs from the several runs of the other figures."""
BLOCKS = 5
"""The least growth of an identity block, as a multiple of the growth of any other entry."""
POSITIVE = Fraction(1, 20)
"""Relative accuracy of the enclosure of the least loss on the set, which only has to show that the loss is positive."""


@cache
def trained(figure: str, device: str, full: bool, seed: int, **settings: Any) -> ExperimentResult:
    """Run a figure's experiment once for all of its claims, at the settings of `points`; under `full` use the store."""
    from verify.reports.simulate import usable_store

    store = usable_store(None) if full else None
    found = load_experiment(f"wang2024.figure{figure}")
    return found.run(device=device, full=full, seed=seed, store=store, **(points(figure, full) | settings))


def points(figure: str, full: bool) -> dict[str, int]:
    """Return the numbers of validation points and, except in quick runs of Figures 2, 4 and 5, of readings."""
    if figure in ("1", "3"):
        return {"n_test": 20_000 if figure == "1" else 128, "readings": 9}
    return {"n_test": 5000, "readings": 11} if full else {"n_test": 500}


def level_of(result: ExperimentResult, q: int | None = None) -> float:
    """Return the printed bound 0.15, scaled with the zero predictor's loss."""
    return PRINTED / NOTHING * int(result.settings["d"]) / (2 * (q or int(result.settings["q"])))  # type: ignore[arg-type]


def _caption(
    name: str, title: str, read: Callable[..., Verdict], *, figure: str, theorem: str | None = None
) -> Comparison:
    """Return the comparison of a claim: `read` gets a function that runs the figure with given settings, and `full`."""

    def compare(*, device: str, full: bool, seed: int) -> Verdict:
        seen: list[ExperimentResult] = []

        def run(**settings: Any) -> ExperimentResult:
            seen.append(trained(figure, device, full, seed, **settings))
            return seen[-1]

        verdict = read(run, full)
        kept = sum(result.from_store for result in seen)
        return replace(verdict, detail=f"{verdict.detail} ({kept} of {len(seen)} from the store)") if kept else verdict

    return Comparison(f"wang2024.{name}", title, theorem, f"wang2024.figure{figure}", compare)


ATTENDED = ("tokens_and_query", "tokens")
Run = Callable[..., ExperimentResult]


def _to_zero(attend: str) -> Callable[[Run, bool], Verdict]:
    def read(run: Run, full: bool) -> Verdict:
        found = run(attend=attend)
        cosines = {name: found.measurements[f"{name}_end"] for name in ("cosine_W", "cosine_V")}
        return to_zero(found.measurements["loss_end"], layer_of(found.settings).floor(POSITIVE), cosines)

    return read


figure1_loss_to_zero = _caption(
    "figure1_loss_to_zero",
    "Figure 1: attending to [Z, z_query], stochastic encodings, the loss converges to the global minimum of 0",
    _to_zero("tokens_and_query"),
    figure="1",
)
figure1_loss_to_zero_on_tokens = _caption(
    "figure1_loss_to_zero_on_tokens",
    "Figure 1: attending to Z, stochastic encodings, the loss converges to the global minimum of 0",
    _to_zero("tokens"),
    figure="1",
)
figure1_inverse_loss_linear = _caption(
    "figure1_inverse_loss_linear",
    "Figure 1: with stochastic encodings the inverse loss increases linearly",
    lambda run, _: linear(run(attend="tokens_and_query").curves["inverse_loss"]),
    figure="1",
)


def _several(full: bool) -> dict[str, object]:
    """Return the settings of claims about the matrices: none under `full`, else those of Figure 2's quick runs."""
    settings = load_experiment("wang2024.figure2").settings
    return {} if full else {s.parameter.name: s.quick for s in settings if s.parameter.name in MANY} | {"n_test": 128}  # pyright: ignore[reportReturnType]


figure1_cosines_to_one = _caption(
    "figure1_cosines_to_one",
    "Figure 1: the cosines of W with W* and of V with V* tend to 1",
    lambda run, full: all_of((n, to_one(run(**_several(full)).curves[f"cosine_{n}"])) for n in ("W", "V")),
    figure="1",
)


def _population(run: Run, full: bool) -> Verdict:
    def verdicts() -> Iterator[tuple[str, Verdict]]:
        for attend in ATTENDED:
            found = run(attend=attend)
            start = (found.measurements[f"{name}_start"].value for name in ("alpha", "C"))
            losses = {point.step: point.loss for point in stochastic_descent(found.settings, *start)}
            if int(found.curves["loss"].points[-1]) not in losses:
                yield attend, Verdict(Outcome.INCONCLUSIVE, Evidence.SIMULATED, "population descent leaves C >= 0")
                return
            yield attend, near(*second_half(found.curves["loss"], losses), NEAR)

    return all_of(verdicts())


figure1_sgd_is_near_population_descent = _caption(
    "figure1_sgd_is_near_population_descent",
    "Stochastic encodings: SGD at batch 256 is within a tenth of the two numbers' population gradient descent",
    _population,
    figure="1",
)


def _one_hot(run: Run, full: bool) -> Verdict:
    length = 200 if full else 12
    found = run(attend="tokens", encoding="one_hot", scale=0, T=length, d_e=length)
    losses = {point.step: point.loss for point in one_hot_descent(found.settings)}
    return near(*second_half(found.curves["loss"], losses), NEAR)


figure1_one_hot_sgd_is_near_the_recursion = _caption(
    "figure1_one_hot_sgd_is_near_the_recursion",
    "One-hot encoding: SGD at batch 256 from zero is within a tenth of Lemma 1's recursion",
    _one_hot,
    figure="1",
    theorem="wang2024.lemma1",
)


def _lengths(run: Run, full: bool) -> Verdict:
    # This is one training with Figure 1's settings, at batch 256; the losses' errors are conditional on its matrices.
    quick = {} if full else {s.parameter.name: s.quick for s in load_experiment("wang2024.figure1").settings}
    found = run(**{name: quick[name] for name in MANY if name in quick} | points("1", full) | {"n_test": 5000})
    last = [stochastic_descent(found.settings)[-1]]

    def verdicts() -> Iterator[tuple[str, Verdict]]:
        for length in found.settings["T_test"]:  # type: ignore[union-attr]
            theory = elsewhere(found.settings, last, int(length), int(found.settings["q"]))[0][0]  # type: ignore[arg-type]
            yield f"T_test={length}", near([theory], [found.measurements[f"stochastic_T{length}_end"]], NEAR_ELSEWHERE)

    return all_of(verdicts())


figure2_lengths_are_predicted = _caption(
    "figure2_lengths_are_predicted",
    "Stochastic encodings: at each longer sequence the loss ends within a fifth of population descent's loss there",
    _lengths,
    figure="2",
)


def _fixed_stays_above(run: Run, full: bool) -> Verdict:
    found = run()
    fixed = {name: curve for name, curve in found.curves.items() if name.startswith("fixed_T")}
    return inconclusive_from_one_draw(
        all_of((name, stays_above(curve, level_of(found))) for name, curve in fixed.items()), found
    )


figure2_fixed_stays_above_a_constant = _caption(
    "figure2_fixed_stays_above_a_constant",
    "Figure 2: with a fixed encoding the loss at every longer sequence stays above some constant",
    _fixed_stays_above,
    figure="2",
)


def _ten_thousand(*, device: str, full: bool, seed: int) -> Verdict:
    rates = annealed(1.0, 1 / 3, 50_000, 100_000)
    run = {p.step: p for p in layer(200, 3, 5, 170, True).descent(0.0, 0.0, rates) if p.step in (0, 10_000, 100_000)}

    def verdicts() -> Iterator[tuple[str, Verdict]]:
        for length in (250, 300, 350, 400) if full else (400,):
            begin, then, end = (layer(length, 3, 5, 170, True).loss(p.alpha, p.C) for p in run.values())
            share = (begin - then) / (begin - end)
            detail = f"{then:.4g} after 10 000 steps, {end:.4g} after 100 000: {share:.0%} of the way"
            yield f"T_test={length}", on_its_way(share, detail)

    return all_of(verdicts())


figure2_after_ten_thousand_steps = Comparison(
    id="wang2024.figure2_after_ten_thousand_steps",
    title="Figure 2 says that with stochastic encodings the loss converges after about 10 000 steps: population "
    "descent has then made more than half of its way, and less than nine tenths",
    theorem=None,
    experiment=None,
    compare=_ten_thousand,
    devices=("cpu",),
)


def blocks(found: Mapping[str, Measurement]) -> Verdict:
    """Decide whether each identity block grows in training by more than BLOCKS times the growth of any other entry.

    Growth is compared rather than size, because the other entries' size comes mostly from their initial values, whose
    scale is our choice.
    """

    def verdicts() -> Iterator[tuple[str, Verdict]]:
        for name in ("W", "V"):
            grown, other = (found[f"{which}_{name}_growth"] for which in ("identity", "largest_off"))
            before, after = (
                found[f"identity_{name}_{when}"].value / found[f"largest_off_{name}_{when}"].value
                for when in ("before", "after")
            )
            detail = (
                f"identity +{grown.value:.3g}, others +{other.value:.2g} at most; "
                f"identity over the largest other entry {before:.2g} before, {after:.3g} after"
            )
            bound = None if other.standard_error is None else BLOCKS * other.standard_error
            yield name, decided(detail, above(grown, Measurement(BLOCKS * other.value, bound, other.samples)))

    return all_of(verdicts())


figure3_identity_blocks_survive = _caption(
    "figure3_identity_blocks_survive",
    "Figure 3: in training the two identity blocks grow five times as much as any other entry of W and V, or more",
    lambda run, full: blocks(run(**_several(full)).measurements),
    figure="3",
)


def _elsewhere_to_zero(run: Run, full: bool) -> Verdict:
    found = run()
    length = int(found.settings["T_test"])  # type: ignore[arg-type]
    end = found.measurements[f"stochastic_T{length}_end"]
    cosines = {name: found.measurements[f"stochastic_{name}_end"] for name in ("cosine_W", "cosine_V")}
    return to_zero(end, layer_of(found.settings, T=length).floor(POSITIVE), cosines)


def _ends_above(run: Run, full: bool) -> Verdict:
    found = run()
    end = found.measurements[f"fixed_T{found.settings['T_test']}_end"]
    verdict = decided(f"ends at {end.value:.3g}, level {level_of(found):.3g}", above(end, level_of(found)))
    return inconclusive_from_one_draw(verdict, found)


def _sizes(found: ExperimentResult) -> list[int]:
    """Return the subset sizes that training has not seen."""
    return [int(size) for size in found.settings["q_test"]]  # type: ignore[union-attr]


def _settled(found: ExperimentResult, encoding: str, size: int) -> Verdict:
    name, nothing = f"{encoding}_q{size}", int(found.settings["d"]) / (2 * size)  # type: ignore[arg-type]
    return settled(found.curves[name], found.measurements[f"{name}_late_change"], nothing)


def _both_converge(run: Run, full: bool) -> Verdict:
    found = run()
    each = [(encoding, size) for encoding in ("stochastic", "fixed") for size in _sizes(found)]
    return inconclusive_from_one_draw(
        all_of((f"{e}, q_test={size}", _settled(found, e, size)) for e, size in each), found
    )


def _sooner(run: Run, full: bool) -> Verdict:
    found = run()
    d, T = (int(found.settings[name]) for name in ("d", "T"))  # type: ignore[arg-type]

    def verdicts() -> Iterator[tuple[str, Verdict]]:
        for size in _sizes(found):
            pair = (found.curves[f"{encoding}_q{size}"] for encoding in ("stochastic", "fixed"))
            yield f"q_test={size}", sooner(*pair, LEARNT * without_positions(d, size, T))

    return inconclusive_from_one_draw(all_of(verdicts()), found)


def _worse_with_q(run: Run, full: bool) -> Verdict:
    """Decide whether the loss grows with q_test; only settled runs refute it: a longer run may end otherwise."""
    found = run()
    names = [f"q{low}_to_q{high}" for low, high in pairwise(_sizes(found))]
    verdict = inconclusive_from_one_draw(
        rising({name: found.measurements[f"fixed_rise_{name}"] for name in names}), found
    )
    at_rest = all_of((size, _settled(found, "fixed", size)) for size in _sizes(found))
    if verdict.outcome is Outcome.REFUTED and not at_rest.holds:
        why = f"{verdict.detail}; not known to have settled: {at_rest.detail}"
        return replace(verdict, outcome=Outcome.INCONCLUSIVE, detail=why)
    return verdict


def _generalisation(figure: str, by: str) -> tuple[Comparison, ...]:
    """Return the claims of Figure 4, and of Figure 5, which is the same with Adam."""
    return (
        _caption(
            f"figure{figure}_length_to_zero",
            f"Figure {figure}{by}: at the longest sequence the loss with stochastic encodings converges to 0",
            _elsewhere_to_zero,
            figure=figure,
        ),
        _caption(
            f"figure{figure}_fixed_ends_above",
            f"Figure {figure}{by}: there the loss with a fixed encoding ends at 0.15 or more, of 5/6",
            _ends_above,
            figure=figure,
        ),
        _caption(
            f"figure{figure}_both_converge",
            f"Figure {figure}{by}: at unseen q_test both encodings' losses have settled by the end, below d/(2 q_test)",
            _both_converge,
            figure=figure,
        ),
        _caption(
            f"figure{figure}_stochastic_is_quicker",
            f"Figure {figure}{by}: at unseen q_test the loss is first below nine tenths of the least without positions "
            "with stochastic encodings",
            _sooner,
            figure=figure,
        ),
        _caption(
            f"figure{figure}_fixed_is_worse_with_q",
            f"Figure {figure}{by}: with a fixed encoding the loss at the end is worse as q_test grows",
            _worse_with_q,
            figure=figure,
        ),
    )


(
    figure4_length_to_zero,
    figure4_fixed_ends_above,
    figure4_both_converge,
    figure4_stochastic_is_quicker,
    figure4_fixed_is_worse_with_q,
) = _generalisation("4", "")
(
    figure5_length_to_zero,
    figure5_fixed_ends_above,
    figure5_both_converge,
    figure5_stochastic_is_quicker,
    figure5_fixed_is_worse_with_q,
) = _generalisation("5", ", by Adam")
