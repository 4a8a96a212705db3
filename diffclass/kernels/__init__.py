"""Kernels: they turn distances, or more than distances, into affinities. One kernel per file."""

from __future__ import annotations

from diffclass.kernels._kernel import FittedKernel, KeptPlacing, Kernel, Placing
from diffclass.kernels.along_field import AlongField
from diffclass.kernels.correlation import Correlation, SmoothCorrelation
from diffclass.kernels.density_weighted import DensityWeighted
from diffclass.kernels.directed import Directed
from diffclass.kernels.isotropic import FittedIsotropic, Gaussian, Isotropic
from diffclass.kernels.local_covariance import LocalCovariance, tangent_distances
from diffclass.kernels.local_discriminant import LocalDiscriminant
from diffclass.kernels.named import NAMED, check_kernel, kernel_named
from diffclass.kernels.over_kernel import OverKernel
from diffclass.kernels.shared_neighbors import SharedNeighbors

__all__ = [
    "NAMED",
    "AlongField",
    "Correlation",
    "DensityWeighted",
    "Directed",
    "FittedIsotropic",
    "FittedKernel",
    "Gaussian",
    "Isotropic",
    "KeptPlacing",
    "Kernel",
    "LocalCovariance",
    "LocalDiscriminant",
    "OverKernel",
    "Placing",
    "SharedNeighbors",
    "SmoothCorrelation",
    "check_kernel",
    "kernel_named",
    "tangent_distances",
]

NAMED |= {
    "shared": SharedNeighbors,
    "gaussian": Gaussian,
    "covariance": lambda: SharedNeighbors(LocalCovariance()),
    "directed": lambda: SharedNeighbors(Directed()),
    "discriminant": lambda: SharedNeighbors(LocalDiscriminant()),
    "directed-discriminant": lambda: SharedNeighbors(LocalDiscriminant(Directed())),
}
