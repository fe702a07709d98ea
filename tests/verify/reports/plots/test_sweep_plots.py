"""Plots of a sweep: every instance is at its values, with a mark that needs no colour; lines are at slack 0."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import verify
from verify import Hypothesis, Inequality, Parameter, load_theorem
from verify.reports.formats.sweep_files import write_sweep
from verify.reports.plots.sweep_plots import STYLES, draw, plotted, why_no_plot

x, y = sp.symbols("x y", positive=True)
X, Y = (Parameter(name, "rational", f"the {name}", above=0) for name in "xy")
CLAUSE = Inequality("c", sp.Lt(x * y, 5))
SMALL = Hypothesis("small", sp.Le(x, 2))
OTHER = Hypothesis("other", sp.Lt(x * y, 6))


@pytest.fixture
def theorem(make_theorem):
    from dataclasses import replace

    made = make_theorem(CLAUSE, parameters=(X, Y), hypotheses=(SMALL,), domain=(sp.Le(y, 8),))
    return replace(made, boundaries={"user.other": OTHER})


def scattered(axes):
    """Return the points by the label of their mark."""
    found = {}
    for part in axes.collections:
        if not part.get_label().startswith("_"):
            found[part.get_label()] = {tuple(map(float, point)) for point in part.get_offsets()}
    return found


def test_a_phase_diagram_shows_each_instance_and_both_lines(theorem):
    result = verify.sweep(theorem, {"x": "1:4:4", "y": "1:9:9"})
    figure = draw(result)
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x: the x", "y: the y")
    points = scattered(axes)
    grid = {(a, b) for a in range(1, 5) for b in range(1, 10)}
    expected = {
        "verified": {(a, b) for a, b in grid if a <= 2 and b <= 8 and a * b < 5},
        "verified, out of scope": {(a, b) for a, b in grid if a > 2 and b <= 8 and a * b < 5},
        "refuted": {(a, b) for a, b in grid if a <= 2 and b <= 8 and a * b >= 5},
        "refuted, out of scope": {(a, b) for a, b in grid if a > 2 and b <= 8 and a * b >= 5},
        "no instance": {(a, b) for a, b in grid if b > 8},
    }
    assert points == expected
    (legend,) = figure.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert {"small: x <= 2", "other: x*y < 6 (user.other)"} < set(said) and len(said) == len(expected) + 2
    lines = [path for part in axes.collections if part.get_label().startswith("_") for path in part.get_paths()]
    dashed, solid = (path.vertices for path in lines)
    assert np.allclose(dashed[:, 0], 2, atol=0.02) and np.ptp(dashed[:, 1]) > 8
    assert np.allclose(solid[:, 0] * solid[:, 1], 6, rtol=0.01) and len(solid) > 20


def test_a_line_outside_of_the_plot_is_not_drawn(theorem):
    figure = draw(verify.sweep(theorem, {"x": "1/8:1/2:3:log", "y": "1:2:2"}))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["verified"]
    assert figure.axes[0].get_xscale() == "log" and figure.axes[0].get_yscale() == "linear"
    low, high = figure.axes[0].get_xlim()
    assert low < 1 / 8 and high > 1 / 2


def test_outcomes_are_told_apart_without_colour():
    assert len({mark for _, mark in STYLES.values()}) == len({colour for colour, _ in STYLES.values()}) == len(STYLES)


def test_margins_over_one_parameter(theorem):
    figure = draw(verify.sweep(theorem, {"x": "1:4:7"}, y=2))
    (axes,) = figure.axes
    (curve,) = [line for line in axes.get_lines() if line.get_label() == "c"]
    assert [*curve.get_xdata()] == [1 + k / 2 for k in range(7)]  # pyright: ignore[reportGeneralTypeIssues]
    assert np.allclose(curve.get_ydata(), [5 - 2 * (1 + k / 2) for k in range(7)])
    assert scattered(axes)["refuted, out of scope"] == {(2.5, 0.0), (3.0, -1.0), (3.5, -2.0), (4.0, -3.0)}
    upright = {line.get_label(): line.get_xdata()[0] for line in axes.get_lines() if len(set(line.get_xdata())) == 1}
    assert math.isclose(upright["small: x <= 2"], 2, abs_tol=0.02)
    assert math.isclose(upright["other: x*y < 6 (user.other)"], 3, abs_tol=0.02)


def test_a_line_of_margins_breaks_where_there_is_no_margin(make_theorem):
    clause = Inequality("c", sp.Lt(1 / (x - 2), 5))
    axes = draw(verify.sweep(make_theorem(clause, parameters=(X,)), {"x": "1:3:5"})).axes[0]
    (curve,) = [line for line in axes.get_lines() if line.get_label() == "c"]
    assert [*curve.get_xdata()] == [1, 1.5, 2, 2.5, 3]
    assert np.isnan(curve.get_ydata()[2]) and np.allclose(np.delete(curve.get_ydata(), 2), [6, 7, 3, 4])
    assert {place for marks in scattered(axes).values() for place, _ in marks} == {1, 1.5, 2.5, 3}


def test_words_have_their_own_places(make_theorem):
    how = Parameter("how", "word", "a choice", words=("one", "two"))
    result = verify.sweep(make_theorem(CLAUSE, parameters=(X, Y, how)), {"how": "two,one", "x": "1:2:2"}, y=1)
    axes = draw(result).axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["two", "one"]
    assert scattered(axes)["verified"] == {(0, 1), (0, 2), (1, 1), (1, 2)}


def test_a_single_point_and_nothing_at_all_are_drawn(theorem, monkeypatch):
    assert plotted(verify.sweep(theorem, {"x": "1:1:1", "y": "2:2:1"})).startswith(b"\x89PNG")
    assert plotted(verify.sweep(theorem, {"x": "1:1:1"}, y=2)).startswith(b"\x89PNG")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("verify.runs.sweeps.float_rows.Scans.block", interrupted)
    for over in ({"x": "1:2:2", "y": "2:2:1"}, {"y": "1:2:2"}):
        result = verify.sweep(theorem, over, **({} if "x" in over else {"x": 1}))
        assert result.done == 0 and plotted(result).startswith(b"\x89PNG")


def test_three_parameters_have_no_plot(make_theorem):
    z = Parameter("z", "rational", "z", above=0)
    result = verify.sweep(make_theorem(CLAUSE, parameters=(X, Y, z)), {"x": "1:2:2", "y": "1:2:2", "z": "1:2:2"})
    assert "one or two" in why_no_plot(result) and result.done == 8


@pytest.mark.parametrize("grid", ["1:1e400:5:log", "1e-400:1:3:log", "1,1e200"])
def test_values_outside_of_a_plot_are_said_and_other_files_are_written(theorem, tmp_path, grid):
    result = verify.sweep(theorem, {"x": grid}, y=1)
    assert "values of x are outside" in why_no_plot(result)
    assert ".png" not in {path.suffix for path in write_sweep(result, tmp_path)}


def test_the_ends_of_a_plot_can_be_drawn(theorem):
    for over in ({"x": "1e-150:1e150:3:log"}, {"x": "1e-150:1e150:3:log", "y": "1e-150,0.5,7"}):
        result = verify.sweep(theorem, over, **({} if "y" in over else {"y": 1}))
        assert not why_no_plot(result) and plotted(result).startswith(b"\x89PNG")


def test_theorem_1_is_drawn_with_its_scope_and_the_stability_boundary():
    theorem = load_theorem("wang2024.theorem1")
    # The boundary is the hypothesis of the theorem that derives it: η < 2q.
    (name,) = theorem.boundaries
    assert theorem.boundaries[name] in load_theorem(name).statement.hypotheses
    result = verify.sweep(theorem, {"eta": "1,3,5,6", "T": "9,10"}, q=2, d=1, eps="1/200")
    points = scattered(draw(result).axes[0])
    assert points == {
        "verified, out of scope": {(eta, T) for eta in (1, 3) for T in (9, 10)},
        "refuted, out of scope": {(eta, T) for eta in (5, 6) for T in (9, 10)},
    }
    said = [text.get_text() for text in draw(result).legends[0].get_texts()]
    assert said[-1] == "lag_attracts: eta < 2*q (wang2024.inverse_loss_rate)"
    assert [Fraction(row["instance"]["eta"]) for _, row in result.rows()][::2] == [1, 3, 5, 6]


@pytest.mark.parametrize("letters", [3, 60, 150])
def test_the_legend_is_inside_the_picture(make_theorem, letters):
    long = Hypothesis("h", sp.Le(x, 2), " ".join(["words"] * (letters // 6 + 1)))
    theorem = make_theorem(CLAUSE, parameters=(X, Y), hypotheses=(long,))
    figure = draw(verify.sweep(theorem, {"x": "1:4:4", "y": "1:9:9"}))
    figure.canvas.draw()
    around = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= around.x0 < around.x1 <= figure.bbox.x1 and figure.bbox.y0 <= around.y0
    said = " ".join(" ".join(text.get_text() for text in figure.legends[0].get_texts()).split())
    assert f"h: {long.statement}" in said
