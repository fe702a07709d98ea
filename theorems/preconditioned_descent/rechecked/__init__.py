"""Second computations of the primitives of linear attention's layers, and its kind of clause, for the re-checker."""

from functools import partial

from verify.rechecker.registry import ClauseKind, Primitive, ProofKind, Rechecks

from ...wishart.rechecked.moments import wishart_trace_moment
from .stationary_square import not_stationary, stationary
from .three_layer_loss import three_layer_loss
from .whole_curvature import curvature_at_least_point
from .whole_gradient import at_idle_layers, at_least_point

RECHECKS = Rechecks(
    version=1,
    clauses={"stationary": ClauseKind("layers variable moment index unknowns minimum dynamics", ("near", "radius"))},
    proofs={
        "stationary": ProofKind({"stationary": ("verified",)}, "bits centre radius", stationary),
        "not_stationary": ProofKind({"stationary": ("refuted",)}, "bits", not_stationary),
    },
    primitives={
        "three_layer_loss/1": Primitive(7, three_layer_loss),
        "gradient_at_least_point/1": Primitive(5, None, partial(at_least_point, wishart_trace_moment)),
        "curvature_at_least_point/1": Primitive(5, None, partial(curvature_at_least_point, wishart_trace_moment)),
        "gradient_at_idle_layers/1": Primitive(5, None, partial(at_idle_layers, wishart_trace_moment)),
    },
)
