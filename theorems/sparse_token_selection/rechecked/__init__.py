"""Second computations of the primitives of attention by sign encodings, for the re-checker."""

from functools import partial

from verify.rechecker.registry import Primitive, Rechecks

from .enclosures import attention_gain, least_encoding_dimension, selected_attention, squared_attention
from .full_gradient import less_means, off_the_set
from .share_curves import PARTS, gain_beyond, largest

RECHECKS = Rechecks(
    version=1,
    primitives={
        "selected_attention/1": Primitive(5, None, selected_attention),
        "squared_attention/1": Primitive(5, None, squared_attention),
        "attention_gain/1": Primitive(4, None, attention_gain),
        "least_encoding_dimension/1": Primitive(5, None, least_encoding_dimension),
        **{f"{name}/1": Primitive(6, None, partial(largest, part)) for name, part in PARTS.items()},
        "gain_beyond/1": Primitive(5, None, gain_beyond),
        "gradient_off_the_set/1": Primitive(9, None, off_the_set),
        "loss_less_means/1": Primitive(9, None, partial(less_means, "loss")),
        "value_slopes_less_means/1": Primitive(9, None, partial(less_means, "V")),
        "logit_slopes_less_means/1": Primitive(9, None, partial(less_means, "W")),
    },
)
