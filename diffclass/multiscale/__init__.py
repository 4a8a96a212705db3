"""Multiscale powers of a walk: A, A^2, A^4, ... on the few functions that they leave."""

from __future__ import annotations

from diffclass.multiscale.levels import Level
from diffclass.multiscale.wavelets import DiffusionWavelets, diffusion_wavelets

__all__ = ["DiffusionWavelets", "Level", "diffusion_wavelets"]
