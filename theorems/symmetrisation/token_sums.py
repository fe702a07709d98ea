r"""Means of products of sums over i.i.d. entries, when the coefficients take few values.

For i.i.d. x_1 … x_T with moments μ_k, and forms F_j = Σ_i c_j(i) x_i^{n_j},

    E ∏_j F_j = Σ_π  ∏_{B∈π} μ_{n(B)}  ·  Σ_{distinct indices} ∏_{B∈π} c_B(i_B),

over the set partitions π of the forms into blocks B that share an index, with c_B the product of
the coefficients and n(B) the sum of the powers in B. By Möbius inversion, the sum over distinct
indices is Σ_σ ∏_{D∈σ} (−1)^{|D|−1} (|D|−1)! Σ_i ∏_{B∈D} c_B(i), over the set partitions σ of the
blocks of π. So T may be a symbol, if the sums over i are known in closed form.
"""

from collections.abc import Callable, Mapping, Sequence

import sympy as sp
from sympy.utilities.iterables import multiset_partitions

Coefficients = tuple[sp.Expr, ...]
"""The value of a coefficient c(i) on each class of indices i."""


def mean_of_product(
    forms: Sequence[tuple[Coefficients, int]],
    moments: Mapping[int, sp.Expr],
    total: Callable[[Coefficients], sp.Expr],
) -> sp.Expr:
    """Return E ∏ Σ_i c(i) x_i^n for forms (c, n); `total` sums coefficients over all indices.

    Raises ValueError without forms, and KeyError for a moment that is not in `moments`.
    """
    if not forms:
        raise ValueError("a product needs at least one form")
    mean = sp.Integer(0)
    for partition in multiset_partitions(list(range(len(forms)))):
        merged = [_product([forms[j][0] for j in block]) for block in partition]  # pyright: ignore[reportCallIssue]
        weight = sp.Mul(*(moments[sum(forms[j][1] for j in block)] for block in partition))  # pyright: ignore[reportCallIssue]
        mean += weight * _distinct_sum(merged, total)
    return mean


def _distinct_sum(coefficients: Sequence[Coefficients], total: Callable[[Coefficients], sp.Expr]) -> sp.Expr:
    terms = []
    for partition in multiset_partitions(list(range(len(coefficients)))):
        signs = sp.Mul(*((-1) ** (len(block) - 1) * sp.factorial(len(block) - 1) for block in partition))
        terms.append(signs * sp.Mul(*(total(_product([coefficients[j] for j in block])) for block in partition)))  # pyright: ignore[reportCallIssue]
    return sp.Add(*terms)


def _product(coefficients: Sequence[Coefficients]) -> Coefficients:
    return tuple(sp.Mul(*values) for values in zip(*coefficients, strict=True))
