"""Layers that are run on random prompts by their definition; tests compare the trials' exact means with these runs."""

import numpy as np


def residuals(random, count, n, parameters, root=None):
    """Draw prompts, run layers with the matrices P, Q on them, and return the predictions minus the query's labels."""
    d = len(parameters[0][0]) - 1
    root = np.eye(d) if root is None else root
    tokens = np.einsum("ij,mjk->mik", root, random.normal(size=(count, d, n + 1)))
    w = np.einsum("ij,mj->mi", np.linalg.inv(root).T, random.normal(size=(count, d)))
    labels = np.einsum("mi,mik->mk", w, tokens)
    prompt = np.concatenate([tokens, labels[:, None]], axis=1)
    prompt[:, -1, -1] = 0
    mask = np.diag([1.0] * n + [0.0])
    for P, Q in parameters:
        attended = prompt.swapaxes(1, 2) @ Q @ prompt
        prompt = prompt + P @ prompt @ mask @ attended / n
    return -prompt[:, -1, -1] - labels[:, -1]


def block(matrix, corner):
    """Return diag(matrix, corner)."""
    d = len(matrix)
    found = np.zeros((d + 1, d + 1))
    found[:d, :d], found[d, d] = matrix, corner
    return found


def within_error(squares, mean):
    """Return whether `mean` is within six standard errors of the mean of `squares`."""
    return abs(np.mean(squares) - mean) <= 6 * np.std(squares) / np.sqrt(len(squares))
