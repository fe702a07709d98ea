"""The checks of Wang et al. 2024, grouped by the paper's objects.

One-hot encoding: `reduced_dynamics` and `w_star_block`, which use `recursion` (Lemma 1 in float64) and `layer` (that
recursion against the simulated layer). Stochastic encoding: `stochastic_encoding` and `encoding_readings`, which use
`on_the_set` (population descent on α and C). Other lengths: `length_generalisation`. Widths: `width_lower_bound` and
`separation`.

The figures: `figures`, with verdicts on a caption's words in `captions`, and the curves of theory in `predictions`. The
value at which Figure 1's loss ends: `schedule` and `gap_ledger`. Phase diagrams: `diagrams`.

The findings: `one_hot_findings`, `encoding_findings` and `figure_findings`, which share `premises`. Their numbers are
derived a second time `by_counting` signs, `by_sampling` them, or, with one-hot encoding, `by_softmax`.
"""
