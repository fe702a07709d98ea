r"""The separation in width: attention with stochastic encoding against fully-connected nets, for one loss.

Attention counts as having the loss ε if the infimum over its layers is at most ε. The infimum need not be attained:
for q = 2 the loss falls as C grows. So if ε equals the infimum, no layer has the loss ε. An example is T = 8, q = 2,
d = 17, share = 27828351/58720256 with d_e = 3.

For the loss ε = σ d/(2q), σ its share of the zero predictor's loss,

- a fully-connected net needs a first layer of at least n(T) = Td (1 − σ (T−1)/(T−q)) units (`fully_connected_width`):
  at least Td/3 for σ ≤ 1/2 and T ≥ 4q, which is the abstract's Ω̃(Td) with its constant;
- attention on the set of Lemma 2 needs tokens of d + d_e numbers, with d_e the dimension at which the least loss falls
  to ε. This d_e depends on T, q and σ alone, and d_e < b(T) + 1 with the closed form b of `loss_floor`. Attending to Z,
  b is of the order of q log² (T/√σ)/σ: the abstract's Õ(d + q log T), if Õ hides a logarithm. For q ≥ 3 and σ below
  1/96, d_e has to grow like log² T (`dimension_lower_bound`), because the selected logits over C differ by about
  √(q/d_e) and are multiplied by C, which is from ½ log T to log T. If q = 2, growth like log T is enough
  (`two_selected`). Attending to [Z, z_query], d_e grows like q², by the approximation of `approximate_gain`: the
  query's own logit over C, |u|², fluctuates by √(2q(q−1)/d_e), and nothing compensates for this.

log² (cT)/T falls for cT ≥ e², and n(T)/T does not fall. So if d + b(T) + 1 ≤ n(T) at one T_0 ≥ 4q, attention is
narrower at every T ≥ T_0. At q = 3, d = 5, σ = 1/8 this shows that attention is narrower from T = 280 on if it attends
to Z, and from T = 2070 on if it attends to [Z, z_query]; in the latter case it is wider at T = 200 (911 to 919 numbers
against 874). The widths themselves cross at a smaller T, between 211 and 215 when attending to [Z, z_query], because
the dimension needed (`d_e_required` of `loss_floor`) is a seventh or an eighth of b there.

*Exponential growth.* At fixed d and q the nets' width grows like T, and attention's width beyond d at most like log² T.
So T is at least exponential in the square root of attention's width beyond d; if this width grows like log T, T is
exponential in it. In d no growth is exponential: at fixed T both widths are of order d for large d, and their ratio is
at most T. At σ = 1/8, q = 3, attending to Z, the widths are at most 92 against 218 at T = 50, 148 against 874
at T = 200, 379 against 21 874 at T = 5000, all with d = 5; at T = 200 the ratio is 5.9 for d = 5, 45 for d = 50 and 170
for d = 5000.

Source: Wang et al. 2024, [abs]: width Õ(d + q log T) against Ω̃(Td). Constants, and the powers of q, are derived here.
"""

from functools import partial

import sympy as sp

from theorems import rules
from theorems.canaries import with_changes
from theorems.papers import WANG2024
from theorems.sparse_token_selection.enough_dimensions import enough
from theorems.sparse_token_selection.enough_dimensions_steps import LEAST, LEAST_WITH_QUERY, SPREAD, SPREAD_WITH_QUERY
from theorems.sparse_token_selection.fully_connected_width import CLASS
from theorems.sparse_token_selection.gain_primitives import least_encoding_dimension
from theorems.sparse_token_selection.loss_floor import SELECTED
from theorems.sparse_token_selection.task import (
    ATTEND,
    LENGTH,
    QUERY,
    SIGNS_ON_THE_SET,
    SUBSET_SIZE,
    TOKEN_DIMENSION,
    T,
    d,
    q,
)
from verify import (
    Derivation,
    Hypothesis,
    Identity,
    Implication,
    Inequality,
    Inference,
    Parameter,
    Source,
    Statement,
    Step,
    Theorem,
)

T_0 = sp.Symbol("T_0", integer=True, positive=True)
share, more, root = sp.symbols("share more root", positive=True)
m, narrow_0, nets_0, narrow, nets, width = sp.symbols("m narrow_0 nets_0 narrow nets width", nonnegative=True)
z = sp.Symbol("z", real=True)

SHARE = Parameter("share", "rational", "the loss, as a share of d/(2q), the zero predictor's", above=0)
START = Parameter(
    "T_0", "integer", "number of tokens from which on attention is the narrower one", minimum=2, default=T
)

LOSS = share * d / (2 * q)
NETS = T * d * (1 - share * (T - 1) / (T - q))
"""Lower bound of the number of first-layer units of a net with this loss (`fully_connected_width`, `width_many`)."""

DIMENSION = least_encoding_dimension(T, q, d, LOSS, QUERY)
BOUND = enough(share)
WIDTH = d + DIMENSION
NARROW = d + BOUND + 1
"""A number above attention's width."""

HYPOTHESES = (
    *(*SIGNS_ON_THE_SET, CLASS, SELECTED),
    Hypothesis("at_most_half", sp.Le(share, sp.Rational(1, 2))),
    Hypothesis("subset_below_quarter", sp.Ge(T_0, 4 * q)),
    Hypothesis("later", sp.Ge(T, T_0)),
    Hypothesis(
        "long_enough",
        sp.Le(NARROW.subs(T, T_0), NETS.subs(T, T_0)),
        text="at T_0, d + d_e_enough + 1 is at most the nets' width Td (1 - share (T-1)/(T-q))",
    ),
)
MANY_MEASURED = (T * d - m) * (T - q) / (2 * q * T * (T - 1))
CLAIMS = (
    Inequality("nets", sp.Ge(NETS, T * d / 3), says="a net's least width Td (1 - share (T-1)/(T-q)) is at least Td/3"),
    Inequality(
        "attention",
        sp.Lt(DIMENSION, BOUND + 1),
        says="d_e_required, at which the floor falls to the loss, is below d_e_enough + 1",
    ),
    Inequality(
        "narrower",
        sp.Lt(WIDTH, NETS),
        says="attention whose infimum of the loss is at most a given loss is narrower than any net with this loss",
    ),
)
STEPS = (
    Identity(
        "slope",
        sp.Derivative(z**2 * sp.exp(-z), z),
        z * (2 - z) * sp.exp(-z),
        says="the slope of z^2 e^(-z), which is log(cT)^2/(cT) at z = log(cT), is z (2 - z) e^(-z)",
    ),
    Inequality("past_its_top", sp.Le(sp.exp(2), 12, evaluate=False), says="e^2 <= 12"),
    Implication("falls", (sp.Ge(z, 2),), sp.Le(z * (2 - z), 0), says="z (2 - z) <= 0 for z >= 2"),
    Implication(
        "argument",
        (sp.Le(root, 1), sp.Ge(T, 4 * q)),
        sp.Ge(3 * T / (q * root), 12),
        says="3T/(q root) >= 12 for root <= 1, T >= 4q",
    ),
    Implication(
        "enough_is_positive",
        (sp.Ge((q - 1) * (q - 2), 0), sp.Gt(z, 0)),
        sp.Gt((4 * SPREAD / share + LEAST) * z**2, 0),
        says="(4(q-1)(q-2)/(q share) + q + 3) z^2 > 0 for z > 0, (q-1)(q-2) >= 0",
    ),
    Implication(
        "enough_is_positive_with_query",
        (sp.Ge(q, 3), sp.Gt(z, 0)),
        sp.Gt((4 * SPREAD_WITH_QUERY / share + LEAST_WITH_QUERY) * z**2, 0),
        says="(4(q-1)(2q-3)/share + q(3q+1)/2) z^2 > 0 for z > 0, q >= 3",
    ),
    Implication(
        "argument_with_query",
        (sp.Le(share, 1), sp.Ge(T, 4 * q)),
        sp.Ge(100 * T / (q * share), 12),
        says="100T/(q share) >= 12 for share <= 1, T >= 4q",
    ),
    Implication(
        "per_token",
        (sp.Ge(T, T_0), sp.Le(narrow, narrow_0)),
        sp.Le((d + 1) / T + more * narrow, (d + 1) / T_0 + more * narrow_0),
        says="(d + 1)/T + k x <= (d + 1)/T_0 + k y for T >= T_0, x <= y, k > 0",
    ),
    Identity(
        "nets_slope",
        sp.Derivative(1 - share * (q + more - 1) / more, more),
        share * (q - 1) / more**2,
        says="the slope of 1 - share (T-1)/(T-q) in T = q + more is share (q-1)/more^2",
    ),
    Implication(
        "fewer_measured",
        (sp.Le(m, d),),
        sp.Ge((d / q - m / T) / 2, MANY_MEASURED),
        says="(d/q - m/T)/2 >= (Td-m)(T-q)/(2qT(T-1)) for m <= d",
    ),
    Implication(
        "units",
        (sp.Le((T * d - m) * (T - q), 2 * q * T * (T - 1) * LOSS),),
        sp.Ge(m, NETS),
        says="m >= Td (1 - share (T-1)/(T-q)) where (Td-m)(T-q) <= 2qT(T-1) share d/(2q)",
    ),
    Implication(
        "nets_at_least",
        (sp.Ge(T, 4 * q), sp.Le(share, sp.Rational(1, 2))),
        sp.Ge(NETS, T * d / 3),
        says="Td (1 - share (T-1)/(T-q)) >= Td/3 for T >= 4q and share <= 1/2",
    ),
    Implication(
        "at_the_start",
        (sp.Le(T_0 * narrow_0, T_0 * nets_0),),
        sp.Le(narrow_0, nets_0),
        says="narrow_0 <= nets_0 where T_0 narrow_0 <= T_0 nets_0",
    ),
    Implication(
        "narrower_later",
        (sp.Lt(width, T * narrow), sp.Le(narrow, narrow_0), sp.Le(narrow_0, nets_0), sp.Le(nets_0, nets)),
        sp.Lt(width, T * nets),
        says="width < T nets where width < T narrow, narrow <= narrow_0 <= nets_0 <= nets",
    ),
)
STATEMENT = Statement(
    parameters=(LENGTH, SUBSET_SIZE, TOKEN_DIMENSION, SHARE, ATTEND, START),
    domain=(sp.Lt(q, T), sp.Lt(q, T_0)),
    hypotheses=HYPOTHESES,
    variables=(z, more, root, m, narrow_0, nets_0, narrow, nets, width),
    claims=CLAIMS,
    steps=STEPS,
)
ARGUMENT = (
    Inference(
        "attention",
        "from d_e_enough dimensions on the floor is at most the loss. At d_e_required − 1 it is above the loss; or "
        "d_e_required is 1, and d_e_enough is positive, as its logarithm is the logarithm of a number of 12 or more",
        (
            *("wang2024.theorem2:floor", "gaussian_tokens", "sign_encoding", "zero_token", "on_the_set", "selected"),
            *("argument", "argument_with_query", "enough_is_positive", "enough_is_positive_with_query"),
            *("at_most_half", "subset_below_quarter", "later"),
        ),
        "case distinction",
    ),
    Inference(
        "needed",
        "a net of m units has at least the loss (Td−m)(T−q)/(2qT(T−1)), also for m ≤ d: a net with the loss share "
        "d/(2q) has at least Td (1 − share (T−1)/(T−q)) units",
        ("wang2024.fcn_width", "fewer_measured", "units", "gaussian_tokens", "linear_measurements"),
        "application",
    ),
    Inference(
        "nets",
        "T ≥ T_0 ≥ 4q and share ≤ 1/2",
        ("nets_at_least", "subset_below_quarter", "later", "at_most_half"),
        "application",
    ),
    Inference(
        "no_longer",
        "with c = 3/(q√share), or 100/(q share) with the query's token, cT ≥ 12 ≥ e² from T_0 ≥ 4q on: so log²(cT)/T "
        "does not rise, nor does (d + d_e_enough + 1)/T",
        (
            *("slope", "past_its_top", "falls", "argument", "argument_with_query", "per_token"),
            *("subset_below_quarter", "at_most_half", "later"),
        ),
        rules.SIGN_OF_THE_SLOPE,
    ),
    Inference("no_shorter", "the nets' width over T does not fall", ("nets_slope", "later"), rules.SIGN_OF_THE_SLOPE),
    Inference(
        "narrower",
        "attention's width is below d + d_e_enough + 1. At T_0 this number over T_0 is at most the nets' width over "
        "T_0; so it is at most the nets' width at T ≥ T_0 too",
        ("attention", "needed", "no_longer", "no_shorter", "long_enough", "at_the_start", "narrower_later"),
        "application",
    ),
)


def derivation() -> Derivation:
    """Return the steps: the nets' least width at a share, and its least value in scope."""
    m, more, less = sp.symbols("m more less", nonnegative=True)
    return Derivation(
        (
            Step(
                "(Td − m)(T − q) = 2qT(T − 1) ε at ε = share · d/(2q): the m at which the smallest loss is ε",
                (T * d - NETS) * (T - q),
                2 * q * T * (T - 1) * LOSS,
            ),
            Step(
                "T = 4q + more, share = 1/2 − less: the excess of the least width over Td/3, times (T − q)/(Td)",
                (sp.Rational(2, 3) * (T - q) - share * (T - 1)).subs(
                    {T: 4 * q + more, share: sp.Rational(1, 2) - less}
                ),
                sp.Rational(1, 2) + more / 6 + less * (4 * q + more - 1),
            ),
            Step(
                "in general, with m units less", (T * d - (NETS - m)) * (T - q), share * T * d * (T - 1) + m * (T - q)
            ),
        )
    )


_canary = partial(with_changes, STATEMENT)


separation = Theorem(
    id="wang2024.separation",
    title="For a given loss (for attention as an infimum), attention with stochastic encoding is narrower than every "
    "fully-connected net from an explicit number of tokens on",
    source=Source("Separation in width", "derived here", WANG2024, "the abstract has Õ(d + q log T) against Ω̃(Td)"),
    statement=STATEMENT,
    example={"T": 60, "q": 3, "d": 40, "share": "1/8"},
    values={
        "attention_width": WIDTH,
        "attention_width_below": NARROW,
        "fully_connected_width": NETS,
        "ratio": NETS / WIDTH,
    },
    derivation=derivation,
    canaries=(
        _canary("Td/2 for Td/3", "nets", relation=sp.Ge(NETS, T * d / 2)),
        _canary("one logarithm, and no share", "attention", relation=sp.Le(DIMENSION, q * sp.log(T))),
        _canary("a tenth of the dimensions", "attention", relation=sp.Lt(DIMENSION, BOUND / 10)),
        _canary("nets at the width of attention", "narrower", relation=sp.Ge(WIDTH, NETS)),
    ),
    statement_uses=("wang2024.fcn_width", "wang2024.theorem2"),
    proof_uses=("wang2024.fcn_width", "wang2024.theorem2"),
    argument=ARGUMENT,
)
