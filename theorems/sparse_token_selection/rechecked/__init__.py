"""Second computations of the primitives of attention by sign encodings, for the re-checker."""

from functools import partial

from verify.rechecker.registry import Primitive, Rechecks

from .descent_region import (
    gain_at,
    largest_curvature,
    largest_gain_from,
    least_curvature,
    least_fall,
    rise,
    turning_gain,
    turning_point,
    turning_points,
)
from .enclosures import attention_gain, least_encoding_dimension, selected_attention, squared_attention
from .full_gradient import less_means, off_the_set

RECHECKS = Rechecks(
    version=1,
    primitives={
        "selected_attention/1": Primitive(5, None, selected_attention),
        "squared_attention/1": Primitive(5, None, squared_attention),
        "attention_gain/1": Primitive(4, None, attention_gain),
        "least_encoding_dimension/1": Primitive(5, None, least_encoding_dimension),
        "largest_curvature/1": Primitive(5, None, largest_curvature),
        "least_fall/1": Primitive(5, None, least_fall),
        "turning_points/1": Primitive(4, turning_points),
        "turning_point/1": Primitive(4, None, turning_point),
        "turning_gain/1": Primitive(4, None, turning_gain),
        "least_curvature/1": Primitive(5, None, least_curvature),
        "rise/1": Primitive(4, None, rise),
        "gain_at/1": Primitive(4, None, gain_at),
        "largest_gain_from/1": Primitive(4, None, largest_gain_from),
        "gradient_off_the_set/1": Primitive(9, None, off_the_set),
        "loss_less_means/1": Primitive(9, None, partial(less_means, "loss")),
        "value_slopes_less_means/1": Primitive(9, None, partial(less_means, "V")),
        "logit_slopes_less_means/1": Primitive(9, None, partial(less_means, "W")),
    },
)
