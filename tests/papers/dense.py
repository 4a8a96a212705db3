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
