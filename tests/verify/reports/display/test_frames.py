"""Results as rows, and as figures."""

import sys
from types import ModuleType

import pytest
import sympy as sp

import verify
from verify import (
    Curve,
    Experiment,
    HeatMap,
    Hypothesis,
    Inequality,
    InputError,
    InWords,
    Measurement,
    Parameter,
    Setting,
    Source,
    Statement,
    Theorem,
)
from verify.reports.display import frames
from verify.reports.formats.sweep_files import columns

x = sp.Symbol("x", positive=True)
STATEMENT = Statement(
    (Parameter("x", "rational", "a number", above=0), Parameter("n", "integer", "another", minimum=1)),
    (Inequality("small", sp.Le(x, 2)), InWords("said", "something")),
    (Hypothesis("near", sp.Lt(x, 10)),),
)
MINE = Theorem("user.mine", "a title", Source("1", "derived here"), STATEMENT, {"x": 1, "n": 1})


@pytest.fixture
def installed(monkeypatch):
    """Return a function that installs stand-ins for libraries of data frames, and hides those that are not named."""

    def install(*names):
        monkeypatch.setattr(frames, "find_spec", lambda name: name if name in names else None)
        for name in names:
            module = ModuleType(name)
            module.DataFrame = lambda rows, name=name, **options: (name, rows, options)
            monkeypatch.setitem(sys.modules, name, module)

    return install


def test_a_check_has_a_row_a_clause(installed):
    installed()
    small, said = verify.check(MINE, x="1/3", n=1).to_frame()
    assert (small["label"], small["holds"], small["evidence"], small["error"]) == ("small", True, "certified", 0.0)
    assert small["margin"] == pytest.approx(5 / 3, abs=1e-15)
    assert (said["outcome"], said["evidence"], said["margin"]) == ("inconclusive", None, None)
    assert list(small) == list(said)


def test_a_necessity_has_a_row_a_hypothesis(installed):
    installed()
    (row,) = verify.necessity(MINE, seconds=2).to_frame()
    assert (row["label"], row["status"], row["varied"]) == ("near", "needed", True)
    assert row["witness"].startswith("x=") and row["slack"] <= 0


def test_a_reach_has_a_row_a_hypothesis(installed):
    installed()
    found = verify.necessity(MINE, x=1, n=1, seconds=2)
    (row,) = found.to_frame()
    assert (row["hypothesis"], row["parameter"], row["for_all_parameters"]) == ("near", "x", None)
    assert isinstance(row["end"], float) and isinstance(row["verified_at"], str)
    assert not any(name.endswith("_float") for name in row)


def test_a_sweep_has_a_row_an_instance(installed):
    installed()
    swept = verify.sweep(MINE, {"x": [1, 3]}, n=1)
    rows = swept.to_frame()
    assert [row["small.holds"] for row in rows] == [True, False] and list(rows[0]) == list(columns(swept))


def test_pandas_comes_before_polars(installed):
    result = verify.check(MINE, x=1, n=1)
    installed("pandas", "polars")
    assert result.to_frame()[0] == "pandas" and len(result.to_frame()[1]) == 2
    installed("polars")
    assert result.to_frame()[0] == "polars" and result.to_frame()[2] == {"infer_schema_length": None}


def test_an_exploration_has_no_rows():
    assert not hasattr(verify.explore(MINE, max_examples=1), "to_frame")


@pytest.fixture
def pyplot():
    """Matplotlib's pyplot, without a window; the figures of a test are closed at its end."""
    # Matplotlib is imported here and not at collection: a pytest run inside a test forgets the modules that it loads.
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_a_sweep_is_drawn(pyplot):
    axes = verify.sweep(MINE, {"x": [1, 2, 3]}, n=1).plot()
    assert axes.get_xlabel() == "x: a number" and axes.figure.number in pyplot.get_fignums()
    assert verify.sweep(MINE, {"x": [1, 3], "n": [1, 2]}).plot().get_ylabel() == "n: another"


def test_a_sweep_over_too_much_is_not_drawn():
    parameters = (*STATEMENT.parameters, Parameter("m", "integer", "a third", minimum=1))
    wide = MINE.variant(Statement(parameters, STATEMENT.claims[:1], STATEMENT.hypotheses))
    with pytest.raises(InputError, match="cannot be drawn: that is for one or two parameters"):
        verify.sweep(wide, {"x": [1, 2], "n": [1, 2], "m": [1, 2]}).plot()


def experiment(measured):
    setting = Setting(Parameter("k", "integer", "a number", minimum=1), 2, 3)
    return Experiment("user.e", "e", Source("1", "derived here"), (setting,), lambda chosen, **_: measured).run(
        device="cpu"
    )


def test_an_experiment_is_drawn_a_panel_each(pyplot):
    curve = Curve("steps", "level", (1.0, 2.0), (Measurement(1.0, 0.0), Measurement(2.0, 0.1, 9)))
    heat = HeatMap("row", "column", "entry", ((1.0, 2.0), (3.0, -4.0)))
    axes = experiment({"level": curve, "matrix": heat}).plot()
    assert [panel.get_xlabel() for panel in axes] == ["steps", "column"]


def test_an_experiment_of_numbers_is_not_drawn():
    with pytest.raises(InputError, match="ExperimentResult: cannot be drawn: it has no curves"):
        experiment({"level": Measurement(1.0, 0.0)}).plot()


def test_an_observation_is_drawn_a_line_an_instance(pyplot):
    seen = verify.observe("wang2024.theorem1", [1, 10, 1000], {"eta": ["1/20", "1/10"]}, T=9, q=2, d=1)
    axes = seen.plot()
    lines = axes.get_lines()
    assert [line.get_label() for line in lines] == ["eta=1/20", "eta=1/10"] and axes.get_xscale() == "log"
    assert list(lines[0].get_ydata()) == list(seen.values[0]) and axes.get_ylabel() == "observable"
    assert axes.figure.get_suptitle() == "wang2024.theorem1: reached  T=9 q=2 d=1"
    alone = verify.observe("wang2024.theorem1", [0, 1], T=9, q=2, d=1, eta="1/20").plot()
    assert len(alone.get_lines()) == 1 and alone.get_xscale() == "linear"
    assert alone.figure.get_suptitle().endswith("T=9 q=2 d=1 eta=1/20") and alone.figure.legends == []
