"""The spectral side of a diffusion: eigenpairs, distances, bandwidths, extension to new points."""

from __future__ import annotations

from diffclass.spectral.bandwidth import BandwidthCurve, semigroup_bandwidth, slope_bandwidth
from diffclass.spectral.distances import (
    bumps,
    diffusion_coordinates,
    diffusion_distances,
    numerical_rank,
    spanning_columns,
    squared_distances_to_equilibrium,
)
from diffclass.spectral.eigenpairs import Eigenpairs, eigenpairs_cost, leading_eigenpairs, nystrom
from diffclass.spectral.gap import MOST_COMPONENTS, spectral_gap
from diffclass.spectral.semigroup import semigroup_error

__all__ = [
    "MOST_COMPONENTS",
    "BandwidthCurve",
    "Eigenpairs",
    "bumps",
    "diffusion_coordinates",
    "diffusion_distances",
    "eigenpairs_cost",
    "leading_eigenpairs",
    "numerical_rank",
    "nystrom",
    "semigroup_bandwidth",
    "semigroup_error",
    "slope_bandwidth",
    "spanning_columns",
    "spectral_gap",
    "squared_distances_to_equilibrium",
]
