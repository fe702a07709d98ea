"""Record which true statements of `tests/outside` other solvers prove; no solver is a dependency of this project.

After `pip install z3-solver` run `python -m tests.benchmarks.peers_outside z3 > tests/outside/z3.json`; the same works
with cvc5. A square root becomes a new symbol with its definition. A function that a solver lacks is uninterpreted, so a
model with such a function is no counterexample. Sums, products, factorials, binomial coefficients, limits and
recursions are not expressed. Each statement runs in its own process, which is killed after SECONDS of processor time.
"""

import importlib
import json
import multiprocessing
import operator
import re
import resource
import sys
from importlib import metadata

from tests.outside import FOLDER, Outside, statements
from tests.outside.reading import Statement

SECONDS = 10
MODULES = {"z3": "z3", "cvc5": "cvc5.pythonic"}
"""The Python module of each solver; both modules have the same interface."""
PEERS = {"z3": "z3-solver", "cvc5": "cvc5"}
"""The package on PyPI of each solver."""
_UNINTERPRETED = ("exp", "log", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh")
_NATIVE = {"exp": "Exponential", "sin": "Sine", "cos": "Cosine", "tan": "Tangent", "atan": "Arctangent", "pi": "Pi"}
"""The functions that cvc5 has, with their names in its module; `Pi` is a function without arguments."""
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}


def _arithmetic(solver, definitions):
    """Return the solver's meaning of each name in a statement; a square root appends to the list `definitions`."""

    def root(argument):
        symbol = solver.FreshReal("root")
        definitions.append(solver.Implies(argument >= 0, solver.And(symbol >= 0, symbol * symbol == argument)))
        return symbol

    def choose(*cases):
        value = cases[-1][0]()
        for function, condition in reversed(cases[:-1]):
            value = solver.If(condition, function(), value)
        return value

    def extreme(sign):
        def function(first, *others):
            for other in others:
                first = solver.If(sign(first, other), first, other)
            return first

        return function

    zero, one = solver.RealVal("0"), solver.RealVal("1")
    known = {name: solver.Function(name, solver.RealSort(), solver.RealSort()) for name in _UNINTERPRETED}
    known |= {name: solver.Real(name) for name in ("pi", "E")}
    if hasattr(solver, _NATIVE["exp"]):
        known |= {name: getattr(solver, native) for name, native in _NATIVE.items()}
        known |= {"pi": solver.Pi(), "E": solver.Exponential(one)}
    return known | {
        "number": lambda text: solver.RealVal(str(text)),
        "power": operator.pow,
        "abs": lambda x: solver.If(x >= 0, x, -x),
        "sign": lambda x: solver.If(x > 0, one, solver.If(x < 0, -one, zero)),
        "floor": lambda x: solver.ToReal(solver.ToInt(x)),
        "Max": extreme(operator.ge),
        "Min": extreme(operator.le),
        "Piecewise": choose,
        "sqrt": root,
    }


def _domain(solver, domain, symbol):
    ends = [(domain.low, operator.gt, operator.ge), (domain.high, operator.lt, operator.le)]
    return [
        (strict if end[1] else weak)(symbol, solver.RealVal(str(end[0])))
        for end, strict, weak in ends
        if end is not None
    ]


def outcome(peer: str, outside: Outside) -> str:
    """Return a solver's outcome for a statement: proved, not proved or not expressed."""
    solver, statement = importlib.import_module(MODULES[peer]), Statement.read(outside.statement)
    if statement.recursions:
        return "not expressed"
    definitions = []
    arithmetic = _arithmetic(solver, definitions)
    symbols = {
        domain.name: solver.ToReal(solver.Int(domain.name)) if domain.integer else solver.Real(domain.name)
        for domain in statement.domains
    }

    def formula(relation):
        left, sign, right = relation
        return _SIGNS[sign](eval(left, arithmetic | symbols), eval(right, arithmetic | symbols))

    try:
        hypotheses = [formula(relation) for relation in statement.hypotheses]
        first, *others = [formula(relation) for relation in statement.claim]
    except NameError:
        return "not expressed"
    domains = (each for domain in statement.domains for each in _domain(solver, domain, symbols[domain.name]))
    asked = solver.Solver() if peer == "z3" or not _is_polynomial(statement) else solver.SolverFor("QF_NRA")
    asked.add(*domains, *hypotheses, *definitions, solver.Not(solver.And(first, *others) if others else first))
    try:
        return "proved" if asked.check() == solver.unsat else "not proved"
    except RuntimeError:
        # cvc5 raises this for powers of symbols that it supports only for numbers.
        return "not expressed"


def _is_polynomial(statement: Statement) -> bool:
    """Return whether a statement is about real numbers and has no function except roots and case distinctions."""
    names = set(re.findall(r"[A-Za-z]+", statement.text))
    return not any(domain.integer for domain in statement.domains) and not names & {*_UNINTERPRETED, "pi", "E", "floor"}


def _limited(peer, outside, answers):
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    answers.put(outcome(peer, outside))


def in_time(peer: str, outside: Outside) -> str:
    """Return the `outcome` from a separate process, or `out of time` if its time ends first."""
    answers = multiprocessing.SimpleQueue()
    process = multiprocessing.Process(target=_limited, args=(peer, outside, answers))
    process.start()
    process.join()
    return "out of time" if answers.empty() else answers.get()


def record(peer: str) -> dict | None:
    """Return the record of a solver; None if there is none."""
    file = FOLDER / f"{peer}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def main(peer: str) -> None:
    """Print the record of a solver."""
    outcomes = {}
    for each in statements():
        if each.true:
            outcomes[each.id] = in_time(peer, each)
            sys.stderr.write(f"{each.id} {outcomes[each.id]}\n")
    proved = sum(said == "proved" for said in outcomes.values())
    command = f"python -m tests.benchmarks.peers_outside {peer} > tests/outside/{peer}.json"
    head = {"command": command, peer: metadata.version(PEERS[peer]), "seconds": SECONDS, "proved": proved}
    json.dump(head | {"of": len(outcomes), "outcomes": outcomes}, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
