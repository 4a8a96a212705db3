"""Synthetic points and scenes whose truth is known, for the figures, the benchmarks and the tests.

A function that makes points takes their number first and returns ``(X, parameters)``: ``X`` of
shape (n_points, d), float64, and the coordinates that a good embedding recovers, of shape
(n_points,) or (n_points, m). Spectra are those of -Delta, the Laplace-Beltrami operator, with
Neumann conditions at ends.
"""

from __future__ import annotations

from experiments.datasets.clusters import (
    make_c_shape,
    make_correlated_gaussian,
    make_three_clusters,
    make_two_gaussians,
)
from experiments.datasets.curves import (
    make_circle,
    make_closed_curve,
    make_interval,
    make_planar_roll,
    make_torus_helix,
)
from experiments.datasets.field_scene import make_hyperspectral_scene
from experiments.datasets.manifolds import (
    make_dumbbell,
    make_flat_torus,
    make_sphere,
    make_swiss_roll,
)
from experiments.datasets.rotated_images import make_rotated_images

__all__ = [
    "make_c_shape",
    "make_circle",
    "make_closed_curve",
    "make_correlated_gaussian",
    "make_dumbbell",
    "make_flat_torus",
    "make_hyperspectral_scene",
    "make_interval",
    "make_planar_roll",
    "make_rotated_images",
    "make_sphere",
    "make_swiss_roll",
    "make_three_clusters",
    "make_torus_helix",
    "make_two_gaussians",
]
