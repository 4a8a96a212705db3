"""Multiscale powers of a walk: A, A^2, A^4, ... on the few functions that they leave.

`wavelets` holds the result, its bases and what is done with them; `levels` squares and splits, from
one power to the next, in cells of functions that are close together; `splits` orthogonalises bumps,
and `panels` holds a power.
"""

from __future__ import annotations

from diffclass.multiscale.levels import Level
from diffclass.multiscale.wavelets import DiffusionWavelets, diffusion_wavelets

__all__ = ["DiffusionWavelets", "Level", "diffusion_wavelets"]
