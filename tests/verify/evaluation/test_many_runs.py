"""A recursion at many instances gives the same values as at each instance alone, for any number of instances."""

import math

import numpy as np
import pytest
import sympy as sp

from theorems.sparse_token_selection.one_hot_convergence import DYNAMICS
from verify import Dynamics, InputError, TheoremError, cores, primitive
from verify.evaluation.iteration import scan_trajectory
from verify.evaluation.many_runs import observe

x, y, a, b = sp.symbols("x y a b")
# A recursion with exponentials, logarithms, roots, absolute values, and powers of several kinds.
MIXED = Dynamics(
    (x, y),
    (a, sp.exp(-a)),
    (x + sp.sqrt(y) * sp.log(1 + x) / (1 + a**2), y * sp.exp(-x) + sp.Abs(a - b) ** 9 + (1 + y) ** b / 7),
    x - y**2,
)


def directly(values, steps):
    (p, q), (u, v) = (values["a"], values["b"]), (values["a"], math.exp(-values["a"]))
    for _ in range(steps):
        u, v = (
            u + math.sqrt(v) * math.log(1 + u) / (1 + p**2),
            v * math.exp(-u) + abs(p - q) ** 9 + (1 + v) ** q / 7,
        )
    return u - v**2


@pytest.mark.parametrize("count", [1, 255, 256, 257, 5000])
def test_each_instance_is_what_it_is_alone(count):
    points = {"a": np.linspace(0.1, 0.9, count), "b": 0.5}
    found = observe(MIXED, points, [0, 1, 20])
    assert found.shape == (3, count)
    for place in {0, count // 2, count - 1}:
        one = {"a": points["a"][place], "b": 0.5}
        # 20 steps of a few roundings each, in a recursion that does not expand, have an error far below 1e-12.
        assert found[:, place] == pytest.approx([directly(one, steps) for steps in (0, 1, 20)], rel=1e-12)


def test_the_one_hot_recursion_is_the_scan_of_one_instance():
    values = {"T": 20, "q": 3, "d": 5, "eta": 0.002}
    scanned = dict(scan_trajectory(DYNAMICS, values, 1000))
    found = observe(DYNAMICS, values, [0, 10, 1000])
    assert found[:, 0] == pytest.approx([scanned[step] for step in (0, 10, 1000)], rel=1e-11)


def test_threads_change_no_bit(monkeypatch):
    points, found = {"a": np.linspace(0.1, 0.9, 3000), "b": 0.5}, []
    for available in (1, 4):
        monkeypatch.setattr(cores, "cores", lambda available=available: available)
        found.append(observe(MIXED, points, [7]))
    assert np.array_equal(*found)


def test_diverging_and_undefined_runs_are_not_finite():
    squares = Dynamics((x,), (a,), (x**2,), x)
    assert observe(squares, {"a": [0.5, 2.0]}, [20])[0].tolist() == [0.0, math.inf]
    roots = Dynamics((x,), (a,), (x - 1,), sp.sqrt(x))
    assert np.isnan(observe(roots, {"a": 0.5}, [1])).all()


@pytest.mark.parametrize("at", [[], [-1], [3, 3], [3, 1], [1.9], ["x"], 5, "12"])
def test_numbers_of_steps_are_refused(at):
    with pytest.raises(InputError, match="increasing"):
        observe(MIXED, {"a": 1, "b": 1}, at)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ({"a": 1}, "b: missing"),
        ({"a": 1, "b": 1, "c": 2}, "c: unknown; the recursion's parameters are a, b"),
        ({"a": [1, 2], "b": [1, 2, 3]}, "a = 2 numbers: must be one number, or 3"),
        ({"a": [], "b": 1}, r"a = \[\]: must be a number"),
        ({"a": [[1, 2]], "b": 1}, "a = .*: must be a number"),
        ({"a": "1/500", "b": 1}, "a = 1/500: must be a number"),
        ({"a": None, "b": {}}, "b = .*: must be a number"),
    ],
)
def test_points_are_refused(points, message):
    with pytest.raises(InputError, match=message):
        observe(MIXED, points, [1])


def test_a_primitive_is_refused():
    made = primitive(1)(lambda arithmetic, z: z)
    with pytest.raises(TheoremError, match="a recursion with primitives"):
        observe(Dynamics((x,), (a,), (made(x),), x), {"a": 1}, [1])


def test_without_parameters():
    halves = Dynamics((x,), (sp.Integer(1),), (x / 2,), x)
    assert observe(halves, {}, [0, 3]).tolist() == [[1.0], [0.125]]


def test_elementary_functions_are_followed_and_others_refused():
    u = sp.Symbol("u", real=True)
    step = (
        sp.sin(u) + sp.cos(u) * sp.tan(u / 3) + sp.atan(u) + sp.sinh(u / 9) + sp.tanh(u) + sp.pi
        - sp.cosh(u / 9) + sp.floor(u) + sp.ceiling(u / 2) + sp.sign(u) - sp.Max(u, 1, a) + sp.Min(u, 2)
    )  # fmt: skip
    # An independent computation: the same step in plain Python.
    value = start = 0.7
    for _ in range(3):
        value = (
            math.sin(value) + math.cos(value) * math.tan(value / 3) + math.atan(value) + math.sinh(value / 9)
            + math.tanh(value) + math.pi - math.cosh(value / 9) + math.floor(value) + math.ceil(value / 2)
            + (value > 0) - (value < 0) - max(value, 1, start) + min(value, 2)
        )  # fmt: skip
    assert observe(Dynamics((u,), (a,), (step,), u), {"a": start}, [3]) == pytest.approx(value, rel=1e-12)
    pieces = Dynamics((u,), (a,), (sp.Piecewise((u / 2, u > 1), (u, True)),), u)
    with pytest.raises(TheoremError, match="Piecewise: a recursion with it is not followed"):
        observe(pieces, {"a": 2.0}, [1])
