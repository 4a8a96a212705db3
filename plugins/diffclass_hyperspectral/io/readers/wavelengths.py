"""Wavelengths in nanometres, converted from the file's unit."""

from __future__ import annotations

import numpy as np

_PER_UNIT = {
    "nanometers": 1.0,
    "nanometres": 1.0,
    "nanometer": 1.0,
    "nm": 1.0,
    "micrometers": 1e3,
    "micrometres": 1e3,
    "micrometer": 1e3,
    "microns": 1e3,
    "um": 1e3,
    "\u00b5m": 1e3,
    "\u03bcm": 1e3,
    "millimeters": 1e6,
    "mm": 1e6,
    "centimeters": 1e7,
    "cm": 1e7,
    "meters": 1e9,
    "m": 1e9,
    "angstroms": 0.1,
}
_UNSTATED = {"", "unknown", "none", "<unspecified>"}


def in_nanometres(values: np.ndarray, unit: str | None) -> np.ndarray | None:
    """Convert wavelengths to nanometres.

    Parameters
    ----------
    values : ndarray of shape (bands,)
    unit : str or None
        As the file writes it. Where it is absent, values below 100 are taken as micrometres
        (no imager sees below 100 nm or beyond 100 micrometres).

    Returns
    -------
    ndarray of shape (bands,) or None
        None where the unit measures no length (band index, frequency).
    """
    name = (unit or "").strip().lower()
    if name in _UNSTATED:
        return values * (1e3 if np.max(values) < 100 else 1.0)
    if name.startswith("wavenumber"):
        return 1e7 / values if np.all(values > 0) else None
    factor = _PER_UNIT.get(name)
    return None if factor is None else values * factor
