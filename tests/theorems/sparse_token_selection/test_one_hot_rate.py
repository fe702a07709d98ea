"""The rate of runs from zero, also for q ≥ T/4: the limit of 1/(t L_t), and the number of steps to ε."""

import math

import pytest

import verify
from theorems.sparse_token_selection.one_hot_rate import one_hot_rate
from verify import InputError, Outcome
from verify.outcomes import ForAll


def first_steps(length, subset, dimension, eta, levels):
    """Yield for each of some falling levels the first step at which the loss is at most that level."""
    a = c = 0.0
    step = 0
    for level in levels:
        while True:
            weight = math.exp(-c)
            share = subset / (subset + (length - subset) * weight)
            on, off = a * share - 1, a * (1 - share)
            if dimension / 2 * (on**2 / subset + (off**2 / (length - subset))) <= level:
                yield step
                break
            lag = share * on / subset + (1 - share) * off / (length - subset)
            pull = share * (1 - share) * (on / subset - off / (length - subset))
            a, c = a - eta * lag, c - eta * dimension * a * pull / (length - 1)
            step += 1


# For N steps to ε, ε N exceeds its limit (T−1)/(4η). The relative excess is of the order of the squared odds at ε,
# 2(T−q)ε/d, plus the effect of the first steps.
@pytest.mark.parametrize(
    ("sizes", "eta"), [((9, 2, 3), "1/2"), ((5, 4, 2), "1"), ((4, 1, 1), "4/7"), ((20, 3, 5), "1")]
)
def test_steps_times_epsilon_come_to_the_limit(sizes, eta):
    theory = verify.check(one_hot_rate, **dict(zip("Tqd", sizes, strict=True)), eta=eta)
    assert theory.in_scope and theory.values["inverse_loss_slope"] * theory.values["steps_times_epsilon"] == 1
    limit = float(theory.values["steps_times_epsilon"])
    levels = [1e-3, 1e-5]
    numerator, denominator = map(int, (f"{eta}/1").split("/")[:2])
    steps = first_steps(*sizes, numerator / denominator, levels)
    errors = [abs(step * level / limit - 1) for step, level in zip(steps, levels, strict=True)]
    assert errors[1] < errors[0] < 0.3 and errors[1] < 0.005


def test_theorem_is_formal_and_its_scope_ends_at_the_step_size():
    sizes = {"T": 200, "q": 3, "d": 5}
    assert verify.check(one_hot_rate, **sizes, eta="36/25").for_all_parameters.standing is ForAll.FORMAL
    assert verify.check(one_hot_rate, **sizes, eta="73/50").outcome is Outcome.OUT_OF_SCOPE
    # If all tokens are selected, the loss decreases geometrically.
    assert verify.check(one_hot_rate, T=3, q=3, d=5, eta=1).outcome is Outcome.OUT_OF_SCOPE


def test_bad_input_is_refused():
    for wrong in ({"eta": 0}, {"q": 201}, {"T": 1}):
        with pytest.raises(InputError):
            verify.check(one_hot_rate, **{"T": 200, "q": 3, "d": 5, "eta": 1} | wrong)
