"""Helpers that write certificates of small statements, re-check them and change them in one place; shared symbols."""

import ast
import copy
import json

import sympy as sp

from verify import Parameter, Statement
from verify.checking.doors import door, kinds, primitives, with_doors
from verify.language.expressions import digest
from verify.rechecker import recheck_text
from verify.rechecker.given import Given
from verify.rechecker.reading import Effort

x, y, z, n, k, u = (sp.Symbol(name, real=True) for name in "xyznku")
X, Y, N = (Parameter(name, "rational", name) for name in "xyn")
POSITIVE = Parameter("k", "integer", "a whole number", minimum=1)
K, AT_LEAST = sp.Symbol("k", positive=True, integer=True), sp.Symbol("y", positive=True)


def certificate(statement, instance, *clauses, in_scope=True, theorem="user.mine"):
    """Return a certificate as data; each clause is (outcome, evidence, proof)."""
    data = statement if isinstance(statement, dict) else statement.to_data()
    return {
        "format": "lemmascope-certificate",
        "version": 3,
        "theorem": theorem,
        "statement": data,
        "statement_digest": digest(data),
        "instance": dict(instance),
        "in_scope": in_scope,
        "uses": [["wang2024.lemma1", "0" * 64]],
        "trusts": trusts_of(data, *(proof for *_, proof in clauses)),
        "clauses": [
            {"label": clause["label"], "outcome": outcome, "evidence": evidence, "proof": proof}
            for clause, (outcome, evidence, proof) in zip(data["claims"], clauses, strict=True)
        ],
    }


def trusts_of(data, *proofs):
    """Return the doors that provide the primitives, the kinds of claim and the kinds of proof in some data."""
    brought, named = with_doors()[0].brought, {("primitives", name) for name in primitives(data)}
    named |= {("clauses", name) for name in kinds(data["claims"])} | {("proofs", name) for name in kinds(proofs)}
    return [each._asdict() for each in sorted({brought[name] for name in named & brought.keys()})]


def recheck(made):
    return recheck_bytes(json.dumps(made).encode())


def recheck_bytes(text):
    return recheck_text(text, door=door)


def given_at(statement, instance):
    return Given(
        statement if isinstance(statement, dict) else statement.to_data(), dict(instance), Effort(), with_doors()[0]
    )


def one_clause(clause, *parameters, **more):
    return Statement(parameters, (clause,), **more)


def changed(made, path, value):
    """Return a copy with the value at a dotted path replaced, or removed if the new value is `...`."""
    made = copy.deepcopy(made)
    *parents, last = [int(part) if part.lstrip("-").isdigit() else part for part in path.split(".")]
    inside = made
    for part in parents:
        inside = inside[part]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    if path.startswith("statement."):
        made["statement_digest"] = digest(made["statement"])
    return made


def respelled(made, old, new):
    """Return a certificate with a piece of its statement's data replaced wherever it occurs."""
    text = repr(made["statement"])
    assert old in text
    data = ast.literal_eval(text.replace(old, new))
    return made | {"statement": data, "statement_digest": digest(data)}


def integer(value):
    return ["Integer", str(value)]
