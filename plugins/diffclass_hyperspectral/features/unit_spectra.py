"""Spectra scaled to length 1, by which angle and correlation become distances.

The spectral angle a of two spectra ignores how bright they are, their correlation r an offset too.
Unit spectra u = x / |x|, and u of x minus its mean over the bands, turn both into distances:

    |u(x) - u(y)| = 2 sin(a / 2),    |u(x) - u(y)| = (2 - 2 r)^(1/2)

(F. Kruse et al. 1993; O. de Carvalho and P. Meneses 2000).
"""

from __future__ import annotations

import numpy as np

_FLAT = 1e-5  # of a spectrum's length; below it what is left is rounding


def lengths_of(spectra: np.ndarray) -> np.ndarray:
    """Return the length of each row, in double precision."""
    # in double precision: squares of digital numbers soon pass what single can tell apart
    return np.sqrt(np.einsum("ij,ij->i", spectra, spectra, dtype=np.float64))


def unit_rows(spectra: np.ndarray) -> np.ndarray:
    """Scale the rows to length 1, in place; rows of zeros stay."""
    lengths = lengths_of(spectra)
    spectra /= np.where(lengths > 0, lengths, 1).astype(spectra.dtype)[:, None]
    return spectra


def with_direction(spectra: np.ndarray, metric: str) -> np.ndarray:
    """Make what a metric's directions are applied to, in place; NaN where there is no direction."""
    if metric == "euclidean":
        return spectra
    length = lengths_of(spectra)
    if metric == "correlation":
        spectra -= spectra.mean(axis=1, keepdims=True)
    spectra[lengths_of(spectra) <= _FLAT * length] = np.nan
    return spectra
