"""Second computations of the moments, for the re-checker."""

from verify.rechecker.registry import Primitive, Rechecks

from .moments import marchenko_pastur_moment, wishart_trace_moment

RECHECKS = Rechecks(
    version=1,
    primitives={
        "wishart_trace_moment/1": Primitive(3, wishart_trace_moment),
        "marchenko_pastur_moment/1": Primitive(2, marchenko_pastur_moment),
    },
)
