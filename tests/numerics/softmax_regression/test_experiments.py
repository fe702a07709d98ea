"""Tasks, the line search and sensitivities, checked by other means; the experiment's settings."""

import math

import pytest
import torch

from numerics.softmax_regression import experiments, sensitivities
from numerics.softmax_regression.reference import attention_layer, gradient_step
from verify import InputError, Store
from verify.runs import checkpoints

TINY = {"n": 4, "d": 2, "steps": 3, "batch": 4, "search": 8, "test": 8, "sensitivity": 4, "repetitions": 2}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("kind", experiments.TASKS)
def test_targets_lie_on_the_simplex_and_entries_have_variance_1_over_d(kind):
    A, b = experiments.sample_tasks(kind, 4000, 5, 4, generator())
    assert A.shape == (4000, 5, 4) and b.shape == (4000, 5)
    assert bool((b >= 0).all()) and torch.allclose(b.sum(dim=1), torch.ones(4000, dtype=torch.float64))
    # The 80 000 squares have the mean 1/4 and the standard deviation √2/4; six standard errors are allowed.
    assert abs(float(A.square().mean()) - 0.25) < 6 * math.sqrt(2) / 4 / math.sqrt(80_000)


def test_the_kinds_differ_as_they_say():
    teacher, simplex, outliers = (
        experiments.sample_tasks(kind, 4000, 5, 4, generator())[1] for kind in experiments.TASKS
    )
    # Uniform on the simplex: E b_i² = 2/(n(n+1)) = 1/15. The 20 000 squares have a standard deviation below 0.12.
    assert abs(float(simplex.square().mean()) - 1 / 15) < 6 * 0.12 / math.sqrt(20_000)
    assert bool((outliers.max(dim=1).values >= 0.5).all()) and not bool((teacher.max(dim=1).values >= 0.5).all())
    with pytest.raises(InputError, match="tasks = other: must be one of teacher, simplex, outliers"):
        experiments.sample_tasks("other", 1, 2, 2, generator())


def test_the_line_search_is_no_worse_than_a_grid():
    A, b = experiments.sample_tasks("teacher", 50, 6, 3, generator())

    def loss(eta):
        return float((gradient_step(A, b, eta).detach() - b).square().sum(dim=1).mean()) / 2

    found = experiments.line_search(A, b)
    # The step size is off by at most the factor 10^0.0125 = 1.03, so near a smooth minimum the relative error of the
    # loss is a small multiple of 0.03².
    assert loss(found) <= min(loss(6 * 10 ** (k / 50)) for k in range(-50, 200)) * 1.005


def jacobians(A, b, eta, W, v):
    models = (lambda a: gradient_step(a, b, eta), lambda a: attention_layer(a, b, W, v))
    return [torch.autograd.functional.jacobian(model, A).ravel() for model in models]


def test_sensitivities_by_full_jacobians():
    A, b = experiments.sample_tasks("teacher", 3, 4, 2, generator())
    W, v = torch.randn(2, 2, generator=generator(), dtype=torch.float64), torch.tensor(0.5, dtype=torch.float64)
    difference, cosine = experiments.compared(A, b, 5.0, W, v)
    for i in range(3):
        step, layer = jacobians(A[i], b[i], 5.0, W, v)
        assert math.isclose(difference[i], (step - layer).norm(), rel_tol=1e-9)
        assert math.isclose(cosine[i], step @ layer / (step.norm() * layer.norm()), rel_tol=1e-9)


@pytest.mark.parametrize(("eta", "v"), [(1500.0, 0.5), (5.0, 60.0), (400.0, 20.0)])
def test_sensitivities_of_outputs_that_are_all_but_one(eta, v):
    A, b = experiments.sample_tasks("teacher", 8, 4, 2, generator())
    W, v = torch.randn(2, 2, generator=generator(), dtype=torch.float64), torch.tensor(v, dtype=torch.float64)
    difference, cosine = experiments.compared(A, b, eta, W, v)
    saturated = 0
    for i in range(8):
        step, layer = jacobians(A[i], b[i], eta, W, v)
        sizes = float(step.norm()), float(layer.norm())
        saturated += min(sizes) < 1e-4
        # Autograd's derivatives of a saturated output have errors of about 10⁻¹⁶ times the derivatives of its logits,
        # which are of size eta or v.
        off = 1e-15 * (eta + float(v))
        assert math.isclose(difference[i], (step - layer).norm(), rel_tol=1e-9, abs_tol=off)
        if min(sizes) > 1e4 * off:
            assert math.isclose(cosine[i], step @ layer / sizes[0] / sizes[1], abs_tol=1e-3)
        assert abs(float(cosine[i])) <= 1 + 1e-9
    assert saturated


def test_a_model_beside_itself_has_cosine_one_and_no_difference():
    A, b = experiments.sample_tasks("teacher", 3, 4, 2, generator())
    step = sensitivities.of_gradient_step(A, b, 5.0)
    difference, cosine = sensitivities.compared(step, step)
    # The difference is the root of a sum that cancels up to a rounding error of 10⁻¹⁶.
    assert float(difference.max()) < 1e-6 and torch.allclose(cosine, torch.ones(3, dtype=torch.float64))


def test_a_run_that_was_left_goes_on_to_the_same_numbers(tmp_path):
    whole = experiments.closeness.run(device="cpu", seed=3, **TINY, store=Store(tmp_path / "whole.sqlite"))
    store = Store(tmp_path / "left.sqlite")

    def leave(done, total):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
        patched.setattr(checkpoints.Running.__init__, "__defaults__", (None, None, 0.0))
        with pytest.raises(KeyboardInterrupt):
            experiments.closeness.run(device="cpu", seed=3, **TINY, store=store, tell=leave)
        began = []
        again = experiments.closeness.run(
            device="cpu", seed=3, **TINY, store=store, tell=lambda done, total: began.append(done)
        )
    assert began == [1, 2] and again.measurements == whole.measurements


def test_training_lowers_the_loss():
    start, _, end = experiments.trained_layer(
        "teacher", 6, 2, eta=0.02, read=[0, 10, 300], batch=32, generator=generator()
    )
    A, b = experiments.sample_tasks("teacher", 200, 6, 2, generator(1))
    before, after = (float((attention_layer(A, b, *layer) - b).square().sum(dim=1).mean()) for layer in (start, end))
    assert after < 0.7 * before


def test_closeness_is_measured_at_start_and_end_and_repeats():
    found = [experiments.closeness.run(device="cpu", seed=3, **TINY).measurements for _ in range(2)]
    names = ("layer_loss", "prediction_difference", "sensitivity_difference", "cosine")
    assert {f"{name}_{when}" for name in names for when in ("start", "end")} < set(found[0])
    assert found[0] == found[1] and all(m.samples == 2 for m in found[0].values())
    assert found[0]["eta_GD"].value > 0
    assert all(-1 - 1e-12 <= found[0][f"cosine_{when}"].value <= 1 + 1e-12 for when in ("start", "end"))


def test_more_readings_change_no_other_number():
    few, many = (experiments.closeness.run(device="cpu", seed=3, **TINY, readings=count) for count in (2, 4))
    assert few.measurements == many.measurements
    assert few.curves["cosine"].points == (0, 3) and many.curves["cosine"].points == (0, 1, 2, 3)
    # The layer after one step is the layer at the end of a training with a single step.
    one = experiments.closeness.run(device="cpu", seed=3, **TINY | {"steps": 1, "repetitions": 2})
    assert one.curves["layer_loss"].points == (0, 1)
    layers = [
        experiments.trained_layer("teacher", 4, 2, eta=0.1, read=read, batch=4, generator=generator())
        for read in ([1], [0, 1, 3])
    ]
    assert bool((layers[0][0][0] == layers[1][1][0]).all()) and not bool((layers[1][1][0] == layers[1][2][0]).all())


def test_without_training_there_is_one_reading():
    found = experiments.closeness.run(device="cpu", **TINY | {"steps": 0})
    assert found.curves["layer_loss"].points == (0,)
    assert found.measurements["layer_loss_start"] == found.measurements["layer_loss_end"]


def test_the_expected_time_counts_steps_searches_and_readings(monkeypatch):
    # The timed 20 steps take 40 s, the line search 5 s and the reading 3 s, the latter two on at most 20 tasks. The
    # estimate is proportional to the numbers of steps and tasks.
    for given, each in (({}, 3 * 2 + 5 + 4 * 3), ({"search": 60, "sensitivity": 40}, 3 * 2 + 3 * 5 + 4 * 2 * 3)):
        times = iter([40.0, 5.0, 3.0])
        monkeypatch.setattr(experiments, "timed", lambda *_, times=times: next(times))
        assert experiments.closeness.expected(device="cpu", **TINY | {"readings": 4} | given) == 2 * each
    monkeypatch.undo()
    assert 0 < experiments.closeness.expected(device="cpu", **TINY) < 600


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 1}, "n = 1: must be an integer >= 2"),
        ({"tasks": "mine"}, "tasks = mine: must be one of"),
        ({"sensitivity": 9}, "sensitivity = 9: must be at most test = 8"),
        ({"eta_SA": 0}, "eta_SA = 0: must be a number"),
        ({"eta_SA": "1e308"}, "diverges"),
    ],
)
def test_settings_that_do_not_fit(given, message):
    with pytest.raises(InputError, match=message):
        experiments.closeness.run(device="cpu", **(TINY | given))
