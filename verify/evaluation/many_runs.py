"""Runs of a recursion at many instances at once in float64, compiled from its statement; they prove nothing.

Instances are taken in blocks, each of which stays in a core's nearest cache for all steps; memory does not grow with
the number of steps. Numba compiles the step to vector instructions.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import sympy as sp

from verify.cores import on_all_cores
from verify.errors import InputError, TheoremError, meant
from verify.evaluation.programs import Program, compile_program
from verify.evaluation.vector_exponential import compiled_exponential
from verify.language.clause_data import Dynamics
from verify.printing import text_of

BLOCK = 256
"""Number of instances in a block: some twenty float64 numbers for each instance fit in a cache of 48 KiB."""
_AT_ONCE = 100_000
"""Number of steps between two checks for Ctrl-C; they take about a fifth of a second."""

_HEADS: Mapping[str, Callable[..., float]] = {
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "sign")},
    "atan": np.arctan,
    "ceiling": np.ceil,
    "Max": max,
    "Min": min,
}
"""Functions that Numba compiles, by the head of an expression; pi is compiled separately."""

Observe = Callable[[np.ndarray, Sequence[int]], np.ndarray]


def observe(
    dynamics: Dynamics, points: Mapping[str, float | Sequence[float] | np.ndarray], at: Sequence[int]
) -> np.ndarray:
    """Return the observable of a recursion after some numbers of steps, at each of many instances.

    Parameters
    ----------
    dynamics
        The recursion. Applications of primitives are refused.
    points
        For each parameter, by name, one number, or an array with a number for each instance.
    at
        The numbers of steps, in increasing order.

    Returns
    -------
    numpy.ndarray
        float64, of shape (len(at), instances): infinite or NaN where a run diverges.

    Raises
    ------
    InputError
        If the numbers of steps are not increasing integers >= 0, a parameter is missing or is not the recursion's, or
        the values are not numbers, or arrays of one length.
    TheoremError
        For a recursion with primitives, or with functions that are not compiled: Piecewise, sums, products, factorials,
        binomials and other recursions.

    Notes
    -----
    `verify.evaluation.vector_exponential` computes the exponential.
    """
    steps = list(at) if isinstance(at, Sequence) else []
    if not steps or not all(isinstance(step, int) and step >= 0 for step in steps) or steps != sorted(set(steps)):
        raise InputError("at", at, "must be one or more numbers of steps >= 0, increasing")
    fixed = fixed_symbols(dynamics)
    names = [symbol.name for symbol in fixed]
    if missing := [name for name in names if name not in points]:
        raise InputError(", ".join(missing), "", "missing: the recursion needs a value")
    if unknown := [name for name in points if name not in names]:
        what = "the recursion's parameters are"
        raise InputError(unknown[0], "", f"unknown; {meant(unknown[0], names, what)}")
    columns = {name: _column(name, points[name]) for name in names}
    count = max((column.size for column in columns.values()), default=1)
    for name, column in columns.items():
        if column.size not in (1, count):
            raise InputError(name, f"{column.size} numbers", f"must be one number, or {count} as others are")
    inputs = np.array([np.broadcast_to(column, count) for column in columns.values()]).reshape(len(fixed), count)
    run, observed = _compiled(dynamics), np.empty((len(steps), count))

    def block(place: int) -> None:
        some = slice(place * BLOCK, (place + 1) * BLOCK)
        observed[:, some] = run(inputs[:, some], steps)

    on_all_cores(-(-count // BLOCK), block)
    return observed


def _column(name: str, value: float | Sequence[float] | np.ndarray) -> np.ndarray:
    try:
        column = np.atleast_1d(np.asarray(value, dtype=float))
    except (ValueError, TypeError):
        column = np.empty(0)
    if column.ndim != 1 or not column.size:
        raise InputError(name, value, "must be a number, or an array of one dimension of numbers")
    return column


@cache
def fixed_symbols(dynamics: Dynamics) -> list[sp.Symbol]:
    """Return the symbols of a recursion that need a value, in the order of its programs."""
    expressions = (*dynamics.step, dynamics.observable, *dynamics.initial)
    free = set[sp.Basic]().union(*(sp.sympify(expression).free_symbols for expression in expressions))
    return sorted(free - set(dynamics.state), key=str)  # pyright: ignore[reportReturnType]


@cache
def _programs(dynamics: Dynamics) -> tuple[Program, Program, Program]:
    """Return the programs of the initial state, a step and the observable."""
    fixed = fixed_symbols(dynamics)
    programs = (
        compile_program(dynamics.initial, (), fixed),
        compile_program(dynamics.step, dynamics.state, fixed),
        compile_program((dynamics.observable,), dynamics.state, fixed),
    )
    if used := sorted({name for program in programs for name in program.primitives}):
        raise TheoremError(f"{text_of(used[0])}: a recursion with primitives is not followed at many instances at once")
    if other := sorted({head for program in programs for head in program.heads} - {*_HEADS, "pi"}):
        raise TheoremError(f"{other[0]}: a recursion with it is not followed at many instances at once")
    return programs


@cache
def _compiled(dynamics: Dynamics) -> Observe:
    """Return a function that computes the runs of up to `BLOCK` instances, by code that Numba compiles.

    A block is an array with rows of `BLOCK` numbers: the fixed inputs, the state, the observable, and the parts of the
    step that depend on the fixed inputs alone.
    """
    from numba import njit

    initial, advance, observable = _programs(dynamics)
    fixed, states = initial.fixed, len(dynamics.state)
    state, seen = range(fixed, fixed + states), fixed + states
    kept = [line.partition(" = ")[0] for line in advance.prelude.splitlines()]
    shared = {name: seen + 1 + place for place, name in enumerate(kept)}
    inputs = {f"x{i}": i for i in range(fixed + states)}
    sharing = f"    return ({''.join(f'{name}, ' for name in kept)})"
    start, share, step, look = (
        njit("void(float64[::1])", nogil=True, error_model="numpy")(_function(*parts))
        for parts in (
            (initial, initial.prelude, initial.source, inputs, state),
            (advance, advance.prelude, sharing, inputs, [*shared.values()]),
            (advance, "", advance.source, inputs | shared, state),
            (observable, observable.prelude, observable.source, inputs, [seen]),
        )
    )

    @njit("void(float64[::1], int64)", nogil=True, error_model="numpy")
    def follow(block: np.ndarray, steps: int) -> None:
        for _ in range(steps):
            step(block)

    def run(values: np.ndarray, counts: Sequence[int]) -> np.ndarray:
        count = values.shape[1]
        block = np.empty((seen + 1 + len(shared), BLOCK))
        # A block that is not full is filled with copies of the last instance.
        block[:fixed] = np.pad(values, ((0, 0), (0, BLOCK - count)), mode="edge") if fixed else 0.0
        flat = block.reshape(-1)
        start(flat)
        share(flat)
        observed = np.empty((len(counts), count))
        for place, (before, after) in enumerate(pairwise((0, *counts))):
            for done in range(before, after, _AT_ONCE):
                follow(flat, min(_AT_ONCE, after - done))
            look(flat)
            observed[place] = block[seen, :count]
        return observed

    return run


def _function(
    program: Program, prelude: str, body: str, rows: Mapping[str, int], results: Sequence[int]
) -> Callable[[np.ndarray], object]:
    """Return a function that runs `prelude` and `body` at each instance of a block, and writes the results to its rows.

    The source is the engine's own, as in `Program`. Rows are at constant distances, so that the compiler knows that no
    two rows overlap.
    """
    lines, last = body.rstrip().rsplit("\n", 1) if "\n" in body.rstrip() else ("", body)
    returned = last.strip().removeprefix("return (").removesuffix(")")
    inside = [
        *(f"{name} = block[i + {row * BLOCK}]" for name, row in rows.items()),
        *(line.strip() for line in (*prelude.splitlines(), *lines.splitlines())),
        *([f"{''.join(f'r{row}, ' for row in results)}= {returned}"] if results else ["pass"]),
        *(f"block[i + {row * BLOCK}] = r{row}" for row in results),
    ]
    constants = "".join(f"    {name} = {int(value.p) / int(value.q)!r}\n" for name, value in program.constants)
    names: dict[str, Callable[..., object]] = dict(_functions())
    source = f"def program(block):\n{constants}    for i in range({BLOCK}):\n" + "".join(
        f"        {line}\n" for line in inside if line
    )
    exec(source, names)  # noqa: S102
    return names["program"]


@cache
def _functions() -> dict[str, Callable[..., float]]:
    """Return the functions that a program calls, compiled by Numba."""
    from numba import njit

    @njit(error_model="numpy")
    def power(base: float, exponent: float) -> float:
        return base**exponent

    @njit
    def pi() -> float:
        return np.pi

    elementary = {"exp": compiled_exponential(), "log": np.log, "sqrt": np.sqrt, "abs": np.abs}
    headed = {f"head_{head}": function for head, function in _HEADS.items()}
    return elementary | headed | {"head_pi": pi, "power": power, "raised": power}
