"""Second computations of the moments, and the check of Gaussian means, for the re-checker."""

from verify.rechecker.registry import ClauseKind, Primitive, ProofKind, Rechecks

from .gaussian_moment import gaussian_moment
from .moments import marchenko_pastur_moment, wishart_trace_moment

RECHECKS = Rechecks(
    version=1,
    clauses={"gaussian_moment": ClauseKind("shapes symmetric normal random traces steps left right")},
    proofs={
        "by_parts": ProofKind({"gaussian_moment": ("verified",)}, "", gaussian_moment, for_all=True, or_here=True),
    },
    primitives={
        "wishart_trace_moment/1": Primitive(3, wishart_trace_moment),
        "marchenko_pastur_moment/1": Primitive(2, marchenko_pastur_moment),
    },
)
