"""Plots of an experiment show the numbers of its file and nothing else, and are readable without colour."""

import json
import math
from dataclasses import replace

import pytest
from scipy.stats import t

from verify import Curve, Experiment, HeatMap, Measurement, Parameter, Predicted, Setting, Source, TheoremError
from verify.reports.plots.experiment_plots import draw
from verify.reports.simulate import write_run

UP = tuple(Measurement(float(i), 0.5, 4) for i in (1, 2, 4))
FOUND = {
    "first_loss": Curve("steps", "loss [nats]", (0, 1, 2), UP),
    "second_loss": Curve("steps", "loss [nats]", (0, 2), (Measurement(3.0), Measurement(1.0))),
    "angle": Curve("steps", "angle [rad]", (0, 1, 2), UP),
    "other": Measurement(7.0),
}
SETTING = Setting(Parameter("k", "integer", "a number of things", minimum=1), 1, 2)


def run(found=FOUND, **given):
    experiment = Experiment("mine.curves", "a title", Source("1", "derived here"), (SETTING,), lambda *_, **__: found)
    return experiment.run(device="cpu", **given)


def test_a_curve_is_drawn_as_the_file_has_it(tmp_path):
    result = run()
    body = json.loads(write_run(result, tmp_path)[0].read_text())["curves"]
    losses, angle = draw(result).axes
    assert (losses.get_xlabel(), losses.get_ylabel(), angle.get_ylabel()) == ("steps", "loss [nats]", "angle [rad]")
    drawn = {line.get_label(): line for axes in (losses, angle) for line in axes.get_lines()}
    assert set(drawn) == {"first loss", "second loss", "angle"} == {name.replace("_", " ") for name in body}
    for name, curve in body.items():
        line = drawn[name.replace("_", " ")]
        assert list(line.get_xdata()) == curve["at"] and list(line.get_ydata()) == curve["value"]
    bands = [band.get_paths()[0].vertices for axes in (losses, angle) for band in axes.collections]
    for vertices, name in zip(bands, ("first_loss", "second_loss", "angle"), strict=True):
        ends = {*zip(body[name]["at"], body[name]["lower"], strict=True)}
        ends |= {*zip(body[name]["at"], body[name]["upper"], strict=True)}
        assert {(float(x), float(y)) for x, y in vertices} == ends  # pyright: ignore[reportGeneralTypeIssues]
    assert [text.get_text() for text in losses.get_legend().get_texts()] == ["first loss", "second loss"]
    assert angle.get_legend() is None
    # The legend is inside the picture and above its panel, so it covers no curve.
    losses.figure.draw_without_rendering()
    around, panel = losses.get_legend().get_window_extent(), losses.get_window_extent()
    assert around.y0 >= panel.y1 and around.y1 <= losses.figure.bbox.y1
    assert losses.figure.bbox.x0 <= around.x0 and around.x1 <= losses.figure.bbox.x1
    assert "k=1 seed=0" in draw(result).get_suptitle()


@pytest.mark.parametrize("part", ["color", "marker", "linestyle"])
def test_curves_in_a_panel_differ(part):
    lines = draw(run()).axes[0].get_lines()
    assert len({getattr(line, f"get_{part}")() for line in lines}) == 2


def test_the_band_is_students():
    half = t.ppf(0.975, 3) * 0.5
    assert math.isclose(half, 3.182446 / 2, rel_tol=1e-6)
    assert Measurement(1.0, 0.5, 4).band() == (1 - half, 1 + half) and Measurement(1.0).band() == (1, 1)


def test_the_picture_is_a_png_of_its_own(tmp_path):
    paths = write_run(run(), tmp_path)
    assert [path.name for path in paths] == ["mine.curves.json", "mine.curves.png"]
    assert paths[1].read_bytes().startswith(b"\x89PNG") and sorted(tmp_path.iterdir()) == sorted(paths)


def test_the_ends_of_a_curve_are_measurements():
    found = run().measurements
    assert (found["first_loss_start"], found["first_loss_end"]) == (UP[0], UP[-1])
    assert found["other"].value == 7 and "other_end" not in found


INFINITE = Curve("steps", "loss", (0, 1), (Measurement(1.0), Measurement(math.inf)))


@pytest.mark.parametrize("found", [{"line": INFINITE}, {"line": HeatMap("r", "c", "q", ((1.0, math.nan),))}])
def test_curves_and_heat_maps_that_are_not_finite_are_refused(found):
    with pytest.raises(ValueError, match=r"line = (inf|nan): is not finite"):
        run(found)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Curve("steps", "loss", (), ()), "at least one point, and a measurement at each"),
        (lambda: Curve("steps", "loss", (1, 2), UP), "at least one point, and a measurement at each"),
        (lambda: HeatMap("r", "c", "q", ()), "rows of one length"),
        (lambda: HeatMap("r", "c", "q", ((),)), "rows of one length"),
        (lambda: HeatMap("r", "c", "q", ((1.0,), (1.0, 2.0))), "rows of one length"),
        (lambda: Predicted("steps", "loss", (0.0, 1.0), (1.0,), (1.0, 2.0)), "at least one point, and both ends"),
    ],
)
def test_malformed_curves_heat_maps_and_predictions_are_refused(make, why):
    with pytest.raises(TheoremError, match=why):
        make()


def test_along_a_setting_a_measurement_is_a_panel_of_its_own():
    result = Experiment(
        "mine.numbers",
        "a title",
        Source("1", "derived here"),
        (SETTING,),
        lambda settings, **_: {"half_of_it": Measurement(settings["k"] / 2), "twice": Measurement(2.0 * settings["k"])},
    ).along("k", [1, "3", 2], device="cpu")
    assert result.settings == {"k": (1, 3, 2)} and not result.measurements
    assert [m.value for m in result.curves["half_of_it"].measured] == [0.5, 1.5, 1]
    first, second = draw(result).axes
    assert first.get_xlabel() == "k: a number of things" and first.get_ylabel() == "half of it"
    assert list(second.get_lines()[0].get_ydata()) == [2, 6, 4]


def test_a_setting_that_is_a_list_is_not_varied():
    numbers = Setting(Parameter("weights", "rationals", "some numbers", above=0), "1,2", "1,2")
    experiment = Experiment("mine.lists", "a title", Source("1", "derived here"), (SETTING, numbers), lambda *_: {})
    assert experiment.varied({"weights": "1,2,3", "k": "1"}) is None
    assert experiment.varied({"weights": "1,2,3", "k": "1,2"}) == "k"


LOSSES = tuple(Measurement(value, value / 10, 9) for value in (1.0, 0.1, 0.01))
MAP = HeatMap("row", "column", "entry [m]", ((0.5, -2.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))


def drawn_with(theory=None, **found):
    return replace(run(found), theory=theory or {})


def test_theory_is_drawn_over_the_curve_that_it_is_about(tmp_path):
    said = Predicted("steps", "loss", (0.0, 1.0, 2.0), (0.9, 0.1, 0.01), (1.1, 0.1, 0.01))
    elsewhere = Predicted("steps", "nothing that is measured", (0.0,), (1.0,), (1.0,))
    result = drawn_with({"the_law": said, "other": elsewhere}, loss=Curve("steps", "loss", (0, 1, 2), LOSSES))
    (axes,) = draw(result).axes
    simulated, law = axes.get_lines()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["loss", "the law"]
    assert list(law.get_xdata()) == [0, 1, 2] and list(law.get_ydata()) == [1.0, 0.1, 0.01]
    assert law.get_zorder() > simulated.get_zorder() and law.get_color() == "#000000" != simulated.get_color()
    body = json.loads(write_run(result, tmp_path)[0].read_text())["theory"]
    assert body["the_law"]["lower"] == [0.9, 0.1, 0.01] and body["the_law"]["upper"] == [1.1, 0.1, 0.01]
    assert "theory in black" in draw(result).get_suptitle() and "theory" not in draw(run()).get_suptitle()


def test_a_logarithmic_axis_has_plain_decimals():
    curve = Curve("steps", "loss", (0, 1, 2), LOSSES, logarithmic=True)
    figure = draw(drawn_with(loss=curve))
    figure.canvas.draw()
    (axes,) = figure.axes
    ticks = [label.get_text() for label in axes.get_yticklabels()]
    assert (
        axes.get_yscale() == "log" and {"0.01", "0.1", "1"} <= set(ticks) and not any("10^" in tick for tick in ticks)
    )
    assert draw(drawn_with(loss=replace(curve, logarithmic=False))).axes[0].get_yscale() == "linear"


def test_a_logarithmic_axis_over_many_decades_has_ticks():
    losses = tuple(Measurement(value) for value in (1e9, 1.0, 1e-5))
    axes = draw(drawn_with(loss=Curve("steps", "loss", (0, 1, 2), losses, logarithmic=True))).axes[0]
    low, high = axes.get_ylim()
    assert sum(low <= tick <= high for tick in axes.get_yticks()) > 3


def test_a_band_that_reaches_below_zero_can_be_drawn_on_a_logarithmic_axis(tmp_path):
    curve = Curve("steps", "loss", (0, 1), (Measurement(1.0, 0.1, 9), Measurement(0.1, 0.2, 9)), logarithmic=True)
    assert curve.to_json()["lower"][1] < 0
    assert len(write_run(drawn_with(loss=curve), tmp_path)) == 2


def test_heat_maps_are_drawn_as_the_file_has_them(tmp_path):
    result = drawn_with(W_after=MAP, loss=Curve("steps", "loss", (0, 1, 2), LOSSES))
    body = json.loads(write_run(result, tmp_path)[0].read_text())["heat_maps"]["W_after"]
    assert body["values"] == [list(row) for row in MAP.values] and (body["rows"], body["quantity"]) == (
        "row",
        "entry [m]",
    )
    panel = next(axes for axes in draw(result).axes if axes.get_images())
    (image,) = panel.get_images()
    assert image.get_array().tolist() == body["values"]
    # 0 is in the middle of the colour scale, so the colour shows the sign.
    assert image.get_clim() == (-2.0, 2.0) and image.get_cmap().name == "BrBG"
    assert (panel.get_title(), panel.get_xlabel(), panel.get_ylabel()) == ("W after", "column", "row")
    assert image.colorbar.ax.get_ylabel() == "entry [m]"


def test_heat_maps_alone_are_a_picture(tmp_path):
    assert len(write_run(drawn_with(V=MAP, zero=HeatMap("r", "c", "q", ((0.0,),))), tmp_path)) == 2
