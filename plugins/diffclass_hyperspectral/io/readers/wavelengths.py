"""Wavelengths of bands, and the widths of their responses, in nanometres."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

_UNITS = {
    1.0: "nanometers nanometres nanometer nm",
    1e3: "micrometers micrometres micrometer microns um \u00b5m \u03bcm",
    1e6: "millimeters mm",
    1e7: "centimeters cm",
    1e9: "meters m",
    0.1: "angstroms",
}
_PER_UNIT = {name: factor for factor, names in _UNITS.items() for name in names.split()}
_IN_NAME = re.compile(r"(\d+(?:\.\d+)?)\s*(nanomet\w+|micromet\w+|nm|um|\u00b5m|\u03bcm)\b", re.I)
_UNSTATED = {"", "unknown", "none", "<unspecified>"}


def in_nanometres(values: np.ndarray, unit: str | None) -> np.ndarray | None:
    """Return wavelengths (bands,) in nanometres; None where the unit or a number is of no length.

    Without a unit, values below 100 are micrometres: no imager sees below 100 nm.
    """
    name = (unit or "").strip().lower()
    if np.any(values <= 0):
        return None
    if name in _UNSTATED:
        return values * (1e3 if np.max(values) < 100 else 1.0)
    if name.startswith("wavenumber"):
        return 1e7 / values
    factor = _PER_UNIT.get(name)
    return None if factor is None else values * factor


def widths_in_nanometres(
    widths: Any,
    stated: np.ndarray | None,
    wavelengths: np.ndarray | None,
    *,
    unit: str | None = None,
) -> np.ndarray | None:
    """Return widths (bands,) in nanometres, in the unit of the wavelengths or their own, or None.

    A width that is missing, not finite or not above 0 costs those of all bands, and nothing else.
    """
    values = np.asarray(widths)
    if stated is None or wavelengths is None or values.dtype.kind not in "iuf":
        return None
    if values.shape != wavelengths.shape:
        return None
    factor = _PER_UNIT.get(str(unit).strip().lower())
    with np.errstate(all="ignore"):
        found = values.astype(np.float64) * (wavelengths / stated if factor is None else factor)
    return found if ((found > 0) & np.isfinite(found)).all() else None


def unit_in_name(name: str) -> tuple[float, str] | None:
    """Return the wavelength in a band's name and its unit, "nm" or "um", or None."""
    found = _IN_NAME.search(name)
    if found is None:
        return None
    return float(found[1]), "nm" if found[2].lower().startswith("n") else "um"


def one_unit(found: Sequence[tuple[float, str | None]]) -> np.ndarray | None:
    """Return wavelengths in nanometres that come with a unit each, or None."""
    units = {unit for _, unit in found}
    if len(units) == 1:
        return in_nanometres(np.array([value for value, _ in found]), units.pop())
    converted = [in_nanometres(np.array([value]), unit) for value, unit in found]
    if any(value is None for value in converted):
        return None
    return np.concatenate([value for value in converted if value is not None])
