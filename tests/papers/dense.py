"""Small problems for the papers' formulas: dense kernels, made without diffclass."""

from __future__ import annotations

import numpy as np


def squared_distances(X):
    return ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)


def points(n=40, n_features=3, seed=0):
    """Return n points of two uneven clusters."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, n_features))
    X[n // 3 :] *= 0.5
    X[n // 3 :, 0] += 2
    return X


def affinity(n=40, epsilon=2.0, seed=0):
    """Return exp(-|x - y|^2 / epsilon) of all pairs."""
    return np.exp(-squared_distances(points(n, seed=seed)) / epsilon)


def walk(K):
    """Return D^-1 K: the probabilities of a step from x to y."""
    return K / K.sum(axis=1, keepdims=True)


def circle(n, *, density):
    """Return points of the unit circle of density 1 + density cos(theta), and their angles."""
    grid = np.linspace(0, 2 * np.pi, 20_001)
    share = (grid + density * np.sin(grid)) / (2 * np.pi)
    theta = np.interp((np.arange(n) + 0.5) / n, share, grid)
    return np.column_stack([np.cos(theta), np.sin(theta)]), theta


def no_signs(vectors):
    """Return columns whose largest entry is positive."""
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
