"""Spectra scaled to length 1."""

from __future__ import annotations

import numpy as np


def lengths_of(spectra: np.ndarray) -> np.ndarray:
    """Return the length of each row, in double precision."""
    # in double precision: squares of digital numbers soon pass what single can tell apart
    return np.sqrt(np.einsum("ij,ij->i", spectra, spectra, dtype=np.float64))


def unit_rows(spectra: np.ndarray) -> np.ndarray:
    """Scale the rows to length 1, in place; rows of zeros stay."""
    lengths = lengths_of(spectra)
    spectra /= np.where(lengths > 0, lengths, 1).astype(spectra.dtype)[:, None]
    return spectra
