"""Trees of deductions as data, and the verdict on a deduction of a statement in a line."""

import sympy as sp

from verify.claims.line import statement_of
from verify.language.expressions import to_data
from verify.rechecker import Instance


def data(expression):
    return to_data(sp.sympify(expression), written=False)


def total(*terms, times=1):
    """Return the rule `sum`; each term is a factor and the places of the facts that it multiplies."""
    return {"rule": "sum", "times": data(times), "terms": [[data(f), list(facts), None] for f, facts in terms]}


NOTHING = total()


def induction(step, first=NOTHING, symbol="n"):
    return {"rule": "induction", "in": symbol, "first": first, "step": step}


def cases(of, above, below, at=None):
    return {"rule": "cases", "of": data(of), "above": above, "at": at, "below": below}


def known(name, *of, then):
    return {"rule": "known", "name": name, "of": [data(each) for each in of], "then": then}


def lemma(relation, proof, then):
    return {"rule": "lemma", "relation": data(relation), "proof": proof, "then": then}


def both(above, below):
    return {"rule": "both", "above": above, "below": below}


def slope(of, *, start=0, side="above", value=NOTHING, at_start=NOTHING, symbol="x"):
    """Return a proof along a segment from a start; `of` proves the sign of the slope at the points t of the segment."""
    ends = {"in": symbol, "as": "t", "from": data(start), "side": side, "strict": "start"}
    return {"rule": "slope", **ends, "value": value, "start": at_start, "slope": of}


def fact(name, *of, times=1):
    """Return a proof that is an instance of a known fact."""
    return known(name, *of, then=total((times, [0])))


def verdict(line, tree, relations=(), **instance):
    """Return the verdict on a deduction of a statement in a line."""
    statement = statement_of(line)
    proof = {"kind": "deduction", "relations": list(relations), "tree": tree}
    stated = {"label": "claim", "outcome": "verified", "evidence": "proved", "proof": proof}
    values = {name: str(value) for name, value in instance.items()}
    return Instance(statement.to_data(), values).verdict(statement.claims[0].to_data(), stated)


def whole(then):
    return {"rule": "whole", "then": then}


def telescope(ends, of, *sums, then, step=NOTHING, symbol="k"):
    """Return the rule `telescope`: between two ends, the `sums` of terms with factors are differences of `of`."""
    first, last = map(data, ends)
    listed = [[data(share), data(term)] for share, term in sums]
    parts = {"in": data(sp.Symbol(symbol, integer=True)), "from": first, "to": last, "of": data(of)}
    return {"rule": "telescope", **parts, "sums": listed, "step": step, "then": then}
