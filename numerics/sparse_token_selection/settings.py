"""Parameters that several experiments share, and the settings of the figures' training.

This module does not import PyTorch.
"""

from numerics.settings import integer, positive
from verify import Parameter, Setting
from verify.language.parameters import Value

T = integer("T", "number of tokens", 2)
Q = integer("q", "number of tokens that the query selects")
D = integer("d", "dimension of a token")
D_E = integer("d_e", "dimension of a positional encoding")
ETA = positive("eta", "step size")
STEPS = integer("steps", "steps of gradient descent")
ATTEND = Parameter("attend", "word", "what the layer attends to", words=("tokens", "tokens_and_query"))

TRAINING = (
    Setting(T, 16, 200),
    Setting(Q, 3, 3),
    Setting(D, 2, 5),
    Setting(D_E, 32, 170),
    Setting(ATTEND, "tokens_and_query", "tokens_and_query"),
    Setting(Parameter("optimizer", "word", "the optimiser", words=("sgd", "adam")), "sgd", "sgd"),
    Setting(ETA, 1, 1),
    Setting(positive("eta_late", "step size after step `late`"), "1/3", "1/3"),
    Setting(integer("late", "number of steps with step size eta", 0), 400, 50_000),
    Setting(STEPS, 800, 100_000),
    Setting(integer("batch_size", "samples in a batch", 2), 256, 256),
    Setting(Parameter("scale", "rational", "standard deviation of the initial entries", minimum=0), "1/50", "1/50"),
    Setting(integer("n_test", "points of the validation set", 2), 128, 128),
    Setting(integer("readings", "readings over training, the first and the last step included", 2), 17, 51),
    Setting(integer("runs", "independent runs, each with its own draws"), 1, 1),
    Setting(
        Parameter("dtype", "word", "floating-point type of the computation", words=("float64", "float32")),
        "float64",
        "float64",
    ),
)
"""The settings of Figure 1, except for the kind of encoding."""


def changed(base: tuple[Setting, ...], **values: tuple[Value, Value]) -> tuple[Setting, ...]:
    """Return the settings with the quick and full values of some replaced, given as name=(quick, full)."""
    return tuple(Setting(s.parameter, *values.get(s.parameter.name, (s.quick, s.full))) for s in base)
