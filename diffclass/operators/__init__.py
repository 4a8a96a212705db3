"""Diffusion operators: from affinities to the walk, and what is built on it.

`markov` holds the walk A = D^-1 K_alpha, `warped` one walk per class, `laplacians` views of A;
`chebyshev` evaluates polynomials of A. `processor` says what computes steps, the processor itself
or a device.
"""

from __future__ import annotations

from diffclass.operators.chebyshev import SERIES_TOLERANCE, power_coefficients
from diffclass.operators.laplacians import (
    dirichlet_energy,
    generator,
    generator_eigenvalues,
    heat_steps,
    random_walk_laplacian,
    rayleigh_ritz,
    schroedinger_operator,
    schroedinger_potential,
    symmetric_laplacian,
    unnormalized_laplacian,
)
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.processor import Cuda, Processor, processor_of
from diffclass.operators.warped import Warp, WarpedOperator, warped_operator

__all__ = [
    "SERIES_TOLERANCE",
    "Cuda",
    "MarkovOperator",
    "Processor",
    "Warp",
    "WarpedOperator",
    "dirichlet_energy",
    "generator",
    "generator_eigenvalues",
    "heat_steps",
    "power_coefficients",
    "processor_of",
    "random_walk_laplacian",
    "rayleigh_ritz",
    "schroedinger_operator",
    "schroedinger_potential",
    "symmetric_laplacian",
    "unnormalized_laplacian",
    "warped_operator",
]
