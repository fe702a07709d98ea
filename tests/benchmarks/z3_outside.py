"""Which true statements of `tests/outside` z3 proves, for comparison; z3-solver is no dependency of ours.

`python -m tests.benchmarks.z3_outside > tests/outside/z3.json` after `pip install z3-solver`. Square roots are new
symbols with what defines them, other functions are uninterpreted (a model of these is no counterexample); sums,
products, factorials, binomial coefficients, limits and recursions are not expressed. The time is a process's own.
"""

import json
import multiprocessing
import operator
import resource
import sys

import z3

from tests.outside import Outside, statements
from tests.outside.reading import Statement

SECONDS = 10
COMMAND = "python -m tests.benchmarks.z3_outside > tests/outside/z3.json"
_UNINTERPRETED = ("exp", "log", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh")
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}


def _choose(*cases):
    value = cases[-1][0]()
    for function, condition in reversed(cases[:-1]):
        value = z3.If(condition, function(), value)
    return value


def _arithmetic(definitions):
    """Return what the names in a statement mean to z3; a square root adds to the definitions."""

    def root(argument):
        symbol = z3.FreshReal("root")
        definitions.append(z3.Implies(argument >= 0, z3.And(symbol >= 0, symbol * symbol == argument)))
        return symbol

    def extreme(sign):
        def function(first, *others):
            for other in others:
                first = z3.If(sign(first, other), first, other)
            return first

        return function

    return {name: z3.Function(name, z3.RealSort(), z3.RealSort()) for name in _UNINTERPRETED} | {
        "number": lambda text: z3.RealVal(str(text)),
        "power": operator.pow,
        "abs": lambda x: z3.If(x >= 0, x, -x),
        "sign": lambda x: z3.If(x > 0, z3.RealVal(1), z3.If(x < 0, z3.RealVal(-1), z3.RealVal(0))),
        "floor": lambda x: z3.ToReal(z3.ToInt(x)),
        "Max": extreme(operator.ge),
        "Min": extreme(operator.le),
        "Piecewise": _choose,
        "sqrt": root,
        "pi": z3.Real("pi"),
        "E": z3.Real("E"),
    }


def _domain(domain, symbol):
    ends = [(domain.low, operator.gt, operator.ge), (domain.high, operator.lt, operator.le)]
    return [
        (strict if end[1] else weak)(symbol, z3.RealVal(str(end[0]))) for end, strict, weak in ends if end is not None
    ]


def outcome(outside: Outside) -> str:
    """Return whether z3 proves a statement: proved, not proved or not expressed."""
    statement = Statement.read(outside.statement)
    if statement.recursions:
        return "not expressed"
    definitions = []
    arithmetic = _arithmetic(definitions)
    symbols = {
        domain.name: z3.ToReal(z3.Int(domain.name)) if domain.integer else z3.Real(domain.name)
        for domain in statement.domains
    }

    def formula(relation):
        left, sign, right = relation
        return _SIGNS[sign](eval(left, arithmetic | symbols), eval(right, arithmetic | symbols))

    try:
        hypotheses = [formula(relation) for relation in statement.hypotheses]
        claim = z3.And([formula(relation) for relation in statement.claim])
    except NameError:
        return "not expressed"
    solver = z3.Solver()
    solver.add(*(each for domain in statement.domains for each in _domain(domain, symbols[domain.name])))
    solver.add(*hypotheses, *definitions, z3.Not(claim))
    return "proved" if solver.check() == z3.unsat else "not proved"


def _limited(outside, answers):
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    answers.put(outcome(outside))


def in_time(outside: Outside) -> str:
    """Return the same, or out of time, from a process of its own that ends with its time."""
    answers = multiprocessing.SimpleQueue()
    process = multiprocessing.Process(target=_limited, args=(outside, answers))
    process.start()
    process.join()
    return "out of time" if answers.empty() else answers.get()


if __name__ == "__main__":
    outcomes = {}
    for each in statements():
        if each.true:
            outcomes[each.id] = in_time(each)
            sys.stderr.write(f"{each.id} {outcomes[each.id]}\n")
    proved = sum(said == "proved" for said in outcomes.values())
    head = {"command": COMMAND, "z3": z3.get_version_string(), "seconds": SECONDS, "proved": proved}
    json.dump(head | {"of": len(outcomes), "outcomes": outcomes}, sys.stdout, indent=1)
    sys.stdout.write("\n")
