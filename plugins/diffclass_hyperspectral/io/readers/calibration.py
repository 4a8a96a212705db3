"""Stored values as measurements: value = gain * stored + offset, band by band."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError

_SMALLEST, _LARGEST = 1e-12, 1e12  # beyond, single precision would overflow or vanish


@dataclass(frozen=True, eq=False)
class Calibration:
    """Gains and offsets of the bands.

    Attributes
    ----------
    gains, offsets : ndarray of shape (bands,)
    ignored : float or None
        The stored value that becomes NaN.
    """

    gains: np.ndarray
    offsets: np.ndarray
    ignored: float | None = None

    def check(self, path: Path) -> None:
        """Raise `DataError` for gains of 0 and numbers that are not finite or out of reach."""
        sizes = np.abs(self.gains)
        usable = (sizes >= _SMALLEST) & (sizes <= _LARGEST) & (np.abs(self.offsets) <= _LARGEST)
        if not usable.all():
            band = int(np.argmin(usable))
            raise DataError(
                f"{path}: the gain {self.gains[band]:g} and offset {self.offsets[band]:g} of band "
                f"{band + 1} are not usable numbers; correct what the file states"
            )

    @property
    def scale_factor(self) -> float | None:
        """What all stored values are divided by, or None where bands differ or have offsets."""
        same = bool((self.gains == self.gains[0]).all()) and self.gains[0] > 0
        return None if self.offsets.any() or not same else float(1 / self.gains[0])

    def apply(self, block: np.ndarray) -> np.ndarray:
        """Return the measurements of a block (rows, columns, bands) as float32."""
        values = block.astype(np.float32) * self.gains.astype(np.float32)
        values += self.offsets.astype(np.float32)
        if self.ignored is not None:
            values[block == self.ignored] = np.nan
        return values
