"""The shifts by weights and by data, compared with softmax regression simulated from the definitions.

The shifts are compared along whole trainings and at random moves. The closed form of the gradient is compared with
autograd's, and a gradient step with an attention layer that moves in the opposite direction.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp
from hypothesis import strategies as st

import verify
from theorems.softmax_regression import gradient as closed
from theorems.softmax_regression.data_shift import data_shift
from theorems.softmax_regression.opposite_moves import opposite_moves
from theorems.softmax_regression.weight_shift import weight_shift
from verify import Comparison, Crossing, Evidence, Verdict, all_of, in_full, over_instances
from verify.outcomes import as_float

if TYPE_CHECKING:
    from torch import Tensor

INSTANCES = 2500
"""Number of moves of the weights at each draw, and of moves of the data."""
STEPS_OF_TRAINING = 20
EPS = 2.0**-52


class Drawn(NamedTuple):
    """Sizes, log10 of R, log10 of the relative length of a move (see `moves`), and a seed."""

    n: int
    d: int
    log_radius: int
    log_move: int
    seed: int


SIZES = st.builds(Drawn, *(st.integers(*ends) for ends in ((1, 8), (1, 4), (-3, 6), (-12, 0), (0, 2**31))))


def moves(drawn: Drawn, device: str) -> "tuple[Tensor, Tensor, Tensor, Tensor]":
    """Return A, A', x, x' of norm at most R for many instances, with logits from small to saturated."""
    import torch

    radius = 10.0**drawn.log_radius * (1 - 1e-12)
    generator = torch.Generator(device).manual_seed(drawn.seed)
    like: dict[str, Any] = {"generator": generator, "device": device, "dtype": torch.float64}

    def inside(*shape: int) -> "Tensor":
        """Return random matrices of norms from 0 to R, half of them of norm R; x is drawn as a matrix of one row."""
        each = torch.randn(INSTANCES, *shape, **like)
        size = radius * (2 * torch.rand(INSTANCES, 1, 1, **like)).clamp(max=1)
        return size * each / torch.linalg.matrix_norm(each, ord=2, keepdim=True)

    # Each move goes from a point of the ball towards another one, and so stays in the ball, which is convex.
    share = 10.0**drawn.log_move
    A, x = inside(drawn.n, drawn.d), inside(1, drawn.d)
    A_to, x_to = (1 - share) * A + share * inside(drawn.n, drawn.d), (1 - share) * x + share * inside(1, drawn.d)
    return A, A_to, x[:, 0], x_to[:, 0]


class Factors(NamedTuple):
    """Multiples of the factors of the two shifts: 1 unless an error is planted."""

    weights: float = 1.0
    data: float = 1.0


def _within(theory: Factors, drawn: Drawn, device: str) -> Verdict:
    import torch

    from numerics.softmax_regression.reference import new_target, prediction

    A, A_to, x, x_to = moves(drawn, device)
    radius, before = 10.0**drawn.log_radius, prediction(A, x)
    b = torch.zeros_like(before)
    # Logits of size R² are off by (d + 1) EPS R² by rounding; probabilities by half the norm of this, and a few EPS.
    allowed = 4 * EPS + math.sqrt(drawn.n) * (drawn.d + 2) * EPS * radius**2
    verdicts = []
    for theorem, factor, after, moved in (
        (weight_shift, theory.weights, prediction(A, x_to), (x_to - x).norm(dim=1)),
        (data_shift, theory.data, prediction(A_to, x), torch.linalg.matrix_norm(A_to - A, ord=2)),
    ):
        shift = (new_target(b, before, after) - b).norm(dim=1)
        sharp = factor * sharp_factor(theorem.id, drawn.n, drawn.d, drawn.log_radius)
        # 2 EPS R allows for the rounding of x' − x.
        worst = max(0.0, float((shift - sharp * (moved + 2 * EPS * radius)).max()))
        verdicts.append((theorem.id, Verdict.within(worst, allowed, "the shift above the bound is", Evidence.COMPUTED)))
    return all_of(verdicts)


@cache
def sharp_factor(theorem: str, n: int, d: int, log_radius: int) -> float:
    """Return the best factor that is proved, at R = 10^log_radius."""
    checked = verify.check(
        {each.id: each for each in (weight_shift, data_shift)}[theorem], n=n, d=d, R=f"1e{log_radius}"
    )
    return as_float(checked.values["sharp_factor"])  # pyright: ignore[reportReturnType]


shifts_within_half_the_radius = Crossing(
    id="li2024.shifts_within_half_the_radius",
    title="Both shifts are at most R/2 times the move: 2500 moves a draw, R from 10^-3 to 10^6, saturated logits too",
    subject="shifts of drawn moves",
    theorem="li2024.weight_shift",
    exact="li2024.reached_by_a_family",
    instances=SIZES,
    held=_within,
    theory=Factors(),
    sizes=("n", "d"),
)


class Training(NamedTuple):
    """Sizes, R, the step size times R², and a seed for all that is random."""

    n: int
    d: int
    R: int
    rate: float
    seed: int


@st.composite
def trainings(draw: st.DrawFn) -> Training:
    """Draw a training of x by gradient descent, and of A by self-attention layers."""
    n, d = (200, 20) if in_full() else (50, 10)
    return Training(
        *(draw(st.integers(2, n)), draw(st.integers(1, d)), draw(st.integers(1, 6))),
        draw(st.sampled_from([1 / 100, 1 / 10, 1.0])),
        draw(st.integers(0, 2**31)),
    )


class Theory(NamedTuple):
    """The factors of the two shifts, and the gradient in a logit; a planted error changes one of them."""

    factors: Factors = Factors()
    slope: sp.Expr = closed.slope


@lru_cache(maxsize=64)
def trained(drawn: Training, device: str) -> Any:
    """Return A, b, a path of x with A fixed, the x that is fixed while A moves, a path of A, and the step size.

    The path of x is gradient descent by autograd, and the path of A applies self-attention layers. The rows of A come
    in opposite pairs, except one if their number is odd, and x begins near 0. So logits begin near 0, where the factor
    R/2 is nearly reached for two rows.
    """
    import torch

    from numerics.softmax_regression.reference import data_after_attention, gradient

    generator = torch.Generator(device).manual_seed(drawn.seed)
    like: dict[str, Any] = {"generator": generator, "device": device, "dtype": torch.float64}
    A = torch.randn(drawn.n, drawn.d, **like)
    A[1::2] = -A[: drawn.n // 2 * 2 : 2]
    A = drawn.R * A / torch.linalg.matrix_norm(A, ord=2)
    b = torch.randn(drawn.n, **like).softmax(dim=0)
    x = 1e-3 * torch.randn(drawn.d, **like)
    eta = drawn.rate / drawn.R**2
    # When the data move, x has norm R, where the factor R/2 is nearly reached.
    far = drawn.R * (1 - 1e-12) * x / x.norm()
    xs, datas = [x], [1e-3 * A]
    W, V = (torch.randn(drawn.d, drawn.d, **like) for _ in range(2))
    W, V = W / torch.linalg.matrix_norm(W, ord=2), V / torch.linalg.matrix_norm(V, ord=2)
    for _ in range(STEPS_OF_TRAINING):
        xs.append((xs[-1] - eta * gradient(A, xs[-1], b)).detach())
        # The layers are so small that the norm of A stays below R.
        datas.append(data_after_attention(datas[-1], W, V / (2 * STEPS_OF_TRAINING)).detach())
    return A, b, xs, far, datas, eta


def _path(slope: sp.Expr, A: "Tensor", b: "Tensor", x: "Tensor", eta: float, steps: int) -> "list[Tensor]":
    """Return the path of gradient descent by the closed form of the gradient."""
    import torch

    names = (closed.x, closed.y, closed.b_i, closed.b_j, closed.S, closed.Q, closed.C, closed.B)
    function = sp.lambdify(names, closed.expanded(slope), "math")
    path, targets = [x], b.tolist()
    for _ in range(steps):
        z = (A @ path[-1]).tolist()
        slopes = []
        for i in range(len(z)):
            # Row i comes first; the closed form holds with any other row as the second.
            order = [i, *(k for k in range(len(z)) if k != i)]
            values = _symbols([z[k] for k in order], [targets[k] for k in order])
            slopes.append(function(*(values[name.name] for name in names)))
        path.append(path[-1] - eta * A.T @ torch.tensor(slopes, dtype=A.dtype, device=A.device))
    return path


def _held(theory: Theory, drawn: Training, device: str) -> Verdict:
    import torch

    from numerics.softmax_regression.reference import new_target, prediction

    A, b, xs, far, datas, eta = trained(drawn, device)
    path = _path(theory.slope, A, b, xs[0], eta, len(xs) - 1)
    off = max(float((mine - its).abs().max()) for mine, its in zip(xs, path, strict=True))
    # This is an estimate: a step adds about n roundings of size η ‖A‖, and descent does not increase earlier ones. So
    # 20 steps make about 20 n roundings; 100 n are allowed.
    allowed = 100 * drawn.n * EPS * max(1.0, eta * drawn.R)
    verdicts = [("descent", Verdict.within(off, allowed, "an entry of x is", Evidence.COMPUTED))]
    rounding = 4 * EPS + math.sqrt(drawn.n) * (drawn.d + 2) * EPS * drawn.R**2
    half = drawn.R / 2
    for name, factor, pairs in (
        (
            "weights",
            theory.factors.weights,
            [(prediction(A, x), prediction(A, x_to), (x_to - x).norm()) for x, x_to in pairwise(xs)],
        ),
        (
            "data",
            theory.factors.data,
            [
                (prediction(D, far), prediction(D_to, far), torch.linalg.matrix_norm(D_to - D, ord=2))
                for D, D_to in pairwise(datas)
            ],
        ),
    ):
        above = max(
            0.0,
            *(
                float((new_target(b, before, after) - b).norm() - factor * half * moved)
                for before, after, moved in pairs
            ),
        )
        verdicts.append((name, Verdict.within(above, rounding, "the shift above the bound is", Evidence.COMPUTED)))
    return replace(all_of(verdicts), trainings=1)


softmax_shifts = Crossing(
    id="li2024.softmax_shifts",
    title="Along gradient descent on x and self-attention on A every shift is within R/2 times the move",
    subject="softmax shifts along trainings",
    theorem="li2024.weight_shift",
    exact="li2024.reached_by_ascent",
    instances=trainings(),
    held=_held,
    theory=Theory(),
    planted={
        "1 % less than R/2 for the weights": Theory(Factors(weights=0.99)),
        "1 % less than R/2 for the data": Theory(Factors(data=0.99)),
        "1 % in the gradient": Theory(slope=sp.Rational(101, 100) * closed.slope),
        "the mean left out of the gradient": Theory(slope=closed.p_i * (closed.p_i - closed.b_i)),
    },
    sizes=("n", "d", "R"),
)


def _gradients(*, device: str, full: bool, seed: int) -> Verdict:
    import torch

    from numerics.softmax_regression.reference import loss

    generator = torch.Generator(device).manual_seed(seed)
    verdicts = []
    for n in (2, 3, 5, 8):
        z, b = torch.randn(2, n, generator=generator, dtype=torch.float64, device=device)
        identity = torch.eye(n, dtype=torch.float64, device=device)

        def in_logits(logits: "Tensor", A: "Tensor" = identity, b: "Tensor" = b) -> "Tensor":
            return loss(A, logits, b)

        slopes = torch.autograd.functional.jacobian(in_logits, z)
        hessian = torch.autograd.functional.hessian(in_logits, z)
        values, here = _symbols(z.tolist(), b.tolist()), []
        for name, form, found in (
            ("gradient", closed.slope, slopes[0]),
            ("Hessian (i, i)", closed.own, hessian[0, 0]),
            ("Hessian (i, j)", closed.other, hessian[0, 1]),
        ):
            expression = closed.expanded(form)
            theory = float(expression.subs({s: values[s.name] for s in expression.free_symbols}))
            # The values are sums of about n products of numbers of size 1 to 10.
            holds = abs(theory - float(found)) <= 1e-13 * n
            here.append((name, Verdict.when(holds, f"{theory:.12g}, {float(found):.12g}", Evidence.COMPUTED)))
        verdicts.append((f"n={n}", all_of(here)))
    return over_instances(verdicts)


def _symbols(z: list[float], b: list[float]) -> dict[str, float]:
    """Return the values of the closed forms' symbols: the entries of two rows, and sums over the others."""
    others = [(math.exp(logit), entry) for logit, entry in zip(z[2:], b[2:], strict=True)]
    sums = {
        "S": sum(e for e, _ in others),
        "Q": sum(e * e for e, _ in others),
        "C": sum(e * c for e, c in others),
        "B": sum(c * c for _, c in others),
    }
    return {"x": z[0], "y": z[1], "b_i": b[0], "b_j": b[1], **sums}


gradient_by_autograd = Comparison(
    id="li2024.gradient_by_autograd",
    title="Gradient and Hessian in closed form against autograd's, at random logits and targets",
    theorem="li2024.gradient",
    experiment=None,
    compare=_gradients,
)


def _opposite(*, device: str, full: bool, seed: int) -> Verdict:
    import torch

    from numerics.softmax_regression.reference import data_after_attention, gradient, loss, prediction

    verdicts = []
    for a, x, eta, w, v in (
        ("1", "1/2", "1/60", "1", "1/100"),
        ("4/5", "3/5", "1/100", "7/10", "1/100"),
        ("2", "1", "2", "1", "3"),
    ):
        values = verify.check(opposite_moves, a=a, x=x, eta=eta, w=w, v=v, R=4).values
        numbers = [float(Fraction(text)) for text in (a, x, eta, w, v)]
        like = {"dtype": torch.float64, "device": device}
        A, b = torch.tensor([[numbers[0]], [-numbers[0]]], **like), torch.tensor([1.0, 0.0], **like)
        at = torch.tensor([numbers[1]], **like)
        W, V = torch.tensor([[numbers[3]]], **like), torch.tensor([[-numbers[4]]], **like)
        here, losses = prediction(A, at), []
        moves = (A, (at - numbers[2] * gradient(A, at, b)).detach()), (data_after_attention(A, W, V), at)
        step, layer = (prediction(*moved) for moved in moves)
        data, weights = A.clone().requires_grad_(), at.clone().requires_grad_()
        slopes = torch.autograd.grad(loss(data, weights, b), (data, weights))
        for data_to, weights_to in moves:
            change = float(loss(data_to, weights_to, b) - loss(A, at, b))
            first_order = float((slopes[0] * (data_to - A)).sum() + (slopes[1] * (weights_to - at)).sum())
            # The change of the difference of the two logits bounds the terms beyond the first order.
            moved = float((data_to @ weights_to - A @ at) @ torch.tensor([1.0, -1.0], **like))
            losses.append((change, abs(change - first_order) <= moved**2 / 12 + 20 * EPS))
        found = {
            "gradient_shift": float((step - here).norm()),
            "layer_shift": float((layer - here).norm()),
            "difference": float((step - layer).norm()),
            "gradient_loss_change": losses[0][0],
            "layer_loss_change": losses[1][0],
        }
        # 20 EPS allows for about ten roundings of numbers of size 1.
        near = {name: abs(value - as_float(values[name])) <= 20 * EPS for name, value in found.items()}
        here = ((name, Verdict.when(near[name], f"{value:.15g}", Evidence.COMPUTED)) for name, value in found.items())
        within = Verdict.when(all(near for _, near in losses), "losses beside their first order", Evidence.COMPUTED)
        verdicts.append((f"a={a}", all_of((*here, ("first order", within)))))
    return over_instances(verdicts)


opposite_moves_by_the_definitions = Comparison(
    id="li2024.opposite_moves_by_the_definitions",
    title="A gradient step by autograd and a self-attention layer, computed directly: shifts and distance as stated",
    theorem="li2024.opposite_moves",
    experiment=None,
    compare=_opposite,
)
