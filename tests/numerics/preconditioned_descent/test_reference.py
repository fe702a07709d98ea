"""The simulator, compared with NumPy loops, hand calculations, finite differences and its own standard errors."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from numerics.preconditioned_descent import reference
from numerics.preconditioned_descent.reference import (
    Gradient,
    Layers,
    Nodes,
    attention,
    exact_gradient,
    exact_loss,
    forward,
    in_context_errors,
    in_context_gradient,
    in_context_loss,
    pattern,
    preconditioned_descent,
    prediction,
    prompt,
    quadrature_nodes,
    sample,
)
from tests.numerics.devices import DEVICES
from verify.errors import InputError

pytestmark = pytest.mark.usefixtures("one_thread")

EPS = np.finfo(float).eps
FALSE_ALARM = 1e-6  # probability of a false alarm in a test, divided among its comparisons (Bonferroni)
COVARIANCE = torch.tensor([[1.0, 0.3], [0.3, 0.5]], dtype=torch.float64)
PRIOR = torch.tensor([[2.0, -0.4], [-0.4, 0.7]], dtype=torch.float64)


def generator(seed, device="cpu"):
    return torch.Generator(device).manual_seed(seed)


def gaussian(seed, *shape):
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def random_layers(kind, L, d, scale=0.3):
    """Return layers without symmetry: P_l = diag(0, 1) or diag(B_l, 1) with Q_l = -diag(A_l, 0), or full matrices."""
    A, B = scale * gaussian(1, L, d, d), scale * gaussian(2, L, d, d)
    if kind == "full":
        return Layers(scale * gaussian(3, L, d + 1, d + 1), scale * gaussian(4, L, d + 1, d + 1))
    return pattern(A, B if kind == "A and B" else None)


def naive_forward(Z, P, Q, activation):
    """Return one prompt after all layers, computed by scalar loops; column n+1 is never a key."""
    D, columns = Z.shape
    n = columns - 1
    for P_l, Q_l in zip(P, Q, strict=True):
        after = Z.copy()
        for j in range(columns):
            for i in range(n):
                score = sum(Z[a, i] * Q_l[a, b] * Z[b, j] for a in range(D) for b in range(D))
                score = max(score, 0.0) if activation == "relu" else score
                for a in range(D):
                    after[a, j] += sum(P_l[a, b] * Z[b, i] for b in range(D)) * score / n
        Z = after
    return Z


@pytest.mark.parametrize("activation", [None, "relu"])
@pytest.mark.parametrize(("L", "d", "n"), [(1, 1, 1), (2, 2, 3), (3, 3, 2)])
def test_states_prediction_and_errors_equal_scalar_loops(activation, L, d, n):
    layers = random_layers("full", L, d)
    tokens, weights = gaussian(5, 4, d, n + 1), gaussian(6, 4, d)
    states = forward(prompt(tokens, weights), layers, activation=activation, all_states=True)
    assert states.shape == (L + 1, 4, d + 1, n + 1)
    last = forward(prompt(tokens, weights), layers, activation=activation)
    predicted = prediction(prompt(tokens, weights), layers, activation=activation)
    errors = in_context_errors(layers, tokens, weights, activation=activation)
    for k in range(4):
        x, w = tokens[k].numpy(), weights[k].numpy()
        Z = np.zeros((d + 1, n + 1))
        for i in range(n + 1):
            Z[:d, i] = x[:, i]
            Z[d, i] = sum(w[a] * x[a, i] for a in range(d)) if i < n else 0.0
        for depth in range(L + 1):
            expected = naive_forward(Z, layers.P[:depth].numpy(), layers.Q[:depth].numpy(), activation)
            # Each layer sums n D^3 < 200 products of five entries, and each later layer magnifies an error by <= 100.
            tolerance = 200 * 100**depth * EPS * max(1, abs(expected).max())
            assert np.allclose(states[depth, k].numpy(), expected, rtol=0, atol=tolerance)
        assert np.allclose(last[k].numpy(), expected, rtol=0, atol=tolerance)  # pyright: ignore[reportPossiblyUnboundVariable]
        assert abs(predicted[k].item() + expected[d, n]) <= tolerance  # pyright: ignore[reportPossiblyUnboundVariable]
        error = -expected[d, n] - sum(w[a] * x[a, n] for a in range(d))  # pyright: ignore[reportPossiblyUnboundVariable]
        assert abs(errors[k].item() - error**2) <= 3 * tolerance * max(1, abs(error))  # pyright: ignore[reportPossiblyUnboundVariable]


def test_the_layers_of_a_pattern():
    A, B = gaussian(1, 2, 3, 3), gaussian(2, 2, 3, 3)
    P, Q = pattern(A)
    assert P.tolist() == [np.diag([0.0, 0, 0, 1]).tolist()] * 2
    P, Q = pattern(A, B)
    for block, matrix, corner in ((B, P, 1), (-A, Q, 0)):
        assert torch.equal(matrix[:, :3, :3], block)
        assert (matrix[:, 3, 3] == corner).all()
        assert not matrix[:, 3, :3].any() and not matrix[:, :3, 3].any()


def test_a_prompt_has_its_labels_but_the_last():
    tokens = torch.tensor([[[1.0, 2, 3], [4, 5, 6]]], dtype=torch.float64)
    weights = torch.tensor([[10.0, 1]], dtype=torch.float64)
    assert prompt(tokens, weights).tolist() == [[[1, 2, 3], [4, 5, 6], [14, 25, 0]]]
    label = torch.tensor([7.0], dtype=torch.float64)
    assert prompt(tokens, weights, label)[0, 2].tolist() == [14, 25, 7]


@pytest.mark.parametrize("activation", [None, "relu"])
def test_the_last_column_is_never_a_key(activation):
    tokens, weights = gaussian(5, 6, 2, 4), gaussian(6, 6, 2)
    layers = random_layers("full", 3, 2)
    other = tokens.clone()
    other[:, :, -1] = 100
    label = torch.full((6,), 1000.0, dtype=torch.float64)
    first = forward(prompt(tokens, weights), layers, activation=activation, all_states=True)
    second = forward(prompt(other, weights, label), layers, activation=activation, all_states=True)
    # The other columns result from the same operations on the same numbers, up to the order of sums.
    size = first[..., :-1].abs().max()
    assert torch.allclose(first[..., :-1], second[..., :-1], rtol=0, atol=1000 * EPS * size)
    # If Q ignores the labels, each layer adds to the entry y_{n+1} a number that does not depend on this entry.
    layers = random_layers("A and B", 3, 2)
    without = prediction(prompt(tokens, weights), layers, activation=activation)
    shifted = prediction(prompt(tokens, weights, label), layers, activation=activation)
    assert torch.allclose(shifted, without - 1000, rtol=0, atol=1000 * 1000 * EPS)


def test_descent_by_hand_in_one_dimension():
    # R(w) = (w - w*)^2 x^2 / 2: w_1 = a_0 x^2 w*, w_2 = w_1 + a_1 x^2 (w* - w_1). Here x = 2, w* = 3.
    tokens = torch.tensor([[[2.0, 5]]], dtype=torch.float64)
    weights, A = torch.tensor([[3.0]], dtype=torch.float64), torch.tensor([[[0.125]], [[0.5]]], dtype=torch.float64)
    assert preconditioned_descent(tokens, weights, A).tolist() == [[[0], [1.5], [4.5]]]


def test_descent_takes_gradients_of_the_printed_risk():
    tokens, weights, A = gaussian(5, 3, 2, 5), gaussian(6, 3, 2), gaussian(7, 3, 2, 2) / 4
    found = preconditioned_descent(tokens, weights, A).numpy()
    assert found.shape == (3, 4, 2)
    for k in range(3):
        x, target, w = tokens[k].numpy(), weights[k].numpy(), np.zeros(2)

        def risk(w, x=x, target=target):
            return sum(((w - target) @ x[:, i]) ** 2 for i in range(4)) / 8

        for step in range(3):
            # Central differences of a quadratic have no truncation error; the rounding error is EPS R / h.
            gradient = np.array([(risk(w + e) - risk(w - e)) / 2 for e in np.eye(2)])
            w = w - A[step].numpy() @ gradient
            assert np.allclose(found[k, step + 1], w, rtol=0, atol=1000 * EPS * max(1, abs(w).max()))


@pytest.mark.parametrize("device", DEVICES)
def test_samples_have_the_moments_that_are_asked_for(device):
    batch = 40_000
    tokens, weights = sample(batch, 2, COVARIANCE.to(device), PRIOR.to(device), generator(4, device))
    assert tokens.shape == (batch, 2, 3) and weights.shape == (batch, 2)
    assert tokens.dtype == torch.float64 and tokens.device.type == weights.device.type == device
    values = torch.cat([tokens.mT.reshape(batch, 6), weights], dim=1).cpu().numpy()
    expected = torch.block_diag(COVARIANCE, COVARIANCE, COVARIANCE, PRIOR).numpy()
    z = stats.norm.isf(FALSE_ALARM / 2 / (8 + 64))
    variances = np.diag(expected)
    assert np.all(abs(values.mean(axis=0)) < z * np.sqrt(variances / batch))
    # Var(u v) = E u^2 E v^2 + (E u v)^2 for centred Gaussians.
    spread = np.sqrt((np.outer(variances, variances) + expected**2) / batch)
    assert np.all(abs(values.T @ values / batch - expected) < z * spread)


def test_samples_are_a_function_of_the_seed():
    first, second, other = (sample(5, 4, COVARIANCE, PRIOR, generator(seed)) for seed in (5, 5, 6))
    assert all(map(torch.equal, first, second))
    assert not torch.equal(first[0], other[0])


def test_loss_and_standard_error_are_those_of_the_errors():
    tokens, weights = sample(50, 3, COVARIANCE, PRIOR, generator(8))
    layers = random_layers("A", 2, 2)
    errors = in_context_errors(layers, tokens, weights).numpy()
    found = in_context_loss(layers, tokens, weights)
    assert found.mean.item() == pytest.approx(errors.mean(), rel=50 * EPS)
    assert found.standard_error.item() == pytest.approx(stats.sem(errors), rel=50 * EPS)


def scalar(*values):
    return torch.tensor(values, dtype=torch.float64)[:, None, None]


def test_one_layer_by_hand():
    # d = n = 1: TF = a w x^2 x', so f = E w^2 E x'^2 E (a x^2 - 1)^2 with E x^2 = s and E x^4 = 3 s^2.
    a, s, prior = 0.4, 0.6, 1.7
    by_hand = prior * s * (3 * a**2 * s**2 - 2 * a * s + 1)
    found = exact_loss(pattern(scalar(a)), 1, s * torch.eye(1).double(), prior * torch.eye(1).double())
    # The sum has 3 * 2 * 2 positive terms with about a dozen rounding errors each.
    assert found.item() == pytest.approx(by_hand, rel=50 * EPS)


def test_two_layers_by_hand():
    # Residual labels are multiplied by 1 - a x^2, then by 1 - b x^2: f = E (1 - s x^2 + t x^4)^2 with s = a + b,
    # t = a b, and E x^2, x^4, x^6, x^8 = 1, 3, 15, 105.
    a, b = 0.4, 0.15
    s, t, one = a + b, a * b, torch.eye(1).double()
    by_hand = 1 - 2 * s + 3 * (s**2 + 2 * t) - 15 * 2 * s * t + 105 * t**2
    found = exact_loss(pattern(scalar(a, b)), 1, one, one)
    assert found.item() == pytest.approx(by_hand, rel=200 * EPS)


def test_one_full_layer_by_hand():
    # d = n = 1: TF depends only on the last row (p, r) of P and the first column (u, v) of Q. For Z_0 = (x x'; w x, 0),
    # TF = -g x^2 x' with g = (p + r w)(u + v w) = c_0 + c_1 w + c_2 w^2. So f = E (g x^2 + w)^2 E x'^2
    # = 3 E g^2 + 2 E g w + 1 with E g^2 = c_0^2 + c_1^2 + 3 c_2^2 + 2 c_0 c_2 and E g w = c_1.
    P, Q = random_layers("full", 1, 1, scale=1.0)
    (p, r), (u, v) = P[0, 1].tolist(), Q[0, :, 0].tolist()
    c = p * u, p * v + r * u, r * v
    by_hand = 3 * (c[0] ** 2 + c[1] ** 2 + 3 * c[2] ** 2 + 2 * c[0] * c[2]) + 2 * c[1] + 1
    one = torch.eye(1).double()
    assert exact_loss((P, Q), 1, one, one).item() == pytest.approx(by_hand, rel=200 * EPS)


@pytest.mark.parametrize("L", [1, 2, 3])
@pytest.mark.parametrize("d", [1, 2])
def test_nodes_follow_the_degrees(L, d):
    # The degrees are 4L, 2, 2 for A; 2 (3^L - 1), 2, 2 for A and B; and 2 (3^L - 1), 2, 2 (3^L - 1) for full layers.
    # A rule with m nodes is exact up to degree 2m - 1.
    assert quadrature_nodes(random_layers("A", L, d), gradient=False) == (2 * L + 1, 2, 2)
    assert quadrature_nodes(random_layers("A and B", L, d), gradient=False) == (3**L, 2, 2)
    for gradient in (False, True):
        assert quadrature_nodes(random_layers("full", L, d), gradient=gradient) == (3**L, 2, 3**L)
    # The gradient in all entries needs no more nodes than full layers do.
    for kind in ("A", "A and B"):
        lower, upper = (quadrature_nodes(random_layers(kind, L, d), gradient=g) for g in (False, True))
        assert all(a <= b <= c for a, b, c in zip(lower, upper, (3**L, 2, 3**L), strict=True))


def test_nodes_of_layers_that_do_nothing():
    # TF = 0, so the squared error is <w*, x_{n+1}>^2. Its derivatives have no larger degree.
    nothing = Layers(torch.zeros(2, 3, 3).double(), torch.zeros(2, 3, 3).double())
    assert quadrature_nodes(nothing, gradient=False) == quadrature_nodes(nothing, gradient=True) == (1, 2, 2)
    expected = (COVARIANCE @ PRIOR).trace().item()
    assert exact_loss(nothing, 2, COVARIANCE, PRIOR).item() == pytest.approx(expected, rel=100 * EPS)


CASES = [
    ("A", 1, 1, 1),
    ("A", 1, 2, 3),
    ("A", 2, 1, 2),
    ("A", 2, 2, 2),
    ("A", 3, 1, 3),
    ("A and B", 2, 1, 2),
    ("A and B", 2, 2, 1),
    ("A and B", 3, 1, 1),
    ("full", 1, 2, 2),
    ("full", 2, 1, 2),
]


def distributions(d):
    return COVARIANCE[:d, :d], PRIOR[:d, :d]


@pytest.mark.parametrize(("kind", "L", "d", "n"), CASES)
def test_more_nodes_change_nothing_and_fewer_do(kind, L, d, n):
    # The entries have size 1, so that the terms of the highest degree matter.
    layers = random_layers(kind, L, d, scale=1.0)
    value = exact_loss(layers, n, *distributions(d)).item()
    nodes = quadrature_nodes(layers, gradient=False)
    more = exact_loss(layers, n, *distributions(d), nodes=tuple(m + 1 for m in nodes)).item()
    # All terms are positive, so the sum's relative error is at most the largest relative error of a term.
    assert more == pytest.approx(value, rel=1e-12)
    for which in range(3):
        fewer = [m - (k == which) for k, m in enumerate(nodes)]
        assert abs(exact_loss(layers, n, *distributions(d), nodes=tuple(fewer)).item() / value - 1) > 1e-7


@pytest.mark.parametrize(("kind", "L", "d", "n"), CASES)
def test_quadrature_agrees_with_samples(kind, L, d, n):
    # The entries are so small that samples can estimate the mean of the squared error, a polynomial of degree at most
    # 52 in a coordinate.
    layers = random_layers(kind, L, d, scale=0.1 if kind == "full" else 0.3)
    value = exact_loss(layers, n, *distributions(d)).item()
    found = in_context_loss(layers, *sample(100_000, n, *distributions(d), generator(9)))
    assert abs(found.mean.item() - value) < 5 * found.standard_error.item()
    # The comparison would detect an error of 20 %.
    assert 5 * found.standard_error.item() < 0.2 * value


@pytest.mark.parametrize(
    ("kind", "L", "d", "n"), [("A", 1, 2, 2), ("A", 2, 1, 2), ("A and B", 2, 1, 1), ("full", 1, 2, 1)]
)
def test_gradients_are_exact_in_the_whole_parameter_space(kind, L, d, n):
    layers = random_layers(kind, L, d)
    found = exact_gradient(layers, n, *distributions(d))
    enough = Nodes(3**L, 2, 3**L)
    most = exact_gradient(layers, n, *distributions(d), nodes=enough)
    size = max(part.abs().max().item() for part in most)
    for mine, its in zip(found, most, strict=True):
        assert torch.allclose(mine, its, rtol=0, atol=1e-12 * size)
    h = 1e-5
    for which in range(2):
        for entry in np.ndindex(*layers[which].shape):
            ends = []
            for sign in (1, -1):
                moved = tuple(part.clone() for part in layers)
                moved[which][entry] += sign * h
                ends.append(exact_loss(moved, n, *distributions(d), nodes=enough).item())
            # The truncation error is h^2/6 times the third derivative, which is <= 10^4 size. The rounding error,
            # EPS size/h, is smaller.
            slope = (ends[0] - ends[1]) / (2 * h)
            assert abs(slope - found[1 + which][entry].item()) < 1e4 * h**2 * size
    # No matrix has a zero gradient.
    assert all(part.abs().max() > 1e-3 for part in (found.P, found.Q))


def test_fewer_nodes_than_the_gradient_needs_are_noticed():
    # The nodes that suffice for the loss at P_l = diag(0, 1) do not suffice for derivatives in other entries.
    layers = random_layers("A", 2, 1)
    found = exact_gradient(layers, 1, *distributions(1))
    fewer = exact_gradient(layers, 1, *distributions(1), nodes=quadrature_nodes(layers, gradient=False))
    assert fewer.loss.item() == pytest.approx(found.loss.item(), rel=1e-12)
    assert (fewer.P - found.P).abs().max() > 1e-3


def test_gradients_reach_the_matrices_of_a_pattern():
    A, B = ((0.3 * gaussian(seed, 2, 1, 1)).requires_grad_() for seed in (1, 2))
    value = exact_loss(pattern(A, B), 1, *distributions(1))
    gradients = torch.autograd.grad(value, (A, B))
    found = exact_gradient(pattern(A.detach(), B.detach()), 1, *distributions(1))
    assert value.item() == pytest.approx(found.loss.item(), rel=1e-13)
    for mine, its in zip((found.A, found.B), gradients, strict=True):
        assert torch.allclose(mine, its, rtol=1e-12, atol=1e-13)


def test_quadrature_is_the_same_in_chunks(monkeypatch):
    layers = random_layers("A and B", 2, 1)
    whole = exact_gradient(layers, 2, *distributions(1))
    monkeypatch.setattr(reference, "_CHUNK_ELEMENTS", 6 * 100)
    parts = exact_gradient(layers, 2, *distributions(1))
    # The sums have 9^2 * 2 * 3 terms, in another order.
    size = max(part.abs().max().item() for part in whole)
    assert all(torch.allclose(*pair, rtol=0, atol=500 * EPS * size) for pair in zip(whole, parts, strict=True))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["A", "A and B"])
def test_sampled_gradient_agrees_with_quadrature_and_rejects_a_fifth_more(kind, device):
    L, d, n, groups = 2, 1, 2, 64
    layers = Layers(*(part.to(device) for part in random_layers(kind, L, d)))
    covariance, prior = (part.to(device) for part in distributions(d))
    exact = exact_gradient(layers, n, covariance, prior)
    drawn = sample(groups * 4000, n, covariance, prior, generator(13, device))
    sampled = in_context_gradient(layers, *drawn, groups=groups)
    # Student's t has groups - 1 degrees of freedom; means of 4000 errors are nearly normal for |t| < 7.
    t = stats.t.isf(FALSE_ALARM / 2 / (1 + 2 * L * (d + 1) ** 2 + 2 * L * d**2 + 2), groups - 1)
    parts = zip(exact, sampled.groups, sampled.mean, sampled.standard_error, strict=True)
    for value, each, mean, error in parts:
        assert each.shape == (groups, *value.shape)
        assert ((mean - value).abs() <= t * error + 1000 * EPS).all()
    for value, each in ((exact.A, sampled.groups.A), (exact.P, sampled.groups.P)):
        # With the exact gradient G, the functional g -> <g, G> / |G| has the value |G| at g = G.
        norm = value.norm()
        along = (each * value).sum(dim=(1, 2, 3)) / norm
        error = along.std() / math.sqrt(groups)
        assert abs(along.mean() - norm) < t * error < abs(along.mean() - 1.2 * norm)


@pytest.mark.parametrize("activation", [None, "relu"])
def test_sampled_gradient_is_made_of_group_means_and_their_standard_errors(activation):
    A, B = 0.3 * gaussian(1, 2, 2, 2), 0.3 * gaussian(2, 2, 2, 2)
    tokens, weights = sample(12, 3, COVARIANCE, PRIOR, generator(14))
    found = in_context_gradient(pattern(A, B), tokens, weights, groups=3, activation=activation)
    rows = []
    for part in range(3):
        leaves = A.clone().requires_grad_(), B.clone().requires_grad_()
        layers = pattern(*leaves)
        some = slice(4 * part, 4 * part + 4)
        value = in_context_errors(layers, tokens[some], weights[some], activation=activation).mean()
        rows.append((value.detach(), *torch.autograd.grad(value, [*layers, *leaves])))
    for k, name in enumerate(Gradient._fields):
        expected = np.array([row[k].numpy() for row in rows])
        pairs = (
            (getattr(found.groups, name), expected),
            (getattr(found.mean, name), expected.mean(axis=0)),
            (getattr(found.standard_error, name), stats.sem(expected, axis=0)),
        )
        for mine, its in pairs:
            assert np.allclose(mine.numpy(), its, rtol=0, atol=1000 * EPS * max(1, abs(expected).max())), name


@pytest.mark.parametrize("device", DEVICES)
def test_quadrature_runs_where_the_layers_are(device):
    layers = random_layers("A", 2, 2)
    value = exact_loss(Layers(*(part.to(device) for part in layers)), 1, COVARIANCE.to(device), PRIOR.to(device))
    assert value.device.type == device
    assert value.item() == pytest.approx(exact_loss(layers, 1, COVARIANCE, PRIOR).item(), rel=1e-12)


ONE, X, W, Z = torch.eye(2).double(), torch.zeros(4, 2, 3).double(), torch.zeros(4, 2).double(), torch.zeros(4, 3, 3)
LAYERS = Layers(torch.zeros(1, 3, 3).double(), torch.zeros(1, 3, 3).double())
WIDE = Layers(torch.zeros(1, 4, 4).double(), torch.zeros(1, 4, 4).double())
FLAT = Layers(LAYERS.P[0], LAYERS.Q[0])
NEGATIVE = torch.tensor([[1.0, 2], [2, 1]]).double()
ASYMMETRIC = torch.tensor([[1.0, 0.1], [0, 1]]).double()


def drawn(*, batch=2, n=1, covariance=ONE, prior=ONE):
    return sample(batch, n, covariance, prior, generator(0))


def quadrature(*, layers=LAYERS, n=1, covariance=ONE, prior=ONE, nodes=None):
    return exact_loss(layers, n, covariance, prior, nodes=nodes)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("batch", lambda: drawn(batch=0)),
        ("n", lambda: drawn(n=0)),
        ("n", lambda: drawn(n=1.5)),
        ("covariance", lambda: drawn(covariance=NEGATIVE)),
        ("covariance", lambda: drawn(covariance=ASYMMETRIC)),
        ("covariance", lambda: drawn(covariance=math.nan * ONE)),
        ("covariance", lambda: drawn(covariance=math.inf * ONE)),
        ("covariance", lambda: drawn(covariance=0 * ONE)),
        ("covariance", lambda: drawn(covariance=ONE[0])),
        ("prior", lambda: drawn(prior=-ONE)),
        ("prior", lambda: drawn(prior=torch.eye(3).double())),
        ("tokens", lambda: prompt(X[0], W)),
        ("tokens", lambda: prompt(X[:, :, :1], W)),
        ("weights", lambda: prompt(X, W[:3])),
        ("label", lambda: prompt(X, W, W)),
        ("A", lambda: pattern(ONE)),
        ("A", lambda: pattern(X)),
        ("B", lambda: pattern(ONE[None], ONE)),
        ("Z", lambda: attention(Z[0], Z[0], Z[0])),
        ("P", lambda: attention(Z, ONE, Z[0])),
        ("Q", lambda: attention(Z, Z[0], ONE)),
        ("activation", lambda: attention(Z, Z[0], Z[0], "softmax")),
        ("Z", lambda: forward(Z[0], LAYERS)),
        ("P", lambda: forward(Z, FLAT)),
        ("P", lambda: forward(Z, WIDE)),
        ("Q", lambda: forward(Z, (LAYERS.P, WIDE.Q))),
        ("P", lambda: forward(Z, (LAYERS.P[:0], LAYERS.Q[:0]))),
        ("Z", lambda: prediction(Z[0], LAYERS)),
        ("P", lambda: prediction(Z, WIDE)),
        ("tokens", lambda: preconditioned_descent(X[0], W, ONE[None])),
        ("A", lambda: preconditioned_descent(X, W, ONE)),
        ("weights", lambda: in_context_errors(LAYERS, X, W[0])),
        ("P", lambda: in_context_errors(WIDE, X, W)),
        ("activation", lambda: in_context_errors(LAYERS, X, W, activation="gelu")),
        ("batch", lambda: in_context_loss(LAYERS, X[:1], W[:1])),
        ("groups", lambda: in_context_gradient(LAYERS, X, W, groups=1)),
        ("groups", lambda: in_context_gradient(LAYERS, X, W, groups=3)),
        ("P", lambda: in_context_gradient(WIDE, X, W, groups=2)),
        ("P", lambda: quadrature_nodes(FLAT, gradient=True)),
        ("n", lambda: quadrature(n=0)),
        ("P", lambda: quadrature(layers=FLAT)),
        ("covariance", lambda: quadrature(covariance=NEGATIVE)),
        ("covariance", lambda: quadrature(layers=WIDE)),
        ("prior", lambda: quadrature(prior=NEGATIVE)),
        ("nodes of query", lambda: quadrature(nodes=(1, 0, 1))),
        ("quadrature nodes", lambda: quadrature(nodes=(50, 50, 50))),
        ("n", lambda: exact_gradient(LAYERS, 0, ONE, ONE)),
        ("quadrature nodes", lambda: exact_gradient(LAYERS, 2, ONE, ONE, nodes=(60, 2, 2))),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_input_is_named(name, call):
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.name == name


def test_too_many_nodes_are_counted():
    layers = random_layers("A", 2, 2)
    with pytest.raises(InputError, match="quadrature nodes = 156250000: must be at most 10000000"):
        exact_loss(layers, 5, ONE, ONE)
    with pytest.raises(InputError, match=r"quadrature nodes = about 10\^1399: must be"):
        exact_loss(layers, 1000, ONE, ONE)
