"""Statements and instances: what a symbol may assume, and what only hypotheses that hold may be used for."""

import copy

import pytest
import sympy as sp

from tests.verify.rechecker.cases import positive
from tests.verify.rechecker.certificates import X, certificate, changed, integer, one_clause, recheck, x
from verify import Inequality
from verify.rechecker import Rejected


def _everywhere(value, put):
    """All data that differ from a value by one symbol x, each replaced by `put`."""
    if value == ["Symbol", "x", "real"]:
        yield put
    elif isinstance(value, list | dict):
        for key in range(len(value)) if isinstance(value, list) else value:
            for other in _everywhere(value[key], put):
                made = copy.copy(value)
                made[key] = other
                yield made


def test_no_symbol_of_a_parameter_assumes_more_than_its_domain_wherever_it_occurs_first():
    data = one_clause(Inequality("bound", sp.Lt(x**2, 5)), X).to_data()
    one = {"kind": "identity", "label": "same", "says": "", "left": integer(1), "right": integer(1)}
    exact = {"kind": "exact", "margin": "1"}
    factor = {"kind": "identity", "scope": "all", "factors": [{"factor": ["Symbol", "x", "real"], "shift": None}]}
    tried = 0
    for put in (["Symbol", "x", "positive"], ["Symbol", "x", "integer", "real"], ["Symbol", "x", "nonzero"]):
        for claim in _everywhere(data["claims"], put):
            made = certificate(data | {"claims": claim}, {"x": "-2"}, ("verified", "certified", exact))
            with pytest.raises(Rejected, match="assumes more than the parameter's domain"):
                recheck(made)
            tried += 1
        for proof in _everywhere(factor, put):
            made = certificate(data | {"claims": [one]}, {"x": "-2"}, ("verified", "proved", proof))
            with pytest.raises(Rejected, match="assumes more than the parameter's domain"):
                recheck(made)
            tried += 1
    assert tried == 6


def test_an_instance_out_of_scope_may_use_no_hypothesis():
    made = changed(changed(positive(), "instance.x", "3"), "in_scope", False)
    with pytest.raises(Rejected, match="out of scope"):
        recheck(made)
