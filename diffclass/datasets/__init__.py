"""Synthetic data whose truth is known: manifolds, clusters, scenes.

Every function that makes points takes their number first and returns ``(X, parameters)``: ``X`` of
shape (n_points, d), float64, and the coordinates that a good embedding recovers, of shape
(n_points,) or (n_points, m); of a path, the times. Spectra are those of -Delta, the
Laplace-Beltrami operator, with Neumann conditions at ends.
"""

from __future__ import annotations

from diffclass.datasets.clusters import (
    make_c_shape,
    make_correlated_gaussian,
    make_ordered_clusters,
    make_three_clusters,
    make_two_gaussians,
)
from diffclass.datasets.curves import (
    make_circle,
    make_closed_curve,
    make_interval,
    make_planar_roll,
    make_spiral,
    make_torus_helix,
)
from diffclass.datasets.manifolds import (
    make_dumbbell,
    make_flat_torus,
    make_sphere,
    make_swiss_roll,
)
from diffclass.datasets.rotated_images import make_rotated_images
from diffclass.datasets.synthetic_scenes import (
    TissueScene,
    make_hyperspectral_scene,
    make_tissue_scene,
)

__all__ = [
    "TissueScene",
    "make_c_shape",
    "make_circle",
    "make_closed_curve",
    "make_correlated_gaussian",
    "make_dumbbell",
    "make_flat_torus",
    "make_hyperspectral_scene",
    "make_interval",
    "make_ordered_clusters",
    "make_planar_roll",
    "make_rotated_images",
    "make_sphere",
    "make_spiral",
    "make_swiss_roll",
    "make_three_clusters",
    "make_tissue_scene",
    "make_torus_helix",
    "make_two_gaussians",
]
